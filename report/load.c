/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/load.h"

#include "common/message.h"
#include "report/folded_trace.h"
#include "report/option_conflicts.h"
#include "report/output/output.h"
#include "report/output/progress.h"
#include "report/profile/event_time.h"
#include "report/profile/parallelism.h"
#include "report/unnamed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where --group-by says how long they are: then they get longer rather than more. */
#define MAX_ASKED_SLICES (1u << 20)

static const char *shown_path(const struct trace *t)
{
	return strcmp(t->path, "-") ? t->path : "standard input";
}

static void say_cannot_open(const struct trace *t, struct error *error)
{
	if (error_is(error, ENOENT))
		message_error("%s: no such file; prof-record -o %s makes one", t->path, t->path);
	else if (error_is(error, EISDIR))
		message_error("%s: is a directory, not a trace", t->path);
	else
		message_error("%s: %s", shown_path(t), error->text);
	error_free(error);
}

static bool make_seekable(struct trace *t)
{
	struct error *error = trace_make_seekable(t);

	if (error)
		message_error("%s: %s; set TMPDIR", shown_path(t), error->text);
	return !error_ignore(error);
}

void trace_say_error(const struct trace *t, const struct error *error)
{
	switch (error->kind) {
	case ERROR_NOT_A_TRACE:
		message_error("%s: not a trace of prof-record: %s", shown_path(t), error->text);
		break;
	case ERROR_UNSUPPORTED:
		message_error("%s: %s; a newer prof-report is needed", shown_path(t), error->text);
		break;
	default: message_error("%s: %s", shown_path(t), error->text);
	}
}

bool loaded_open(struct loaded *l, char *const *paths, size_t n, bool two_passes)
{
	*l = (struct loaded){ 0 };
	l->traces = calloc(n, sizeof(*l->traces));
	if (!l->traces) {
		message_error("out of memory");
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		struct trace *t = &l->traces[l->trace_count++];
		struct error *error = trace_open(t, paths[i]);

		if (error) {
			say_cannot_open(t, error);
			return false;
		}
		if (two_passes && !make_seekable(t))
			return false;
	}
	return true;
}

void loaded_release(struct loaded *l)
{
	profile_free(l->profile);
	tally_free(l->tally);
	symbolizer_free(l->symbolizer);
	joined_release(&l->joined);
	for (size_t i = 0; i < l->trace_count; i++)
		trace_close(&l->traces[i]);
	free(l->traces);
	*l = (struct loaded){ 0 };
}

bool loaded_unfold(struct loaded *l)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < l->trace_count && !progress_interrupted(); i++) {
		error = folded_trace_open(&l->traces[i]);
		if (error)
			trace_say_error(&l->traces[i], error);
	}
	return !error_ignore(error) && !progress_interrupted();
}

/* -------- reading -------- */

/* The time window of a trace, for which its start and end may have to be read ahead. */
static bool window(struct trace *t, const struct selection *s, struct trace_sinks *sinks)
{
	struct time_window of_trace = { 0 };

	sinks->from_ns = 0;
	sinks->to_ns = UINT64_MAX;
	if (!s->has_time)
		return true;
	if (selection_needs_start(s)) {
		struct error *error;

		if (!make_seekable(t))
			return false;
		error = trace_span(t, selection_needs_end(s), &of_trace.from_ns, &of_trace.to_ns);
		/* What comes before a block that is too new can be shown. */
		if (error && error->kind != ERROR_UNSUPPORTED) {
			trace_say_error(t, error);
			error_free(error);
			return false;
		}
		error_free(error);
	}
	of_trace = selection_window(s, of_trace);
	sinks->from_ns = of_trace.from_ns;
	sinks->to_ns = of_trace.to_ns;
	return true;
}

static bool show_progress(const struct trace *t, uint64_t bytes, void *context)
{
	progress_show(context, bytes);
	return progress_interrupted();
}

