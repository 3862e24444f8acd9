/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/results/output.h"
#include "common/buffer.h"
#include "common/message.h"

static const struct option_entry table[64];

static void mark(struct settings *s, const char *name)
{
	for (size_t i = 0; table[i].help; i++)
		if (table[i].name && !strcmp(table[i].name, name))
			s->given |= UINT64_C(1) << i;
}

static const char *take_real(const char *argument, double low, double high, double *value)
{
	char *end;
	double number = strtod(argument, &end);

	if (end == argument || *end || !(number >= low && number <= high))
		return "is no number in its range";
	*value = number;
	return NULL;
}

static const char *take_count(const char *argument, uint64_t low, uint64_t high, uint64_t *value)
{
	unsigned long long number;

	if (!option_number(argument, low, high, &number))
		return "is no number in its range";
	*value = number;
	return NULL;
}

static const char *take_seconds(const char *argument, double *value)
{
	unsigned long long ns;

	if (!option_duration(argument, 1000000000ULL, &ns) || !ns)
		return "is no time";
	*value = (double)ns / 1e9;
	return NULL;
}

#define TAKE(function, name, statement)                                                            \
	static const char *function(void *context, const char *argument)                           \
	{                                                                                          \
		struct settings *s = context;                                                      \
                                                                                                   \
		(void)argument;                                                                    \
		mark(s, name);                                                                     \
		statement;                                                                         \
	}
