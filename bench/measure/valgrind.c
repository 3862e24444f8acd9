/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/valgrind.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/results/verdict.h"

#define OUTPUT_MAX (64 << 20)

/* The whole of a file as text, to be freed. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t length = f ? getdelim(&text, &size, 0, f) : -1;

	if (f)
		fclose(f);
	if (length >= 0 && length <= OUTPUT_MAX)
		return text;
	free(text);
	return NULL;
}

/* Why the tool failed, from what it said. Old valgrinds cannot read newer debug information. */
static enum benchmark_status explain(const char *path, int exit_status,
				     struct benchmark_problem *problem)
{
	char *text = read_text(path);
	bool debug_info = text && strstr(text, "debuginfo reader");

	free(text);
	if (exit_status == VERDICT_INCONCLUSIVE)
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "what it needs is not there under valgrind");
	if (debug_info)
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "valgrind cannot read the debug information of this "
					 "build; build with -gdwarf-4");
	return benchmark_problem(problem, BENCHMARK_FAILED,
				 "under valgrind it ended with status %d", exit_status);
}

struct tool {
	const char *name;
	const char *options[4]; /* further ones, up to the first NULL */
	const char *output;	/* "--callgrind-out-file=" */
};

/* Runs the benchmark under the tool; *text is what the tool wrote, to be freed. */
static enum benchmark_status run_tool(const struct tool *tool, const char *benchmark,
				      uint64_t iterations, uint64_t seed, char **text,
				      struct benchmark_problem *problem)
{
	char folder[] = "/tmp/prof-bench.XXXXXX";
	char self[PATH_MAX], name[64], output[128], file[64], said[64], times[48], from[48];
	char *const environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", NULL };
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	enum benchmark_status status = BENCHMARK_OK;
	struct child_cost cost;
	const char *arguments[16];
	size_t n = 0;

	if (!child_exists("valgrind"))
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "valgrind is not installed");
	if (length < 0 || !mkdtemp(folder))
		return benchmark_problem(problem, BENCHMARK_FAILED, "%s", strerror(errno));
	self[length] = 0;
	snprintf(name, sizeof(name), "--tool=%s", tool->name);
	snprintf(file, sizeof(file), "%s/out", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	snprintf(output, sizeof(output), "%s%s", tool->output, file);
	snprintf(times, sizeof(times), "--iterations=%" PRIu64, iterations);
	snprintf(from, sizeof(from), "--seed=%" PRIu64, seed);
	arguments[n++] = "valgrind";
	arguments[n++] = name;
	for (size_t i = 0; i < 4 && tool->options[i]; i++)
		arguments[n++] = tool->options[i];
	arguments[n++] = output;
	arguments[n++] = self;
	arguments[n++] = "once";
	arguments[n++] = times;
	arguments[n++] = from;
	arguments[n++] = benchmark;
	arguments[n] = NULL;

	if (child_run(&(struct child_options){ arguments, NULL, said, environment }, &cost)) {
		status = benchmark_problem(problem, BENCHMARK_FAILED, "valgrind: %s",
					   strerror(errno));
	} else if (cost.status) {
		status = explain(said, cost.status, problem);
	} else if (!(*text = read_text(file))) {
		status = benchmark_problem(problem, BENCHMARK_FAILED, "valgrind wrote no result");
	}
	unlink(file);
	unlink(said);
	rmdir(folder);
	return status;
}

/* -------- callgrind -------- */

#define EVENTS_MAX 32

/*
 * The number under `name`: the i-th of "events:" belongs to the i-th of "totals:", where
 * zeros at the end are left out.
 */
static bool event(const char *events, const double *totals, size_t n, const char *name,
		  double *value)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < n; i++) {
		size_t word;

		events += strspn(events, " ");
		word = strcspn(events, " \n");
		if (word == length && !memcmp(events, name, length)) {
			*value = totals[i];
			return true;
		}
		events += word;
	}
	return false;
}

