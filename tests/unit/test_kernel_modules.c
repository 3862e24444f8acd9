/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/kernel_modules.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void parse(struct kernel_modules *m, const char *list)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", list);
	assert_true(kernel_modules_parse(m, text));
}

static void reads_names_and_places(void **state)
{
	struct kernel_modules m = { 0 };

	parse(&m, "ext4 4096 2 jbd2, Live 0xffffffffc0000000\n"
		  "jbd2 8192 0 - Live 0xffffffffc0008000 (OE)\n"
		  "short 1\n");
	assert_int_equal(m.n, 2);
	assert_int_equal(kernel_modules_index(&m, "jbd2"), 1);
	assert_int_equal(kernel_modules_index(&m, "jbd"), 2);
	assert_int_equal(m.modules[1].base, 0xffffffffc0008000);
	assert_true(kernel_modules_holds(&m, "ext4", 0xffffffffc0000000));
	assert_true(kernel_modules_holds(&m, "ext4", 0xffffffffc0000fff));
	assert_false(kernel_modules_holds(&m, "ext4", 0xffffffffc0001000));
	assert_false(kernel_modules_holds(&m, "ext4", 0xffffffffbfffffff));
	assert_false(kernel_modules_holds(&m, "none", 0xffffffffc0000000));
	kernel_modules_release(&m);
}

/* Frames of the time before still refer to where it was. */
static void one_that_was_loaded_again_is_elsewhere(void **state)
{
	struct kernel_modules m = { 0 };

	parse(&m, "ext4 4096 2 - Live 0xffffffffc0004000\njbd2 4096 0 - Live 0xffffffffc0008000\n");
	parse(&m, "jbd2 4096 0 - Live 0xffffffffc0008000\next4 4096 2 - Live 0xffffffffc0000000\n");
	assert_int_equal(m.n, 3);
	assert_int_equal(m.modules[0].base, 0xffffffffc0004000);
	assert_int_equal(kernel_modules_index(&m, "ext4"), 2);
	assert_int_equal(m.modules[2].base, 0xffffffffc0000000);
	assert_true(kernel_modules_holds(&m, "ext4", 0xffffffffc0000010));
	assert_false(kernel_modules_holds(&m, "ext4", 0xffffffffc0004010));
	kernel_modules_release(&m);
}

/* A frame relative to 0 would have the address that is hidden now. */
static void hidden_later(void **state)
{
	struct kernel_modules m = { 0 };

	parse(&m, "ext4 4096 2 - Live 0xffffffffc0004000\n");
	parse(&m, "ext4 4096 2 - Live 0x0000000000000000\nnew 4096 2 - Live 0x0000000000000000\n");
	assert_int_equal(m.n, 1);
	assert_int_equal(m.modules[0].base, 0xffffffffc0004000);
	kernel_modules_release(&m);
}

/* What has no place in the list, as modules that were not in it, is looked for again. */
static void one_that_is_not_listed_holds_nothing(void **state)
{
	struct kernel_modules m = { 0 };

	assert_true(kernel_modules_add(&m, "unlisted", 0xffffffffc0000000, false));
	assert_false(kernel_modules_holds(&m, "unlisted", 0xffffffffc0000000));
	parse(&m, "unlisted 4096 0 - Live 0xffffffffbfff0000\n");
	assert_int_equal(kernel_modules_index(&m, "unlisted"), 1);
	assert_true(kernel_modules_holds(&m, "unlisted", 0xffffffffbfff0000));
	kernel_modules_release(&m);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads_names_and_places),
	cmocka_unit_test(one_that_was_loaded_again_is_elsewhere),
	cmocka_unit_test(hidden_later),
	cmocka_unit_test(one_that_is_not_listed_holds_nothing),
};

UNIT_TESTS(tests);
