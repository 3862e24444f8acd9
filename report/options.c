/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/options.h"

#include "common/message.h"
#include "report/view_registry.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The threads of more traces than these are joined, in formats that have threads. */
#define THREADS_OF_TRACES 16

enum { CODE_FUNCTIONS = 20, CODE_FUNCTIONS_MAX = 1000 };

#define ACTION(function, chosen)                                                                   \
	static const char *function(void *context, const char *argument)                           \
	{                                                                                          \
		struct report_options *o = context;                                                \
                                                                                                   \
		o->action = chosen;                                                                \
		return NULL;                                                                       \
	}

ACTION(take_info, REPORT_INFO)
ACTION(take_dump, REPORT_DUMP)
ACTION(take_check, REPORT_CHECK)

/* -------- output -------- */

static const char *take_embed(void *context, const char *argument)
{
	struct report_options *o = context;

	o->action = REPORT_EMBED;
	o->embed_code = argument && !strcmp(argument, "code");
	return !argument || o->embed_code || !strcmp(argument, "names") ? NULL
									: "must be names or code";
}

static const char *take_format(void *context, const char *argument)
{
	struct report_options *o = context;
	size_t length;

	o->view = view_find(argument);
	if (o->view)
		return NULL;
	length = (size_t)snprintf(o->why, sizeof(o->why), "no such format; there are");
	for (size_t i = 0; view_at(i) && length < sizeof(o->why); i++)
		length += (size_t)snprintf(o->why + length, sizeof(o->why) - length, "%s %s",
					   i ? "," : "", view_at(i)->name);
	return o->why;
}

static const char *take_color(void *context, const char *argument)
{
	struct report_options *o = context;

	if (!argument || !strcmp(argument, "always"))
		o->colour = COLOUR_ALWAYS;
	else if (!strcmp(argument, "never"))
		o->colour = COLOUR_NEVER;
	else if (!strcmp(argument, "auto"))
		o->colour = COLOUR_AUTO;
	else
		return "must be auto, always or never";
	return NULL;
}

static const char *take_diff(void *context, const char *argument)
{
	struct report_options *o = context;

	if (o->base_count == BASES_MAX) {
		snprintf(o->why, sizeof(o->why),
			 "at most %d runs before can be compared; leave some out", BASES_MAX);
		return o->why;
	}
	o->bases[o->base_count++] = (char *)argument;
	return NULL;
}

static const char *take_jobs(void *context, const char *argument)
{
	struct report_options *o = context;
	unsigned long long n;

	if (!option_number(argument, 1, 1024, &n))
		return "must be a number of threads, 1 to 1024";
	o->symbols.jobs = (unsigned int)n;
	return NULL;
}

static const char *take_by(void *context, const char *argument)
{
	static const char *const known[] = { "function", "object", "line", "thread", "comm" };
	struct report_options *o = context;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(argument, known[i])) {
			o->shown.by = known[i];
			return NULL;
		}
	return "must be function, object, line, thread or comm";
}

static const char *take_limit(void *context, const char *argument)
{
	struct report_options *o = context;
	unsigned long long n;

	if (!option_number(argument, 0, UINT32_MAX, &n))
		return "must be a number of rows, 0 for all";
	o->shown.limit = n ? (unsigned int)n : UINT_MAX;
	return NULL;
}

static const char *take_code(void *context, const char *argument)
{
	struct report_options *o = context;
	unsigned long long n = CODE_FUNCTIONS;

	if (argument && !option_number(argument, 1, CODE_FUNCTIONS_MAX, &n))
		return "must be a number of functions, 1 to 1000";
	o->shown.code_functions = (unsigned int)n;
	return NULL;
}

static const char *take_value(void *context, const char *argument)
{
	static const char *const names[] = {
		NULL, "samples", "time", "latency", "bytes", "weight"
	};
	struct report_options *o = context;

	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(argument, names[i])) {
			o->value = (enum value_choice)i;
			return NULL;
		}
	return "must be samples, time, latency, bytes or weight";
}

