/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/stack_column.h"
#include "tests/unit/unit.h"

#define N 3000

/* Many of a few, some of many, new ones in between, and samples without a stack. */
static void fill(uint32_t *values, uint32_t seed, uint32_t *highest)
{
	for (size_t i = 0; i < N; i++) {
		seed = seed * 1664525 + 1013904223;
		switch (seed >> 28) {
		case 0: values[i] = 0; break;
		case 1: values[i] = *highest += 1 + (seed >> 8) % 9; break;
		case 2:
		case 3: values[i] = (seed >> 4) % (*highest + 1); break;
		default: values[i] = (seed >> 20) % 8 * 3;
		}
	}
}

static void check(const struct payload *p, const uint32_t *values, size_t n)
{
	struct cursor c = cursor_over(p->raw.data, p->raw.size);
	struct stack_column column;
	uint32_t read[700], room[700], largest = 0;
	uint64_t told = 0;

	stack_column_decode(&c, n, &column);
	assert_true(cursor_ok(&c));
	assert_int_equal(cursor_left(&c), 0);
	for (size_t at = 0; at < n; at += 700) {
		size_t some = n - at < 700 ? n - at : 700;

		told = stack_column_read(&column, some, read, room);
		for (size_t i = 0; i < some; i++) {
			assert_int_equal(read[i], values[at + i]);
			largest = read[i] > largest ? read[i] : largest;
		}
		assert_true(told >= largest && told <= UINT32_MAX);
	}
}

static void test_round_trip(void **state)
{
	struct stack_encoder e = { 0 };
	struct payload p = { 0 };
	uint32_t *values = malloc(N * sizeof(*values)), highest = 1;
	uint64_t *room = malloc(N * sizeof(*room));

	for (uint32_t block = 0; block < 5; block++) {
		fill(values, block, &highest);
		payload_clear(&p);
		assert_true(stack_column_encode(&e, &p, values, N, room));
		check(&p, values, N);
		assert_int_equal(e.highest, highest);
	}
	stack_encoder_release(&e);
	payload_release(&p);
	free(values);
	free(room);
}

static void test_new_stacks_take_a_byte(void **state)
{
	struct stack_encoder e = { 0 };
	struct payload p = { 0 };
	uint32_t values[1000];
	uint64_t room[1000];

	for (uint32_t i = 0; i < 1000; i++)
		values[i] = 7 * (i + 1);
	assert_true(stack_column_encode(&e, &p, values, 1000, room));
	assert_true(p.raw.size < 1020);
	check(&p, values, 1000);
	stack_encoder_release(&e);
	payload_release(&p);
}

/* "highest" 5, frequent values 10 and 20, two samples, one other value. */
static uint64_t read_broken(const char *bytes, size_t size, bool *decoded)
{
	struct cursor c = cursor_over(bytes, size);
	struct stack_column column;
	uint32_t read[2], room[2];

	stack_column_decode(&c, 2, &column);
	*decoded = cursor_ok(&c);
	return *decoded ? stack_column_read(&column, 2, read, room) : 0;
}

static void test_broken_ones(void **state)
{
	bool decoded;

	/* Good: the second frequent one, then the other. */
	assert_int_equal(read_broken("\x05\x02\x01\x0a\x00\x0a\x01\xff\x01\x00\x63", 11, &decoded),
			 99);
	assert_true(decoded);
	/* A frequent value that is not there is none that a stack could have. */
	assert_true(read_broken("\x05\x02\x01\x0a\x00\x0a\x02\xff\x01\x00\x63", 11, &decoded) ==
		    UINT32_MAX);
	/* Two others used, one there. */
	assert_true(read_broken("\x05\x02\x01\x0a\x00\x0a\xff\xff\x01\x00\x63", 11, &decoded) >
		    UINT32_MAX);
	/* More others than samples. */
	read_broken("\x05\x02\x01\x0a\x00\x0a\x01\xff\x03\x00\x63", 11, &decoded);
	assert_false(decoded);
	/* A step beyond 32 bits. */
	assert_true(read_broken("\xff\xff\xff\xff\x0f\x00\x00\x00\xf8\xf8\x00\x00\x00", 13,
				&decoded) > UINT32_MAX);
	assert_true(decoded);
	/* "highest" beyond 32 bits. */
	read_broken("\xff\xff\xff\xff\x1f\x00\x00\x00\xf8\xf8\x00\x00\x00", 13, &decoded);
	assert_false(decoded);
	/* More frequent ones than there can be. */
	read_broken("\x05\xf9\x01\x00\x00\xf8\xf8\x00\x00\x00", 10, &decoded);
	assert_false(decoded);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_round_trip),
	cmocka_unit_test(test_new_stacks_take_a_byte),
	cmocka_unit_test(test_broken_ones),
};

UNIT_TESTS(tests);
