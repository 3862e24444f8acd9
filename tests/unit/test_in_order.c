/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/in_order.h"
#include "tests/unit/unit.h"

#include <stdint.h>

struct sample {
	uint64_t time_ns;
	uint32_t cpu;
};

static void put(struct in_order *o, uint64_t time_ns, uint32_t cpu)
{
	in_order_put(o, time_ns, &(struct sample){ time_ns, cpu });
}

static void takes_the_earliest(void **state)
{
	struct sample sample;
	struct in_order o;
	uint64_t last = 0;

	assert_true(in_order_init(&o, sizeof(struct sample)));
	assert_false(in_order_take(&o, &sample));
	for (uint64_t i = 0; i < IN_ORDER_MAX; i++)
		put(&o, i * 7919 % 10007, 0);
	assert_true(in_order_full(&o));
	for (size_t i = 0; i < IN_ORDER_MAX; i++) {
		assert_true(in_order_take(&o, &sample));
		assert_true(sample.time_ns >= last);
		last = sample.time_ns;
	}
	assert_false(in_order_take(&o, &sample));
	in_order_release(&o);
}

static void keeps_the_order_of_equal_times(void **state)
{
	struct sample sample;
	struct in_order o;

	assert_true(in_order_init(&o, sizeof(struct sample)));
	for (uint32_t cpu = 0; cpu < 100; cpu++)
		put(&o, cpu % 2, cpu / 2);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(in_order_take(&o, &sample));
		assert_int_equal(sample.time_ns, i / 50);
		assert_int_equal(sample.cpu, i % 50);
	}
	in_order_release(&o);
}

static void uses_room_again(void **state)
{
	struct sample sample;
	struct in_order o;

	assert_true(in_order_init(&o, sizeof(struct sample)));
	for (uint32_t i = 0; i < 100; i++)
		put(&o, i, i);
	for (uint32_t i = 100; i < 2 * IN_ORDER_MAX; i++) {
		assert_true(in_order_take(&o, &sample));
		assert_int_equal(sample.time_ns, i - 100);
		assert_int_equal(sample.cpu, i - 100);
		/* Later ones first, so that the heap turns over. */
		put(&o, i ^ 1, i ^ 1);
	}
	in_order_release(&o);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(takes_the_earliest),
	cmocka_unit_test(keeps_the_order_of_equal_times),
	cmocka_unit_test(uses_room_again),
};

UNIT_TESTS(tests);
