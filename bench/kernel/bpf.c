/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/kernel/program_attach.h"
#include "bench/measure/child.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/statistics/bootstrap.h"
#include "common/clock.h"
#include "common/message.h"

#define SLICES 20
#define SLICES_LEAST 5
#define ROUNDS 100
#define INPUT_MAX (1 << 20)

/* What is looked at, and what was found. */
struct bpf_bench {
	const struct settings *settings;
	struct program *program;
	struct program_input input;
	struct program_output output; /* of the last test run */
	char name[160];		      /* "bpf/..." */
	struct results results;
};

static struct bootstrap bootstrap_of(const struct settings *s)
{
	return (struct bootstrap){ s->seed, s->resamples, 0.95 };
}

static double now_seconds(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC_RAW) / 1e9;
}

/* -------- a program that others run -------- */

static void wait_ns(double ns)
{
	struct timespec t = { (time_t)(ns / 1e9), (long)fmod(ns, 1e9) };

	while (nanosleep(&t, &t) && errno == EINTR && !program_interrupted())
		;
}

/* What the kernel counted at the beginning and after each slice. */
struct window {
	struct program_counters slices[SLICES + 1];
	size_t count; /* of slices */
};

/* Runs the command after "--" once; what it prints goes nowhere. */
static struct error *run_command_once(const struct bpf_bench *b)
{
	char *const *command = b->settings->command;
	struct child_cost cost;

	if (child_run(&(struct child_options){ .arguments = (const char *const *)command }, &cost))
		return error_new(ERROR_FAILED, "%s: %s", command[0], strerror(errno));
	if (cost.status)
		return error_new(ERROR_FAILED, "%s ended with status %d", command[0], cost.status);
	return NULL;
}

/*
 * A slice is a run of the command, if there is one, else a share of the time. Commands that take
 * long are run five times nevertheless: fewer slices say nothing about how the cost varies.
 */
static struct error *watch(const struct bpf_bench *b, struct window *w)
{
	double seconds = b->settings->seconds > 0 ? b->settings->seconds : 2;
	double start = now_seconds();
	int statistics;
	struct error *error = program_enable_statistics(&statistics);

	if (error)
		return error;
	error = program_counters(b->program, &w->slices[0]);
	while (!error && w->count < SLICES &&
	       (w->count < SLICES_LEAST || !b->settings->command ||
		now_seconds() - start < seconds)) {
		if (b->settings->command)
			error = run_command_once(b);
		else
			wait_ns(seconds * 1e9 / SLICES);
		if (!error && program_interrupted())
			error = error_new(ERROR_FAILED, "interrupted");
		if (!error)
			error = program_counters(b->program, &w->slices[++w->count]);
	}
	close(statistics);
	return error;
}

/*
 * ns per run: run time over runs is a slope through the origin of slices, each weighted by
 * its runs; slices in which nothing ran say nothing. The slope of least squares would weigh
 * by their squares, so each slice's mean is resampled with its number of runs.
 */
static struct error *per_run(const struct bpf_bench *b, const struct window *w, struct estimate *ns)
{
	const struct program_counters *first = &w->slices[0], *last = &w->slices[w->count];
	uint64_t runs = last->runs - first->runs, run_ns = last->run_ns - first->run_ns;
	struct bootstrap bootstrap = bootstrap_of(b->settings);
	double means[SLICES];
	struct bootstrap_estimates e;
	size_t n = 0;

