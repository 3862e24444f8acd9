/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/limits.h"
#include "record/events/uprobe.h"
#include "record/system/elf_symbols.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/elf_fixture.h"
#include "tests/unit/error_check.h"

int a_function_to_be_found(void);

int __attribute__((noinline)) a_function_to_be_found(void)
{
	__asm__ volatile("");
	return 42;
}

/* The test program itself is the file that is read. */
static void finds_itself(void **state)
{
	struct elf_symbols symbols;
	const struct elf_symbol *symbol;
	struct elf_file file;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(elf_file_open(&file, fd), 0);
	close(fd);
	assert_null(elf_symbols_read(&symbols, &file));
	symbol = elf_symbols_named(&symbols, "a_function_to_be_found");
	assert_non_null(symbol);
	assert_true(symbol->size > 0);
	assert_int_equal(elf_symbols_end(&symbols, (size_t)(symbol - symbols.symbols)),
			 symbol->start + symbol->size);
	assert_memory_equal(file.data + symbol->start, (const void *)a_function_to_be_found, 4);
	assert_null(elf_symbols_named(&symbols, "a_function_to_be_foun"));
	elf_symbols_release(&symbols);
	elf_file_release(&file);
}

static void no_more_than_is_wanted(void **state)
{
	struct elf_symbols symbols;
	struct elf_file file;
	uint64_t cost, names;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(elf_file_open(&file, fd), 0);
	close(fd);
	assert_null(elf_symbols_read(&symbols, &file));
	cost = elf_symbols_cost(&symbols);
	names = symbols.name_bytes / ELF_SYMBOLS_NAME_BYTES;
	assert_int_equal(cost, symbols.entries + names);
	assert_true(names > 0);
	elf_symbols_release(&symbols);
	assert_null(elf_symbols_read_some(&symbols, &file, cost));
	elf_symbols_release(&symbols);
	for (size_t i = 0; i < 2; i++) {
		const uint64_t most = i ? cost - 1 : 0;
		struct error *error = elf_symbols_read_some(&symbols, &file, most);
		char text[64];

		snprintf(text, sizeof(text), "it has more than %" PRIu64 " symbols, or long names",
			 most);
		assert_non_null(error);
		assert_int_equal(error->kind, ERROR_LIMIT);
		assert_string_equal(error->text, text);
		assert_true(elf_symbols_cost(&symbols) <= cost);
		error_free(error);
	}
	elf_file_release(&file);
}

static void ends(void **state)
{
	struct elf_symbol all[] = {
		{ 0x100, 0x30, "up to the next" }, { 0x130, 0x40, "overlaps" },
		{ 0x160, 0x20, "preferred" },	   { 0x160, 0x30, "another name" },
		{ 0x160, 0, "a label" },	   { 0x200, 0, "without a size" },
		{ 0x210, 0x10, "the last one" },
	};
	const struct elf_symbols s = { .symbols = all, .n = sizeof(all) / sizeof(*all) };
	static const uint64_t expected[] = { 0x130, 0x160, 0x180, 0x160, 0x160, 0x200, 0x220 };

	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(elf_symbols_end(&s, i), expected[i]);
}

/* A symbol table of terabytes, which is a hole of the file. */
static void too_many_symbols(void **state)
{
	static const char names[] = "\0.symtab\0.names";
	const uint64_t size = UINT64_C(1) << 40, at = 0x1000;
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = at,
		  .sh_size = size,
		  .sh_link = 2 },
		{ .sh_name = 9,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x200,
		  .sh_size = sizeof(names) },
	};
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_version = EV_CURRENT,
			      .e_shoff = 0x300,
			      .e_ehsize = sizeof(header),
			      .e_shentsize = sizeof(*sections),
			      .e_shnum = 3,
			      .e_shstrndx = 2 };
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	struct elf_symbols symbols;
	struct elf_file file;
	struct error *error;

	assert_int_equal(ftruncate(fd, (off_t)(at + size)), 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, names, sizeof(names), 0x200), sizeof(names));
	assert_int_equal(pwrite(fd, sections, sizeof(sections), 0x300), sizeof(sections));
	assert_int_equal(elf_file_open(&file, fd), 0);
	close(fd);
	error = elf_symbols_read(&symbols, &file);
	assert_non_null(error);
	assert_int_equal(error->kind, ERROR_LIMIT);
	assert_string_equal(error->text,
			    ".symtab has 45812984490 entries, of which at most 8388608 "
			    "are read");
	error_free(error);
	elf_file_release(&file);
}

