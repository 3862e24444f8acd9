/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/gate/history.h"
#include "bench/gate/threshold.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

/* What the gate is asked about, and what it has found so far. */
struct gate {
	const struct settings *settings;
	struct thresholds thresholds;
	struct history history;
	struct results results;
	struct results missing; /* what was measured before */
	struct history_view view;
	int64_t now;
	size_t fine, regressed, inconclusive, without_baseline, without_rule;
};

static const char *text_of(enum threshold_status status)
{
	switch (status) {
	case THRESHOLD_OK: return "judged";
	case THRESHOLD_TOO_FEW: return "too few earlier values";
	case THRESHOLD_NO_VARIANCE:
		return "earlier values are all equal, which this test cannot judge by; "
		       "use percentage or iqr";
	case THRESHOLD_NOT_POSITIVE: return "earlier values are not all above 0";
	case THRESHOLD_OVERFLOW: return "earlier values are too large, or too far apart";
	}
	return "";
}

static const char *interval_text(const struct limits *l, char *text, size_t size)
{
	char low[32] = "-inf", high[32] = "+inf";

	if (l->has_lower)
		snprintf(low, sizeof(low), "%.6g", l->lower);
	if (l->has_upper)
		snprintf(high, sizeof(high), "%.6g", l->upper);
	snprintf(text, size, "[%s, %s]", low, high);
	return text;
}

/* A result, and what it is judged by. */
struct judged {
	const struct result *result;
	const struct threshold *threshold;
	struct limits limits;
	size_t n;    /* earlier values */
	size_t used; /* those of them that gave the limits */
};

static void print_regressed(const struct judged *j)
{
	const struct result *r = j->result;
	const double baseline = j->limits.baseline;
	bool change = !isnan(baseline) && baseline != 0;
	char text[80];

	output_failure("REGRESSED     %s %s: %g is outside of %s (%s, %zu earlier values%s%s)",
		       r->benchmark, r->measure, r->estimate.value,
		       interval_text(&j->limits, text, sizeof(text)),
		       threshold_test_name(j->threshold->test), j->used, change ? ", change " : "",
		       change ? output_percent(r->estimate.value / baseline - 1).text : "");
}

/* The change named by `find` cannot be excluded: prints how many more values would decide. */
static void print_blurred(const struct judged *j)
{
	const struct result *r = j->result;
	const struct threshold *t = j->threshold;
	size_t needed = limits_needed(&j->limits, t, r->estimate.value, j->used);
	char remedy[80] = "measure longer, or on a quieter machine";

	if (needed > j->used)
		snprintf(remedy, sizeof(remedy), "it takes %zu earlier values", needed);
	output_failure("inconclusive  %s %s: %g is within the noise of %.2g%%, which may hide a "
		       "change by %g%%: %s",
		       r->benchmark, r->measure, r->estimate.value,
		       100 * j->limits.blur / fabs(j->limits.baseline), 100 * t->find, remedy);
}

/* By limits that there are. */
static void judge_by_limits(struct gate *g, const struct judged *j)
{
	const struct result *r = j->result;
	char text[80];

	switch (limits_judge(&j->limits, j->threshold, r->estimate.value)) {
	case LIMITS_BROKEN:
		g->regressed++;
		print_regressed(j);
		return;
	case LIMITS_BLURRED:
		g->inconclusive++;
		print_blurred(j);
		return;
	case LIMITS_HOLD:
		g->fine++;
		output_line("fine          %s %s: %g is within %s", r->benchmark, r->measure,
			    r->estimate.value, interval_text(&j->limits, text, sizeof(text)));
	}
}

static void judge_by(struct gate *g, const struct judged *j)
{
	const struct result *r = j->result;
	const size_t needed = threshold_needed(j->threshold);

	if (j->limits.status == THRESHOLD_OK) {
		judge_by_limits(g, j);
	} else if (j->n < needed && g->settings->allow_missing) {
		g->without_baseline++;
		output_line("no baseline   %s %s: %g, %zu earlier values, allowed", r->benchmark,
			    r->measure, r->estimate.value, j->n);
	} else if (j->n < needed) {
		g->inconclusive++;
		output_failure("inconclusive  %s %s: %g, %s: it takes %zu more earlier values",
			       r->benchmark, r->measure, r->estimate.value,
			       j->n ? "too few earlier values" : "no baseline", needed - j->n);
	} else {
		g->inconclusive++;
		output_failure("inconclusive  %s %s: %g, %zu earlier values: %s", r->benchmark,
			       r->measure, r->estimate.value, j->n, text_of(j->limits.status));
	}
}

static struct error *judge(struct gate *g, const struct result *r)
{
	const struct threshold *t = thresholds_find(&g->thresholds, r->benchmark, r->measure);
	struct judged j = { .result = r, .threshold = t };
	struct error *error;
	double *values;

	if (!t) {
		g->without_rule++;
		if (g->settings->verbose)
			output_line("not judged    %s %s: no rule", r->benchmark, r->measure);
		return NULL;
	}
	g->view.since = t->window ? g->now - (int64_t)t->window : INT64_MIN;
	error = history_values(&g->history, &g->view, r, &values, &j.n);
	j.used = t->most && j.n > t->most ? t->most : j.n;
	if (!error)
		error = threshold_limits(t, values, j.n, &j.limits);
	if (!error)
		judge_by(g, &j);
	free(values);
	return error;
}

