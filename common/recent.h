/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_RECENT_H
#define COMMON_RECENT_H

/*
 * The numbers of the keys that were asked for last, in bounded memory for however long this goes
 * on. There are at most `max`, and when there is no room for one more, those are forgotten that
 * were not asked for for the longest time, about an eighth of all.
 *
 * A key is a few words of 32 bits, and with its number it is an entry of a hash table that is up to
 * three quarters full. The table grows as it fills up to a thirty-second of its largest size, and
 * then to that at once, as one that is never large does from the beginning: in a long recording it
 * is soon as large as it will ever be. Seeded, for the keys may come from elsewhere. Starts with
 * recent_init().
 */

#include <stddef.h>
#include <stdint.h>

#define RECENT_WORDS_MAX 4
#define RECENT_NUMBERS_MAX (UINT32_C(1) << 26) /* the numbers are below it */
#define RECENT_NONE UINT32_MAX

struct recent {
	uint32_t words; /* of a key: 2 to RECENT_WORDS_MAX */
	uint64_t seed;
	size_t max;
	uint32_t newest, oldest; /* ages of the keys; at each turn a new one begins */
	uint32_t turns;
	size_t asked; /* so many keys are of the newest age */
	size_t count, room;
	size_t capacity;   /* of entries; 0: none yet */
	uint32_t *entries; /* each one a key, then its number and age */
};

void recent_init(struct recent *r, uint32_t words, size_t max);
void recent_release(struct recent *r);

/*
 * The number of the key, which is `next` if it is not known; RECENT_NONE without memory. If `next`
 * is RECENT_NONE a key that is not known stays so, and nothing is forgotten for it.
 */
uint32_t recent_put(struct recent *r, const uint32_t *key, uint32_t next);

#endif
