/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/merge/frame_name.h"
#include "tests/unit/unit.h"

static struct prf_object object(enum prf_object_kind kind, const char *path)
{
	return (struct prf_object){ .kind = kind, .path = path, .root = "" };
}

static void test_short_names(void **state)
{
	static const char *const pairs[][2] = {
		{ "/usr/lib/libc.so.6", "libc.so.6" },
		{ "[kernel]", "[kernel]" },
		{ "plain", "plain" },
		{ "/", "/" },
		{ "", "" },
		{ "[a/b]", "[a/b]" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct prf_object o = object(PRF_OBJECT_FILE, pairs[i][0]);

		assert_string_equal(object_short_name(&o), pairs[i][1]);
	}
}

static void expect(enum prf_object_kind kind, const char *path, const char *name)
{
	const struct prf_frame frame = { .object = 0 };
	struct prf_object o = object(kind, path);
	struct buffer room = { 0 };

	assert_string_equal(frame_placeholder(&frame, &o, &room), name);
	buffer_release(&room);
}

static void test_what_stands_for_code_without_names(void **state)
{
	expect(PRF_OBJECT_FILE, "/usr/lib/libc.so.6", "[libc.so.6]");
	expect(PRF_OBJECT_FILE, "", "[unknown]");
	expect(PRF_OBJECT_KERNEL, "[kernel]", "[kernel]");
	expect(PRF_OBJECT_MODULE, "[nf_tables]", "[nf_tables]");
	expect(PRF_OBJECT_VDSO, "[vdso]", "[vdso]");
	expect(PRF_OBJECT_JIT, "[jit]", "[jit]");
	expect(PRF_OBJECT_JIT, "/tmp/perf-7.map", "[perf-7.map]");
	expect(PRF_OBJECT_ANONYMOUS, "//anon", "[anon]");
	expect(PRF_OBJECT_ANONYMOUS, "", "[anon]");
	expect(PRF_OBJECT_UNKNOWN, "[unknown]", "[unknown]");
	expect(PRF_OBJECT_UNKNOWN, "[lost]", "[lost]");
}

static void test_ends(void **state)
{
	struct buffer room = { 0 };
	struct prf_frame frame = { .object = PRF_NONE, .flags = PRF_FRAME_END };

	frame.offset = PRF_END_TOO_DEEP;
	assert_string_equal(frame_placeholder(&frame, NULL, &room), "[truncated]");
	frame.offset = PRF_END_NO_TABLE;
	assert_string_equal(frame_placeholder(&frame, NULL, &room), "[incomplete]");
	frame.offset = 12345;
	assert_string_equal(frame_placeholder(&frame, NULL, &room), "[incomplete]");
	/* Most likely something is missing there. */
	frame.offset = PRF_END_FRAME_POINTER;
	assert_string_equal(frame_placeholder(&frame, NULL, &room), "[incomplete]");
	frame.offset = PRF_END_ROOT;
	assert_null(frame_placeholder(&frame, NULL, &room));
	buffer_release(&room);
}

static void test_kinds(void **state)
{
	struct prf_object jit = object(PRF_OBJECT_JIT, "[jit]");
	struct prf_object file = object(PRF_OBJECT_FILE, "/x");
	struct prf_frame frame = { 0 };

	assert_int_equal(frame_kind_of(&frame, &file), PROFILE_FRAME_USER);
	assert_int_equal(frame_kind_of(&frame, NULL), PROFILE_FRAME_USER);
	assert_int_equal(frame_kind_of(&frame, &jit), PROFILE_FRAME_JIT);
	frame.flags = PRF_FRAME_KERNEL;
	assert_int_equal(frame_kind_of(&frame, &file), PROFILE_FRAME_KERNEL);
	frame.flags = PRF_FRAME_END;
	assert_int_equal(frame_kind_of(&frame, NULL), PROFILE_FRAME_END);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_short_names),
	cmocka_unit_test(test_what_stands_for_code_without_names),
	cmocka_unit_test(test_ends),
	cmocka_unit_test(test_kinds),
};

UNIT_TESTS(tests);
