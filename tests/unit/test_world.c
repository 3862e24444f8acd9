/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/world.h"
#include "common/clock.h"
#include "common/limits.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above any number that the kernel gives, so that /proc knows nothing of it. */
#define PID 100000000u

struct fixture {
	char kallsyms[64], modules[1];
	struct world w;
};

static struct fixture *begin(bool everything)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct kernel_symbols *kernel;

	strcpy(f->kallsyms, "ffffffff81000000 T _text\n");
	assert_null(kernel_symbols_parse(&kernel, f->kallsyms, f->modules));
	assert_null(world_init(&f->w, everything, kernel));
	return f;
}

static void end(struct fixture *f)
{
	world_release(&f->w);
	free(f);
}

static struct error *refresh(struct fixture *f, uint64_t now_ns,
			     void (*changed)(uint32_t pid, void *context), void *context)
{
	struct error *error = world_refresh(&f->w);

	return error ? error : world_refresh_some(&f->w, now_ns, UINT64_MAX, changed, context);
}

static void apply(struct fixture *f, struct side_record r)
{
	if (!r.name)
		r.name = "";
	assert_null(world_apply(&f->w, &r));
}

static const char *path_at(struct fixture *f, uint32_t pid, uint64_t address)
{
	const struct mapping *m = spaces_find(f->w.spaces, pid, address);

	return m ? m->object->definition.path : "";
}

/* Code of that file at 0x1000. */
static void apply_map(struct fixture *f, uint32_t pid, uint64_t time_ns, const char *name)
{
	apply(f, (struct side_record){ .type = SIDE_RECORD_MAP,
				       .time_ns = time_ns,
				       .pid = pid,
				       .tid = pid,
				       .map = { .start = 0x1000, .size = 0x1000, .inode = 1 },
				       .name = name });
}

/* FORK or EXIT of the child of PID. */
static void apply_to_child(struct fixture *f, enum side_record_type type, uint64_t time_ns)
{
	apply(f, (struct side_record){ .type = type,
				       .time_ns = time_ns,
				       .pid = PID + 1,
				       .tid = PID + 1,
				       .parent_pid = PID,
				       .parent_tid = PID });
}

static void follows_a_process_from_fork_to_exit(void **state)
{
	struct fixture *f = begin(true);

	apply(f, (struct side_record){ .type = SIDE_RECORD_EXEC,
				       .time_ns = 1,
				       .pid = PID,
				       .tid = PID,
				       .name = "parent" });
	apply_map(f, PID, 2, "/bin/parent");
	apply_to_child(f, SIDE_RECORD_FORK, 3);
	assert_string_equal(path_at(f, PID + 1, 0x1800), "/bin/parent");
	assert_string_equal(tasks_find(f->w.tasks, PID + 1)->comm, "parent");
	apply(f, (struct side_record){ .type = SIDE_RECORD_EXEC,
				       .time_ns = 4,
				       .pid = PID + 1,
				       .tid = PID + 1,
				       .name = "child" });
	assert_string_equal(path_at(f, PID + 1, 0x1800), "");
	assert_string_equal(path_at(f, PID, 0x1800), "/bin/parent");
	apply_map(f, PID + 1, 5, "/bin/child (deleted)");
	assert_string_equal(path_at(f, PID + 1, 0x1800), "/bin/child");
	apply_to_child(f, SIDE_RECORD_EXIT, 6);
	world_forget(&f->w, 6);
	assert_true(spaces_knows(f->w.spaces, PID + 1));
	world_forget(&f->w, 7);
	assert_false(spaces_knows(f->w.spaces, PID + 1));
	assert_true(spaces_knows(f->w.spaces, PID));
	end(f);
}

/* An EXEC, and an EXIT before anything is mapped. */
static void apply_exit_in_exec(struct fixture *f, uint32_t pid)
{
	struct side_record r = { .time_ns = 1, .pid = pid, .tid = pid, .name = "changed" };

	r.type = SIDE_RECORD_EXEC;
	apply(f, r);
	r.type = SIDE_RECORD_EXIT;
	apply(f, r);
	world_forget(&f->w, 2);
}

