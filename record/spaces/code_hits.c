/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/code_hits.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/sorted.h"

#define BLOCK_BYTES 64
#define RUN_BYTES 65536
#define RUNS_MAX 4096 /* 0.6 MiB for one file */
#define WORDS (RUN_BYTES / BLOCK_BYTES / 64)

void code_hits_release(struct code_hits *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->runs[i].blocks);
	free(h->runs);
	*h = (struct code_hits){ 0 };
}

/* How many runs have a number of at most `number`. */
static size_t count_up_to(const struct code_hits *h, uint64_t number)
{
	return sorted_up_to(h->runs, h->n, SORTED_BY(struct code_hits_run, number), number);
}

/* Puts an empty run at its place among the others. False without memory. */
static bool insert(struct code_hits *h, size_t at, uint64_t number)
{
	uint64_t *blocks;

	if (h->n == RUNS_MAX || !array_reserve(&h->runs, &h->capacity, h->n + 1))
		return false;
	blocks = calloc(WORDS, sizeof(*blocks));
	if (!blocks)
		return false;
	memmove(h->runs + at + 1, h->runs + at, (h->n - at) * sizeof(*h->runs));
	h->runs[at] = (struct code_hits_run){ number, blocks };
	h->n++;
	return true;
}

void code_hits_add(struct code_hits *h, uint64_t offset)
{
	uint64_t number = offset / RUN_BYTES, block = offset % RUN_BYTES / BLOCK_BYTES;
	uint64_t bit = UINT64_C(1) << block % 64, *word;
	size_t at = count_up_to(h, number);

	if (at && h->runs[at - 1].number == number)
		at--;
	else if (!insert(h, at, number))
		return;
	word = &h->runs[at].blocks[block / 64];
	h->blocks += !(*word & bit);
	*word |= bit;
}

/* The same of one run, with its own offsets; `to` may be above its end. */
static bool run_any(const struct code_hits_run *run, uint64_t from, uint64_t to)
{
	uint64_t last = ((to < RUN_BYTES ? to : RUN_BYTES) - 1) / BLOCK_BYTES;

	for (uint64_t block = from / BLOCK_BYTES; block <= last; block++)
		if (run->blocks[block / 64] >> block % 64 & 1)
			return true;
	return false;
}

bool code_hits_any(const struct code_hits *h, uint64_t from, uint64_t to)
{
	uint64_t first = from / RUN_BYTES;
	size_t i = first ? count_up_to(h, first - 1) : 0;

	for (; i < h->n && h->runs[i].number * RUN_BYTES < to; i++) {
		uint64_t start = h->runs[i].number * RUN_BYTES;

		if (from < to && run_any(&h->runs[i], from > start ? from - start : 0, to - start))
			return true;
	}
	return false;
}