/* -------- selection -------- */

/* Adds each of "a,b,c" to the list. */
static const char *add_patterns(struct pattern_list *list, const char *argument)
{
	char *copy = strdup(argument), *rest = copy, *one;
	bool ok = copy;

	while (ok && (one = strsep(&rest, ",")))
		ok = pattern_list_add(list, one);
	free(copy);
	return ok ? NULL : option_no_memory;
}

static const char *take_comm(void *context, const char *argument)
{
	return add_patterns(&((struct report_options *)context)->selection.comms, argument);
}

/* Without an argument these put a frame before the stack, with one they select. */
static const char *take_numbers(struct number_set *set, bool *leading, const char *argument)
{
	*leading |= !argument;
	return !argument || number_set_add(set, argument) ? NULL : "must be numbers: 1,4,10-19";
}

static const char *take_pattern(struct pattern_list *list, bool *leading, const char *argument)
{
	*leading |= !argument;
	return !argument || pattern_list_add(list, argument) ? NULL : option_no_memory;
}

#define SELECT(function, take, list, leading)                                                      \
	static const char *function(void *context, const char *argument)                           \
	{                                                                                          \
		struct report_options *o = context;                                                \
                                                                                                   \
		return take(&o->selection.list, &o->leading, argument);                            \
	}

SELECT(take_pid, take_numbers, pids, with_pid)
SELECT(take_tid, take_numbers, tids, with_tid)
SELECT(take_cpu, take_numbers, cpus, with_cpu)
SELECT(take_event, take_pattern, events, with_event)
SELECT(take_cgroup, take_pattern, cgroups, with_cgroup)

static const char *take_parallelism(void *context, const char *argument)
{
	struct report_options *o = context;

	return number_set_add(&o->selection.parallelism, argument)
		       ? NULL
		       : "must be numbers of threads: 1 or 2-64";
}

static const char *take_time(void *context, const char *argument)
{
	struct report_options *o = context;

	return selection_set_time(&o->selection, argument)
		       ? NULL
		       : "must be FROM,TO with FROM before TO, each like 1.5s (from the start), "
			 "@8123.5 (CLOCK_MONOTONIC), 25% or empty";
}

static const char *take_wall(void *context, const char *argument)
{
	struct report_options *o = context;

	o->selection.on_cpu = o->selection.off_cpu = true;
	return NULL;
}

/* -------- shaping -------- */

static const char *compile(struct report_options *o, size_t slot, const regex_t **use,
			   const char *text)
{
	int error;

	if (o->compiled[slot])
		regfree(&o->regexes[slot]);
	o->compiled[slot] = false;
	error = regcomp(&o->regexes[slot], text, REG_EXTENDED | REG_NOSUB);
	if (error == REG_ESPACE)
		return option_no_memory;
	if (error) {
		char why[128];

		regerror(error, &o->regexes[slot], why, sizeof(why));
		snprintf(o->why, sizeof(o->why), "not a regular expression: %s", why);
		return o->why;
	}
	o->compiled[slot] = true;
	*use = &o->regexes[slot];
	return NULL;
}

#define REGEX(function, slot, field)                                                               \
	static const char *function(void *context, const char *argument)                           \
	{                                                                                          \
		struct report_options *o = context;                                                \
                                                                                                   \
		return compile(o, slot, &o->field, argument);                                      \
	}

REGEX(take_focus, 0, shape.focus)
REGEX(take_hide, 1, shape.hide)
REGEX(take_root, 2, shape.root)
REGEX(take_caller_of, 3, shape.caller_of)

static const char *take_function(void *context, const char *argument)
{
	struct report_options *o = context;

	o->shown.function_text = argument;
	return compile(o, 4, &o->shown.function, argument);
}

static const char *take_max_depth(void *context, const char *argument)
{
	struct report_options *o = context;
	unsigned long long n;

	if (!option_number(argument, 1, UINT32_MAX, &n))
		return "must be a number of frames, 1 or more";
	o->shape.max_depth = (uint32_t)n;
	return NULL;
}

