/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/plane_bounds.h"

#include "format/column.h"
#include "format/wire.h"

#define SHORTEST 256 /* bytes: shorter planes do not earn the cost of a table */

struct finder {
	struct cursor cursor;
	size_t *plane_bounds;
	size_t count;
};

static void add(struct finder *f, size_t offset)
{
	if (offset && f->count < PLANE_BOUNDS_MAX &&
	    (!f->count || f->plane_bounds[f->count - 1] < offset))
		f->plane_bounds[f->count++] = offset;
}

/* So many planes of `n` bytes end at the cursor. */
static void add_planes(struct finder *f, size_t n, size_t planes)
{
	size_t start;

	if (!planes || n < SHORTEST)
		return;
	start = cursor_offset(&f->cursor) - n * planes;
	for (size_t j = 0; j <= planes; j++)
		add(f, start + j * n);
}

static void add_columns(struct finder *f, size_t n, size_t count)
{
	struct column column;

	while (count-- && cursor_ok(&f->cursor)) {
		column_decode(&f->cursor, n, false, &column);
		if (cursor_ok(&f->cursor))
			add_planes(f, n, column.planes);
	}
}

static void add_samples(struct finder *f)
{
	struct cursor *c = &f->cursor;
	uint64_t n, lanes;

	for (int i = 0; i < 3; i++)
		cursor_uleb(c);
	n = cursor_uleb(c);
	for (lanes = cursor_uleb(c); lanes && cursor_ok(c); lanes--) {
		cursor_uleb(c);
		cursor_uleb(c);
		cursor_sleb(c);
	}
	add_columns(f, n, 3);
	cursor_uleb(c);
	add_columns(f, cursor_uleb(c), 1);
	cursor_skip(c, n);
	if (cursor_ok(c))
		add_planes(f, n, 1);
	add_columns(f, cursor_uleb(c), 1);
	add_columns(f, n, 2);
}

static void add_definitions(struct finder *f, size_t columns)
{
	cursor_uleb(&f->cursor);
	cursor_uleb(&f->cursor);
	add_columns(f, cursor_uleb(&f->cursor), columns);
}

size_t plane_bounds_find(uint16_t type, const uint8_t *raw, size_t size,
			 size_t plane_bounds[PLANE_BOUNDS_MAX])
{
	struct finder f = { .cursor = cursor_over(raw, size), .plane_bounds = plane_bounds };

	switch (type) {
	case WIRE_SAMPLES: add_samples(&f); break;
	case WIRE_FRAMES: add_definitions(&f, 3); break;
	case WIRE_STACKS: add_definitions(&f, 2); break;
	default: break;
	}
	if (f.count && plane_bounds[f.count - 1] >= size)
		f.count--;
	return f.count;
}
