/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/baseline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct baseline {
	char *path;
	json_t *all;
};

static char *default_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path;
	int length;

	if (cache && *cache == '/')
		length = asprintf(&path, "%s/prof/bench.json", cache);
	else
		length = asprintf(&path, "%s/.cache/prof/bench.json", home ? home : ".");
	return length < 0 ? NULL : path;
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	free(b->path);
	json_decref(b->all);
	free(b);
}

static struct error *read_all(struct baseline *b)
{
	FILE *f = fopen(b->path, "re");
	json_error_t wrong;

	if (!f && errno != ENOENT)
		return error_system(errno, "%s", b->path);
	b->all = f ? json_loadf(f, 0, &wrong) : json_object();
	if (f)
		fclose(f);
	if (f && !json_is_object(b->all))
		return error_new(ERROR_CORRUPT,
				 "%s: not a file of measurements; remove it to begin anew",
				 b->path);
	return b->all ? NULL : error_memory();
}

struct error *baseline_open(struct baseline **baseline, const char *path)
{
	struct baseline *b = calloc(1, sizeof(*b));
	struct error *error;

	if (!b || !(b->path = path ? strdup(path) : default_path()))
		error = error_memory();
	else
		error = read_all(b);
	if (error)
		baseline_free(b);
	else
		*baseline = b;
	return error;
}

const char *baseline_path(const struct baseline *b)
{
	return b->path;
}

static bool numbers(const json_t *array, double *values, size_t n, double least)
{
	for (size_t i = 0; i < n; i++) {
		values[i] = json_number_value(json_array_get(array, i));
		if (!json_is_number(json_array_get(array, i)) || !(values[i] >= least) ||
		    !isfinite(values[i]))
			return false;
	}
	return true;
}

int baseline_get(const struct baseline *b, const char *benchmark, struct measurement *m)
{
	const json_t *entry = json_object_get(b->all, benchmark);
	const json_t *iterations = json_object_get(entry, "iterations");
	const json_t *ns = json_object_get(entry, "ns");
	const json_t *reference = json_object_get(entry, "reference");
	const json_t *waited = json_object_get(entry, "waited");
	size_t n = json_array_size(ns);

	if (!entry)
		return 0;
	if (n < 2 || json_array_size(iterations) != n)
		return -1;
	*m = (struct measurement){ .n = n,
				   .linear = json_is_true(json_object_get(entry, "linear")) };
	m->iterations = calloc(n, sizeof(double));
	m->ns = calloc(n, sizeof(double));
	m->waited = waited ? json_number_value(waited) : NAN;
	m->reference = reference ? calloc(n, sizeof(double)) : NULL;
	if (m->iterations && m->ns && numbers(iterations, m->iterations, n, 1) &&
	    numbers(ns, m->ns, n, 0) &&
	    (!reference || (m->reference && numbers(reference, m->reference, n, 1))))
		return 1;
	measurement_release(m);
	return -1;
}

int baseline_put(struct baseline *b, const char *benchmark, const struct measurement *m)
{
	json_t *iterations = json_array(), *ns = json_array(), *reference = json_array();
	json_t *entry;

	for (size_t i = 0; i < m->n; i++) {
		json_array_append_new(iterations, json_real(m->iterations[i]));
		json_array_append_new(ns, json_real(m->ns[i]));
		json_array_append_new(reference, json_real(m->reference[i]));
	}
	entry = json_pack("{s:b, s:o, s:o, s:o}", "linear", m->linear, "iterations", iterations,
			  "ns", ns, "reference", reference);
	if (!isnan(m->waited))
		json_object_set_new(entry, "waited", json_real(m->waited));
	return json_object_set_new(b->all, benchmark, entry);
}

/* Makes the folders above the file that are missing. */
static void make_folders(const char *path)
{
	char *copy = strdup(path);

	for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
}

struct error *baseline_save(const struct baseline *b)
{
	struct error *error = NULL;
	char *temporary;

	if (asprintf(&temporary, "%s.%ld", b->path, (long)getpid()) < 0)
		return error_memory();
	make_folders(b->path);
	if (json_dump_file(b->all, temporary, JSON_REAL_PRECISION(12)) ||
	    rename(temporary, b->path)) {
		error = error_system(errno, "%s", b->path);
		unlink(temporary);
	}
	free(temporary);
	return error;
}
