/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/mappings.h"

#include "common/array.h"
#include "common/sorted.h"
#include "record/system/shares.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_MAX 128
/* Neighbours with fewer than that become one, so that blocks are not many more than needed. */
#define BLOCK_FEW (BLOCK_MAX / 2)
/* What an addition touches: two blocks, of which one mapping may be split by it. */
#define TOUCHED_MAX (2 * BLOCK_MAX + 2)
#define BLOCKS_MAX ((TOUCHED_MAX + BLOCK_MAX - 1) / BLOCK_MAX)

struct mapping_block {
	size_t users; /* lists that have it */
	struct shares *shares;
	uint32_t payer;
	uint32_t n, capacity;
	struct mapping list[];
};

static size_t block_bytes(size_t n)
{
	return sizeof(struct mapping_block) + n * sizeof(struct mapping);
}

/* Some mappings more, or fewer, of their objects. */
static void count_users(const struct mapping *list, size_t n, int change)
{
	for (size_t i = 0; i < n; i++) {
		struct mapped *mapped = (struct mapped *)list[i].object;

		mapped->users += (uint64_t)change;
		mapped->again |= change > 0;
	}
}

static struct mapping_block *block_new(const struct mappings *m, const struct mapping *list,
				       size_t n)
{
	struct mapping_block *b = malloc(block_bytes(n));

	if (!b)
		return NULL;
	*b = (struct mapping_block){ 1, m->shares, m->payer, (uint32_t)n, (uint32_t)n };
	memcpy(b->list, list, n * sizeof(*list));
	count_users(b->list, b->n, 1);
	if (b->shares)
		shares_take(b->shares, b->payer, block_bytes(n));
	return b;
}

static void block_put(struct mapping_block *b)
{
	if (--b->users)
		return;
	count_users(b->list, b->n, -1);
	if (b->shares)
		shares_give(b->shares, b->payer, block_bytes(b->capacity));
	free(b);
}

static void put_blocks(struct mapping_block *const *blocks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		block_put(blocks[i]);
}

static void pay_for_list(struct mappings *m)
{
	uint64_t bytes = m->capacity * sizeof(struct mapping_block *);

	if (!m->shares)
		return;
	shares_take(m->shares, m->payer, bytes - m->paid);
	m->paid = bytes;
}

static bool reserve(struct mappings *m, size_t blocks)
{
	bool reserved = array_reserve(&m->blocks, &m->capacity, blocks);

	pay_for_list(m);
	return reserved;
}

void mappings_release(struct mappings *m)
{
	put_blocks(m->blocks, m->block_count);
	free(m->blocks);
	if (m->shares)
		shares_give(m->shares, m->payer, m->paid);
	*m = (struct mappings){ 0 };
}

void mappings_charge(struct mappings *m, struct shares *shares, uint32_t payer)
{
	if (m->shares == shares && m->payer == payer)
		return;
	if (m->shares)
		shares_give(m->shares, m->payer, m->paid);
	m->paid = 0;
	m->shares = shares;
	m->payer = payer;
	pay_for_list(m);
}

uint64_t mappings_addition_bytes(const struct mappings *m)
{
	/* The list may be copied, or grow. */
	return BLOCKS_MAX * block_bytes(0) + TOUCHED_MAX * sizeof(struct mapping) +
	       2 * (m->block_count + BLOCKS_MAX) * sizeof(struct mapping_block *);
}

/* -------- questions -------- */

const struct mapping *mappings_next(const struct mappings *m, struct mapping_cursor *cursor)
{
	const struct mapping_block *b;

	if (cursor->block == m->block_count)
		return NULL;
	b = m->blocks[cursor->block];
	if (cursor->at < b->n)
		return &b->list[cursor->at++];
	cursor->block++;
	cursor->at = 0;
	return mappings_next(m, cursor);
}

/* The first mapping that ends above the address; the block after the last one: none does. */
static struct mapping_cursor first_above(const struct mappings *m, uint64_t address)
{
	struct mapping_cursor found = { 0 };
	size_t blocks = m->block_count;

	while (found.block < blocks) {
		size_t middle = found.block + (blocks - found.block) / 2;
		const struct mapping_block *b = m->blocks[middle];

		if (b->list[b->n - 1].end <= address)
			found.block = middle + 1;
		else
			blocks = middle;
	}
	if (found.block < m->block_count)
		found.at = sorted_up_to(m->blocks[found.block]->list, m->blocks[found.block]->n,
					SORTED_BY(struct mapping, end), address);
	return found;
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
	struct mapping_cursor cursor = first_above(m, address);
	const struct mapping *found = mappings_next(m, &cursor);

	return found && found->start <= address ? found : NULL;
}

bool mappings_are_changed_by(const struct mappings *m, const struct mapping *mapping)
{
	const struct mapping *there = mappings_find(m, mapping->start);

	return !there || there->start != mapping->start || there->end != mapping->end ||
	       there->offset != mapping->offset || there->object != mapping->object;
}

bool mappings_have_room_for(const struct mappings *m, const struct mapping *mapping)
{
	struct mapping_cursor cursor = first_above(m, mapping->start);
	const struct mapping *there;

	while ((there = mappings_next(m, &cursor)) && there->start < mapping->end)
		if (there->object != mapping->object)
			return false;
	return true;
}

/* -------- changes -------- */

/* Blocks that an addition replaces, and what will be there instead. */
struct change {
	size_t first, end; /* the blocks */
	struct mapping list[TOUCHED_MAX];
	size_t n;
	size_t before; /* mappings in these blocks */
};

static void put(struct change *c, const struct mapping *m)
{
	if (m->object)
		c->list[c->n++] = *m;
}

/*
 * What is there with the new mapping, `added` once it is: what `there` has before and after it
 * stays.
 */
