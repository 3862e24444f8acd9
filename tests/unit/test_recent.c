/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/recent.h"
#include "tests/unit/unit.h"

#define MAX 100

/* Keys of `words` words that differ in one word only, any of them, and in high and low bits. */
static void make_key(uint32_t key[RECENT_WORDS_MAX], uint32_t words, uint32_t i)
{
	memset(key, 0, RECENT_WORDS_MAX * sizeof(*key));
	key[i % words] = i / 7 % 2 ? ~i : i + 1;
}

static uint32_t ask(struct recent *r, uint32_t i, uint32_t next)
{
	uint32_t key[RECENT_WORDS_MAX];

	make_key(key, r->words, i);
	return recent_put(r, key, next);
}

static void test_what_is_new_gets_the_next_number(void **state)
{
	for (uint32_t words = 2; words <= RECENT_WORDS_MAX; words++) {
		const uint32_t last = RECENT_NUMBERS_MAX - 1;
		struct recent r;

		recent_init(&r, words, MAX);
		for (uint32_t i = 0; i < MAX; i++)
			assert_int_equal(ask(&r, i, i), i);
		for (uint32_t i = 0; i < MAX; i++)
			assert_int_equal(ask(&r, i, 77), i);
		assert_int_equal(ask(&r, MAX, last), last);
		assert_int_equal(ask(&r, MAX, 77), last);
		assert_int_equal(ask(&r, MAX, RECENT_NONE), last);
		assert_int_equal(ask(&r, MAX + 1, RECENT_NONE), RECENT_NONE);
		assert_int_equal(ask(&r, MAX + 1, 78), 78);
		recent_release(&r);
		assert_int_equal(ask(&r, 1, 7), 7);
		recent_release(&r);
	}
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33) % n;
}

/* Of those asked for between two uses of one, some are new, some known, and some asked for often.
 */
static void check_the_last_ones(uint32_t words, size_t max, uint64_t seed)
{
	const uint32_t distinct = (uint32_t)(max * 3 / 4);
	uint32_t *asked = malloc(200 * max * sizeof(*asked)), n = 0, newest = 0;
	struct recent r;

	recent_init(&r, words, max);
	for (size_t i = 0; i < 200 * max; i++) {
		uint32_t key, number;

		/* One of the last ones that were asked for, or a new one. */
		if (n && random_below(&seed, 4)) {
			uint32_t back = random_below(&seed, distinct < n ? distinct : n);

			key = asked[n - 1 - back];
			number = ask(&r, key, UINT32_C(1) << 25);
			assert_int_equal(number, key);
		} else {
			key = newest++;
			assert_int_equal(ask(&r, key, key), key);
		}
		asked[n++] = key;
		assert_true(r.count <= max);
	}
	free(asked);
	recent_release(&r);
}

static void test_the_last_ones_are_known(void **state)
{
	for (uint32_t words = 2; words <= RECENT_WORDS_MAX; words++) {
		check_the_last_ones(words, MAX, words);
		check_the_last_ones(words, 3000, words);
		check_the_last_ones(words, 8, words);
	}
}

/* Half of those that there is room for are asked for, so often. */
static void ask_for_half(struct recent *r, uint32_t times)
{
	recent_init(r, 2, MAX);
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(ask(r, i, i), i);
	for (uint32_t i = 0; i < times; i++)
		assert_int_equal(ask(r, i % (MAX / 2), 777), i % (MAX / 2));
}

static void test_what_has_room_is_never_forgotten(void **state)
{
	struct recent r;

	ask_for_half(&r, 500 * MAX);
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(ask(&r, i, 777), i);
	recent_release(&r);
}

static void test_the_other_half_goes_first(void **state)
{
	for (uint32_t times = 40 * MAX; times < 50 * MAX; times += 5) {
		struct recent r;

		ask_for_half(&r, times);
		for (uint32_t i = 0; i < MAX / 4; i++)
			assert_int_equal(ask(&r, MAX + i, MAX + i), MAX + i);
		for (uint32_t i = 0; i < MAX / 2; i++)
			assert_int_equal(ask(&r, i, 777), i);
		recent_release(&r);
	}
}

/* However long nothing new comes: what is not asked for meanwhile is not forgotten all at once. */
static void test_little_is_forgotten_at_once(void **state)
{
	for (uint32_t times = 10 * MAX; times < 80 * MAX; times += MAX) {
		struct recent r;

		ask_for_half(&r, times);
		for (uint32_t i = 0; i < 4 * MAX; i++) {
			assert_int_equal(ask(&r, MAX + i, MAX + i), MAX + i);
			assert_true(r.count >= MAX - MAX / 8 - 1);
		}
		recent_release(&r);
	}
}

static void test_one_that_is_used_stays(void **state)
{
	struct recent r;

	recent_init(&r, 2, MAX);
	assert_int_equal(ask(&r, 0, 0), 0);
	for (uint32_t i = 1; i < 50 * MAX; i++) {
		assert_int_equal(ask(&r, i, i), i);
		if (i % (MAX / 2) == 0)
			assert_int_equal(ask(&r, 0, 50 * MAX), 0);
	}
	recent_release(&r);
}

static void test_the_others_are_forgotten(void **state)
{
	struct recent r;

	for (size_t max = 1; max < 2 * MAX; max++) {
		recent_init(&r, 3, max);
		for (uint32_t i = 0; i < 20 * MAX; i++)
			assert_int_equal(ask(&r, i, i), i);
		assert_int_equal(ask(&r, 0, 77), 77);
		assert_true(r.count <= max);
		assert_true(r.capacity <= max * 4 / 3 + 1);
		recent_release(&r);
	}
}

/* Nearly all the room is used at any time: what was forgotten at once was little. */
static void test_the_room_is_used(void **state)
{
	struct recent r;

	recent_init(&r, 2, 1000);
	for (uint32_t i = 0; i < 50000; i++) {
		ask(&r, i, i);
		assert_true(r.count >= (i < 1000 ? i + 1 : 700));
	}
	recent_release(&r);
}

/* A table of a few is small; one of many has its last size soon. */
static void test_memory_is_flat_when_it_is_large(void **state)
{
	const size_t max = 1000000;
	struct recent r;
	size_t last;

	recent_init(&r, 2, max);
	assert_int_equal(r.capacity, 0);
	for (uint32_t i = 0; i < 10000; i++)
		ask(&r, i, i);
	assert_true(r.capacity <= 16384);
	for (uint32_t i = 10000; i < 20000; i++)
		ask(&r, i, i);
	last = r.capacity;
	for (uint32_t i = 20000; i < 3 * max; i++) {
		ask(&r, i, i);
		assert_int_equal(r.capacity, last);
	}
	recent_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_is_new_gets_the_next_number),
	cmocka_unit_test(test_the_last_ones_are_known),
	cmocka_unit_test(test_what_has_room_is_never_forgotten),
	cmocka_unit_test(test_the_other_half_goes_first),
	cmocka_unit_test(test_little_is_forgotten_at_once),
	cmocka_unit_test(test_one_that_is_used_stays),
	cmocka_unit_test(test_the_others_are_forgotten),
	cmocka_unit_test(test_the_room_is_used),
	cmocka_unit_test(test_memory_is_flat_when_it_is_large),
};

UNIT_TESTS(tests);
