/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwinding.h"

#include <inttypes.h>
#include <poll.h>

#include "common/clock.h"
#include "common/message.h"
#include "record/spaces/made_code.h"
#include "record/unwind/startup_files.h"

/* The start of a recording is delayed by at most this much, and a signal is looked for so often. */
#define PREPARE_NS UINT64_C(2000000000)
#define PREPARE_PIECE_NS UINT64_C(20000000)
/* And its end by at most this. */
#define SETTLE_NS UINT64_C(500000000)

/* Called from the unwinder's worker. */
void unwinding_show_file(const struct unwinder_file *file, void *context)
{
	if (file->problem)
		message_detail("unwind tables: %s: none: %s", file->path, file->problem);
	else
		message_detail("unwind tables: %s: %" PRIu64 " rows, %" PRIu64 " bytes, %.2f ms%s",
			       file->path, file->rows, file->bytes, (double)file->build_ns / 1e6,
			       file->lacks_rules ? "; it has too many different rules" : "");
}

struct error *unwinding_open(struct unwinding *u, const struct unwinding_options *options)
{
	struct error *error;

	u->lookahead = lookahead_new(options->sideband, options->world->objects,
				     options->everything);
	if (!u->lookahead)
		return error_memory();
	error = unwinder_new(&u->unwinder, &options->unwinder);
	if (!error)
		error = unwinder_follow(u->unwinder, lookahead_spaces(u->lookahead));
	if (!error)
		error = made_code_foresee(lookahead_spaces(u->lookahead), options->jit);
	if (error)
		return error;
	u->java = java_new(&options->java);
	u->javascript = javascript_new(&options->javascript);
	u->scripts = scripts_new(&options->scripts);
	if (!u->java || !u->javascript || !u->scripts)
		return error_memory();
	u->names = (struct name_ring){ options->names, u->scripts, u->javascript };
	error = java_follow(u->java, lookahead_spaces(u->lookahead));
	if (!error)
		error = javascript_follow(u->javascript, lookahead_spaces(u->lookahead));
	return error ? error : scripts_follow(u->scripts, lookahead_spaces(u->lookahead));
}

void unwinding_release(struct unwinding *u)
{
	unwinder_free(u->unwinder); /* first: it holds layouts of the lookahead's spaces */
	java_free(u->java);
	javascript_free(u->javascript);
	scripts_free(u->scripts);
	lookahead_free(u->lookahead);
	*u = (struct unwinding){ 0 };
}

struct error *unwinding_add(struct unwinding *u, uint32_t pid, const struct spaces *spaces)
{
	return u->lookahead ? lookahead_add(u->lookahead, pid, spaces) : NULL;
}

void unwinding_refresh(struct unwinding *u)
{
	if (u->lookahead)
		lookahead_look_at_all(u->lookahead);
}

bool unwinding_follows(const struct unwinding *u, uint32_t pid)
{
	return u->lookahead && spaces_follows(lookahead_spaces(u->lookahead), pid);
}

bool unwinding_knows_made_code(const struct unwinding *u, uint32_t pid, uint64_t time_ns)
{
	return u->java && java_was_walked(u->java, pid, time_ns);
}

struct error *unwinding_run(struct unwinding *u)
{
	struct error *error = u->lookahead ? lookahead_run(u->lookahead) : NULL;

	if (u->names.ring)
		name_ring_read(&u->names);
	if (u->java)
		java_tick(u->java, clock_now());
	if (u->unwinder)
		unwinder_flush(u->unwinder);
	return error;
}

uint64_t unwinding_followed(const struct unwinding *u)
{
	return u->lookahead ? lookahead_followed(u->lookahead) : 0;
}

uint64_t unwinding_waits_since(const struct unwinding *u, uint64_t after_ns)
{
	return u->unwinder ? unwinder_waits_since(u->unwinder, after_ns) : UINT64_MAX;
}

struct error *unwinding_settle(struct unwinding *u)
{
	struct error *error = unwinding_run(u);

	if (u->unwinder)
		unwinder_settle(u->unwinder, SETTLE_NS);
	return error;
}

int unwinding_wait_ms(const struct unwinding *u, int most_ms)
{
	if (u->java)
		most_ms = java_wait_ms(u->java, most_ms);
	return u->javascript ? javascript_wait_ms(u->javascript, most_ms) : most_ms;
}

static void prepare_file(void *context, const char *path)
{
	struct unwinding *u = context;

	unwinder_prepare(u->unwinder, path);
	scripts_prepare(u->scripts, path);
}

struct error *unwinding_prepare(struct unwinding *u, const char *program, int signal_fd)
{
	struct pollfd fd = { .fd = signal_fd, .events = POLLIN };
	uint64_t until = clock_now() + PREPARE_NS;
	struct error *error = unwinding_run(u);

	if (!u->unwinder)
		return error;
	if (program)
		startup_files_each(program, prepare_file, u);
	while (!unwinder_settle(u->unwinder, PREPARE_PIECE_NS) && clock_now() < until &&
	       poll(&fd, 1, 0) <= 0)
		;
	return error;
}

static struct error *write_totals(struct trace_file *f, const struct unwinder_totals *t)
{
	const struct statistic statistics[] = {
		{ "unwind_files", t->files },	    { "unwind_rows", t->rows },
		{ "unwind_rules", t->rules },	    { "unwind_table_bytes", t->table_bytes },
		{ "unwind_build_ns", t->build_ns }, { "unwind_dropped", t->dropped },
		{ "unwind_refused", t->refused },   { "unwind_without_info", t->failed },
	};

	return trace_file_statistics(f, statistics, sizeof(statistics) / sizeof(*statistics));
}

struct error *unwinding_finish(const struct unwinding *u, struct trace_file *f)
{
	struct unwinder_totals t;
	struct error *error;

	if (!u->unwinder)
		return NULL;
	unwinder_totals(u->unwinder, &t);
	error = write_totals(f, &t);
	if (!error)
		error = trace_file_error(f, java_finish(u->java));
	return error ? error : trace_file_error(f, javascript_finish(u->javascript));
}

void unwinding_show_totals(const struct unwinding *u)
{
	struct unwinder_totals t;
	uint64_t left_out;

	if (!u->unwinder)
		return;
	unwinder_totals(u->unwinder, &t);
	message_detail("unwind tables: %" PRIu64 " files, %" PRIu64 " rows, %" PRIu64
		       " rules, %" PRIu64 " KiB in the kernel, built in %.1f ms",
		       t.files, t.rows, t.rules, t.table_bytes >> 10, (double)t.build_ns / 1e6);
	if (t.dropped + t.short_of_memory)
		message_warning("%" PRIu64
				" files had no unwind table at times, for want of memory; their "
				"stacks are cut off (a larger --unwind-memory helps)",
				t.dropped + t.short_of_memory);
	if (t.over_limit)
		message_warning("%" PRIu64
				" files have no unwind table, as they have more than is read of a "
				"file; the stacks of their code are cut off (-v names them)",
				t.over_limit);
	if (t.lacking_rules)
		message_warning("%" PRIu64
				" files have more different unwind rules than there is room for; "
				"the stacks of some of their code are cut off",
				t.lacking_rules);
	if (t.crowded_out)
		message_warning(
			"%" PRIu64
			" processes were too many to keep all of their mappings where stacks are "
			"walked; their stacks may be cut off",
			t.crowded_out);
	left_out = spaces_left_out(lookahead_spaces(u->lookahead));
	if (left_out)
		message_warning("%" PRIu64
				" mappings were left out: too many of one process are of files "
				"that do not answer",
				left_out);
}
