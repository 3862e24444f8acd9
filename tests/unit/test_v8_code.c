/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Code as the compilers of node 18, 20, 22 and 24 make it: what each instruction says of the frame.
 */

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "bpf/runtimes/v8_code.bpf.h"
#include "tests/unit/unit.h"

#include <string.h>

/* An instruction, and what holds before it runs. */
struct instruction {
	const char *bytes;
	size_t size;
	enum v8_frame frame;
};

#define CODE(text, frame)                                                                          \
	{                                                                                          \
		text, sizeof(text) - 1, frame                                                      \
	}

static void check(const struct instruction *code, size_t n)
{
	uint8_t bytes[256] = { 0 };
	size_t end = 16, at = 16;

	for (size_t i = 0; i < n; end += code[i++].size)
		memcpy(bytes + end, code[i].bytes, code[i].size);
	for (size_t i = 0; i < n; at += code[i++].size) {
		struct v8_around around;

		memcpy(&around, bytes + at - 16, sizeof(around));
		if (v8_frame_at(&around) != code[i].frame)
			fail_msg("instruction %zu: %d, not %d", i, v8_frame_at(&around),
				 code[i].frame);
	}
}

#define CHECK(code) check(code, sizeof(code) / sizeof(*(code)))

static void test_frames_begin(void **state)
{
	static const struct instruction function[] = {
		/* The checks before are told from the rest by what comes later. */
		CODE("\x55", V8_COMPLETE),
		CODE("\x48\x89\xe5", V8_PUSHED),
		CODE("\x56", V8_LINKED),
		CODE("\x57", V8_LINKED),
		CODE("\x50", V8_COMPLETE),
		CODE("\x48\x83\xec\x18", V8_COMPLETE),
		CODE("\x48\x8b\x45\xf0", V8_COMPLETE),
	};
	static const uint8_t begin[8] = "\x55\x48\x89\xe5\x56\x57\x50\x48";
	static const uint8_t other[8] = "\x55\x48\x8b\xec\x6a\x08\x56\x48"; /* with a marker */
	static const uint8_t none[8] = "\x55\x48\x8b\xec\x50\x50\x56\x48";
	uint64_t code;

	CHECK(function);
	memcpy(&code, begin, 8);
	assert_true(v8_begins(code));
	memcpy(&code, other, 8);
	assert_true(v8_begins(code));
	memcpy(&code, none, 8);
	assert_false(v8_begins(code));
}

static void test_baseline_code_has_its_frame_after_a_call(void **state)
{
	static const struct instruction small[] = {
		CODE("\x33\xdb", V8_BARE),
		CODE("\x49\xbc\x41\xac\xb8\x4a\x4e\x0d\x00\x00", V8_BARE),
		CODE("\xe8\xef\x97\xe4\x1f", V8_BARE),
		CODE("\x48\x8b\x5d\xd8", V8_COMPLETE),
	};
	static const struct instruction large[] = {
		CODE("\xbb\x58\x00\x00\x00", V8_BARE),
		CODE("\x49\xbc\x31\xad\xb8\x4a\x4e\x0d\x00\x00", V8_BARE),
		CODE("\xe8\x6c\x97\xe4\x1f", V8_BARE),
		CODE("\x50", V8_COMPLETE),
		CODE("\xe8\x6c\x97\xe4\x1f", V8_COMPLETE),
	};

	CHECK(small);
	CHECK(large);
}

static void test_frames_end(void **state)
{
	static const struct instruction turbofan[] = {
		CODE("\x48\x8b\x4d\xe8", V8_COMPLETE),
		CODE("\x48\x8b\xe5", V8_COMPLETE),
		CODE("\x5d", V8_COMPLETE),
		CODE("\x48\x83\xf9\x02", V8_LEFT),
		CODE("\x7f\x03", V8_LEFT),
		CODE("\xc2\x10\x00", V8_LEFT),
		CODE("\x41\x5a", V8_LEFT),
		CODE("\x48\x8d\x24\xcc", V8_IN_R10),
		CODE("\x41\x52", V8_IN_R10),
		CODE("\xc3", V8_LEFT),
	};
	static const struct instruction maglev[] = {
		CODE("\x4c\x8b\x45\xe8", V8_COMPLETE),
		CODE("\x48\x8b\xe5", V8_COMPLETE),
		CODE("\x5d", V8_COMPLETE),
		CODE("\x49\x83\xf8\x02", V8_LEFT),
		CODE("\x0f\x8f\x03\x00\x00\x00", V8_LEFT),
		CODE("\xc2\x10\x00", V8_LEFT),
		CODE("\x41\x59", V8_LEFT),
		CODE("\x4a\x8d\x24\xc4", V8_IN_R9),
		CODE("\x41\x51", V8_IN_R9),
		CODE("\xc3", V8_LEFT),
		CODE("\xf7\xde", V8_COMPLETE),
		CODE("\x0f\x85\x78\xfe\xff\xff", V8_COMPLETE),
	};
	static const struct instruction many_parameters[] = {
		CODE("\x48\x8b\xe5", V8_COMPLETE),
		CODE("\x5d", V8_COMPLETE),
		CODE("\x48\x81\xf9\x20\x01\x00\x00", V8_LEFT),
		CODE("\x7f\x03", V8_LEFT),
		CODE("\xc2\x00\x09", V8_LEFT),
		CODE("\x41\x5a", V8_LEFT),
	};

	CHECK(turbofan);
	CHECK(maglev);
	CHECK(many_parameters);
}

/* Within a function, the same instructions say nothing. */
static void test_bodies_are_complete(void **state)
{
	static const struct instruction loop[] = {
		CODE("\x48\x83\xf9\x02", V8_COMPLETE),
		CODE("\x0f\x8f\x03\x00\x00\x00", V8_COMPLETE),
		CODE("\x48\x3b\xcf", V8_COMPLETE),
		CODE("\x7f\x1e", V8_COMPLETE),
		CODE("\x48\x8b\x5d\x5d", V8_COMPLETE),
		CODE("\x49\x83\xf8\x02", V8_COMPLETE),
		CODE("\x7f\x1e", V8_COMPLETE),
		CODE("\xbb\x01\x00\x00\x00", V8_COMPLETE),
		CODE("\x41\x52", V8_COMPLETE),
		CODE("\x50", V8_COMPLETE),
		CODE("\xe8\x00\x00\x00\x00", V8_COMPLETE),
	};

	CHECK(loop);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_frames_begin),
	cmocka_unit_test(test_baseline_code_has_its_frame_after_a_call),
	cmocka_unit_test(test_frames_end),
	cmocka_unit_test(test_bodies_are_complete),
};

UNIT_TESTS(tests);
