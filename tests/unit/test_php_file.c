/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { NONE, LOOP, GLOBALS, FILE_NAME, BEGIN, RUN_C, EXTEND, FRAMELESS, SYMBOLS };

#define FUNCTIONS_MAX 4
#define HANDLER_BYTES 16

/* A file that holds an interpreter, as far as it is looked at. Addresses are offsets in it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[SYMBOLS];
	char names[SYMBOLS][32];
	char section_names[64];
	uint8_t file_name[64], begin[32], run_c[32], extend[32], loop[64];
	uint8_t handlers[FUNCTIONS_MAX][HANDLER_BYTES];
	uint64_t globals[64], frameless;
	uint8_t frames[28 + 20 * FUNCTIONS_MAX];
	int functions; /* that the unwind information has */
};

#define AT(member) offsetof(struct image, member)

/* An instruction that ends with the distance to `target`. */
static void put(uint8_t *code, size_t place, const void *bytes, size_t size, size_t target)
{
	int32_t distance = (int32_t)target - (int32_t)(place + size + 4);

	memcpy(code, bytes, size);
	memcpy(code + size, &distance, sizeof(distance));
}

/* Where a version has the fields of a function, as its own headers say. */
static const struct layout {
	uint32_t version; /* ZEND_EXTENSION_API_NO */
	uint8_t last, code, file, handler;
} layouts[] = {
	{ 420210902, 68, 72, 144, 56 },
	{ 420220829, 80, 88, 152, 72 },
	{ 420230831, 76, 80, 144, 72 },
	{ 420240924, 96, 104, 168, 88 },
};

#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))
#define PHP_8_2 420220829
#define PHP_8_4 420240924

static void build(struct image *i, uint32_t version, const struct layout *l)
{
	*i = (struct image){
		FIXTURE_HEADERS(struct image, "\0.eh_frame"),
		.sections = { FIXTURE_SECTIONS(struct image),
			      FIXTURE_SECTION(struct image, 27, SHT_PROGBITS, frames, 0) },
	};
	FIXTURE_SYMBOL(i, LOOP, "execute_ex", AT(loop), sizeof(i->loop));
	FIXTURE_SYMBOL(i, GLOBALS, "executor_globals", AT(globals), sizeof(i->globals));
	FIXTURE_SYMBOL(i, FILE_NAME, "zend_get_executed_filename_ex", AT(file_name),
		       sizeof(i->file_name));
	FIXTURE_SYMBOL(i, BEGIN, "zend_init_code_execute_data", AT(begin), sizeof(i->begin));
	FIXTURE_SYMBOL(i, RUN_C, "execute_internal", AT(run_c), sizeof(i->run_c));
	FIXTURE_SYMBOL(i, EXTEND, "zend_load_extension_handle", AT(extend), sizeof(i->extend));
	/* Another offset comes before that of the frame; the frame's caller is not of interest. */
	memcpy(i->file_name, "\x48\x8b\x82\xb0\6\0\0\x48\x8b\x82\xe8\1\0\0", 14);
	memcpy(i->file_name + 20, "\x48\x8b\x50\x18\x48\x8b\x40\x30\x48\x8b\x82", 11);
	i->file_name[31] = l->file;
	/* Others come before and after that of the code, and that of the function before its own.
	 */
	memcpy(i->begin, "\x48\x8b\x80\xe8\1\0\0\x48\x89\x47\x30\x48\x8b\x46", 14);
	i->begin[14] = l->code;
	memcpy(i->begin + 15, "\x48\x8b\x4e\x40", 4);
	memcpy(i->run_c, "\xf3\x0f\x1e\xfa\x48\x8b\x47\x18\xff\x60", 10);
	i->run_c[10] = l->handler;
	memcpy(i->extend, "\x44\x8b\3\x41\x81\xf8", 6);
	memcpy(i->extend + 6, &version, sizeof(version));
}

