/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gate/threshold.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/distribution.h"
#include "bench/statistics/statistics.h"

static const char *const names[] = {
	"static", "percentage", "z_score", "t_test", "log_normal", "iqr", "delta_iqr",
};

_Static_assert(sizeof(names) / sizeof(*names) == THRESHOLD_TESTS, "a name for each test");

const char *threshold_test_name(enum threshold_test test)
{
	return test < THRESHOLD_TESTS ? names[test] : "unknown";
}

/* -------- limits -------- */

#define CLEAR 0.99 /* confidence required to exclude the change named by `find` */
#define NEEDED_MOST 10000

size_t threshold_needed(const struct threshold *t)
{
	const bool one_is_enough = t->test == THRESHOLD_PERCENTAGE || t->test == THRESHOLD_IQR;
	const size_t needed = one_is_enough ? 1 : 2;

	if (t->test == THRESHOLD_STATIC)
		return 0;
	return t->least > needed ? t->least : needed;
}

/* How far from the baseline, as the share `boundary` of the distribution. */
static double spread(enum threshold_test test, double deviation, size_t n, double boundary)
{
	if (test == THRESHOLD_T_TEST)
		return deviation * sqrt(1 + 1 / (double)n) *
		       distribution_student_inverse(boundary, (double)(n - 1));
	return deviation * distribution_normal_inverse(boundary);
}

static enum threshold_status by_deviation(const struct threshold *t, const double *values, size_t n,
					  struct limits *limits)
{
	double deviation = statistics_deviation(values, n);

	if (!(deviation > 0))
		return THRESHOLD_NO_VARIANCE;
	limits->baseline = statistics_mean(values, n);
	limits->lower = limits->baseline - spread(t->test, deviation, n, t->lower);
	limits->upper = limits->baseline + spread(t->test, deviation, n, t->upper);
	limits->blur = spread(t->test, deviation, n, CLEAR);
	return THRESHOLD_OK;
}

/* Replaces the values by their logarithms. */
static enum threshold_status log_normal(const struct threshold *t, double *values, size_t n,
					struct limits *limits)
{
	double location, deviation;

	for (size_t i = 0; i < n; i++) {
		if (!(values[i] > 0))
			return THRESHOLD_NOT_POSITIVE;
		values[i] = log(values[i]);
	}
	location = statistics_mean(values, n);
	deviation = statistics_deviation(values, n);
	if (!(deviation > 0))
		return THRESHOLD_NO_VARIANCE;
	limits->baseline = exp(location);
	limits->lower = 2 * limits->baseline -
			exp(location + deviation * distribution_normal_inverse(t->lower));
	limits->upper = exp(location + deviation * distribution_normal_inverse(t->upper));
	limits->blur = exp(location + deviation * distribution_normal_inverse(CLEAR)) -
		       limits->baseline;
	return THRESHOLD_OK;
}

static double quartile_range(const double *sorted, size_t n)
{
	return statistics_quantile(sorted, n, 0.75) - statistics_quantile(sorted, n, 0.25);
}

/* Sorts the values; `steps` are from each value to the next, relative and sorted. */
static enum threshold_status by_quartiles(const struct threshold *t, double *values, size_t n,
					  double *steps, struct limits *limits)
{
	double range;

	/* Equal ones first, as 0 / 0 is not a number and cannot be sorted. */
	for (size_t i = 0; i + 1 < n; i++)
		steps[i] = values[i + 1] == values[i] ? 0 : fabs(values[i + 1] / values[i] - 1);
	statistics_sort(steps, n ? n - 1 : 0);
	statistics_sort(values, n);
	limits->baseline = statistics_quantile(values, n, 0.5);
	range = t->test == THRESHOLD_IQR ? quartile_range(values, n)
					 : limits->baseline * quartile_range(steps, n - 1);
	if (!isfinite(range))
		return THRESHOLD_TOO_FEW;
	limits->lower = limits->baseline - t->lower * range;
	limits->upper = limits->baseline + t->upper * range;
	/* Of a normal distribution, 1.349 standard deviations lie between the quartiles. */
	limits->blur = range / 1.349 * distribution_normal_inverse(CLEAR);
	return THRESHOLD_OK;
}

static enum threshold_status by_percentage(const struct threshold *t, const double *values,
					   size_t n, struct limits *limits)
{
	limits->baseline = statistics_mean(values, n);
	limits->lower = limits->baseline * (1 - t->lower);
	limits->upper = limits->baseline * (1 + t->upper);
	return THRESHOLD_OK;
}

