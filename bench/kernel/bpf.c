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

#include "bench/kernel/object_file.h"
#include "bench/kernel/program_attach.h"
#include "bench/kernel/program_hits.h"
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

/* What the kernel counted at the beginning and after each slice. */
struct window {
	struct program_counters slices[SLICES + 1];
	size_t count; /* of slices */
};

/* A program that is looked at. */
struct subject {
	struct program *program;
	char name[160]; /* "bpf/..." */
	struct window window;
	struct program_attachment *attachment;
};

/* What is looked at, and what was found. */
struct bpf_bench {
	const struct settings *settings;
	struct object_file file; /* or */
	struct program *loaded;	 /* by somebody */
	struct subject *subjects;
	size_t count;
	struct program_input input;
	struct program_output output; /* of the last test run */
	struct program_hits hits;
	struct error *no_hits; /* why they were not recorded */
	struct results results;
};

static struct bootstrap bootstrap_of(const struct settings *s)
{
	return (struct bootstrap){ s->seed, s->resamples, 0.95 };
}

static double window_seconds(const struct bpf_bench *b)
{
	return b->settings->seconds > 0 ? b->settings->seconds : 2;
}

static double now_seconds(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC_RAW) / 1e9;
}

static struct error *print_sizes(struct bpf_bench *b, const struct subject *s)
{
	struct program_sizes sizes;
	struct error *error = program_sizes(s->program, &sizes);
	double load_ns = b->settings->object ? b->file.load_ns : NAN;
	int failed = 0;

	if (error)
		return error;
	output_line("%24stype %s, verified %s, xlated %s bytes, JIT %s, maps %s bytes%s%s", "",
		    program_type_name(s->program),
		    sizes.verified ? output_count(sizes.verified).text : "not available",
		    output_count(sizes.xlated).text,
		    sizes.jited ? output_count(sizes.jited).text : "not available",
		    output_count((double)sizes.map_bytes).text,
		    isnan(load_ns) ? "" : ", loaded in ",
		    isnan(load_ns) ? "" : output_time(load_ns).text);
	if (sizes.verified)
		failed |= results_value(&b->results, s->name, "verified-instructions",
					sizes.verified);
	if (sizes.jited)
		failed |= results_value(&b->results, s->name, "jited-bytes", sizes.jited);
	failed |= results_value(&b->results, s->name, "xlated-bytes", sizes.xlated);
	failed |= results_value(&b->results, s->name, "map-bytes", (double)sizes.map_bytes);
	return failed ? error_memory() : NULL;
}

/* -------- a program that others run -------- */

static void wait_ns(double ns)
{
	struct timespec t = { (time_t)(ns / 1e9), (long)fmod(ns, 1e9) };

	while (nanosleep(&t, &t) && errno == EINTR && !program_interrupted())
		;
}

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

/* Counters of all programs, at the end of a slice or at the beginning. */
static struct error *count_all(struct bpf_bench *b, size_t slice)
{
	struct error *error = NULL;

	for (size_t i = 0; i < b->count && !error; i++) {
		struct subject *s = &b->subjects[i];

		error = program_counters(s->program, &s->window.slices[slice]);
		if (!error)
			s->window.count = slice;
	}
	return error;
}

/*
 * A slice is a run of the command, if there is one, else a share of the time. Commands that take
 * long are run five times nevertheless: fewer slices say nothing about how the cost varies.
 */
static struct error *watch(struct bpf_bench *b)
{
	double seconds = window_seconds(b);
	double start = now_seconds();
	int statistics;
	struct error *error = program_enable_statistics(&statistics);

	if (error)
		return error;
	error = count_all(b, 0);
	for (size_t slice = 1;
	     !error && slice <= SLICES &&
	     (slice <= SLICES_LEAST || !b->settings->command || now_seconds() - start < seconds);
	     slice++) {
		if (b->settings->command)
			error = run_command_once(b);
		else
			wait_ns(seconds * 1e9 / SLICES);
		if (!error && program_interrupted())
			error = error_new(ERROR_FAILED, "interrupted");
		if (!error)
			error = count_all(b, slice);
	}
	close(statistics);
	return error;
}

/*
 * ns per run: run time over runs is a slope through the origin of slices, each weighted by
 * its runs; slices in which nothing ran say nothing. The slope of least squares would weigh
 * by their squares, so each slice's mean is resampled with its number of runs.
 */
static struct error *per_run(const struct bpf_bench *b, const struct subject *s,
			     struct estimate *ns)
{
	const struct window *w = &s->window;
	const struct program_counters *first = &w->slices[0], *last = &w->slices[w->count];
	uint64_t runs = last->runs - first->runs, run_ns = last->run_ns - first->run_ns;
	struct bootstrap bootstrap = bootstrap_of(b->settings);
	double means[SLICES];
	struct bootstrap_estimates e;
	size_t n = 0;