static const char *read_file(struct php_process *p, const struct image *i)
{
	struct elf_file e;
	const char *problem;

	assert_int_equal(elf_file_open_memory(&e, i, sizeof(*i)), ELF_OK);
	assert_true(php_file_is_one(&e));
	problem = php_file_read(p, &e);
	elf_file_release(&e);
	return problem;
}

static void places_are_those_of_the_file(void **state)
{
	struct php_process p;
	struct image i;

	for (size_t n = 0; n < LAYOUTS; n++) {
		const struct layout *l = &layouts[n];

		build(&i, l->version, l);
		assert_null(read_file(&p, &i));
		assert_int_equal(p.current, AT(globals) + 0x1e8);
		assert_int_equal(p.evaluation[0], AT(loop));
		assert_int_equal(p.evaluation[1], AT(loop) + sizeof(i.loop));
		assert_int_equal(p.handlers[1], 0);
		assert_int_equal(p.frameless, 0);
		assert_int_equal(p.function_last, l->last);
		assert_int_equal(p.function_code, l->code);
		assert_int_equal(p.function_file, l->file);
		assert_int_equal(p.function_handler, l->handler);
	}
}

static void functions_that_need_no_frame_are_found(void **state)
{
	struct php_process p;
	struct image i;

	build(&i, PHP_8_4, &layouts[3]);
	FIXTURE_SYMBOL(&i, FRAMELESS, "zend_flf_functions", AT(frameless), sizeof(i.frameless));
	assert_null(read_file(&p, &i));
	assert_int_equal(p.frameless, AT(frameless));
	php_process_place(&p, 0x1000);
	assert_int_equal(p.frameless, 0x1000 + AT(frameless));
	assert_int_equal(p.current, 0x1000 + AT(globals) + 0x1e8);
}

/* Where they return to is a distance from what leads to the functions. */
static void calls_that_need_no_frame_are_found(void **state)
{
	struct php_process p;
	struct image i;
	size_t calls = 0;

	build(&i, PHP_8_4, &layouts[3]);
	/* The number's register is the index of the call, whichever it is. */
	memcpy(i.loop, "\x41\x8b\x57\x14\x48\x8b\0\xff\x14\xd0", 10);
	memcpy(i.loop + 10, "\x45\x8b\x47\x14\x42\xff\x14\xc0", 8);
	/* Another one, and the number of something else. */
	memcpy(i.loop + 18, "\x41\x8b\x57\x14\xff\x14\xc8", 7);
	memcpy(i.loop + 25, "\x41\x8b\x4f\x10\xff\x14\xc8", 7);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.frameless_calls[0], 0);
	FIXTURE_SYMBOL(&i, FRAMELESS, "zend_flf_functions", AT(frameless), sizeof(i.frameless));
	assert_null(read_file(&p, &i));
	for (; calls < PHP_FRAMELESS_CALLS && p.frameless_calls[calls];)
		calls++;
	assert_int_equal(calls, 2);
	assert_int_equal(p.frameless + p.frameless_calls[0], AT(loop) + 10);
	assert_int_equal(p.frameless + p.frameless_calls[1], AT(loop) + 18);
}

/* What a version is called is not enough: the code must have its layout. */
static void a_layout_is_that_of_the_code(void **state)
{
	struct php_process p;
	struct layout wrong;
	struct image i;

	for (size_t a = 0; a < LAYOUTS; a++)
		for (size_t b = 0; b < LAYOUTS; b++) {
			build(&i, layouts[a].version, &layouts[b]);
			assert_int_equal(read_file(&p, &i) != NULL, a != b);
		}
	for (size_t n = 0; n < 3; n++) {
		wrong = layouts[1];
		*(n == 0 ? &wrong.code : n == 1 ? &wrong.file : &wrong.handler) += 8;
		build(&i, PHP_8_2, &wrong);
		assert_string_equal(read_file(&p, &i),
				    "its structures are not as they are in its version");
	}
}

