/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/go_functions.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>

#define TEXT 0x401000
#define NAMES 96
#define VALUES 128
#define FUNCTIONS 160

/* A table of two functions, as Go of three versions writes it. */
struct table {
	uint8_t bytes[512];
	size_t size;
	struct elf_section sections[2];
	struct elf_file file;
};

static void put(struct table *t, size_t at, uint64_t value, size_t bytes)
{
	assert_true(at + bytes <= sizeof(t->bytes));
	for (size_t i = 0; i < bytes; i++)
		t->bytes[at + i] = (uint8_t)(value >> 8 * i);
	if (at + bytes > t->size)
		t->size = at + bytes;
}

/* A function's record: name, frame sizes, and whether it sets the stack pointer. */
static void put_function(struct table *t, size_t at, uint32_t magic, uint64_t start,
			 const uint32_t facts[3])
{
	size_t word = magic == 0xfffffffa ? 8 : 4, line = magic == 0xfffffff1 ? 4 : 0;

	put(t, at, start, word);
	put(t, at + word, facts[0], 4);
	put(t, at + word + 12, facts[1], 4);
	put(t, at + word + 32 + line, (uint64_t)(facts[2] ? 2 : 0) << 8, 4);
}

static void make(struct table *t, uint32_t magic, const char *section)
{
	/* 0 for 4 bytes, 24 up to 50, 0 again; the other one: 0 for 16 bytes */
	static const uint8_t values[] = { 0, 2, 4, 48, 46, 47, 14, 0, 2, 16, 0 };
	static const uint32_t first[] = { 1, 1, 0 }, second[] = { 11, 8, 1 };
	size_t word = magic == 0xfffffffa ? 8 : 4, at = 24;
	uint64_t base = word == 8 ? TEXT : 0, entries[] = { 0, 64, 64, 120, 80 };
	uint64_t offsets[] = { NAMES, 0, 0, VALUES, FUNCTIONS };

	memset(t, 0, sizeof(*t));
	put(t, 0, magic, 4);
	put(t, 6, 1, 1);
	put(t, 7, 8, 1);
	put(t, 8, 2, 8);
	if (magic != 0xfffffffa) {
		put(t, at, TEXT, 8);
		at += 8;
	}
	for (size_t i = 0; i < 5; i++)
		put(t, at + 8 * i, offsets[i], 8);
	memcpy(t->bytes + NAMES, "\0main.leaf\0main.other", 22);
	memcpy(t->bytes + VALUES, values, sizeof(values));
	for (size_t i = 0; i < 5; i++)
		put(t, FUNCTIONS + i * word, i & 1 ? entries[i] : base + entries[i], word);
	put_function(t, FUNCTIONS + 64, magic, base, first);
	put_function(t, FUNCTIONS + 120, magic, base + 64, second);
	t->sections[0].name = "";
	t->sections[1] = (struct elf_section){
		.name = section, .type = SHT_PROGBITS, .address = 0x500000, .size = t->size
	};
	t->file = (struct elf_file){
		.data = t->bytes, .size = t->size, .sections = t->sections, .section_count = 2
	};
}

static void is_read(const struct elf_file *file)
{
	struct go_functions g;
	struct go_function f;
	struct go_frame frame;

	assert_true(go_functions_open(&g, file));
	assert_int_equal(g.count, 2);
	assert_true(go_functions_get(&g, 0, &f));
	assert_int_equal(f.start, TEXT);
	assert_int_equal(f.end, TEXT + 64);
	assert_string_equal(f.name, "main.leaf");
	assert_false(f.moves_sp);
	assert_true(go_frame_first(&g, &f, &frame));
	assert_int_equal(frame.size, 0);
	assert_int_equal(frame.end, TEXT + 4);
	assert_true(go_frame_next(&frame));
	assert_int_equal(frame.size, 24);
	assert_int_equal(frame.end, TEXT + 50);
	assert_true(go_frame_next(&frame));
	assert_int_equal(frame.size, 0);
	assert_int_equal(frame.end, TEXT + 64);
	assert_false(go_frame_next(&frame));

	assert_true(go_functions_get(&g, 1, &f));
	assert_int_equal(f.end, TEXT + 80);
	assert_string_equal(f.name, "main.other");
	assert_true(f.moves_sp);
	assert_int_equal(go_functions_at(&g, TEXT + 63), 0);
	assert_int_equal(go_functions_at(&g, TEXT + 64), 1);
	assert_int_equal(go_functions_at(&g, TEXT + 80), 2);
	assert_int_equal(go_functions_at(&g, TEXT - 1), 2);
}