	if (!run_ns)
		return error_new(ERROR_FAILED,
				 "%s ran %llu times in 0 ns: the kernel's clock is too coarse",
				 program_name(s->program), (unsigned long long)runs);
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
				 program_name(s->program), (unsigned long long)runs, n, w->count);
	if (bootstrap_estimates(&bootstrap, means, n, &e))
		return error_memory();
	ns->value = (double)run_ns / (double)runs;
	ns->low = ns->value + (e.mean.low - e.mean.value);
	ns->high = ns->value + (e.mean.high - e.mean.value);
	return NULL;
}

static bool has_run(const struct subject *s)
{
	return s->window.slices[s->window.count].runs != s->window.slices[0].runs;
}

static bool any_has_run(const struct bpf_bench *b)
{
	bool any = false;

	for (size_t i = 0; i < b->count; i++)
		any |= has_run(&b->subjects[i]);
	return any;
}

/* Those from an object file have to be attached first, and are detached before anything is printed.
 */
static struct error *watch_attached(struct bpf_bench *b)
{
	const struct program_place place = { b->settings->interface, b->settings->cgroup };
	struct error *error = NULL;

	for (size_t i = 0; i < b->file.count && !error; i++)
		error = program_attach(&b->subjects[i].attachment, b->subjects[i].program, &place);
	if (!error)
		error = watch(b);
	/* Sampling costs time: it is not done while that is measured. */
	if (!error && b->settings->hits && any_has_run(b))
		b->no_hits = program_hits_record(
			&b->hits, (const char *const *)b->settings->command, window_seconds(b));
	for (size_t i = b->count; i-- > 0;)
		program_detach(b->subjects[i].attachment);
	return error;
}

static struct error *print_window(struct bpf_bench *b, const struct subject *s)
{
	const struct program_counters *first = &s->window.slices[0],
				      *last = &s->window.slices[s->window.count];
	double elapsed = (double)(last->time_ns - first->time_ns);
	double rate = (double)(last->runs - first->runs) * 1e9 / elapsed;
	double share = (double)(last->run_ns - first->run_ns) / elapsed;
	struct estimate ns;
	struct error *error = per_run(b, s, &ns);

	if (error)
		return error;
	output_line("%-23s time:   [%s %s %s] per run", s->name, output_time(ns.low).text,
		    output_time(ns.value).text, output_time(ns.high).text);
	output_line("%24s%s runs in %s, %s, %.4f%% of one CPU, %llu recursion misses", "",
		    output_count((double)(last->runs - first->runs)).text,
		    output_time(elapsed).text, output_rate(rate, "runs/s").text, share * 100,
		    (unsigned long long)(last->recursion_misses - first->recursion_misses));
	output_line("%24shardware counters: not available (only with --test-run)", "");
	if (results_estimate(&b->results, s->name, "latency", ns) ||
	    results_value(&b->results, s->name, "throughput", rate) ||
	    results_value(&b->results, s->name, "cpu-share", share))
		return error_memory();
	error = print_sizes(b, s);
	if (error || !b->settings->hits || b->no_hits)
		return error;
	error = program_hits_print(&b->hits, s->program);
	return output_unavailable("hits", error) ? NULL : error;
}

/* Of all programs in a file only some may run; those that were asked for have to. */
static struct error *measure_window(struct bpf_bench *b)
{
	struct error *error = watch_attached(b);
	bool some = b->settings->object && !b->settings->program_name;
	bool any = !error && any_has_run(b);

	for (size_t i = 0; i < b->count && !error; i++) {
		const struct subject *s = &b->subjects[i];

		if (has_run(s))
			error = print_window(b, s);
		else if (some && any)
			output_line("%-23s not available: it did not run within the window",
				    s->name);
		else
			error = error_new(ERROR_FAILED,
					  "%s did not run within the window, so its cost is not "
					  "known; is it attached, and does anything trigger it?",
					  program_name(s->program));
	}
	return error;
}

/* -------- a program that we run -------- */

static struct error *run_program(struct bpf_bench *b, const struct subject *s)
{
	struct error *error = program_run(s->program, &b->input, b->settings->repeat, &b->output);

	if (!error && program_type(s->program) == BPF_PROG_TYPE_XDP &&
	    b->output.result == XDP_ABORTED)
		error = error_new(ERROR_FAILED, "it returned XDP_ABORTED");
	return error;
}

/* One round of runs with statistics on: ns per run as the kernel counts them. */
static struct error *count_round(struct bpf_bench *b, const struct subject *s, double *ns)
{
	struct program_counters before, after;
	struct error *error = program_counters(s->program, &before);

	if (!error)
		error = run_program(b, s);
	if (!error)
		error = program_counters(s->program, &after);
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
static struct error *time_round(struct bpf_bench *b, const struct subject *s, double *ns)
{
	double start = now_seconds();
	struct error *error = run_program(b, s);
	double elapsed = now_seconds() - start;

