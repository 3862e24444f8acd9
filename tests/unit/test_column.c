/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/column.h"
#include "tests/unit/unit.h"

static void round_trip(const uint64_t *values, size_t n, unsigned int planes)
{
	uint64_t *read = malloc((n + 1) * sizeof(*read));
	struct payload p = { 0 };
	struct column column;
	struct cursor c;

	column_encode_min(&p, values, n, false);
	assert_true(buffer_ok(&p.raw));
	c = cursor_over(p.raw.data, p.raw.size);
	column_decode(&c, n, false, &column);
	assert_true(cursor_ok(&c));
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(column.planes, planes);
	/* All at once, and in parts. */
	column_read(&column, 0, n, read);
	assert_memory_equal(read, values, n * sizeof(*values));
	for (size_t i = 0; i < n; i++) {
		column_read(&column, i, 1, read);
		assert_true(read[0] == values[i]);
	}
	/* No shorter one is taken. */
	for (size_t size = 0; size < p.raw.size; size++) {
		c = cursor_over(p.raw.data, size);
		column_decode(&c, n, false, &column);
		assert_false(cursor_ok(&c));
	}
	payload_release(&p);
	free(read);
}

static void test_every_width(void **state)
{
	for (unsigned int planes = 0; planes <= 8; planes++) {
		uint64_t values[17], base = planes < 8 ? 1000000007 : 0;

		for (size_t i = 0; i < 17; i++)
			values[i] = base;
		if (planes) {
			values[3] += UINT64_C(1) << (8 * planes - 1);
			values[9] += (UINT64_C(1) << (8 * planes - 1)) +
				     12345 % (1 << (planes < 2 ? 7 : 14));
		}
		round_trip(values, 17, planes);
	}
}

static void test_negative_differences(void **state)
{
	const uint64_t values[] = { (uint64_t)-5, 3, 0, (uint64_t)-1, 7 };
	uint64_t read[5];
	struct payload p = { 0 };
	struct column column;
	struct cursor c;

	column_encode(&p, values, 5, (uint64_t)-5, false);
	c = cursor_over(p.raw.data, p.raw.size);
	column_decode(&c, 5, false, &column);
	assert_int_equal(column.planes, 1);
	column_read(&column, 0, 5, read);
	assert_memory_equal(read, values, sizeof(values));
	payload_release(&p);
}

/* Reads back what is in the payload; false if it cannot be read. */
static bool decode(const struct payload *p, size_t n, bool dense, struct column *column)
{
	struct cursor c = cursor_over(p->raw.data, p->raw.size);

	column_decode(&c, n, dense, column);
	return cursor_ok(&c);
}

static void test_dense(void **state)
{
	const uint64_t values[] = { 4, 4, 4 };
	struct payload p = { 0 };
	struct column column;

	column_encode_min(&p, values, 3, true);
	assert_true(decode(&p, 3, true, &column));
	assert_int_equal(column.planes, 1);
	payload_clear(&p);
	column_encode_min(&p, values, 3, false);
	assert_false(decode(&p, 3, true, &column));
	payload_release(&p);
}

static void test_u32_returns_its_maximum(void **state)
{
	static const uint64_t maxima[] = {
		0,	   9,	     255,	256,	    65535,
		70000,	   0xffffff, 0x1000000, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		UINT64_MAX
	};

	for (size_t i = 0; i < sizeof(maxima) / sizeof(*maxima); i++) {
		uint64_t values[5] = { maxima[i], maxima[i] / 2, maxima[i], 0, maxima[i] / 3 };
		uint32_t read[5];
		struct payload p = { 0 };
		struct column column;

		column_encode_min(&p, values, 5, false);
		assert_true(decode(&p, 5, false, &column));
		assert_true(column_read_u32(&column, 0, 5, read) == maxima[i]);
		for (size_t j = 0; j < 5; j++)
			assert_int_equal(read[j], (uint32_t)values[j]);
		payload_release(&p);
	}
}

static void test_too_many_planes(void **state)
{
	static const uint8_t bytes[100] = { 9, 0 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));
	struct column column;

	column_decode(&c, 2, false, &column);
	assert_false(cursor_ok(&c));
	/* A product that would wrap around. */
	c = cursor_over("\x08\0", 2);
	column_decode(&c, SIZE_MAX / 8 + 1, false, &column);
	assert_false(cursor_ok(&c));
}

static void test_nothing(void **state)
{
	round_trip(NULL, 0, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_width),	cmocka_unit_test(test_negative_differences),
	cmocka_unit_test(test_dense),		cmocka_unit_test(test_u32_returns_its_maximum),
	cmocka_unit_test(test_too_many_planes), cmocka_unit_test(test_nothing),
};

UNIT_TESTS(tests);
