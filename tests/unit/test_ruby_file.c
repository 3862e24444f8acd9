/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/ruby_file.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum {
	NONE,
	VERSION,
	RUN,
	ERROR_INFO,
	LOOP,
	SYMBOL_TEXT,
	MACHINE,
	COLLECTIONS,
	STATISTICS,
	SYMBOLS
};

#define FUNCTIONS_MAX 4

/* A file that holds an interpreter, as far as it is looked at. Addresses are offsets in it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[6];
	Elf64_Sym symbols[SYMBOLS];
	char names[SYMBOLS][24];
	char section_names[64];
	Elf64_Rela module;
	uint64_t storage[2];
	char version[8];
	uint8_t error_info[32], to_text[32], lookup[160], loop[64];
	uint8_t table[32], collections[32];
	uint64_t machine;
	uint8_t frames[28 + 20 * FUNCTIONS_MAX], core[8192];
	uint8_t get_table[16], statistics[16], counts[2048];
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

static void build(struct image *i, const char *version)
{
	*i = (struct image){
		FIXTURE_HEADERS(struct image, "\0.rela.dyn\0.eh_frame"),
		.sections = { FIXTURE_SECTIONS(struct image),
			      FIXTURE_SECTION(struct image, 27, SHT_RELA, module, 0),
			      FIXTURE_SECTION(struct image, 37, SHT_PROGBITS, frames, 0) },
		.module = { AT(storage), ELF64_R_INFO(0, R_X86_64_DTPMOD64), 0 },
	};
	strcpy(i->version, version);
	FIXTURE_SYMBOL(i, VERSION, "ruby_version", AT(version), sizeof(i->version));
	FIXTURE_SYMBOL(i, RUN, "ruby_run_node", AT(loop), 1);
	FIXTURE_SYMBOL(i, ERROR_INFO, "rb_errinfo", AT(error_info), sizeof(i->error_info));
	FIXTURE_SYMBOL(i, LOOP, "rb_vm_exec", AT(loop), sizeof(i->loop));
	FIXTURE_SYMBOL(i, SYMBOL_TEXT, "rb_id2str", AT(to_text), sizeof(i->to_text));
	FIXTURE_SYMBOL(i, MACHINE, "ruby_current_vm_ptr", AT(machine), sizeof(i->machine));
	FIXTURE_SYMBOL(i, COLLECTIONS, "rb_gc_count", AT(collections), sizeof(i->collections));
	memcpy(i->collections + 17, "\x48\x8b\x80\x58\4\0\0\x48\x8b\x80\xb8\1\0\0\xc3", 15);
	put(i->error_info + 4, AT(error_info) + 4, "\x66\x48\x8d\x3d", 4, AT(storage));
	memcpy(i->to_text + 3, "\x48\x81\xff\xa9\0\0\0", 7);
	put(i->to_text + 27, AT(to_text) + 27, "\xe9", 1, AT(lookup));
	put(i->lookup + 20, AT(lookup) + 20, "\x3b\x1d", 2, AT(table));
	put(i->lookup + 90, AT(lookup) + 90, "\x48\x8b\x3d", 3, AT(table) + 16);
}

static const char *read_file(struct ruby_process *p, const struct image *i)
{
	struct elf_file e;
	const char *problem;

	assert_int_equal(elf_file_open_memory(&e, i, sizeof(*i)), ELF_OK);
	assert_true(ruby_file_is_one(&e));
	problem = ruby_file_read(p, &e);
	elf_file_release(&e);
	return problem;
}

static void places_are_those_of_the_file(void **state)
{
	struct ruby_process p;
	struct image i;

	build(&i, "3.1.7");
	assert_null(read_file(&p, &i));
	assert_int_equal(p.storage, AT(storage));
	assert_int_equal(p.symbols, AT(table));
	assert_int_equal(p.last_operator, 0xa9);
	assert_int_equal(p.evaluation[0], AT(loop));
	assert_int_equal(p.evaluation[1], AT(loop) + sizeof(i.loop));
	assert_int_equal(p.core[1], 0);
	assert_int_equal(p.frame_bytes, 64);
	assert_int_equal(p.text, RUBY_TEXT_FLAGS);
	assert_int_equal(p.machine, AT(machine));
	assert_int_equal(p.collector, 0x458);
	assert_int_equal(p.collections, 0x1b8);
	assert_int_equal(p.freed, 0x1c0);
	/* Other code: what was freed is not known, and nothing is remembered. */
	i.collections[31] = 0x90;
	assert_null(read_file(&p, &i));
	assert_int_equal(p.machine, 0);
}

