/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/options.h"

#include "common/buffer.h"
#include "common/message.h"
#include "record/system/cpus.h"
#include "record/system/process_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Notes of the last ones of s->pids how they were given. */
static const char *note_pids(struct settings *s, size_t before, bool by_name)
{
	bool *more = reallocarray(s->by_name, s->pid_count + 1, sizeof(*more));

	if (!more)
		return option_no_memory;
	s->by_name = more;
	for (size_t i = before; i < s->pid_count; i++)
		more[i] = by_name;
	return NULL;
}

static const char *add_number(struct settings *s, const char *text)
{
	unsigned long long pid;
	uint32_t *pids;

	if (!option_number(text, 1, INT32_MAX, &pid))
		return "expected numbers of processes or threads, separated by commas";
	pids = reallocarray(s->pids, s->pid_count + 1, sizeof(*pids));
	if (!pids)
		return option_no_memory;
	s->pids = pids;
	s->pids[s->pid_count++] = (uint32_t)pid;
	return note_pids(s, s->pid_count - 1, false);
}

static const char *add_named(struct settings *s, const char *name)
{
	size_t before = s->pid_count;
	struct error *error = process_names_find(name, &s->pids, &s->pid_count);

	if (error)
		snprintf(s->why, sizeof(s->why), "%s", error->text);
	else if (s->pid_count == before)
		snprintf(s->why, sizeof(s->why), "no process is called '%s' now", name);
	else
		return note_pids(s, before, true);
	error_free(error);
	return s->why;
}

/* Takes "7,8" and, for processes, names, too. */
static const char *take_tasks(struct settings *s, const char *argument)
{
	const char *why = NULL;
	char *list = strdup(argument), *next = list, *one;

	while (list && !why && (one = strsep(&next, ",")))
		why = s->by_thread || !*one || !one[strspn(one, "0123456789")] ? add_number(s, one)
									       : add_named(s, one);
	free(list);
	return list ? why : option_no_memory;
}

static const char *take_pids(void *context, const char *argument)
{
	struct settings *s = context;

	return s->by_thread ? "give only one of -p and -t" : take_tasks(s, argument);
}

static const char *take_threads(void *context, const char *argument)
{
	struct settings *s = context;

	if (s->pid_count && !s->by_thread)
		return "give only one of -p and -t";
	s->by_thread = true;
	return take_tasks(s, argument);
}

static const char *take_cpus(void *context, const char *argument)
{
	struct cpus cpus;

	if (error_ignore(cpus_parse(&cpus, argument)))
		return "expected CPU numbers such as 0,2-3";
	cpus_release(&cpus);
	((struct settings *)context)->cpu_list = argument;
	return NULL;
}

static const char *take_event(void *context, const char *argument)
{
	struct settings *s = context;

	struct error *error = event_list_parse(&s->events, argument);

	if (!error)
		return NULL;
	snprintf(s->why, sizeof(s->why), "%s", error->text);
	error_free(error);
	return s->why;
}

/* One of the two numbers that say how often samples are taken. */
static const char *take_rate(struct settings *s, uint64_t *rate, const char *argument,
			     unsigned long long most)
{
	unsigned long long n;

	if (!option_number(argument, 1, most, &n)) {
		snprintf(s->why, sizeof(s->why), "expected %s, 1 or more, up to %llu",
			 rate == &s->period ? "events per sample" : "samples per second", most);
		return s->why;
	}
	*rate = n;
	return s->period && s->frequency ? "give only one of -F and -c" : NULL;
}

static const char *take_period(void *context, const char *argument)
{
	return take_rate(context, &((struct settings *)context)->period, argument, 1000000000000);
}

static const char *take_frequency(void *context, const char *argument)
{
	return take_rate(context, &((struct settings *)context)->frequency, argument, 1000000);
}

static const char *take_delay(void *context, const char *argument)
{
	unsigned long long ns;

	if (!option_duration(argument, 1000000, &ns))
		return "expected milliseconds, or a time such as 2s";
	((struct settings *)context)->delay_ns = ns;
	return NULL;
}