	*ns = b->output.run_ns;
	if (isnan(*ns))
		*ns = elapsed * 1e9 / (double)b->settings->repeat;
	return error;
}

/* At least ten rounds, and as many more as fit into half of the time. */
static struct error *rounds(struct bpf_bench *b, const struct subject *s, bool counted,
			    struct estimate *ns)
{
	struct bootstrap bootstrap = bootstrap_of(b->settings);
	double budget = window_seconds(b) / 2;
	double values[ROUNDS];
	struct bootstrap_estimates e;
	struct error *error = NULL;
	double start = now_seconds();
	size_t n = 0;

	while (!error && n < ROUNDS && (n < 10 || now_seconds() - start < budget)) {
		error = counted ? count_round(b, s, &values[n]) : time_round(b, s, &values[n]);
		n++;
	}
	if (!error && bootstrap_estimates(&bootstrap, values, n, &e))
		error = error_memory();
	if (!error)
		*ns = e.mean;
	return error;
}

/* Hardware events of the kernel side of `repeat` runs on this thread; NaN: not available. */
static double hardware_count(struct bpf_bench *b, const struct subject *s, uint64_t config)
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
	good = !error_ignore(run_program(b, s));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	good = good && read(fd, &count, sizeof(count)) == sizeof(count);
	close(fd);
	return good && count ? (double)count / (double)b->settings->repeat : NAN;
}

static void print_hardware(struct bpf_bench *b, const struct subject *s)
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
		double count = hardware_count(b, s, events[i].config);

		if (isnan(count)) {
			output_line("%24s%s: not available (this machine shows no such counter)",
				    "", events[i].name);
			continue;
		}
		output_line("%24s%s: %.1f per run", "", events[i].name, count);
		results_value(&b->results, s->name, events[i].measure, count);
	}
}

static struct error *measure_runs(struct bpf_bench *b, const struct subject *s)
{
	/* The first round also warms up. */
	struct error *error = run_program(b, s);
	struct estimate counted, timed;
	int statistics;

	if (!error)
		error = program_enable_statistics(&statistics);
	if (error)
		return error;
	error = rounds(b, s, true, &counted);
	close(statistics);
	if (!error)
		error = rounds(b, s, false, &timed);
	if (error)
		return error;
	output_line("%-23s time:   [%s %s %s] per run as the kernel counts it; returns %u", s->name,
		    output_time(counted.low).text, output_time(counted.value).text,
		    output_time(counted.high).text, b->output.result);
	output_line("%24sand [%s %s %s] %s", "", output_time(timed.low).text,
		    output_time(timed.value).text, output_time(timed.high).text,
		    isnan(b->output.run_ns) ? "elapsed with its system call, without statistics"
					    : "in a loop of the kernel, without statistics");
	if (results_estimate(&b->results, s->name, "latency", counted) ||
	    results_estimate(&b->results, s->name, "test-run-latency", timed))
		return error_memory();
	print_hardware(b, s);
	return print_sizes(b, s);
}

/* -------- all -------- */

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
	    (s->test_run ? !s->command && !s->interface && !s->cgroup && !s->hits
			 : !s->data && !s->context) &&
	    (s->object || (!s->interface && !s->cgroup)))
		return true;
	message_error(
		"usage: prof-bench bpf {--id N | --name NAME | --pin PATH | --object FILE "
		"[--name NAME[,...]] [--interface NAME | --cgroup PATH]} [--hits] [-- COMMAND]\n"
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

static struct error *take_subjects(struct bpf_bench *b)
{
	const struct settings *s = b->settings;
	const struct program_choice choice = { s->program_id, s->pin, s->program_name };
	struct error *error = s->object ? object_file_load(&b->file, s->object, s->program_name)
					: program_open(&b->loaded, &choice);
	struct program **programs = s->object ? b->file.programs : &b->loaded;

	if (error)
		return error;
	b->count = s->object ? b->file.count : 1;
	b->subjects = calloc(b->count, sizeof(*b->subjects));
	if (!b->subjects)
		return error_memory();
	for (size_t i = 0; i < b->count; i++) {
		b->subjects[i].program = programs[i];
		snprintf(b->subjects[i].name, sizeof(b->subjects[i].name), "bpf/%s",
			 program_name(programs[i]));
	}
	return NULL;
}

static struct error *measure(struct bpf_bench *b)
{
	struct error *error = take_subjects(b);

	if (!error && !b->settings->test_run)
		return measure_window(b);
	for (size_t i = 0; i < b->count && !error; i++)
		error = measure_runs(b, &b->subjects[i]);
	return error;
}

enum verdict bpf_command(const struct settings *s)
{
	struct bpf_bench b = { .settings = s };
	void *data = NULL, *context = NULL;
	enum verdict verdict = VERDICT_ERROR;

	if (usage_fits(s) && set_input(&b, &data, &context) && !output_error(measure(&b)))
		verdict = output_bmf(&b.results);
	/* What was measured before stays. */
	if (output_error(b.no_hits))
		verdict = VERDICT_ERROR;
	free(b.subjects);
	object_file_release(&b.file);
	program_free(b.loaded);
	program_hits_release(&b.hits);
	results_release(&b.results);
	free(data);
	free(context);
	return verdict;
}
