/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULTS_COMMANDS_H
#define BENCH_RESULTS_COMMANDS_H

/* The commands of prof-bench; each lives in the file of its noun. */

#include "bench/results/settings.h"

/* Rows of a table of commands: those on results that are there, and on other programs. */
#define RESULTS_COMMANDS                                                                           \
	{ "gate", "RESULTS.json...", "judge results by thresholds and history",                    \
	  "thresholds history branch hash testbed start-point start-point-hash dry-run "           \
	  "allow-missing-baseline accept",                                                         \
	  gate_command },                                                                          \
		{ "history", "", "list the history, or draw it",                                   \
		  "history branch testbed svg changes filter", history_command },                  \
	{                                                                                          \
		"ab", "OLD NEW [-- ARG...]", "compare two programs by interleaved pairs of runs",  \
			"benchmark pairs max-pairs noise cpu-time explain resamples", ab_command   \
	}

extern const struct command commands[];
extern const size_t commands_count;

enum verdict run_command(const struct settings *s);
enum verdict gate_command(const struct settings *s);
enum verdict history_command(const struct settings *s);
enum verdict ab_command(const struct settings *s);
enum verdict bpf_command(const struct settings *s);
enum verdict once_command(const struct settings *s);
enum verdict instr_command(const struct settings *s);
enum verdict heap_command(const struct settings *s);
enum verdict kernel_command(const struct settings *s);
enum verdict phases_command(const struct settings *s); /* kernel --phases */
enum verdict peers_command(const struct settings *s);
enum verdict all_command(const struct settings *s);
enum verdict ring_command(const struct settings *s);
enum verdict libraries_command(const struct settings *s);
enum verdict mock_command(const struct settings *s);

#endif
