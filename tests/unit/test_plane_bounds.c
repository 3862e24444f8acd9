/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "format/definitions.h"
#include "format/plane_bounds.h"

#define N 300

static void encode_frames(struct buffer *out)
{
	struct prf_frame frames[N];

	for (uint32_t i = 0; i < N; i++)
		frames[i] = (struct prf_frame){ i % 3, 0, i * 1000 };
	frames_encode(out, frames, 0, N, 3);
}

static void test_planes_are_found(void **state)
{
	size_t plane_bounds[PLANE_BOUNDS_MAX], count;
	struct buffer b = { 0 };

	encode_frames(&b);
	count = plane_bounds_find(WIRE_FRAMES, b.data, b.size, plane_bounds);
	/* One plane of objects, none of flags, three of offsets, the last one up to the end. */
	assert_int_equal(count, 5);
	assert_int_equal(plane_bounds[1] - plane_bounds[0], N);
	assert_int_equal(plane_bounds[3] - plane_bounds[2], N);
	assert_int_equal(plane_bounds[4] - plane_bounds[3], N);
	assert_int_equal(b.size - plane_bounds[4], N);
	assert_int_equal(plane_bounds_find(WIRE_OBJECTS, b.data, b.size, plane_bounds), 0);
	buffer_release(&b);
}

/* Payloads that break off: whatever is found lies inside. */
static void test_broken_payloads(void **state)
{
	size_t plane_bounds[PLANE_BOUNDS_MAX], count;
	struct buffer b = { 0 };

	encode_frames(&b);
	for (size_t size = 0; size < b.size; size++) {
		for (uint16_t type = WIRE_FRAMES; type <= WIRE_SAMPLES; type++) {
			count = plane_bounds_find(type, b.data, size, plane_bounds);
			for (size_t i = 0; i < count; i++)
				assert_true(plane_bounds[i] < size &&
					    (!i || plane_bounds[i] > plane_bounds[i - 1]));
		}
	}
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planes_are_found),
		cmocka_unit_test(test_broken_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