/* As the kernel records a set-uid program; but one process has really ended. */
static void an_exit_in_an_exec(void **state)
{
	struct fixture *f = begin(true);
	uint32_t own = (uint32_t)getpid();

	apply_exit_in_exec(f, own);
	apply_exit_in_exec(f, PID);
	assert_true(spaces_knows(f->w.spaces, own));
	assert_non_null(tasks_find(f->w.tasks, own));
	assert_false(spaces_knows(f->w.spaces, PID));
	apply_map(f, own, 3, "/bin/changed");
	assert_string_equal(path_at(f, own, 0x1800), "/bin/changed");
	apply(f, (struct side_record){
			 .type = SIDE_RECORD_EXIT, .time_ns = 4, .pid = own, .tid = own });
	world_forget(&f->w, 5);
	assert_false(spaces_knows(f->w.spaces, own));
	end(f);
}

static void strangers_are_left_out(void **state)
{
	struct fixture *f = begin(false);

	apply(f, (struct side_record){
			 .type = SIDE_RECORD_EXEC, .pid = PID, .tid = PID, .name = "x" });
	apply(f, (struct side_record){ .type = SIDE_RECORD_MAP,
				       .pid = PID,
				       .tid = PID,
				       .map = { .start = 0x1000, .size = 0x1000 },
				       .name = "/x" });
	apply(f, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .pid = PID + 1,
				       .tid = PID + 1,
				       .parent_pid = PID,
				       .parent_tid = PID });
	assert_false(spaces_knows(f->w.spaces, PID));
	assert_false(spaces_knows(f->w.spaces, PID + 1));
	assert_null(tasks_find(f->w.tasks, PID));
	end(f);
}

static void count(uint32_t pid, void *context)
{
	++*(int *)context;
}

/* The child has the new program's name and mappings, and none of its old ones. */
static bool has_begun(struct fixture *f, uint32_t pid)
{
	const struct layout *layout = spaces_layout(f->w.spaces, pid);
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;
	bool file = false;

	if (strcmp(tasks_find(f->w.tasks, pid)->comm, "sleep"))
		return false;
	while ((m = mappings_next(&layout->mappings, &cursor))) {
		const struct prf_object *object = &m->object->definition;

		if (strstr(object->path, "test_world"))
			return false;
		file |= object->kind == PRF_OBJECT_FILE;
	}
	return file;
}

static void count_end(void *context, uint32_t pid, uint64_t time_ns)
{
	count(pid, context);
}

static void what_was_missed_is_asked_for(void **state)
{
	struct fixture *f = begin(false);
	bool found = false;
	int go[2], changed = 0, ends = 0;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	assert_null(world_add_process(&f->w, (uint32_t)pid));
	assert_string_equal(tasks_find(f->w.tasks, (uint32_t)pid)->comm, "test_world");
	assert_int_equal(write(go[1], "", 1), 1);
	/*
	 * The exec takes its time, and nothing announces it. Up to a minute: the machine may be
	 * busy.
	 */
	for (int i = 0; i < 1200 && !found; i++) {
		usleep(50000);
		assert_null(refresh(f, 9, count, &changed));
		found = has_begun(f, (uint32_t)pid);
	}
	assert_true(found);
	assert_true(changed >= 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_null(spaces_listen(
		f->w.spaces, &(struct space_listener){ .ended = count_end, .context = &ends }));
	/* A process that is gone keeps what was known: its samples may still be waiting. */
	assert_null(refresh(f, 11, NULL, NULL));
	assert_true(spaces_knows(f->w.spaces, (uint32_t)pid));
	assert_int_equal(ends, 0);
	world_forget(&f->w, 12);
	assert_false(spaces_knows(f->w.spaces, (uint32_t)pid));
	assert_int_equal(ends, 1);
	close(go[0]);
	close(go[1]);
	end(f);
}

struct seen {
	uint32_t pid;
	int changes, clearings;
};

static void count_change(uint32_t pid, void *context)
{
	struct seen *seen = context;

	seen->changes += pid == seen->pid;
}

static void count_clearing(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	struct seen *seen = context;

	seen->clearings += pid == seen->pid;
}

/* What was known of the process is cleared for that; the first time, nothing was. */
static void each_is_read_once(void **state)
{
	struct seen seen = { .pid = (uint32_t)getpid() };
	struct fixture *f = begin(true);

	assert_null(spaces_listen(f->w.spaces, &(struct space_listener){ .cleared = count_clearing,
									 .context = &seen }));
	for (int i = 1; i < 4; i++) {
		assert_null(refresh(f, 9, count_change, &seen));
		assert_true(spaces_knows(f->w.spaces, seen.pid));
		assert_int_equal(seen.changes, i);
		assert_int_equal(seen.clearings, i - 1);
	}
	assert_non_null(tasks_find(f->w.tasks, seen.pid));
	end(f);
}

static void count_each(uint32_t pid, void *context)
{
	++*(size_t *)context;
}

/* When the time is over one is read all the same, and an end counts when all are. */
static void processes_are_read_piece_by_piece(void **state)
{
	struct fixture *f = begin(false);
	const uint32_t own = (uint32_t)getpid();
	size_t read = 0;

	assert_null(world_add_process(&f->w, own));
	assert_null(world_add_process(&f->w, (uint32_t)getppid()));
	apply(f, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .time_ns = clock_now(),
				       .pid = PID,
				       .tid = PID,
				       .parent_pid = own,
				       .parent_tid = own });
	assert_false(world_is_stale(&f->w));
	assert_null(world_refresh(&f->w));
	for (int i = 0; i < 3; i++) {
		assert_true(world_is_stale(&f->w));
		assert_int_equal(tasks_find(f->w.tasks, PID)->gone_ns, 0);
		assert_null(world_refresh_some(&f->w, 9, 0, count_each, &read));
		assert_true(read <= (size_t)i + 1);
	}
	assert_false(world_is_stale(&f->w));
	assert_int_equal(read, 2);
	assert_int_equal(tasks_find(f->w.tasks, PID)->gone_ns, 9);
	end(f);
}

