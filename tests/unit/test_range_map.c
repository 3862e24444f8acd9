/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/range_map.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE = 500 };

struct removal {
	const uint32_t *before;
	bool seen[SPACE];
};

/* Each part is of the value that was there, and comes once. */
static void note(const struct range *part, void *context)
{
	struct removal *r = context;

	for (uint64_t i = part->start; i < part->end; i++) {
		assert_int_equal(r->before[i], part->value);
		assert_false(r->seen[i]);
		r->seen[i] = true;
	}
}

/* Against an array with a value for each address. */
static void agrees_with_an_array(void **state)
{
	uint32_t random = 7;

	for (int round = 0; round < 50; round++) {
		struct range_map map = { 0 };
		uint32_t values[SPACE] = { 0 };

		for (uint32_t i = 1; i < 200; i++) {
			struct removal removal = { .before = values };
			uint64_t start, end;

			random = random * 1103515245 + 12345;
			start = (random >> 8) % SPACE;
			random = random * 1103515245 + 12345;
			end = start + 1 + (random >> 8) % 40;
			if (end > SPACE)
				end = SPACE;
			assert_true(range_map_put(&map, (struct range){ start, end, i }, note,
						  &removal));
			for (uint64_t a = 0; a < SPACE; a++)
				assert_int_equal(removal.seen[a],
						 values[a] && a >= start && a < end);
			for (uint64_t a = start; a < end; a++)
				values[a] = i;
		}
		for (uint64_t a = 0; a < SPACE; a++) {
			const struct range *range = range_map_find(&map, a);

			assert_int_equal(range ? range->value : 0, values[a]);
		}
		range_map_release(&map);
	}
}

/* In order, which would make a plain tree a list. */
static void many_in_order(void **state)
{
	struct range_map map = { 0 };

	for (uint64_t i = 0; i < 300000; i++)
		assert_true(
			range_map_put(&map, (struct range){ i, i + 1, (uint32_t)i }, NULL, NULL));
	for (uint64_t i = 0; i < 300000; i += 1001)
		assert_int_equal(range_map_find(&map, i)->value, i);
	assert_null(range_map_find(&map, 300000));
	assert_true(range_map_put(&map, (struct range){ 0, 300000, 7 }, NULL, NULL));
	assert_int_equal(range_map_find(&map, 299999)->start, 0);
	range_map_release(&map);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(agrees_with_an_array),
	cmocka_unit_test(many_in_order),
};

UNIT_TESTS(tests);
