/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/child.h"
#include "bench/pairs/paired_runs.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

struct ab {
	const struct settings *settings;
	const char **arguments[2];
};

/* The program and what follows "--". */
static const char **arguments_of(const char *program, char *const *further)
{
	size_t n = 0;
	const char **all;

	while (further && further[n])
		n++;
	all = calloc(n + 2, sizeof(*all));
	if (!all)
		return NULL;
	all[0] = program;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = further[i];
	return all;
}

/*
 * For CPU time, both programs run on one and the same CPU: those of one machine differ in speed,
 * by what runs beside them. Elapsed time is left alone, as it may come from several CPUs.
 */
static void stay_on_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(all), &all))
		return; /* more than a thousand CPUs: noisier, but no less true */
	while (cpu > 0 && !CPU_ISSET(cpu, &all))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int measure(void *context, int side, double *ns)
{
	const struct ab *ab = context;
	const struct child_options options = { .arguments = ab->arguments[side] };
	struct child_cost cost;

	if (child_run(&options, &cost)) {
		message_error("%s: %s", ab->arguments[side][0], strerror(errno));
		return -1;
	}
	if (cost.status) {
		message_error("%s: ended with status %d, so its time means nothing",
			      ab->arguments[side][0], cost.status);
		return -1;
	}
	*ns = ab->settings->cpu_time ? cost.user_ns + cost.system_ns : cost.elapsed_ns;
	if (!(*ns > 0)) {
		message_error("%s: used no measurable CPU time; leave out --cpu-time",
			      ab->arguments[side][0]);
		return -1;
	}
	return 0;
}

static void print_change(const char *what, const struct paired_runs_change *c, size_t n)
{
	output_line("%-10s [%s %s %s] of %zu pairs, p = %.3f; bootstrap [%s %s]", what,
		    output_percent(c->sign.low).text, output_percent(c->sign.value).text,
		    output_percent(c->sign.high).text, n, c->p,
		    output_percent(c->bootstrap.low).text, output_percent(c->bootstrap.high).text);
}

static enum verdict conclude(const struct paired_runs_change *change, double noise,
			     enum paired_runs_verdict verdict)
{
	switch (verdict) {
	case PAIRED_RUNS_SAME:
		output_line("no change beyond the noise of %.2f%%", noise * 100);
		return VERDICT_FINE;
	case PAIRED_RUNS_FASTER:
		output_line("faster by %.2f%% (noise %.2f%%)", -change->sign.value * 100,
			    noise * 100);
		return VERDICT_FINE;
	case PAIRED_RUNS_SLOWER:
		output_line("SLOWER by %.2f%% (noise %.2f%%)", change->sign.value * 100,
			    noise * 100);
		return VERDICT_REGRESSED;
	case PAIRED_RUNS_INCONCLUSIVE: break;
	}
	output_line("inconclusive: the interval lies partly within the noise of %.2f%%",
		    noise * 100);
	return VERDICT_INCONCLUSIVE;
}

/*
 * Adds pairs of both kinds until the answer is clear, and more than "the machine is too
 * noisy to see", or there are enough.
 */
static enum verdict compare(struct ab *ab, struct paired_runs *same, struct paired_runs *different)
{
	const struct settings *s = ab->settings;
	size_t most = s->max_pairs ? s->max_pairs : 4 * s->pairs, step = s->pairs;
	const struct bootstrap bootstrap = { s->seed, s->resamples, 0.95 };
	struct paired_runs_change noise_change, change;
	enum paired_runs_verdict verdict;
	struct random r;
	double noise, unused;
	bool unclear;

	random_seed(&r, s->seed);
	/* Once each to fill the caches. */
	if (measure(ab, 0, &unused) || measure(ab, 1, &unused))
		return VERDICT_ERROR;
	do {
		if (paired_runs_take(same, step, true, &r, measure, ab) ||
		    paired_runs_take(different, step, false, &r, measure, ab))
			return VERDICT_ERROR;
		if (paired_runs_change(same, &bootstrap, &noise_change) ||
		    paired_runs_change(different, &bootstrap, &change)) {
			message_error("too few pairs");
			return VERDICT_ERROR;
		}
		noise = paired_runs_noise(&noise_change, s->noise / 100);
		verdict = paired_runs_judge(&change, noise);
		step = different->n < most - different->n ? different->n : most - different->n;
		unclear = verdict == PAIRED_RUNS_INCONCLUSIVE ||
			  (verdict == PAIRED_RUNS_SAME && noise > s->noise / 100);
	} while (unclear && step);
	print_change("old/old", &noise_change, same->n);
	print_change("new/old", &change, different->n);
	return conclude(&change, noise, verdict);
}

static int add_ratio(struct results *results, const struct settings *s, const char *program,
		     const char *measure, const struct paired_runs *pairs)
{
	const struct bootstrap bootstrap = { s->seed, s->resamples, 0.95 };
	struct paired_runs_change change;

	if (paired_runs_change(pairs, &bootstrap, &change))
		return -1;
	return results_estimate(results, program, measure,
				(struct estimate){ 1 + change.sign.value, 1 + change.sign.low,
						   1 + change.sign.high });
}

/* Both are the new program's: the old one may have the same name. */
static enum verdict write_bmf(const struct settings *s, const struct paired_runs *same,
			      const struct paired_runs *different)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	if (!add_ratio(&results, s, s->rest[1], "ratio", different) &&
	    !add_ratio(&results, s, s->rest[1], "old-old-ratio", same))
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}

enum verdict ab_command(const struct settings *s)
{
	struct ab ab = { .settings = s };
	struct paired_runs same = { 0 }, different = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	if (s->rest_count != 2) {
		message_error("usage: prof-bench ab OLD NEW [-- ARGUMENTS FOR BOTH...]");
		return VERDICT_ERROR;
	}
	if (s->max_pairs && s->max_pairs < s->pairs) {
		message_error("--max-pairs is below --pairs");
		return VERDICT_ERROR;
	}
	if (s->cpu_time)
		stay_on_one_cpu();
	for (int i = 0; i < 2; i++)
		ab.arguments[i] = arguments_of(s->rest[i], s->command);
	if (ab.arguments[0] && ab.arguments[1])
		verdict = compare(&ab, &same, &different);
	if (verdict != VERDICT_ERROR && s->bmf && write_bmf(s, &same, &different))
		verdict = VERDICT_ERROR;
	free(ab.arguments[0]);
	free(ab.arguments[1]);
	paired_runs_release(&same);
	paired_runs_release(&different);
	return verdict;
}
