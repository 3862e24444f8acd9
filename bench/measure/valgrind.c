/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/valgrind.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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
static struct error *explain(const struct valgrind_work *work, const char *path, int exit_status)
{
	char *text = read_text(path);
	bool debug_info = text && strstr(text, "debuginfo reader");

	free(text);
	if (exit_status == VERDICT_INCONCLUSIVE && !work->command)
		return error_new(ERROR_UNAVAILABLE, "what it needs is not there under valgrind");
	if (debug_info)
		return error_new(ERROR_UNAVAILABLE,
				 "valgrind cannot read the debug information of this "
				 "build; build with -gdwarf-4");
	return error_new(ERROR_FAILED, "under valgrind it ended with status %d", exit_status);
}

#define ARGUMENTS_MOST 512

struct tool {
	const char *name;
	const char *options[4]; /* further ones, up to the first NULL */
	const char *output;	/* "--callgrind-out-file=" */
};

/* One run of a tool: its arguments, the texts that they point to, and its files. */
struct tool_run {
	const char *arguments[ARGUMENTS_MOST];
	size_t count;
	char folder[32], self[PATH_MAX];
	char name[64], output[128], file[64], said[64], times[48], from[48];
};

static void add(struct tool_run *r, const char *argument)
{
	if (r->count + 1 < ARGUMENTS_MOST)
		r->arguments[r->count++] = argument;
}

/* This program, which does the benchmark once. */
static bool add_benchmark(struct tool_run *r, const struct valgrind_work *work)
{
	if (!child_self(r->self, sizeof(r->self)))
		return false;
	snprintf(r->times, sizeof(r->times), "--iterations=%" PRIu64, work->iterations);
	snprintf(r->from, sizeof(r->from), "--seed=%" PRIu64, work->seed);
	add(r, r->self);
	add(r, "once");
	add(r, r->times);
	add(r, r->from);
	add(r, work->benchmark);
	return true;
}

static bool fill_arguments(struct tool_run *r, const struct tool *tool,
			   const struct valgrind_work *work)
{
	snprintf(r->name, sizeof(r->name), "--tool=%s", tool->name);
	snprintf(r->file, sizeof(r->file), "%s/out", r->folder);
	snprintf(r->said, sizeof(r->said), "%s/said", r->folder);
	snprintf(r->output, sizeof(r->output), "%s%s", tool->output, r->file);
	add(r, "valgrind");
	add(r, r->name);
	for (size_t i = 0; i < 4 && tool->options[i]; i++)
		add(r, tool->options[i]);
	add(r, r->output);
	if (!work->command)
		return add_benchmark(r, work);
	for (size_t i = 0; work->command[i]; i++)
		add(r, work->command[i]);
	return r->count + 1 < ARGUMENTS_MOST;
}

/* Where keys fall in hash tables changes the counts: a number that is set stays, others go. */
static int fix_seed(const char *variable, const char *seed)
{
	const char *set = getenv(variable);

	return setenv(variable, seed, !set || !isdigit((unsigned char)*set));
}

/* Runs the work under the tool; *text is what the tool wrote, to be freed. */
static struct error *run_tool(const struct tool *tool, const struct valgrind_work *work,
			      char **text)
{
	char *const environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
				      "PROF_HASH_SEED=1", "PYTHONHASHSEED=0", NULL };
	struct tool_run r = { .folder = "/tmp/prof-bench.XXXXXX" };
	struct child_options options = { .arguments = r.arguments,
					 .stderr_path = r.said,
					 .environment = work->command ? NULL : environment };
	struct error *error = NULL;
	struct child_cost cost;

	if (!child_exists("valgrind"))
		return error_new(ERROR_UNAVAILABLE, "valgrind is not installed");
	if (work->command && (fix_seed("PROF_HASH_SEED", "1") || fix_seed("PYTHONHASHSEED", "0")))
		return error_memory();
	if (!mkdtemp(r.folder))
		return error_new(ERROR_FAILED, "%s", strerror(errno));
	if (!fill_arguments(&r, tool, work))
		error = error_new(ERROR_FAILED, "too many arguments");
	else if (child_run(&options, &cost))
		error = error_new(ERROR_FAILED, "valgrind: %s", strerror(errno));
	else if (cost.status)
		error = explain(work, r.said, cost.status);
	else if (!(*text = read_text(r.file)))
		error = error_new(ERROR_FAILED, "valgrind wrote no result");
	unlink(r.file);
	unlink(r.said);
	rmdir(r.folder);
	return error;
}

/* -------- callgrind -------- */

#define EVENTS_MAX 32

/*
 * The number under `name`: the i-th of "events:" belongs to the i-th of "totals:" (EVENTS_MAX of
 * them), where zeros at the end are left out.
 */
static bool event(const char *events, const double *totals, const char *name, double *value)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < EVENTS_MAX; i++) {
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
	/* On a full disk the line may lack its end, and the last number digits. */
	if (!events || !numbers || !strchr(numbers, '\n'))
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
		if (!event(events, totals, names[i], &v[i]))
			return false;
	l1_misses = v[3] + v[4] + v[5];
	counts->instructions = v[0];
	counts->ram_hits = v[6] + v[7] + v[8];
	counts->ll_hits = l1_misses - counts->ram_hits;
	counts->l1_hits = v[0] + v[1] + v[2] - l1_misses;
	counts->estimated_cycles = counts->l1_hits + 5 * counts->ll_hits + 35 * counts->ram_hits;
	return true;
}

struct error *callgrind_run(const struct valgrind_work *work, struct callgrind_counts *counts)
{
	static const struct tool of_benchmark = {
		.name = "callgrind",
		.options = { "--cache-sim=yes", "--collect-atstart=no",
			     "--toggle-collect=benchmark_measured" },
		.output = "--callgrind-out-file=",
	};
	static const struct tool of_command = {
		.name = "callgrind",
		.options = { "--cache-sim=yes" },
		.output = "--callgrind-out-file=",
	};
	char *text;
	struct error *error = run_tool(work->command ? &of_command : &of_benchmark, work, &text);
	bool good;

	if (error)
		return error;
	good = callgrind_parse(text, counts);
	free(text);
	/* A count of 0 means that the tool did not find the function. */
	if (!good || !(counts->instructions > 0))
		return error_new(ERROR_FAILED,
				 "callgrind counted nothing; are its symbols stripped?");
	return NULL;
}

/* -------- DHAT -------- */

static bool write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	bool good = f && fputs(text, f) >= 0;

	if (f && fclose(f))
		good = false;
	return good;
}

struct error *dhat_run(const struct valgrind_work *work, const char *keep, struct dhat *dhat)
{
	static const struct tool of_benchmark = {
		.name = "dhat",
		/* This program brings its own malloc(); see allocations.h. */
		.options = { "--soname-synonyms=somalloc=NONE" },
		.output = "--dhat-out-file=",
	};
	static const struct tool of_command = { .name = "dhat", .output = "--dhat-out-file=" };
	char *text;
	struct error *error = run_tool(work->command ? &of_command : &of_benchmark, work, &text);

	if (error)
		return error;
	error = dhat_parse(dhat, text);
	if (!error && keep && !write_text(keep, text))
		error = error_system(errno, "%s", keep);
	free(text);
	return error;
}
