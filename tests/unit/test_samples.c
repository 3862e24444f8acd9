/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "format/samples.h"
#include "tests/unit/error_check.h"
#include "tests/unit/refused.h"
#include "tests/unit/unit.h"

#define COUNT 3

/* A block of samples, field by field, of one lane. */
struct fields {
	uint64_t events, tasks, stacks, n, lanes, event, cpu;
	uint64_t time[COUNT], lane[COUNT], task[COUNT], waker[COUNT], weight[COUNT];
	uint64_t waker_task[COUNT];
	uint32_t stack[COUNT]; /* ids + 1 */
};

static const struct fields good = {
	.events = 1,
	.tasks = 2,
	.stacks = 4,
	.n = COUNT,
	.lanes = 1,
	.cpu = 5,
	.time = { 10, 10, 10 },
	.task = { 0, 1, 0 },
	.waker = { 0, 4, 0 },
	.weight = { 1, 2, 3 },
	.waker_task = { 0, 2, 0 },
	.stack = { 1, 0, 4 },
};

static void encode(const struct fields *f, struct payload *p)
{
	struct stack_encoder encoder = { 0 };
	uint64_t room[COUNT];

	buffer_uleb(&p->raw, f->events);
	buffer_uleb(&p->raw, f->tasks);
	buffer_uleb(&p->raw, f->stacks);
	buffer_uleb(&p->raw, f->n);
	buffer_uleb(&p->raw, f->lanes);
	buffer_uleb(&p->raw, f->event);
	buffer_uleb(&p->raw, f->cpu);
	buffer_sleb(&p->raw, 1000);
	column_encode_min(p, f->time, COUNT, true);
	column_encode_min(p, f->lane, COUNT, false);
	column_encode_min(p, f->task, COUNT, false);
	assert_true(stack_column_encode(&encoder, p, f->stack, COUNT, room));
	column_encode_min(p, f->waker, COUNT, false);
	column_encode_min(p, f->weight, COUNT, false);
	column_encode_min(p, f->waker_task, COUNT, false);
	stack_encoder_release(&encoder);
}

/* The whole block, all samples of it at once. */
static struct error *read_block(const struct payload *p, struct samples_block *b,
				struct prf_samples *samples)
{
	struct cursor c = cursor_over(p->raw.data, p->raw.size);
	struct error *error;
	struct tables t;

	tables_init(&t);
	t.lost_allowed = 100;
	error = samples_decode(b, &t, &c);
	if (!error && samples_left(b))
		error = samples_next(b, 0, UINT64_MAX, samples);
	tables_release(&t);
	return error;
}

static void refused(const struct fields *f, const char *text)
{
	struct samples_block *b = samples_block_new();
	struct payload p = { 0 };
	struct prf_samples samples;

	encode(f, &p);
	assert_error(read_block(&p, b, &samples), ERROR_CORRUPT, text);
	assert_false(samples_left(b));
	samples_block_free(b);
	payload_release(&p);
}

static void test_good(void **state)
{
	struct samples_block *b = samples_block_new();
	struct payload p = { 0 };
	struct prf_samples s;

	encode(&good, &p);
	assert_no_error(read_block(&p, b, &s));
	assert_int_equal(s.n, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(s.time_ns[i], 1010 + 10 * i);
		assert_int_equal(s.cpu[i], 5);
		assert_int_equal(s.task[i], i == 1);
		assert_int_equal(s.stack[i], good.stack[i] - 1);
		assert_int_equal(s.waker[i], (uint32_t)good.waker[i] - 1);
		assert_int_equal(s.waker_task[i], (uint32_t)good.waker_task[i] - 1);
		assert_int_equal(s.weight[i], i + 1);
	}
	assert_false(samples_left(b));
	samples_block_free(b);
	payload_release(&p);
}

static void test_one_wrong_field(void **state)
{
	REFUSED(good, task[1] = 2, "sample 1: its task is 2, but 2 are defined");
	REFUSED(good, lane[2] = 1, "sample 2: its lane is 1, but 1 are defined");
	REFUSED(good, stack[2] = 5, "samples 0 to 2: their highest stack is 4, but 4 are defined");
	REFUSED(good, waker[1] = 5, "sample 1: its waker's stack is 4, but 4 are defined");
	REFUSED(good, waker_task[1] = UINT64_MAX,
		"sample 1: its waker is 18446744073709551614, but 2 are defined");
	REFUSED(good, event = 1, "lane 0: its event is 1, but 1 are defined");
	REFUSED(good, cpu = (uint64_t)UINT32_MAX + 1, "lane 0: its CPU is 4294967296");
	REFUSED(good, lanes = 1000, "1000 lanes in 41 bytes");
	REFUSED(good, n = 500, "500 samples in 42 bytes");
	REFUSED(good, n = COUNT + 1, "a column of 4 samples is broken");
	REFUSED(good, tasks = 101, "101 tasks are missing, more than so short a trace could have");
	REFUSED(good, stacks = WIRE_STACKS_MAX + 1,
		"67108865 stacks are said to be defined, but the limit is 67108864");
}

/* What breaks off has samples, or an error, but never both. */
static void test_every_length(void **state)
{
	struct samples_block *b = samples_block_new();
	struct payload p = { 0 };
	struct prf_samples samples;
	size_t size, refusals = 0;

	encode(&good, &p);
	size = p.raw.size;
	for (p.raw.size = 0; p.raw.size < size; p.raw.size++)
		refusals += error_ignore(read_block(&p, b, &samples));
	/* Without the last column, which may be left out, the block is whole. */
	assert_int_equal(refusals, size - 1);
	samples_block_free(b);
	payload_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_good),
	cmocka_unit_test(test_one_wrong_field),
	cmocka_unit_test(test_every_length),
};

UNIT_TESTS(tests);
