/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/recent.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/fuzzing.h"
#include "common/hash_seed.h"
#include "common/pair_hash.h"

/* A fuzzer's inputs are small: a larger table would take longer to make than to fill. */
#define FIRST_CAPACITY (FUZZING ? 16 : 1024)
/* A table that is larger than so small a part of the largest one is that... */
#define SMALL_PART 32
/* ... and one whose largest size is no more than this has it at once: its pages are used later. */
#define SMALL_BYTES (FUZZING ? 0 : 1u << 20)

/* The last word of an entry: its number + 1, and above it the age in which it was asked for last.
 */
#define NUMBER_BITS 27
#define NUMBERS (UINT32_C(1) << NUMBER_BITS)
#define AGES 32
_Static_assert(RECENT_NUMBERS_MAX < NUMBERS, "a number + 1 fits");

void recent_init(struct recent *r, uint32_t words, size_t max)
{
	*r = (struct recent){ .words = words, .max = max ? max : 1 };
	r->seed = hash_seed();
}

void recent_release(struct recent *r)
{
	free(r->entries);
	*r = (struct recent){ .words = r->words, .max = r->max, .seed = r->seed };
}

/*
 * The functions below are compiled for each length of a key, which is a constant then: they are
 * called for each frame of a new stack.
 */
#define FOR_EACH_LENGTH static inline __attribute__((always_inline))

FOR_EACH_LENGTH uint64_t pair_of(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

/* Where the search for a key begins. */
FOR_EACH_LENGTH size_t home(const struct recent *r, const uint32_t *key, uint32_t words)
{
	uint64_t rest = words == 4 ? pair_of(key + 2) : words == 3 ? key[2] : 0;

	return (size_t)((unsigned __int128)pair_hash(r->seed, pair_of(key), rest) * r->capacity >>
			64);
}

FOR_EACH_LENGTH bool is_same(const uint32_t *a, const uint32_t *b, uint32_t words)
{
	return pair_of(a) == pair_of(b) && (words < 3 || a[2] == b[2]) &&
	       (words < 4 || a[3] == b[3]);
}

/* The entry of the key, or the empty one where it belongs. */
FOR_EACH_LENGTH uint32_t *find(const struct recent *r, const uint32_t *key, uint32_t words)
{
	uint32_t *e = r->entries + home(r, key, words) * (words + 1);
	const uint32_t *end = r->entries + r->capacity * (words + 1);

	while (e[words] && !is_same(e, key, words)) {
		e += words + 1;
		if (e == end)
			e = r->entries;
	}
	return e;
}

FOR_EACH_LENGTH void copy(uint32_t *to, const uint32_t *from, uint32_t words)
{
	memcpy(to, from, (words + 1) * sizeof(*to));
}

/* Three quarters full it has room for `max`. */
static size_t largest(const struct recent *r)
{
	return r->max + r->max / 3 + 1;
}

FOR_EACH_LENGTH bool grow(struct recent *r, uint32_t words)
{
	struct recent larger = *r;

	larger.capacity = r->capacity ? r->capacity * 4 : FIRST_CAPACITY;
	if (larger.capacity > largest(r) / SMALL_PART ||
	    largest(r) * (words + 1) * sizeof(*r->entries) <= SMALL_BYTES)
		larger.capacity = largest(r);
	larger.room = larger.capacity == largest(r) ? r->max : larger.capacity / 4 * 3;
	larger.entries = calloc(larger.capacity, (words + 1) * sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < r->capacity; i++) {
		const uint32_t *e = r->entries + i * (words + 1);

		if (e[words])
			copy(find(&larger, e, words), e, words);
	}
	free(r->entries);
	*r = larger;
	return true;
}

/*
 * Forgets the keys of the oldest age. The search for a key ends at an empty entry, so that what
 * follows a forgotten one, up to the next empty one, is put in anew. That begins after an empty
 * entry, since no search comes from before it.
 */
FOR_EACH_LENGTH void forget_oldest(struct recent *r, uint32_t words)
{
	bool moves = false;
	size_t i = 0;

	while (r->entries[i * (words + 1) + words])
		i++;
	for (size_t n = r->capacity; n; n--, i = i + 1 < r->capacity ? i + 1 : 0) {
		uint32_t *e = r->entries + i * (words + 1), entry[RECENT_WORDS_MAX + 1];

		if (!e[words]) {
			moves = false;
		} else if (e[words] / NUMBERS == r->oldest) {
			e[words] = 0;
			r->count--;
			moves = true;
		} else if (moves) {
			copy(entry, e, words);
			e[words] = 0;
			copy(find(r, entry, words), entry, words);
		}
	}
	r->oldest++;
}

FOR_EACH_LENGTH bool make_room(struct recent *r, uint32_t words)
{
	if (r->count < r->max)
		return grow(r, words);
	/* The newest age has less than all, so there is an older one. */
	while (r->count >= r->max)
		forget_oldest(r, words);
	return true;
}

/* How many keys an age has at most. */
static size_t age_max(const struct recent *r)
{
	return r->max / 8 + 1;
}

/*
 * There is no number left for a new age: neighbours that have not more than one may have become
 * one. Two neighbours have more then, so there are at most 17.
 */
FOR_EACH_LENGTH void renumber_ages(struct recent *r, uint32_t words)
{
	size_t counts[AGES] = { 0 }, sum = 0;
	uint32_t to[AGES] = { 0 }, age = 0;

	for (size_t i = 0; i < r->capacity; i++)
		if (r->entries[i * (words + 1) + words])
			counts[r->entries[i * (words + 1) + words] / NUMBERS]++;
	for (uint32_t i = r->oldest; i <= r->newest; i++) {
		sum += counts[i];
		if (sum > age_max(r)) {
			age++;
			sum = counts[i];
		}
		to[i] = age;
	}
	for (size_t i = 0; i < r->capacity; i++) {
		uint32_t *last = r->entries + i * (words + 1) + words;

		if (*last)
			*last = to[*last / NUMBERS] * NUMBERS + *last % NUMBERS;
	}
	r->newest = age;
	r->oldest = 0;
}

/* After an eighth of the room was asked for, a new age begins. */
FOR_EACH_LENGTH void note_asked(struct recent *r, uint32_t words)
{
	if (++r->asked < age_max(r))
		return;
	if (r->newest == AGES - 1)
		renumber_ages(r, words);
	r->newest++;
	r->asked = 0;
	r->turns++;
}

FOR_EACH_LENGTH uint32_t put(struct recent *r, const uint32_t *key, uint32_t words, uint32_t next)
{
	uint32_t *e = r->capacity ? find(r, key, words) : NULL;

	if (e && e[words] / NUMBERS == r->newest && e[words])
		return e[words] % NUMBERS - 1;
	if (e && e[words]) {
		next = e[words] % NUMBERS - 1;
	} else if (next == RECENT_NONE) {
		return RECENT_NONE;
	} else {
		if (r->count >= r->room) {
			if (!make_room(r, words))
				return RECENT_NONE;
			e = find(r, key, words);
		}
		memcpy(e, key, words * sizeof(*e));
		r->count++;
	}
	e[words] = r->newest * NUMBERS + next + 1;
	note_asked(r, words);
	return next;
}

uint32_t recent_put(struct recent *r, const uint32_t *key, uint32_t next)
{
	return r->words == 2   ? put(r, key, 2, next)
	       : r->words == 3 ? put(r, key, 3, next)
			       : put(r, key, 4, next);
}
