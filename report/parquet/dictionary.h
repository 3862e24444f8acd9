/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PARQUET_DICTIONARY_H
#define REPORT_PARQUET_DICTIONARY_H

/*
 * Numbers, each kept once and counted from 0 in the order in which they came: the dictionary of a
 * column in one row group. A map of common/map.h, whose keys are copies of any size, would hash and
 * compare them for each frame. Seeded, for the numbers come from traces. Starts as { 0 }.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pair_hash.h"

struct dictionary {
	uint64_t *keys; /* in the order in which they came */
	size_t count, key_capacity;
	uint32_t *slots;   /* index of a key + 1; 0: free */
	uint32_t last;	   /* index of the key that came last: it mostly comes again */
	size_t slot_count; /* a power of two, or 0 */
	uint64_t seed;
};

#define DICTIONARY_FULL UINT32_MAX

void dictionary_release(struct dictionary *d);

/* Forgets the keys, keeps the memory. */
void dictionary_clear(struct dictionary *d);

/* Makes room for one more key; false without memory. */
bool dictionary_grow(struct dictionary *d);

static inline size_t dictionary_slot(const struct dictionary *d, uint64_t key)
{
	size_t at = pair_hash_mix(key, d->seed) & (d->slot_count - 1);

	while (d->slots[at] && d->keys[d->slots[at] - 1] != key)
		at = (at + 1) & (d->slot_count - 1);
	return at;
}

/* The index of a key, which is added if it is new; DICTIONARY_FULL without memory. */
static inline uint32_t dictionary_index(struct dictionary *d, uint64_t key)
{
	size_t at;

	if (d->last < d->count && d->keys[d->last] == key)
		return d->last;
	if (2 * (d->count + 1) > d->slot_count && !dictionary_grow(d))
		return DICTIONARY_FULL;
	at = dictionary_slot(d, key);
	if (!d->slots[at]) {
		d->keys[d->count++] = key;
		d->slots[at] = (uint32_t)d->count;
	}
	d->last = d->slots[at] - 1;
	return d->last;
}

#endif
