/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_HASH_SEED_H
#define COMMON_HASH_SEED_H

#include <stdint.h>

/*
 * A seed for a hash table whose keys may come from elsewhere: at random, so that nobody can choose
 * keys that collide. It is the number in $PROF_HASH_SEED instead, if that is set, for counts of
 * instructions that repeat, and always the same for a fuzzer, whose finds must happen again. Never
 * 0.
 */
uint64_t hash_seed(void);

#endif