static void test_versions(void **state)
{
	static const uint32_t magics[] = { 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	struct table t;

	for (size_t i = 0; i < 3; i++) {
		make(&t, magics[i], ".gopclntab");
		is_read(&t.file);
		make(&t, magics[i], ".data.rel.ro.gopclntab");
		is_read(&t.file);
		make(&t, magics[i], ".data.rel.ro");
		is_read(&t.file);
	}
	make(&t, 0xfffffffb, ".gopclntab"); /* Go 1.2 */
	assert_false(go_functions_open(&(struct go_functions){ 0 }, &t.file));
	make(&t, 0xfffffff1, ".rodata");
	assert_false(go_functions_open(&(struct go_functions){ 0 }, &t.file));
}

/* The start of the code is what the dynamic linker makes of it. */
static void test_relocated(void **state)
{
	struct elf_section sections[3];
	struct table t;

	make(&t, 0xfffffff0, ".data.rel.ro");
	memcpy(sections, t.sections, sizeof(t.sections));
	put(&t, 24, 0, 8);
	put(&t, 400, 0x500018, 8);
	put(&t, 408, R_X86_64_RELATIVE, 8);
	put(&t, 416, TEXT, 8);
	sections[2] = (struct elf_section){
		.name = ".rela.dyn", .type = SHT_RELA, .offset = 400, .size = 24
	};
	t.file.sections = sections;
	t.file.section_count = 3;
	t.file.size = t.size;
	is_read(&t.file);
}

/* Damage ends a list early, and leads nowhere else. */
static void test_damage(void **state)
{
	struct go_functions g;
	struct go_function f;
	struct go_frame frame;
	struct table t;

	make(&t, 0xfffffff0, ".gopclntab");
	put(&t, 8, 1000000, 8); /* more functions than there is room for */
	assert_false(go_functions_open(&g, &t.file));

	make(&t, 0xfffffff0, ".gopclntab");
	put(&t, FUNCTIONS + 8, 0, 4);	   /* the second one begins where the first one does */
	put(&t, FUNCTIONS + 12, 60000, 4); /* and is described outside of the table */
	assert_true(go_functions_open(&g, &t.file));
	assert_false(go_functions_get(&g, 0, &f));
	assert_false(go_functions_get(&g, 1, &f));

	make(&t, 0xfffffff0, ".gopclntab");
	t.bytes[VALUES + 2] = 0; /* a size that holds for no byte */
	assert_true(go_functions_open(&g, &t.file));
	assert_true(go_functions_get(&g, 0, &f));
	assert_false(go_frame_first(&g, &f, &frame));

	for (size_t cut = 0; cut < 300; cut++) {
		make(&t, 0xfffffff0, ".gopclntab");
		t.sections[1].size = cut;
		if (!go_functions_open(&g, &t.file))
			continue;
		for (size_t i = 0; i < g.count && go_functions_get(&g, i, &f); i++)
			for (bool ok = go_frame_first(&g, &f, &frame); ok;)
				ok = go_frame_next(&frame);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_versions),
	cmocka_unit_test(test_relocated),
	cmocka_unit_test(test_damage),
};

UNIT_TESTS(tests);