/* A process that was forked after records were lost is known before its fork is seen. */
static void a_fork_before_the_next_look_at_proc(void **state)
{
	const uint32_t own = (uint32_t)getpid();
	struct fixture *f = begin(true);
	const struct side_record fork = { .type = SIDE_RECORD_FORK,
					  .time_ns = clock_now(),
					  .pid = own,
					  .tid = own,
					  .parent_pid = PID,
					  .parent_tid = PID };

	assert_null(refresh(f, fork.time_ns - 1, NULL, NULL));
	apply(f, fork);
	assert_true(strstr(path_at(f, own, (uintptr_t)a_fork_before_the_next_look_at_proc),
			   "test_world"));
	end(f);
}

/* Of code that this process makes. */
static struct side_record first_mapping(void)
{
	return (struct side_record){
		.type = SIDE_RECORD_MAP,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.name = "//anon",
		.map = { .start = 0x10000, .size = 0x1000 },
	};
}

/* What is mapped is reported, and what is unmapped is not. */
static void mappings_without_end(void **state)
{
	const struct layout *layout;
	struct side_record record = first_mapping();
	struct world w;

	assert_null(world_init(&w, true, NULL));
	for (size_t i = 0; i <= LIMIT_MAPPINGS; i++) {
		assert_null(world_apply(&w, &record));
		record.map.start += 0x2000;
	}
	layout = spaces_layout(w.spaces, record.pid);
	assert_true(layout->mappings.n < LIMIT_MAPPINGS);
	/* What is there now is known, and so is the newest. */
	assert_non_null(mappings_find(&layout->mappings, (uintptr_t)mappings_without_end));
	assert_non_null(mappings_find(&layout->mappings, record.map.start - 0x2000));
	assert_null(mappings_find(&layout->mappings, 0x10000));
	world_release(&w);
}

/* They would soon be too many again, and to read them takes long. */
static void so_many_real_mappings_are_not_read_again_and_again(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = LIMIT_MAPPINGS / 2 + 100;
	struct side_record record = first_mapping();
	char *there = mmap(NULL, pages * page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	bool divided = there != MAP_FAILED;
	struct world w;

	/* Neighbours that differ are mappings of their own. */
	for (size_t i = 0; i < pages && divided; i += 2)
		divided = !mprotect(there + i * page, page, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!divided)
		skip();
	assert_null(world_init(&w, true, NULL));
	for (size_t i = 0; i <= LIMIT_MAPPINGS; i++) {
		assert_null(world_apply(&w, &record));
		record.map.start += 0x2000;
	}
	assert_int_equal(spaces_layout(w.spaces, record.pid)->mappings.n, 1);
	assert_true(spaces_crowded_out(w.spaces) > LIMIT_MAPPINGS / 2);
	world_release(&w);
	munmap(there, pages * page);
}

/* The first process with the number has ended, too, though nothing was recorded of that. */
static void a_number_that_is_used_again(void **state)
{
	struct fixture *f = begin(true);
	int ends = 0;

	assert_null(spaces_listen(
		f->w.spaces, &(struct space_listener){ .ended = count_end, .context = &ends }));
	apply_to_child(f, SIDE_RECORD_FORK, 1);
	apply(f, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .time_ns = 2,
				       .pid = PID + 1,
				       .tid = PID + 2,
				       .parent_pid = PID + 1,
				       .parent_tid = PID + 1 });
	assert_int_equal(ends, 0);
	apply_to_child(f, SIDE_RECORD_FORK, 3);
	assert_int_equal(ends, 1);
	apply_to_child(f, SIDE_RECORD_EXIT, 4);
	assert_int_equal(ends, 2);
	end(f);
}

