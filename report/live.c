/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/live.h"

#include "common/clock.h"
#include "common/message.h"
#include "report/output/fitted.h"
#include "report/output/progress.h"
#include "report/output/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define REFRESH_NS SECOND
/* A long trace is read in pieces, with a look at the keys between them. */
#define READ_NS (SECOND / 10)
#define SILENT_NS (3 * SECOND)
/* After a table that took long to make comes a rest of this many times as long. */
#define REST 4

struct live {
	struct loaded *loaded; /* its tally counts everything */
	struct report_options *options;
	struct trace *trace;
	struct trace_sinks sinks;
	bool closed;			 /* a pipe whose writer is gone */
	bool behind;			 /* there is more to read at once */
	uint64_t read_until_ns, read_ns; /* the latter: when samples came last */

	/* The samples that came since the table before the last one. */
	struct tally *recent;
	bool recent_shown;
	uint64_t recent_from_ns, recent_lost;

	struct screen screen;
	bool shows; /* there is a screen */
	struct screen_size size;
	unsigned int limit; /* of rows, as asked for */
	bool only_recent, paused, quit;
	bool changed; /* what the table shall show */
	struct sink title, table;
	uint64_t table_bytes, table_samples; /* of the trace that the table shows */
	uint64_t due_ns;		     /* when it is drawn next; 0: at once */
};

/* Nothing more will come. */
static bool is_over(const struct live *l)
{
	return l->closed || prf_reader_ended(l->trace->reader);
}

/* -------- reading -------- */

static bool begin_recent(struct live *l)
{
	tally_free(l->recent);
	l->recent = NULL;
	if (!loaded_tally(&l->recent, l->options))
		return false;
	tally_begin(l->recent, l->trace->reader);
	l->recent_shown = false;
	l->recent_from_ns = l->trace->totals.last_ns;
	l->recent_lost = trace_lost_samples(l->trace);
	return true;
}

static bool take_samples(struct trace *t, const struct prf_samples *samples, void *context)
{
	struct live *l = context;

	if (l->shows && ((l->recent && !l->recent_shown) || begin_recent(l)) &&
	    error_ignore(tally_add(l->recent, samples)))
		l->recent_shown = true; /* without memory: the next samples begin a new one */
	l->read_ns = clock_now();
	l->behind = l->read_ns >= l->read_until_ns;
	return l->behind;
}

/* A recorder that is started again writes to the same file from its start. */
static bool is_replaced(const struct trace *t)
{
	uint64_t bytes, raw;
	struct stat info;

	prf_reader_bytes(t->reader, &bytes, &raw);
	return t->seekable && !fstat(t->fd, &info) &&
	       (uint64_t)info.st_size < (uint64_t)t->start + bytes;
}

/* False after a message. */
static bool read_on(struct live *l)
{
	const struct error *error;

	if (is_over(l))
		return true;
	l->behind = false;
	l->read_until_ns = clock_now() + READ_NS;
	error = trace_read_on(l->trace, &l->sinks);
	if (!error && !is_replaced(l->trace))
		return true;
	screen_leave(&l->screen);
	if (error)
		trace_say_error(l->trace, error);
	else
		message_error("%s: the file has become shorter: it is written anew",
			      l->trace->path);
	return false;
}

/* -------- the table -------- */

static uint64_t bytes_read(const struct live *l)
{
	uint64_t bytes, raw;

	prf_reader_bytes(l->trace->reader, &bytes, &raw);
	return bytes;
}

/* False after a message. */
static bool make_table(struct live *l)
{
	struct loaded *loaded = l->loaded;
	struct tally *all = loaded->tally;
	struct error *error;
	bool recent = l->only_recent && l->recent, ok;

	symbolizer_forget(loaded->symbolizer);
	if (recent)
		loaded->tally = l->recent;
	ok = loaded_build(loaded, l->options);
	loaded->tally = all;
	if (!ok)
		return progress_interrupted();
	if (recent)
		loaded->profile->lost -= l->recent_lost;
	buffer_clear(&l->table.buffer);
	error = l->options->view->render(loaded->profile, &l->options->shown, &l->table);
	/* It names the tally, which may end before the next table. */
	profile_free(loaded->profile);
	loaded->profile = NULL;
	l->table_bytes = bytes_read(l);
	l->table_samples = l->trace->totals.samples;
	l->changed = false;
	if (error)
		message_error("%s", error->text);
	return !error_ignore(error);
}

