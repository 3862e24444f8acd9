/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_name.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS UINT64_C(0xffffffff81000112)

/* "name module start size" of an answer, or "none". */
static void check(const char *answer, const char *expected)
{
	char text[256], found[256] = "none";
	struct kernel_name name;

	snprintf(text, sizeof(text), "%s", answer);
	if (kernel_name_parse(text, ADDRESS, &name))
		snprintf(found, sizeof(found), "%s %s %" PRIx64 " %" PRIx32, name.name,
			 name.module ? name.module : "-", name.start, name.size);
	else
		assert_null(name.name);
	assert_string_equal(found, expected);
}

static void test_answers(void **state)
{
	check("do_nothing+0x12/0x340", "do_nothing - ffffffff81000100 340");
	check("read_it+0x2/0x3 [ext4]", "read_it ext4 ffffffff81000110 3");
	check("bpf_prog_1_x+0x0/0x10 [bpf]", "bpf_prog_1_x bpf ffffffff81000112 10");
	/* Programs come without it, and functions of the kernel have such names, too. */
	check("bpf_prog_0123456789abcdef_x+0x0/0x10",
	      "bpf_prog_0123456789abcdef_x bpf ffffffff81000112 10");
	check("bpf_prog_0123456789abcdef+0x0/0x10",
	      "bpf_prog_0123456789abcdef bpf ffffffff81000112 10");
	check("bpf_trampoline_6442550210+0x0/0x10",
	      "bpf_trampoline_6442550210 bpf ffffffff81000112 10");
	check("bpf_prog_put+0x0/0x10", "bpf_prog_put - ffffffff81000112 10");
	check("bpf_prog_0123456789abcdefa+0x0/0x10",
	      "bpf_prog_0123456789abcdefa - ffffffff81000112 10");
	check("bpf_trampoline_enter+0x0/0x10", "bpf_trampoline_enter - ffffffff81000112 10");
	check("a+0x1/b+0x12/0x20", "a+0x1/b - ffffffff81000100 20");
	check("odd+0x12/0x20 [x", "odd - ffffffff81000100 20");
}

/* What the kernel writes without a name, and what it does not write. */
static void test_no_answers(void **state)
{
	static const char *const none[] = {
		"",
		"0xffffffff81000112",
		"+0x12/0x20",
		"f+0x12",
		"f+0x12/",
		"f+0x20/0x20",
		"f+0xffffffffff000000/0x1",
		"f+0x12/0x100000000",
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		check(none[i], "none");
}

/* A function of the kernel, as /proc/kallsyms lists it: one of the names of its address. */
static bool is_listed(const char *list, uint64_t start, const char *name)
{
	char line[1024];

	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "%016" PRIx64 " %c %s\n", start, "tT"[i], name);
		if (strstr(list, line))
			return true;
	}
	return false;
}

static char *read_list(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t size = 64u << 20;
	char *list = calloc(1, size);

	assert_non_null(file);
	assert_non_null(list);
	assert_true(fread(list, 1, size - 1, file) > 0);
	fclose(file);
	return list;
}

/* The kernel's answers are what it lists, for a thousand functions. */
static void test_of_the_kernel(void **state)
{
	struct kernel_names *names = kernel_names_new();
	char *list, *line, *rest;
	size_t n = 0, checked = 0;

	if (!names)
		skip();
	list = rest = read_list();
	while ((line = strchr(rest, '\n')) && checked < 1000) {
		uint64_t address = strtoull(line + 1, &rest, 16);
		struct kernel_name found;

		if (!address || rest[0] != ' ' || (rest[1] | 0x20) != 't' || n++ % 37 ||
		    strchr("\t", rest[3 + strcspn(rest + 3, "\t\n")]))
			continue;
		assert_true(kernel_names_find(names, address, &found));
		assert_int_equal(found.start, address);
		assert_true(is_listed(list, address, found.name));
		assert_true(kernel_names_find(names, address + found.size - 1, &found));
		assert_int_equal(found.start, address);
		checked++;
	}
	free(list);
	assert_false(kernel_names_find(names, 0x1000, &(struct kernel_name){ 0 }));
	kernel_names_free(names);
	if (!checked)
		skip(); /* the addresses are hidden */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_answers),
	cmocka_unit_test(test_no_answers),
	cmocka_unit_test(test_of_the_kernel),
};

UNIT_TESTS(tests);
