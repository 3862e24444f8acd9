/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

/*
 * How many letters must be changed, added, removed or swapped with their neighbour to make
 * `b` of `a`. Text above 63 bytes counts as SIZE_MAX away.
 */
size_t nearest_distance(const char *a, const char *b);

/* The one of `n` words that a mistyped `word` most likely meant, or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t n);

#endif