/* Names in the last bytes of their table, behind it, and in a table that is none. */
static void names_at_the_end(void **state)
{
	struct layout {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[4];
		Elf64_Sym symbols[7];
		char section_names[64];
		char names[8];
		char after[16];
	} file = { FIXTURE_HEADERS(struct layout, ""),
		   .sections = { FIXTURE_SECTIONS(struct layout) },
		   .names = { 0, 'w', 'h', 'o', 'l', 'e', 0, 'x' }, .after = "yz" };
	static const uint32_t places[] = { 1, 5, 6, 7, 8, UINT32_MAX, UINT32_MAX - 7 };
	struct elf_symbols symbols;
	struct elf_file e;

	for (size_t i = 0; i < 7; i++) {
		file.symbols[i] = fixture_symbol(places[i], i * 8, 8);
		file.symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	}
	assert_int_equal(elf_file_open_memory(&e, &file, sizeof(file)), ELF_OK);
	assert_null(elf_symbols_read(&symbols, &e));
	/* "x" has no end in its table, and what follows is no part of it. */
	assert_int_equal(symbols.n, 2);
	assert_string_equal(symbols.symbols[0].name, "whole");
	assert_string_equal(symbols.symbols[1].name, "e");
	elf_symbols_release(&symbols);
	elf_file_release(&e);
	for (uint32_t i = 0; i < 3; i++) {
		file.sections[1].sh_link = i ? UINT32_MAX - i + 1 : 4;
		assert_int_equal(elf_file_open_memory(&e, &file, sizeof(file)), ELF_OK);
		assert_null(elf_symbols_read(&symbols, &e));
		assert_int_equal(symbols.n, 0);
		elf_symbols_release(&symbols);
		elf_file_release(&e);
	}
}

/* Opens a file of functions with these names; its bytes, to be freed. */
static uint8_t *open_functions(struct elf_file *file, const Elf64_Sym *symbols, size_t n,
			       const char *names, size_t names_size)
{
	enum { AT = 0x1000 };
	static const char section_names[] = "\0.symtab";
	const size_t symbols_size = n * sizeof(*symbols), names_at = AT + symbols_size;
	Elf64_Shdr sections[4] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = AT,
		  .sh_size = symbols_size,
		  .sh_link = 3 },
		{ .sh_type = SHT_STRTAB, .sh_offset = 0x200, .sh_size = sizeof(section_names) },
		{ .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = names_size },
	};
	Elf64_Phdr code = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = AT };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_version = EV_CURRENT,
			      .e_phoff = 0x100,
			      .e_phentsize = sizeof(code),
			      .e_phnum = 1,
			      .e_shoff = 0x300,
			      .e_ehsize = sizeof(header),
			      .e_shentsize = sizeof(*sections),
			      .e_shnum = 4,
			      .e_shstrndx = 2 };
	uint8_t *bytes = calloc(1, names_at + names_size);

	assert_non_null(bytes);
	code.p_memsz = code.p_filesz;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 0x100, &code, sizeof(code));
	memcpy(bytes + 0x200, section_names, sizeof(section_names));
	memcpy(bytes + 0x300, sections, sizeof(sections));
	memcpy(bytes + AT, symbols, symbols_size);
	memcpy(bytes + names_at, names, names_size);
	assert_int_equal(elf_file_open_memory(file, bytes, names_at + names_size), 0);
	return bytes;
}

static Elf64_Sym function(size_t name, uint64_t place, uint64_t size)
{
	return (Elf64_Sym){ .st_name = (Elf64_Word)name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = 1,
			    .st_value = place,
			    .st_size = size };
}

/* Many functions that all have one text without an end as their name: each is 64 MiB to read. */
static void endless_names(void **state)
{
	enum { SYMBOLS = 50000, NAMES = 64 << 20 };
	Elf64_Sym *all = malloc(SYMBOLS * sizeof(*all));
	char *names = malloc(NAMES);
	struct elf_symbols symbols;
	struct elf_file file;
	uint8_t *bytes;

	assert_non_null(all);
	assert_non_null(names);
	memset(names, 'a', NAMES);
	names[NAMES - 1] = '\0';
	/* But for the last one. */
	for (size_t i = 0; i < SYMBOLS; i++)
		all[i] = function(i + 1 == SYMBOLS ? NAMES - 9 : 0, 0x800, 1);
	bytes = open_functions(&file, all, SYMBOLS, names, NAMES);
	assert_null(elf_symbols_read(&symbols, &file));
	assert_int_equal(symbols.n, 1);
	assert_string_equal(symbols.symbols[0].name, "aaaaaaaa");
	elf_symbols_release(&symbols);
	elf_file_release(&file);
	free(bytes);
	free(names);
	free(all);
}