static const char *take_percent(double *percent, const char *argument)
{
	char *end;

	*percent = strtod(argument, &end);
	if (end != argument && *end == '%')
		end++;
	if (end == argument || *end || !isfinite(*percent) || *percent < 0 || *percent > 100)
		return "must be a percentage, 0 to 100";
	return NULL;
}

static const char *take_min(void *context, const char *argument)
{
	return take_percent(&((struct report_options *)context)->min_percent, argument);
}

static const char *take_fail(void *context, const char *argument)
{
	return take_percent(&((struct report_options *)context)->fail_percent, argument);
}

static const struct {
	const char *name;
	unsigned int dimension;
} dimension_names[] = {
	{ "comm", PROFILE_BY_COMM },	 { "pid", PROFILE_BY_PID },
	{ "tid", PROFILE_BY_TID },	 { "cpu", PROFILE_BY_CPU },
	{ "event", PROFILE_BY_EVENT },	 { "object", PROFILE_BY_OBJECT },
	{ "cgroup", PROFILE_BY_CGROUP }, { "trace", PROFILE_BY_TRACE },
	{ "time", PROFILE_BY_TIME },	 { "parallelism", PROFILE_BY_PARALLELISM },
};
_Static_assert(sizeof(dimension_names) / sizeof(*dimension_names) + PROFILE_NOTES <
		       VIEW_LEADING_MAX,
	       "each of them may be asked for at once, and a 0 ends them");

static const char *named_twice(struct report_options *o, const char *key, size_t length)
{
	snprintf(o->why, sizeof(o->why), "names %.*s twice", (int)length, key);
	return o->why;
}

/* What is no name of a dimension is the key of a note, such as the host. */
static const char *add_note(struct report_options *o, size_t *n, const char *key)
{
	size_t i = 0;

	while (i < PROFILE_NOTES && o->note_keys[i]) {
		if (!strcmp(o->note_keys[i], key))
			return named_twice(o, key, strlen(key));
		i++;
	}
	if (i == PROFILE_NOTES)
		return "takes four keys of notes at most";
	o->note_keys[i] = strdup(key);
	if (!o->note_keys[i])
		return option_no_memory;
	o->dimensions |= PROFILE_BY_NOTE << i;
	o->shown.leading[(*n)++] = PROFILE_BY_NOTE << i;
	return NULL;
}

static const char *add_group(struct report_options *o, size_t *n, const char *name)
{
	static const char *const wrong =
		"must be some of comm,pid,tid,cpu,event,object,cgroup,parallelism,host,trace,"
		"time:100ms, and keys of notes";
	size_t length = strcspn(name, ":");
	unsigned long long ns;

	for (size_t i = 0; i < sizeof(dimension_names) / sizeof(*dimension_names); i++) {
		if (strlen(dimension_names[i].name) != length ||
		    strncmp(dimension_names[i].name, name, length))
			continue;
		if (o->dimensions & dimension_names[i].dimension)
			return named_twice(o, name, length);
		if (dimension_names[i].dimension == PROFILE_BY_TIME) {
			if (!name[length] || !option_duration(name + length + 1, 1000000000, &ns) ||
			    !ns)
				return "needs the length of a slice: time:100ms";
			o->slice_ns = ns;
		} else if (name[length]) {
			return wrong;
		}
		o->dimensions |= dimension_names[i].dimension;
		o->shown.leading[(*n)++] = dimension_names[i].dimension;
		return NULL;
	}
	return length && !name[length] ? add_note(o, n, name) : wrong;
}

static void forget_notes(struct report_options *o)
{
	for (size_t i = 0; i < PROFILE_NOTES; i++) {
		free((char *)(uintptr_t)o->note_keys[i]);
		o->note_keys[i] = NULL;
	}
}