static const char *take_off_cpu(void *context, const char *argument)
{
	struct settings *s = context;
	unsigned long long ns;

	s->off_cpu = true;
	if (!argument)
		return NULL;
	if (!option_duration(argument, 1000000, &ns))
		return "expected milliseconds, or a time such as 50us";
	s->waits.min_ns = ns;
	return NULL;
}

static const char *take_output(void *context, const char *argument)
{
	if (!*argument)
		return "expected a file, or - for standard output";
	((struct settings *)context)->output = argument;
	return NULL;
}

static const char *take_duration(void *context, const char *argument)
{
	unsigned long long ns;

	if (!option_duration(argument, 1000000000, &ns) || !ns)
		return "expected seconds, or a time such as 500ms or 2m";
	((struct settings *)context)->duration_ns = ns;
	return NULL;
}

static const char *take_level(void *context, const char *argument)
{
	unsigned long long level;

	if (!option_number(argument, 0, 19, &level))
		return "expected a number from 0 (none) to 19 (smallest)";
	((struct settings *)context)->level = (int)level;
	return NULL;
}

static const char *take_ring(void *context, const char *argument)
{
	unsigned long long bytes;

	if (!option_size(argument, &bytes) || bytes < 4096 || bytes > 1u << 30)
		return "expected a size from 4K to 1G";
	((struct settings *)context)->ring_bytes = bytes;
	return NULL;
}

static const char *take_unwind(void *context, const char *argument)
{
	static const char *const names[] = {
		[UNWIND_BY_TABLES] = "tables",
		[UNWIND_BY_FRAME_POINTER] = "fp",
		[UNWIND_BY_NOTHING] = "none",
	};

	for (int i = 0; i < 3; i++) {
		if (strcmp(argument, names[i]))
			continue;
		((struct settings *)context)->unwind_by = (enum unwind_by)i;
		return NULL;
	}
	return "expected tables, fp or none";
}

static const char *take_unwind_memory(void *context, const char *argument)
{
	unsigned long long bytes;

	if (!option_size(argument, &bytes) || bytes < 1u << 20 || bytes > 1u << 30)
		return "expected a size from 1M to 1G";
	((struct settings *)context)->unwind_memory = bytes;
	return NULL;
}

/* "KEY=VALUE", of which the text has `length` bytes. */
static const char *add_note(struct settings *s, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	struct metadata *all;
	char *copy;

	if (!equals || equals == text)
		return "expected KEY=VALUE";
	all = reallocarray(s->metadata, s->metadata_count + 1, sizeof(*all));
	copy = strndup(text, length);
	if (all)
		s->metadata = all;
	if (!all || !copy) {
		free(copy);
		return option_no_memory;
	}
	copy[equals - text] = '\0';
	if (trace_file_has_key(copy)) {
		free(copy);
		return "the recorder itself notes this key; choose another one";
	}
	s->metadata[s->metadata_count++] = (struct metadata){ copy, copy + (equals - text) + 1 };
	return NULL;
}

static const char *take_metadata(void *context, const char *argument)
{
	return add_note(context, argument, strlen(argument));
}

/* PROF_LABELS, "KEY=VALUE,KEY=VALUE"; NULL or empty: none. What is wrong with it, or NULL. */
static const char *take_labels(struct settings *s, const char *labels)
{
	const char *why = NULL;

	while (labels && *labels && !why) {
		size_t length = strcspn(labels, ",");

		why = add_note(s, labels, length);
		labels += length + (labels[length] == ',');
	}
	return why;
}

static const char *take_switch_output(void *context, const char *argument)
{
	return series_parse(&((struct settings *)context)->series, argument);
}

static const char *take_max_files(void *context, const char *argument)
{
	unsigned long long n;

	if (!option_number(argument, 1, 100000, &n))
		return "expected a number of files, 1 or more";
	((struct settings *)context)->series.max_files = (unsigned int)n;
	return NULL;
}

static const char *take_max_size(void *context, const char *argument)
{
	unsigned long long bytes;

	if (!option_size(argument, &bytes) || bytes < 64 << 10)
		return "expected a size of 64K or more";
	((struct settings *)context)->max_bytes = bytes;
	return NULL;
}

static const char *take_embed(void *context, const char *argument)
{
	struct settings *s = context;
	bool code = argument && !strcmp(argument, "code");

	s->embed = code ? "--embed=code" : "--embed";
	return !argument || code || !strcmp(argument, "names") ? NULL : "must be names or code";
}

