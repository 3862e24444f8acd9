/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/parquet/encoding.h"
#include "tests/unit/unit.h"

/* What was encoded is these bytes. */
static void holds(struct buffer *b, const void *bytes, size_t size)
{
	assert_true(buffer_ok(b));
	assert_int_equal(b->size, size);
	assert_memory_equal(b->data, bytes, size);
	buffer_release(b);
	*b = (struct buffer){ 0 };
}

#define HOLDS(b, bytes) holds(b, bytes, sizeof(bytes) - 1)

static void test_runs(void **state)
{
	struct buffer b = { 0 };

	encode_repeated(&b, 5, 1, 1);
	HOLDS(&b, "\x0a\x01");
	encode_repeated(&b, 100, 0x1234, 2);
	HOLDS(&b, "\xc8\x01\x34\x12");
}

/* A group of eight each; what is too much is 0. */
static void test_indices(void **state)
{
	const uint32_t indices[] = { 1, 0x10203, 255 };
	struct buffer b = { 0 };

	encode_indices(&b, indices, 3, 1);
	HOLDS(&b, "\x03\x01\x03\xff\0\0\0\0\0");
	encode_indices(&b, indices, 3, 2);
	HOLDS(&b, "\x03\x01\0\x03\x02\xff\0\0\0\0\0\0\0\0\0\0\0");
	encode_indices(&b, indices, 3, 3);
	HOLDS(&b, "\x03\x01\0\0\x03\x02\x01\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	encode_indices(&b, indices, 2, 4);
	HOLDS(&b, "\x03\x01\0\0\0\x03\x02\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		  "\0\0\0\0\0\0\0\0");
	encode_indices(&b, indices, 0, 2);
	HOLDS(&b, "");
}

static void test_levels(void **state)
{
	const uint32_t counts[] = { 2, 0, 3, 1 }, full[] = { 2, 3, 4 };
	const uint32_t long_list[] = { 1, 100, 1 };
	struct buffer b = { 0 };

	/* 0 1, 0, 0 1 1, 0 */
	encode_repetition(&b, counts, 4);
	HOLDS(&b, "\x03\x32");
	/* 1 1, 0, 1 1 1, 1 */
	encode_definition(&b, counts, 4);
	HOLDS(&b, "\x03\x7b");
	encode_definition(&b, full, 3);
	HOLDS(&b, "\x12\x01");
	encode_definition(&b, NULL, 0);
	HOLDS(&b, "");
	/* 0, 0 and 99 times 1, 0 */
	encode_repetition(&b, long_list, 3);
	HOLDS(&b, "\x1b\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x1f");
}

/* The example of the specification, in blocks of ours: 7 5 3 1 2 3 4 5. */
static void test_deltas(void **state)
{
	const uint64_t values[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
	struct buffer b = { 0 };

	encode_deltas(&b, values, 8);
	/* Block 128, 4 miniblocks, 8 values, first 7; least -2; widths 2 0 0 0; 0 0 0 3 3 3 3 */
	HOLDS(&b, "\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0");
	encode_deltas(&b, values, 1);
	HOLDS(&b, "\x80\x01\x04\x01\x0e");
	encode_deltas(&b, NULL, 0);
	HOLDS(&b, "\x80\x01\x04\0\0");
}

/* Differences of 64 bits: the least is -2^63, the other is 2^63 - 1, which is UINT64_MAX more. */
static void test_extreme_deltas(void **state)
{
	const uint64_t values[] = { 0, UINT64_C(1) << 63, UINT64_MAX };
	char expected[4 + 1 + 10 + 4 + 64 * 32 / 8 + 1] = "\x80\x01\x04\x03\0"
							  "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
							  "\x40";
	struct buffer b = { 0 };

	memset(expected + 19 + 8, 0xff, 8);
	encode_deltas(&b, values, 3);
	holds(&b, expected, sizeof(expected) - 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_runs),	       cmocka_unit_test(test_indices),
	cmocka_unit_test(test_levels),	       cmocka_unit_test(test_deltas),
	cmocka_unit_test(test_extreme_deltas),
};
UNIT_TESTS(tests);
