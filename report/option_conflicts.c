/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/option_conflicts.h"

#include "common/words.h"

#include <string.h>

static bool is_view(const struct report_options *o, const char *name)
{
	return o->action == REPORT_VIEW && !strcmp(o->view->name, name);
}

bool asks_for_first_frame(const struct report_options *o)
{
	return o->with_pid || o->with_tid || o->with_cpu || o->with_event || o->with_cgroup;
}

bool lacks_function(const struct report_options *o)
{
	return is_view(o, "annotate") && !o->shown.function;
}

static const char *wrong_comparison(const struct report_options *o)
{
	if (o->base_count && o->action != REPORT_VIEW)
		return "--diff goes with a view, not with --info, --dump, --check or --embed";
	if (o->base_count && !o->view->can_diff)
		return "this format cannot show a difference; folded, top, tree, annotate and html "
		       "can";
	if (!o->base_count && o->shown.normalize)
		return "--normalize goes with --diff=BASE";
	if (!o->base_count && o->shown.safe_colours)
		return "--safe-colors goes with --diff=BASE";
	if (o->fail_percent >= 0 && !(o->base_count && is_view(o, "top")))
		return "--fail-on-regression goes with -f top --diff=BASE";
	if (o->base_count && o->shown.function && !o->view->joins_runs)
		return "--function shows callers and callees of one recording; --focus goes with "
		       "--diff";
	if (o->base_count && o->shown.by && !strcmp(o->shown.by, "thread"))
		return "threads have other numbers in every run; --by=comm compares commands";
	return NULL;
}

static const char *wrong_table(const struct report_options *o)
{
	bool top = is_view(o, "top"), annotate = is_view(o, "annotate");

	if (o->shown.csv && !top)
		return "--csv goes with -f top";
	if (o->shown.json && o->action != REPORT_INFO &&
	    (o->action != REPORT_VIEW || !o->view->paged || annotate))
		return "--json goes with --info, -f top and -f tree";
	if (o->shown.csv && o->shown.json)
		return "--csv and --json exclude each other";
	if (o->shown.function && !top && !annotate)
		return "--function goes with -f top and -f annotate";
	if (o->shown.code_functions && !is_view(o, "html"))
		return "--code goes with -f html; -f annotate shows one function";
	if (o->shown.source_directory && !annotate && !o->embed_code && !o->shown.code_functions)
		return "--source-dir goes with -f annotate, -f html --code and --embed=code";
	if (o->shown.by && !top)
		return "--by goes with -f top; elsewhere --group-by puts frames first";
	if (o->shown.limit && !top && !annotate)
		return "--limit goes with -f top and -f annotate; elsewhere --min leaves out what "
		       "is small";
	return NULL;
}

static const char *wrong_live(const struct report_options *o)
{
	if (!o->live)
		return NULL;
	if (!is_view(o, "top"))
		return "--live shows a table: -f top";
	if (o->path_count != 1 || o->base_count)
		return "--live follows one trace";
	if (o->selection.has_time)
		return "--live shows what comes; --time goes with a recording that has ended";
	if (o->value == VALUE_LATENCY || o->selection.parallelism.count ||
	    (o->dimensions & PROFILE_BY_PARALLELISM))
		return "how many threads ran is known of a recording that has ended, not with "
		       "--live";
	if (o->from_folded)
		return "--live reads a trace, not folded stacks";
	if (o->symbols.debuginfod)
		return "--live does not wait for servers: --debuginfod does not go with it";
	return NULL;
}

static const char *wrong_stacks(const struct report_options *o)
{
	if (o->shape.no_kernel && o->shape.no_user)
		return "--no-kernel and --no-user leave nothing of the stacks";
	if (o->shape.script_only && o->shape.no_user)
		return "--script-only and --no-user leave nothing of the stacks";
	if (o->grouped && asks_for_first_frame(o))
		return "--group-by says all first frames: --pid, --tid, --cpu, --event and "
		       "--cgroup "
		       "without a value go into its list";
	if (o->action == REPORT_VIEW && o->view->sample &&
	    (o->grouped || o->wakers || o->min_percent >= 0 || o->value != VALUE_DEFAULT))
		return "-f script, jsonl and parquet write samples as they are: --group-by, --min, "
		       "--value and --wakers do not go with them";
	return NULL;
}

