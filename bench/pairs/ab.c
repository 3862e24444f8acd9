/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <math.h>

#include "bench/measure/child.h"
#include "bench/pairs/explain.h"
#include "bench/pairs/paired_runs.h"
#include "bench/pairs/timed_program.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/clock.h"
#include "common/message.h"

#define EXPLAIN_ROUNDS 30 /* recordings of each program */
#define FUNCTIONS_SHOWN 10

struct ab {
	const struct settings *settings;
	struct timed_program programs[2]; /* old, new */
	uint64_t started;		  /* with the first pair */
};

static int measure(void *context, int side, double *ns)
{
	const struct ab *ab = context;

	return output_error(timed_program_run(&ab->programs[side], ns)) ? -1 : 0;
}

/* Both do as many iterations as take the slower one about 20 ms. */
static struct error *calibrate(struct ab *ab)
{
	uint64_t iterations[2], fewer;

	for (int i = 0; i < 2; i++) {
		struct error *error = timed_program_calibrate(&ab->programs[i], &iterations[i]);

		if (error)
			return error;
	}
	fewer = iterations[0] < iterations[1] ? iterations[0] : iterations[1];
	for (int i = 0; i < 2; i++)
		timed_program_set_iterations(&ab->programs[i], fewer);
	output_line("%s: %" PRIu64 " iterations in each run", ab->settings->benchmark, fewer);
	return NULL;
}

static void print_change(const char *what, const struct paired_runs_change *c, size_t n)
{
	output_line("%-10s [%s %s %s] of %zu pairs, p = %.3f; bootstrap [%s %s]", what,
		    output_percent(c->sign.low).text, output_percent(c->sign.value).text,
		    output_percent(c->sign.high).text, n, c->p,
		    output_percent(c->bootstrap.low).text, output_percent(c->bootstrap.high).text);
}

/* Prints what would make the comparison conclusive. */
static void print_remedy(const struct ab *ab, const struct paired_runs_comparison *c, double wanted)
{
	size_t n = c->different.n;
	size_t needed = paired_runs_needed(&c->change, &c->same_change, n, wanted);
	double pair_ns = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - ab->started) / (double)n;

	if (!needed)
		output_line("  the change is about as large as the %.3g%% that are to be found; "
			    "choose another --noise",
			    wanted * 100);
	else
		output_line("  about %s pairs in place of %zu would decide: --max-pairs %zu "
			    "(%.3g min), or a quieter machine",
			    output_count((double)needed).text, n, needed,
			    pair_ns * (double)needed / 60e9);
}

static enum verdict conclude(const struct ab *ab, const struct paired_runs_comparison *c,
			     double wanted)
{
	double noise = paired_runs_noise(&c->same_change, 0), value = c->change.sign.value;

	print_change("old/old", &c->same_change, c->same.n);
	print_change("new/old", &c->change, c->different.n);
	switch (c->verdict) {
	case PAIRED_RUNS_FINE:
		output_line("not slower by more than %.3g%% (noise %.2f%%)", wanted * 100,
			    noise * 100);
		return VERDICT_FINE;
	case PAIRED_RUNS_FASTER:
		output_line("faster by %.2f%% (noise %.2f%%)", -value * 100, noise * 100);
		return VERDICT_FINE;
	case PAIRED_RUNS_SLOWER:
		output_failure("SLOWER by %.2f%% (noise %.2f%%)", value * 100, noise * 100);
		return VERDICT_REGRESSED;
	case PAIRED_RUNS_INCONCLUSIVE: break;
	}
	output_failure("inconclusive: a slowdown of more than %.3g%% can be there or not (noise "
		       "%.2f%%)",
		       wanted * 100, noise * 100);
	print_remedy(ab, c, wanted);
	return VERDICT_INCONCLUSIVE;
}

