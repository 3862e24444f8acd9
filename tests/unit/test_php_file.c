/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, LOOP, GLOBALS, FILE_NAME, SYMBOLS };

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
	char version[32];
	uint8_t file_name[64], loop[64];
	uint8_t handlers[FUNCTIONS_MAX][HANDLER_BYTES];
	uint64_t globals[64];
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

static void build(struct image *i, const char *version, uint8_t file)
{
	*i = (struct image){
		FIXTURE_HEADERS(struct image, "\0.eh_frame"),
		.sections = { FIXTURE_SECTIONS(struct image),
			      FIXTURE_SECTION(struct image, 27, SHT_PROGBITS, frames, 0) },
	};
	snprintf(i->version, sizeof(i->version), "X-Powered-By: PHP/%s", version);
	FIXTURE_SYMBOL(i, LOOP, "execute_ex", AT(loop), sizeof(i->loop));
	FIXTURE_SYMBOL(i, GLOBALS, "executor_globals", AT(globals), sizeof(i->globals));
	FIXTURE_SYMBOL(i, FILE_NAME, "zend_get_executed_filename_ex", AT(file_name),
		       sizeof(i->file_name));
	/* Another offset comes before that of the frame; the frame's caller is not of interest. */
	memcpy(i->file_name, "\x48\x8b\x82\xb0\6\0\0\x48\x8b\x82\xe8\1\0\0", 14);
	memcpy(i->file_name + 20, "\x48\x8b\x50\x18\x48\x8b\x40\x30\x48\x8b\x82", 11);
	i->file_name[31] = file;
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

	build(&i, "8.2.36", 152);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.current, AT(globals) + 0x1e8);
	assert_int_equal(p.evaluation[0], AT(loop));
	assert_int_equal(p.evaluation[1], AT(loop) + sizeof(i.loop));
	assert_int_equal(p.handlers[1], 0);
	assert_int_equal(p.function_last, 80);
	assert_int_equal(p.function_code, 88);
	assert_int_equal(p.function_file, 152);
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

	build(&i, "8.2.36", 152);
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
	static const char version[] = "a version of PHP that is not known";
	static const char other[] = "its structures are not as they are in its version";
	struct php_process p;
	struct image i;

	build(&i, "7.4.33", 152);
	assert_string_equal(read_file(&p, &i), version);
	build(&i, "8.20.1", 152);
	assert_string_equal(read_file(&p, &i), version);
	build(&i, "8.2.36", 152);
	i.version[0] = 'x';
	assert_string_equal(read_file(&p, &i), version);
	/* The file's name elsewhere, the frame outside of the globals or not aligned, or nowhere.
	 */
	build(&i, "8.2.36", 144);
	assert_string_equal(read_file(&p, &i), other);
	build(&i, "8.2.36", 152);
	i.file_name[11] = 2;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, "8.2.36", 152);
	i.file_name[10] = 0xe4;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, "8.2.36", 152);
	i.file_name[23] = 0x20;
	assert_string_equal(read_file(&p, &i), other);
	build(&i, "8.2.36", 152);
	i.names[GLOBALS][0] = 'x';
	assert_string_equal(read_file(&p, &i), "it is built for threads");
}

/* However large a file is: its version is looked for up to a bound. */
static void not_all_of_a_file_is_looked_through(void **state)
{
	static const size_t places[] = { (64u << 20) - 64, 64u << 20 };
	static struct image i;
	struct php_process p;
	struct elf_file e;

	for (size_t n = 0; n < 2; n++) {
		size_t size = places[n] + sizeof(i.version);
		uint8_t *bytes = calloc(1, size);

		build(&i, "8.2.36", 152);
		memcpy(bytes + places[n], i.version, sizeof(i.version));
		i.version[0] = 'x';
		i.segment.p_filesz = i.segment.p_memsz = size;
		memcpy(bytes, &i, sizeof(i));
		assert_int_equal(elf_file_open_memory(&e, bytes, size), ELF_OK);
		assert_int_equal(php_file_read(&p, &e) != NULL, n);
		elf_file_release(&e);
		free(bytes);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(places_are_those_of_the_file),
	cmocka_unit_test(what_the_loop_calls_to_run_an_instruction_is_a_part_of_it),
	cmocka_unit_test(what_is_not_known_is_refused),
	cmocka_unit_test(not_all_of_a_file_is_looked_through),
};

UNIT_TESTS(tests);
