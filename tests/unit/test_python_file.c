/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_file.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* What _Py_DebugOffsets of CPython 3.13.0 and 3.14.10 hold, from their files. */
#define WORDS 50
static const uint64_t offsets_3_13[WORDS] = {
	0,    0x30d00f0, 0,    283320, 608,  632, 194968, 7272, 7264, 7344, 7400,
	7656, 7640,	 7648, 16,     7752, 0,	  7768,	  7760, 304,  0,    8,
	16,   72,	 152,  160,    232,  32,  80,	  8,	0,    56,   72,
	70,   208,	 112,  120,    128,  136, 68,	  52,	96,   104,  200,
};
static const uint64_t offsets_3_14[WORDS] = {
	0,    0x30e0af0, 0,   316616, 784, 808,	 225864, 7280, 7272, 7344, 7360, 7408, 7688,
	7672, 7680,	 16,  7784,   0,   7800, 7792,	 7992, 0,    832,  0,	 8,    16,
	72,   152,	 160, 232,    32,  88,	 8,	 0,    56,   80,   74,	 64,   0,
	216,  112,	 120, 128,    136, 68,	 52,	 96,   104,  208,
};

enum { NONE, RUNTIME, VERSION, LOOP, CODE_TYPE, SYMBOLS };

/* A file that holds an interpreter, as far as it is looked at. Addresses are offsets in it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[SYMBOLS];
	char names[SYMBOLS][32];
	char section_names[32];
	uint64_t runtime[WORDS + 300];
	uint64_t version;
	uint8_t loop[64];
	uint8_t code_type[416];
};

static void build(struct image *i, const uint64_t *offsets, uint32_t version)
{
	*i = (struct image){ FIXTURE_HEADERS(struct image, ""),
			     .sections = { FIXTURE_SECTIONS(struct image) },
			     .version = (uint64_t)version << 16 };
	memcpy(i->runtime, offsets, WORDS * sizeof(*offsets));
	memcpy(i->runtime, "xdebugpy", 8);
	FIXTURE_SYMBOL(i, RUNTIME, "_PyRuntime", offsetof(struct image, runtime),
		       sizeof(i->runtime));
	FIXTURE_SYMBOL(i, VERSION, "Py_Version", offsetof(struct image, version), 8);
	FIXTURE_SYMBOL(i, LOOP, "_PyEval_EvalFrameDefault", offsetof(struct image, loop), 64);
	FIXTURE_SYMBOL(i, CODE_TYPE, "PyCode_Type", offsetof(struct image, code_type), 416);
}

static const char *read_file(struct python_file *p, const struct image *i)
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
	struct image i;
	struct python_file p;

	build(&i, offsets_3_13, 0x030d);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.version, 0x030d);
	assert_int_equal(p.process.frame_entry, 70);
	assert_int_equal(p.process.code_bytecode, 200);
	assert_int_equal(p.process.key, offsetof(struct image, runtime) + 2164);
	assert_int_equal(p.process.interpreter_id, 7272);
	build(&i, offsets_3_14, 0x030e);
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
	assert_int_equal(p.process.key, offsetof(struct image, runtime) + 2340);
}

/* A later 3.14, whose structures have changed. */
static void other_offsets_are_used(void **state)
{
	struct image i;
	struct python_file p;

	build(&i, offsets_3_14, 0x030e);
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
	struct image i;
	struct python_file p;

	build(&i, offsets_3_14, 0x030f);
	assert_string_equal(read_file(&p, &i), "a version of CPython that is not known");
	/* Free-threaded. */
	build(&i, offsets_3_14, 0x030e);
	i.runtime[2] = 1;
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	/* Of another version than the file says. */
	build(&i, offsets_3_13, 0x030e);
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	build(&i, offsets_3_14, 0x030e);
	i.runtime[7] = 70000;
	assert_string_equal(read_file(&p, &i), "a build of CPython that is not known");
	/* No offset, and one outside of what is read. */
	build(&i, offsets_3_14, 0x030e);
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
