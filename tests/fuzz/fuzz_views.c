/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace through the program's own path to one of its formats, html, pprof, firefox, speedscope
 * and those of single samples included; every second time with another one, which is a part of it:
 * to a comparison, or to both in one. Nothing but the parsing of options and the writing of files
 * is left out. What is done follows from the input's size.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/message.h"
#include "report/load.h"
#include "report/view_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_views(void)
{
	size_t n = 0;

	while (view_at(n))
		n++;
	return n;
}

static struct report_options options_for(const struct view *view, bool stacks_of_all)
{
	struct report_options o = {
		.view = view,
		.quiet = true,
		.min_percent = -1,
		.fail_percent = -1,
		.dimensions = PROFILE_BY_COMM,
		.selection = { .all_events = stacks_of_all },
		.value = VALUE_SAMPLES,
		.symbols = { .sysroot = "/nonexistent",
			     .inlines = true,
			     .demangle = true,
			     .jobs = 1 },
	};

	o.shown.leading[0] = PROFILE_BY_COMM;
	o.shown.annotate = o.shown.lines = o.shown.modules = stacks_of_all;
	return o;
}

static void write_view(struct loaded *l, const struct report_options *o)
{
	struct sink sink;

	sink_init(&sink, -1);
	if (o->view->sample)
		loaded_stream(l, o, &sink);
	else
		error_free(o->view->render(l->profile, &o->shown, &sink));
	error_free(sink_flush(&sink));
	sink_release(&sink);
}

/* The path of a file with these bytes, and its descriptor. */
static int put(char path[64], const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t choice = size % (2 * count_views());
	const struct view *view = view_at(choice / 2);
	struct report_options o = options_for(view, choice % 2);
	struct loaded now = { 0 }, base = { 0 };
	bool differs = choice % 2 && view->can_diff && !view->joins_runs;
	bool joins = choice % 2 && !differs;
	char whole[64], part[64], *paths[] = { part, whole };
	int fd = put(whole, data, size), part_fd = put(part, data, size / 4 * 3);

	o.shown.symbols = &o.symbols;
	o.shown.base_runs = joins && view->joins_runs;
	o.dimensions |= o.shown.base_runs ? PROFILE_BY_TRACE : 0;
	message_setup("fuzz_views", MESSAGE_ERROR);
	if (loaded_open(&now, joins ? paths : paths + 1, joins ? 2 : 1, view->sample) &&
	    loaded_profile(&now, &o) &&
	    (!differs || (loaded_open(&base, paths, 1, false) && loaded_profile(&base, &o)))) {
		o.shown.base = differs ? base.profile : NULL;
		write_view(&now, &o);
	}
	loaded_release(&base);
	loaded_release(&now);
	close(part_fd);
	close(fd);
	return 0;
}
