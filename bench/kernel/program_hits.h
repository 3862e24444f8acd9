/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PROGRAM_HITS_H
#define BENCH_KERNEL_PROGRAM_HITS_H

/*
 * In which instructions of BPF programs the CPUs were: prof-record samples the machine while they
 * run, and what lies in a BPF program is counted by its address.
 */

#include <stdint.h>

#include "bench/kernel/program_code.h"
#include "common/map.h"

/* Starts as { 0 }. */
struct program_hits {
	struct map self;  /* address of an instruction -> samples in it */
	struct map total; /* ... or in what ran on top of it: functions of the kernel */
	uint64_t samples; /* on all CPUs, anywhere */
};

/*
 * Records runs of the command, at least one, until the seconds are over; or, if that is NULL, what
 * happens within the seconds. Adds to `hits`.
 */
struct error *program_hits_record(struct program_hits *hits, const char *const *command,
				  double seconds) ERROR_CHECKED;

/* Adds the samples of a trace, which is open for reading. */
struct error *program_hits_read(struct program_hits *hits, int fd) ERROR_CHECKED;
void program_hits_release(struct program_hits *hits);

/* The samples in an instruction, whose first byte is at the address. */
struct program_hit {
	uint64_t self, total;
};
struct program_hit program_hits_at(const struct program_hits *hits, uint64_t address,
				   uint32_t size);

/*
 * Prints the instructions of the program that samples lie in with those around them, below their
 * source lines; or why there are none. ERROR_UNAVAILABLE: the kernel does not show its code, or
 * this build has no disassembler.
 */
struct error *program_hits_print(const struct program_hits *hits,
				 const struct program *p) ERROR_CHECKED;

#endif
