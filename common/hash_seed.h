/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_HASH_SEED_H
#define COMMON_HASH_SEED_H

#include <stdint.h>

/*
 * A seed for a hash table whose keys may come from elsewhere: at random, so that nobody can choose
 * keys that collide. Odd, so never 0. For a fuzzer it is always the same: what it has found must
 * happen again.
 */
uint64_t hash_seed(void);

/*
 * From now on each seed is one that is made from `number`, for counts of instructions that repeat.
 * $PROF_HASH_SEED, a number, does that from the beginning, but not in a program that has more
 * privileges than its caller. Before there are other threads.
 */
void hash_seed_fix(uint64_t number);

#endif
