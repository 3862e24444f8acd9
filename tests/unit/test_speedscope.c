/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json_fixture.h"
#include "report/views/speedscope.h"
#include "tests/unit/unit.h"

static const char *frame_name(json_t *root, json_int_t frame)
{
	json_t *frames = json_object_get(json_object_get(root, "shared"), "frames");

	return json_string_value(json_object_get(json_array_get(frames, (size_t)frame), "name"));
}

static void all_threads_and_each_of_them(void **state)
{
	json_t *root = render_json(speedscope_render, &fixture), *profiles, *first, *stack;

	profiles = json_object_get(root, "profiles");
	assert_int_equal(json_array_size(profiles), 4);
	first = json_array_get(profiles, 0);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "all threads");
	assert_int_equal(json_integer_value(json_object_get(first, "endValue")), 21);
	first = json_array_get(profiles, 1);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "server 100/100");
	assert_string_equal(json_string_value(json_object_get(first, "type")), "sampled");
	assert_string_equal(json_string_value(json_object_get(first, "unit")), "none");
	assert_int_equal(json_integer_value(json_object_get(first, "endValue")), 10);
	assert_int_equal(json_integer_value(json_object_get(root, "activeProfileIndex")), 0);
	stack = json_array_get(json_object_get(first, "samples"), 0);
	assert_int_equal(json_array_size(stack), 3);
	assert_string_equal(frame_name(root, number_at(stack, 0)), "main");
	assert_string_equal(frame_name(root, number_at(stack, 2)), "leaf");
	assert_int_equal(number_at(json_object_get(first, "weights"), 0), 5);
	json_decref(root);
}

static void samples_and_weights_go_together(void **state)
{
	json_t *root = render_json(speedscope_render, &fixture), *profile;
	json_int_t total = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "profiles"), i, profile)
	{
		json_t *weights = json_object_get(profile, "weights"), *samples;

		samples = json_object_get(profile, "samples");
		assert_int_equal(json_array_size(samples), json_array_size(weights));
		for (size_t w = 0; w < json_array_size(weights); w++)
			total += number_at(weights, w);
	}
	/* Once in all threads, once in each. */
	assert_int_equal(total, 2 * 21);
	json_decref(root);
}

static void times_are_microseconds(void **state)
{
	struct profile p = fixture_in_us();
	json_t *root, *unit;

	root = render_json(speedscope_render, &p);
	unit = json_object_get(json_array_get(json_object_get(root, "profiles"), 0), "unit");
	assert_string_equal(json_string_value(unit), "microseconds");
	json_decref(root);
}

/* More than may be spelled out: equal stacks are added up, and nothing is lost. */
static void long_profiles_are_added_up(void **state)
{
	enum { DEPTH = 100, N = 40000 };
	struct profile_node *nodes = calloc(DEPTH, sizeof(*nodes));
	struct profile_entry *entries = calloc(N, sizeof(*entries));
	struct profile_part *parts = calloc(N, sizeof(*parts));
	struct profile p = fixture;
	json_t *root, *profile;

	for (uint32_t i = 0; i < DEPTH; i++)
		nodes[i] = (struct profile_node){ i ? i - 1 : PRF_NONE, i % FRAMES, i + 1 };
	for (uint32_t i = 0; i < N; i++) {
		entries[i] = (struct profile_entry){ 1, i, DEPTH - 1 - i % 2, 1, 2 };
		parts[i] = (struct profile_part){ i, i, 2 };
	}
	p.nodes = nodes;
	p.node_count = DEPTH;
	p.entries = entries;
	p.entry_count = p.part_count = N;
	p.parts = parts;
	root = render_json(speedscope_render, &p);
	profile = json_array_get(json_object_get(root, "profiles"), 0);
	assert_int_equal(json_array_size(json_object_get(profile, "samples")), 2);
	assert_int_equal(number_at(json_object_get(profile, "weights"), 0), N);
	assert_int_equal(number_at(json_object_get(profile, "weights"), 1), N);
	json_decref(root);
	free(nodes);
	free(entries);
	free(parts);
}

static void an_empty_profile_is_json(void **state)
{
	json_t *root = render_json(speedscope_render, &fixture_empty);

	assert_int_equal(json_array_size(json_object_get(root, "profiles")), 0);
	json_decref(root);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(all_threads_and_each_of_them),
	cmocka_unit_test(samples_and_weights_go_together),
	cmocka_unit_test(times_are_microseconds),
	cmocka_unit_test(long_profiles_are_added_up),
	cmocka_unit_test(an_empty_profile_is_json),
};

UNIT_TESTS(tests);