/* The names of a table share one text, so that a small file has many long ones. */
static void shared_names(void **state)
{
	enum { SIZE = 16384, MOST = LIMIT_SYMBOL_NAME_BYTES / SIZE };
	Elf64_Sym *all = malloc((MOST + 1) * sizeof(*all));
	struct elf_symbols symbols;
	struct elf_file file;
	char names[SIZE];
	uint8_t *bytes;

	assert_non_null(all);
	memset(names, 'a', SIZE);
	names[SIZE - 1] = '\0';
	for (size_t i = 0; i <= MOST; i++)
		all[i] = function(0, 0x800, 1);
	bytes = open_functions(&file, all, MOST, names, SIZE);
	assert_null(elf_symbols_read(&symbols, &file));
	assert_int_equal(symbols.n, MOST);
	assert_int_equal(symbols.entries, MOST);
	assert_int_equal(symbols.name_bytes, LIMIT_SYMBOL_NAME_BYTES);
	elf_symbols_release(&symbols);
	elf_file_release(&file);
	free(bytes);
	/* One more, and likewise if the text has no end. */
	for (int i = 0; i < 2; i++, names[SIZE - 1] = 'a') {
		bytes = open_functions(&file, all, MOST + 1, names, SIZE);
		assert_error(elf_symbols_read(&symbols, &file), ERROR_LIMIT,
			     "the names of its functions have more than the 1024 MiB that are "
			     "read");
		assert_int_equal(symbols.entries, MOST + 1);
		assert_true(symbols.name_bytes > LIMIT_SYMBOL_NAME_BYTES);
		elf_file_release(&file);
		free(bytes);
	}
	free(all);
}

/* Of the names of one place the first in the alphabet is preferred, of those with a size. */
static void preferred_names(void **state)
{
	static const char names[] = "\0label\0memcpy\0a_label\0__memcpy\0other";
	const Elf64_Sym all[] = {
		function(1, 0x200, 0),	function(7, 0x200, 8),	function(14, 0x200, 0),
		function(22, 0x200, 8), function(31, 0x100, 8), function(14, 0x300, 0),
		function(1, 0x300, 0),
	};
	struct elf_symbols symbols;
	struct elf_file file;
	uint8_t *bytes = open_functions(&file, all, sizeof(all) / sizeof(*all), names,
					sizeof(names));

	assert_null(elf_symbols_read(&symbols, &file));
	assert_int_equal(symbols.n, 7);
	assert_string_equal(symbols.symbols[0].name, "other");
	assert_string_equal(symbols.symbols[1].name, "__memcpy");
	assert_string_equal(symbols.symbols[5].name, "a_label");
	assert_int_equal(elf_symbols_end(&symbols, 1), 0x208);
	elf_symbols_release(&symbols);
	elf_file_release(&file);
	free(bytes);
}

static void probes(void **state)
{
	struct event event = { .name = "p", .probe.file = "/proc/self/exe" };

	event.probe.symbol = "a_function_to_be_found";
	assert_no_error(uprobe_resolve(&event));
	assert_int_equal(event.place_count, 1);
	assert_true(event.places[0].offset > 0);
	free(event.places);
	event.probe.symbol = "a_function_to_be_fuond";
	assert_error(uprobe_resolve(&event), ERROR_ARGUMENT,
		     "event 'p': /proc/self/exe has no function 'a_function_to_be_fuond'; "
		     "did you mean 'a_function_to_be_found'?");
	event.probe.symbol = "a_function_to_be_found";
	event.probe.symbol_offset = 1 << 20;
	assert_error_kind(uprobe_resolve(&event), ERROR_ARGUMENT);
	event.probe.file = "/nowhere";
	assert_error_kind(uprobe_resolve(&event), ERROR_SYSTEM);
	event.probe.file = "/proc/self/status";
	assert_error_kind(uprobe_resolve(&event), ERROR_ARGUMENT);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(finds_itself),
					   cmocka_unit_test(no_more_than_is_wanted),
					   cmocka_unit_test(ends),
					   cmocka_unit_test(too_many_symbols),
					   cmocka_unit_test(names_at_the_end),
					   cmocka_unit_test(endless_names),
					   cmocka_unit_test(shared_names),
					   cmocka_unit_test(preferred_names),
					   cmocka_unit_test(probes) };

UNIT_TESTS(tests);
