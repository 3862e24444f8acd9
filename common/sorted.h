/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_SORTED_H
#define COMMON_SORTED_H

/* Searches in sorted arrays, of numbers or of structs with a number that they are sorted by. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Which number of an element it is sorted by: SORTED_BY(struct mapping, end). Unsigned. */
struct sorted_key {
	size_t size;   /* of an element */
	size_t offset; /* of the number in it */
	size_t width;  /* of the number: 4 or 8 bytes */
};

/* Its size. Does not compile for a number of another size. */
#define SORTED_WIDTH(number)                                                                       \
	(sizeof(char[sizeof(number) == 4 || sizeof(number) == 8 ? 1 : -1]) * sizeof(number))

#define SORTED_BY(type, member)                                                                    \
	((struct sorted_key){ sizeof(type), offsetof(type, member),                                \
			      SORTED_WIDTH(((type *)0)->member) })

/* Of numbers alone: SORTED_NUMBERS(uint64_t). */
#define SORTED_NUMBERS(type) ((struct sorted_key){ sizeof(type), 0, SORTED_WIDTH(type) })

static inline uint64_t sorted_number(const void *at, size_t width)
{
	uint32_t narrow;
	uint64_t wide;

	if (width == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

/* How many of `n` sorted elements have a number of at most `value`. */
static inline size_t sorted_up_to(const void *elements, size_t n, struct sorted_key by,
				  uint64_t value)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		const char *element = (const char *)elements + middle * by.size;

		if (sorted_number(element + by.offset, by.width) <= value)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* The index of the first of `n` sorted numbers that is not below `value`; `n` when all are. */
static inline size_t sorted_first(const uint64_t *sorted, size_t n, uint64_t value)
{
	return value ? sorted_up_to(sorted, n, SORTED_NUMBERS(uint64_t), value - 1) : 0;
}

/* For functions that qsort() calls: by the first number of `a` and `b`, or else by the second. */
static inline int sorted_by_two(const uint64_t a[2], const uint64_t b[2])
{
	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return (a[1] > b[1]) - (a[1] < b[1]);
}

#define SORTED_BY_TWO(a, b, first, second)                                                         \
	sorted_by_two((const uint64_t[]){ (a)->first, (a)->second },                               \
		      (const uint64_t[]){ (b)->first, (b)->second })

/* For qsort(), of uint64_t. */
static inline int sorted_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

#endif