/* The unwind information has a function of so many bytes. */
static void add_function(struct image *i, size_t place, uint32_t bytes)
{
	/* A CIE whose addresses are relative, in 32 bits. */
	static const char first[] = "\24\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\0\0\0\0\0\0";
	size_t at = 24 + 20 * (size_t)i->functions;
	uint32_t fde[2] = { 16, (uint32_t)at + 4 };

	memcpy(i->frames, first, 24);
	memcpy(i->frames + at, fde, sizeof(fde));
	put(i->frames + at + 8, AT(frames) + at + 4, "", 0, place);
	memcpy(i->frames + at + 12, &bytes, sizeof(bytes));
	i->functions++;
}

/* rb_vm_exec() calls a function of so many bytes. */
static void build_core(struct image *i, uint32_t bytes)
{
	i->functions = 0;
	add_function(i, AT(core), bytes);
	put(i->loop, AT(loop), "\xe8", 1, AT(core));
}

static void the_loop_is_in_what_is_called_or_in_its_caller(void **state)
{
	struct ruby_process p;
	struct image i;

	build(&i, "3.1.7");
	build_core(&i, sizeof(i.core));
	assert_null(read_file(&p, &i));
	assert_int_equal(p.core[0], AT(core));
	assert_int_equal(p.core[1], AT(core) + sizeof(i.core));
	/* Large, but smaller than its caller. */
	i.symbols[LOOP].st_size = sizeof(i.core) + 1;
	assert_null(read_file(&p, &i));
	assert_int_equal(p.core[1], 0);
}

static void versions_differ(void **state)
{
	struct ruby_process p;
	struct image i;

	build(&i, "3.0.2");
	assert_null(read_file(&p, &i));
	assert_int_equal(p.frame_bytes, 56);
	assert_int_equal(p.line_bytes, 8);
	build(&i, "3.2.3");
	assert_null(read_file(&p, &i));
	assert_int_equal(p.first_line_shift, 0);
	assert_int_equal(p.body_lines, 112);
	assert_int_equal(p.text, RUBY_TEXT_LENGTH);
}

/* Functions of the loop and of the machine have no names; rb_gc_stat() goes on to one that has
 * none. */
static void build_hidden(struct image *i)
{
	static const uint16_t offsets[] = { 0x138, 0x58, 0x218, 0x2f8, 0x3d8, 0x4f0 };
	uint8_t *code = i->counts + 1000;

	build(i, "3.3.8");
	i->names[LOOP][0] = i->names[MACHINE][0] = 'x';
	build_core(i, sizeof(i->core));
	add_function(i, AT(loop), sizeof(i->loop));
	add_function(i, AT(counts), sizeof(i->counts));
	put(i->get_table + 4, AT(get_table) + 4, "\x31\xff\xe9", 3, AT(core));
	FIXTURE_SYMBOL(i, STATISTICS, "rb_gc_stat", AT(statistics), sizeof(i->statistics));
	put(i->statistics + 4, AT(statistics) + 4, "\xe8", 1, AT(counts));
	put(i->collections + 7, AT(collections) + 7, "\x48\x8d\x05", 3, AT(machine));
	memcpy(i->collections + 14, "\x48\x8b\0", 3);
	for (size_t n = 0; n < sizeof(offsets) / sizeof(*offsets); n++) {
		/* sub offset(%rbp),%rdi */
		code[0] = 0x48;
		code[1] = 0x2b;
		code[2] = offsets[n] < 0x80 ? 0x7d : 0xbd;
		memcpy(code + 3, &offsets[n], sizeof(offsets[n]));
		code += offsets[n] < 0x80 ? 4 : 7;
	}
}