/* What follows `key` at the beginning of a line, or NULL. */
static const char *line_of(const char *text, const char *key)
{
	size_t length = strlen(key);

	while (text && strncmp(text, key, length)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + length : NULL;
}

bool callgrind_parse(const char *text, struct callgrind_counts *counts)
{
	static const char *const names[] = { "Ir",   "Dr",   "Dw",   "I1mr", "D1mr",
					     "D1mw", "ILmr", "DLmr", "DLmw" };
	const char *events = line_of(text, "events:"), *numbers = line_of(text, "totals:");
	double totals[EVENTS_MAX] = { 0 }, v[9], l1_misses;
	size_t n = 0;

	if (!numbers)
		numbers = line_of(text, "summary:");
	if (!events || !numbers || !*numbers)
		return false;
	while (n < EVENTS_MAX) {
		char *end;

		totals[n] = strtod(numbers, &end);
		if (end == numbers || memchr(numbers, '\n', (size_t)(end - numbers)))
			break;
		numbers = end;
		n++;
	}
	for (size_t i = 0; i < 9; i++)
		if (!event(events, totals, EVENTS_MAX, names[i], &v[i]))
			return false;
	l1_misses = v[3] + v[4] + v[5];
	counts->instructions = v[0];
	counts->ram_hits = v[6] + v[7] + v[8];
	counts->ll_hits = l1_misses - counts->ram_hits;
	counts->l1_hits = v[0] + v[1] + v[2] - l1_misses;
	counts->estimated_cycles = counts->l1_hits + 5 * counts->ll_hits + 35 * counts->ram_hits;
	return true;
}

enum benchmark_status callgrind_run(const char *benchmark, uint64_t iterations, uint64_t seed,
				    struct callgrind_counts *counts,
				    struct benchmark_problem *problem)
{
	static const struct tool callgrind = {
		.name = "callgrind",
		.options = { "--cache-sim=yes", "--collect-atstart=no",
			     "--toggle-collect=benchmark_measured" },
		.output = "--callgrind-out-file=",
	};
	char *text;
	enum benchmark_status status = run_tool(&callgrind, benchmark, iterations, seed, &text,
						problem);
	bool good;

	if (status)
		return status;
	good = callgrind_parse(text, counts);
	free(text);
	/* Nothing counted means that the function was not found, not that it is free. */
	if (!good || !(counts->instructions > 0))
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "callgrind counted nothing; are its symbols stripped?");
	return BENCHMARK_OK;
}

/* -------- DHAT -------- */

static double sum(const json_t *points, const char *key)
{
	double total = 0;
	size_t i;
	json_t *point;

	json_array_foreach((json_t *)points, i, point)
		total += json_number_value(json_object_get(point, key));
	return total;
}

bool dhat_parse(const char *text, struct dhat_counts *counts)
{
	json_t *root = json_loads(text, 0, NULL);
	const json_t *points = json_object_get(root, "pps");
	bool good = json_is_array(points);

	if (good)
		*counts = (struct dhat_counts){
			sum(points, "tb"),  sum(points, "tbk"), sum(points, "gb"),
			sum(points, "gbk"), sum(points, "eb"),	sum(points, "ebk"),
		};
	json_decref(root);
	return good;
}

enum benchmark_status dhat_run(const char *benchmark, uint64_t iterations, uint64_t seed,
			       struct dhat_counts *counts, struct benchmark_problem *problem)
{
	static const struct tool dhat = {
		.name = "dhat",
		/* This program brings its own malloc(); see allocations.h. */
		.options = { "--soname-synonyms=somalloc=NONE" },
		.output = "--dhat-out-file=",
	};
	char *text;
	enum benchmark_status status = run_tool(&dhat, benchmark, iterations, seed, &text, problem);
	bool good;

	if (status)
		return status;
	good = dhat_parse(text, counts);
	free(text);
	if (!good)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "DHAT's output is not understood");
	return BENCHMARK_OK;
}