/* False after a message. */
static bool succeeded(struct error *error)
{
	if (error)
		message_error("%s", error->text);
	return !error_ignore(error);
}

bool loaded_tally(struct tally **tally, const struct report_options *o)
{
	const struct view *view = o->view;
	unsigned int latency = o->value == VALUE_LATENCY ? PROFILE_BY_PARALLELISM : 0;
	/* Folded text has no times. */
	unsigned int unknown = PROFILE_BY_OBJECT | (o->from_folded ? PROFILE_IN_PARTS : 0);
	struct tally_options options = {
		.dimensions = (o->dimensions | view->dimensions | latency) & ~unknown,
		.wakers = o->wakers,
		.slice_ns = o->slice_ns,
		.max_slices = o->slice_ns ? MAX_ASKED_SLICES : view->max_slices,
		.selection = &o->selection,
	};

	return succeeded(tally_new(tally, &options));
}

bool loaded_begin(struct loaded *l, const struct report_options *o, bool symbols)
{
	return loaded_tally(&l->tally, o) &&
	       (!symbols || succeeded(symbolizer_new(&l->symbolizer, &o->symbols)));
}

/* Reads one of the traces; false: that is all. */
static bool read_trace(struct loaded *l, struct trace *t, const struct report_options *o,
		       struct progress *progress)
{
	struct trace_sinks sinks = { .tally = l->tally,
				     .symbolizer = l->symbolizer,
				     .objects = l->trace_count > 1 ? &l->joined.objects : NULL,
				     .code = o->view->code,
				     .progress = show_progress,
				     .context = progress };
	const struct error *error;

	if (!window(t, &o->selection, &sinks))
		return false;
	error = trace_read(t, &sinks);
	progress_next(progress, t->fd);
	if (progress_interrupted())
		return false;
	if (!error)
		return true;
	trace_say_error(t, error);
	l->read_errors = true;
	/* The samples read before the error make a profile, if there are any. */
	return t->totals.samples && error->kind != ERROR_MEMORY;
}

bool loaded_read(struct loaded *l, const struct report_options *o, bool symbols)
{
	struct progress progress;

	if (!loaded_begin(l, o, symbols))
		return false;
	progress_begin(&progress, "reading");
	for (size_t i = 0; i < l->trace_count; i++)
		progress_expect(&progress, l->traces[i].fd);
	for (size_t i = 0; i < l->trace_count; i++) {
		struct trace *t = &l->traces[i];

		/* One trace is in memory at a time. */
		if (!read_trace(l, t, o, &progress) ||
		    (l->trace_count > 1 && !succeeded(joined_add(&l->joined, t, l->tally))))
			return false;
	}
	if (o->from_folded)
		tally_count_weights(l->tally);
	return true;
}

/* -------- what is counted -------- */

/* Whether it is known for each sample how many threads ran. */
static bool knows_parallelism(const struct loaded *l)
{
	size_t n, groups, events;
	const struct tally_cell *cells = tally_cells(l->tally, &n);
	const struct tally_group *group = tally_groups(l->tally, &groups);
	const struct prf_event *const *event = tally_events(l->tally, &events);

	for (size_t i = 0; i < n; i++)
		if (!group[cells[i].group].parallelism) {
			message_error("how many threads ran beside samples of event %s is not "
				      "known; use --on-cpu or --event=NAME",
				      event[group[cells[i].group].event]->name);
			return false;
		}
	return true;
}

static bool choose_value(const struct loaded *l, const struct report_options *o,
			 enum profile_value *value)
{
	size_t n, events;
	const struct tally_group *groups = tally_groups(l->tally, &n);
	const struct prf_event *const *event = tally_events(l->tally, &events);
	const char *unit = n ? event[groups[0].event]->unit : "bytes";
	bool waits = false;

