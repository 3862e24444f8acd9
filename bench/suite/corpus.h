/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SUITE_CORPUS_H
#define BENCH_SUITE_CORPUS_H

/*
 * Seeded material to measure with: stacks that form a tree as those of programs do, taken
 * with very different frequency, at places in code that is there, so that they can be
 * named. The same seed gives the same shape everywhere; the code it points to is that of
 * the build at hand.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/statistics/random.h"

struct corpus_options {
	uint64_t seed;
	uint32_t samples;
	uint32_t nodes;	 /* of the tree of stacks */
	uint32_t depth;	 /* of the deepest stacks */
	uint32_t places; /* different places in code */
	uint32_t threads;
	const char *object; /* the ELF file whose code is pointed to; NULL: this program's own */
};

/* Samples as columns, and the tree: node i hangs below parents[i] (UINT32_MAX: a root). */
struct corpus {
	struct corpus_options options;
	uint32_t *parents, *place, *level; /* by node */
	uint64_t *offsets;		   /* by place: in the file */
	uint64_t *time_ns;		   /* by sample */
	uint32_t *node, *thread, *cpu;
	char path[4096]; /* of the ELF file */
};

/* 0 or -1: no memory, or this program's own file cannot be read. */
int corpus_init(struct corpus *c, const struct corpus_options *options);
void corpus_release(struct corpus *c);

/*
 * Writes it as a trace with the library's writer; -1 when that fails. In memory (fd -1) the
 * bytes are copied to *bytes, to be freed; else both may be NULL.
 */
struct prf_writer;
int corpus_write(const struct corpus *c, struct prf_writer *w);
int corpus_trace(const struct corpus *c, int level, uint8_t **bytes, size_t *size);

#endif
