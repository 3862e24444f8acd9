/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/lookahead.h"

#include "common/map.h"
#include "record/capture/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct lookahead {
	struct sideband *sideband;
	struct spaces *spaces;
	struct timeline timeline;
	struct map threaded; /* pids with several threads -> 1: the first one has ended */
	uint64_t followed;   /* records of followed processes */
};

/*
 * Other threads may outlive the first one, and no record marks the last thread of a process. The
 * link count of /proc/PID/task is the number of threads plus 2.
 */
static bool has_other_threads(uint32_t pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	return !stat(path, &status) && status.st_nlink > 3;
}

static void apply_exit(struct lookahead *s, const struct side_record *r)
{
	uint64_t *headless = map_get(&s->threaded, &r->pid, sizeof(r->pid));

	if (!spaces_follows(s->spaces, r->pid) || (r->pid != r->tid && !(headless && *headless)))
		return;
	if (headless && has_other_threads(r->pid)) {
		*headless = true;
		return;
	}
	map_remove(&s->threaded, &r->pid, sizeof(r->pid));
	spaces_end(s->spaces, r->pid, r->time_ns);
	spaces_remove(s->spaces, r->pid);
}

static struct error *apply(struct lookahead *s, const struct side_record *r)
{
	s->followed += spaces_follows(s->spaces,
				      r->type == SIDE_RECORD_FORK ? r->parent_pid : r->pid);
	if (r->type == SIDE_RECORD_EXIT)
		apply_exit(s, r);
	else if (r->type == SIDE_RECORD_FORK && r->pid == r->parent_pid &&
		 spaces_follows(s->spaces, r->pid) &&
		 !map_put(&s->threaded, &r->pid, sizeof(r->pid), NULL))
		return error_memory();
	return spaces_apply(s->spaces, r);
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
	free(s);
}

struct spaces *lookahead_spaces(struct lookahead *s)
{
	return s->spaces;
}

struct error *lookahead_add(struct lookahead *s, uint32_t pid, const struct layout *layout)
{
	/* Whether the process has other threads is checked when its first one ends. */
	if (!map_put(&s->threaded, &pid, sizeof(pid), NULL))
		return error_memory();
	return spaces_adopt(s->spaces, pid, layout);
}

uint64_t lookahead_followed(const struct lookahead *s)
{
	return s->followed;
}

struct error *lookahead_run(struct lookahead *s)
{
	spaces_look_at_files(s->spaces);
	return timeline_run_all(&s->timeline);
}
