/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/pairs/explain.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/statistics/random.h"

#define RATE "4999"
#define PERIOD_NS (1e9 / 4999)
#define RESAMPLES 2000
#define ARGUMENTS_MOST 256

/* -------- functions of folded stacks -------- */

struct function {
	char *name;
	double *samples[2]; /* of each round */
};

struct folded_functions {
	size_t rounds;
	struct function *all; /* sorted by name */
	size_t count, capacity;
};

struct folded_functions *folded_functions_new(size_t rounds)
{
	struct folded_functions *f = calloc(1, sizeof(*f));

	if (f)
		f->rounds = rounds;
	return f;
}

void folded_functions_free(struct folded_functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++) {
		free(f->all[i].name);
		free(f->all[i].samples[0]);
	}
	free(f->all);
	free(f);
}

/* The index of the name, or the index to insert it at. */
static size_t place_of(const struct folded_functions *f, const char *name)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(f->all[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct function *insert(struct folded_functions *f, size_t place, const char *name)
{
	struct function *all = f->all, new = { .name = strdup(name) };

	if (f->count == f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 64;

		all = realloc(all, capacity * sizeof(*all));
		if (all) {
			f->all = all;
			f->capacity = capacity;
		}
	}
	new.samples[0] = calloc(2 * f->rounds, sizeof(double));
	if (!all || !new.name || !new.samples[0]) {
		free(new.name);
		free(new.samples[0]);
		return NULL;
	}
	new.samples[1] = new.samples[0] + f->rounds;
	memmove(&all[place + 1], &all[place], (f->count - place) * sizeof(*all));
	all[place] = new;
	f->count++;
	return &all[place];
}

/* NULL without memory. */
static struct function *function_of(struct folded_functions *f, const char *name)
{
	size_t place = place_of(f, name);

	if (place < f->count && !strcmp(f->all[place].name, name))
		return &f->all[place];
	return insert(f, place, name);
}

struct error *folded_functions_add(struct folded_functions *f, const char *path, int side,
				   size_t round)
{
	FILE *file = fopen(path, "re");
	struct error *error = NULL;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return error_system(errno, "%s", path);
	while (!error && getline(&line, &size, file) >= 0) {
		char *count = strrchr(line, ' '), *leaf;
		struct function *function;

		if (!count)
			continue;
		*count = 0;
		leaf = strrchr(line, ';');
		function = function_of(f, leaf ? leaf + 1 : line);
		if (function)
			function->samples[side][round] += strtod(count + 1, NULL);
		else
			error = error_memory();
	}
	free(line);
	fclose(file);
	return error;
}

/* -------- comparing -------- */

/* The mean of the new side less that of the old one, of rounds that are drawn. */
static double drawn_difference(const struct function *function, size_t rounds, struct random *r)
{
	double sums[2] = { 0, 0 };

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < rounds; i++)
			sums[side] += function->samples[side][random_below(r, rounds)];
	return (sums[1] - sums[0]) / (double)rounds;
}

static void compare_function(const struct folded_functions *f, size_t i, double period_ns,
			     uint64_t seed, struct explained_function *to)
{
	double values[RESAMPLES];
	struct random r;

	random_seed(&r, seed + i);
	for (size_t j = 0; j < RESAMPLES; j++)
		values[j] = period_ns * drawn_difference(&f->all[i], f->rounds, &r);
	statistics_sort(values, RESAMPLES);
	for (int side = 0; side < 2; side++)
		to->ns[side] = period_ns * statistics_mean(f->all[i].samples[side], f->rounds);
	to->difference = (struct estimate){ to->ns[1] - to->ns[0],
					    statistics_quantile(values, RESAMPLES, 0.005),
					    statistics_quantile(values, RESAMPLES, 0.995) };
}

static int by_difference(const void *left, const void *right)
{
	double a = fabs(((const struct explained_function *)left)->difference.value);
	double b = fabs(((const struct explained_function *)right)->difference.value);

	return (a < b) - (a > b);
}

struct error *folded_functions_compare(const struct folded_functions *f, double period_ns,
				       uint64_t seed, struct explanation *e)
{
	e->all = calloc(f->count + 1, sizeof(*e->all));
	if (!e->all)
		return error_memory();
	for (size_t i = 0; i < f->count; i++) {
		struct explained_function *to = &e->all[e->count];

		to->name = strdup(f->all[i].name);
		if (!to->name)
			return error_memory();
		e->count++;
		compare_function(f, i, period_ns, seed, to);
		for (int side = 0; side < 2; side++)
			e->ns[side] += to->ns[side];
	}
	qsort(e->all, e->count, sizeof(*e->all), by_difference);
	return NULL;
}

void explanation_release(struct explanation *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->all[i].name);
	free(e->all);
	*e = (struct explanation){ 0 };
}

