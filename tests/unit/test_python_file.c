/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_file.h"
#include "tests/unit/python_fixture.h"
#include "tests/unit/unit.h"

#include <stddef.h>

/* The same of CPython 3.14.10. */
static const uint64_t offsets_3_14[PYTHON_WORDS] = {
	0,    0x30e0af0, 0,   316616, 784, 808,	 225864, 7280, 7272, 7344, 7360, 7408, 7688,
	7672, 7680,	 16,  7784,   0,   7800, 7792,	 7992, 0,    832,  0,	 8,    16,
	72,   152,	 160, 232,    32,  88,	 8,	 0,    56,   80,   74,	 64,   0,
	216,  112,	 120, 128,    136, 68,	 52,	 96,   104,  208,
};

static const char *read_file(struct python_file *p, const struct python_image *i)
{
	struct elf_file e;
	const char *problem;

	assert_int_equal(elf_file_open_memory(&e, i, sizeof(*i)), ELF_OK);
	assert_true(python_file_is_one(&e));
	problem = python_file_read(p, &e);
	elf_file_release(&e);
	return problem;
}

static void offsets_are_those_of_the_file(void **state)
{
	struct python_image i;
	struct python_file p;

	python_image_build(&i, python_offsets_3_13, 0x030d);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.version, 0x030d);
	assert_int_equal(p.process.frame_entry, 70);
	assert_int_equal(p.process.code_bytecode, 200);
	assert_int_equal(p.process.key, offsetof(struct python_image, runtime) + 2164);
	assert_int_equal(p.process.interpreter_id, 7272);
	python_image_build(&i, offsets_3_14, 0x030e);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.version, 0x030e);
	assert_int_equal(p.process.thread_frame, 72);
	assert_int_equal(p.process.thread_interpreter, 16);
	assert_int_equal(p.process.lock, 16);
	assert_int_equal(p.process.frame_code, 0);
	assert_int_equal(p.process.frame_back, 8);
	assert_int_equal(p.process.frame_position, 56);
	assert_int_equal(p.process.frame_entry, 74);
	assert_true(p.process.frame_bytes > 74);
	assert_int_equal(p.process.code_start + p.process.code_file, 112);
	assert_int_equal(p.process.code_start + p.process.code_name, 128);
	assert_int_equal(p.process.code_start + p.process.code_table, 136);
	assert_int_equal(p.process.code_start + p.process.code_line, 68);
	assert_int_equal(p.process.code_bytecode, 208);
	assert_int_equal(p.process.key, offsetof(struct python_image, runtime) + 2340);
}

/* A later 3.14, whose structures have changed. */
static void other_offsets_are_used(void **state)
{
	struct python_image i;
	struct python_file p;

	python_image_build(&i, offsets_3_14, 0x030e);
	i.runtime[7] = 7000; /* the number, in the interpreter */
	i.runtime[15] = 24;  /* the lock, in the interpreter */
	i.runtime[26] = 80;  /* the frame, in the thread */
	i.runtime[34] = 48;  /* the instruction, in the frame */
	i.runtime[42] = 104; /* the qualified name, in the code */
	assert_null(read_file(&p, &i));
	assert_int_equal(p.process.interpreter_id, 7000);
	assert_int_equal(p.process.lock, 24);
	assert_int_equal(p.process.thread_frame, 80);
	assert_int_equal(p.process.frame_position, 48);
	assert_int_equal(p.process.code_start + p.process.code_name, 104);
}

static void what_is_not_known_is_refused(void **state)
{
	struct python_image i;
	struct python_file p;

	python_image_build(&i, offsets_3_14, 0x030f);
	assert_string_equal(read_file(&p, &i), "a version of CPython that is not known");
	/* Free-threaded. */
	python_image_build(&i, offsets_3_14, 0x030e);
	i.runtime[2] = 1;
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	/* Of another version than the file says. */
	python_image_build(&i, python_offsets_3_13, 0x030e);
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	python_image_build(&i, offsets_3_14, 0x030e);
	i.runtime[7] = 70000;
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	/* No offset, and one outside of what is read. */
	python_image_build(&i, offsets_3_14, 0x030e);
	i.runtime[36] = 5000;
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	i.runtime[36] = 120;
	assert_string_equal(read_file(&p, &i),
			    "its frames are laid out in a way that is not known");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(offsets_are_those_of_the_file),
	cmocka_unit_test(other_offsets_are_used),
	cmocka_unit_test(what_is_not_known_is_refused),
};

UNIT_TESTS(tests);
