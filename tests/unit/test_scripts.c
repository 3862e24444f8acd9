/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/scripts.h"
#include "tests/unit/python_fixture.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/abi/script.h"
#include "bpf/abi/unwind.h"

/* Above any number that the kernel gives, so that /proc knows nothing of them. */
#define PARENT 100000000u
#define CHILD 100000001u

/* -------- the kernel half's maps, in place of the kernel's -------- */

enum { SCRIPTS = 1000, LISTS, FILES, SENT };

#define ENTRIES 8

static struct fake_map {
	size_t key_size, value_size, count;
	uint8_t keys[ENTRIES][16], values[ENTRIES][256];
} maps[] = {
	[SCRIPTS - SCRIPTS] = { .key_size = 4, .value_size = sizeof(struct script_process) },
	[LISTS - SCRIPTS] = { .key_size = 4, .value_size = 8 },
	[FILES - SCRIPTS] = { .key_size = sizeof(struct unwind_file_key),
			      .value_size = sizeof(struct script_file) },
};

/* NULL: it has none. */
static uint8_t *entry(struct fake_map *m, const void *key)
{
	for (size_t i = 0; i < m->count; i++)
		if (!memcmp(m->keys[i], key, m->key_size))
			return m->values[i];
	return NULL;
}

/* These three in place of libbpf's. */
int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	struct fake_map *m = &maps[fd - SCRIPTS];
	const uint8_t *found = entry(m, key);

	if (found)
		memcpy(value, found, m->value_size);
	return found ? 0 : -ENOENT;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct fake_map *m = &maps[fd - SCRIPTS];
	uint8_t *to = entry(m, key);

	if (!to) {
		assert_true(m->count < ENTRIES);
		memcpy(m->keys[m->count], key, m->key_size);
		to = m->values[m->count++];
	}
	memcpy(to, value, m->value_size);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct fake_map *m = &maps[fd - SCRIPTS];
	uint8_t *gone = entry(m, key);
	size_t last = m->count - 1;

	if (!gone)
		return -ENOENT;
	memcpy(gone, m->values[last], m->value_size);
	memcpy(m->keys[(gone - m->values[0]) / sizeof(m->values[0])], m->keys[last], m->key_size);
	m->count = last;
	return 0;
}

/* -------- spaces with an interpreter's file -------- */

struct fixture {
	char path[64], other[64]; /* names of the same file */
	struct stat status;
	struct objects *objects;
	struct spaces *spaces;
	struct scripts *scripts;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct python_image image;
	int fd;

	python_image_build(&image, python_offsets_3_13, 0x030d);
	strcpy(f->path, "/tmp/prof-scripts.XXXXXX");
	fd = mkstemp(f->path);
	if (fd < 0 || write(fd, &image, sizeof(image)) != sizeof(image) || fstat(fd, &f->status))
		return -1;
	close(fd);
	strcat(strcpy(f->other, f->path), ".2");
	if (link(f->path, f->other))
		return -1;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		maps[i].count = 0;
	f->objects = objects_new();
	f->spaces = spaces_new(f->objects, true);
	f->scripts = scripts_new(&(struct scripts_options){ SCRIPTS, LISTS, FILES, SENT });
	*state = f;
	return error_ignore(scripts_follow(f->scripts, f->spaces)) ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	scripts_free(f->scripts);
	spaces_free(f->spaces);
	objects_free(f->objects);
	unlink(f->path);
	unlink(f->other);
	free(f);
	return 0;
}

static void map_file(struct fixture *f, uint32_t pid, uint64_t start, const char *path)
{
	const struct side_record r = {
		.type = SIDE_RECORD_MAP,
		.pid = pid,
		.tid = pid,
		.map = { .start = start,
			 .size = 4096,
			 .major = major(f->status.st_dev),
			 .minor = minor(f->status.st_dev),
			 .inode = f->status.st_ino },
		.name = path,
	};

	assert_null(spaces_apply(f->spaces, &r));
}

static void fork_child(struct fixture *f)
{
	const struct side_record r = { .type = SIDE_RECORD_FORK,
				       .pid = CHILD,
				       .tid = CHILD,
				       .parent_pid = PARENT,
				       .parent_tid = PARENT,
				       .name = "" };

	assert_null(spaces_apply(f->spaces, &r));
}