	if (!runs)
		return error_new(ERROR_FAILED,
				 "%s did not run within the window, so its cost is not "
				 "known; is it attached, and does anything trigger it?",
				 program_name(b->program));
	if (!run_ns)
		return error_new(ERROR_FAILED,
				 "%s ran %llu times in 0 ns: the kernel's clock is too coarse",
				 program_name(b->program), (unsigned long long)runs);
	for (size_t i = 1; i <= w->count; i++) {
		uint64_t slice = w->slices[i].runs - w->slices[i - 1].runs;

		if (slice)
			means[n++] = (double)(w->slices[i].run_ns - w->slices[i - 1].run_ns) /
				     (double)slice;
	}
	if (n < SLICES_LEAST)
		return error_new(ERROR_FAILED,
				 "%s ran %llu times in %zu of %zu slices: too few for an interval; "
				 "watch longer with --time",
				 program_name(b->program), (unsigned long long)runs, n, w->count);
	if (bootstrap_estimates(&bootstrap, means, n, &e))
		return error_memory();
	ns->value = (double)run_ns / (double)runs;
	ns->low = ns->value + (e.mean.low - e.mean.value);
	ns->high = ns->value + (e.mean.high - e.mean.value);
	return NULL;
}

/* One from an object file has to be attached first, and is detached before anything is printed. */
static struct error *watch_attached(struct bpf_bench *b, struct window *w)
{
	const struct program_place place = { b->settings->interface, b->settings->cgroup };
	struct program_attachment *attachment = NULL;
	struct error *error = NULL;

	w->count = 0;
	if (program_of(b->program))
		error = program_attach(&attachment, b->program, &place);
	if (!error)
		error = watch(b, w);
	program_detach(attachment);
	return error;
}

static struct error *measure_window(struct bpf_bench *b)
{
	struct window w;
	struct error *error = watch_attached(b, &w);
	const struct program_counters *first = &w.slices[0], *last = &w.slices[w.count];
	double elapsed, rate, share;
	struct estimate ns;

	if (!error)
		error = per_run(b, &w, &ns);
	if (error)
		return error;
	elapsed = (double)(last->time_ns - first->time_ns);
	rate = (double)(last->runs - first->runs) * 1e9 / elapsed;
	share = (double)(last->run_ns - first->run_ns) / elapsed;
	output_line("%-23s time:   [%s %s %s] per run", b->name, output_time(ns.low).text,
		    output_time(ns.value).text, output_time(ns.high).text);
	output_line("%24s%s runs in %s, %s, %.4f%% of one CPU, %llu recursion misses", "",
		    output_count((double)(last->runs - first->runs)).text,
		    output_time(elapsed).text, output_rate(rate, "runs/s").text, share * 100,
		    (unsigned long long)(last->recursion_misses - first->recursion_misses));
	output_line("%24shardware counters: not available (only with --test-run)", "");
	if (results_estimate(&b->results, b->name, "latency", ns) ||
	    results_value(&b->results, b->name, "throughput", rate) ||
	    results_value(&b->results, b->name, "cpu-share", share))
		return error_memory();
	return NULL;
}

/* -------- a program that we run -------- */

static struct error *run_program(struct bpf_bench *b)
{
	struct error *error = program_run(b->program, &b->input, b->settings->repeat, &b->output);

	if (!error && program_type(b->program) == BPF_PROG_TYPE_XDP &&
	    b->output.result == XDP_ABORTED)
		error = error_new(ERROR_FAILED, "it returned XDP_ABORTED");
	return error;
}

/* One round of runs with statistics on: ns per run as the kernel counts them. */
static struct error *count_round(struct bpf_bench *b, double *ns)
{
	struct program_counters before, after;
	struct error *error = program_counters(b->program, &before);

	if (!error)
		error = run_program(b);
	if (!error)
		error = program_counters(b->program, &after);
	if (!error && after.runs - before.runs < b->settings->repeat)
		error = error_new(ERROR_FAILED, "the kernel counted %llu of %llu runs",
				  (unsigned long long)(after.runs - before.runs),
				  (unsigned long long)b->settings->repeat);
	if (!error && after.run_ns == before.run_ns)
		error = error_new(ERROR_FAILED,
				  "the kernel's clock is too coarse for this program");
	if (!error)
		*ns = (double)(after.run_ns - before.run_ns) / (double)(after.runs - before.runs);
	return error;
}

/* One round without: what the test run says, or the elapsed time with the system calls. */
static struct error *time_round(struct bpf_bench *b, double *ns)
{
	double start = now_seconds();
	struct error *error = run_program(b);
	double elapsed = now_seconds() - start;