static void what_has_no_name_is_found_by_what_calls_it(void **state)
{
	struct ruby_process p;
	struct image i;

	build_hidden(&i);
	assert_null(read_file(&p, &i));
	assert_int_equal(p.evaluation[0], AT(loop));
	assert_int_equal(p.evaluation[1], AT(loop) + sizeof(i.loop));
	assert_int_equal(p.core[0], AT(core));
	assert_int_equal(p.core[1], AT(core) + sizeof(i.core));
	assert_int_equal(p.frame_bytes, 56);
	assert_int_equal(p.body_lines, 112);
	assert_int_equal(p.machine, AT(machine));
	assert_int_equal(p.collections, 0x1b8);
	assert_int_equal(p.freed, 0x58);
	/* Counts at unequal distances are others. */
	i.counts[1000 + 3] ^= 8;
	assert_null(read_file(&p, &i));
	assert_int_equal(p.machine, 0);
	build_hidden(&i);
	i.collections[16] = 1;
	assert_null(read_file(&p, &i));
	assert_int_equal(p.machine, 0);
}

static void what_may_be_another_loop_is_none(void **state)
{
	static const char hidden[] = "it hides its symbols";
	struct ruby_process p;
	struct image i;

	/* No large function is called so. */
	build_hidden(&i);
	i.get_table[4] = 0x90;
	assert_string_equal(read_file(&p, &i), hidden);
	build_hidden(&i);
	i.functions = 0;
	add_function(&i, AT(core), sizeof(i.core) - 1);
	assert_string_equal(read_file(&p, &i), hidden);
	/* Two functions call it. */
	build_hidden(&i);
	put(i.counts, AT(counts), "\xe8", 1, AT(core));
	assert_string_equal(read_file(&p, &i), hidden);
	/* Two large functions are called so. */
	build_hidden(&i);
	add_function(&i, AT(core) + sizeof(i.core), UINT16_MAX);
	put(i.core + 64, AT(core) + 64, "\x31\xff\xe9", 3, AT(core) + sizeof(i.core));
	assert_string_equal(read_file(&p, &i), hidden);
}

static void what_is_not_known_is_refused(void **state)
{
	static const char version[] = "a version of Ruby that is not known";
	struct ruby_process p;
	struct image i;

	build(&i, "2.7.8");
	assert_string_equal(read_file(&p, &i), version);
	build(&i, "3.12.0");
	assert_string_equal(read_file(&p, &i), version);
	/* The dynamic linker puts nothing there. */
	build(&i, "3.1.7");
	i.module.r_offset += 8;
	assert_string_equal(read_file(&p, &i),
			    "the state of its threads is not where it is looked for");
	/* What is read next is of another table. */
	build(&i, "3.1.7");
	i.lookup[93] += 8;
	assert_string_equal(read_file(&p, &i), "it hides its symbols");
	build(&i, "3.1.7");
	i.names[LOOP][0] = 'x';
	assert_string_equal(read_file(&p, &i), "it hides its symbols");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(places_are_those_of_the_file),
	cmocka_unit_test(the_loop_is_in_what_is_called_or_in_its_caller),
	cmocka_unit_test(versions_differ),
	cmocka_unit_test(what_has_no_name_is_found_by_what_calls_it),
	cmocka_unit_test(what_may_be_another_loop_is_none),
	cmocka_unit_test(what_is_not_known_is_refused),
};

UNIT_TESTS(tests);
