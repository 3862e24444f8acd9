/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/results.h"

#include "common/array.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCHMARK_NAME_MAX 1024
#define MEASURE_NAME_MAX 64

void results_release(struct results *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->all[i].benchmark);
		free(r->all[i].measure);
	}
	free(r->all);
	*r = (struct results){ 0 };
}

const struct result *results_find(const struct results *r, const char *benchmark,
				  const char *measure)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->all[i].benchmark, benchmark) && !strcmp(r->all[i].measure, measure))
			return &r->all[i];
	return NULL;
}

static struct result *append(struct results *r, const char *benchmark, const char *measure)
{
	struct result *new;

	if (!array_reserve(&r->all, &r->capacity, r->count + 1))
		return NULL;
	new = &r->all[r->count];
	*new = (struct result){ .benchmark = strdup(benchmark), .measure = strdup(measure) };
	if (!new->benchmark || !new->measure) {
		free(new->benchmark);
		free(new->measure);
		return NULL;
	}
	r->count++;
	return new;
}

int results_add(struct results *r, const struct result *new)
{
	struct result *result = (struct result *)results_find(r, new->benchmark, new->measure);
	const struct estimate *e = &new->estimate;

	if (!*new->benchmark || strlen(new->benchmark) > BENCHMARK_NAME_MAX || !*new->measure ||
	    strlen(new->measure) > MEASURE_NAME_MAX || !isfinite(e->value))
		return -1;
	if (new->has_bounds && (!isfinite(e->low) || !isfinite(e->high)))
		return -1;
	if (!result)
		result = append(r, new->benchmark, new->measure);
	if (!result)
		return -1;
	result->estimate = *e;
	result->has_bounds = new->has_bounds;
	return 0;
}

int results_value(struct results *r, const char *benchmark, const char *measure, double value)
{
	return results_add(
		r,
		&(struct result){ (char *)benchmark, (char *)measure, { .value = value }, false });
}

int results_estimate(struct results *r, const char *benchmark, const char *measure,
		     struct estimate estimate)
{
	return results_add(r,
			   &(struct result){ (char *)benchmark, (char *)measure, estimate, true });
}

/* Counts stay integers in the file. */
static json_t *number(double value)
{
	if (value == floor(value) && fabs(value) < 0x1p53)
		return json_integer((json_int_t)value);
	return json_real(value);
}

json_t *results_to_json(const struct results *r)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < r->count; i++) {
		const struct result *result = &r->all[i];
		json_t *measures = json_object_get(object, result->benchmark);
		json_t *metric = json_object();
		int failed;

		if (!measures) {
			measures = json_object();
			json_object_set_new(object, result->benchmark, measures);
			measures = json_object_get(object, result->benchmark);
		}
		failed = json_object_set_new(metric, "value", number(result->estimate.value));
		if (result->has_bounds) {
			failed |= json_object_set_new(metric, "lower_value",
						      number(result->estimate.low));
			failed |= json_object_set_new(metric, "upper_value",
						      number(result->estimate.high));
		}
		failed |= json_object_set_new(measures, result->measure, metric);
		if (failed) { /* a name that is not UTF-8, or no memory */
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* The object as text, with a newline. */
static struct error *print_json(const json_t *object, FILE *f, const char *path)
{
	if (json_dumpf(object, f, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) ||
	    fputc('\n', f) == EOF || fflush(f))
		return error_system(errno, "%s", path);
	return NULL;
}

static struct error *write_file(const json_t *object, const char *path)
{
	struct error *error = NULL;
	char *temporary;
	FILE *f;

	if (asprintf(&temporary, "%s.%ld", path, (long)getpid()) < 0)
		return error_memory();
	f = fopen(temporary, "we");
	if (!f) {
		error = error_system(errno, "%s", temporary);
	} else {
		error = print_json(object, f, temporary);
		if (fclose(f) && !error)
			error = error_system(errno, "%s", temporary);
		if (!error && rename(temporary, path))
			error = error_system(errno, "%s", path);
		if (error)
			unlink(temporary);
	}
	free(temporary);
	return error;
}

struct error *results_write_bmf(const struct results *r, const char *path)
{
	json_t *object = results_to_json(r);
	struct error *error;

	if (!object)
		return error_new(ERROR_ARGUMENT, "%s: a name is not UTF-8", path);
	error = strcmp(path, "-") ? write_file(object, path)
				  : print_json(object, stdout, "standard output");
	json_decref(object);
	return error;
}

static struct error *metric_from_json(struct results *r, const char *benchmark, const char *measure,
				      json_t *metric)
{
	const json_t *value = json_object_get(metric, "value");
	const json_t *low = json_object_get(metric, "lower_value");
	const json_t *high = json_object_get(metric, "upper_value");
	struct result new = { .benchmark = (char *)benchmark, .measure = (char *)measure };
	const char *key;
	json_t *unused;

	if (!json_is_number(value))
		return error_new(ERROR_CORRUPT, "%s: %s: has no number as \"value\"", benchmark,
				 measure);
	if ((low && !json_is_number(low)) || (high && !json_is_number(high)))
		return error_new(ERROR_CORRUPT, "%s: %s: a bound is not a number", benchmark,
				 measure);
	json_object_foreach(metric, key, unused)
	{
		if (strcmp(key, "value") && strcmp(key, "lower_value") &&
		    strcmp(key, "upper_value"))
			return error_new(ERROR_CORRUPT, "%s: %s: has an unknown key", benchmark,
					 measure);
	}
	new.estimate.value = json_number_value(value);
	new.estimate.low = low ? json_number_value(low) : new.estimate.value;
	new.estimate.high = high ? json_number_value(high) : new.estimate.value;
	new.has_bounds = low || high;
	if (results_add(r, &new))
		return error_new(ERROR_CORRUPT, "%s: %s: its name or number is not allowed",
				 benchmark, measure);
	return NULL;
}

struct error *results_from_json(struct results *r, const json_t *object)
{
	const char *benchmark, *measure;
	json_t *measures, *metric;

	if (!json_is_object(object))
		return error_new(ERROR_CORRUPT, "the results are not a JSON object");
	json_object_foreach((json_t *)object, benchmark, measures)
	{
		if (!json_is_object(measures))
			return error_new(ERROR_CORRUPT, "%s: its measures are no object",
					 benchmark);
		json_object_foreach(measures, measure, metric)
		{
			struct error *error = metric_from_json(r, benchmark, measure, metric);

			if (error)
				return error;
		}
	}
	return NULL;
}

struct error *results_read_bmf(struct results *r, const char *path)
{
	bool from_stdin = !strcmp(path, "-");
	FILE *f = from_stdin ? stdin : fopen(path, "re");
	json_error_t wrong;
	json_t *object;
	struct error *error;

	if (!f)
		return error_system(errno, "%s", path);
	object = json_loadf(f, JSON_REJECT_DUPLICATES, &wrong);
	if (!from_stdin)
		fclose(f);
	if (!object)
		return error_new(ERROR_CORRUPT, "%s: line %d: %s", path, wrong.line, wrong.text);
	error = results_from_json(r, object);
	json_decref(object);
	return error_prefix(error, "%s", path);
}