/* Of the trace, or of its recent part: the samples, and the time in which they came. */
static double seconds_of(const struct live *l, bool recent, uint64_t *samples)
{
	struct tally_totals totals = l->trace->totals;

	if (recent && l->recent)
		tally_trace_totals(l->recent, &totals);
	if (recent && l->recent_from_ns && l->recent_from_ns < totals.last_ns)
		totals.first_ns = l->recent_from_ns;
	*samples = totals.samples;
	return (double)(totals.last_ns - totals.first_ns) / 1e9;
}

static void write_state(const struct live *l, struct sink *s)
{
	uint64_t silent = clock_now() - l->read_ns, samples;
	double seconds = seconds_of(l, true, &samples);

	if (prf_reader_ended(l->trace->reader))
		sink_text(s, "ended");
	else if (l->closed)
		sink_text(s, "the recorder is gone");
	else if (l->behind)
		sink_text(s, "reading");
	else if (silent >= SILENT_NS)
		sink_printf(s, "no samples for %" PRIu64 " s", silent / SECOND);
	else if (seconds > 0)
		sink_printf(s, "%.0f samples/s", (double)samples / seconds);
	else
		sink_text(s, "no samples yet");
	if (l->trace->damage_count)
		sink_text(s, ", damaged");
	if (l->paused)
		sink_text(s, ", paused");
}

/* False without memory. */
static bool make_title(struct live *l)
{
	const char *path = strcmp(l->trace->path, "-") ? l->trace->path : "stdin";
	const char *slash = strrchr(path, '/');
	const char *text;
	struct sink whole;
	uint64_t samples;
	bool ok;

	sink_init(&whole, -1);
	fitted_text(&whole, slash ? slash + 1 : path, l->size.columns / 4 + 1);
	sink_text(&whole, ": ");
	write_state(l, &whole);
	sink_printf(&whole, ", %s %.1f s", l->only_recent ? "last" : "all",
		    seconds_of(l, l->only_recent, &samples));
	sink_printf(&whole, "; q: quit, s: by %s, r: %s, space: %s",
		    l->options->shown.by_total ? "self" : "total",
		    l->only_recent ? "all" : "recent", l->paused ? "go on" : "pause");
	buffer_clear(&l->title.buffer);
	text = buffer_string(&whole.buffer);
	ok = buffer_ok(&whole.buffer);
	if (ok)
		fitted_beginning(&l->title, text, l->size.columns);
	sink_release(&whole);
	return ok;
}

/* Made for the terminal as it is now. */
static bool make(struct live *l)
{
	struct view_options *shown = &l->options->shown;

	l->size = screen_size();
	shown->width = l->size.columns;
	shown->limit = l->limit && l->limit < l->size.rows ? l->limit : l->size.rows;
	l->recent_shown = true;
	return make_table(l);
}

static bool is_resized(const struct live *l)
{
	struct screen_size now = screen_size();

	return now.columns != l->size.columns || now.rows != l->size.rows;
}

/* Pausing holds the table, unless another one is asked for. */
static bool needs_table(const struct live *l)
{
	if (l->changed || is_resized(l))
		return true;
	return !l->paused &&
	       (bytes_read(l) != l->table_bytes || l->trace->totals.samples != l->table_samples);
}

/* False after a message. */
static bool show(struct live *l)
{
	uint64_t began_ns = clock_now(), spent_ns;
	struct error *error;

	if (needs_table(l) && !make(l)) {
		/* What was written to the other screen is gone: once more. */
		if (l->screen.entered) {
			screen_leave(&l->screen);
			make_table(l);
		}
		return false;
	}
	screen_enter(&l->screen);
	error = make_title(l) ? screen_draw(&l->screen, &l->title.buffer, &l->table.buffer)
			      : error_memory();
	spent_ns = clock_now() - began_ns;
	l->due_ns = clock_now() + (REST * spent_ns > REFRESH_NS ? REST * spent_ns : REFRESH_NS);
	if (error) {
		screen_leave(&l->screen);
		message_error("standard output: %s", error->text);
	}
	return !error_ignore(error);
}

/* -------- keys and waiting -------- */