	*ns = b->output.run_ns;
	if (isnan(*ns))
		*ns = elapsed * 1e9 / (double)b->settings->repeat;
	return error;
}

/* At least ten rounds, and as many more as fit into half of the time. */
static struct error *rounds(struct bpf_bench *b, bool counted, struct estimate *ns)
{
	struct bootstrap bootstrap = bootstrap_of(b->settings);
	double budget = (b->settings->seconds > 0 ? b->settings->seconds : 2) / 2;
	double values[ROUNDS];
	struct bootstrap_estimates e;
	struct error *error = NULL;
	double start = now_seconds();
	size_t n = 0;

	while (!error && n < ROUNDS && (n < 10 || now_seconds() - start < budget)) {
		error = counted ? count_round(b, &values[n]) : time_round(b, &values[n]);
		n++;
	}
	if (!error && bootstrap_estimates(&bootstrap, values, n, &e))
		error = error_memory();
	if (!error)
		*ns = e.mean;
	return error;
}

/* Hardware events of the kernel side of `repeat` runs on this thread; NaN: not available. */
static double hardware_count(struct bpf_bench *b, uint64_t config)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.config = config,
					.exclude_user = 1,
					.disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;
	bool good;

	if (fd < 0)
		return NAN;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	good = !error_ignore(run_program(b));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	good = good && read(fd, &count, sizeof(count)) == sizeof(count);
	close(fd);
	return good && count ? (double)count / (double)b->settings->repeat : NAN;
}

static void print_hardware(struct bpf_bench *b)
{
	static const struct {
		uint64_t config;
		const char *name, *measure;
	} events[] = {
		{ PERF_COUNT_HW_INSTRUCTIONS, "instructions", "hardware-instructions" },
		{ PERF_COUNT_HW_CPU_CYCLES, "cycles", "hardware-cycles" },
		{ PERF_COUNT_HW_CACHE_MISSES, "cache misses", "hardware-cache-misses" },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		double count = hardware_count(b, events[i].config);

		if (isnan(count)) {
			output_line("%24s%s: not available (this machine shows no such counter)",
				    "", events[i].name);
			continue;
		}
		output_line("%24s%s: %.1f per run", "", events[i].name, count);
		results_value(&b->results, b->name, events[i].measure, count);
	}
}

static struct error *measure_runs(struct bpf_bench *b)
{
	/* The first round also warms up. */
	struct error *error = run_program(b);
	struct estimate counted, timed;
	int statistics;

	if (!error)
		error = program_enable_statistics(&statistics);
	if (error)
		return error;
	error = rounds(b, true, &counted);
	close(statistics);
	if (!error)
		error = rounds(b, false, &timed);
	if (error)
		return error;
	output_line("%-23s time:   [%s %s %s] per run as the kernel counts it; returns %u", b->name,
		    output_time(counted.low).text, output_time(counted.value).text,
		    output_time(counted.high).text, b->output.result);
	output_line("%24sand [%s %s %s] %s", "", output_time(timed.low).text,
		    output_time(timed.value).text, output_time(timed.high).text,
		    isnan(b->output.run_ns) ? "elapsed with its system call, without statistics"
					    : "in a loop of the kernel, without statistics");
	if (results_estimate(&b->results, b->name, "latency", counted) ||
	    results_estimate(&b->results, b->name, "test-run-latency", timed))
		return error_memory();
	print_hardware(b);
	return NULL;
}

/* -------- all -------- */

static struct error *print_sizes(struct bpf_bench *b)
{
	struct program_sizes sizes;
	struct error *error = program_sizes(b->program, &sizes);
	double load_ns = program_load_ns(b->program);
	int failed = 0;