#define TAKE_TEXT(field, name) TAKE(take_##field, name, s->field = argument; return NULL)
#define TAKE_FLAG(field, name) TAKE(take_##field, name, s->field = true; return NULL)
#define TAKE_NUMBER(field, name, low, high)                                                        \
	TAKE(take_##field, name, return take_count(argument, low, high, &s->field))

TAKE_FLAG(verbose, "verbose")
TAKE_FLAG(quiet, "quiet")
TAKE_TEXT(bmf, "bmf")
TAKE_NUMBER(seed, "seed", 0, UINT64_MAX)
TAKE_TEXT(filter, "filter")
TAKE(take_time, "time", return take_seconds(argument, &s->seconds))
TAKE(take_warm_up, "warm-up", return take_seconds(argument, &s->warm_up_seconds))
TAKE(take_measurements, "measurements", s->measurements_given = true;
     return take_count(argument, 2, 100000, &s->measurements))
TAKE_NUMBER(resamples, "resamples", 100, 10000000)
TAKE_TEXT(baseline, "baseline")
TAKE_FLAG(list, "list")
TAKE_NUMBER(iterations, "iterations", 0, UINT32_MAX)
TAKE_FLAG(phases, "phases")
TAKE_TEXT(program_name, "name")
TAKE_TEXT(dhat, "dhat")
TAKE_TEXT(pin, "pin")
TAKE_TEXT(interface, "interface")
TAKE_TEXT(cgroup, "cgroup")
TAKE_TEXT(object, "object")
TAKE_FLAG(test_run, "test-run")
TAKE_FLAG(hits, "hits")
TAKE_NUMBER(repeat, "repeat", 1, INT32_MAX)
TAKE_TEXT(data, "data")
TAKE_TEXT(context, "context")
TAKE_TEXT(thresholds, "thresholds")
TAKE_TEXT(history, "history")
TAKE(take_branch, "branch", s->branch = argument; s->branch_given = true; return NULL)
TAKE_TEXT(hash, "hash")
TAKE_TEXT(testbed, "testbed")
TAKE_TEXT(start_point, "start-point")
TAKE_TEXT(start_point_hash, "start-point-hash")
TAKE_FLAG(dry_run, "dry-run")
TAKE_FLAG(allow_missing, "allow-missing-baseline")
TAKE_FLAG(accept, "accept")
TAKE_TEXT(svg, "svg")
TAKE_TEXT(benchmark, "benchmark")
TAKE_NUMBER(pairs, "pairs", 8, 100000)
TAKE_NUMBER(max_pairs, "max-pairs", 8, 1000000000)
TAKE(take_noise, "noise", return take_real(argument, 0, 1000, &s->noise))
TAKE_FLAG(cpu_time, "cpu-time")
TAKE_FLAG(explain, "explain")
TAKE_FLAG(changes, "changes")
TAKE(take_count_option, "count", return take_count(argument, 1, 100000, &s->count))
TAKE(take_power, "power", return take_real(argument, -9, 12, &s->power))
TAKE(take_spread, "spread", return take_real(argument, 0, 100, &s->spread))

static const char *take_id(void *context, const char *argument)
{
	struct settings *s = context;
	uint64_t id;
	const char *why = take_count(argument, 1, UINT32_MAX, &id);

	mark(s, "id");
	if (!why)
		s->program_id = (uint32_t)id;
	return why;
}

static const struct option_entry table[64] = {
	{ .help = "All commands" },
	{ 0, "bmf", "FILE", "also write the results in Bencher Metric Format; - is stdout",
	  take_bmf, VALUES_FILES },
	{ 0, "seed", "N", "seed of resampling, order and generated data (default 1)", take_seed },
	{ 'q', "quiet", NULL, "say only what fails", take_quiet },
	{ 'v', "verbose", NULL, "print more details", take_verbose },
	{ .help = "Which benchmarks, and how long" },
	{ 0, "list", NULL, "print the names, one a line", take_list },
	{ 0, "filter", "RE", "only benchmarks whose name matches the extended regular expression",
	  take_filter },
	{ 0, "time", "SECONDS",
	  "about how long: a benchmark (5), window (bpf: 2), kernel (20), recording (3)",
	  take_time },
	{ 0, "warm-up", "SECONDS", "run this long before measuring (default 1)", take_warm_up },
	{ 0, "measurements", "N", "measurements per benchmark (default 100), or rounds (peers: 5)",
	  take_measurements },
	{ 0, "resamples", "N", "bootstrap resamples (default 100000)", take_resamples },
	{ 0, "baseline", "FILE", "compare with the measurements kept here, and keep these instead",
	  take_baseline, VALUES_FILES },
	{ 0, "iterations", "N", "instr, heap: iterations under the tool (default 3)",
	  take_iterations },
	{ 0, "dhat", "FILE", "heap: keep what DHAT wrote, for its viewer", take_dhat,
	  VALUES_FILES },
	{ 0, "phases", NULL, "kernel: what the phases of a sample take", take_phases },
	{ .help = "bpf: which program, and what runs it" },
	{ 0, "id", "N", "the loaded program with this id", take_id },
	{ 0, "name", "NAME",
	  "the loaded program, or those in --object; a command's name in results",
	  take_program_name },
	{ 0, "pin", "PATH", "the program pinned here", take_pin },
	{ 0, "object", "FILE", "load this BPF object file", take_object, VALUES_FILES },
	{ 0, "interface", "NAME", "attach the object's XDP or tc program here", take_interface },
	{ 0, "cgroup", "PATH", "attach the object's cgroup program here", take_cgroup },
	{ 0, "hits", NULL, "sample it, and print the instructions with the samples in each",
	  take_hits },
	{ 0, "test-run", NULL, "run it in the kernel with BPF_PROG_TEST_RUN", take_test_run },
	{ 0, "repeat", "N", "runs per test run (default 10000)", take_repeat },
	{ 0, "data", "FILE", "input packet of test runs (default: an IPv4 packet)", take_data,
	  VALUES_FILES },
	{ 0, "context", "FILE", "input context of test runs", take_context, VALUES_FILES },
	{ .help = "gate and history" },
	{ 0, "thresholds", "FILE", "what may change how much (see THE GATE in the manual)",
	  take_thresholds, VALUES_FILES },
	{ 0, "history", "FILE", "results of earlier runs, one JSON object a line", take_history,
	  VALUES_FILES },
	{ 0, "branch", "NAME", "branch that was measured (default main)", take_branch },
	{ 0, "hash", "HASH", "commit that was measured", take_hash },
	{ 0, "testbed", "NAME", "machine that measured (default: host name)", take_testbed },
	{ 0, "start-point", "BRANCH", "branch whose history this branch continues",
	  take_start_point },
	{ 0, "start-point-hash", "HASH", "the last commit of that history which counts",
	  take_start_point_hash },
	{ 0, "dry-run", NULL, "judge, but add nothing to the history", take_dry_run },
	{ 0, "allow-missing-baseline", NULL, "no history to judge by is fine (for first runs)",
	  take_allow_missing },
	{ 0, "accept", NULL, "what regressed, or is missing, is wanted", take_accept },
	{ 0, "changes", NULL, "history: where each measure changed for good", take_changes },
	{ 0, "svg", "FILE", "draw the trend of each benchmark", take_svg, VALUES_FILES },
	{ 0, "cpu-time", NULL, "run, ab: user and system time in place of elapsed time",
	  take_cpu_time },
	{ .help = "ab" },
	{ 0, "benchmark", "NAME", "time this benchmark of both programs, not their whole runs",
	  take_benchmark },
	{ 0, "pairs", "N", "pairs measured at first (default 20)", take_pairs },
	{ 0, "max-pairs", "N", "pairs after which it stays inconclusive (default 4 times --pairs)",
	  take_max_pairs },
	{ 0, "noise", "PERCENT", "the slowdown that is to be found, in percent (default 2)",
	  take_noise },
	{ 0, "explain", NULL, "record both unless the new one is fine, and name the functions",
	  take_explain },
	{ .help = "mock" },
	{ 0, "count", "N", "benchmarks to make up (default 5)", take_count_option },
	{ 0, "power", "P", "values around 10 to the power of P (default 1)", take_power },
	{ 0, "spread", "PERCENT", "standard deviation (default 10)", take_spread },
	{ .help = NULL },
};

static void print_commands(struct buffer *summary, const struct command *commands, size_t n)
{
	buffer_text(summary,
		    "Measures prof and other programs, and detects regressions.\n\nCommands:");
	for (size_t i = 0; i < n; i++)
		buffer_printf(summary, "\n  %-28s  %s", commands[i].name, commands[i].summary);
}

/* For completion. */
static void join_names(struct buffer *names, const struct command *commands, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buffer_printf(names, "%s%s", i ? " " : "", commands[i].name);
}

static const struct command *find(const struct command *commands, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* True when `name` is one of the words of `list`. */
static bool contains(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static bool suits(const struct command *c, const struct settings *s)
{
	for (size_t i = 0; table[i].help; i++) {
		if (!(s->given & UINT64_C(1) << i) ||
		    contains("bmf seed quiet verbose", table[i].name) ||
		    contains(c->options, table[i].name))
			continue;
		message_error("%s does not take --%s; see prof-bench --help", c->name,
			      table[i].name);
		return false;
	}
	return true;
}

int settings_main(const struct command_table *offered, int argc, char **argv)
{
	struct settings s = {
		.benchmarks = offered->benchmarks,
		.seed = 1,
		.warm_up_seconds = 1,
		.measurements = 100,
		.resamples = 100000,
		.iterations = 3,
		.repeat = 10000,
		.branch = "main",
		.pairs = 20,
		.noise = 2,
		.count = 5,
		.power = 1,
		.spread = 10,
	};
	char **rest = calloc((size_t)argc + 1, sizeof(*rest));
	struct buffer summary = { 0 }, names = { 0 };
	const struct command *command;
	int rest_count = 0, status = VERDICT_ERROR;
	struct options options = {
		.program = "prof-bench",
		.synopsis = "COMMAND [OPTIONS] [ARGUMENT...]",
		.table = table,
		.context = &s,
	};

	message_setup("prof-bench", MESSAGE_INFO);
	if (!rest)
		goto out;
	print_commands(&summary, offered->commands, offered->count);
	options.summary = buffer_string(&summary);
	join_names(&names, offered->commands, offered->count);
	options.values = buffer_string(&names);
	status = options_parse(&options, argc, argv, rest, &rest_count, &s.command);
	if (status != OPTIONS_OK)
		goto out;
	status = VERDICT_ERROR;
	message_setup("prof-bench", s.quiet	? MESSAGE_ERROR
				    : s.verbose ? MESSAGE_DETAIL
						: MESSAGE_INFO);
	if (!rest_count) {
		message_error("no command given; see prof-bench --help");
		goto out;
	}
	command = find(offered->commands, offered->count, rest[0]);
	if (!command) {
		message_error("there is no command \"%s\"; see prof-bench --help", rest[0]);
		goto out;
	}
	s.rest = (const char *const *)rest + 1;
	s.rest_count = (size_t)rest_count - 1;
	output_setup(s.bmf, s.quiet);
	if (suits(command, &s))
		status = command->run(&s);
out:
	free(rest);
	buffer_release(&summary);
	buffer_release(&names);
	return status;
}
