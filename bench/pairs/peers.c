/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof beside its peers on this machine: what recording costs the program that is recorded
 * and the machine, how large the file is, how long a report takes, and how many stacks are
 * whole. The program is a benchmark of this one, which prints its own CPU time, so that the
 * start of the recorders is not in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/statistics/bootstrap.h"
#include "bench/statistics/random.h"
#include "common/message.h"
#include "common/words.h"

#define WORKLOAD "format/encode"
#define RATE "999"
#define REPEATS_MOST 64
#define ARGUMENTS_MAX 24

struct peer {
	const char *name, *slug;
	const char *program;	/* NULL: nothing records */
	const char *record[12]; /* arguments before the output file's name, and after it */
	const char *after[4];
	const char *report[6]; /* arguments before the file's name */
	bool is_prof;
};

static const struct peer peers[] = {
	{ .name = "alone", .slug = "alone" },
	{ .name = "prof-record",
	  .slug = "prof-record",
	  .program = "prof-record",
	  .record = { "-q", "-F", RATE, "-o" },
	  .after = { "--" },
	  .report = { "prof-report", "-q", "--no-cache" },
	  .is_prof = true },
	{ .name = "perf record -g",
	  .slug = "perf-fp",
	  .program = "perf",
	  .record = { "record", "-q", "-B", "-N", "-F", RATE, "-g", "-o" },
	  .after = { "--" },
	  .report = { "perf", "script", "--no-inline", "-i" } },
	{ .name = "perf record --call-graph dwarf",
	  .slug = "perf-dwarf",
	  .program = "perf",
	  .record = { "record", "-q", "-B", "-N", "-F", RATE, "--call-graph", "dwarf", "-o" },
	  .after = { "--" },
	  .report = { "perf", "script", "--no-inline", "-i" } },
};

#define PEERS (sizeof(peers) / sizeof(*peers))

/* What one recording showed; NaN: not available. */
struct run {
	double target_ns;   /* CPU time of the measured part */
	double recorder_ns; /* CPU time of the recorder */
};

struct peer_result {
	struct run runs[REPEATS_MOST];
	size_t n;
	bool available;
	char why[256]; /* it is not, or its last recording failed */
	double file_bytes, report_ns, samples, whole;
};

struct comparison {
	const struct settings *settings;
	char folder[32];
	char self[PATH_MAX], beside[PATH_MAX - 64]; /* this program, and the folder it lies in */
	char iterations[32];
	struct peer_result results[PEERS];
};

/* "prof-record" and "prof-report" are those beside this program. */
static const char *program_path(const struct comparison *c, const char *name, char *room)
{
	if (strncmp(name, "prof-", 5))
		return name;
	snprintf(room, PATH_MAX, "%s/%.32s", c->beside, name);
	return room;
}

static size_t append(const char **arguments, size_t n, const char *const *more)
{
	while (*more && n + 1 < ARGUMENTS_MAX)
		arguments[n++] = *more++;
	arguments[n] = NULL;
	return n;
}

static const char *trace_path(const struct comparison *c, const struct peer *p, char *room)
{
	snprintf(room, PATH_MAX, "%s/%s", c->folder, p->slug);
	return room;
}

static bool read_measured(const char *path, double *measured, double *total)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "measured %lf total %lf", measured, total) == 2;
	if (f)
		fclose(f);
	return found;
}

/* Keeps how a child ended and the last line of its messages. */
static void note_failure(struct peer_result *r, const struct child_cost *cost, const char *err)
{
	FILE *f = fopen(err, "re");
	char line[128], last[128] = "";

	while (f && fgets(line, sizeof(line), f))
		if (line[strspn(line, " \n")])
			snprintf(last, sizeof(last), "%s", line);
	if (f)
		fclose(f);
	last[strcspn(last, "\n")] = 0;
	if (cost->status > 128)
		snprintf(r->why, sizeof(r->why), "ended by signal %d%s%s", cost->status - 128,
			 *last ? ": " : "", last);
	else
		snprintf(r->why, sizeof(r->why), "exit status %d%s%s", cost->status,
			 *last ? ": " : "", last);
}

/* The workload once, recorded by the peer. False when it did not work. */
static bool record(struct comparison *c, const struct peer *p, struct run *run)
{
	const char *const workload[] = { c->self,	"once",	  "-v", "--iterations",
					 c->iterations, WORKLOAD, NULL };
	char program[PATH_MAX], trace[PATH_MAX], out[64], err[64];
	const char *arguments[ARGUMENTS_MAX] = { NULL };
	struct child_cost cost = { .status = -1 };
	double total;
	size_t n = 0;

	snprintf(out, sizeof(out), "%s/out", c->folder);
	snprintf(err, sizeof(err), "%s/err", c->folder);
	if (p->program) {
		arguments[n++] = program_path(c, p->program, program);
		n = append(arguments, n, p->record);
		arguments[n++] = trace_path(c, p, trace);
		unlink(trace); /* perf would rename an existing file */
		n = append(arguments, n, p->after);
	}
	append(arguments, n, workload);
	if (child_run(&(struct child_options){ arguments, out, err, NULL }, &cost) || cost.status ||
	    !read_measured(out, &run->target_ns, &total)) {
		note_failure(&c->results[p - peers], &cost, err);
		return false;
	}
	run->recorder_ns = p->program ? fmax(0, cost.user_ns + cost.system_ns - total) : NAN;
	return true;
}

