/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include "common/message.h"
#include "report/annotate/annotate.h"
#include "report/browser.h"
#include "report/compare.h"
#include "report/dump.h"
#include "report/embed.h"
#include "report/info.h"
#include "report/live.h"
#include "report/load.h"
#include "report/option_conflicts.h"
#include "report/output/output.h"
#include "report/output/progress.h"
#include "report/sandbox.h"
#include "report/symbols/debuginfod.h"
#include "report/unmatched.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum status { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/* The trace when none is named: what is piped in, or the recorder's default name. */
static void default_path(struct report_options *o)
{
	struct stat info;

	if (o->path_count)
		return;
	o->paths[0] = (char *)(o->from_folded ? "-" : "trace.prf");
	if (fstat(STDIN_FILENO, &info) == 0 &&
	    (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode)))
		o->paths[0] = (char *)"-";
	o->path_count = 1;
}

/*
 * Where --open writes when -o does not say it: here, named after the first trace. Its whole name is
 * kept: index.prf would replace an index.html that is no page of ours.
 */
static bool default_page(struct report_options *o)
{
	const char *path = strcmp(o->paths[0], "-") ? o->paths[0] : "trace.prf";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!o->open || o->output)
		return true;
	if (asprintf(&o->page_path, "%s.html", name) < 0) {
		o->page_path = NULL;
		message_error("out of memory");
		return false;
	}
	o->output = o->page_path;
	return true;
}

static void show_page(const struct report_options *o)
{
	if (browser_show(o->browser, o->output))
		message_info("the page is %s", o->output);
	else
		message_info("no browser here (BROWSER names one); the page is %s", o->output);
}

static bool may_be_function(const char *path)
{
	size_t length = strlen(path);

	return !strchr(path, '/') && !(length > 4 && !strcmp(path + length - 4, ".prf"));
}

/* "--pid 12" is --pid and a trace named 12, "-f annotate work" a trace named work. */
static bool missing_path(const struct report_options *o)
{
	bool value = asks_for_first_frame(o), function = lacks_function(o);

	for (int i = 0; i < o->path_count; i++) {
		const char *path = o->paths[i];

		if (!strcmp(path, "-") || !access(path, F_OK) ||
		    !(value || (function && may_be_function(path))))
			continue;
		message_error("%s: no such file; %s%s; see prof-report --help", path,
			      value ? "a value follows '=', as in --pid="
				    : "a function is given as --function=",
			      path);
		return true;
	}
	return false;
}

static bool is_folder(const char *option, const char *path)
{
	struct stat info;
	int error = stat(path, &info) ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;

	if (error)
		message_error("%s %s: %s; names would be missing", option, path, strerror(error));
	return !error;
}

/* Without this check a mistyped folder would only show as missing names. */
static bool missing_folder(const struct report_options *o)
{
	bool missing = o->symbols.sysroot && !is_folder("--sysroot", o->symbols.sysroot);

	if (o->shown.source_directory)
		missing = !is_folder("--source-dir", o->shown.source_directory) || missing;
	for (size_t i = 0; i < DEBUG_DIRECTORIES_MAX && o->debug_directories[i]; i++)
		missing = !is_folder("--debug-dir", o->debug_directories[i]) || missing;
	return missing;
}

static bool is_in_proc(const char *path)
{
	return path && !strncmp(path, "/proc/", 6);
}

/* Files of another process are asked for, as /proc/PID/root has those of a container. */
static bool leads_through_proc(const struct report_options *o)
{
	bool leads = is_in_proc(o->symbols.sysroot) || is_in_proc(o->shown.source_directory) ||
		     is_in_proc(o->output);

	for (size_t i = 0; i < DEBUG_DIRECTORIES_MAX && o->debug_directories[i]; i++)
		leads |= is_in_proc(o->debug_directories[i]);
	for (int i = 0; i < o->path_count; i++)
		leads |= is_in_proc(o->paths[i]);
	for (int i = 0; i < o->base_count; i++)
		leads |= is_in_proc(o->bases[i]);
	return leads;
}

