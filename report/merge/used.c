/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/used.h"

#include <stdlib.h>

void used_release(struct used *u)
{
	free(u->stacks);
	free(u->frames);
	*u = (struct used){ 0 };
}

/* A stack's parent has a lower number, so one pass from the end reaches every root. */
static void mark_parents(struct used *u, const struct definitions *d)
{
	for (size_t s = d->stack_count; s-- > 0;) {
		const struct prf_stack *stack = &d->stacks[s];

		if (!u->stacks[s])
			continue;
		if (stack->parent != PRF_NONE)
			u->stacks[stack->parent] = 1;
		if (stack->frame != PRF_NONE)
			u->frames[stack->frame] = 1;
	}
}

struct error *used_init(struct used *u, const struct definitions *d, const struct tally *tally,
			size_t first)
{
	size_t n;
	const struct tally_cell *cells = tally_cells(tally, &n);

	u->stacks = calloc(d->stack_count + 1, 1);
	u->frames = calloc(d->frame_count + 1, 1);
	if (!u->stacks || !u->frames)
		return error_memory();
	for (size_t i = first; i < n; i++) {
		if (cells[i].stack != PRF_NONE)
			u->stacks[cells[i].stack] = 1;
		if (cells[i].waker != PRF_NONE)
			u->stacks[tally_waker(tally, &cells[i]).stack] = 1;
	}
	mark_parents(u, d);
	return NULL;
}
