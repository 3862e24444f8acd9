/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/debug_split.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#define ID 7

/* Writes a .dwo file with one split unit, which has that id. */
static void write_dwo(char *path)
{
	static const uint8_t info[] = { 17, 0,	0, 0, 5, 0, 5, 8, 0, 0, 0,
					0,  ID, 0, 0, 0, 0, 0, 0, 0, 1 };
	static const uint8_t abbrev[] = { 1, 0x11, 0, 0, 0, 0 };
	const struct fixture_section sections[] = {
		{ ".debug_info.dwo", 0, info, sizeof(info), SHT_PROGBITS },
		{ ".debug_abbrev.dwo", 0, abbrev, sizeof(abbrev), SHT_PROGBITS },
	};
	struct buffer b = { 0 };
	int fd = mkstemp(path);

	fixture_elf(&b, sections, 2);
	assert_int_equal(write(fd, b.data, b.size), b.size);
	close(fd);
	buffer_release(&b);
}

/* However many skeletons name a file, it is opened once; its unit is that of the right one. */
static void test_one_file(void **state)
{
	char path[] = "/tmp/test_debug_split.XXXXXX";
	const struct debug_search search = { 0 };
	struct dwarf main_file = { .code_high = UINT64_MAX };
	struct dwarf_unit wrong = { .dwarf = &main_file, .id = ID + 1, .dwo_name = path };
	struct dwarf_unit right = { .dwarf = &main_file, .id = ID, .dwo_name = path };
	struct dwarf_unit same = right, *unit;
	struct debug_split s;

	write_dwo(path);
	debug_split_init(&s, &search, "");
	assert_null(debug_split_unit(&wrong, &s));
	assert_int_equal(unlink(path), 0);
	unit = debug_split_unit(&right, &s);
	assert_non_null(unit);
	assert_ptr_equal(unit->skeleton, &right);
	assert_null(debug_split_unit(&wrong, &s));
	assert_ptr_equal(debug_split_unit(&right, &s), unit);
	/* Its code is that of one skeleton, and may be read meanwhile. */
	assert_null(debug_split_unit(&same, &s));
	assert_ptr_equal(unit->skeleton, &right);
	assert_int_equal(s.files.count, 1);
	debug_split_release(&s);
}

/* What is no file is looked for once. */
static void test_no_file(void **state)
{
	char path[] = "/tmp/test_debug_split.XXXXXX", name[sizeof(path)];
	const struct debug_search search = { 0 };
	struct dwarf main_file = { .code_high = UINT64_MAX };
	struct dwarf_unit skeleton = { .dwarf = &main_file, .id = ID, .dwo_name = name };
	struct debug_split s;

	write_dwo(path);
	strcpy(name, path);
	name[sizeof(name) - 2]++;
	debug_split_init(&s, &search, "");
	assert_null(debug_split_unit(&skeleton, &s));
	assert_int_equal(rename(path, name), 0);
	assert_null(debug_split_unit(&skeleton, &s));
	debug_split_release(&s);
	assert_int_equal(unlink(name), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_one_file),
	cmocka_unit_test(test_no_file),
};

UNIT_TESTS(tests);
