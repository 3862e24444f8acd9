/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/uprobe.h"
#include "record/system/elf_symbols.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

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
	assert_int_equal(elf_symbols_read(&symbols, &file), 0);
	symbol = elf_symbols_named(&symbols, "a_function_to_be_found");
	assert_non_null(symbol);
	assert_true(symbol->size > 0);
	assert_ptr_equal(elf_symbols_at(&symbols, symbol->start), symbol);
	assert_ptr_equal(elf_symbols_at(&symbols, symbol->start + symbol->size - 1), symbol);
	assert_memory_equal(file.data + symbol->start, (const void *)a_function_to_be_found, 4);
	assert_null(elf_symbols_named(&symbols, "a_function_to_be_foun"));
	assert_null(elf_symbols_at(&symbols, 0));
	elf_symbols_release(&symbols);
	elf_file_release(&file);
}

static void probes(void **state)
{
	struct event event = { .name = "p", .file = "/proc/self/exe" };
	char why[512];

	event.symbol = "a_function_to_be_found";
	assert_int_equal(uprobe_resolve(&event, why, sizeof(why)), 0);
	assert_true(event.file_offset > 0);
	event.symbol = "a_function_to_be_fuond";
	assert_int_equal(uprobe_resolve(&event, why, sizeof(why)), -1);
	assert_string_equal(why,
			    "event 'p': /proc/self/exe has no function 'a_function_to_be_fuond'; "
			    "did you mean 'a_function_to_be_found'?");
	event.symbol = "a_function_to_be_found";
	event.symbol_offset = 1 << 20;
	assert_int_equal(uprobe_resolve(&event, why, sizeof(why)), -1);
	event.file = "/nowhere";
	assert_int_equal(uprobe_resolve(&event, why, sizeof(why)), -1);
	event.file = "/proc/self/status";
	assert_int_equal(uprobe_resolve(&event, why, sizeof(why)), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_itself),
					    cmocka_unit_test(probes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
