/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sandbox.h"
#include "tests/unit/unit.h"

#include <stdint.h>

#include "tests/unit/in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of a call that is refused; any other outcome is 0. */
#define REFUSED(call) (errno = 0, (call) < 0 && errno == EPERM)

enum { NO_FILTERS = 100 };

static int programs_and_sockets(void)
{
	char *const none[] = { NULL };

	if (sandbox_enter(false))
		return NO_FILTERS;
	if (!REFUSED(execve("/bin/true", none, none)))
		return 1;
	if (!REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0)))
		return 2;
	if (!REFUSED(socket(AF_INET, SOCK_STREAM, 0)) || !REFUSED(socket(AF_UNIX, SOCK_DGRAM, 0)))
		return 3;
	if (!REFUSED(syscall(SYS_io_uring_setup, 1, NULL)))
		return 4;
	if (!REFUSED(process_vm_readv(getppid(), NULL, 0, NULL, 0, 0)))
		return 5;
	if (!REFUSED(syscall(SYS_bpf, 0, NULL, 0)) || !REFUSED(syscall(SYS_unshare, 0)))
		return 6;
	if (!REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL)))
		return 7;
	if (syscall(SYS_clone3, NULL, 0) >= 0 || errno != ENOSYS)
		return 8;
	return REFUSED(syscall(SYS_fsopen, NULL, 0)) ? 0 : 9;
}

static int network_is_left(void)
{
	char *const none[] = { NULL };

	if (sandbox_enter(true))
		return NO_FILTERS;
	if (socket(AF_UNIX, SOCK_STREAM, 0) < 0)
		return 1;
	return REFUSED(execve("/bin/true", none, none)) ? 0 : 2;
}

static void *try_socket(void *refused)
{
	*(int *)refused = REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	return NULL;
}

static int threads_too(void)
{
	int refused = 0, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pthread_t thread;

	if (sandbox_enter(false))
		return NO_FILTERS;
	if (pthread_create(&thread, NULL, try_socket, &refused) || pthread_join(thread, NULL))
		return 1;
	if (!refused)
		return 2;
	return write(fd, "x", 1) == 1 && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 3;
}

#ifdef __x86_64__
/* By i386's number of socket(). The kernel may be without such calls, which ends this process. */
static int by_i386_numbers(void)
{
	long result;

	if (sandbox_enter(false))
		return NO_FILTERS;
	signal(SIGSEGV, SIG_DFL);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(2), "c"(1), "d"(0) : "memory");
	return result == -EPERM || result == -ENOSYS ? 0 : 1;
}

/* Those of x32 begin at 1 << 30. */
static int by_x32_numbers(void)
{
	if (sandbox_enter(false))
		return NO_FILTERS;
	return REFUSED(syscall((1 << 30) + 41, AF_INET, SOCK_STREAM, 0)) ? 0 : 1;
}
#endif

static void check_status(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTERS)
		skip();
	assert_int_equal(status, 0);
}

static void check(int (*function)(void))
{
	check_status(in_child(function));
}

static void programs_and_sockets_are_refused(void **state)
{
	check(programs_and_sockets);
}

static void sockets_are_left_for_the_network(void **state)
{
	check(network_is_left);
}

static void threads_are_in_it_and_files_work(void **state)
{
	check(threads_too);
}

#ifdef __x86_64__
static void no_other_numbers_lead_around_it(void **state)
{
	int status = in_child(by_i386_numbers);

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
		check_status(status);
	check(by_x32_numbers);
}
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(programs_and_sockets_are_refused),
	cmocka_unit_test(sockets_are_left_for_the_network),
	cmocka_unit_test(threads_are_in_it_and_files_work),
#ifdef __x86_64__
	cmocka_unit_test(no_other_numbers_lead_around_it),
#endif
};

UNIT_TESTS(tests);