static void merge(struct change *c, const struct mapping *new, bool *added,
		  const struct mapping *there)
{
	struct mapping piece = *there;

	if (there->start < new->start) {
		piece.end = there->end < new->start ? there->end : new->start;
		put(c, &piece);
	}
	if (there->end <= new->start)
		return;
	if (!*added)
		put(c, new);
	*added = true;
	if (there->end > new->end) {
		piece = *there;
		if (piece.start < new->end) {
			piece.offset += new->end - piece.start;
			piece.start = new->end;
		}
		put(c, &piece);
	}
}

/* The blocks that the mapping touches, or else the one beside it. */
static void find_touched(const struct mappings *m, const struct mapping *mapping, struct change *c)
{
	c->n = c->before = 0;
	c->first = first_above(m, mapping->start).block;
	if (c->first == m->block_count && c->first)
		c->first--;
	c->end = c->first;
	while (c->end < m->block_count &&
	       (c->end == c->first || m->blocks[c->end]->list[0].start < mapping->end))
		c->end++;
}

static void merge_touched(const struct mappings *m, const struct mapping *mapping, struct change *c)
{
	bool added = false;

	for (size_t i = c->first; i < c->end; i++) {
		const struct mapping_block *b = m->blocks[i];

		for (size_t at = 0; at < b->n; at++)
			merge(c, mapping, &added, &b->list[at]);
		c->before += b->n;
	}
	if (!added)
		put(c, mapping);
}

/* Takes in a neighbour, if both have few: before the others, or after them. */
static bool take_neighbour(const struct mapping_block *b, size_t at, struct change *c)
{
	if (c->n + b->n > BLOCK_FEW)
		return false;
	memmove(c->list + at + b->n, c->list + at, (c->n - at) * sizeof(*c->list));
	memcpy(c->list + at, b->list, b->n * sizeof(*c->list));
	c->n += b->n;
	c->before += b->n;
	return true;
}

static void take_neighbours(const struct mappings *m, struct change *c)
{
	while (c->first && take_neighbour(m->blocks[c->first - 1], 0, c))
		c->first--;
	while (c->end < m->block_count && take_neighbour(m->blocks[c->end], c->n, c))
		c->end++;
}

/* Blocks of nearly equal size; how many, or -1 without memory. */
static int make_blocks(const struct mappings *m, const struct change *c,
		       struct mapping_block *made[BLOCKS_MAX])
{
	size_t count = (c->n + BLOCK_MAX - 1) / BLOCK_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t from = c->n * i / count, to = c->n * (i + 1) / count;

		made[i] = block_new(m, c->list + from, to - from);
		if (!made[i]) {
			put_blocks(made, i);
			return -1;
		}
	}
	return (int)count;
}

/* Room for one more. NULL without memory; then the block is as it was. */
static struct mapping_block *block_grow(struct mapping_block *b)
{
	uint32_t capacity = 2 * b->n < BLOCK_MAX ? 2 * b->n : BLOCK_MAX;

	if (b->n < b->capacity)
		return b;
	b = realloc(b, block_bytes(capacity));
	if (b && b->shares)
		shares_take(b->shares, b->payer, block_bytes(capacity) - block_bytes(b->capacity));
	if (b)
		b->capacity = capacity;
	return b;
}

/*
 * Most are the first ones of their place, of a process that has just begun: they go into a block
 * that is there. False: this one does not.
 */
static bool add_to_own(struct mappings *m, const struct mapping *mapping)
{
	struct mapping_cursor cursor = first_above(m, mapping->start);
	struct mapping_block *b;

	if (cursor.block == m->block_count && m->block_count)
		cursor.at = m->blocks[--cursor.block]->n;
	b = m->block_count ? m->blocks[cursor.block] : NULL;
	if (!b || b->users > 1 || b->n == BLOCK_MAX || b->payer != m->payer || !mapping->object ||
	    (cursor.at < b->n && b->list[cursor.at].start < mapping->end))
		return false;
	b = block_grow(b);
	if (!b)
		return false;
	m->blocks[cursor.block] = b;
	memmove(b->list + cursor.at + 1, b->list + cursor.at,
		(b->n - cursor.at) * sizeof(*b->list));
	b->list[cursor.at] = *mapping;
	count_users(mapping, 1, 1);
	b->n++;
	m->n++;
	return true;
}

bool mappings_add(struct mappings *m, const struct mapping *mapping)
{
	struct mapping_block *made[BLOCKS_MAX];
	struct change c; /* large */
	int count;

	if (mapping->start >= mapping->end || add_to_own(m, mapping))
		return true;
	if (!reserve(m, m->block_count + BLOCKS_MAX))
		return false;
	find_touched(m, mapping, &c);
	merge_touched(m, mapping, &c);
	take_neighbours(m, &c);
	count = make_blocks(m, &c, made);
	if (count < 0)
		return false;
	put_blocks(m->blocks + c.first, c.end - c.first);
	memmove(m->blocks + c.first + count, m->blocks + c.end,
		(m->block_count - c.end) * sizeof(*m->blocks));
	memcpy(m->blocks + c.first, made, (size_t)count * sizeof(*made));
	m->block_count = m->block_count - (c.end - c.first) + (size_t)count;
	m->n = m->n - c.before + c.n;
	return true;
}

bool mappings_copy(struct mappings *to, const struct mappings *from)
{
	if (!reserve(to, from->block_count + BLOCKS_MAX))
		return false;
	for (size_t i = 0; i < from->block_count; i++)
		from->blocks[i]->users++;
	put_blocks(to->blocks, to->block_count);
	if (from->block_count)
		memcpy(to->blocks, from->blocks, from->block_count * sizeof(*to->blocks));
	to->block_count = from->block_count;
	to->n = from->n;
	return true;
}