/* Tries again after a failure: perf 6.1 sometimes aborts at the end of a recording. */
static bool record_twice(struct comparison *c, const struct peer *p, struct run *run)
{
	if (record(c, p, run))
		return true;
	message_warning("%s failed (%s); once more", p->name, c->results[p - peers].why);
	return record(c, p, run);
}

/* -------- what the files hold -------- */

/* Share of whole stacks, and samples, from prof-report --info. */
static bool examine_prof(struct comparison *c, const char *trace, struct peer_result *r)
{
	char program[PATH_MAX], out[64];
	const char *const arguments[] = { program_path(c, "prof-report", program), "--info",
					  "--json", trace, NULL };
	struct child_cost cost;
	json_t *info, *stacks;
	double all = 0;
	const char *key;
	json_t *count;

	snprintf(out, sizeof(out), "%s/info", c->folder);
	if (child_run(&(struct child_options){ arguments, out, NULL, NULL }, &cost) || cost.status)
		return false;
	info = json_load_file(out, 0, NULL);
	stacks = json_object_get(info, "user_stacks");
	json_object_foreach(stacks, key, count) all += json_number_value(count);
	r->samples = json_number_value(json_object_get(info, "samples"));
	r->whole = all > 0 ? json_number_value(json_object_get(stacks, "root")) / all : NAN;
	json_decref(info);
	return r->samples > 0;
}

static bool is_root(const char *symbol)
{
	static const char *const roots[] = { "_start", "_dl_start_user", "clone",
					     "clone3", "__clone",	 "__clone3" };

	return words_have(roots, sizeof(roots) / sizeof(*roots), symbol);
}

/*
 * perf script prints a stack leaf first and an empty line after it: it is whole when its last
 * line is where programs and threads begin. Kernel addresses alone are no user stack.
 */
static void examine_script(FILE *f, struct peer_result *r)
{
	char line[4096], symbol[512] = "";
	double whole = 0, with_user = 0;
	bool user = false, any = false;

	r->samples = 0;
	for (;;) {
		bool more = fgets(line, sizeof(line), f);
		uint64_t address;

		if (more && sscanf(line, " %" SCNx64 " %511s", &address, symbol) == 2) {
			any = true;
			user |= address < UINT64_C(1) << 63;
			continue;
		}
		if (any) {
			r->samples++;
			with_user += user;
			whole += user && is_root(symbol);
		}
		any = user = false;
		if (!more)
			break;
	}
	r->whole = with_user > 0 ? whole / with_user : NAN;
}

static bool examine_perf(struct comparison *c, const char *trace, struct peer_result *r)
{
	char out[64];
	const char *const arguments[] = { "perf",   "script", "--no-inline", "-F",
					  "ip,sym", "-i",     trace,	     NULL };
	struct child_cost cost;
	FILE *f;

	snprintf(out, sizeof(out), "%s/script", c->folder);
	if (child_run(&(struct child_options){ arguments, out, NULL, NULL }, &cost) || cost.status)
		return false;
	f = fopen(out, "re");
	if (!f)
		return false;
	examine_script(f, r);
	fclose(f);
	unlink(out);
	return r->samples > 0;
}

static bool examine(struct comparison *c, const struct peer *p, struct peer_result *r)
{
	char trace[PATH_MAX], program[PATH_MAX];
	const char *arguments[ARGUMENTS_MAX] = { NULL };
	struct child_cost cost;
	struct stat info;
	size_t n;

	trace_path(c, p, trace);
	if (stat(trace, &info))
		return false;
	r->file_bytes = (double)info.st_size;
	n = append(arguments, 0, p->report);
	arguments[0] = program_path(c, p->report[0], program);
	arguments[n] = trace;
	/* Twice: the first one fills the page cache. */
	for (int i = 0; i < 2; i++)
		if (child_run(&(struct child_options){ arguments, NULL, NULL, NULL }, &cost) ||
		    cost.status)
			return false;
	r->report_ns = cost.elapsed_ns;
	return p->is_prof ? examine_prof(c, trace, r) : examine_perf(c, trace, r);
}

/* -------- loss against rate -------- */

/*
 * Records at a rate, and prints how many of the samples that fired were lost. The higher the
 * rate the less work, or most of the time would go into the interrupts of one recording.
 */
