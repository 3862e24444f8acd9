/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_seed.h"

struct map_entry {
	void *key; /* NULL: empty */
	size_t size;
	uint64_t hash;
	uint64_t value;
};

static uint64_t seed; /* of all maps; 0: not made yet */

static void make_seed(void)
{
	uint64_t empty = 0;

	__atomic_compare_exchange_n(&seed, &empty, hash_seed(), false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/*
 * Numbers of processes and threads are looked up several times for each sample: hashing them is
 * two multiplications here, by the seed and by an odd constant, which is a third of what xxh3
 * takes.
 */
static uint64_t hash_of_number(uint32_t number, uint64_t by)
{
	uint64_t hash = (number + (by >> 32)) * by;

	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const void *key, size_t size)
{
	uint64_t by = __atomic_load_n(&seed, __ATOMIC_RELAXED);
	uint32_t number;

	if (!by) {
		make_seed();
		by = __atomic_load_n(&seed, __ATOMIC_RELAXED);
	}
	if (size != sizeof(number))
		return XXH3_64bits_withSeed(key, size, by);
	memcpy(&number, key, sizeof(number));
	return hash_of_number(number, by);
}

/* The compiler makes one comparison of the first memcmp(), and a call of the other. */
static inline bool is_same(const void *a, const void *b, size_t size)
{
	return size == sizeof(uint32_t) ? !memcmp(a, b, sizeof(uint32_t)) : !memcmp(a, b, size);
}

void map_release(struct map *m)
{
	for (size_t i = 0; i < m->capacity; i++)
		free(m->entries[i].key);
	free(m->entries);
	*m = (struct map){ 0 };
}

/* The entry that holds the key, or the empty one where it belongs. */
static struct map_entry *find(const struct map *m, const void *key, size_t size, uint64_t hash)
{
	size_t mask = m->capacity - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct map_entry *e = &m->entries[i];

		if (!e->key || (e->hash == hash && e->size == size && is_same(e->key, key, size)))
			return e;
	}
}

uint64_t *map_get(const struct map *m, const void *key, size_t size)
{
	struct map_entry *e;

	if (!m->count)
		return NULL;
	e = find(m, key, size, hash_of(key, size));
	return e->key ? &e->value : NULL;
}

static bool grow(struct map *m)
{
	struct map bigger = { .capacity = m->capacity ? m->capacity * 2 : 16, .count = m->count };

	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return false;
	for (size_t i = 0; i < m->capacity; i++) {
		struct map_entry *e = &m->entries[i];

		if (e->key)
			*find(&bigger, e->key, e->size, e->hash) = *e;
	}
	free(m->entries);
	*m = bigger;
	return true;
}

uint64_t *map_put(struct map *m, const void *key, size_t size, bool *added)
{
	uint64_t hash = hash_of(key, size);
	struct map_entry *e;

	/* find() ends at an empty entry: there must always be one. */
	if (m->count >= m->capacity / 4 * 3 && !grow(m))
		return NULL;
	e = find(m, key, size, hash);
	if (added)
		*added = !e->key;
	if (!e->key) {
		void *copy = malloc(size ? size : 1);

		if (!copy)
			return NULL;
		memcpy(copy, key, size);
		*e = (struct map_entry){ .key = copy, .size = size, .hash = hash };
		m->count++;
	}
	return &e->value;
}

uint32_t map_number(struct map *m, const void *key, size_t size, uint32_t next, bool *added)
{
	uint64_t *value = map_put(m, key, size, added);

	if (!value)
		return UINT32_MAX;
	if (*added)
		*value = next;
	return (uint32_t)*value;
}

bool map_remove(struct map *m, const void *key, size_t size)
{
	size_t mask = m->capacity - 1;
	struct map_entry *e;
	size_t hole;

	if (!m->count)
		return false;
	e = find(m, key, size, hash_of(key, size));
	if (!e->key)
		return false;
	free(e->key);
	hole = (size_t)(e - m->entries);
	m->count--;
	/*
	 * Close the gap, so that no later entry of the same run is cut off: an entry moves into the
	 * hole unless its home lies between the hole and itself.
	 */
	for (size_t i = (hole + 1) & mask; m->entries[i].key; i = (i + 1) & mask) {
		size_t home = m->entries[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->entries[hole] = m->entries[i];
			hole = i;
		}
	}
	m->entries[hole] = (struct map_entry){ 0 };
	return true;
}

bool map_remove_value(struct map *m, const void *key, size_t size, void (*release)(void *value))
{
	const uint64_t *value = map_get(m, key, size);

	if (value && *value)
		release((void *)(uintptr_t)*value);
	return map_remove(m, key, size);
}

void map_each(const struct map *m,
	      void (*visit)(const void *key, size_t size, uint64_t value, void *context),
	      void *context)
{
	for (size_t i = 0; i < m->capacity; i++)
		if (m->entries[i].key)
			visit(m->entries[i].key, m->entries[i].size, m->entries[i].value, context);
}

void map_release_values(struct map *m, void (*release)(void *value))
{
	for (size_t i = 0; i < m->capacity; i++)
		if (m->entries[i].key && m->entries[i].value)
			release((void *)(uintptr_t)m->entries[i].value);
	map_release(m);
}
