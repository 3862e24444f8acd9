/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json_fixture.h"
#include "report/views/firefox.h"
#include "tests/unit/unit.h"

static json_t *thread_at(json_t *root, size_t i)
{
	return json_array_get(json_object_get(root, "threads"), i);
}

static json_t *column(json_t *thread, const char *table, const char *name)
{
	json_t *found = json_object_get(json_object_get(thread, table), name);

	assert_non_null(found);
	return found;
}

static const char *text(json_t *thread, json_int_t i)
{
	return json_string_value(json_array_get(json_object_get(thread, "stringArray"), (size_t)i));
}

static const char *function_of_stack(json_t *thread, json_int_t stack)
{
	json_int_t frame = number_at(column(thread, "stackTable", "frame"), (size_t)stack);
	json_int_t func = number_at(column(thread, "frameTable", "func"), (size_t)frame);

	return text(thread, number_at(column(thread, "funcTable", "name"), (size_t)func));
}

static void columns_are_as_long_as_they_say(void **state)
{
	json_t *root = render_json(firefox_render, &fixture), *thread, *table, *cells;
	const char *key, *name;
	size_t i;

	assert_int_equal(json_array_size(json_object_get(root, "threads")), 3);
	json_array_foreach(json_object_get(root, "threads"), i, thread)
	{
		json_object_foreach(thread, key, table)
		{
			json_t *length = json_object_get(table, "length");

			if (!length)
				continue;
			json_object_foreach(table, name, cells) if (json_is_array(cells))
				assert_int_equal(json_array_size(cells),
						 json_integer_value(length));
		}
	}
	json_decref(root);
}

static void stacks_are_pre_symbolicated(void **state)
{
	json_t *root = render_json(firefox_render, &fixture), *thread = thread_at(root, 0);
	json_t *prefixes = column(thread, "stackTable", "prefix");
	json_int_t leaf = number_at(column(thread, "samples", "stack"), 0), caller;

	assert_string_equal(function_of_stack(thread, leaf), "leaf");
	caller = number_at(prefixes, (size_t)leaf);
	assert_true(caller < leaf);
	assert_string_equal(function_of_stack(thread, caller), "middle");
	caller = number_at(prefixes, (size_t)caller);
	assert_string_equal(function_of_stack(thread, caller), "main");
	assert_true(json_is_null(json_array_get(prefixes, (size_t)caller)));
	json_decref(root);
}

static void inlined_frames_share_symbol_and_address(void **state)
{
	json_t *root = render_json(firefox_render, &fixture), *thread = thread_at(root, 0);
	json_t *address = column(thread, "frameTable", "address");
	json_t *depth = column(thread, "frameTable", "inlineDepth");
	json_t *symbol = column(thread, "frameTable", "nativeSymbol");

	/* The first three frames that are needed: main, middle and leaf. */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(number_at(address, i), 0x1010);
		assert_int_equal(number_at(depth, i), i);
		assert_int_equal(number_at(symbol, i), number_at(symbol, 0));
	}
	json_decref(root);
}

static void samples_are_in_order_and_complete(void **state)
{
	json_t *root = render_json(firefox_render, &fixture), *thread;
	json_int_t total = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "threads"), i, thread)
	{
		json_t *times = column(thread, "samples", "time"), *weights;
		double before = 0;

		weights = column(thread, "samples", "weight");
		for (size_t s = 0; s < json_array_size(times); s++) {
			double time = json_number_value(json_array_get(times, s));

			assert_true(time >= before);
			before = time;
			total += number_at(weights, s);
		}
	}
	assert_int_equal(total, 21);
	thread = thread_at(root, 1);
	assert_int_equal(number_at(column(thread, "samples", "time"), 1), 100);
	assert_true(json_is_null(json_array_get(column(thread, "samples", "stack"), 1)));
	json_decref(root);
}

static void loss_is_a_marker(void **state)
{
	json_t *root = render_json(firefox_render, &fixture), *thread = thread_at(root, 0), *data;

	data = json_array_get(column(thread, "markers", "data"), 0);
	assert_int_equal(json_integer_value(json_object_get(data, "count")), 9);
	assert_int_equal(number_at(column(thread, "markers", "startTime"), 0), 50);
	assert_int_equal(number_at(column(thread, "markers", "endTime"), 0), 150);
	assert_int_equal(json_array_size(column(thread_at(root, 1), "markers", "data")), 0);
	json_decref(root);
}

static void waits_are_milliseconds(void **state)
{
	struct profile p = fixture_in_us();
	json_t *root, *thread;

	root = render_json(firefox_render, &p);
	thread = thread_at(root, 2);
	assert_string_equal(json_string_value(column(thread, "samples", "weightType")),
			    "tracing-ms");
	assert_true(json_number_value(json_array_get(column(thread, "samples", "weight"), 0)) ==
		    0.006);
	json_decref(root);
}

/* Of the samples that are here, as CPU samples of 4 ms beside waits that have none. */
static void the_interval_is_that_of_the_samples(void **state)
{
	const struct profile_event events[] = {
		{ .kind = PRF_EVENT_OFF_CPU, .name = "off-cpu", .unit = "ns" },
		{ .kind = PRF_EVENT_ON_CPU, .name = "a", .unit = "ns", .interval_ns = 9000000 },
		{ .kind = PRF_EVENT_ON_CPU, .name = "b", .unit = "ns", .interval_ns = 4000000 },
	};
	struct profile_group groups[COUNT(fixture_groups)];
	struct profile p = fixture;
	json_t *root;

	memcpy(groups, fixture_groups, sizeof(groups));
	for (size_t i = 0; i < COUNT(groups); i++)
		groups[i].event = i ? 2 : 0;
	p.events = events;
	p.event_count = 3;
	p.groups = groups;
	root = render_json(firefox_render, &p);
	assert_int_equal(
		json_number_value(json_object_get(json_object_get(root, "meta"), "interval")), 4);
	json_decref(root);
}

static void an_empty_profile_is_json(void **state)
{
	json_t *root = render_json(firefox_render, &fixture_empty), *meta;

	meta = json_object_get(root, "meta");
	assert_int_equal(json_integer_value(json_object_get(meta, "preprocessedProfileVersion")),
			 49);
	json_decref(root);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(columns_are_as_long_as_they_say),
	cmocka_unit_test(stacks_are_pre_symbolicated),
	cmocka_unit_test(inlined_frames_share_symbol_and_address),
	cmocka_unit_test(samples_are_in_order_and_complete),
	cmocka_unit_test(loss_is_a_marker),
	cmocka_unit_test(waits_are_milliseconds),
	cmocka_unit_test(the_interval_is_that_of_the_samples),
	cmocka_unit_test(an_empty_profile_is_json),
};

UNIT_TESTS(tests);