/* The unwind information has a handler, which the loop calls, with these bytes after the call. */
static void add_handler(struct image *i, int handler, const char *after)
{
	/* A CIE whose addresses are relative, in 32 bits. */
	static const char first[] = "\24\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\0\0\0\0\0\0";
	size_t at = 24 + 20 * (size_t)i->functions, call = 8 * (size_t)i->functions;
	uint32_t fde[2] = { 16, (uint32_t)at + 4 }, bytes = HANDLER_BYTES;

	memcpy(i->frames, first, 24);
	memcpy(i->frames + at, fde, sizeof(fde));
	put(i->frames + at + 8, AT(frames) + at + 4, "", 0, AT(handlers[handler]));
	memcpy(i->frames + at + 12, &bytes, sizeof(bytes));
	put(i->loop + call, AT(loop) + call, "\xe8", 1, AT(handlers[handler]));
	memcpy(i->loop + call + 5, after, 3);
	i->functions++;
}

static void what_the_loop_calls_to_run_an_instruction_is_a_part_of_it(void **state)
{
	struct php_process p;
	struct image i;

	build(&i, PHP_8_2, &layouts[1]);
	add_handler(&i, 0, "\x48\x89\xc0");
	add_handler(&i, 1, "\x41\xff\x27");
	add_handler(&i, 2, "\x41\xff\x27");
	add_handler(&i, 3, "\x48\x89\xc0");
	assert_null(read_file(&p, &i));
	assert_int_equal(p.handlers[0], AT(handlers[1]));
	assert_int_equal(p.handlers[1], AT(handlers[3]));
	/* Into the middle of a function: no call, whatever it looks like. */
	put(i.loop + 8, AT(loop) + 8, "\xe8", 1, AT(handlers[1]) + 1);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.handlers[0], AT(handlers[2]));
}

static void what_is_not_known_is_refused(void **state)
{
	/* 7.4, 8.0, 8.5, and what is one off. */
	static const uint32_t others[] = { 320190902, 420200930, 420250925, PHP_8_2 + 1 };
	static const char version[] = "a version of PHP that is not known";
	static const char other[] = "its structures are not as they are in its version";
	struct php_process p;
	struct image i;

	for (size_t n = 0; n < sizeof(others) / sizeof(*others); n++) {
		build(&i, others[n], &layouts[1]);
		assert_string_equal(read_file(&p, &i), version);
	}
	build(&i, PHP_8_2, &layouts[1]);
	i.symbols[EXTEND].st_size = 9;
	assert_string_equal(read_file(&p, &i), version);
	build(&i, PHP_8_2, &layouts[1]);
	i.names[EXTEND][0] = 'x';
	assert_string_equal(read_file(&p, &i), version);
	/* The frame outside of the globals or not aligned, or nowhere. */
	build(&i, PHP_8_2, &layouts[1]);
	i.file_name[11] = 2;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, PHP_8_2, &layouts[1]);
	i.file_name[10] = 0xe4;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, PHP_8_2, &layouts[1]);
	i.file_name[23] = 0x20;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, PHP_8_2, &layouts[1]);
	i.names[GLOBALS][0] = 'x';
	assert_string_equal(read_file(&p, &i), "it is built for threads");
	build(&i, PHP_8_2, &layouts[1]);
	i.header.e_machine = EM_AARCH64;
	assert_string_equal(read_file(&p, &i), "PHP is known on x86-64 only");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(places_are_those_of_the_file),
	cmocka_unit_test(functions_that_need_no_frame_are_found),
	cmocka_unit_test(calls_that_need_no_frame_are_found),
	cmocka_unit_test(a_layout_is_that_of_the_code),
	cmocka_unit_test(what_the_loop_calls_to_run_an_instruction_is_a_part_of_it),
	cmocka_unit_test(what_is_not_known_is_refused),
};

UNIT_TESTS(tests);
