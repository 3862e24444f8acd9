/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stack_column.h"

#include <stdlib.h>
#include <string.h>

#define STEPS (STACK_COLUMN_OTHER - STACK_COLUMN_FREQUENT)
/* A stack must be there so often that its entry costs less than its ids among the others. */
#define FREQUENT_LEAST 3

void stack_encoder_release(struct stack_encoder *e)
{
	pairs_release(&e->distinct);
	free(e->counts);
	free(e->order);
	*e = (struct stack_encoder){ 0 };
}

static bool make_room(struct stack_encoder *e, size_t n)
{
	uint32_t *counts, *order;

	if (n <= e->room)
		return true;
	counts = realloc(e->counts, n * sizeof(*counts));
	if (counts)
		e->counts = counts;
	order = realloc(e->order, n * sizeof(*order));
	if (order)
		e->order = order;
	if (!counts || !order)
		return false;
	e->room = n;
	return true;
}

static int by_count(const void *a, const void *b, void *context)
{
	const uint32_t *counts = context, x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (counts[x] != counts[y])
		return counts[x] > counts[y] ? -1 : 1;
	/* Equal samples give equal bytes, whatever qsort does. */
	return (x > y) - (x < y);
}

/*
 * Numbers the distinct stacks and finds the frequent ones: `counts` of a stack's number becomes its
 * place among them, or STACK_COLUMN_OTHER. How many there are, or -1 without memory.
 */
static int find_frequent(struct stack_encoder *e, const uint32_t *stacks, size_t n,
			 uint64_t frequent[STACK_COLUMN_FREQUENT])
{
	size_t candidates = 0;
	int found = 0;

	if (!make_room(e, n))
		return -1;
	pairs_clear(&e->distinct);
	memset(e->counts, 0, n * sizeof(*e->counts));
	for (size_t i = 0; i < n; i++) {
		uint32_t number = pairs_put(&e->distinct, stacks[i], 0);

		if (number == UINT32_MAX)
			return -1;
		e->counts[number]++;
	}
	for (uint32_t i = 0; i < e->distinct.count; i++)
		if (e->counts[i] >= FREQUENT_LEAST)
			e->order[candidates++] = i;
	qsort_r(e->order, candidates, sizeof(*e->order), by_count, e->counts);
	for (uint32_t i = 0; i < e->distinct.count; i++)
		e->counts[i] = STACK_COLUMN_OTHER;
	for (; found < STACK_COLUMN_FREQUENT && (size_t)found < candidates; found++) {
		uint32_t number = e->order[found];

		frequent[found] = e->distinct.pairs[number].a;
		e->counts[number] = (uint32_t)found;
	}
	return found;
}

bool stack_column_encode(struct stack_encoder *e, struct payload *out, const uint32_t *stacks,
			 size_t n, uint64_t *room)
{
	uint64_t frequent[STACK_COLUMN_FREQUENT];
	uint32_t highest = e->highest;
	size_t others = 0;
	uint8_t *bytes;
	int count;

	count = find_frequent(e, stacks, n, frequent);
	if (count < 0)
		return false;
	buffer_uleb(&out->raw, highest);
	buffer_uleb(&out->raw, (uint64_t)count);
	column_encode_min(out, frequent, (size_t)count, false);
	bytes = buffer_extend(&out->raw, n);
	if (!bytes)
		return false;
	payload_note_planes(out, n, 1);
	for (size_t i = 0; i < n; i++) {
		uint32_t value = stacks[i];

		if (value > highest && value - highest <= STEPS) {
			bytes[i] = (uint8_t)(STACK_COLUMN_FREQUENT + (value - highest) - 1);
		} else {
			bytes[i] = (uint8_t)e->counts[pairs_put(&e->distinct, value, 0)];
			if (bytes[i] == STACK_COLUMN_OTHER)
				room[others++] = value;
		}
		highest = value > highest ? value : highest;
	}
	e->highest = highest;
	buffer_uleb(&out->raw, others);
	column_encode_min(out, room, others, false);
	return true;
}

void stack_column_decode(struct cursor *c, size_t n, struct stack_column *column)
{
	uint64_t highest = cursor_uleb(c), count = cursor_uleb(c), others;
	struct column frequent;

	if (highest > UINT32_MAX || count > STACK_COLUMN_FREQUENT)
		cursor_fail(c);
	column_decode(c, cursor_ok(c) ? count : 0, false, &frequent);
	column->bytes = cursor_bytes(c, n);
	others = cursor_uleb(c);
	if (others > n)
		cursor_fail(c);
	column_decode(c, cursor_ok(c) ? others : 0, false, &column->others);
	column->next = column->next_other = 0;
	column->highest = (uint32_t)highest;
	if (!cursor_ok(c))
		return;
	/* An index without an entry gives a value that no stack has. */
	memset(column->frequent, 0xff, sizeof(column->frequent));
	if (column_read_u32(&frequent, 0, count, column->frequent) > UINT32_MAX)
		cursor_fail(c);
}

uint64_t stack_column_read(struct stack_column *column, size_t n, uint32_t *values, uint32_t *room)
{
	const uint8_t *bytes = column->bytes + column->next;
	uint32_t highest = column->highest;
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += bytes[i] == STACK_COLUMN_OTHER;
	if (others > column->others.n - column->next_other ||
	    column_read_u32(&column->others, column->next_other, others, room) > UINT32_MAX)
		return UINT64_MAX;
	column->next += n;
	column->next_other += others;
	for (size_t i = 0; i < n; i++) {
		uint32_t byte = bytes[i], value;

		if (byte < STACK_COLUMN_FREQUENT)
			value = column->frequent[byte];
		else if (byte == STACK_COLUMN_OTHER)
			value = *room++;
		else if (highest <= UINT32_MAX - STEPS)
			value = highest + byte - (STACK_COLUMN_FREQUENT - 1);
		else
			return UINT64_MAX;
		values[i] = value;
		highest = value > highest ? value : highest;
	}
	column->highest = highest;
	return highest;
}
