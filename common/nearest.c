/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/nearest.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 63

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1];
	size_t m = strlen(a), n = strlen(b);
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	if (m > LONGEST || n > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t *spare;

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[n];
}

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
	size_t limit = strlen(word) / 3 + 1, best = SIZE_MAX;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t distance = nearest_distance(word, words[i]);

		if (distance <= limit && distance < best) {
			best = distance;
			found = words[i];
		}
	}
	return found;
}