static void take_key(struct live *l, char key)
{
	switch (key) {
	case 'q': l->quit = true; break;
	case 's': l->options->shown.by_total = !l->options->shown.by_total; break;
	case 'r': l->only_recent = !l->only_recent; break;
	case ' ': l->paused = !l->paused; break;
	default: break;
	}
	l->changed |= key == 's' || key == 'r';
}

static void read_keys(struct live *l)
{
	char keys[64];
	ssize_t n = read(l->screen.keys, keys, sizeof(keys));

	/* A terminal that was closed. */
	if (!n || (n < 0 && errno != EINTR))
		l->quit = true;
	for (ssize_t i = 0; i < n; i++)
		take_key(l, keys[i]);
	l->due_ns = 0;
}

/* Readable, but without bytes: its writer is gone, or it is a device that never has any. */
static bool is_closed(int fd)
{
	int bytes;

	return ioctl(fd, FIONREAD, &bytes) || !bytes;
}

/*
 * Until a key is pressed, a pipe has something, or the next table is due. A pipe that has nothing
 * left is not over as long as there is more to read: the reader has it.
 */
static void wait_for_more(struct live *l)
{
	bool pipe = !l->trace->seekable && !l->behind && !is_over(l);
	struct pollfd fds[] = {
		{ .fd = l->shows ? l->screen.keys : -1, .events = POLLIN },
		{ .fd = pipe ? l->trace->fd : -1, .events = POLLIN },
	};
	int ms = l->shows && !l->paused ? clock_wait_ms(clock_now(), l->due_ns, 1000) : 1000;

	if (!l->shows && is_over(l))
		return;
	if (poll(fds, 2, l->behind ? 0 : ms) <= 0)
		return;
	if (fds[0].revents)
		read_keys(l);
	if (fds[1].revents && is_closed(l->trace->fd))
		l->closed = true;
}

/* -------- all of it -------- */

static bool is_due(const struct live *l)
{
	if (!l->shows)
		return false;
	return !l->due_ns || is_resized(l) || (!l->paused && l->due_ns <= clock_now());
}

/*
 * Ctrl-C ends the recorder in front of a pipe, too. It still writes its end, which is read, lest it
 * finds the pipe closed.
 */
static bool goes_on(struct live *l)
{
	if (l->quit)
		return false;
	if (!progress_interrupted())
		return l->shows || !is_over(l);
	l->shows = false;
	screen_leave(&l->screen);
	return !l->trace->seekable && !is_over(l);
}

static bool begin(struct live *l)
{
	struct loaded *loaded = l->loaded;
	const struct error *error;

	if (!loaded_open(loaded, l->options->paths, 1, false) ||
	    !loaded_begin(loaded, l->options, true))
		return false;
	l->trace = &loaded->traces[0];
	l->sinks = (struct trace_sinks){ .tally = loaded->tally,
					 .symbolizer = loaded->symbolizer,
					 .samples = take_samples,
					 .context = l,
					 .to_ns = UINT64_MAX,
					 .follow = true };
	error = trace_begin(l->trace, &l->sinks);
	if (error)
		trace_say_error(l->trace, error);
	return !error;
}

/* On a terminal, says why it shows nothing yet. */
static bool open_screen(struct live *l)
{
	const struct report_options *o = l->options;

	if (o->output || o->shown.csv || o->shown.json || !isatty(STDOUT_FILENO))
		return false;
	if (screen_open(&l->screen))
		return true;
	message_warning("the table is shown once, when the trace has ended: TERM is unset or dumb, "
			"or /dev/tty cannot be opened");
	return false;
}

enum live_result live_run(struct loaded *loaded, struct report_options *o)
{
	struct live l = {
		.loaded = loaded, .options = o, .limit = o->shown.limit, .changed = true
	};
	bool ok = begin(&l), screen = ok && open_screen(&l);

	l.shows = screen;
	l.read_ns = clock_now();
	sink_init(&l.title, -1);
	sink_init(&l.table, -1);
	while (ok && goes_on(&l)) {
		if (screen_suspend_if_asked(&l.screen))
			l.due_ns = 0;
		ok = read_on(&l) && (!is_due(&l) || show(&l));
		if (ok)
			wait_for_more(&l);
	}
	if (screen)
		screen_close(&l.screen);
	sink_release(&l.title);
	sink_release(&l.table);
	tally_free(l.recent);
	if (!ok)
		return LIVE_FAILED;
	if (!screen)
		progress_take_interrupt();
	return screen ? LIVE_SHOWN : LIVE_READ;
}