/* Reports the results of an earlier entry that have a rule and are missing now. */
static struct error *find_missing_of(struct gate *g, const struct results *earlier)
{
	for (size_t i = 0; i < earlier->count; i++) {
		const struct result *r = &earlier->all[i];

		if (results_find(&g->results, r->benchmark, r->measure) ||
		    results_find(&g->missing, r->benchmark, r->measure) ||
		    !thresholds_find(&g->thresholds, r->benchmark, r->measure))
			continue;
		if (results_add(&g->missing, r))
			return error_memory();
		g->inconclusive += !g->settings->accept;
		if (g->settings->accept)
			output_line("accepted      %s %s: was measured before, and is not now",
				    r->benchmark, r->measure);
		else
			output_failure("inconclusive  %s %s: was measured before, and is not now",
				       r->benchmark, r->measure);
	}
	return NULL;
}

/* Compares with the last complete entry, and with the incomplete ones after it. */
static struct error *find_missing(struct gate *g)
{
	struct error *error = NULL;
	bool complete = false;

	g->view.since = INT64_MIN;
	for (size_t i = g->history.count; i-- > 0 && !complete && !error;) {
		if (!history_counts(&g->history, &g->view, i))
			continue;
		error = find_missing_of(g, &g->history.all[i].results);
		complete = !g->history.all[i].incomplete;
	}
	return error;
}

/* Of a result that is in two files only one would be judged, so that is refused. */
static struct error *add_results(struct gate *g, const struct results *more, const char *path)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct result *r = &more->all[i];

		if (results_find(&g->results, r->benchmark, r->measure))
			return error_new(ERROR_ARGUMENT, "%s: %s %s: is in a file before it, too",
					 path, r->benchmark, r->measure);
		if (results_add(&g->results, r))
			return error_memory();
	}
	if (!more->count)
		return error_new(ERROR_ARGUMENT, "%s: holds no result", path);
	return NULL;
}

static struct error *read_results(struct gate *g, const char *path)
{
	struct results results = { 0 };
	struct error *error = results_read_bmf(&results, path);

	if (!error)
		error = add_results(g, &results, path);
	results_release(&results);
	return error;
}

static bool read_all(struct gate *g)
{
	const struct settings *s = g->settings;

	if (!s->thresholds || !s->history || !s->rest_count) {
		message_error(
			"usage: prof-bench gate --thresholds FILE --history FILE RESULTS.json...");
		return false;
	}
	if (output_error(thresholds_read(&g->thresholds, s->thresholds)) ||
	    output_error(history_read(&g->history, s->history)))
		return false;
	for (size_t i = 0; i < s->rest_count; i++)
		if (output_error(read_results(g, s->rest[i])))
			return false;
	return true;
}

static enum verdict keep(struct gate *g, enum verdict verdict)
{
	struct history_entry entry = {
		.time = g->now,
		.branch = (char *)g->settings->branch,
		.hash = (char *)(g->settings->hash ? g->settings->hash : ""),
		.testbed = (char *)g->view.testbed,
		.regressed = verdict == VERDICT_REGRESSED && !g->settings->accept,
		.incomplete = g->missing.count > 0 && !g->settings->accept,
		.results = g->results,
	};

	if (!g->settings->dry_run && output_error(history_append(g->settings->history, &entry)))
		return VERDICT_ERROR;
	return verdict;
}

/*
 * Nothing had a baseline, and that is allowed: for the run that begins the history, in which later
 * ones find theirs. Else the history is that of another machine or branch, or was lost.
 */
static enum verdict judge_first(const struct gate *g)
{
	if (!g->history.count && !g->settings->dry_run)
		return VERDICT_FINE;
	output_failure("inconclusive: nothing was judged, as %s holds no value of branch %s, "
		       "testbed %s",
		       g->settings->history, g->view.branch, g->view.testbed);
	return VERDICT_INCONCLUSIVE;
}

static enum verdict judge_all(struct gate *g)
{
	for (size_t i = 0; i < g->results.count; i++)
		if (output_error(judge(g, &g->results.all[i])))
			return VERDICT_ERROR;
	if (output_error(find_missing(g)))
		return VERDICT_ERROR;
	output_line("%zu fine, %zu regressed, %zu inconclusive, %zu without a baseline, "
		    "%zu without a rule",
		    g->fine, g->regressed, g->inconclusive, g->without_baseline, g->without_rule);
	if (g->regressed)
		return VERDICT_REGRESSED;
	if (g->inconclusive)
		return VERDICT_INCONCLUSIVE;
	if (g->fine)
		return VERDICT_FINE;
	if (g->without_baseline)
		return judge_first(g);
	message_error("no rule of %s matches any result", g->settings->thresholds);
	return VERDICT_ERROR;
}

enum verdict gate_command(const struct settings *s)
{
	struct gate g = { .settings = s, .now = (int64_t)time(NULL) };
	enum verdict verdict = VERDICT_ERROR;
	char host[256] = "localhost";

	gethostname(host, sizeof(host) - 1);
	g.view = (struct history_view){ .branch = s->branch,
					.testbed = s->testbed ? s->testbed : host,
					.start_branch = s->start_point,
					.start_hash = s->start_point_hash };
	if (read_all(&g)) {
		verdict = judge_all(&g);
		if (verdict != VERDICT_ERROR)
			verdict = keep(&g, verdict);
		if (verdict == VERDICT_REGRESSED && s->accept)
			verdict = g.inconclusive ? VERDICT_INCONCLUSIVE : VERDICT_FINE;
		if (verdict != VERDICT_ERROR && output_bmf(&g.results))
			verdict = VERDICT_ERROR;
	}
	thresholds_release(&g.thresholds);
	history_release(&g.history);
	results_release(&g.results);
	results_release(&g.missing);
	return verdict;
}
