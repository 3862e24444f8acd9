/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/payload.h"

#define SHORTEST 256 /* bytes: shorter planes do not earn the cost of a table */

void payload_release(struct payload *p)
{
	buffer_release(&p->raw);
	payload_clear(p);
}

void payload_clear(struct payload *p)
{
	buffer_clear(&p->raw);
	p->plane_bound_count = 0;
}

static void add(struct payload *p, size_t offset)
{
	size_t count = p->plane_bound_count;

	/* A plane begins where the one before it ends: that is one bound, not two. */
	if (offset && count < PLANE_BOUNDS_MAX && (!count || p->plane_bounds[count - 1] < offset))
		p->plane_bounds[p->plane_bound_count++] = offset;
}

void payload_note_planes(struct payload *p, size_t n, size_t planes)
{
	size_t start = p->raw.size - n * planes;

	/* Without memory the bytes are not there, and the payload goes nowhere. */
	if (!planes || n < SHORTEST || !buffer_ok(&p->raw))
		return;
	for (size_t j = 0; j <= planes; j++)
		add(p, start + j * n);
}
