/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_CODE_HITS_H
#define RECORD_SPACES_CODE_HITS_H

/*
 * Which code of a file samples hit, by blocks of 64 bytes: a bit for each, in runs of 64 KiB. The
 * addresses themselves would become more for as long as a large program is recorded; this ends at
 * 1/400 of its code. Starts as { 0 }.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_hits_run {
	uint64_t number;  /* its first file offset / 64 KiB */
	uint64_t *blocks; /* a bit for each */
};

struct code_hits {
	struct code_hits_run *runs; /* by number; those that were hit */
	size_t n, capacity;
	size_t blocks; /* that were hit, in all runs */
};

void code_hits_release(struct code_hits *hits);

/* A file offset was hit. Left out without memory, and after hits in 256 MiB of code. */
void code_hits_add(struct code_hits *hits, uint64_t offset);

/* Whether there was a hit in a block that holds some of the bytes from `from` up to `to`. */
bool code_hits_any(const struct code_hits *hits, uint64_t from, uint64_t to);

#endif