static bool is_same_file(const struct stat *output, const char *input)
{
	struct stat info;

	if (strcmp(input, "-") ? stat(input, &info) : fstat(STDIN_FILENO, &info))
		return false;
	return info.st_dev == output->st_dev && info.st_ino == output->st_ino;
}

/* A report in the place of its trace would be the end of the trace. --embed loses nothing. */
static bool replaces_input(const struct report_options *o)
{
	const char *input = NULL;
	struct stat output;

	if (!o->output || o->action == REPORT_EMBED || stat(o->output, &output) ||
	    !S_ISREG(output.st_mode))
		return false;
	for (int i = 0; i < o->path_count && !input; i++)
		input = is_same_file(&output, o->paths[i]) ? o->paths[i] : NULL;
	for (int i = 0; i < o->base_count && !input; i++)
		input = is_same_file(&output, o->bases[i]) ? o->bases[i] : NULL;
	if (input)
		message_error("-o %s would replace the trace that is read; name another file",
			      o->output);
	return input;
}

static bool wants_colour(const struct report_options *o)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (o->colour != COLOUR_AUTO)
		return o->colour == COLOUR_ALWAYS;
	return !o->output && isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

/* How many columns there are to show it in; 0 where it is not shown on a terminal. */
static unsigned int terminal_width(const struct report_options *o)
{
	struct winsize size;

	if (o->output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* Where a report goes. */
struct writing {
	struct report_output output;
	struct sink sink;
};

/* Reports that the output cannot be written, and ends the error. */
static void say_cannot_write(const struct report_options *o, struct error *error)
{
	message_error("%s: %s", o->output ? o->output : "standard output", error->text);
	error_free(error);
}

static bool begin_writing(struct writing *w, const struct report_options *o)
{
	struct error *error = report_output_open(&w->output, o->output);

	if (error) {
		say_cannot_write(o, error);
		return false;
	}
	report_output_page(&w->output, o->pager);
	sink_init(&w->sink, w->output.fd);
	return true;
}

/* False when it could not all be written; `ok`: the file is to be kept. */
static bool end_writing(struct writing *w, const struct report_options *o, bool ok)
{
	struct error *error = sink_flush(&w->sink);

	/* A reader of our output may stop at any time. */
	if (error && !error_is(error, EPIPE)) {
		say_cannot_write(o, error);
		ok = false;
	} else {
		error_free(error);
	}
	sink_release(&w->sink);
	error = report_output_close(&w->output, ok);
	if (!error)
		return ok;
	if (ok)
		say_cannot_write(o, error);
	else
		error_free(error);
	return false;
}

/* Writes the view to its output; an exit status. */
static int write_view(struct report_options *o, struct loaded *l)
{
	struct writing w;
	bool ok = true;
	struct error *error = NULL;

	if (!begin_writing(&w, o))
		return STATUS_FAILED;
	if (o->view->sample)
		ok = loaded_stream(l, o, &w.sink);
	else
		error = o->view->render(l->profile, &o->shown, &w.sink);
	if (error && error->kind == ERROR_ARGUMENT)
		message_error("%s", error->text);
	else if (error)
		message_error("cannot make the report: %s", error->text);
	/* After an interrupt the file is not wanted, nor half of it. */
	ok = ok && !error_ignore(error) && !progress_interrupted();
	return end_writing(&w, o, ok) ? STATUS_DONE : STATUS_FAILED;
}

/* -------- --info, --dump, --check -------- */

/* The options of a profile that holds everything, event by event. */
static struct report_options everything(const struct report_options *o)
{
	static const struct view plain = { .name = "info", .dimensions = PROFILE_BY_EVENT };

	return (struct report_options){
		.action = REPORT_INFO,
		.view = &plain,
		.value = VALUE_SAMPLES,
		.selection = { .all_events = true },
		.symbols = o->symbols,
	};
}

static bool info_of(const struct report_options *o, char *path, struct sink *sink)
{
	struct report_options all = everything(o);
	struct loaded loaded;
	bool ok = loaded_open(&loaded, &path, 1, false) && loaded_profile(&loaded, &all);
	struct error *error;

	if (ok) {
		loaded_warn(&loaded, &all);
		error = o->shown.json ? info_json(&loaded, sink) : info_text(&loaded, sink);
		if (error)
			message_error("%s", error->text);
		ok = !error_ignore(error) && !loaded.read_errors;
	}
	loaded_release(&loaded);
	return ok;
}

static bool dump_or_check(const struct report_options *o, char *path, struct sink *sink)
{
	struct loaded loaded;
	bool ok = loaded_open(&loaded, &path, 1, false);

	if (ok) {
		struct trace *t = &loaded.traces[0];
		struct progress progress;

		progress_begin(&progress, "reading");
		progress_expect(&progress, t->fd);
		if (o->action == REPORT_DUMP)
			ok = !dump_trace(t, sink,
					 report_output_is_unseen(o->output) ? &progress : NULL);
		else
			ok = check_trace(t, sink, &progress);
		progress_end(&progress);
		if (t->error) {
			/* The output so far is to appear above the message. */
			error_free(sink_flush(sink));
			trace_say_error(t, t->error);
		}
	}
	loaded_release(&loaded);
	return ok;
}

static int inspect(const struct report_options *o)
{
	struct writing w;
	bool ok = true;

	if (!begin_writing(&w, o))
		return STATUS_FAILED;
	for (int i = 0; i < o->path_count; i++) {
		if (i && o->action == REPORT_INFO && !o->shown.json)
			sink_char(&w.sink, '\n');
		if (o->action == REPORT_INFO)
			ok = info_of(o, o->paths[i], &w.sink) && ok;
		else
			ok = dump_or_check(o, o->paths[i], &w.sink) && ok;
	}
	return end_writing(&w, o, true) && ok ? STATUS_DONE : STATUS_FAILED;
}

/* -------- --embed -------- */

static void say_embedded_code(const struct report_options *o, const struct embed_result *result)
{
	const struct embedded_code *code = &result->code;

	if (result->had_code) {
		message_info("%s: keeps the code that the trace has", o->output);
		return;
	}
	message_info("%s: code of %zu functions and lines of %zu sources embedded", o->output,
		     code->functions, code->sources);
	if (code->missing)
		message_warning("not all code is embedded: %s", code->missing->text);
	if (code->changed)
		message_warning("%zu sources were changed after the programs were built, and are "
				"left out",
				code->changed);
	if (code->unread)
		message_warning("%zu sources could not be opened or read, and are left out; make "
				"the copy again",
				code->unread);
}

static void say_embedded(const struct report_options *o, const struct trace *t,
			 const struct embed_result *result)
{
	message_info("%s: names of %zu of %zu places embedded", o->output, result->named,
		     result->frames);
	if (o->embed_code)
		say_embedded_code(o, result);
	if (!result->complete)
		message_warning("%s: the recording is not complete, and neither is the copy",
				t->path);
}

/* Writes the copy; an exit status. */
static int write_embedded(const struct report_options *o, struct trace *t)
{
	struct progress progress;
	const struct embed_options options = { &o->symbols, o->embed_code,
					       o->shown.source_directory, &progress };
	struct embed_result result;
	struct report_output output;
	struct error *error = report_output_open(&output, o->output), *closing;
	bool ok;

	if (error) {
		say_cannot_write(o, error);
		return STATUS_FAILED;
	}
	progress_begin(&progress, "reading");
	progress_expect(&progress, t->fd);
	error = embed_names(t->fd, output.fd, &options, &result);
	ok = !error && !result.interrupted;
	if (error && result.read_failed)
		trace_say_error(t, error);
	else if (error)
		message_error("%s: %s", o->output, error->text);
	closing = report_output_close(&output, ok);
	error_free(error);
	if (closing && ok)
		say_cannot_write(o, closing);
	else
		error_free(closing);
	if (ok && !closing)
		say_embedded(o, t, &result);
	error_free(result.code.missing);
	return ok && !closing ? STATUS_DONE : STATUS_FAILED;
}

static int embed(const struct report_options *o)
{
	struct loaded loaded;
	int status = STATUS_FAILED;

	if (loaded_open(&loaded, o->paths, 1, false))
		status = write_embedded(o, &loaded.traces[0]);
	loaded_release(&loaded);
	return status;
}

/* -------- views -------- */

static bool open_traces(const struct report_options *o, struct loaded *l, char *const *paths,
			int count)
{
	return loaded_open(l, paths, (size_t)count, o->view->sample) &&
	       (!o->from_folded || loaded_unfold(l));
}

/* Reads and builds both sides of a comparison. */
static bool load_both(struct report_options *o, struct loaded *base, struct loaded *now)
{
	/* Only the profile of now needs slices of time: the page has no time strip for the base. */
	struct view timeless = *o->view;
	struct report_options of_base = *o;

	timeless.dimensions &= ~(unsigned int)PROFILE_TIMED;
	of_base.view = &timeless;
	if (!open_traces(o, base, o->bases, o->base_count) || !loaded_read(base, &of_base, true) ||
	    !open_traces(o, now, o->paths, o->path_count) || !loaded_read(now, o, true))
		return false;
	compare_choose_value(o, base, now);
	of_base.value = o->value;
	if (!loaded_have_notes(now, base, o) || !loaded_build(base, &of_base) ||
	    !loaded_build(now, o))
		return false;
	o->shown.base = base->profile;
	return true;
}

/* Reads both sides of a comparison into one profile. */
static bool load_joined(struct report_options *o, struct loaded *all)
{
	size_t before = (size_t)o->base_count, now = (size_t)o->path_count;
	char **paths = malloc((before + now) * sizeof(*paths));
	struct loaded sides[2];
	bool ok;

	if (!paths) {
		message_error("out of memory");
		return false;
	}
	memcpy(paths, o->bases, before * sizeof(*paths));
	memcpy(paths + before, o->paths, now * sizeof(*paths));
	ok = open_traces(o, all, paths, o->base_count + o->path_count) && loaded_read(all, o, true);
	free(paths);
	if (!ok)
		return false;
	sides[0] = sides[1] = *all;
	sides[0].trace_count = before;
	sides[1].traces += before;
	sides[1].trace_count = now;
	compare_choose_value(o, &sides[0], &sides[1]);
	o->shown.base_runs = before;
	return loaded_have_notes(all, NULL, o) && loaded_build(all, o);
}

static bool load(struct report_options *o, struct loaded *base, struct loaded *now)
{
	if (o->base_count && o->view->joins_runs)
		return load_joined(o, now);
	if (o->base_count)
		return load_both(o, base, now);
	return open_traces(o, now, o->paths, o->path_count) && loaded_profile(now, o);
}

static int show(struct report_options *o)
{
	struct loaded base = { 0 }, loaded = { 0 };
	int status = STATUS_FAILED;

	if (o->view->binary && !o->output && isatty(STDOUT_FILENO)) {
		message_error("-f %s is not for terminals: use -o FILE or a pipe", o->view->name);
		return STATUS_USAGE;
	}
	o->selection.all_events = o->view->table;
	o->symbols.lines |= (o->view->detail & (PROFILE_BY_LINE | PROFILE_BY_FILE)) != 0;
	if (!load(o, &base, &loaded))
		goto out;
	loaded_warn_of_traces(&base, o);
	loaded_warn(&loaded, o);
	/* A comparison with one empty side is a valid report: everything vanished or is new. */
	if ((!base.profile || !base.profile->samples) && unmatched(&loaded, o))
		goto out;
	status = write_view(o, &loaded);
	if (o->open && status == STATUS_DONE)
		show_page(o);
	if (loaded.read_errors || base.read_errors)
		status = STATUS_FAILED;
	if (o->fail_percent >= 0 && compare_finds_regression(o, base.profile, loaded.profile))
		status = STATUS_FAILED;
out:
	loaded_release(&loaded);
	loaded_release(&base);
	return status;
}

/* --live: what was drawn on the terminal is done; else the table is shown as that of any trace. */
static int show_live(struct report_options *o)
{
	struct loaded loaded = { 0 };
	enum live_result result = live_run(&loaded, o);
	int status = result == LIVE_SHOWN ? STATUS_DONE : STATUS_FAILED;

	if (result == LIVE_READ && loaded_build(&loaded, o)) {
		loaded_warn(&loaded, o);
		if (!unmatched(&loaded, o))
			status = write_view(o, &loaded);
	}
	loaded_release(&loaded);
	return status;
}

static bool say_download(const char *what, void *context)
{
	if (what && !progress_interrupted())
		message_info("asking debuginfod for %s", what);
	return progress_interrupted();
}

static void say_lookup(const char *what, size_t done, size_t all, void *context)
{
	if (what)
		progress_parts_show(context, what, done, all);
	else
		progress_parts_end(context);
}

static bool wants_pager(const struct report_options *o)
{
	if (o->no_pager || o->live || o->output || o->shown.csv || o->shown.json)
		return false;
	return o->action == REPORT_DUMP || o->action == REPORT_INFO ||
	       (o->action == REPORT_VIEW && o->view->paged);
}

static int act(struct report_options *o)
{
	switch (o->action) {
	case REPORT_INFO:
	case REPORT_DUMP:
	case REPORT_CHECK: return inspect(o);
	case REPORT_EMBED: return embed(o);
	default: return o->live ? show_live(o) : show(o);
	}
}

int report_run(struct report_options *o)
{
	struct report_pager pager = { .fd = -1 };
	struct browser browser = { .fd = -1 };
	struct progress_parts lookup;
	const char *why;
	const bool named = o->path_count;
	int status, error;

	message_setup("prof-report", o->quiet	  ? MESSAGE_ERROR
				     : o->verbose ? MESSAGE_DETAIL
						  : MESSAGE_INFO);
	default_path(o);
	why = contradiction(o);
	if (why) {
		message_error("%s; see prof-report --help", why);
		return STATUS_USAGE;
	}
	why = without_effect(o);
	if (why)
		message_warning("%s", why);
	if (!default_page(o))
		return STATUS_FAILED;
	if ((named && missing_path(o)) || missing_folder(o) || replaces_input(o))
		return STATUS_USAGE;
	signal(SIGPIPE, SIG_IGN);
	progress_catch_interrupt();
	o->shown.colour = wants_colour(o);
	o->shown.width = terminal_width(o);
	/* A live table has the terminal for itself. */
	if (o->quiet || o->live)
		progress_silence();
	progress_parts_init(&lookup);
	o->symbols.progress = say_download;
	o->symbols.step = say_lookup;
	o->symbols.progress_context = &lookup;
	o->shown.symbols = &o->symbols;
	o->shown.listings = annotate_each;
	why = o->symbols.debuginfod ? debuginfod_missing() : NULL;
	if (why)
		message_warning("--debuginfod: %s", why);
	if (wants_pager(o))
		report_pager_start(&pager);
	o->pager = &pager;
	if (o->open)
		browser_prepare(&browser);
	o->browser = &browser;
	error = sandbox_enter(o->symbols.debuginfod);
	if (error)
		message_detail("the kernel does not let rights be given up: %s", strerror(-error));
	error = leads_through_proc(o) ? 0 : sandbox_leave_processes();
	if (error)
		message_detail("the kernel does not close the memory of other processes: %s",
			       strerror(-error));
	status = act(o);
	report_pager_end(&pager);
	browser_release(&browser);
	return progress_interrupted() ? STATUS_INTERRUPTED : status;
}
