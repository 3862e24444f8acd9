/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_lines.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/python_tables.h"

static const struct table {
	enum python_table kind;
	const uint8_t *bytes;
	size_t size;
	uint32_t first;
	const uint16_t *lines; /* of each code unit */
	size_t units;
} tables[] = {
	CASE_f_3_8,  CASE_g_3_8,  CASE_f_3_9,  CASE_g_3_9,  CASE_f_3_10, CASE_g_3_10,
	CASE_f_3_11, CASE_g_3_11, CASE_f_3_12, CASE_g_3_12, CASE_f_3_13, CASE_g_3_13,
};

static void every_version_is_read(void **state)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct table *t = &tables[i];
		struct python_lines lines = { t->kind, t->bytes, t->size, t->first };

		for (uint32_t unit = 0; unit < t->units; unit++)
			assert_int_equal(python_lines_at(&lines, unit), t->lines[unit]);
	}
}

/* What is cut off has no line; what is there has the same as before. */
static void a_table_may_end_anywhere(void **state)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct table *t = &tables[i];

		if (t->kind == PYTHON_TABLE_LNOTAB)
			continue; /* its last line goes on for ever */
		for (size_t size = 0; size < t->size; size++) {
			uint8_t *copy = malloc(size ? size : 1);
			struct python_lines lines = { t->kind, copy, size, t->first };

			memcpy(copy, t->bytes, size);
			for (uint32_t unit = 0; unit < t->units; unit++) {
				uint32_t line = python_lines_at(&lines, unit);

				assert_true(!line || line == t->lines[unit]);
			}
			free(copy);
		}
	}
}

static void nonsense_has_no_line(void **state)
{
	static const uint8_t no_start[] = { 0x08, 0x00 };
	/* A varint that never ends. */
	static const uint8_t endless[] = { 0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f };
	/* Lines before the first. */
	static const uint8_t negative[] = { 0xe8, 0x0b };
	struct python_lines lines = { PYTHON_TABLE_LOCATIONS, no_start, sizeof(no_start), 1 };

	assert_int_equal(python_lines_at(&lines, 0), 0);
	lines = (struct python_lines){ PYTHON_TABLE_LOCATIONS, endless, sizeof(endless), 1 };
	assert_int_equal(python_lines_at(&lines, 0), 0);
	lines = (struct python_lines){ PYTHON_TABLE_LOCATIONS, negative, sizeof(negative), 3 };
	assert_int_equal(python_lines_at(&lines, 0), 0);
	lines = (struct python_lines){ 77, negative, sizeof(negative), 3 };
	assert_int_equal(python_lines_at(&lines, 0), 0);
	lines = (struct python_lines){ PYTHON_TABLE_LINES, NULL, 0, 3 };
	assert_int_equal(python_lines_at(&lines, 0), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_version_is_read),
	cmocka_unit_test(a_table_may_end_anywhere),
	cmocka_unit_test(nonsense_has_no_line),
};

UNIT_TESTS(tests);
