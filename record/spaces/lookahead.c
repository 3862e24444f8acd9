/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/lookahead.h"

#include "common/buffer.h"
#include "common/clock.h"
#include "common/map.h"
#include "record/capture/timeline.h"
#include "record/system/proc.h"

#include <stdlib.h>
#include <string.h>

/* How often processes are looked at whose first thread has ended, and perhaps no other. */
#define LOOK_NS UINT64_C(100000000)

struct lookahead {
	struct sideband *sideband;
	struct spaces *spaces;
	struct timeline timeline;
	struct map threaded; /* pids that may have several threads */
	struct map headless; /* pids whose first thread has ended */
	uint64_t look_ns;    /* when these are looked at next */
	bool all;	     /* all processes are looked at then */
	uint64_t followed;   /* records of followed processes */
};

static bool add_pid(struct map *pids, uint32_t pid)
{
	return map_put(pids, &pid, sizeof(pid), NULL) != NULL;
}

/* The process has one thread. */
static void forget_threads(struct lookahead *s, uint32_t pid)
{
	map_remove(&s->threaded, &pid, sizeof(pid));
	map_remove(&s->headless, &pid, sizeof(pid));
}

static void end(struct lookahead *s, uint32_t pid, uint64_t time_ns)
{
	forget_threads(s, pid);
	spaces_end(s->spaces, pid, time_ns);
	spaces_remove(s->spaces, pid);
}

/*
 * Other threads may outlive the first one, and no record marks the last thread of a process. The
 * end of the first one may also be the beginning of an exec by another thread, which takes its
 * number, or be recorded within an exec: see spaces_are_in_exec(). /proc says none of it as of the
 * record's time, so it is asked later: see find_ended().
 */
static struct error *apply_exit(struct lookahead *s, const struct side_record *r)
{
	if (r->pid != r->tid || !spaces_follows(s->spaces, r->pid))
		return NULL;
	if (!map_get(&s->threaded, &r->pid, sizeof(r->pid)) &&
	    !spaces_are_in_exec(s->spaces, r->pid)) {
		end(s, r->pid, r->time_ns);
		return NULL;
	}
	s->look_ns = 0;
	return add_pid(&s->headless, r->pid) ? NULL : error_memory();
}

/* An exit within its exec was none. */
static void apply_map(struct lookahead *s, const struct side_record *r)
{
	if (s->headless.count && !map_get(&s->threaded, &r->pid, sizeof(r->pid)))
		map_remove(&s->headless, &r->pid, sizeof(r->pid));
}

static struct error *apply_fork(struct lookahead *s, const struct side_record *r)
{
	/* The pid may have been used before, by a process whose end is not known. */
	if (r->pid != r->parent_pid && spaces_knows(s->spaces, r->pid))
		end(s, r->pid, r->time_ns);
	if (!spaces_follows(s->spaces, r->parent_pid))
		return NULL;
	if (r->pid != r->parent_pid)
		forget_threads(s, r->pid);
	else if (!add_pid(&s->threaded, r->pid))
		return error_memory();
	return NULL;
}

static struct error *apply(struct lookahead *s, const struct side_record *r)
{
	struct error *error = NULL;

	s->followed += spaces_follows(s->spaces,
				      r->type == SIDE_RECORD_FORK ? r->parent_pid : r->pid);
	/* An end is looked at later: one that was read counts as having threads. */
	if (r->type != SIDE_RECORD_EXIT && spaces_have_read(s->spaces, r))
		return NULL;
	switch (r->type) {
	case SIDE_RECORD_EXIT: error = apply_exit(s, r); break;
	case SIDE_RECORD_FORK: error = apply_fork(s, r); break;
	case SIDE_RECORD_EXEC: forget_threads(s, r->pid); break;
	case SIDE_RECORD_MAP: apply_map(s, r); break;
	default: break;
	}
	return error ? error : spaces_apply(s->spaces, r);
}

static uint64_t peek(void *context, size_t number)
{
	return sideband_peek_ahead(((struct lookahead *)context)->sideband, number);
}

static struct error *take(void *context, size_t number)
{
	struct lookahead *s = context;
	struct side_record record;

	return sideband_take_ahead(s->sideband, number, &record) ? apply(s, &record) : NULL;
}

struct lookahead *lookahead_new(struct sideband *sideband, struct objects *objects, bool everything)
{
	struct lookahead *s = calloc(1, sizeof(*s));
	bool failed;

	if (!s)
		return NULL;
	s->sideband = sideband;
	s->spaces = spaces_new(objects, everything);
	failed = !s->spaces;
	if (s->spaces)
		spaces_prepare_files(s->spaces);
	for (size_t i = 0; i < sideband_rings(sideband) && !failed; i++)
		failed = error_ignore(
			timeline_add(&s->timeline, &(struct timeline_source){ peek, take, s, i }));
	if (!failed)
		return s;
	lookahead_free(s);
	return NULL;
}

void lookahead_free(struct lookahead *s)
{
	if (!s)
		return;
	timeline_release(&s->timeline);
	spaces_free(s->spaces);
	map_release(&s->threaded);
	map_release(&s->headless);
	free(s);
}

struct spaces *lookahead_spaces(struct lookahead *s)
{
	return s->spaces;
}

struct error *lookahead_add(struct lookahead *s, uint32_t pid, const struct spaces *spaces)
{
	/* It may have other threads already. */
	return add_pid(&s->threaded, pid) ? spaces_adopt(s->spaces, pid, spaces) : error_memory();
}

uint64_t lookahead_followed(const struct lookahead *s)
{
	return s->followed;
}

/* -------- ends that no record marks -------- */

static void add_ended(uint32_t pid, void *context)
{
	if (!proc_runs(pid, NULL))
		buffer_append(context, &pid, sizeof(pid));
}

static void add_headless(const void *key, size_t size, uint64_t value, void *context)
{
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	add_ended(pid, context);
}

/*
 * Those that have ended, u32 each. All records of these are there by now, and are to be applied
 * before: one of the last may be of a child.
 */
static void find_ended(struct lookahead *s, uint64_t now_ns, struct buffer *ended)
{
	if (now_ns < s->look_ns)
		return;
	s->look_ns = now_ns + LOOK_NS;
	if (s->all)
		spaces_each(s->spaces, add_ended, ended);
	else
		map_each(&s->headless, add_headless, ended);
	s->all = false;
}

void lookahead_look_at_all(struct lookahead *s)
{
	s->look_ns = 0;
	s->all = true;
}

struct error *lookahead_run(struct lookahead *s)
{
	uint64_t now_ns = clock_now();
	struct buffer ended = { 0 };
	struct error *error;
	uint32_t pid;

	spaces_look_at_files(s->spaces);
	find_ended(s, now_ns, &ended);
	error = timeline_run_all(&s->timeline);
	for (size_t i = 0; i + sizeof(pid) <= ended.size; i += sizeof(pid)) {
		memcpy(&pid, ended.data + i, sizeof(pid));
		/* Its number may be another process's since. */
		if (!proc_runs(pid, NULL))
			end(s, pid, now_ns);
	}
	buffer_release(&ended);
	return error;
}
