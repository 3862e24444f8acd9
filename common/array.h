/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

/*
 * Arrays that grow at the end. Their owner keeps the pointer, a count and a capacity, which start
 * as NULL, 0 and 0, and gives the memory back with free().
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * Room for `wanted` elements in all in *array, with *capacity at least doubled when it grows. What
 * is new is not cleared. False without memory: array and capacity are then as they were.
 */
#define array_reserve(array, capacity, wanted)                                                     \
	((wanted) <= *(capacity) || array_grow((array), (capacity), (wanted), sizeof(**(array))))

/* The growth itself, of *(T **)array with elements of `size` bytes; for array_reserve(). */
bool array_grow(void *array, size_t *capacity, size_t wanted, size_t size);

#endif
