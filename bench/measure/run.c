/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/baseline.h"
#include "bench/measure/registry.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

#define KEY_SIZE 1100
#define SIGNIFICANCE 0.05 /* Criterion's number */

struct run {
	const struct settings *settings;
	struct measurement_options options;
	struct bootstrap bootstrap;
	struct baseline *baseline;
	struct results results;
	size_t failed;
};

static void print_outliers(const struct outliers *o, size_t n)
{
	const struct {
		size_t count;
		const char *name;
	} classes[] = {
		{ o->low_severe, "low severe" },
		{ o->low_mild, "low mild" },
		{ o->high_mild, "high mild" },
		{ o->high_severe, "high severe" },
	};
	double percent = 100 / (double)n;

	if (!outliers_total(o))
		return;
	output_line("Found %zu outliers among %zu measurements (%.2f%%)", outliers_total(o), n,
		    (double)outliers_total(o) * percent);
	for (size_t i = 0; i < 4; i++)
		if (classes[i].count)
			output_line("  %zu (%.2f%%) %s", classes[i].count,
				    (double)classes[i].count * percent, classes[i].name);
}

static const char *change_verdict(const struct measurement_change *c)
{
	if (c->change.p >= SIGNIFICANCE)
		return "No change in performance detected.";
	if (c->change.mean.low > c->noise && c->change.median.low > c->noise)
		return "Performance has regressed.";
	if (c->change.mean.high < -c->noise && c->change.median.high < -c->noise)
		return "Performance has improved.";
	return "Change within noise threshold.";
}

/* "2.3%" of 0.023 */
static struct output_text waited_text(double share)
{
	struct output_text t;

	if (isnan(share))
		snprintf(t.text, sizeof(t.text), "an unknown part");
	else
		snprintf(t.text, sizeof(t.text), "%.1f%%", share * 100);
	return t;
}

/* No verdict if the machine's speed changed. */
static void print_verdict(const struct measurement_change *c, double waited_before, double waited)
{
	const struct estimate *r = &c->reference;

	switch (c->comparable) {
	case MEASUREMENT_COMPARABLE: output_line("%24s%s", "", change_verdict(c)); return;
	case MEASUREMENT_NO_REFERENCE:
		output_line("%24sNo verdict: the earlier run did not time the reference loop.", "");
		return;
	case MEASUREMENT_OTHER_SPEED:
		output_line("%24sNo verdict: the reference loop changed by [%s %s %s], so the "
			    "machine is not as it was.",
			    "", output_percent(r->low).text, output_percent(r->value).text,
			    output_percent(r->high).text);
		return;
	case MEASUREMENT_WAS_DISTURBED:
	case MEASUREMENT_DISTURBED:
		output_line("%24sNo verdict: other tasks had the CPU for %s of the time, and for "
			    "%s in the run before.",
			    "", waited_text(waited).text, waited_text(waited_before).text);
	}
}

/*
 * Whether the next run is compared with this one. Not if this one is disturbed, or the machine has
 * another speed now: a regression that could not be seen in it would never be.
 */
static bool replaces(enum measurement_comparable comparable)
{
	return comparable != MEASUREMENT_DISTURBED && comparable != MEASUREMENT_OTHER_SPEED;
}

/* CPU time and elapsed time are never compared with each other. */
static const char *baseline_key(const struct run *run, const struct benchmark *b, char *key)
{
	snprintf(key, KEY_SIZE, "%s%s", b->name, run->options.cpu_time ? " cpu-time" : "");
	return key;
}

/* Shows the change since the run before. Returns whether this one takes its place. */
static bool print_comparison(const struct run *run, const struct benchmark *b,
			     const struct measurement *before, const struct measurement *now)
{
	struct measurement_change c;
	const struct estimate *mean = &c.change.mean;

	if (measurement_compare(&run->bootstrap, before, now, &c)) {
		message_warning("%s: out of memory while it was compared with the run before, "
				"which stays the baseline",
				b->name);
		return false;
	}
	output_line("%24schange: [%s %s %s] (p = %.2f %c %.2f)", "", output_percent(mean->low).text,
		    output_percent(mean->value).text, output_percent(mean->high).text, c.change.p,
		    c.change.p < SIGNIFICANCE ? '<' : '>', SIGNIFICANCE);
	print_verdict(&c, before->waited, now->waited);
	if (replaces(c.comparable))
		return true;
	output_line("%24sThe run before stays the baseline, in %s; remove it, or use --baseline, "
		    "to begin anew.",
		    "", baseline_path(run->baseline));
	return false;
}

/* Compares with the run before, and keeps that one or this one for the next. */
static void print_change(const struct run *run, const struct benchmark *b,
			 const struct measurement *now)
{
	struct measurement before = { 0 };
	char key[KEY_SIZE];

	int found = baseline_get(run->baseline, baseline_key(run, b, key), &before);

	if (found < 0)
		message_warning("%s: the baseline's measurements of %s cannot be used",
				baseline_path(run->baseline), b->name);
	if (found <= 0 || print_comparison(run, b, &before, now))
		baseline_put(run->baseline, key, now);
	measurement_release(&before);
}