static const char *take_group_by(void *context, const char *argument)
{
	struct report_options *o = context;
	char *copy = strdup(argument), *rest = copy, *one;
	const char *why = copy ? NULL : option_no_memory;
	size_t n = 0;

	o->grouped = true;
	o->dimensions = 0;
	forget_notes(o);
	memset(o->shown.leading, 0, sizeof(o->shown.leading));
	while (!why && (one = strsep(&rest, ",")))
		why = add_group(o, &n, one);
	free(copy);
	return why;
}

static const char *take_lines(void *context, const char *argument)
{
	struct report_options *o = context;

	o->shown.lines = true;
	o->symbols.lines = true;
	return NULL;
}

static const char *take_debug_dir(void *context, const char *argument)
{
	struct report_options *o = context;

	for (size_t i = 0; i < DEBUG_DIRECTORIES_MAX; i++)
		if (!o->debug_directories[i]) {
			o->debug_directories[i] = argument;
			o->symbols.debug_directories = o->debug_directories;
			return NULL;
		}
	snprintf(o->why, sizeof(o->why), "at most %d folders can be searched; leave some out",
		 DEBUG_DIRECTORIES_MAX);
	return o->why;
}

/* -------- the table -------- */

/* Commands that print what completion offers; see common/option_table.h. */
#define BY_THREAD(what)                                                                            \
	"$ prof-report -q -f top --by=thread --csv \"$trace\" | sed -n "                           \
	"\"s/^.\\(.*\\)-\\([0-9]*\\)\\/\\([0-9]*\\).*/" what "\\t\\1/p\" | sort -u"
#define TRACE_PIDS BY_THREAD("\\2")
#define TRACE_TIDS BY_THREAD("\\3")
/* CSV has an apostrophe before what spreadsheets would run. */
#define COMMS                                                                                      \
	"$ prof-report -q -f top --by=comm --csv \"$trace\" | tail -n +2 | cut -d \\\" -f 2 | "    \
	"sed \"s/^\\x27\\([-=+@]\\)/\\1/\""
#define TRACE_EVENTS                                                                               \
	"$ prof-report --info \"$trace\" | sed -n \"s/^\\(events\\)\\{0,1\\} "                     \
	"*\\([^ ]*\\) (.* samples/\\2/p\""

#define SETS(member) OPTION_SETS(struct report_options, member)
#define CLEARS(member) OPTION_CLEARS(struct report_options, member)
#define KEEPS(member) OPTION_KEEPS(struct report_options, member)