/* Commands that print what completion offers; see common/option_table.h. */
#define PIDS "$ ps -eo pid=,comm= | sed \"s/^ *//; s/ /\\t/\""
#define TIDS "$ ps -eLo tid=,comm= | sed \"s/^ *//; s/ /\\t/\""
#define CGROUPS "$ find /sys/fs/cgroup -mindepth 1 -maxdepth 3 -type d -printf \"%P\\n\""
#define CPUS "$ sed -n \"s/^processor[^0-9]*//p\" /proc/cpuinfo"
#define EVENTS "$ prof-record --list | sed -n \"s/^  \\([^ ]*\\).*/\\1/p\""

#define SETS(member) OPTION_SETS(struct settings, member)
#define KEEPS(member) OPTION_KEEPS(struct settings, member)

static const struct option_entry table[] = {
	{ .help = "What to record" },
	{ 'p', "pid", "PID,...",
	  "record these processes (numbers or names), their threads and children", take_pids,
	  PIDS },
	{ 't', "tid", "TID,...", "record these threads only", take_threads, TIDS },
	{ 'a', "all", NULL, "record everything on the machine", SETS(everything) },
	{ 'G', "cgroup", "PATH", "record the tasks of this cgroup (v2) and of those below it",
	  KEEPS(cgroup), .values = CGROUPS },
	{ 'C', "cpu", "LIST", "only on these CPUs, such as 0,2-3; alone, with -a", take_cpus,
	  CPUS },
	{ 0, "children", NULL, "with -p: record also the children that run already",
	  SETS(children) },
	{ 0, "no-inherit", NULL, "do not record children of the processes", SETS(no_inherit) },
	{ 0, "user", NULL, "run the command as the user who called sudo", SETS(as_user) },
	{ .help = "How to record" },
	{ 'F', "frequency", "HZ", "take this many samples per second and CPU (default 99)",
	  take_frequency },
	{ 'e', "event", "EVENT,...",
	  "sample these events, such as cycles, page-faults/period=1/ or sched:sched_switch",
	  take_event, EVENTS },
	{ 'c', "count", "N", "take a sample of every N events, not by frequency", take_period },
	{ 0, "off-cpu", "[=MIN]",
	  "record also waits of MIN or longer (default 1ms), and time spent runnable",
	  take_off_cpu },
	{ 0, "wakers", NULL, "record which thread ended each wait, and its stack",
	  SETS(waits.wakers) },
	{ 'D', "delay", "MS", "begin to sample after this time", take_delay },
	{ 'd', "duration", "SECONDS", "end after this time", take_duration },
	{ 'm', "ring", "SIZE", "size of the ring buffer (default by CPUs and rate)", take_ring },
	{ 0, "unwind", "HOW",
	  "walk user stacks by tables (default), by fp (frame pointers), or none", take_unwind,
	  "tables fp none" },
	{ 'g', NULL, NULL, "accepted as in perf: stacks are always taken", SETS(asked_for_stacks) },
	{ 0, "call-graph", "HOW", "accepted as in perf; see --unwind", SETS(asked_for_stacks) },
	{ 0, "keep-interpreter", NULL,
	  "show the interpreter's loop in addition to script functions", SETS(keep_interpreter) },
	{ 0, "unwind-memory", "SIZE",
	  "use at most this much memory for unwind tables (default 256M)", take_unwind_memory },
	{ 0, "list", NULL, "list the events of this machine and end", SETS(list) },
	{ .help = "Output" },
	{ 'o', "output", "FILE", "write here (default trace.prf); - is standard output",
	  take_output, VALUES_FILES },
	{ 0, "switch-output", "WHEN",
	  "begin a new file after a size (10M), a time (30s), or at a \"signal\" (SIGUSR2)",
	  take_switch_output, "10M 30s signal" },
	{ 0, "max-files", "N", "keep only the newest N of these files", take_max_files },
	{ 0, "max-size", "SIZE", "end when the trace has this size", take_max_size },
	{ 'z', "compression", "LEVEL", "compression level, 0 to 19 (default 3)", take_level },
	{ 'M', "metadata", "KEY=VALUE", "add this note to the trace", take_metadata },
	{ 0, "embed", "[=WHAT]",
	  "put all names into each file, for other machines; with code, also source lines",
	  take_embed, "names code" },
	{ 0, "stats", NULL, "report at the end what the recording itself cost", SETS(stats) },
	{ 'q', "quiet", NULL, "print errors only", SETS(quiet) },
	{ 'v', "verbose", NULL, "print more details", SETS(verbose) },
	{ .help = NULL },
};

