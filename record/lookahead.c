/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/lookahead.h"

#include "common/map.h"
#include "record/spaces/object.h"
#include "record/system/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct lookahead {
	struct sideband *sideband;
	struct unwinder *unwinder;
	struct jit *jit;
	struct java *java; /* NULL: nobody wants to know */
	struct timeline timeline;
	struct map known; /* targets' pids */
	struct map
		threaded; /* pids that may have more than one thread -> whether the first ended */
	bool everything;
	bool changed; /* the unwinder was told something */
};

static bool follows(const struct lookahead *s, uint32_t pid)
{
	return s->everything || map_get(&s->known, &pid, sizeof(pid));
}

static void tell_map(struct lookahead *s, const struct side_record *r)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", r->name);
	cut_deleted(path);
	if (s->jit && jit_is_dump(path))
		jit_foresee(s->jit, r->pid, r->time_ns, path);
	else if (s->jit && object_is_made(path, r->map.build_id_size))
		jit_foresee(s->jit, r->pid, r->time_ns, NULL);
	if (s->java)
		java_map(s->java, r->pid, r->map.start, r->map.offset, path);
	unwinder_map(s->unwinder, &(struct unwinder_mapping){
					  .pid = r->pid,
					  .start = r->map.start,
					  .end = r->map.start + r->map.size,
					  .file_offset = r->map.offset,
					  .path = path,
					  .build_id = r->map.build_id_size ? r->map.build_id : NULL,
					  .build_id_size = r->map.build_id_size,
				  });
	s->changed = true;
}

/*
 * Threads that are not the first one outlive it now and then, and nothing says which thread
 * is the last. The folder of threads has two links more than it has entries.
 */
static bool has_other_threads(uint32_t pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	return !stat(path, &status) && status.st_nlink > 3;
}

static void tell_exit(struct lookahead *s, const struct side_record *r)
{
	uint64_t *headless = map_get(&s->threaded, &r->pid, sizeof(r->pid));

	if (!follows(s, r->pid) || (r->pid != r->tid && !(headless && *headless)))
		return;
	if (headless && has_other_threads(r->pid)) {
		*headless = true;
		return;
	}
	map_remove(&s->threaded, &r->pid, sizeof(r->pid));
	map_remove(&s->known, &r->pid, sizeof(r->pid));
	unwinder_exit(s->unwinder, r->pid);
	if (s->jit)
		jit_foresee_exit(s->jit, r->pid);
	if (s->java)
		java_forget(s->java, r->pid);
	s->changed = true;
}

static void tell_fork(struct lookahead *s, const struct side_record *r)
{
	if (!follows(s, r->parent_pid))
		return;
	if (r->pid == r->parent_pid) {
		map_put(&s->threaded, &r->pid, sizeof(r->pid), NULL);
		return;
	}
	if (!s->everything)
		map_put(&s->known, &r->pid, sizeof(r->pid), NULL);
	unwinder_fork(s->unwinder, r->parent_pid, r->pid);
	s->changed = true;
}

static void tell(struct lookahead *s, const struct side_record *r)
{
	switch (r->type) {
	case SIDE_RECORD_MAP:
		if (follows(s, r->pid))
			tell_map(s, r);
		break;
	case SIDE_RECORD_EXEC:
		if (follows(s, r->pid)) {
			unwinder_exec(s->unwinder, r->pid);
			if (s->jit)
				jit_foresee_exec(s->jit, r->pid);
			if (s->java)
				java_forget(s->java, r->pid);
			s->changed = true;
		}
		break;
	case SIDE_RECORD_FORK: tell_fork(s, r); break;
	case SIDE_RECORD_EXIT: tell_exit(s, r); break;
	default: break;
	}
}

static uint64_t peek(void *context, size_t number)
{
	return sideband_peek_ahead(((struct lookahead *)context)->sideband, number);
}

static int take(void *context, size_t number)
{
	struct lookahead *s = context;
	struct side_record record;

	if (sideband_take_ahead(s->sideband, number, &record))
		tell(s, &record);
	return 0;
}

struct lookahead *lookahead_new(struct sideband *sideband, struct unwinder *unwinder,
				struct jit *jit, bool everything)
{
	struct lookahead *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sideband = sideband;
	s->unwinder = unwinder;
	s->jit = jit;
	s->everything = everything;
	for (size_t i = 0; i < sideband_rings(sideband); i++)
		if (timeline_add(&s->timeline, &(struct timeline_source){ peek, take, s, i })) {
			lookahead_free(s);
			return NULL;
		}
	return s;
}

void lookahead_free(struct lookahead *s)
{
	if (!s)
		return;
	timeline_release(&s->timeline);
	map_release(&s->known);
	map_release(&s->threaded);
	free(s);
}

void lookahead_follow_java(struct lookahead *s, struct java *java)
{
	s->java = java;
}

int lookahead_add(struct lookahead *s, uint32_t pid, const struct layout *layout)
{
	if (!map_put(&s->known, &pid, sizeof(pid), NULL) ||
	    !map_put(&s->threaded, &pid, sizeof(pid), NULL))
		return -ENOMEM;
	for (size_t i = 0; i < layout->mappings.n; i++) {
		const struct mapping *m = &layout->mappings.list[i];
		const struct prf_object *object = &m->object->definition;

		if (s->java)
			java_map(s->java, pid, m->start, m->offset, object->path);
		unwinder_map(s->unwinder,
			     &(struct unwinder_mapping){
				     .pid = pid,
				     .start = m->start,
				     .end = m->end,
				     .file_offset = m->offset,
				     .path = object->path,
				     .build_id = object->build_id_size ? object->build_id : NULL,
				     .build_id_size = object->build_id_size,
			     });
		s->changed = true;
	}
	return 0;
}

void lookahead_run(struct lookahead *s)
{
	timeline_run(&s->timeline, UINT64_MAX);
	if (s->changed)
		unwinder_flush(s->unwinder);
	s->changed = false;
}