static const struct option_entry table[] = {
	{ .help = "Output" },
	{ 'f', "format", "FORMAT",
	  "folded, top, tree, annotate, html, pprof, firefox, speedscope, script, jsonl "
	  "or parquet",
	  take_format,
	  "folded top tree annotate html pprof firefox speedscope script jsonl parquet" },
	{ 'o', "output", "FILE", "write to FILE instead of standard output", KEEPS(output),
	  .values = VALUES_FILES },
	{ 0, "open", NULL, "write a page, and show it in a browser", SETS(open) },
	{ 0, "from-folded", NULL,
	  "read folded stacks instead of traces: for -f folded, top, tree, html and pprof",
	  SETS(from_folded) },
	{ 0, "live", NULL,
	  "the table of a trace that is still written, redrawn each second (q quits)", SETS(live) },
	{ 0, "value", "WHAT",
	  "count samples, time (us), latency, bytes or weight (default: samples; time for waits)",
	  take_value, "samples time latency bytes weight" },
	{ 0, "diff", "BASE", "compare with the trace BASE (may be repeated: several runs)",
	  take_diff, VALUES_FILES },
	{ 0, "fail-on-regression", "PERCENT",
	  "with -f top --diff: exit 1 if a function surely grew by this share of the total",
	  take_fail },
	{ 0, "normalize", NULL, "with --diff: scale BASE to the same total",
	  SETS(shown.normalize) },
	{ 0, "safe-colors", NULL, "with --diff: colours that colour-blind people can distinguish",
	  SETS(shown.safe_colours) },
	{ 0, "title", "TEXT", "title of the page or profile", KEEPS(shown.title) },
	{ 0, "info", NULL, "report what the trace holds", take_info },
	{ 0, "dump", NULL, "write every block and record as text", take_dump },
	{ 0, "check", NULL, "verify the whole trace; exit 1 when something is wrong", take_check },
	{ 0, "embed", "[=WHAT]",
	  "copy the trace to -o FILE with all names in it, or with all code and its lines, too",
	  take_embed, "names code" },
	{ 0, "json", NULL, "as JSON: --info, -f top, -f tree", SETS(shown.json) },
	{ 0, "csv", NULL, "as CSV: -f top", SETS(shown.csv) },
	{ 0, "color", "[=WHEN]", "auto (default), always or never", take_color,
	  "auto always never" },
	{ 0, "no-pager", NULL, "do not show long text in a pager", SETS(no_pager) },
	{ 'j', "jobs", "N", "threads for looking up names (default: one per CPU)", take_jobs },
	{ 'q', "quiet", NULL, "only errors on standard error", SETS(quiet) },
	{ 'v', "verbose", NULL, "print more details", SETS(verbose) },

	{ .help = "Selection" },
	{ 0, "comm", "NAME[,NAME...]", "only these commands (shell patterns)", take_comm, COMMS },
	{ 0, "pid", "[=LIST]", "only these processes; alone: show comm-PID", take_pid, TRACE_PIDS },
	{ 0, "tid", "[=LIST]", "only these threads; alone: show comm-PID/TID", take_tid,
	  TRACE_TIDS },
	{ 0, "cpu", "[=LIST]", "only these CPUs; alone: show the CPU as first frame", take_cpu },
	{ 0, "event", "[=NAME]", "only this event (may be repeated); alone: show it as first frame",
	  take_event, TRACE_EVENTS },
	{ 0, "cgroup", "[=PATH]", "only this cgroup (pattern); alone: show it as first frame",
	  take_cgroup },
	{ 0, "parallelism", "LIST", "only while this many threads of the process ran: 1 or 2-64",
	  take_parallelism },
	{ 0, "time", "FROM,TO", "only this window: 1.5s,3s or 10%,20% or @ABSOLUTE,", take_time },
	{ 0, "on-cpu", NULL, "only samples taken while running", SETS(selection.on_cpu) },
	{ 0, "off-cpu", NULL, "only waits", SETS(selection.off_cpu) },
	{ 0, "wall", NULL, "both: where the time went, running or not", take_wall },

	{ .help = "Shaping stacks" },
	{ 0, "focus", "RE", "only stacks with a function that matches", take_focus },
	{ 0, "hide", "RE", "leave out functions that match", take_hide },
	{ 0, "root", "RE", "begin stacks at the first function that matches", take_root },
	{ 0, "caller-of", "RE", "end stacks at the first function that matches", take_caller_of },
	{ 0, "no-kernel", NULL, "leave out kernel functions", SETS(shape.no_kernel) },
	{ 0, "no-user", NULL, "leave out user functions", SETS(shape.no_user) },
	{ 0, "script-only", NULL, "only functions of Python, Ruby, PHP, Java, JavaScript",
	  SETS(shape.script_only) },
	{ 0, "max-depth", "N", "keep the outermost N functions of a stack", take_max_depth },
	{ 0, "collapse-recursion", NULL, "show direct recursion as one call",
	  SETS(shape.collapse_recursion) },
	{ 0, "min", "PERCENT", "cut what is below this share of the total", take_min },
	{ 0, "wakers", NULL, "put the waker's stack on top of a wait", SETS(wakers) },
	{ 0, "group-by", "LIST",
	  "first frames: comm,pid,tid,cpu,event,object,cgroup,parallelism,host,trace,time:1s, "
	  "notes",
	  take_group_by, "comm pid tid cpu event object cgroup parallelism host trace time:100ms" },
	{ 0, "each-thread", NULL,
	  "html, pprof, firefox, speedscope: threads apart, of however many traces",
	  SETS(each_thread) },

	{ .help = "Showing frames" },
	{ 0, "annotate", NULL,
	  "mark kernel _[k], inlined _[i], JIT _[j], script _[s], guessed _[g], waker _[w]",
	  SETS(shown.annotate) },
	{ 0, "delimiter", NULL, "a frame - between user and kernel", SETS(shape.delimiter) },
	{ 0, "addrs", NULL, "show where frames without a name are", SETS(shown.addresses) },
	{ 0, "lines", NULL, "show source file and line", take_lines },
	{ 0, "modules", NULL, "show the file each function is in", SETS(shown.modules) },

	{ .help = "Tables (-f top) and functions (-f annotate)" },
	{ 0, "by", "WHAT", "function (default), object, line, thread or comm", take_by,
	  "function object line thread comm" },
	{ 0, "limit", "N", "only the first N rows, or functions", take_limit },
	{ 0, "function", "RE",
	  "top: callers and callees of the functions that match; annotate: their code",
	  take_function },
	{ 0, "code", "[=N]",
	  "html: sources and instructions of the N functions with most samples (20)", take_code },
	{ 0, "source-dir", "DIR", "annotate: look for sources below DIR first",
	  KEEPS(shown.source_directory), .values = VALUES_FOLDERS },

	{ .help = "Names" },
	{ 0, "no-inlines", NULL, "do not show inlined functions", CLEARS(symbols.inlines) },
	{ 0, "no-demangle", NULL, "names as in the symbol table", CLEARS(symbols.demangle) },
	{ 0, "full-names", NULL, "names with template and function arguments",
	  SETS(symbols.full_names) },
	{ 0, "sysroot", "DIR", "look for recorded files below DIR", KEEPS(symbols.sysroot),
	  .values = VALUES_FOLDERS },
	{ 0, "debug-dir", "DIR", "look for debug files in DIR too (may be repeated)",
	  take_debug_dir, VALUES_FOLDERS },
	{ 0, "debuginfod", NULL, "ask debuginfod servers for debug files",
	  SETS(symbols.debuginfod) },
	{ 0, "no-cache", NULL, "do not keep looked-up names in the cache", CLEARS(symbols.cache) },
	{ .help = NULL },
};