/* Folded text holds commands, names of functions, and numbers. */
static const char *wrong_folded(const struct report_options *o)
{
	static const char *const views[] = { "folded", "top", "tree", "html", "pprof" };
	const unsigned int known = PROFILE_BY_COMM | PROFILE_BY_TRACE;
	const struct selection *s = &o->selection;
	const struct shape *shape = &o->shape;
	const char *by = o->shown.by;

	if (!o->from_folded)
		return NULL;
	if (o->action != REPORT_VIEW ||
	    !words_have(views, sizeof(views) / sizeof(*views), o->view->name))
		return "--from-folded goes with -f folded, top, tree, html and pprof";
	if (s->pids.count || s->tids.count || s->cpus.count || s->parallelism.count ||
	    s->cgroups.count || s->events.count || s->on_cpu || s->off_cpu || s->has_time ||
	    o->wakers || (o->dimensions & ~known) ||
	    (by && strcmp(by, "function") && strcmp(by, "comm")))
		return "--from-folded: of whose samples they are, folded stacks have the command "
		       "only";
	if (shape->no_kernel || shape->no_user || shape->script_only || shape->delimiter ||
	    o->shown.lines || o->shown.modules || o->shown.addresses || o->shown.code_functions)
		return "--from-folded: folded stacks have names of functions only, and not what "
		       "they are or where";
	if (o->value != VALUE_DEFAULT && o->value != VALUE_SAMPLES)
		return "--from-folded: numbers of folded stacks are samples";
	return NULL;
}

const char *contradiction(const struct report_options *o)
{
	const char *why = wrong_comparison(o);

	if (!why)
		why = wrong_folded(o);

	if (!why && o->open && !is_view(o, "html"))
		why = "--open shows a page: -f html";
	if (!why && o->open && o->output && !strcmp(o->output, "-"))
		why = "--open shows a file: -o FILE, or no -o";
	if (!why && o->action == REPORT_EMBED && (!o->output || o->path_count != 1))
		why = "--embed needs one trace and -o FILE for the copy";
	if (!why)
		why = wrong_table(o);
	if (!why)
		why = wrong_live(o);
	if (!why && o->unclear && o->action == REPORT_VIEW && !o->open && !o->live)
		why = "the name after -o does not say the format; -f FORMAT does";
	return why ? why : wrong_stacks(o);
}

static bool selects(const struct report_options *o)
{
	const struct selection *s = &o->selection;
	const struct shape *shape = &o->shape;

	return s->pids.count || s->tids.count || s->cpus.count || s->parallelism.count ||
	       s->comms.count || s->cgroups.count || s->events.count || s->on_cpu || s->off_cpu ||
	       s->has_time || shape->focus || shape->hide || shape->root || shape->caller_of;
}

const char *without_effect(const struct report_options *o)
{
	bool stacks = is_view(o, "folded") || is_view(o, "tree"), rows = is_view(o, "parquet");
	bool threads = is_view(o, "html") || is_view(o, "firefox") || is_view(o, "speedscope");

	if (o->action != REPORT_VIEW)
		return selects(o)
			       ? "--info, --dump, --check and --embed are about the whole trace, "
				 "whatever is selected"
			       : NULL;
	if (!stacks && !rows && (o->shown.annotate || o->shown.addresses || o->shown.modules))
		return "--annotate, --addrs and --modules change -f folded, tree and parquet only";
	if (is_view(o, "top") && o->grouped)
		return "--group-by puts frames before stacks, which -f top does not show; --by "
		       "counts by "
		       "something else than functions";
	if (!stacks && !threads && !is_view(o, "pprof") &&
	    (o->with_cpu || o->with_event || o->with_cgroup))
		return "--cpu, --event and --cgroup without a value put frames before stacks, "
		       "which -f top, script, jsonl and parquet have no place for";
	if (o->each_thread && !threads && !is_view(o, "pprof"))
		return "--each-thread is about -f html, pprof, firefox and speedscope; others have "
		       "threads where --group-by or --by asks for them";
	if (o->shown.title && !threads)
		return "--title goes into -f html, firefox and speedscope only";
	return NULL;
}
