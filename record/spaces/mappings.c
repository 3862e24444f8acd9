/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/mappings.h"

#include "common/array.h"
#include "common/sorted.h"

#include <stdlib.h>
#include <string.h>

/* Some mappings more, or fewer, of their objects. */
static void count_users(const struct mapping *list, size_t n, int change)
{
	for (size_t i = 0; i < n; i++) {
		struct mapped *mapped = (struct mapped *)list[i].object;

		mapped->users += (uint64_t)change;
		mapped->again |= change > 0;
	}
}

void mappings_release(struct mappings *m)
{
	count_users(m->list, m->n, -1);
	free(m->list);
	*m = (struct mappings){ 0 };
}

/* Index of the first mapping that ends above the address. */
static size_t first_above(const struct mappings *m, uint64_t address)
{
	return sorted_up_to(m->list, m->n, SORTED_BY(struct mapping, end), address);
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

bool mappings_have_room_for(const struct mappings *m, const struct mapping *mapping)
{
	for (size_t i = first_above(m, mapping->start); i < m->n && m->list[i].start < mapping->end;
	     i++)
		if (m->list[i].object != mapping->object)
			return false;
	return true;
}

bool mappings_add(struct mappings *m, const struct mapping *mapping)
{
	uint64_t start = mapping->start, end = mapping->end;
	struct mapping pieces[3];
	size_t from, to, n = 0;

	if (start >= end)
		return true;
	/* A mapping in the middle of another one splits it, which adds two mappings. */
	if (!array_reserve(&m->list, &m->capacity, m->n + 2))
		return false;
	from = to = first_above(m, start);
	while (to < m->n && m->list[to].start < end)
		to++;
	if (to > from && m->list[from].start < start) {
		pieces[n] = m->list[from];
		pieces[n++].end = start;
	}
	pieces[n++] = *mapping;
	if (to > from && m->list[to - 1].end > end) {
		pieces[n] = m->list[to - 1];
		pieces[n].offset += end - pieces[n].start;
		pieces[n++].start = end;
	}
	count_users(pieces, n, 1);
	count_users(m->list + from, to - from, -1);
	memmove(m->list + from + n, m->list + to, (m->n - to) * sizeof(*m->list));
	memcpy(m->list + from, pieces, n * sizeof(*pieces));
	m->n = m->n - (to - from) + n;
	return true;
}

bool mappings_copy(struct mappings *to, const struct mappings *from)
{
	if (!array_reserve(&to->list, &to->capacity, from->n))
		return false;
	count_users(to->list, to->n, -1);
	count_users(from->list, from->n, 1);
	if (from->n)
		memcpy(to->list, from->list, from->n * sizeof(*to->list));
	to->n = from->n;
	return true;
}
