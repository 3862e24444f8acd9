/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwind_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

/* How long we may lag behind the kernel half's count of execs before we take over its count. */
#define BEHIND_NS UINT64_C(500000000)

int unwind_spaces_init(struct unwind_spaces *s, int segments_fd, int processes_fd)
{
	void *at;

	*s = (struct unwind_spaces){ .processes_fd = processes_fd, .next_id = 1 };
	if (range_pool_init(&s->pool, UNWIND_MAX_SEGMENTS))
		return -ENOMEM;
	s->segments_size = UNWIND_MAX_SEGMENTS * sizeof(*s->segments);
	at = mmap(NULL, s->segments_size, PROT_READ | PROT_WRITE, MAP_SHARED, segments_fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	s->segments = at;
	return 0;
}

static struct unwind_space *space_of(const struct unwind_spaces *s, uint32_t pid)
{
	uint64_t *value = map_get(&s->by_pid, &pid, sizeof(pid));

	return value ? (struct unwind_space *)(uintptr_t)*value : NULL;
}

bool unwind_spaces_knows(const struct unwind_spaces *s, uint32_t pid)
{
	return space_of(s, pid) != NULL;
}

static struct unwind_space *get_space(struct unwind_spaces *s, uint32_t pid)
{
	uint64_t *value = map_put(&s->by_pid, &pid, sizeof(pid), NULL);
	struct unwind_space *space;

	if (!value || *value)
		return value ? (struct unwind_space *)(uintptr_t)*value : NULL;
	space = calloc(1, sizeof(*space));
	if (!space) {
		map_remove(&s->by_pid, &pid, sizeof(pid));
		return NULL;
	}
	space->pid = pid;
	*value = (uintptr_t)space;
	return space;
}

static void put_run(struct unwind_spaces *s, struct segment_run *run, uint64_t now_ns)
{
	if (!run || --run->users)
		return;
	range_pool_give(&s->pool, run->first, run->count, now_ns);
	free(run);
}

static void free_space(const void *key, size_t size, uint64_t value, void *context)
{
	struct unwind_space *space = (struct unwind_space *)(uintptr_t)value;

	if (!space)
		return;
	put_run(context, space->run, 0);
	mappings_release(&space->mappings);
	free(space);
}

void unwind_spaces_release(struct unwind_spaces *s)
{
	map_each(&s->by_pid, free_space, s);
	map_release(&s->by_pid);
	range_pool_release(&s->pool);
	if (s->segments)
		munmap(s->segments, s->segments_size);
	*s = (struct unwind_spaces){ 0 };
}

/* -------- mappings -------- */

void unwind_spaces_map(struct unwind_spaces *s, uint32_t pid, const struct mapping *mapping)
{
	struct unwind_space *space = get_space(s, pid);

	if (!space || space->mappings.n + 2 > UNWIND_MAX_RUN ||
	    !mappings_are_changed_by(&space->mappings, mapping))
		return;
	space->dirty |= !mappings_add(&space->mappings, mapping);
}

void unwind_spaces_unmap(struct unwind_spaces *s, uint32_t pid, uint64_t start, uint64_t end)
{
	struct unwind_space *space = get_space(s, pid);

	if (space && space->mappings.n < UNWIND_MAX_RUN)
		space->dirty |= !mappings_remove(&space->mappings, start, end);
}

void unwind_spaces_fork(struct unwind_spaces *s, uint32_t parent, uint32_t child)
{
	struct unwind_space *from = space_of(s, parent), *space;
	struct unwind_process there;

	if (!from || parent == child)
		return;
	unwind_spaces_exit(s, child, 0); /* a pid that is used again */
	space = get_space(s, child);
	if (!space || mappings_copy(&space->mappings, &from->mappings))
		return;
	space->execs = from->execs;
	space->run = from->run;
	if (space->run)
		space->run->users++;
	/* The kernel half gave the child what it had for the parent then, which may be less. */
	if (bpf_map_lookup_elem(s->processes_fd, &child, &there) == 0 &&
	    there.execs == space->execs)
		space->dirty = from->dirty || !space->run || there.id != space->run->id;
	else
		space->dirty = true;
}

void unwind_spaces_exec(struct unwind_spaces *s, uint32_t pid)
{
	struct unwind_space *space = get_space(s, pid);

	if (!space)
		return;
	space->mappings.n = 0;
	space->execs++;
	space->dirty = true;
}

void unwind_spaces_exit(struct unwind_spaces *s, uint32_t pid, uint64_t now_ns)
{
	struct unwind_space *space = space_of(s, pid);

	if (!space)
		return;
	map_remove(&s->by_pid, &pid, sizeof(pid));
	if (now_ns)
		bpf_map_delete_elem(s->processes_fd, &pid);
	free_space(NULL, 0, (uintptr_t)space, s);
}

/* -------- publication -------- */

static void fill_segment(struct unwind_segment *segment, const struct mapping *m)
{
	const struct code_file *file = m->file;

	*segment = (struct unwind_segment){ .start = m->start, .end = m->end };
	if (file && file->state != CODE_FILE_READY && file->state != CODE_FILE_BARE)
		segment->pages = UNWIND_PAGES_MISSING;
	if (!file || file->state != CODE_FILE_READY)
		return;
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct table_segment *t = &file->segments[i];
		uint64_t page_offset = t->offset & ~UINT64_C(4095);

		if (m->offset < page_offset || m->offset >= t->offset + t->size)
			continue;
		segment->base = m->start - (t->address + (m->offset - t->offset) - file->base);
		segment->first_page = file->stored.first_page;
		segment->pages = file->stored.pages;
		return;
	}
}

