/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "format/stacks.h"
#include "tests/unit/unit.h"

#define N 300

static void encode_frames(struct payload *p, uint32_t n)
{
	struct prf_frame frames[N];

	for (uint32_t i = 0; i < n; i++)
		frames[i] = (struct prf_frame){ i % 3, 0, i * 1000 };
	frames_encode(p, frames, &(struct definition_range){ 3, 0, n });
}

static void test_planes_are_noted(void **state)
{
	struct payload p = { 0 };

	encode_frames(&p, N);
	/* One plane of objects, no plane but 4 bytes of flags, three planes of offsets. */
	assert_int_equal(p.plane_bound_count, 6);
	for (size_t i = 1; i < 6; i++)
		assert_int_equal(p.plane_bounds[i] - p.plane_bounds[i - 1], i == 2 ? 4 : N);
	assert_int_equal(p.plane_bounds[5], p.raw.size);
	payload_clear(&p);
	assert_int_equal(p.plane_bound_count, 0);
	encode_frames(&p, N);
	assert_int_equal(p.plane_bound_count, 6);
	payload_release(&p);
}

/* What one plane saves is less than its table costs. */
static void test_short_planes_are_not(void **state)
{
	struct payload p = { 0 };

	encode_frames(&p, 255);
	assert_int_equal(p.plane_bound_count, 0);
	payload_release(&p);
}

static void test_no_more_than_there_is_room_for(void **state)
{
	struct payload p = { 0 };

	for (size_t i = 0; i < PLANE_BOUNDS_MAX; i++) {
		buffer_extend(&p.raw, 3 * 256 + 1);
		payload_note_planes(&p, 256, 3);
	}
	assert_int_equal(p.plane_bound_count, PLANE_BOUNDS_MAX);
	for (size_t i = 1; i < PLANE_BOUNDS_MAX; i++)
		assert_true(p.plane_bounds[i] > p.plane_bounds[i - 1]);
	payload_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_planes_are_noted),
	cmocka_unit_test(test_short_planes_are_not),
	cmocka_unit_test(test_no_more_than_there_is_room_for),
};

UNIT_TESTS(tests);