static bool print_loss(struct comparison *c, const char *rate, struct results *results)
{
	char program[PATH_MAX], report[PATH_MAX], trace[64], info[64], name[64], iterations[32];
	const char *const record[] = { program_path(c, "prof-record", program),
				       "-q",
				       "-F",
				       rate,
				       "-o",
				       trace,
				       "--",
				       c->self,
				       "once",
				       "--iterations",
				       iterations,
				       WORKLOAD,
				       NULL };
	const char *const info_of[] = { program_path(c, "prof-report", report), "--info", "--json",
					trace, NULL };
	struct child_cost cost;
	double fired, lost = 0;
	const char *key;
	json_t *root, *count;

	snprintf(iterations, sizeof(iterations), "%.0f",
		 ceil(strtod(c->iterations, NULL) * fmin(1, 5000 / strtod(rate, NULL))));
	snprintf(trace, sizeof(trace), "%s/loss", c->folder);
	snprintf(info, sizeof(info), "%s/info", c->folder);
	if (child_run(&(struct child_options){ .arguments = record }, &cost) || cost.status ||
	    child_run(&(struct child_options){ .arguments = info_of, .stdout_path = info },
		      &cost) ||
	    cost.status)
		return false;
	root = json_load_file(info, 0, NULL);
	fired = json_number_value(json_object_get(root, "fired"));
	json_object_foreach(json_object_get(root, "lost"), key, count)
		lost += json_number_value(count);
	json_decref(root);
	if (!(fired > 0))
		return false;
	output_line("%6s Hz: %s fired, %s lost (%.3f%%)", rate, output_count(fired).text,
		    output_count(lost).text, lost / fired * 100);
	snprintf(name, sizeof(name), "peers/prof-record/%s-hz", rate);
	return !results_value(results, name, "lost-share", lost / fired);
}

static void print_losses(struct comparison *c, struct results *results)
{
	static const char *const rates[] = { "999", "4999", "20000", "50000" };

	output_line("%s", "");
	output_line("prof-record: loss against rate");
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (!print_loss(c, rates[i], results))
			output_line("%6s Hz: not available (the machine does not sample so often)",
				    rates[i]);
}

/* -------- all of them -------- */

static bool find_self(struct comparison *c)
{
	if (!child_self(c->self, sizeof(c->self)))
		return false;
	snprintf(c->beside, sizeof(c->beside), "%.*s", (int)(sizeof(c->beside) - 1), c->self);
	*strrchr(c->beside, '/') = 0;
	return true;
}

/* As many iterations as take about the wanted time. */
static bool calibrate(struct comparison *c)
{
	double seconds = c->settings->seconds > 0 ? c->settings->seconds : 3;
	struct run run;

	snprintf(c->iterations, sizeof(c->iterations), "10");
	if (!record(c, &peers[0], &run) || !(run.target_ns > 0)) {
		message_error("the workload %s does not run", WORKLOAD);
		return false;
	}
	snprintf(c->iterations, sizeof(c->iterations), "%.0f",
		 fmax(1, ceil(seconds * 1e9 / (run.target_ns / 10))));
	return true;
}

static void find_available(struct comparison *c)
{
	for (size_t i = 0; i < PEERS; i++) {
		struct peer_result *r = &c->results[i];
		char program[PATH_MAX];
		struct run run;

		if (!peers[i].program)
			r->available = true;
		else if (child_exists(program_path(c, peers[i].program, program)))
			r->available = record_twice(c, &peers[i], &run);
		else
			snprintf(r->why, sizeof(r->why), "it is not installed");
		r->file_bytes = r->report_ns = r->samples = r->whole = NAN;
	}
}

/* Rounds of all peers, each round in another order. */
static bool take_rounds(struct comparison *c, size_t rounds)
{
	struct random r;

	random_seed(&r, c->settings->seed);
	for (size_t round = 0; round < rounds; round++) {
		size_t first = random_below(&r, PEERS);

		for (size_t i = 0; i < PEERS; i++) {
			size_t which = (first + i) % PEERS;
			struct peer_result *result = &c->results[which];

			if (!result->available)
				continue;
			if (!record_twice(c, &peers[which], &result->runs[result->n])) {
				message_warning("%s: failed in round %zu: %s", peers[which].name,
						round + 1, result->why);
				result->available = false;
				if (which < 2) /* there is nothing to compare with */
					return false;
			}
			result->n++;
		}
	}
	return true;
}

static struct estimate slowdown(const struct comparison *c, const struct peer_result *r)
{
	double ratios[REPEATS_MOST];
	struct estimate e = { NAN, NAN, NAN };
	const struct bootstrap bootstrap = { c->settings->seed, 10000, 0.95 };