/* The frames before the stack that --pid and the like ask for, as stackcollapse-perf.pl has them.
 */
static void set_leading(struct report_options *o)
{
	unsigned int task = PROFILE_BY_COMM | (o->with_pid ? PROFILE_BY_PID : 0) |
			    (o->with_tid ? PROFILE_BY_PID | PROFILE_BY_TID : 0);
	size_t n = 0;

	if (o->grouped)
		return;
	if (o->with_event)
		o->shown.leading[n++] = PROFILE_BY_EVENT;
	if (o->with_cgroup)
		o->shown.leading[n++] = PROFILE_BY_CGROUP;
	if (o->with_cpu)
		o->shown.leading[n++] = PROFILE_BY_CPU;
	o->shown.leading[n++] = task;
	for (size_t i = 0; i < n; i++)
		o->dimensions |= o->shown.leading[i];
}

/* With listings the page needs lines and addresses of frames, which it does without otherwise. */
static void show_code(struct report_options *o)
{
	o->changed_view = *o->view;
	o->changed_view.detail |= view_find("annotate")->detail;
	o->changed_view.code = true;
	o->view = &o->changed_view;
}

/* Where it is counted anyway, the page can choose by it: but not what a comparison had before. */
static void show_parallelism(struct report_options *o)
{
	if (!o->base_count && !o->from_folded &&
	    (o->value == VALUE_LATENCY || o->selection.parallelism.count))
		o->dimensions |= PROFILE_BY_PARALLELISM;
}

/* A profile has the labels that are asked for: a server stores a sample for each combination of
 * them. */
static void show_labels(struct report_options *o)
{
	o->changed_view = *o->view;
	o->changed_view.dimensions &= ~(unsigned int)PROFILE_BY_THREAD;
	o->view = &o->changed_view;
}

