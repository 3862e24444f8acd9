/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/javascript.h"
#include "tests/unit/unit.h"
#include "tests/unit/v8_fixture.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FIRST 0x7f000000 /* pids that do not exist */

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_processes_come_and_go),
};

UNIT_TESTS(tests);