static char *join(int argc, char **argv)
{
	struct buffer text = { 0 };

	for (int i = 0; i < argc; i++)
		buffer_printf(&text, "%s%s", i ? " " : "", argv[i]);
	buffer_string(&text);
	if (buffer_ok(&text))
		return (char *)text.data;
	buffer_release(&text);
	return NULL;
}

/* Checks that need more than one option. */
static bool agree(const struct settings *s)
{
	int targets = (s->pid_count != 0) + s->everything + (s->cgroup != NULL);

	if (s->list)
		return true;
	if (!targets && !s->command) {
		message_error(
			"nothing to record; give -p PID, -t TID, -a, -G CGROUP, or a COMMAND");
		return false;
	}
	if (s->as_user && !s->command) {
		message_error("--user needs a command");
		return false;
	}
	if (s->children && (!s->pid_count || s->by_thread)) {
		message_error("--children needs -p");
		return false;
	}
	if (targets > 1) {
		message_error("give only one of -p or -t, -a and -G");
		return false;
	}
	if (series_wanted(&s->series) && !strcmp(s->output, "-")) {
		message_error("--switch-output needs a file name; give -o FILE");
		return false;
	}
	if (s->series.max_files && !series_wanted(&s->series)) {
		message_error("--max-files needs --switch-output");
		return false;
	}
	if (s->embed && !strcmp(s->output, "-")) {
		message_error("--embed needs a file; use prof-report --embed on what was recorded");
		return false;
	}
	if (s->quiet && s->verbose) {
		message_error("give only one of -q and -v");
		return false;
	}
	return true;
}

enum options_result settings_parse(struct settings *s, int argc, char **argv)
{
	const struct options options = {
		.program = "prof-record",
		.synopsis = "[OPTIONS] [-p PID,... | -t TID,... | -a | -G CGROUP] [[--] COMMAND "
			    "[ARG...]]",
		.summary = "Samples the stacks of running programs and writes a trace for "
			   "prof-report.",
		.table = table,
		.context = s,
		.command_follows = true,
	};
	enum options_result result = OPTIONS_FAILED;
	char **rest = calloc((size_t)argc + 1, sizeof(*rest));
	const char *labels = getenv("PROF_LABELS"), *wrong_labels;
	int rest_count = 0;

	*s = (struct settings){ .output = "trace.prf", .level = 3, .waits = { .min_ns = 1000000 } };
	s->command_line = join(argc, argv);
	if (!rest || !s->command_line) {
		message_error("%s", option_no_memory);
		goto out;
	}
	/* First, so that -M replaces them. */
	wrong_labels = take_labels(s, labels);
	result = options_parse(&options, argc, argv, rest, &rest_count, &s->command);
	if (result == OPTIONS_OK && wrong_labels) {
		message_error("PROF_LABELS=%s: %s", labels, wrong_labels);
		result = wrong_labels == option_no_memory ? OPTIONS_FAILED : OPTIONS_WRONG;
	}
	if (!s->frequency)
		s->frequency = 99;
	if (s->command && !*s->command)
		s->command = NULL;
	/* perf's -C 1 without a target is everything on that CPU. */
	if (s->cpu_list && !s->pid_count && !s->cgroup && !s->command)
		s->everything = true;
	if (result == OPTIONS_OK && !agree(s))
		result = OPTIONS_WRONG;
out:
	free(rest);
	return result;
}

void settings_release(struct settings *s)
{
	free(s->pids);
	free(s->by_name);
	for (size_t i = 0; i < s->metadata_count; i++)
		free((char *)(uintptr_t)s->metadata[i].key);
	free(s->metadata);
	free(s->command_line);
	event_list_release(&s->events);
	series_release(&s->series);
}
