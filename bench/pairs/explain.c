/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/pairs/explain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/recording.h"
#include "bench/statistics/random.h"
#include "common/distribution.h"

#define PERIOD_NS (1e9 / RECORDING_RATE)
#define RESAMPLES 2000

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

/* The chance of such a difference of means, or a larger one, if there is none (Welch, 1947). */
static double chance(const struct function *function, size_t rounds)
{
	double means[2], parts[2], n = (double)rounds, sum;

	for (int side = 0; side < 2; side++) {
		means[side] = statistics_mean(function->samples[side], rounds);
		parts[side] = statistics_variance(function->samples[side], rounds) / n;
	}
	sum = parts[0] + parts[1];
	if (!(sum > 0))
		return means[0] == means[1];
	return 2 * distribution_student(-fabs(means[1] - means[0]) / sqrt(sum),
					(n - 1) * sum * sum /
						(parts[0] * parts[0] + parts[1] * parts[1]));
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
	/* Of hundreds of functions some have a rare difference by chance. */
	to->sure = chance(&f->all[i], f->rounds) * (double)f->count < 0.01;
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

/* One recording of one side, as folded stacks. */
static struct error *record(const struct recording *r, const char *const *program)
{
	struct error *error = recording_run(r, NULL, program);

	return error ? error : recording_fold(r);
}

static struct error *record_all(const struct recording *r, const struct explain_options *options,
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
	struct folded_functions *functions = folded_functions_new(options->rounds);
	struct recording r;
	struct error *error = functions ? recording_begin(&r) : error_memory();

	if (!error) {
		error = record_all(&r, options, functions);
		recording_end(&r);
	}
	if (!error)
		error = folded_functions_compare(functions, PERIOD_NS, options->seed, e);
	folded_functions_free(functions);
	if (error)
		explanation_release(e);
	return error;
}