/* -------- recording -------- */

/* The files of the recordings, and the programs that make and read them. */
struct recordings {
	char folder[32], trace[48], folded[48], said[48];
	char record[PATH_MAX], report[PATH_MAX];
};

/* Beside this program, or, for one that links libprof_bench, in PATH. */
static void find_program(char *path, const char *folder, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	if (access(path, X_OK))
		snprintf(path, PATH_MAX, "%s", name);
}

static bool find_programs(struct recordings *r)
{
	char self[PATH_MAX - 32];

	if (!child_self(self, sizeof(self)))
		return false;
	*strrchr(self, '/') = 0;
	find_program(r->record, self, "prof-record");
	find_program(r->report, self, "prof-report");
	return true;
}

/* The last line that a program wrote to its standard error. */
static struct error *failed(const struct recordings *r, const char *program, int status)
{
	char line[256], last[256] = "";
	FILE *f = fopen(r->said, "re");

	while (f && fgets(line, sizeof(line), f))
		memcpy(last, line, sizeof(last));
	if (f)
		fclose(f);
	last[strcspn(last, "\n")] = 0;
	return error_new(ERROR_ARGUMENT, "%s ended with status %d%s%s", program, status,
			 *last ? ": " : "", last);
}

static struct error *run(const struct recordings *r, const char *const *arguments,
			 const char *stdout_path)
{
	const struct child_options options = { .arguments = arguments,
					       .stdout_path = stdout_path,
					       .stderr_path = r->said };
	struct child_cost cost;

	if (child_run(&options, &cost))
		return error_system(errno, "%s", arguments[0]);
	return cost.status ? failed(r, arguments[0], cost.status) : NULL;
}

/* One recording of one side, as folded stacks. */
static struct error *record(const struct recordings *r, const char *const *program)
{
	const char *arguments[ARGUMENTS_MOST] = {
		r->record, "-q", "-F", RATE, "-o", r->trace, "--"
	};
	const char *const report[] = { r->report, "-q", "-f", "folded", r->trace, NULL };
	size_t n = 7;
	struct error *error;

	for (size_t i = 0; program[i]; i++) {
		if (n + 1 == ARGUMENTS_MOST)
			return error_new(ERROR_LIMIT, "the program has too many arguments");
		arguments[n++] = program[i];
	}
	error = run(r, arguments, NULL);
	return error ? error : run(r, report, r->folded);
}

static struct error *record_all(const struct recordings *r, const struct explain_options *options,
				struct folded_functions *functions)
{
	struct error *error = NULL;

	for (size_t i = 0; i < 2 * options->rounds && !error; i++) {
		/* Old, new, new, old: a drift of the machine affects both sides equally. */
		int side = (i + 1) / 2 % 2;

		error = record(r, options->arguments[side]);
		if (!error)
			error = folded_functions_add(functions, r->folded, side, i / 2);
	}
	return error;
}

struct error *explain(struct explanation *e, const struct explain_options *options)
{
	struct recordings r = { .folder = "/tmp/prof-bench.XXXXXX" };
	struct folded_functions *functions = folded_functions_new(options->rounds);
	struct error *error = NULL;

	if (!functions)
		return error_memory();
	if (!find_programs(&r) || !mkdtemp(r.folder)) {
		error = error_system(errno, "%s", r.folder);
		goto out;
	}
	snprintf(r.trace, sizeof(r.trace), "%s/trace", r.folder);
	snprintf(r.folded, sizeof(r.folded), "%s/folded", r.folder);
	snprintf(r.said, sizeof(r.said), "%s/said", r.folder);
	error = record_all(&r, options, functions);
	if (!error)
		error = folded_functions_compare(functions, PERIOD_NS, options->seed, e);
	unlink(r.trace);
	unlink(r.folded);
	unlink(r.said);
	rmdir(r.folder);
out:
	folded_functions_free(functions);
	if (error)
		explanation_release(e);
	return error;
}
