/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the phases of a sample take, as the sampling program itself measures it: page faults
 * of a worker at chosen depths, in its own code and in system calls.
 */
#include <math.h>
#include <string.h>

#include "bench/kernel/attachment.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

#define FAULTS 2000
#define BATCH 100
#define COLUMNS 11

struct setup {
	enum unwind_by unwind_by;
	uint32_t depth;
	enum worker_task task;
};

static const struct setup setups[] = {
	{ UNWIND_BY_TABLES, 0, WORKER_FAULT },
	{ UNWIND_BY_TABLES, 32, WORKER_FAULT },
	{ UNWIND_BY_TABLES, 110, WORKER_FAULT },
	{ UNWIND_BY_TABLES, 32, WORKER_FAULT_IN_KERNEL },
	{ UNWIND_BY_FRAME_POINTER, 32, WORKER_FAULT },
	{ UNWIND_BY_FRAME_POINTER, 110, WORKER_FAULT },
};

static const struct {
	const char *title, *slug;
} phases[PHASE_COUNT] = {
	[PHASE_QUESTION] = { "question: a target?", "question" },
	[PHASE_RECORD] = { "record: head", "record" },
	[PHASE_USER] = { "user stack", "user-stack" },
	[PHASE_KERNEL] = { "kernel stack", "kernel-stack" },
	[PHASE_SCRIPT] = { "frames of runtimes", "script" },
	[PHASE_SUBMIT] = { "submit: ring", "submit" },
};

/* The mean time of a phase, without the cost of reading the clock. NaN: it never ran. */
static double mean_ns(const struct phase_times *t, enum phase phase)
{
	const struct phase_time *p = &t->phases[phase], *clock = &t->phases[PHASE_CLOCK];

	if (!p->samples || !clock->samples)
		return NAN;
	return fmax(0, (double)p->ns / (double)p->samples -
			       (double)clock->ns / (double)clock->samples);
}

static int first_bin(const struct phase_times *t)
{
	for (int bin = 0; bin < PHASE_BINS; bin++)
		for (int i = PHASE_QUESTION; i < PHASE_COUNT; i++)
			if (t->phases[i].bins[bin])
				return bin;
	return 0;
}

static void print_columns(int first)
{
	char text[COLUMNS * 8 + 1] = "";

	for (int i = 0; i < COLUMNS; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%6llu%s",
			 1ULL << (first + i), i == COLUMNS - 1 ? "+" : "");
	output_line("  %-20s %12s%s", "", "mean", text);
}

/* Shares of the samples in percent; the last column holds all that took longer. */
static void print_phase(const struct phase_times *t, enum phase phase, int first)
{
	const struct phase_time *p = &t->phases[phase];
	char text[COLUMNS * 8 + 1] = "";

	for (int i = 0; i < COLUMNS; i++) {
		uint64_t n = p->bins[first + i < PHASE_BINS ? first + i : PHASE_BINS - 1];

		for (int more = first + i + 1; i == COLUMNS - 1 && more < PHASE_BINS; more++)
			n += p->bins[more];
		if (n)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%6.1f",
				 (double)n * 100 / (double)p->samples);
		else
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%6s", "");
	}
	output_line("  %-20s %12s%s", phases[phase].title, output_time(mean_ns(t, phase)).text,
		    text);
}

static const char *unwinding(const struct setup *setup)
{
	return setup->unwind_by == UNWIND_BY_TABLES ? "tables" : "frame-pointers";
}