	if (error)
		return error;
	output_line("%24stype %s, verified %s, xlated %s bytes, JIT %s, maps %s bytes%s%s", "",
		    program_type_name(b->program),
		    sizes.verified ? output_count(sizes.verified).text : "not available",
		    output_count(sizes.xlated).text,
		    sizes.jited ? output_count(sizes.jited).text : "not available",
		    output_count((double)sizes.map_bytes).text,
		    isnan(load_ns) ? "" : ", loaded in ",
		    isnan(load_ns) ? "" : output_time(load_ns).text);
	if (sizes.verified)
		failed |= results_value(&b->results, b->name, "verified-instructions",
					sizes.verified);
	if (sizes.jited)
		failed |= results_value(&b->results, b->name, "jited-bytes", sizes.jited);
	failed |= results_value(&b->results, b->name, "xlated-bytes", sizes.xlated);
	failed |= results_value(&b->results, b->name, "map-bytes", (double)sizes.map_bytes);
	return failed ? error_memory() : NULL;
}

/* An Ethernet frame with an IPv4 header from 10.0.0.15, padded to the least size there is. */
static void default_packet(uint8_t *packet, size_t *size)
{
	static const uint8_t header[] = { 2,	0, 0, 0,  0,  1, 2, 0, 0,  0,  0, 2,
					  8,	0,				     /* Ethernet */
					  0x45, 0, 0, 46, 0,  0, 0, 0, 64, 17, 0, 0, /* IPv4, UDP */
					  10,	0, 0, 15, 10, 0, 0, 1 };

	memset(packet, 0, 64);
	memcpy(packet, header, sizeof(header));
	*size = 64;
}

/* The whole of a file, to be freed. */
static void *read_input(const char *path, size_t *size)
{
	uint8_t *bytes = malloc(INPUT_MAX + 1);
	FILE *f = fopen(path, "re");

	*size = bytes && f ? fread(bytes, 1, INPUT_MAX + 1, f) : 0;
	if (!f || !bytes || ferror(f) || !*size || *size > INPUT_MAX) {
		message_error("%s: %s", path,
			      !f		  ? strerror(errno)
			      : *size > INPUT_MAX ? "larger than 1 MiB"
						  : "empty");
		free(bytes);
		bytes = NULL;
	}
	if (f)
		fclose(f);
	return bytes;
}

static bool usage_fits(const struct settings *s)
{
	int choices = (s->program_id != 0) + (s->pin != NULL) + (s->object != NULL) +
		      (s->program_name && !s->object);

	if (choices == 1 && !s->rest_count &&
	    (s->test_run ? !s->command && !s->interface && !s->cgroup : !s->data && !s->context) &&
	    (s->object || (!s->interface && !s->cgroup)))
		return true;
	message_error("usage: prof-bench bpf {--id N | --name NAME | --pin PATH | --object FILE "
		      "[--name NAME] [--interface NAME | --cgroup PATH]} [-- COMMAND]\n"
		      "       prof-bench bpf ... --test-run [--data FILE] [--context FILE]");
	return false;
}

static bool set_input(struct bpf_bench *b, void **data, void **context)
{
	static uint8_t packet[64];
	const struct settings *s = b->settings;

	default_packet(packet, &b->input.data_size);
	b->input.data = packet;
	if (s->data)
		b->input.data = *data = read_input(s->data, &b->input.data_size);
	if (s->context)
		b->input.context = *context = read_input(s->context, &b->input.context_size);
	return b->input.data && (!s->context || b->input.context);
}

enum verdict bpf_command(const struct settings *s)
{
	const struct program_choice choice = { s->program_id, s->pin, s->object, s->program_name };
	struct bpf_bench b = { .settings = s };
	void *data = NULL, *context = NULL;
	enum verdict verdict = VERDICT_ERROR;
	struct error *error;

	if (!usage_fits(s) || !set_input(&b, &data, &context))
		goto out;
	error = program_open(&b.program, &choice);
	if (!error) {
		snprintf(b.name, sizeof(b.name), "bpf/%s", program_name(b.program));
		error = s->test_run ? measure_runs(&b) : measure_window(&b);
	}
	if (!error)
		error = print_sizes(&b);
	if (!output_error(error))
		verdict = output_bmf(&b.results);
out:
	program_free(b.program);
	results_release(&b.results);
	free(data);
	free(context);
	return verdict;
}
