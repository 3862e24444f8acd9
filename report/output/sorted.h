/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_SORTED_H
#define REPORT_OUTPUT_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of `n` sorted numbers that is not below `value`; `n` when all are. */
static inline size_t sorted_first(const uint64_t *sorted, size_t n, uint64_t value)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (sorted[middle] < value)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

#endif