static struct segment_run *write_run(struct unwind_spaces *s, const struct unwind_space *space,
				     uint64_t now_ns)
{
	struct segment_run *run;
	uint32_t first = range_pool_take(&s->pool, (uint32_t)space->mappings.n, now_ns);

	if (first == RANGE_POOL_NONE)
		return NULL;
	run = calloc(1, sizeof(*run));
	if (!run) {
		range_pool_give(&s->pool, first, (uint32_t)space->mappings.n, now_ns);
		return NULL;
	}
	for (size_t i = 0; i < space->mappings.n; i++)
		fill_segment(&s->segments[first + i], &space->mappings.list[i]);
	*run = (struct segment_run){ first, (uint32_t)space->mappings.n, s->next_id++, 1 };
	if (!s->next_id)
		s->next_id = 1;
	return run;
}

/*
 * What we know of a process must be of the program that runs there now: the kernel half
 * counts the execs, and so do we, from records that arrive later.
 */
static bool is_current(struct unwind_spaces *s, struct unwind_space *space, uint64_t now_ns,
		       uint64_t *mm)
{
	struct unwind_process there = { .execs = space->execs };

	bpf_map_lookup_elem(s->processes_fd, &space->pid, &there);
	*mm = there.mm;
	if (there.execs == space->execs) {
		space->behind_since_ns = 0;
		return true;
	}
	if (!space->behind_since_ns)
		space->behind_since_ns = now_ns;
	if (now_ns - space->behind_since_ns < BEHIND_NS)
		return false;
	space->execs = there.execs;
	space->behind_since_ns = 0;
	return true;
}

static void publish(const void *key, size_t size, uint64_t value, void *context)
{
	struct unwind_space *space = (struct unwind_space *)(uintptr_t)value;
	struct unwind_spaces *s = context;
	struct unwind_process process;
	struct segment_run *run = NULL;
	uint64_t now_ns = s->now_ns, mm;

	if (!space->dirty || !is_current(s, space, now_ns, &mm))
		return;
	space->dirty = false;
	if (space->mappings.n) {
		run = write_run(s, space, now_ns);
		if (!run)
			s->refused++;
	}
	process = (struct unwind_process){ .execs = space->execs, .mm = mm };
	if (run) {
		process.first = run->first;
		process.count = run->count;
		process.id = run->id;
	}
	bpf_map_update_elem(s->processes_fd, &space->pid, &process, BPF_ANY);
	put_run(s, space->run, now_ns);
	space->run = run;
}

void unwind_spaces_publish(struct unwind_spaces *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
	map_each(&s->by_pid, publish, s);
}

static bool maps_file(const struct unwind_space *space, const struct code_file *file)
{
	for (size_t i = 0; i < space->mappings.n; i++)
		if (space->mappings.list[i].file == file)
			return true;
	return false;
}

struct touching {
	const struct code_file *file;
	bool mark;
	uint64_t users;
};

static void touch(const void *key, size_t size, uint64_t value, void *context)
{
	struct unwind_space *space = (struct unwind_space *)(uintptr_t)value;
	struct touching *t = context;

	if (!maps_file(space, t->file))
		return;
	t->users++;
	if (t->mark)
		space->dirty = true;
}

uint64_t unwind_spaces_touch(struct unwind_spaces *s, const struct code_file *file)
{
	struct touching t = { file, true, 0 };

	map_each(&s->by_pid, touch, &t);
	return t.users;
}

uint64_t unwind_spaces_users(const struct unwind_spaces *s, const struct code_file *file)
{
	struct touching t = { file, false, 0 };

	map_each(&s->by_pid, touch, &t);
	return t.users;
}
