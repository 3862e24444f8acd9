/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULTS_SETTINGS_H
#define BENCH_RESULTS_SETTINGS_H

/*
 * The command line of prof-bench, and what a command of it is. One table of options serves
 * all commands; each command names those it takes, and others are refused.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/results/verdict.h"
#include "common/options.h"

struct benchmark_table;

struct settings {
	uint64_t given; /* a bit for each option, by its place in the table */
	bool verbose, quiet;

	const char *bmf;
	uint64_t seed;

	const char *filter;
	double seconds;
	double warm_up_seconds;
	uint64_t measurements;
	bool measurements_given;
	uint64_t resamples;
	const char *baseline;
	bool list;
	uint64_t iterations;
	bool phases;
	const char *dhat;

	uint32_t program_id;
	const char *program_name;
	const char *pin;
	const char *interface, *cgroup;
	const char *object;
	bool test_run;
	bool hits;
	uint64_t repeat;
	const char *data;
	const char *context;

	const char *thresholds;
	const char *history;
	const char *branch, *hash, *testbed;
	bool branch_given;
	const char *start_point, *start_point_hash;
	bool dry_run;
	bool allow_missing;
	bool accept;
	const char *svg;
	bool changes;

	const char *benchmark;
	uint64_t pairs, max_pairs;
	double noise;
	bool cpu_time;
	bool explain;

	uint64_t count;
	double power;
	double spread;

	const struct benchmark_table *const *benchmarks;
	const char *const *rest; /* arguments that are no options */
	size_t rest_count;
	char **command; /* what follows "--", or NULL */
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line */
	const char *summary;
	const char *options; /* long names it takes, separated by blanks */
	enum verdict (*run)(const struct settings *s);
};

/* What a program offers: its commands, and the tables of its benchmarks, the last one NULL. */
struct command_table {
	const struct command *commands;
	size_t count;
	const struct benchmark_table *const *benchmarks;
};

/* Parses and runs one command; returns the exit status. */
int settings_main(const struct command_table *table, int argc, char **argv);

#endif