static struct error *print(const struct setup *setup, const struct phase_times *t,
			   const struct attachment_samples *found, struct results *results)
{
	const bool in_kernel = setup->task == WORKER_FAULT_IN_KERNEL;
	const struct phase_time *clock = &t->phases[PHASE_CLOCK];
	int first = first_bin(t);
	double sum = 0;

	if (first > PHASE_BINS - COLUMNS)
		first = PHASE_BINS - COLUMNS;
	output_line("user stacks by %s, %u user and %.0f kernel frames, %s samples; ns and more:",
		    unwinding(setup), found->most_frames,
		    (double)found->kernel_frames / (double)found->samples,
		    output_count((double)t->phases[PHASE_SUBMIT].samples).text);
	print_columns(first);
	for (int i = PHASE_QUESTION; i < PHASE_COUNT; i++) {
		char name[96];

		if (!t->phases[i].samples)
			continue;
		print_phase(t, i, first);
		sum += mean_ns(t, i);
		snprintf(name, sizeof(name), "kernel/%s/depth-%u%s/%s", unwinding(setup),
			 setup->depth, in_kernel ? "-in-kernel" : "", phases[i].slug);
		if (results_value(results, name, "latency", mean_ns(t, i)))
			return error_new(ERROR_FAILED, "no usable number");
	}
	output_line("  %-20s %12s less %s in each for looking at the clock", "together",
		    output_time(sum).text,
		    output_time((double)clock->ns / (double)clock->samples).text);
	return NULL;
}

static void subtract(struct phase_times *from, const struct phase_times *what)
{
	for (int i = 0; i < PHASE_COUNT; i++) {
		from->phases[i].samples -= what->phases[i].samples;
		from->phases[i].ns -= what->phases[i].ns;
		for (int bin = 0; bin < PHASE_BINS; bin++)
			from->phases[i].bins[bin] -= what->phases[i].bins[bin];
	}
}

/* Each fault must have become a sample of the depth that was made, with a kernel stack if asked. */
static struct error *check(const struct setup *setup, const struct phase_times *t,
			   const struct attachment_samples *found)
{
	const struct phase_time *submit = &t->phases[PHASE_SUBMIT];

	if (found->lost || submit->samples < FAULTS || found->samples != submit->samples)
		return error_new(ERROR_FAILED,
				 "%d page faults gave %llu samples, %llu of them read, "
				 "%llu lost",
				 FAULTS, (unsigned long long)submit->samples,
				 (unsigned long long)found->samples,
				 (unsigned long long)found->lost);
	if (found->most_frames < setup->depth)
		return error_new(ERROR_FAILED, "stacks of %u calls were seen with %u frames",
				 setup->depth, found->most_frames);
	if (setup->task == WORKER_FAULT_IN_KERNEL && found->kernel_frames < FAULTS)
		return error_new(ERROR_FAILED, "faults in system calls show no kernel stack");
	return NULL;
}

static struct error *faults(struct worker *worker, const struct setup *setup, int n)
{
	double ns;

	for (int i = 0; i < n; i += BATCH)
		if (worker_do(worker, &(struct worker_order){ setup->task, setup->depth, BATCH },
			      &ns))
			return error_new(ERROR_FAILED, "the worker ended");
	return NULL;
}

static struct error *measure(struct worker *worker, unsigned int cpu, const struct setup *setup,
			     struct results *results)
{
	struct attachment a = { .time_phases = true };
	struct attachment_samples found;
	struct phase_times before, after;
	const struct attachment_options options = { "page-faults/period=1/", cpu,
						    setup->unwind_by };
	struct error *error = attachment_sampler(&a, worker, &options);

	/* The first ones find nothing in the caches. */
	if (!error)
		error = faults(worker, setup, FAULTS / 10);
	if (!error)
		error = attachment_drain(&a, &found);
	if (!error)
		error = sampler_read_phases(a.sampler, &before);
	if (!error)
		error = faults(worker, setup, FAULTS);
	if (!error)
		error = sampler_read_phases(a.sampler, &after);
	if (!error)
		error = attachment_drain(&a, &found);
	attachment_release(&a);
	if (error)
		return error;
	subtract(&after, &before);
	error = check(setup, &after, &found);
	return error ? error : print(setup, &after, &found, results);
}

enum verdict phases_command(const struct settings *s)
{
	const unsigned int cpu = worker_choose_cpu();
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;
	struct error *error = NULL;
	struct worker worker;
	int status = worker_start(&worker, cpu);

	if (status) {
		error = error_system(status, "cannot start a worker");
	} else {
		for (size_t i = 0; i < sizeof(setups) / sizeof(*setups) && !error; i++)
			error = measure(&worker, cpu, &setups[i], &results);
		worker_stop(&worker);
	}
	if (!output_error(error_prefix(error, "kernel --phases")))
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}
