/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PROGRAM_H
#define BENCH_KERNEL_PROGRAM_H

/*
 * A BPF program in the kernel: loaded by somebody, or by us (see object_file.h); and what the
 * kernel counts about it while statistics are on. They are switched on by a descriptor
 * (BPF_ENABLE_STATS, Linux 5.8), so they end with us, and only differences are looked at.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure/benchmark.h"

struct program_choice {
	uint32_t id;	 /* or */
	const char *pin; /* or */
	const char *name;
};

struct program;
struct bpf_program;

struct error *program_open(struct program **program,
			   const struct program_choice *choice) ERROR_CHECKED;
/* Takes a descriptor that stays the caller's. */
struct error *program_from_fd(struct program **program, int fd) ERROR_CHECKED;
/* Takes one of a loaded object file, which stays the caller's. */
struct error *program_from_object(struct program **program, struct bpf_program *from) ERROR_CHECKED;
void program_free(struct program *p);

/* What libbpf has of a program from an object file; NULL for one that others loaded. */
struct bpf_program *program_of(const struct program *p);

int program_fd(const struct program *p);
const char *program_name(const struct program *p);
uint32_t program_id(const struct program *p);
uint32_t program_type(const struct program *p); /* enum bpf_prog_type */
const char *program_type_name(const struct program *p);

/* Sizes as the kernel reports them; 0 of `verified` and `jited`: it does not. */
struct program_sizes {
	uint32_t verified;  /* instructions the verifier looked at */
	uint32_t xlated;    /* bytes */
	uint32_t jited;	    /* bytes */
	uint64_t map_bytes; /* of all its maps */
};
struct error *program_sizes(const struct program *p, struct program_sizes *sizes) ERROR_CHECKED;

/* Counters since the program was loaded; only differences mean something. */
struct program_counters {
	uint64_t runs;
	uint64_t run_ns;
	uint64_t recursion_misses;
	uint64_t time_ns; /* CLOCK_MONOTONIC when they were read */
};
struct error *program_counters(const struct program *p, struct program_counters *c) ERROR_CHECKED;

/* Switches statistics on until *fd is closed; *fd is -1 on failure. */
struct error *program_enable_statistics(int *fd) ERROR_CHECKED;

struct program_input {
	const void *data;
	size_t data_size;
	const void *context;
	size_t context_size;
};
struct program_output {
	uint32_t result; /* what the last run returned */
	double run_ns;	 /* per run, as the test run reports it, in whole ns; NaN: it does not */
};
/* Runs it `times` times (at most INT32_MAX) on this CPU. */
struct error *program_run(const struct program *p, const struct program_input *input,
			  uint64_t times, struct program_output *output) ERROR_CHECKED;

#endif
