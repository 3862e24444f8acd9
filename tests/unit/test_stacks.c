/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "format/column.h"
#include "format/stacks.h"
#include "tests/unit/error_check.h"
#include "tests/unit/refused.h"
#include "tests/unit/unit.h"

/* A payload of frames or stacks, field by field. */
struct fields {
	uint64_t defined, first_id, n;
	size_t values; /* in each column */
	uint64_t columns[3][2];
	size_t column_count;
};

static const struct fields frames = {
	2, 0, 2, 2, { { 2, 0 }, { PRF_FRAME_EXACT, PRF_FRAME_END }, { 0x100, PRF_END_TOO_DEEP } }, 3
};
static const struct fields stacks = { 2, 0, 2, 2, { { 0, 1 }, { 1, 0 } }, 2 };

static void begin(struct tables *t)
{
	tables_init(t);
	t->lost_allowed = 100;
}

static struct error *decode(struct tables *t, const struct fields *f)
{
	struct payload p = { 0 };
	struct error *error;
	struct cursor c;

	begin(t);
	buffer_uleb(&p.raw, f->defined);
	buffer_uleb(&p.raw, f->first_id);
	buffer_uleb(&p.raw, f->n);
	for (size_t i = 0; i < f->column_count; i++)
		column_encode_min(&p, f->columns[i], f->values, i + 1 == f->column_count);
	c = cursor_over(p.raw.data, p.raw.size);
	error = f->column_count == 3 ? frames_decode(t, &c) : stacks_decode(t, &c);
	payload_release(&p);
	return error;
}

/* Refused with this text, and nothing of it is in the tables. */
static void refused(const struct fields *f, const char *text)
{
	struct tables t;

	assert_error(decode(&t, f), ERROR_CORRUPT, text);
	assert_int_equal(tables_own_frames(&t), f->column_count == 3 ? 0 : t.frame_count);
	assert_int_equal(t.stack_count, 0);
	tables_release(&t);
}

static void test_frames(void **state)
{
	struct fields f = frames;
	struct tables t;

	assert_no_error(decode(&t, &f));
	assert_int_equal(t.frame_count, 2);
	assert_int_equal(t.frames[0].object, 1);
	assert_int_equal(t.frames[0].offset, 0x100);
	assert_int_equal(t.frames[1].object, PRF_NONE);
	assert_int_equal(t.frames[1].offset, PRF_END_TOO_DEEP);
	tables_release(&t);
	REFUSED(frames, columns[0][0] = 3, "frame 0: its object is 2, but 2 are defined");
	REFUSED(frames, columns[0][0] = 0, "frame 0: it has no object");
	REFUSED(frames, columns[0][1] = 1, "frame 1: it ends a stack, but lies in object 0");
	REFUSED(frames, n = 9, "a column of 9 frames is broken");
	REFUSED(frames, n = 1000, "1000 frames in 12 bytes");
	REFUSED(frames, defined = 102,
		"102 objects are missing, more than so short a trace could have");
	REFUSED(frames, defined = WIRE_OBJECTS_MAX + 1,
		"1048577 objects are said to be defined, but the limit is 1048576");
	REFUSED(frames, first_id = WIRE_FRAMES_MAX - 1,
		"2 frames from id 67108863 on, but the limit is 67108864");
}

static void test_stacks(void **state)
{
	struct fields f = stacks;
	struct tables t;

	assert_no_error(decode(&t, &f));
	assert_int_equal(t.stack_count, 2);
	assert_int_equal(t.stacks[0].parent, PRF_NONE);
	assert_int_equal(t.stacks[0].frame, 1);
	assert_int_equal(t.stacks[1].parent, 0);
	tables_release(&t);
	REFUSED(stacks, columns[0][0] = 1, "stack 0: its parent is 1 before it");
	REFUSED(stacks, columns[1][1] = 900, "stack 1: its frame is 900, but 2 are defined");
	REFUSED(stacks, n = 3, "a column of 3 stacks is broken");
	REFUSED(stacks, first_id = 101,
		"101 stacks are missing, more than so short a trace could have");
}

static void test_ids_are_given_once(void **state)
{
	struct payload p = { 0 };
	struct cursor c;
	struct tables t;

	begin(&t);
	stacks_encode(&p, &(struct prf_stack){ PRF_NONE, 0 },
		      &(struct definition_range){ .defined = 1, .first_id = 5, .n = 1 });
	c = cursor_over(p.raw.data, p.raw.size);
	assert_no_error(stacks_decode(&t, &c));
	assert_int_equal(t.stack_count, 6);
	c = cursor_over(p.raw.data, p.raw.size);
	assert_error(stacks_decode(&t, &c), ERROR_CORRUPT,
		     "stacks begin with id 5, but 6 are defined");
	c = cursor_over(p.raw.data, 2);
	assert_error(stacks_decode(&t, &c), ERROR_CORRUPT,
		     "the head of a block of stacks is cut short");
	tables_release(&t);
	payload_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_frames),
	cmocka_unit_test(test_stacks),
	cmocka_unit_test(test_ids_are_given_once),
};

UNIT_TESTS(tests);