	if (o->value == VALUE_LATENCY && !knows_parallelism(l))
		return false;
	*value = o->value == VALUE_SAMPLES			       ? PROFILE_SAMPLES
		 : o->value == VALUE_TIME || o->value == VALUE_LATENCY ? PROFILE_TIME
								       : PROFILE_WEIGHT;
	for (size_t i = 0; i < n; i++)
		if (event[groups[i].event]->kind == PRF_EVENT_OFF_CPU ||
		    event[groups[i].event]->kind == PRF_EVENT_PREEMPTED)
			waits = true;
	if (o->value == VALUE_DEFAULT)
		*value = waits ? PROFILE_TIME : PROFILE_SAMPLES;
	for (size_t i = 0; i < n; i++) {
		const struct prf_event *e = event[groups[i].event];

		if (*value == PROFILE_TIME && !event_has_time(e)) {
			message_error("event %s does not measure time; use --value=samples or "
				      "--event=NAME",
				      e->name);
			return false;
		}
		if (o->value == VALUE_BYTES && strcmp(e->unit, "bytes")) {
			message_error("event %s counts %s, not bytes; use --value=samples or "
				      "--event=NAME",
				      e->name, e->unit);
			return false;
		}
		if (*value == PROFILE_WEIGHT && strcmp(e->unit, unit)) {
			message_error("events count %s and %s, which cannot be added; pick one "
				      "with --event=NAME",
				      unit, e->unit);
			return false;
		}
	}
	return true;
}

static bool has_note(const struct loaded *l, const char *key)
{
	for (size_t i = 0; i < l->trace_count; i++)
		if (trace_metadata(&l->traces[i], key))
			return true;
	return false;
}

bool loaded_have_notes(const struct loaded *now, const struct loaded *base,
		       const struct report_options *o)
{
	for (size_t i = 0; i < PROFILE_NOTES && o->note_keys[i]; i++) {
		const char *key = o->note_keys[i];

		/* Each trace of prof-record has its host, those of other writers may have none. */
		if (!strcmp(key, "host") || has_note(now, key) || (base && has_note(base, key)))
			continue;
		message_error("--group-by=%s: no trace has such a note (prof-record "
			      "--metadata=%s=VALUE makes one), and nothing else has that "
			      "name: see prof-report --help",
			      key, key);
		return false;
	}
	return true;
}

bool loaded_build(struct loaded *l, const struct report_options *o)
{
	unsigned int detail = o->view->detail | (o->shown.lines ? PROFILE_BY_LINE : 0) |
			      (o->shown.annotate ? PROFILE_BY_GUESS : 0) |
			      (o->shown.addresses ? PROFILE_BY_UNNAMED : 0);
	bool prunes = !o->view->paged && !o->view->sample;
	bool leads = o->view->led && (o->grouped || asks_for_first_frame(o));
	struct build_options build = {
		.shape = &o->shape,
		.dimensions = o->dimensions | o->view->dimensions,
		.note_keys = o->note_keys,
		.detail = detail,
		.latency = o->value == VALUE_LATENCY,
		.min_percent = prunes && o->min_percent > 0 ? o->min_percent : 0,
		.leading = leads ? o->shown.leading : NULL,
		.again = o->live,
		.forgets = o->action == REPORT_VIEW && !o->live,
	};
	struct error *error;

	/* Single samples are what they are. */
	if (!o->view->sample && !choose_value(l, o, &build.value))
		return false;
	build.tally = l->tally;
	build.traces = l->traces;
	build.trace_count = l->trace_count;
	build.joined = l->trace_count > 1 ? &l->joined : NULL;
	build.symbolizer = l->symbolizer;
	if (progress_interrupted())
		return false;
	error = profile_build(&l->profile, &build);
	if (error) {
		message_error("cannot build the profile: %s", error->text);
		error_free(error);
		return false;
	}
	l->profile->min_percent = o->min_percent;
	return true;
}

bool loaded_profile(struct loaded *l, const struct report_options *o)
{
	return loaded_read(l, o, true) && loaded_have_notes(l, NULL, o) && loaded_build(l, o);
}