static void exec_child(struct fixture *f)
{
	const struct side_record r = {
		.type = SIDE_RECORD_EXEC, .pid = CHILD, .tid = CHILD, .name = ""
	};

	assert_null(spaces_apply(f->spaces, &r));
}

/* The runtime that the kernel half knows of the process. */
static uint32_t runtime_of(uint32_t pid)
{
	struct script_process process;

	return bpf_map_lookup_elem(SCRIPTS, &pid, &process) ? SCRIPT_NONE : process.runtime;
}

static const struct object *object_at(const struct fixture *f, uint64_t address)
{
	return spaces_find(f->spaces, PARENT, address)->object;
}

/* -------- tests -------- */

static void a_process_and_its_child_are_known(void **state)
{
	struct fixture *f = *state;

	map_file(f, PARENT, 0x10000, f->path);
	assert_int_equal(runtime_of(PARENT), SCRIPT_PYTHON);
	/* It forked before the parent was known. */
	fork_child(f);
	assert_int_equal(runtime_of(CHILD), SCRIPT_PYTHON);
	spaces_end(f->spaces, CHILD, 1);
	assert_int_equal(runtime_of(CHILD), SCRIPT_NONE);
	assert_int_equal(runtime_of(PARENT), SCRIPT_PYTHON);
}

/* The records are read later: the kernel half has seen both already. */
static void a_child_that_runs_another_program_is_not(void **state)
{
	struct fixture *f = *state;

	map_file(f, PARENT, 0x10000, f->path);
	fork_child(f);
	exec_child(f);
	assert_int_equal(runtime_of(CHILD), SCRIPT_NONE);
	map_file(f, CHILD, 0x20000, f->path);
	assert_int_equal(runtime_of(CHILD), SCRIPT_PYTHON);
}

static void what_the_kernel_half_has_found_since_stays(void **state)
{
	static const struct script_process found = { .runtime = SCRIPT_PYTHON,
						     .image = SCRIPT_IMAGE_BY_TIME | 7 },
					   other = { .runtime = SCRIPT_V8 };
	const uint32_t child = CHILD;
	struct fixture *f = *state;

	map_file(f, PARENT, 0x10000, f->path);
	bpf_map_update_elem(SCRIPTS, &child, &found, BPF_ANY);
	fork_child(f);
	exec_child(f);
	assert_int_equal(runtime_of(CHILD), SCRIPT_PYTHON);
	/* Another part of the recorder knows that one. */
	bpf_map_update_elem(SCRIPTS, &child, &other, BPF_ANY);
	exec_child(f);
	assert_int_equal(runtime_of(CHILD), SCRIPT_V8);
}

/* Its process had ended, say. */
static void a_file_that_could_not_be_opened_is_looked_at_again(void **state)
{
	struct fixture *f = *state;
	char hidden[80];

	strcat(strcpy(hidden, f->path), ".hidden");
	assert_int_equal(rename(f->path, hidden), 0);
	map_file(f, PARENT, 0x10000, f->path);
	assert_int_equal(runtime_of(PARENT), SCRIPT_NONE);
	assert_int_equal(rename(hidden, f->path), 0);
	map_file(f, CHILD, 0x10000, f->path);
	assert_int_equal(runtime_of(CHILD), SCRIPT_PYTHON);
}

/* Another file may have its number by then. */
static void a_file_that_is_forgotten_is_nothing(void **state)
{
	struct fixture *f = *state;

	map_file(f, PARENT, 0x10000, f->path);
	assert_int_equal(maps[FILES - SCRIPTS].count, 1);
	map_file(f, PARENT, 0x20000, f->other);
	assert_ptr_not_equal(object_at(f, 0x10000), object_at(f, 0x20000));
	assert_int_equal(maps[FILES - SCRIPTS].count, 1);
	spaces_forget(f->spaces, object_at(f, 0x10000));
	assert_int_equal(maps[FILES - SCRIPTS].count, 1);
	spaces_forget(f->spaces, object_at(f, 0x20000));
	assert_int_equal(maps[FILES - SCRIPTS].count, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(a_process_and_its_child_are_known),
	TEST(a_child_that_runs_another_program_is_not),
	TEST(what_the_kernel_half_has_found_since_stays),
	TEST(a_file_that_could_not_be_opened_is_looked_at_again),
	TEST(a_file_that_is_forgotten_is_nothing),
};

UNIT_TESTS(tests);
