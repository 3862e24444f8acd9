/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/lookahead.h"
#include "tests/unit/unit.h"

#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/proc.h"
#include "tests/unit/error_check.h"

/* A child of ours that is followed from its beginning. */
struct fixture {
	struct cpus cpus;
	struct sideband *sideband;
	struct objects *objects;
	struct lookahead *lookahead;
	uint32_t pid;
	int go;	     /* what is written here lets its second thread go on */
	size_t ends; /* how often it was said to have ended */
};

static void count_end(void *context, uint32_t pid, uint64_t time_ns)
{
	struct fixture *f = context;

	f->ends += pid == f->pid;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	assert_no_error(cpus_online(&f->cpus));
	/* Needs privileges; without them the tests are skipped. */
	if (error_ignore(sideband_new(&f->sideband, &f->cpus, 1u << 20)))
		return 0;
	f->objects = objects_new();
	f->lookahead = lookahead_new(f->sideband, f->objects, false);
	assert_no_error(
		spaces_listen(lookahead_spaces(f->lookahead),
			      &(struct space_listener){ .ended = count_end, .context = f }));
	sideband_enable(f->sideband);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->pid) {
		kill((pid_t)f->pid, SIGKILL);
		waitpid((pid_t)f->pid, NULL, 0);
		close(f->go);
	}
	lookahead_free(f->lookahead);
	objects_free(f->objects);
	sideband_free(f->sideband);
	cpus_release(&f->cpus);
	free(f);
	return 0;
}

static void *exec_sleep(void *go)
{
	char byte;

	if (read(*(int *)go, &byte, 1) == 1)
		execl("/bin/sleep", "sleep", "600", (char *)NULL);
	_exit(1);
}

static void *wait_for_go(void *go)
{
	char byte;

	_exit(read(*(int *)go, &byte, 1) != 1);
}

/* Starts it, with a second thread that runs this. Its first one ends if `headless`. */
static void start(struct fixture *f, void *(*second)(void *go), bool headless)
{
	struct spaces *spaces;
	pthread_t thread;
	/* The second thread reads it when the first one's stack may be gone. */
	static int go[2];
	int was_read[2];
	char byte;
	pid_t pid;

	if (!f->sideband)
		skip();
	assert_int_equal(pipe(go) | pipe(was_read), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (pthread_create(&thread, NULL, second, &go[0]) ||
		    read(was_read[0], &byte, 1) != 1)
			_exit(1);
		if (headless)
			pthread_exit(NULL);
		for (;;)
			pause();
	}
	close(go[0]);
	f->pid = (uint32_t)pid;
	f->go = go[1];
	spaces = spaces_new(f->objects, false);
	assert_no_error(spaces_read(spaces, f->pid, 0));
	assert_no_error(lookahead_add(f->lookahead, f->pid, spaces));
	spaces_free(spaces);
	/* Without its first thread it has nothing mapped in /proc. */
	assert_int_equal(write(was_read[1], "", 1), 1);
	close(was_read[0]);
	close(was_read[1]);
}

static void let_go(const struct fixture *f)
{
	assert_int_equal(write(f->go, "", 1), 1);
}

static void run(struct fixture *f)
{
	assert_no_error(lookahead_run(f->lookahead));
}

/* Up to a minute: the machine may be busy. */
static void wait_until(struct fixture *f, bool (*is_so)(struct fixture *f))
{
	for (int i = 0; i < 60000; i++) {
		if (is_so(f))
			return;
		usleep(1000);
	}
	fail();
}

static bool follows(const struct fixture *f)
{
	return spaces_follows(lookahead_spaces(f->lookahead), f->pid);
}

static bool is_gone(struct fixture *f)
{
	run(f);
	return !follows(f);
}

static bool has_ended(struct fixture *f)
{
	return !proc_runs(f->pid, NULL);
}

/* Its first thread, at least. */
static bool is_zombie(struct fixture *f)
{
	return proc_state(f->pid, NULL) == 'Z';
}

static bool is_called_sleep(struct fixture *f)
{
	char comm[16];

	return !proc_comm(f->pid, f->pid, comm, sizeof(comm)) && !strcmp(comm, "sleep");
}

static bool maps_sleep(struct fixture *f)
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;
	const struct layout *layout;

	run(f);
	assert_true(follows(f));
	layout = spaces_layout(lookahead_spaces(f->lookahead), f->pid);
	while ((m = mappings_next(&layout->mappings, &cursor)) &&
	       !strstr(m->object->definition.path, "/sleep"))
		;
	return m;
}