/* Every value would pass limits that overflowed. */
static bool are_finite(const struct limits *l)
{
	return isfinite(l->baseline) && isfinite(l->blur) &&
	       (!l->has_lower || isfinite(l->lower)) && (!l->has_upper || isfinite(l->upper));
}

struct error *threshold_limits(const struct threshold *t, const double *values, size_t n,
			       struct limits *limits)
{
	double *copy;

	*limits = (struct limits){ .baseline = NAN,
				   .has_lower = t->has_lower,
				   .has_upper = t->has_upper,
				   .lower = t->lower,
				   .upper = t->upper };
	if (t->test == THRESHOLD_STATIC)
		return NULL;
	if (n < threshold_needed(t)) {
		limits->status = THRESHOLD_TOO_FEW;
		return NULL;
	}
	if (t->most && n > t->most) {
		values += n - t->most;
		n = t->most;
	}
	/*
	 * Allocated for the tests with the largest need, so that a lack of memory does not depend
	 * on the test.
	 */
	copy = calloc(n, 2 * sizeof(*copy));
	if (!copy)
		return error_memory();
	memcpy(copy, values, n * sizeof(*copy));
	switch (t->test) {
	case THRESHOLD_PERCENTAGE: limits->status = by_percentage(t, copy, n, limits); break;
	case THRESHOLD_LOG_NORMAL: limits->status = log_normal(t, copy, n, limits); break;
	case THRESHOLD_IQR:
	case THRESHOLD_DELTA_IQR:
		limits->status = by_quartiles(t, copy, n, copy + n, limits);
		break;
	default: limits->status = by_deviation(t, copy, n, limits);
	}
	if (limits->status == THRESHOLD_OK && !are_finite(limits))
		limits->status = THRESHOLD_OVERFLOW;
	free(copy);
	return NULL;
}

enum limits_verdict limits_judge(const struct limits *limits, const struct threshold *t,
				 double value)
{
	const double wanted = t->find * fabs(limits->baseline);

	if ((limits->has_lower && !(value >= limits->lower)) ||
	    (limits->has_upper && !(value <= limits->upper)))
		return LIMITS_BROKEN;
	if (t->find > 0 &&
	    ((limits->has_upper && value + limits->blur > limits->baseline + wanted) ||
	     (limits->has_lower && value - limits->blur < limits->baseline - wanted)))
		return LIMITS_BLURRED;
	return LIMITS_HOLD;
}

size_t limits_needed(const struct limits *limits, const struct threshold *t, double value, size_t n)
{
	const double wanted = t->find * fabs(limits->baseline);
	double off = value - limits->baseline, room = wanted - fabs(off), deviation;

	if (limits->has_upper != limits->has_lower)
		room = limits->has_upper ? wanted - off : wanted + off;
	if (t->test != THRESHOLD_T_TEST || n < 2)
		return 0;
	deviation = limits->blur / spread(t->test, 1, n, CLEAR);
	for (size_t more = n; more <= (t->most ? t->most : NEEDED_MOST); more++)
		if (spread(t->test, deviation, more, CLEAR) <= room)
			return more;
	return 0;
}

/* -------- the file -------- */

static const char *parse_boundary(const char *word, bool *has, double *value)
{
	char *end;

	*has = strcmp(word, "-") != 0;
	if (!*has)
		return NULL;
	*value = strtod(word, &end);
	if (end == word || *end || !isfinite(*value))
		return "a boundary is not a number";
	return NULL;
}

static const char *check_boundaries(const struct threshold *t)
{
	bool quantile = t->test == THRESHOLD_Z_SCORE || t->test == THRESHOLD_T_TEST ||
			t->test == THRESHOLD_LOG_NORMAL;

	if (!t->has_lower && !t->has_upper)
		return "without a boundary it can never alert";
	for (int i = 0; i < 2; i++) {
		double boundary = i ? t->upper : t->lower;

		if (i ? !t->has_upper : !t->has_lower)
			continue;
		if (quantile && !(boundary >= 0.5 && boundary < 1))
			return "its boundaries must lie in [0.5, 1)";
		if (t->test != THRESHOLD_STATIC && boundary < 0)
			return "its boundaries must not be negative";
	}
	if (t->test == THRESHOLD_STATIC && t->has_lower && t->has_upper && t->lower > t->upper)
		return "its lower boundary is above the upper one";
	if (t->test == THRESHOLD_STATIC && (t->least || t->most || t->window))
		return "static boundaries look at no history: min=, max=, window= have no meaning";
	if (t->find > 0 && (t->test == THRESHOLD_STATIC || t->test == THRESHOLD_PERCENTAGE))
		return "static and percentage know no noise: find= has no meaning";
	if (t->most && t->least > t->most)
		return "min= is above max=";
	return NULL;
}

