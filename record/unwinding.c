/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwinding.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/message.h"
#include "record/failure.h"
#include "record/recording.h"
#include "record/system/error_status.h"
#include "record/system/proc.h"

/* Longer than this nobody shall wait for a recording to begin. */
#define PREPARE_NS UINT64_C(2000000000)

/* From the unwinder's worker. */
static void tell_built(const struct unwinder_file *file, void *context)
{
	if (file->problem)
		message_detail("unwind tables: %s: none: %s", file->path, file->problem);
	else
		message_detail("unwind tables: %s: %" PRIu64 " rows, %" PRIu64 " bytes, %.2f ms",
			       file->path, file->rows, file->bytes, (double)file->build_ns / 1e6);
}

static void tell_refused(const char *text, void *context)
{
	message_warning("%s", text);
}

struct adding {
	struct session *session;
	int status;
};

static void add_process(uint32_t pid, void *context)
{
	struct adding *adding = context;
	struct session *s = adding->session;

	if (!adding->status && spaces_knows(s->world.spaces, pid))
		adding->status = lookahead_add(s->lookahead, pid,
					       spaces_layout(s->world.spaces, pid));
}

int unwinding_open(struct session *s)
{
	struct unwinder_options options = {
		.memory_limit = s->settings->unwind_memory,
		.built = tell_built,
	};
	struct adding adding = { .session = s };
	bool everything;
	int status;

	if (s->settings->unwind_by != UNWIND_BY_TABLES)
		return 0;
	sampler_unwinder_maps(s->sampler, &options.maps);
	status = unwinder_new(&s->unwinder, &options);
	if (status)
		return explain("set up unwinding", status);
	/* Of wakers, of whom the world knows too, no user stack is walked. */
	everything = s->settings->everything || s->settings->cgroup;
	s->lookahead = lookahead_new(s->sideband, s->unwinder, s->jit, everything);
	if (!s->lookahead)
		return fail("out of memory");
	s->java = java_new(&(struct java_options){ .scripts_fd = sampler_scripts(s->sampler),
						   .refused = tell_refused });
	if (!s->java)
		return fail("out of memory");
	lookahead_follow_java(s->lookahead, s->java);
	if (everything)
		proc_each("/proc", add_process, &adding);
	for (size_t i = 0; i < s->target.pid_count; i++)
		add_process(s->target.pids[i], &adding);
	return adding.status ? fail("out of memory") : 0;
}

void unwinding_prepare(struct session *s)
{
	if (!s->unwinder)
		return;
	lookahead_run(s->lookahead);
	java_tick(s->java, clock_now());
	unwinder_flush(s->unwinder);
	if (s->settings->command)
		unwinder_prepare(s->unwinder, s->settings->command[0], PREPARE_NS);
	else
		unwinder_settle(s->unwinder, PREPARE_NS);
}

static int write_totals(struct prf_writer *w, const struct unwinder_totals *t)
{
	const struct {
		const char *key;
		uint64_t value;
	} statistics[] = {
		{ "unwind_files", t->files },	    { "unwind_rows", t->rows },
		{ "unwind_rules", t->rules },	    { "unwind_table_bytes", t->table_bytes },
		{ "unwind_build_ns", t->build_ns }, { "unwind_dropped", t->dropped },
		{ "unwind_refused", t->refused },   { "unwind_without_info", t->failed },
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]) && !status; i++)
		status = error_status(
			prf_writer_statistic(w, statistics[i].key, statistics[i].value));
	return status;
}

int unwinding_finish(struct session *s)
{
	struct unwinder_totals t;

	if (!s->unwinder)
		return 0;
	unwinder_totals(s->unwinder, &t);
	message_detail("unwind tables: %" PRIu64 " files, %" PRIu64 " rows, %" PRIu64
		       " rules, %" PRIu64 " KiB in the kernel, built in %.1f ms",
		       t.files, t.rows, t.rules, t.table_bytes >> 10, (double)t.build_ns / 1e6);
	if (t.dropped + t.short_of_memory)
		message_warning("%" PRIu64
				" files had no unwind table at times, for want of memory; their "
				"stacks are cut off (a larger --unwind-memory helps)",
				t.dropped + t.short_of_memory);
	return write_totals(s->trace.writer, &t);
}

void unwinding_close(struct session *s)
{
	lookahead_free(s->lookahead);
	java_free(s->java);
	unwinder_free(s->unwinder);
	s->lookahead = NULL;
	s->java = NULL;
	s->unwinder = NULL;
}