	for (size_t i = 0; i < r->n; i++)
		ratios[i] = r->runs[i].target_ns / c->results[0].runs[i].target_ns - 1;
	bootstrap_median(&bootstrap, ratios, r->n, &e);
	return e;
}

/* Its last recording; another one if that cannot be read. */
static bool examine_twice(struct comparison *c, const struct peer *p, struct peer_result *r)
{
	struct run run;

	if (examine(c, p, r))
		return true;
	message_warning("%s: its file cannot be read back; once more", p->name);
	return record(c, p, &run) && examine(c, p, r);
}

static void print_peer(struct comparison *c, size_t i, struct results *results)
{
	const struct peer_result *r = &c->results[i];
	double recorder[REPEATS_MOST], target[REPEATS_MOST], share;
	struct estimate slow;
	char name[64], whole[24] = "not available";

	if (!r->available) {
		output_line("%-31s not available: %s", peers[i].name, r->why);
		return;
	}
	for (size_t j = 0; j < r->n; j++) {
		recorder[j] = r->runs[j].recorder_ns;
		target[j] = r->runs[j].target_ns;
	}
	slow = slowdown(c, r);
	share = statistics_median(recorder, r->n) / statistics_median(target, r->n);
	if (!isnan(r->whole))
		snprintf(whole, sizeof(whole), "%.1f%%", r->whole * 100);
	output_line("%-31s %+6.2f%% [%+.2f, %+.2f] %10s %10s %12s %10s %8s", peers[i].name,
		    slow.value * 100, slow.low * 100, slow.high * 100,
		    output_time(statistics_median(recorder, r->n)).text,
		    output_count(r->samples).text, output_count(r->file_bytes).text,
		    output_time(r->report_ns).text, whole);
	snprintf(name, sizeof(name), "peers/%s", peers[i].slug);
	results_estimate(results, name, "slowdown", slow);
	results_value(results, name, "recorder-cpu-share", share);
	results_value(results, name, "file-size", r->file_bytes);
	results_value(results, name, "report-latency", r->report_ns);
	results_value(results, name, "whole-stacks", r->whole);
}

static enum verdict compare(struct comparison *c, struct results *results)
{
	size_t rounds = c->settings->measurements_given ? c->settings->measurements : 5;

	if (rounds > REPEATS_MOST)
		rounds = REPEATS_MOST;
	if (!calibrate(c))
		return VERDICT_ERROR;
	find_available(c);
	if (!c->results[1].available) {
		message_error("prof-record beside this program does not record here: run as root");
		return VERDICT_ERROR;
	}
	if (!take_rounds(c, rounds))
		return VERDICT_ERROR;
	output_line("%s iterations of %s at %s Hz, %zu rounds; slowdown by the target's own CPU "
		    "time, median with 95%% interval",
		    c->iterations, WORKLOAD, RATE, rounds);
	output_line("%-31s %-23s %10s %10s %12s %10s %8s", "", "slowdown", "recorder", "samples",
		    "bytes", "report", "whole");
	for (size_t i = 1; i < PEERS; i++) {
		if (c->results[i].available && !examine_twice(c, &peers[i], &c->results[i])) {
			struct peer_result *r = &c->results[i];

			snprintf(r->why, sizeof(r->why), "its file cannot be read back");
			message_warning("%s: %s", peers[i].name, r->why);
			r->available = false;
			if (peers[i].is_prof)
				return VERDICT_ERROR;
		}
		print_peer(c, i, results);
	}
	output_line("%-31s %s", "FlameGraph",
		    child_exists("stackcollapse-perf.pl")
			    ? "is installed: add its time to that of perf script"
			    : "not available: stackcollapse-perf.pl is not in PATH");
	print_losses(c, results);
	return VERDICT_FINE;
}

static void clean_up(struct comparison *c)
{
	static const char *const files[] = { "out", "err", "info", "script", "loss" };
	char path[PATH_MAX];

	for (size_t i = 0; i < PEERS; i++)
		unlink(trace_path(c, &peers[i], path));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", c->folder, files[i]);
		unlink(path);
	}
	rmdir(c->folder);
}

enum verdict peers_command(const struct settings *s)
{
	struct comparison *c = calloc(1, sizeof(*c));
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	if (!c)
		return VERDICT_ERROR;
	c->settings = s;
	strcpy(c->folder, "/tmp/prof-bench.XXXXXX");
	if (s->rest_count) {
		message_error("usage: prof-bench peers [--time SECONDS] [--measurements ROUNDS]");
		goto out;
	}
	if (!find_self(c) || !mkdtemp(c->folder)) {
		message_error("%s: %s", c->folder, strerror(errno));
		goto out;
	}
	verdict = compare(c, &results);
	clean_up(c);
	if (verdict == VERDICT_FINE)
		verdict = output_bmf(&results);
out:
	results_release(&results);
	free(c);
	return verdict;
}
