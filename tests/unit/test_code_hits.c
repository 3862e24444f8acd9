/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/code_hits.h"
#include "tests/unit/unit.h"

static void blocks_are_found(void **state)
{
	struct code_hits h = { 0 };

	assert_false(code_hits_any(&h, 0, UINT64_MAX));
	code_hits_add(&h, 0x10025);
	code_hits_add(&h, 0x10025);
	assert_int_equal(h.n, 1);
	assert_int_equal(h.blocks, 1);
	code_hits_add(&h, 0x103ff);
	assert_int_equal(h.blocks, 2);
	assert_true(code_hits_any(&h, 0x10025, 0x10026));
	/* All of its block, and nothing else. */
	assert_true(code_hits_any(&h, 0x10000, 0x10001));
	assert_true(code_hits_any(&h, 0x1003f, 0x10040));
	assert_false(code_hits_any(&h, 0xffc0, 0x10000));
	assert_false(code_hits_any(&h, 0x10040, 0x103c0));
	assert_false(code_hits_any(&h, 0x10400, UINT64_MAX));
	assert_false(code_hits_any(&h, 0x25, 0x26));
	assert_false(code_hits_any(&h, 0, 0x10000));
	assert_true(code_hits_any(&h, 0, 0x10001));
	/* Nothing lies in nothing. */
	assert_false(code_hits_any(&h, 0x10025, 0x10025));
	assert_false(code_hits_any(&h, 0x10026, 0x10025));
	code_hits_release(&h);
	assert_false(code_hits_any(&h, 0, UINT64_MAX));
}

static void runs_are_in_order(void **state)
{
	static const uint64_t offsets[] = { 0x50000, UINT64_MAX, 0, 0x2ffff, 0x30000, 0x40 };
	struct code_hits h = { 0 };

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		code_hits_add(&h, offsets[i]);
	assert_int_equal(h.n, 5);
	for (size_t i = 1; i < h.n; i++)
		assert_true(h.runs[i - 1].number < h.runs[i].number);
	assert_true(code_hits_any(&h, 0, 1));
	assert_true(code_hits_any(&h, 0x40, 0x41));
	assert_false(code_hits_any(&h, 0x80, 0x2ffc0));
	assert_true(code_hits_any(&h, 0x80, 0x2ffc1));
	assert_true(code_hits_any(&h, 0x30000, 0x30001));
	assert_false(code_hits_any(&h, 0x30040, 0x50000));
	assert_true(code_hits_any(&h, 0x50040, UINT64_MAX));
	code_hits_release(&h);
}

/* What a file takes is bounded by its code, and by a limit: not by how long it is recorded. */
static void hits_are_bounded(void **state)
{
	const uint64_t code = UINT64_C(1) << 20;
	struct code_hits h = { 0 };
	size_t most;

	for (uint64_t offset = 0; offset < code; offset++)
		code_hits_add(&h, offset * 7919 % code);
	assert_int_equal(h.n, 16);
	for (uint64_t run = 5000; run; run--)
		code_hits_add(&h, run << 20);
	most = h.n;
	assert_int_equal(most, 4096);
	code_hits_add(&h, UINT64_MAX);
	assert_int_equal(h.n, most);
	/* Where there have been some, there may be more. */
	assert_false(code_hits_any(&h, (UINT64_C(5000) << 20) + 64, UINT64_MAX));
	code_hits_add(&h, (UINT64_C(5000) << 20) + 64);
	assert_true(code_hits_any(&h, (UINT64_C(5000) << 20) + 64, UINT64_MAX));
	code_hits_release(&h);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(blocks_are_found),
	cmocka_unit_test(runs_are_in_order),
	cmocka_unit_test(hits_are_bounded),
};

UNIT_TESTS(tests);