/* -------- one sample after the other -------- */

struct stream {
	const struct loaded *loaded;
	const struct report_options *options;
	struct sink *sink;
	const struct trace *first_pass; /* of the trace that is read */
	struct joined_numbers numbers;	/* of its stacks, where there are several traces */
	uint32_t trace;
	struct sink texts; /* of all frames */
	size_t *text_at;
	const struct prf_reader *reader; /* that reads it again; NULL: no samples came yet */
	struct progress *progress;
	struct parallelism *order; /* puts samples in order of time */
	void *of_view;		   /* what its begin() made */
	bool stopped;		   /* before the end: without memory, or no output */
};

static bool make_texts(struct stream *s)
{
	const struct profile *p = s->loaded->profile;

	sink_init(&s->texts, -1);
	if (!s->options->view->frame)
		return true;
	s->text_at = malloc((p->frame_count + 1) * sizeof(*s->text_at));
	if (!s->text_at)
		return false;
	for (size_t i = 0; i < p->frame_count; i++) {
		s->text_at[i] = s->texts.buffer.size;
		s->options->view->frame(p, &p->frames[i], &s->texts);
	}
	s->text_at[p->frame_count] = s->texts.buffer.size;
	return !error_ignore(sink_flush(&s->texts));
}

/* What the stacks of the trace are in the profile, up to those that were just read. */
static bool follow_stacks(struct stream *s, const struct trace *t)
{
	return s->loaded->trace_count == 1 ||
	       joined_follow(&s->loaded->joined, s->first_pass, t->reader, &s->numbers);
}

/* The node of a sample's stack; false: the stack does not count, or was not there at first. */
static bool has_node(const struct stream *s, uint32_t stack, uint32_t *node)
{
	bool kept;

	if (stack != PRF_NONE && s->loaded->trace_count > 1) {
		stack = s->numbers.stacks[stack];
		if (stack == PRF_NONE)
			return false;
	} else if (stack != PRF_NONE && stack >= prf_reader_stacks(s->first_pass->reader)) {
		return false;
	}
	*node = profile_node_of(s->loaded->profile, stack, &kept);
	return kept;
}

/* Gives a sample to the view, if it counts. */
static bool stream_sample(void *context, const struct parallel_sample *sample)
{
	struct stream *s = context;
	const struct selection *selection = &s->options->selection;
	const struct prf_event *what = prf_reader_event(s->reader, sample->event);
	uint32_t known;
	size_t events;
	const struct prf_event *const *event = tally_events(s->loaded->tally, &events);
	struct view_sample one = { .time_ns = sample->time_ns,
				   .weight = sample->weight,
				   .task = prf_reader_task(s->reader, sample->task),
				   .trace = s->trace,
				   .cpu = sample->cpu,
				   .parallelism = sample->running,
				   .texts = s->texts.buffer.data,
				   .text_at = s->text_at,
				   .stream = s->of_view };

	if (!tally_find_event(s->loaded->tally, what, &known))
		return false;
	/* A file may have grown since it was read first. */
	if (known == PRF_NONE || !selection_has_task(selection, one.task) ||
	    !selection_has_event(selection, what, event[0]) ||
	    !number_set_has(&selection->cpus, sample->cpu) ||
	    !number_set_has(&selection->parallelism, sample->running) ||
	    !has_node(s, sample->stack, &one.node))
		return true;
	one.event = &s->loaded->profile->events[known];
	s->options->view->sample(s->loaded->profile, &s->options->shown, &one, s->sink);
	/* The reader of the output may have closed it. */
	return !s->sink->error && !progress_interrupted();
}

static bool stream_samples(struct trace *t, const struct prf_samples *samples, void *context)
{
	struct stream *s = context;

	if (!s->reader)
		parallelism_begin(s->order, t->reader);
	s->reader = t->reader;
	progress_show_reader(s->progress, t->reader);
	if (follow_stacks(s, t) && parallelism_add(s->order, samples))
		return false;
	s->stopped = true;
	return true;
}

