/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/parquet/dictionary.h"

#include "common/array.h"
#include "common/hash_seed.h"

#include <stdlib.h>
#include <string.h>

void dictionary_release(struct dictionary *d)
{
	free(d->keys);
	free(d->slots);
	*d = (struct dictionary){ 0 };
}

void dictionary_clear(struct dictionary *d)
{
	d->count = 0;
	if (d->slots)
		memset(d->slots, 0, d->slot_count * sizeof(*d->slots));
}

bool dictionary_grow(struct dictionary *d)
{
	size_t slot_count = d->slot_count ? 2 * d->slot_count : 64;
	uint32_t *slots;

	if (!array_reserve(&d->keys, &d->key_capacity, slot_count / 2))
		return false;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return false;
	if (!d->slots)
		d->seed = hash_seed();
	free(d->slots);
	d->slots = slots;
	d->slot_count = slot_count;
	for (size_t i = 0; i < d->count; i++)
		slots[dictionary_slot(d, d->keys[i])] = (uint32_t)i + 1;
	return true;
}
