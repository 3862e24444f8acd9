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
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
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

/* A process of the same user which does not do anything. */
static pid_t start_other(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	return pid;
}

static int signals_to(pid_t other)
{
	struct f_owner_ex owner = { F_OWNER_PID, other };
	siginfo_t info = { .si_code = SI_QUEUE };
	int ends[2], pidfd = (int)syscall(SYS_pidfd_open, other, 0);

	if (pidfd < 0 || pipe(ends))
		return 1;
	if (sandbox_enter(false))
		return NO_FILTERS;
	if (!REFUSED(kill(other, 0)) || !REFUSED(kill(0, 0)) || !REFUSED(kill(-getpid(), 0)))
		return 2;
	if (!REFUSED(syscall(SYS_tkill, other, 0)) ||
	    !REFUSED(syscall(SYS_tgkill, other, other, 0)))
		return 3;
	if (!REFUSED(syscall(SYS_rt_sigqueueinfo, other, SIGWINCH, &info)) ||
	    !REFUSED(syscall(SYS_rt_tgsigqueueinfo, other, other, SIGWINCH, &info)))
		return 4;
	if (!REFUSED(syscall(SYS_pidfd_send_signal, pidfd, SIGWINCH, NULL, 0)))
		return 5;
	if (!REFUSED(fcntl(ends[0], F_SETOWN, other)) ||
	    !REFUSED(fcntl(ends[0], F_SETOWN_EX, &owner)))
		return 6;
	/* The kernel looks at 32 bits of a request. */
	if (!REFUSED(ioctl(0, TIOCSTI, "x")) ||
	    !REFUSED(syscall(SYS_ioctl, 0, (1UL << 32) + TIOCSTI, "x")))
		return 7;
	return 0;
}

static int signals_to_others(void)
{
	pid_t other = start_other();
	int result = signals_to(other);

	/* Which this process may not do any more. */
	return result ? result : REFUSED(kill(other, SIGKILL)) ? 0 : 8;
}

/* Ends the processes that `function` leaves: they are in a group of their own. */
static int in_group(int (*function)(void))
{
	pid_t leader = fork();
	int status;

	if (!leader) {
		setpgid(0, 0);
		_exit(function());
	}
	if (waitpid(leader, &status, 0) != leader)
		return 99;
	kill(-leader, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int signals_in_group(void)
{
	return in_group(signals_to_others);
}

static int limits_of_others(void)
{
	const struct rlimit limit = { 1 << 30, 1 << 30 };
	const struct sched_param parameter = { 0 };
	struct rlimit now;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sandbox_enter(false))
		return NO_FILTERS;
	if (!REFUSED(prlimit(getppid(), RLIMIT_AS, &limit, NULL)) ||
	    !REFUSED(prlimit(getppid(), RLIMIT_AS, NULL, &now)))
		return 1;
	if (prlimit(0, RLIMIT_AS, NULL, &now) || prlimit(getpid(), RLIMIT_AS, NULL, &now) ||
	    getrlimit(RLIMIT_AS, &now))
		return 2;
	if (!REFUSED(setpriority(PRIO_PROCESS, (id_t)getppid(), 19)))
		return 3;
	if (!REFUSED(sched_setscheduler(getppid(), SCHED_BATCH, &parameter)) ||
	    !REFUSED(sched_setaffinity(getppid(), sizeof(cpus), &cpus)))
		return 4;
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 5 : 0;
}

static void *raise_here(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

/* Each thread may signal its own process, and end it. */
static int own_signals(void)
{
	pthread_t thread;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGABRT, SIG_DFL);
	if (sandbox_enter(false))
		return NO_FILTERS;
	if (raise(SIGUSR1) || kill(getpid(), SIGUSR1) || syscall(SYS_tkill, getpid(), SIGUSR1) ||
	    pthread_create(&thread, NULL, raise_here, NULL) || pthread_join(thread, NULL))
		return 1;
	abort();
}

static bool opens(pid_t pid, const char *file, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, flags | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int memory_of_others(void)
{
	/* The last ones the kernel shows to everybody with CAP_PERFMON (Linux 6.16). */
	static const char *const files[] = { "fd/0", "root/.", "cwd/.", "environ", "auxv", "maps" };
	const size_t n = geteuid() ? 6 : 3;
	bool before[6];
	pid_t other = getppid();
	int error;

	if (!opens(other, "mem", O_RDWR))
		return NO_FILTERS; /* there is nothing to refuse */
	for (size_t i = 0; i < n; i++)
		before[i] = opens(other, files[i], O_RDONLY);
	error = sandbox_leave_processes();
	if (error == -ENOSYS || error == -EOPNOTSUPP)
		return NO_FILTERS;
	if (error || opens(other, "mem", O_RDWR) || opens(other, "mem", O_RDONLY))
		return 1;
	for (size_t i = 0; i < n; i++) {
		if (before[i] && opens(other, files[i], O_RDONLY))
			return 2 + (int)i;
	}
	return opens(getpid(), "mem", O_RDWR) && opens(getpid(), "maps", O_RDONLY) ? 0 : 20;
}

/* A report is written beside the old one, whose name it then gets. */
static int files_are_left(void)
{
	char folder[] = "/tmp/prof-sandbox-XXXXXX", from[64], to[64];
	int result = 0;

	if (!mkdtemp(folder))
		return 1;
	snprintf(from, sizeof(from), "%s/a", folder);
	snprintf(to, sizeof(to), "%s/b", folder);
	if (sandbox_enter(false) || sandbox_leave_processes())
		result = NO_FILTERS;
	else if (open(from, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) < 0 || rename(from, to))
		result = 2;
	unlink(to);
	rmdir(folder);
	return result;
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

static void other_processes_get_no_signals(void **state)
{
	check(signals_in_group);
}

static void other_processes_keep_their_limits(void **state)
{
	check(limits_of_others);
}

static void its_own_signals_are_left(void **state)
{
	int status = in_child(own_signals);

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		check_status(WIFEXITED(status) && !WEXITSTATUS(status) ? -1 : status);
}

static void memory_of_other_processes_is_closed(void **state)
{
	check(memory_of_others);
}

static void files_are_renamed_in_a_folder(void **state)
{
	check(files_are_left);
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
	cmocka_unit_test(other_processes_get_no_signals),
	cmocka_unit_test(other_processes_keep_their_limits),
	cmocka_unit_test(its_own_signals_are_left),
	cmocka_unit_test(memory_of_other_processes_is_closed),
	cmocka_unit_test(files_are_renamed_in_a_folder),
	cmocka_unit_test(sockets_are_left_for_the_network),
	cmocka_unit_test(threads_are_in_it_and_files_work),
#ifdef __x86_64__
	cmocka_unit_test(no_other_numbers_lead_around_it),
#endif
};

UNIT_TESTS(tests);