/* Nothing that is recorded from then on is of the process that was followed. */
static void a_number_that_a_stranger_uses_again(void **state)
{
	struct fixture *f = begin(false);
	int ends = 0;

	assert_null(spaces_listen(
		f->w.spaces, &(struct space_listener){ .ended = count_end, .context = &ends }));
	assert_null(world_add_command(&f->w, PID));
	apply_to_child(f, SIDE_RECORD_FORK, 1);
	apply_map(f, PID + 1, 2, "/bin/child");
	apply(f, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .time_ns = 3,
				       .pid = PID + 1,
				       .tid = PID + 1,
				       .parent_pid = PID + 7,
				       .parent_tid = PID + 7 });
	apply_map(f, PID + 1, 4, "/bin/stranger");
	assert_int_equal(ends, 1);
	assert_false(spaces_knows(f->w.spaces, PID + 1));
	assert_null(tasks_find(f->w.tasks, PID + 1));
	assert_true(spaces_knows(f->w.spaces, PID));
	end(f);
}

/* Records of our own process that came before it was read, and of one that had its number. */
static void what_is_older_than_proc(void **state)
{
	static const enum side_record_type types[] = { SIDE_RECORD_FORK, SIDE_RECORD_EXIT,
						       SIDE_RECORD_FORK };
	const uint32_t own = (uint32_t)getpid(), parents[] = { PID, PID + 7 };
	struct fixture *f = begin(false);
	int ends = 0;

	assert_null(world_add_command(&f->w, PID));
	apply_map(f, PID, 1, "/bin/parent");
	assert_null(world_add_process(&f->w, own));
	assert_null(spaces_listen(
		f->w.spaces, &(struct space_listener){ .ended = count_end, .context = &ends }));
	for (size_t i = 0; i < 6; i++)
		apply(f, (struct side_record){ .type = types[i % 3],
					       .time_ns = 2 + i,
					       .pid = own,
					       .tid = own,
					       .parent_pid = parents[i / 3],
					       .parent_tid = parents[i / 3] });
	assert_int_equal(ends, 0);
	assert_int_equal(tasks_find(f->w.tasks, own)->gone_ns, 0);
	assert_string_equal(tasks_find(f->w.tasks, own)->comm, "test_world");
	world_forget(&f->w, UINT64_MAX);
	assert_non_null(tasks_find(f->w.tasks, own));
	assert_true(strstr(path_at(f, own, (uintptr_t)what_is_older_than_proc), "test_world"));
	apply(f, (struct side_record){
			 .type = SIDE_RECORD_EXIT, .time_ns = UINT64_MAX, .pid = own, .tid = own });
	assert_int_equal(ends, 1);
	end(f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(mappings_without_end),
	cmocka_unit_test(so_many_real_mappings_are_not_read_again_and_again),
	cmocka_unit_test(follows_a_process_from_fork_to_exit),
	cmocka_unit_test(an_exit_in_an_exec),
	cmocka_unit_test(strangers_are_left_out),
	cmocka_unit_test(what_was_missed_is_asked_for),
	cmocka_unit_test(each_is_read_once),
	cmocka_unit_test(processes_are_read_piece_by_piece),
	cmocka_unit_test(a_fork_before_the_next_look_at_proc),
	cmocka_unit_test(a_number_that_is_used_again),
	cmocka_unit_test(a_number_that_a_stranger_uses_again),
	cmocka_unit_test(what_is_older_than_proc),
};

UNIT_TESTS(tests);
