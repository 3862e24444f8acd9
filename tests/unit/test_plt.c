/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "report/symbols/symbol_table.h"
#include "tests/unit/unit.h"

#define BASE 0x1000 /* the address of the first byte */
#define SLOTS 0x10000000
#define SYMBOL_COUNT 3

enum { STUB_COUNT = 3, RELOCATION_COUNT = 100000, NAME_BYTES = 64 << 20 };

struct contents {
	uint8_t stubs[STUB_COUNT][16];
	Elf64_Rela relocations[RELOCATION_COUNT];
	Elf64_Sym symbols[SYMBOL_COUNT];
	char names[NAME_BYTES];
};

#define PART(member)                                                                               \
	.address = BASE + offsetof(struct contents, member),                                       \
	.offset = offsetof(struct contents, member),                                               \
	.size = sizeof(((struct contents *)0)->member)

static struct elf_section sections[] = {
	{ .name = "" },
	{ .name = ".plt", .type = SHT_PROGBITS, PART(stubs) },
	{ .name = ".rela.plt", .type = SHT_RELA, .flags = SHF_ALLOC, .link = 3, PART(relocations) },
	{ .name = ".dynsym", .type = SHT_DYNSYM, .link = 4, PART(symbols) },
	{ .name = ".dynstr", .type = SHT_STRTAB, PART(names) },
};

static struct elf_segment segment = { .type = PT_LOAD,
				      .flags = PF_R | PF_X,
				      .address = BASE,
				      .file_size = sizeof(struct contents),
				      .memory_size = sizeof(struct contents) };
static struct elf_segment *loads[] = { &segment };

static struct elf_file file_of(const struct contents *c)
{
	return (struct elf_file){ .data = (const uint8_t *)c,
				  .size = sizeof(*c),
				  .machine = EM_X86_64,
				  .segments = &segment,
				  .segment_count = 1,
				  .loads = loads,
				  .load_count = 1,
				  .sections = sections,
				  .section_count = sizeof(sections) / sizeof(*sections) };
}

static uint64_t stub_at(size_t stub)
{
	return BASE + offsetof(struct contents, stubs) + 16 * stub;
}

/* jmp *slot(%rip) */
static void set_stub(struct contents *c, size_t stub, uint64_t slot)
{
	uint32_t distance = (uint32_t)(slot - (stub_at(stub) + 6));

	memcpy(c->stubs[stub], "\xff\x25", 2);
	memcpy(c->stubs[stub] + 2, &distance, sizeof(distance));
}

static void set_relocation(struct contents *c, size_t i, uint64_t slot, uint32_t symbol)
{
	c->relocations[i] = (Elf64_Rela){
		.r_offset = slot, .r_info = ELF64_R_INFO((uint64_t)symbol, R_X86_64_JUMP_SLOT)
	};
}

static struct contents *new_contents(void)
{
	struct contents *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	return c;
}

static void stubs_of_one_slot_share_a_name(void **state)
{
	const uint64_t addresses[] = { stub_at(0), stub_at(0) + 4, stub_at(1), stub_at(2) + 2 };
	struct symbol_name names[4] = { 0 };
	struct arena arena = { 0 };
	struct contents *c = new_contents();
	struct elf_file file = file_of(c);

	set_stub(c, 0, SLOTS);
	set_stub(c, 1, SLOTS);
	set_stub(c, 2, SLOTS + 8);
	memcpy(c->names, "\0puts\0exit", 11);
	c->symbols[1].st_name = 1;
	c->symbols[2].st_name = 6;
	/* The first one has a symbol without a name, and of the others the first counts. */
	set_relocation(c, 0, SLOTS, 0);
	set_relocation(c, 1, SLOTS, 1);
	set_relocation(c, 2, SLOTS + 8, 2);
	set_relocation(c, 3, SLOTS, 2);
	plt_find(&file, &(struct symbol_search){ addresses, 4, names, &arena });
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(names[i].name, "puts@plt");
	assert_string_equal(names[3].name, "exit@plt");
	assert_int_equal(names[1].start, stub_at(0));
	assert_int_equal(names[2].start, stub_at(1));
	assert_int_equal(names[3].start, stub_at(2));
	assert_int_equal(names[3].size, 16);
	/* A trace may have a million addresses in stubs of one slot. */
	assert_ptr_equal(names[0].name, names[1].name);
	assert_ptr_equal(names[0].name, names[2].name);
	arena_release(&arena);
	free(c);
}

/* Many relocations of one slot whose name has no end: each is 64 MiB to read. */
static void endless_names(void **state)
{
	const uint64_t address = stub_at(0);
	struct symbol_name name = { 0 };
	struct arena arena = { 0 };
	struct contents *c = new_contents();
	struct elf_file file = file_of(c);

	set_stub(c, 0, SLOTS);
	memset(c->names, 'a', NAME_BYTES - 1);
	c->symbols[2].st_name = NAME_BYTES - 9;
	for (size_t i = 0; i < RELOCATION_COUNT; i++)
		set_relocation(c, i, SLOTS, i + 1 == RELOCATION_COUNT ? 2 : 1);
	plt_find(&file, &(struct symbol_search){ &address, 1, &name, &arena });
	assert_string_equal(name.name, "aaaaaaaa@plt");
	arena_release(&arena);
	free(c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(stubs_of_one_slot_share_a_name),
	cmocka_unit_test(endless_names),
};

UNIT_TESTS(tests);