/* Prints the functions that made it slower: at least a tenth of the whole change is theirs. */
static void print_explanation(const struct explanation *e)
{
	double least = fabs(e->ns[1] - e->ns[0]) / 10;
	size_t shown = 0;

	output_line("functions whose own time changed, of %s that the old one takes on a CPU:",
		    output_time(e->ns[0]).text);
	for (size_t i = 0; i < e->count && shown < FUNCTIONS_SHOWN; i++) {
		const struct explained_function *f = &e->all[i];

		if (!f->sure || fabs(f->difference.value) < least)
			continue;
		shown++;
		output_line(
			"  %s [%s %s] (%s of the whole)  %s", output_time(f->difference.value).text,
			output_time(f->difference.low).text, output_time(f->difference.high).text,
			output_percent(f->difference.value / e->ns[0]).text, f->name);
	}
	if (!shown)
		output_line("  none for certain: it waits rather than computes, the change is "
			    "spread over many, or there is none");
}

static void explain_change(const struct ab *ab)
{
	const struct explain_options options = {
		.arguments = { ab->programs[0].arguments, ab->programs[1].arguments },
		.rounds = EXPLAIN_ROUNDS,
		.seed = ab->settings->seed,
	};
	struct explanation e = { 0 };

	if (output_error(error_prefix(explain(&e, &options), "it cannot be explained")))
		return;
	print_explanation(&e);
	explanation_release(&e);
}

static struct estimate ratio(const struct paired_runs_change *c)
{
	return (struct estimate){ 1 + c->sign.value, 1 + c->sign.low, 1 + c->sign.high };
}

/* Both are the new program's: the old one may have the same name. */
static enum verdict write_bmf(const char *program, const struct paired_runs_comparison *c)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	if (!results_estimate(&results, program, "ratio", ratio(&c->change)) &&
	    !results_estimate(&results, program, "old-old-ratio", ratio(&c->same_change)))
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}

static enum verdict compare(struct ab *ab)
{
	const struct settings *s = ab->settings;
	const struct paired_runs_options options = {
		.pairs = s->pairs,
		.max_pairs = s->max_pairs ? s->max_pairs : 4 * s->pairs,
		.wanted = s->noise / 100,
		.seed = s->seed,
		.resamples = s->resamples,
	};
	struct paired_runs_comparison c = { 0 };
	enum verdict verdict = VERDICT_ERROR;
	double unused;

	/* Once each to fill the caches. */
	if (measure(ab, 0, &unused) || measure(ab, 1, &unused))
		return VERDICT_ERROR;
	if (s->benchmark && output_error(calibrate(ab)))
		return VERDICT_ERROR;
	ab->started = clock_ns(CLOCK_MONOTONIC_RAW);
	if (!paired_runs_compare(&c, &options, measure, ab)) {
		verdict = conclude(ab, &c, options.wanted);
		if ((verdict == VERDICT_REGRESSED || verdict == VERDICT_INCONCLUSIVE) && s->explain)
			explain_change(ab);
		if (s->bmf && write_bmf(s->rest[1], &c))
			verdict = VERDICT_ERROR;
	}
	paired_runs_comparison_release(&c);
	return verdict;
}

enum verdict ab_command(const struct settings *s)
{
	struct ab ab = { .settings = s };
	enum verdict verdict = VERDICT_ERROR;
	bool ready = true;

	if (s->rest_count != 2 || (s->benchmark && s->command)) {
		message_error("usage: prof-bench ab OLD NEW [-- ARGUMENTS FOR BOTH...], or "
			      "ab --benchmark NAME OLD NEW");
		return VERDICT_ERROR;
	}
	if (s->max_pairs && s->max_pairs < s->pairs) {
		message_error("--max-pairs is below --pairs");
		return VERDICT_ERROR;
	}
	/* CPUs of one machine differ in speed. Elapsed time may come from several of them. */
	if (s->cpu_time)
		child_use_one_cpu();
	for (int i = 0; i < 2; i++) {
		const struct timed_program_options options = { .program = s->rest[i],
							       .arguments = s->command,
							       .benchmark = s->benchmark,
							       .cpu_time = s->cpu_time,
							       .seed = s->seed };

		ready = ready && !output_error(timed_program_init(&ab.programs[i], &options));
	}
	if (ready)
		verdict = compare(&ab);
	for (int i = 0; i < 2; i++)
		timed_program_release(&ab.programs[i]);
	return verdict;
}
