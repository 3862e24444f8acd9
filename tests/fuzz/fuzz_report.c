/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace through all of prof-report's core: tally, names, profile and the views that are
 * text. Whatever the trace says, the samples of the views add up.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/info.h"
#include "report/load.h"
#include "report/merge/build.h"
#include "report/views/folded_lines.h"
#include "report/views/script.h"
#include "report/views/top.h"
#include "report/views/tree.h"

#define MAX_SLICES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void render(const struct profile *p, const struct view_options *o,
		   struct error *(*view)(const struct profile *, const struct view_options *,
					 struct sink *))
{
	struct sink sink;

	sink_init(&sink, -1);
	check(!error_ignore(view(p, o, &sink)));
	sink_release(&sink);
}

static void check_folded(const struct profile *p, const struct view_options *o)
{
	struct folded_lines folded;
	uint64_t sum = 0;

	check(!error_ignore(folded_lines_init(&folded, p, o)));
	for (size_t i = 0; i < folded.line_count; i++)
		sum += folded.lines[i].value;
	check(sum == p->total);
	folded_lines_release(&folded);
}

static void check_profile(const struct profile *p)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];

		check(e->group < p->group_count);
		check(e->node == PRF_NONE || e->node < p->node_count);
		check(e->slice < MAX_SLICES);
		samples += e->samples;
	}
	check(samples == p->samples);
	for (size_t i = 0; i < p->part_count; i++) {
		check(p->parts[i].entry < p->entry_count);
		check(p->parts[i].slice < MAX_SLICES);
	}
	for (size_t i = 0; i < p->node_count; i++) {
		check(p->nodes[i].parent == PRF_NONE || p->nodes[i].parent < i);
		check(p->nodes[i].frame < p->frame_count);
	}
	for (size_t i = 0; i < p->frame_count; i++)
		check(p->frames[i].object == PRF_NONE || p->frames[i].object < p->object_count);
}

static void views(struct loaded *l)
{
	const struct view_options o = { .leading = { PROFILE_BY_EVENT, PROFILE_BY_THREAD },
					.annotate = true };
	struct sink sink;

	check_profile(l->profile);
	check_folded(l->profile, &o);
	render(l->profile, &o, top_render);
	render(l->profile, &o, tree_render);
	sink_init(&sink, -1);
	check(!error_ignore(info_json(l, &sink)));
	sink_release(&sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int leading[] = { PROFILE_BY_OBJECT, PROFILE_BY_COMM, PROFILE_BY_TIME,
						0 };
	const struct shape shape = { .delimiter = true, .collapse_recursion = true };
	const struct selection selection = { .all_events = true };
	const struct symbolizer_options symbols = { .sysroot = "/nonexistent",
						    .demangle = true,
						    .jobs = 1 };
	const unsigned int dimensions = PROFILE_BY_THREAD | PROFILE_BY_EVENT | PROFILE_IN_PARTS |
					(size % 2 ? PROFILE_BY_TIME : 0);
	const struct tally_options tally = { .dimensions = dimensions,
					     .wakers = true,
					     .max_slices = MAX_SLICES,
					     .selection = &selection };
	struct trace trace;
	struct loaded loaded = { .traces = &trace, .trace_count = 1 };
	struct build_options build = { .shape = &shape,
				       .dimensions = dimensions | PROFILE_BY_OBJECT,
				       .traces = &trace,
				       .trace_count = 1,
				       .leading = size % 2 ? leading : NULL };
	struct trace_sinks sinks = { .to_ns = UINT64_MAX };
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(!error_ignore(trace_open(&trace, path)));
	check(!error_ignore(tally_new(&loaded.tally, &tally)));
	check(!error_ignore(symbolizer_new(&loaded.symbolizer, &symbols)));
	sinks.tally = loaded.tally;
	build.tally = loaded.tally;
	sinks.symbolizer = loaded.symbolizer;
	build.symbolizer = loaded.symbolizer;
	trace_read(&trace, &sinks);
	if (trace.reader && !error_ignore(profile_build(&loaded.profile, &build)))
		views(&loaded);
	profile_free(loaded.profile);
	tally_free(loaded.tally);
	symbolizer_free(loaded.symbolizer);
	trace_close(&trace);
	close(fd);
	return 0;
}
