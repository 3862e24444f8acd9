/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/mappings.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void mappings_release(struct mappings *m)
{
	free(m->list);
	*m = (struct mappings){ 0 };
}

/* The number of the first one that ends above the address. */
static size_t first_above(const struct mappings *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
	size_t at = first_above(m, address);

	return at < m->n && m->list[at].start <= address ? &m->list[at] : NULL;
}

bool mappings_are_changed_by(const struct mappings *m, const struct mapping *mapping)
{
	const struct mapping *there = mappings_find(m, mapping->start);

	return !there || there->start != mapping->start || there->end != mapping->end ||
	       there->offset != mapping->offset || there->object != mapping->object;
}

/* Puts `with`, or nothing, in the place of whatever lies in [start, end). */
static int replace(struct mappings *m, uint64_t start, uint64_t end, const struct mapping *with)
{
	struct mapping pieces[3];
	size_t from, to, n = 0;

	if (start >= end)
		return -EINVAL;
	if (!array_reserve(&m->list, &m->capacity, m->n + 2))
		return -ENOMEM;
	from = to = first_above(m, start);
	while (to < m->n && m->list[to].start < end)
		to++;
	if (to > from && m->list[from].start < start) {
		pieces[n] = m->list[from];
		pieces[n++].end = start;
	}
	if (with)
		pieces[n++] = *with;
	if (to > from && m->list[to - 1].end > end) {
		pieces[n] = m->list[to - 1];
		pieces[n].offset += end - pieces[n].start;
		pieces[n++].start = end;
	}
	memmove(m->list + from + n, m->list + to, (m->n - to) * sizeof(*m->list));
	memcpy(m->list + from, pieces, n * sizeof(*pieces));
	m->n = m->n - (to - from) + n;
	return 0;
}

int mappings_add(struct mappings *m, const struct mapping *mapping)
{
	return replace(m, mapping->start, mapping->end, mapping);
}

int mappings_remove(struct mappings *m, uint64_t start, uint64_t end)
{
	return replace(m, start, end, NULL);
}

int mappings_copy(struct mappings *to, const struct mappings *from)
{
	if (!array_reserve(&to->list, &to->capacity, from->n))
		return -ENOMEM;
	if (from->n)
		memcpy(to->list, from->list, from->n * sizeof(*to->list));
	to->n = from->n;
	return 0;
}
