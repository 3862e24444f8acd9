/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/javascript.h"
#include "bpf/abi/runtimes.h"
#include "tests/unit/unit.h"
#include "tests/unit/v8_fixture.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FIRST 0x7f000000 /* pids that do not exist */

/* -------- the kernel half's map, of two processes: in place of libbpf's -------- */

#define SCRIPTS 3 /* its number */

static struct script_process entries[2]; /* of FIRST and the next; SCRIPT_NONE: not there */

static struct script_process *entry(const void *key)
{
	const uint32_t number = *(const uint32_t *)key - FIRST;

	assert_true(number < sizeof(entries) / sizeof(*entries));
	return &entries[number];
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	memcpy(value, entry(key), sizeof(*entries));
	return entry(key)->runtime ? 0 : -ENOENT;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (fd == SCRIPTS && *(const uint32_t *)key >= FIRST)
		memcpy(entry(key), value, sizeof(*entries));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	*entry(key) = (struct script_process){ 0 };
	return 0;
}

/* -------- */

/* A program with V8, which this process maps. */
struct program {
	struct side_record map;
	void *at;
	char path[40];
};

static void make_program(struct program *p)
{
	static struct v8_image image;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct stat status;
	int fd;

	strcpy(p->path, "/tmp/test_javascript-XXXXXX");
	fd = mkstemp(p->path);
	v8_image_build(&image);
	assert_int_equal(write(fd, &image, sizeof(image)), sizeof(image));
	assert_int_equal(fstat(fd, &status), 0);
	p->at = mmap(NULL, sizeof(image), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p->at != MAP_FAILED);
	close(fd);
	p->map = (struct side_record){
		.type = SIDE_RECORD_MAP,
		.time_ns = 1,
		.pid = (uint32_t)getpid(),
		.map = { .start = (uintptr_t)p->at,
			 .size = (sizeof(image) + page - 1) / page * page,
			 .major = major(status.st_dev),
			 .minor = minor(status.st_dev),
			 .inode = status.st_ino },
		.name = p->path,
	};
}

static void run(struct spaces *spaces, struct program *p, uint32_t pid)
{
	p->map.pid = pid;
	assert_null(spaces_apply(spaces, &p->map));
}

static void end(struct spaces *spaces, uint32_t pid)
{
	spaces_end(spaces, pid, 2);
	spaces_remove(spaces, pid);
}

/* More than there can be pids of at one time; of all of them the kernel half is told. */
static void test_processes_come_and_go(void **state)
{
	const struct javascript_options options = { .scripts_fd = -1, .lists_fd = -1 };
	struct javascript *j = javascript_new(&options);
	struct objects *objects = objects_new();
	struct spaces *spaces = spaces_new(objects, true);
	struct program program;
	size_t before = 0;

	make_program(&program);
	assert_null(javascript_follow(j, spaces));
	assert_int_equal(javascript_wait_ms(j, 1000), 1000);
	run(spaces, &program, (uint32_t)getpid());
	assert_int_equal(javascript_wait_ms(j, 1000), 50);
	end(spaces, (uint32_t)getpid());
	unlink(program.path);
	for (uint32_t i = 0; i < 70000; i++) {
		run(spaces, &program, FIRST + i);
		assert_int_equal(javascript_wait_ms(j, 1000), 50);
		end(spaces, FIRST + i);
		assert_int_equal(javascript_wait_ms(j, 1000), 1000);
		if (i == 5000)
			before = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks < before + 10000);
	javascript_free(j);
	spaces_free(spaces);
	objects_free(objects);
	munmap(program.at, sizeof(struct v8_image));
}

static void fork_second(struct spaces *spaces)
{
	const struct side_record fork = { .type = SIDE_RECORD_FORK,
					  .time_ns = 2,
					  .pid = FIRST + 1,
					  .tid = FIRST + 1,
					  .parent_pid = FIRST,
					  .parent_tid = FIRST };

	assert_null(spaces_apply(spaces, &fork));
}

static void exec(struct spaces *spaces, uint32_t pid)
{
	const struct side_record exec = {
		.type = SIDE_RECORD_EXEC, .time_ns = 3, .pid = pid, .tid = pid
	};

	assert_null(spaces_apply(spaces, &exec));
}

/* What the kernel half has copied stays as it is; it has copied nothing if the entry came later. */
static void test_children(void **state)
{
	const struct javascript_options options = { .scripts_fd = SCRIPTS, .lists_fd = -1 };
	struct javascript *j = javascript_new(&options);
	struct objects *objects = objects_new();
	struct spaces *spaces = spaces_new(objects, true);
	struct program program;

	make_program(&program);
	assert_null(javascript_follow(j, spaces));
	run(spaces, &program, (uint32_t)getpid());
	unlink(program.path);
	run(spaces, &program, FIRST);
	assert_int_equal(entries[0].runtime, SCRIPT_V8);
	fork_second(spaces);
	assert_int_equal(entries[1].runtime, SCRIPT_V8);
	assert_int_not_equal(entries[1].image, entries[0].image);
	assert_memory_equal(entries[1].parameters, entries[0].parameters,
			    sizeof(entries[0].parameters));
	end(spaces, FIRST + 1);
	assert_int_equal(entries[1].runtime, SCRIPT_NONE);
	entries[1] = entries[0];
	fork_second(spaces);
	assert_int_equal(entries[1].image, entries[0].image);
	/* It runs another runtime, and the kernel half knew before the records were read. */
	entries[1].runtime = SCRIPT_PYTHON;
	exec(spaces, FIRST + 1);
	assert_int_equal(entries[1].runtime, SCRIPT_PYTHON);
	exec(spaces, FIRST);
	assert_int_equal(entries[0].runtime, SCRIPT_NONE);
	javascript_free(j);
	spaces_free(spaces);
	objects_free(objects);
	munmap(program.at, sizeof(struct v8_image));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_children),
	cmocka_unit_test(test_processes_come_and_go),
};

UNIT_TESTS(tests);