static void print_too_short(const struct run *run, const struct measurement *m)
{
	if (m->needed_seconds <= 0)
		return;
	message_warning(
		"Unable to complete %zu measurements in %.1fs. You may wish to increase the "
		"time to %.1fs%s",
		m->n, run->options.seconds, m->needed_seconds,
		m->fitting_count >= 2 ? ", or reduce the number of measurements to:" : "");
	if (m->fitting_count >= 2)
		message_warning("    --measurements %zu", m->fitting_count);
}

static int print_summary(struct run *run, const struct benchmark *b, void *state,
			 const struct measurement_summary *s)
{
	uint64_t units = b->units, bytes = 0;
	int failed;

	output_line("%-23s %s   [%s %s %s]", b->name,
		    run->options.cpu_time ? "CPU time:" : "time:", output_time(s->typical.low).text,
		    output_time(s->typical.value).text, output_time(s->typical.high).text);
	failed = results_estimate(&run->results, b->name,
				  run->options.cpu_time ? "cpu-time" : "latency", s->typical);
	if (b->size)
		b->size(state, &units, &bytes);
	if (units && b->unit) {
		double n = (double)units * 1e9;

		output_line("%24sthrpt:  [%s %s %s], %s per one", "",
			    output_rate(n / s->typical.high, "").text,
			    output_rate(n / s->typical.value, "").text,
			    output_rate(n / s->typical.low, b->unit).text,
			    output_time(s->typical.value / (double)units).text);
		failed |= results_estimate(&run->results, b->name, "throughput",
					   (struct estimate){ n / s->typical.value,
							      n / s->typical.high,
							      n / s->typical.low });
	}
	if (bytes)
		output_line("%24s        %s", "",
			    output_rate((double)bytes * 1e9 / s->typical.value, "B/s").text);
	if (run->settings->verbose)
		output_line("%24smedian %s, mean %s, std. dev. %s, MAD %s, R2 %.5f", "",
			    output_time(s->each.median.value).text,
			    output_time(s->each.mean.value).text,
			    output_time(s->each.deviation.value).text,
			    output_time(s->each.mad.value).text, s->r2);
	return failed;
}

/* Adds what the benchmark itself has to say, and shows it. */
static int print_measures(struct run *run, const struct benchmark *b, void *state)
{
	size_t first = run->results.count;

	if (!b->measures)
		return 0;
	if (b->measures(state, b->name, &run->results))
		return -1;
	for (size_t i = first; i < run->results.count; i++)
		output_line("%24s%s: %.6g", "", run->results.all[i].measure,
			    run->results.all[i].estimate.value);
	return 0;
}

static struct error *run_one(struct run *run, const struct benchmark *b)
{
	struct measurement m = { 0 };
	struct measurement_summary summary;
	struct error *error;
	void *state;

	error = benchmark_start(b, &state, run->settings->seed);
	if (error)
		return error;
	if (measurement_take(&m, &run->options, b, state)) {
		error = error_memory();
		goto out;
	}
	/* Only a run that was right to its end is a result. */
	error = b->check ? b->check(state) : NULL;
	if (error)
		goto out;
	if (measurement_summarize(&m, &run->bootstrap, &summary)) {
		error = error_new(ERROR_FAILED, "too few measurements");
		goto out;
	}
	print_too_short(run, &m);
	if (print_summary(run, b, state, &summary) || print_measures(run, b, state)) {
		error = error_new(ERROR_FAILED, "yields no usable number");
		goto out;
	}
	print_change(run, b, &m);
	print_outliers(&summary.outliers, m.n);
out:
	measurement_release(&m);
	benchmark_stop(b, state);
	return error;
}

static enum verdict run_all(struct run *run, const struct benchmark_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++) {
		const struct benchmark *b = selection->all[i];
		struct error *error = run_one(run, b);

		if (!output_unavailable(b->name, error) &&
		    output_error(error_prefix(error, "%s: failed", b->name)))
			run->failed++;
	}
	if (run->failed || !run->results.count)
		return VERDICT_ERROR;
	return VERDICT_FINE;
}

enum verdict run_command(const struct settings *s)
{
	struct run run = {
		.settings = s,
		.options = { .seconds = s->seconds > 0 ? s->seconds : 5,
			     .warm_up_seconds = s->warm_up_seconds,
			     .count = s->measurements,
			     .cpu_time = s->cpu_time },
		.bootstrap = { .seed = s->seed, .resamples = s->resamples, .confidence = 0.95 },
	};
	struct benchmark_selection selection;
	enum verdict verdict = VERDICT_ERROR, written;

	if (s->list)
		return registry_list(s);
	if (!registry_select(s, &selection))
		return VERDICT_ERROR;
	if (output_error(baseline_open(&run.baseline, s->baseline)))
		goto out;
	run.options.overhead_ns = measurement_overhead(&run.options);
	output_line("harness overhead %s per measurement, subtracted; seed %llu",
		    output_time(run.options.overhead_ns).text, (unsigned long long)s->seed);
	verdict = run_all(&run, &selection);
	if (run.results.count &&
	    output_error(error_prefix(baseline_save(run.baseline), "cannot keep the measurements")))
		verdict = VERDICT_ERROR;
	if (run.results.count) {
		written = output_bmf(&run.results);
		verdict = written > verdict ? written : verdict;
	}
out:
	results_release(&run.results);
	baseline_free(run.baseline);
	registry_release(&selection);
	return verdict;
}
