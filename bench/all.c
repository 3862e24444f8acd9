/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All measurements, in less than ten minutes: what "make bench" runs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

#define ARGUMENTS_MAX 12

struct step {
	const char *title;
	const char *arguments[ARGUMENTS_MAX]; /* "@" stands for the folder of this program */
	const char *tool; /* without this program it may be incomplete; NULL: never */
};

static const struct step steps[] = {
	{ "Kernel path: ns per sample", { "kernel", "--time", "10" } },
	{ "Kernel path: the phases of a sample", { "kernel", "--phases" } },
	{ "Kernel path: the ring buffer", { "ring", "--time", "1" } },
	{ "Kernel path: the XDP example",
	  { "bpf", "--test-run", "--object", "@/bench/suite/xdp_example.bpf.o" } },
	{ "Recorder, trace file and report path: time",
	  { "run", "--time", "1", "--warm-up", "0.2", "--measurements", "30" } },
	{ "Recorder, trace file and report path: allocations",
	  { "heap", "--iterations", "1", "--filter", "^(drain|format|xdp)|whole-1e4" } },
	{ "Recorder, trace file and report path: instructions",
	  { "instr", "--iterations", "1", "--filter", "^(drain|format|xdp|common)|whole-1e4" },
	  "valgrind" },
	{ "Peers", { "peers", "--time", "2", "--measurements", "5" } },
};

#define STEPS (sizeof(steps) / sizeof(*steps))

/* The outcome of a step. */
struct outcome {
	double ns; /* that it took */
	bool complete;
};

/* Runs one step as a process of its own and adds its results. */
static struct outcome run_step(const struct step *step, const char *self, const struct settings *s,
			       struct results *results)
{
	char bmf[] = "/tmp/prof-bench.XXXXXX", object[PATH_MAX], seed[32];
	const char *arguments[ARGUMENTS_MAX + 8] = { self };
	struct outcome outcome = { 0 };
	struct child_cost cost;
	int fd = mkstemp(bmf);
	size_t n = 1;

	if (fd < 0) {
		message_error("%s: %s", bmf, strerror(errno));
		return outcome;
	}
	close(fd);
	unlink(bmf);
	for (size_t i = 0; i < ARGUMENTS_MAX && step->arguments[i]; i++) {
		arguments[n] = step->arguments[i];
		if (*arguments[n] == '@') {
			snprintf(object, sizeof(object), "%.*s%s", (int)(strrchr(self, '/') - self),
				 self, arguments[n] + 1);
			arguments[n] = object;
		}
		n++;
	}
	snprintf(seed, sizeof(seed), "--seed=%llu", (unsigned long long)s->seed);
	arguments[n++] = seed;
	arguments[n++] = "--bmf";
	arguments[n++] = bmf;
	if (s->quiet)
		arguments[n++] = "-q";
	arguments[n] = NULL;
	if (child_run(&(struct child_options){ .arguments = arguments, .inherit = true }, &cost))
		message_error("%s: %s", self, strerror(errno));
	else
		outcome = (struct outcome){ cost.elapsed_ns, !cost.status };
	/* Results are kept even if a part of the step failed. */
	if (!access(bmf, R_OK) &&
	    output_error(error_prefix(results_read_bmf(results, bmf), "%s", step->arguments[0])))
		outcome.complete = false;
	unlink(bmf);
	return outcome;
}

static void print_times(const struct outcome *outcomes)
{
	double sum = 0;

	output_line("%s", "");
	output_line("== What each part took");
	for (size_t i = 0; i < STEPS; i++) {
		output_line("%-55s %6.1f s%s", steps[i].title, outcomes[i].ns / 1e9,
			    outcomes[i].complete ? "" : "  incomplete");
		sum += outcomes[i].ns;
	}
	output_line("%-55s %6.1f s", "all", sum / 1e9);
}

enum verdict all_command(const struct settings *s)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_FINE;
	struct outcome outcomes[STEPS];
	char self[PATH_MAX];

	if (!child_self(self, sizeof(self)) || s->rest_count) {
		message_error("usage: prof-bench all [--bmf FILE]");
		return VERDICT_ERROR;
	}
	for (size_t i = 0; i < STEPS; i++) {
		if (i)
			output_line("%s", "");
		output_line("== %s", steps[i].title);
		outcomes[i] = run_step(&steps[i], self, s, &results);
		if (outcomes[i].complete)
			continue;
		message_warning("%s: incomplete", steps[i].title);
		if (!steps[i].tool || child_exists(steps[i].tool))
			verdict = VERDICT_ERROR;
	}
	print_times(outcomes);
	if (results.count && output_bmf(&results))
		verdict = VERDICT_ERROR;
	results_release(&results);
	return verdict;
}
