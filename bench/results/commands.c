/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/commands.h"

const struct command commands[] = {
	{ "all", "", "measure everything, in less than ten minutes", "", all_command },
	{ "run", "[NAME... | -- COMMAND]", "time benchmarks, and compare with the run before",
	  "list filter name time warm-up measurements resamples baseline cpu-time", run_command },
	{ "instr", "[NAME... | -- COMMAND]", "count instructions and cache accesses (valgrind)",
	  "list filter name iterations", instr_command },
	{ "heap", "[NAME... | -- COMMAND]", "count allocations (own counter; valgrind)",
	  "list filter name iterations dhat", heap_command },
	{ "once", "NAME", "run one benchmark a few times, for tools that observe a process",
	  "iterations", once_command },
	{ "kernel", "", "what a sample costs in the kernel", "time phases", kernel_command },
	{ "ring", "", "records a second through a BPF ring buffer", "time", ring_command },
	{ "bpf", "[-- COMMAND]", "what any BPF program costs",
	  "id name pin object interface cgroup hits test-run repeat data context time resamples",
	  bpf_command },
	RESULTS_COMMANDS,
	{ "peers", "", "compare prof with perf on this machine", "time measurements",
	  peers_command },
	{ "libraries", "", "compare our ELF and DWARF readers with libelf and libdw", "",
	  libraries_command },
	{ "mock", "", "make up results, to try out a pipeline", "count power spread",
	  mock_command },
};

const size_t commands_count = sizeof(commands) / sizeof(*commands);