static bool begin_stream(struct stream *s)
{
	const struct view *view = s->options->view;

	s->order = parallelism_new(stream_sample, s);
	return s->order && make_texts(s) &&
	       (!view->begin || !error_ignore(view->begin(s->loaded->profile, &s->options->shown,
							  s->sink, &s->of_view)));
}

static bool end_stream(struct stream *s, bool ok)
{
	struct error *error = s->of_view ? s->options->view->end(s->of_view) : NULL;

	parallelism_free(s->order);
	sink_release(&s->texts);
	free(s->text_at);
	if (error && ok)
		message_error("cannot make the report: %s", error->text);
	return !error_ignore(error) && ok;
}

/* Reads one of the traces again; false: that is all. */
static bool stream_trace(struct stream *s, const struct trace *first)
{
	struct trace again = { .path = first->path,
			       .fd = first->fd,
			       .seekable = first->seekable,
			       .start = first->start };
	struct trace_sinks sinks = { .samples = stream_samples,
				     .context = s,
				     .from_ns = first->from_ns,
				     .to_ns = first->to_ns };
	const struct error *error;
	bool ends, ok;

	s->first_pass = first;
	s->reader = NULL;
	error = trace_read(&again, &sinks);
	/* Samples that still wait name tasks of the trace, which ends. */
	s->stopped = s->stopped || (s->reader && !parallelism_end(s->order));
	ends = s->sink->error || progress_interrupted();
	progress_next(s->progress, again.fd);
	if (s->stopped && !ends)
		message_error("out of memory");
	/* The first pass met the same error and reported it. */
	ok = ends || (!s->stopped && (!error || first->error));
	if (!ok && !s->stopped)
		trace_say_error(&again, error);
	again.fd = -1;
	trace_close(&again);
	joined_numbers_release(&s->numbers);
	return ok;
}

bool loaded_stream(struct loaded *l, const struct report_options *o, struct sink *sink)
{
	struct progress progress;
	struct stream stream = { .loaded = l, .options = o, .sink = sink, .progress = &progress };
	bool ok = begin_stream(&stream);

	progress_begin(&progress, "writing");
	progress.silent |= !report_output_is_unseen(o->output);
	for (size_t i = 0; i < l->trace_count; i++)
		progress_expect(&progress, l->traces[i].fd);

	if (!ok)
		message_error("out of memory");
	for (size_t i = 0; ok && !stream.stopped && !sink->error && i < l->trace_count; i++) {
		stream.trace = (uint32_t)i;
		ok = stream_trace(&stream, &l->traces[i]);
	}
	return end_stream(&stream, ok);
}

/* -------- warnings -------- */

static double seconds(const struct trace *t)
{
	return (double)(t->totals.last_ns - t->totals.first_ns) / 1e9;
}

static void warn_of_damage(const struct trace *t)
{
	for (uint64_t i = 0; i < t->damage_count && i < TRACE_DAMAGES_KEPT; i++) {
		const struct prf_damage *d = &t->damages[i];

		message_warning("%s: block %" PRIu64 " at 0x%" PRIx64 ": %s (%s); %" PRIu64
				" bytes skipped",
				shown_path(t), d->block, d->offset, d->reason,
				error_kind_name(d->kind), d->skipped);
	}
	if (t->damage_count > TRACE_DAMAGES_KEPT)
		message_warning("%s: damaged in %" PRIu64 " more places", shown_path(t),
				t->damage_count - TRACE_DAMAGES_KEPT);
	if (t->damage_count)
		message_warning("%s: %" PRIu64 " samples (%.1f s) outside of the damage are shown",
				shown_path(t), t->totals.samples, seconds(t));
	else if (!t->error && !t->complete)
		message_warning("%s: the trace has no end, as when the recorder was killed; what "
				"is there is shown: %" PRIu64 " samples (%.1f s)",
				shown_path(t), t->totals.samples, seconds(t));
	else if (t->error)
		message_warning("%s: %" PRIu64 " samples (%.1f s) before the error are shown",
				shown_path(t), t->totals.samples, seconds(t));
}