/* By the records its first thread has ended; they are read when it is another program already. */
static void an_exec_by_another_thread(void **state)
{
	struct fixture *f = *state;

	start(f, exec_sleep, false);
	let_go(f);
	wait_until(f, is_called_sleep);
	wait_until(f, maps_sleep);
	assert_int_equal(f->ends, 0);
}

static void a_process_goes_on_without_its_first_thread(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_go, true);
	wait_until(f, is_zombie);
	for (int i = 0; i < 3; i++)
		run(f);
	assert_true(follows(f));
	let_go(f);
	wait_until(f, is_gone);
	assert_int_equal(f->ends, 1);
}

static void all_threads_end_at_the_same_time(void **state)
{
	struct fixture *f = *state;

	start(f, wait_for_go, false);
	run(f);
	assert_true(follows(f));
	let_go(f);
	wait_until(f, is_gone);
	run(f);
	assert_int_equal(f->ends, 1);
}

static void start_and_end_unseen(struct fixture *f)
{
	start(f, wait_for_go, false);
	run(f);
	sideband_disable(f->sideband);
	kill((pid_t)f->pid, SIGKILL);
	wait_until(f, has_ended);
}

static void an_end_without_a_record(void **state)
{
	struct fixture *f = *state;

	start_and_end_unseen(f);
	run(f);
	assert_true(follows(f));
	lookahead_look_at_all(f->lookahead);
	assert_true(is_gone(f));
	assert_int_equal(f->ends, 1);
}

/* We give another process a number. False: that may not be done here. */
static bool give_number(struct fixture *f)
{
	const pid_t number = (pid_t)f->pid;
	struct clone_args wanted = { .exit_signal = SIGCHLD,
				     .set_tid = (uintptr_t)&number,
				     .set_tid_size = 1 };
	long pid;

	waitpid(number, NULL, 0);
	pid = syscall(SYS_clone3, &wanted, sizeof(wanted));
	if (pid)
		return pid == number;
	for (;;)
		pause();
}

/* From now on our children are followed. */
static void follow_ourselves(struct fixture *f)
{
	assert_no_error(
		lookahead_add(f->lookahead, (uint32_t)getpid(), lookahead_spaces(f->lookahead)));
}

static bool ends_are_known(struct fixture *f)
{
	run(f);
	return f->ends;
}

static void a_number_that_is_used_again_without_an_end(void **state)
{
	struct fixture *f = *state;

	start_and_end_unseen(f);
	sideband_enable(f->sideband);
	follow_ourselves(f);
	if (!give_number(f))
		skip();
	wait_until(f, ends_are_known);
	assert_true(follows(f));
	assert_int_equal(f->ends, 1);
}

static void a_number_that_a_stranger_uses_again(void **state)
{
	struct fixture *f = *state;

	start_and_end_unseen(f);
	sideband_enable(f->sideband);
	if (!give_number(f))
		skip();
	wait_until(f, ends_are_known);
	assert_false(follows(f));
	assert_int_equal(f->ends, 1);
}

/* A program that has something else to report whenever it is heard: more each time. */
static void map_more(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	size_t *heard = context, bytes = ++*heard * 4096;

	if (*heard < 1000)
		munmap(mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		       bytes);
}

static void records_without_end(void **state)
{
	struct fixture *f = *state;
	size_t heard = 0, before;

	if (!f->sideband)
		skip();
	follow_ourselves(f);
	assert_no_error(
		spaces_listen(lookahead_spaces(f->lookahead),
			      &(struct space_listener){ .mapped = map_more, .context = &heard }));
	map_more(&heard, 0, 0, NULL);
	for (int i = 0; i < 3; i++) {
		before = heard;
		run(f);
		assert_int_equal(heard, before + 1);
	}
}

/* What the kernel half was given since would be taken from it: the fork itself has put nothing. */
static void a_fork_before_the_first_look_at_proc(void **state)
{
	const uint64_t here = (uintptr_t)a_fork_before_the_first_look_at_proc;
	struct fixture *f = *state;

	if (!f->sideband)
		skip();
	follow_ourselves(f);
	start(f, wait_for_go, false);
	run(f);
	assert_int_equal(f->ends, 0);
	assert_non_null(spaces_find(lookahead_spaces(f->lookahead), f->pid, here));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	TEST(an_exec_by_another_thread),
	TEST(a_process_goes_on_without_its_first_thread),
	TEST(all_threads_end_at_the_same_time),
	TEST(an_end_without_a_record),
	TEST(a_number_that_is_used_again_without_an_end),
	TEST(a_number_that_a_stranger_uses_again),
	TEST(records_without_end),
	TEST(a_fork_before_the_first_look_at_proc),
};

UNIT_TESTS(tests);