static bool parse_find(struct threshold *t, const char *text)
{
	char *end;

	t->find = strtod(text, &end);
	return !*end && t->find > 0 && t->find <= 1;
}

static bool parse_further(struct threshold *t, const char *word)
{
	char *end;
	const char *equals = strchr(word, '=');
	unsigned long long value;

	if (!equals || equals[1] < '0' || equals[1] > '9')
		return false;
	if (!strncmp(word, "find=", 5))
		return parse_find(t, equals + 1);
	errno = 0;
	value = strtoull(equals + 1, &end, 10);
	if (errno || value > UINT32_MAX)
		return false;
	if (!strncmp(word, "window=", 7)) {
		static const char units[] = "smhdw";
		static const unsigned int seconds[] = { 1, 60, 3600, 86400, 604800 };
		const char *unit = *end ? strchr(units, *end) : units;

		if (!unit || (*end && end[1]))
			return false;
		t->window = value * seconds[unit - units];
		return value > 0;
	}
	if (*end || !value)
		return false;
	if (!strncmp(word, "min=", 4))
		t->least = value;
	else if (!strncmp(word, "max=", 4))
		t->most = value;
	else
		return false;
	return true;
}

/* NULL, or what is wrong with the line. */
static const char *parse_line(struct threshold *t, char *line)
{
	char *save = NULL, *words[5], *word;
	const char *why;

	for (size_t i = 0; i < 5; i++) {
		words[i] = strtok_r(i ? NULL : line, " \t\n", &save);
		if (!words[i])
			return "a rule is: BENCHMARK MEASURE TEST LOWER UPPER [min=N] [max=N] "
			       "[window=T] [find=SHARE]";
	}
	while (t->test < THRESHOLD_TESTS && strcmp(names[t->test], words[2]))
		t->test++;
	if (t->test == THRESHOLD_TESTS)
		return "there is no such test; they are static, percentage, z_score, t_test, "
		       "log_normal, iqr, delta_iqr";
	why = parse_boundary(words[3], &t->has_lower, &t->lower);
	if (!why)
		why = parse_boundary(words[4], &t->has_upper, &t->upper);
	while (!why && (word = strtok_r(NULL, " \t\n", &save)))
		if (!parse_further(t, word))
			why = "after the boundaries only min=N, max=N, window=T and find=SHARE may "
			      "follow";
	if (!why)
		why = check_boundaries(t);
	if (why)
		return why;
	t->benchmark = strdup(words[0]);
	t->measure = strdup(words[1]);
	return t->benchmark && t->measure ? NULL : "no memory";
}

static const char *add_line(struct thresholds *t, char *line)
{
	struct threshold *all, new = { 0 };
	const char *why;

	line += strspn(line, " \t\n");
	if (!*line || *line == '#')
		return NULL;
	why = parse_line(&new, line);
	all = why ? NULL : realloc(t->all, (t->count + 1) * sizeof(*all));
	if (!all) {
		free(new.benchmark);
		free(new.measure);
		return why ? why : "no memory";
	}
	t->all = all;
	t->all[t->count++] = new;
	return NULL;
}

static struct error *read_lines(struct thresholds *t, FILE *f, const char *path)
{
	const char *wrong = NULL;
	size_t size = 0, number = 0;
	char *line = NULL;

	while (!wrong && getline(&line, &size, f) >= 0) {
		number++;
		wrong = add_line(t, line);
	}
	free(line);
	if (wrong)
		return error_new(ERROR_ARGUMENT, "%s:%zu: %s", path, number, wrong);
	if (ferror(f))
		return error_system(errno, "%s", path);
	if (!t->count)
		return error_new(ERROR_ARGUMENT, "%s: has no rule, so nothing would be judged",
				 path);
	return NULL;
}

struct error *thresholds_read(struct thresholds *t, const char *path)
{
	FILE *f = fopen(path, "re");
	struct error *error;

	if (!f)
		return error_system(errno, "%s", path);
	error = read_lines(t, f, path);
	if (error)
		thresholds_release(t);
	fclose(f);
	return error;
}

void thresholds_release(struct thresholds *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->all[i].benchmark);
		free(t->all[i].measure);
	}
	free(t->all);
	*t = (struct thresholds){ 0 };
}

const struct threshold *thresholds_find(const struct thresholds *t, const char *benchmark,
					const char *measure)
{
	for (size_t i = 0; i < t->count; i++)
		if (!fnmatch(t->all[i].benchmark, benchmark, 0) &&
		    !fnmatch(t->all[i].measure, measure, 0))
			return &t->all[i];
	return NULL;
}
