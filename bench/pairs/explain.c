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
#include "common/map.h"

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
	struct map places; /* name to the place in `all` */
	struct function *all;
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
	map_release(&f->places);
	free(f);
}

static struct function *append(struct folded_functions *f, const char *name)
{
	struct function *all = f->all, *new;

	if (f->count == f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 64;

		all = realloc(all, capacity * sizeof(*all));
		if (!all)
			return NULL;
		f->all = all;
		f->capacity = capacity;
	}
	new = &all[f->count];
	*new = (struct function){ .name = strdup(name) };
	new->samples[0] = calloc(2 * f->rounds, sizeof(double));
	if (!new->name || !new->samples[0]) {
		free(new->name);
		free(new->samples[0]);
		return NULL;
	}
	new->samples[1] = new->samples[0] + f->rounds;
	f->count++;
	return new;
}

/* NULL without memory. */
static struct function *function_of(struct folded_functions *f, const char *name)
{
	bool added;
	uint64_t *place = map_put(&f->places, name, strlen(name), &added);

	if (!place)
		return NULL;
	if (!added)
		return &f->all[*place];
	*place = f->count;
	return append(f, name);
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

/* The files of the recordings, and the programs beside this one. */
struct recordings {
	char folder[32], trace[48], folded[48], said[48];
	char record[PATH_MAX], report[PATH_MAX];
};

static bool find_programs(struct recordings *r)
{
	char self[PATH_MAX - 32];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return false;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	snprintf(r->record, sizeof(r->record), "%s/prof-record", self);
	snprintf(r->report, sizeof(r->report), "%s/prof-report", self);
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
		/* Old, new, new, old: what drifts is the same for both. */
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