static void warn_of_loss(const struct trace *t)
{
	uint64_t lost = trace_whole_samples(trace_lost_in_window(t, PRF_LOSS_COUNT));
	uint64_t skipped = trace_whole_samples(trace_lost_in_window(t, PRF_LOSS_SKIPPED));

	/* A machine whose hypervisor has other work skips a tick now and then. */
	if (lost > skipped || skipped > t->totals.samples / 100)
		message_warning("%s: %" PRIu64
				" samples were lost while recording; --info says why",
				shown_path(t), lost);
}

static void warn_of_selection(const struct loaded *l, const struct trace *t,
			      const struct report_options *o)
{
	if (l->trace_count > 1 && o->selection.has_time && !t->totals.samples)
		message_warning("%s: no sample lies in the window of --time; --info shows how long "
				"the recording is",
				shown_path(t));
	if (t->totals.other_events && !o->selection.events.count && !o->selection.on_cpu &&
	    !o->selection.off_cpu)
		message_info("%s: %" PRIu64 " samples of other events are not shown; --event=NAME, "
			     "--off-cpu or --wall does, --info lists them",
			     shown_path(t), t->totals.other_events);
}

static void warn_of_wakers(const struct loaded *l)
{
	size_t n;

	tally_cells(l->tally, &n);
	if (n && !tally_has_wakers(l->tally))
		message_warning("--wakers: no wait here knows who ended it; prof-record --off-cpu "
				"--wakers records that, -f folded --off-cpu shows it");
}

/* Names the objects that most samples lie in without a name, at most three. */
static void warn_of_names(const struct loaded *l)
{
	const struct profile *p = l->profile;
	size_t n;
	struct unnamed *list = unnamed_objects(p, &n);

	if (!list)
		message_warning("out of memory: files without names are not listed");
	for (size_t i = 0; list && i < 3 && i < n; i++) {
		const struct profile_object *object = &p->objects[list[i].object];

		if (list[i].samples * 200 < p->samples)
			break;
		message_warning("no names for %" PRIu64 " of %" PRIu64 " samples in %s: %s; %s",
				list[i].samples, p->samples, object->recorded->path,
				unnamed_reason(object), unnamed_remedy(object));
	}
	free(list);
}

void loaded_warn_of_traces(const struct loaded *l, const struct report_options *o)
{
	for (size_t i = 0; i < l->trace_count; i++) {
		warn_of_damage(&l->traces[i]);
		warn_of_loss(&l->traces[i]);
		warn_of_selection(l, &l->traces[i], o);
	}
	if (l->symbolizer)
		unnamed_say_shortage(l->symbolizer, message_warning);
}

void loaded_warn(const struct loaded *l, const struct report_options *o)
{
	loaded_warn_of_traces(l, o);
	if (!l->profile)
		return;
	if (o->joined)
		message_info("%zu traces are many: their %s", l->trace_count, o->joined);
	if (o->slice_ns && l->profile->slice_ns > o->slice_ns)
		message_warning("--group-by: slices of time are %.9g s long, as there would be too "
				"many shorter ones",
				(double)l->profile->slice_ns / 1e9);
	if (o->wakers)
		warn_of_wakers(l);
	/* --info has lines of its own for them, and folded text has no files that names could be
	 * in. */
	if (o->action != REPORT_INFO && !o->from_folded)
		warn_of_names(l);
	message_detail("%zu stacks, %" PRIu64 " %s in %" PRIu64 " samples", l->profile->entry_count,
		       l->profile->total, l->profile->unit, l->profile->samples);
}
