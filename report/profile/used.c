/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/used.h"

#include "common/sorted.h"

#include <stdlib.h>

void used_release(struct used *u)
{
	for (size_t i = 0; i < u->trace_count; i++) {
		if (u->stacks)
			free(u->stacks[i]);
		if (u->frames)
			free(u->frames[i]);
	}
	free(u->stacks);
	free(u->frames);
	*u = (struct used){ 0 };
}

uint32_t used_trace_of(const struct used *u, uint32_t stack)
{
	return (uint32_t)sorted_up_to(u->traces, u->trace_count,
				      SORTED_BY(struct trace, stack_base), stack) -
	       1;
}

static void mark_stack(struct used *u, uint32_t stack)
{
	uint32_t trace;

	if (stack == PRF_NONE)
		return;
	trace = used_trace_of(u, stack);
	u->stacks[trace][stack - u->traces[trace].stack_base] = 1;
}

/* A stack's parent has a lower number, so one pass from the end reaches every root. */
static void mark_parents(struct used *u, size_t trace)
{
	const struct prf_reader *r = u->traces[trace].reader;
	const struct prf_stack *stacks = prf_reader_all_stacks(r);

	for (size_t s = prf_reader_stacks(r); s-- > 0;) {
		if (!u->stacks[trace][s])
			continue;
		if (stacks[s].parent != PRF_NONE)
			u->stacks[trace][stacks[s].parent] = 1;
		if (stacks[s].frame != PRF_NONE)
			u->frames[trace][stacks[s].frame] = 1;
	}
}

static struct error *used_allocate(struct used *u)
{
	u->stacks = calloc(u->trace_count, sizeof(*u->stacks));
	u->frames = calloc(u->trace_count, sizeof(*u->frames));
	if (!u->stacks || !u->frames)
		return error_memory();
	for (size_t i = 0; i < u->trace_count; i++) {
		const struct prf_reader *r = u->traces[i].reader;

		u->stacks[i] = calloc(prf_reader_stacks(r) + 1, 1);
		u->frames[i] = calloc(prf_reader_frames(r) + 1, 1);
		if (!u->stacks[i] || !u->frames[i])
			return error_memory();
		u->stack_count = u->traces[i].stack_base + prf_reader_stacks(r);
	}
	return NULL;
}

struct error *used_init(struct used *u, const struct tally *tally, const struct trace *traces,
			size_t n)
{
	size_t cell_count;
	const struct tally_cell *cells = tally_cells(tally, &cell_count);
	struct error *error;

	*u = (struct used){ .traces = traces, .trace_count = n };
	error = used_allocate(u);
	if (error)
		return error;
	for (size_t i = 0; i < cell_count; i++) {
		mark_stack(u, cells[i].stack);
		if (cells[i].waker != PRF_NONE)
			mark_stack(u, tally_waker(tally, cells[i].waker).stack);
	}
	for (size_t i = 0; i < n; i++)
		mark_parents(u, i);
	return NULL;
}