/*
 * Each thread of each trace has stacks of its own, which take the more memory the more traces there
 * are. Those of many traces are joined by command, however they are grouped: but labels that are
 * asked for tell samples apart. Runs that are compared stay apart.
 */
static void join_threads(struct report_options *o)
{
	const unsigned int one_by_one = PROFILE_BY_TRACE | PROFILE_BY_PID | PROFILE_BY_TID;
	unsigned int joined = o->view->dimensions & one_by_one & ~o->dimensions;

	if (o->each_thread || o->path_count <= THREADS_OF_TRACES || o->base_count || !joined)
		return;
	o->changed_view = *o->view;
	o->changed_view.dimensions &= ~joined;
	o->view = &o->changed_view;
	o->joined = o->view->led || joined == one_by_one
			    ? "threads are joined by command; --each-thread tells them apart"
			    : "samples have only the labels that are asked for; --each-thread "
			      "tells the traces apart";
}

/* What perf-report(1) has. */
static const struct option_habit habits[] = {
	{ "i", "the trace is named without it" },
	{ "input", "the trace is named without it" },
	{ "stdio", "-f top prints a table" },
	{ "children", "-f top has both, in a function itself and in all" },
	{ "no-children", "-f top has both, in a function itself and in all" },
	{ "g", "-f tree prints calls" },
	{ "call-graph", "-f tree prints calls" },
	{ "s", "-f top --by=WHAT makes other rows than functions" },
	{ "sort", "-f top --by=WHAT makes other rows than functions" },
	{ NULL, NULL },
};

enum options_result report_options_parse(struct report_options *o, int argc, char **argv)
{
	const struct options options = {
		.program = "prof-report",
		.synopsis = "[OPTIONS] [FILE...]",
		.summary =
			"Shows what prof-record recorded: by default as folded stacks on standard "
			"output.",
		.table = table,
		.context = o,
		.habits = habits,
	};
	enum options_result result;
	char **command = NULL;

	*o = (struct report_options){
		.min_percent = -1, /* each view's own */
		.fail_percent = -1,
		.symbols = { .inlines = true, .demangle = true, .cache = true },
	};
	o->paths = malloc((size_t)argc * sizeof(*o->paths) + sizeof(*o->paths));
	if (!o->paths) {
		message_setup(options.program, MESSAGE_INFO);
		message_error("%s", option_no_memory);
		return OPTIONS_FAILED;
	}
	result = options_parse(&options, argc, argv, o->paths, &o->path_count, &command);
	if (result != OPTIONS_OK)
		return result;
	while (command && *command)
		o->paths[o->path_count++] = *command++;
	if (!o->view && o->output) {
		o->view = view_of_file(o->output);
		o->unclear = !o->view && view_is_unclear(o->output);
	}
	if (!o->view)
		o->view = view_find(o->open ? "html" : o->live ? "top" : "folded");
	if (o->view == view_find("html"))
		show_parallelism(o);
	if (o->shown.code_functions)
		show_code(o);
	if (o->grouped && o->view == view_find("pprof"))
		show_labels(o);
	if (o->from_folded)
		o->symbols.demangle = false; /* its names are those that are shown */
	set_leading(o);
	join_threads(o);
	if (o->base_count && o->view->paged) /* each trace is a run */
		o->dimensions |= PROFILE_BY_TRACE;
	if (o->shown.by && !strcmp(o->shown.by, "line"))
		take_lines(o, NULL);
	if (o->shown.by && !strcmp(o->shown.by, "thread"))
		o->dimensions |= PROFILE_BY_THREAD;
	if (o->shown.by && !strcmp(o->shown.by, "comm"))
		o->dimensions |= PROFILE_BY_COMM;
	return OPTIONS_OK;
}

void report_options_release(struct report_options *o)
{
	forget_notes(o);
	for (size_t i = 0; i < sizeof(o->compiled) / sizeof(*o->compiled); i++)
		if (o->compiled[i])
			regfree(&o->regexes[i]);
	selection_release(&o->selection);
	free(o->page_path);
	free(o->paths);
}
