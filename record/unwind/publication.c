/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/publication.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "record/system/patience.h"
#include "record/system/process_owner.h"

/* How long our count of a process's execs may lag before the kernel half's count is taken. */
#define LAG_MAX_NS UINT64_C(500000000)

/* Of those that found no room before, so many may find none again: each has searched all of it. */
#define REFUSED_AGAIN_MAX 64

struct segment_run {
	struct pool_range range;
	uint32_t id;
	uint32_t users; /* processes that have it */
	uint32_t pid;	/* the one for which it was written */
	bool asked;	/* whose that is; until then it is of root's share or nobody's */
};

/* One process. */
struct publication {
	uint32_t pid;
	uint32_t execs;		 /* as counted by the kernel half, too */
	struct layout *layout;	 /* that is published, or will be; NULL: none yet */
	struct segment_run *run; /* NULL: nothing is published */
	bool changed;		 /* the process has another layout by now */
	bool dirty;		 /* to be published */
	bool refused;		 /* was not published, or without its layout: there was no room */
	bool crowded_out;	 /* counted as such */
	bool asked;		 /* `user` is known */
	uint32_t user;
	uint64_t lag_since_ns; /* since when the kernel half counts more execs than we do; 0: no */
};

struct error *publications_init(struct publications *p, int segments_fd, int processes_fd)
{
	void *at;

	*p = (struct publications){ .processes_fd = processes_fd, .next_id = 1 };
	if (range_pool_init(&p->pool, UNWIND_MAX_SEGMENTS))
		return error_memory();
	p->segments_size = UNWIND_MAX_SEGMENTS * sizeof(*p->segments);
	at = mmap(NULL, p->segments_size, PROT_READ | PROT_WRITE, MAP_SHARED, segments_fd, 0);
	if (at == MAP_FAILED)
		return error_system(errno, "cannot map the segments of unwind tables");
	p->segments = at;
	return NULL;
}

static struct publication *find(const struct publications *p, uint32_t pid)
{
	uint64_t *value = map_get(&p->by_pid, &pid, sizeof(pid));

	return value ? (struct publication *)(uintptr_t)*value : NULL;
}

/*
 * The entry of a process, created if needed. NULL without memory: then the process has no tables.
 */
static struct publication *get(struct publications *p, uint32_t pid)
{
	uint64_t *value = map_put(&p->by_pid, &pid, sizeof(pid), NULL);
	struct publication *process;

	if (!value || *value)
		return value ? (struct publication *)(uintptr_t)*value : NULL;
	process = calloc(1, sizeof(*process));
	if (!process) {
		map_remove(&p->by_pid, &pid, sizeof(pid));
		return NULL;
	}
	process->pid = pid;
	*value = (uintptr_t)process;
	return process;
}

static void put_run(struct publications *p, struct segment_run *run, uint64_t now_ns)
{
	if (!run || --run->users)
		return;
	range_pool_give(&p->pool, &run->range, now_ns);
	free(run);
}

/* One that was not published. */
static void cancel_run(struct publications *p, struct segment_run *run)
{
	if (!run)
		return;
	range_pool_cancel(&p->pool, &run->range);
	free(run);
}

static void free_process(struct publications *p, struct publication *process, uint64_t now_ns)
{
	put_run(p, process->run, now_ns);
	layout_put(process->layout);
	free(process);
}

static void free_value(const void *key, size_t size, uint64_t value, void *context)
{
	if (value)
		free_process(context, (struct publication *)(uintptr_t)value, 0);
}

void publications_release(struct publications *p)
{
	map_each(&p->by_pid, free_value, p);
	map_release(&p->by_pid);
	range_pool_release(&p->pool);
	if (p->segments)
		munmap(p->segments, p->segments_size);
	*p = (struct publications){ 0 };
}

/* -------- what happens to processes -------- */

/*
 * The entry of a process that maps something. A child that was read from /proc before its fork was
 * seen, which then changes nothing, has a copy of its parent's count in the kernel half.
 */
static struct publication *get_mapped(struct publications *p, uint32_t pid)
{
	struct publication *process = find(p, pid);
	struct unwind_process there;

	if (process)
		return process;
	process = get(p, pid);
	if (process && !bpf_map_lookup_elem(p->processes_fd, &pid, &there))
		process->execs = there.execs;
	return process;
}

void publications_change(struct publications *p, uint32_t pid)
{
	struct publication *process = get_mapped(p, pid);

	if (process)
		process->changed = p->pending = true;
}

static void forget(struct publications *p, struct publication *process, uint64_t now_ns)
{
	map_remove(&p->by_pid, &process->pid, sizeof(process->pid));
	free_process(p, process, now_ns);
}

void publications_fork(struct publications *p, uint32_t parent, uint32_t child, uint64_t now_ns)
{
	struct publication *from = find(p, parent), *process = find(p, child);
	struct unwind_process there;

	if (!from || parent == child)
		return;
	p->pending = true;
	if (process) /* of another process, which had the pid before */
		forget(p, process, now_ns);
	process = get(p, child);
	if (!process)
		return;
	process->execs = from->execs;
	process->layout = from->layout ? layout_get(from->layout) : NULL;
	process->changed = from->changed;
	process->run = from->run;
	if (process->run)
		process->run->users++;
	/* The child got what the kernel half had for its parent at the fork, which may be less. */
	if (bpf_map_lookup_elem(p->processes_fd, &child, &there) == 0 &&
	    there.execs == process->execs)
		process->dirty = from->dirty || !process->run || there.id != process->run->id;
	else
		process->dirty = true;
}

void publications_exec(struct publications *p, uint32_t pid)
{
	struct publication *process = get(p, pid);

	if (!process)
		return;
	process->execs++;
	process->asked = false;
	process->changed = process->dirty = p->pending = true;
	/* A table that is ready before the next update must not bring the old program back. */
	layout_put(process->layout);
	process->layout = NULL;
}

void publications_exit(struct publications *p, uint32_t pid, uint64_t now_ns)
{
	struct publication *process = find(p, pid);

	if (!process)
		return;
	bpf_map_delete_elem(p->processes_fd, &pid);
	forget(p, process, now_ns);
}

/* -------- publication -------- */

void publications_segment(struct unwind_segment *segment, const struct mapping *m)
{
	const struct code_file *file = m->object->code;

	*segment = (struct unwind_segment){ .start = m->start, .end = m->end };
	if (file && file->state == CODE_FILE_WAITING)
		segment->pages = UNWIND_PAGES_WAITING;
	else if (file && file->state == CODE_FILE_REFUSED)
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

/*
 * A run is bounded, since the kernel half searches it for each frame. When there are more
 * mappings, those of files go first: the others have no tables anyway.
 */
static uint32_t choose(const struct mappings *m, bool *files_only)
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *mapping;
	uint32_t files = 0;

	*files_only = m->n > UNWIND_MAX_RUN;
	if (!*files_only)
		return (uint32_t)m->n;
	while ((mapping = mappings_next(m, &cursor)))
		files += mapping->object->code != NULL;
	return files < UNWIND_MAX_RUN ? files : UNWIND_MAX_RUN;
}

/* Whose share the next run of the process is of. */
static uint32_t payer(const struct publications *p, const struct publication *process)
{
	return process->asked			    ? process->user
	       : shares_are_scarce(&p->pool.shares) ? PATIENCE_NOBODY
						    : 0;
}

/* Whether there may be a run of so many segments beside those that there are, or still rest. */
static bool has_share(const struct publications *p, const struct publication *process,
		      uint32_t count)
{
	return shares_may_take(&p->pool.shares, payer(p, process), count);
}

/* One has found no room, after work for it. */
static void count_try(struct publications *p)
{
	if (p->tries)
		p->tries--;
}

static struct segment_run *write_run(struct publications *p, struct publication *process)
{
	const struct mappings *m = &process->layout->mappings;
	struct mapping_cursor cursor = { 0 };
	const struct mapping *mapping;
	struct segment_run *run;
	bool files_only;
	uint32_t count = choose(m, &files_only), written = 0;
	struct pool_range range = { .count = count, .user = payer(p, process) };

	if (!count || !has_share(p, process, count))
		return NULL;
	range.first = range_pool_take(&p->pool, count, range.user, p->now_ns);
	if (range.first == RANGE_POOL_NONE) {
		count_try(p);
		return NULL;
	}
	run = calloc(1, sizeof(*run));
	if (!run) {
		range_pool_cancel(&p->pool, &range);
		return NULL;
	}
	while (written < count && (mapping = mappings_next(m, &cursor)))
		if (!files_only || mapping->object->code)
			publications_segment(&p->segments[range.first + written++], mapping);
	*run = (struct segment_run){ range, p->next_id++, 1, process->pid, process->asked };
	if (!p->next_id)
		p->next_id = 1;
	return run;
}

/*
 * A layout must be of the program that runs there now. The kernel half counts a process's
 * execs, and so do we, by records that arrive later. If such a record was lost, our count
 * never gets there, so after a while the kernel half's is taken.
 */
static bool is_current(const struct publications *p, struct publication *process, uint64_t *mm)
{
	struct unwind_process there = { .execs = process->execs };

	bpf_map_lookup_elem(p->processes_fd, &process->pid, &there);
	*mm = there.mm;
	if (there.execs == process->execs) {
		process->lag_since_ns = 0;
		return true;
	}
	if (!process->lag_since_ns)
		process->lag_since_ns = p->now_ns;
	if (p->now_ns - process->lag_since_ns < LAG_MAX_NS)
		return false;
	process->execs = there.execs;
	process->lag_since_ns = 0;
	/* It may be us who brought back an exec too few, and the address space from before it. */
	*mm = 0;
	return true;
}

/* Whether the process has exec'd since is_current(): what is written now would undo that. */
static bool has_execed(const struct publications *p, const struct publication *process)
{
	struct unwind_process there = { .execs = process->execs };

	bpf_map_lookup_elem(p->processes_fd, &process->pid, &there);
	return there.execs != process->execs;
}

/* When runs that rest now have rested, or processes have ended, there may be room. */
static void refuse(struct publications *p, struct publication *process, bool crowded_out)
{
	p->crowded_out += crowded_out && !process->crowded_out;
	process->crowded_out |= crowded_out;
	process->refused = true;
	if (!p->again_ns)
		p->again_ns = p->now_ns + RANGE_POOL_REST_NS;
}

static void publish(struct publications *p, struct publication *process)
{
	struct unwind_process value;
	struct segment_run *run = NULL;
	uint64_t mm;
	int status;

	if (!process->dirty || !is_current(p, process, &mm))
		return;
	process->refused = false;
	if (process->layout && process->layout->mappings.n) {
		run = write_run(p, process);
		if (!run)
			refuse(p, process, true);
	}
	if (has_execed(p, process)) {
		cancel_run(p, run);
		return;
	}
	process->dirty = false;
	value = (struct unwind_process){ .execs = process->execs, .mm = mm };
	if (run) {
		value.first = run->range.first;
		value.count = run->range.count;
		value.id = run->id;
	}
	status = bpf_map_update_elem(p->processes_fd, &process->pid, &value, BPF_ANY);
	if (status == -ENOMEM || status == -EBUSY || status == -E2BIG) {
		/*
		 * A map that allocates finds no memory at times; or it is just being changed; or it
		 * has as many processes as it can.
		 */
		refuse(p, process, status == -E2BIG);
		if (run)
			count_try(p);
		cancel_run(p, run);
		return;
	}
	put_run(p, process->run, p->now_ns);
	process->run = run;
}

struct updating {
	struct publications *publications;
	const struct spaces *spaces;
};

/* What it has was somebody else's as long as it was not known whose process it is. */
static void learn_user(struct publications *p, struct publication *process)
{
	struct segment_run *run = process->run;

	if (process->asked)
		return;
	process->user = process_owner_user(process->pid);
	process->asked = true;
	if (!run || run->asked || run->pid != process->pid)
		return;
	run->asked = true;
	shares_give(&p->pool.shares, run->range.user, run->range.count);
	shares_take(&p->pool.shares, process->user, run->range.count);
	run->range.user = process->user;
}

uint32_t publications_user(struct publications *p, uint32_t pid)
{
	struct publication *process = get_mapped(p, pid);

	if (!process)
		return PATIENCE_NOBODY;
	learn_user(p, process);
	return process->user;
}

/* Tries one again that found no room. Who has had his share by now is not in others' way. */
static void try_again(struct publications *p, struct publication *process)
{
	bool files_only;

	if (!process->layout ||
	    has_share(p, process, choose(&process->layout->mappings, &files_only)))
		process->dirty = true;
	else if (!p->again_ns)
		p->again_ns = p->now_ns + RANGE_POOL_REST_NS;
}

static void update(const void *key, size_t size, uint64_t value, void *context)
{
	struct publication *process = (struct publication *)(uintptr_t)value;
	const struct updating *u = context;

	if (shares_are_scarce(&u->publications->pool.shares))
		learn_user(u->publications, process);
	if (process->changed) {
		struct layout *old = process->layout;

		process->layout = layout_get(spaces_layout(u->spaces, process->pid));
		layout_put(old);
		process->changed = false;
		process->dirty = true;
	}
	if (process->refused && u->publications->tries)
		try_again(u->publications, process);
	publish(u->publications, process);
	u->publications->pending |= process->dirty;
}

void publications_update(struct publications *p, const struct spaces *spaces, uint64_t now_ns)
{
	struct updating u = { p, spaces };

	p->tries = 0;
	if (p->again_ns && now_ns >= p->again_ns) {
		p->again_ns = 0;
		p->tries = REFUSED_AGAIN_MAX;
		p->pending = true;
	}
	if (!p->pending)
		return;
	p->pending = false;
	p->now_ns = now_ns;
	range_pool_expire(&p->pool, now_ns);
	map_each(&p->by_pid, update, &u);
}

static bool maps_changed(const struct publication *process)
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;

	while (process->layout && (m = mappings_next(&process->layout->mappings, &cursor)))
		if (m->object->code && m->object->code->changed)
			return true;
	return false;
}

static void refresh(const void *key, size_t size, uint64_t value, void *context)
{
	struct publication *process = (struct publication *)(uintptr_t)value;
	struct publications *p = context;

	if (!maps_changed(process))
		return;
	process->dirty = true;
	publish(p, process);
	p->pending |= process->dirty;
}

void publications_refresh(struct publications *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	range_pool_expire(&p->pool, now_ns);
	map_each(&p->by_pid, refresh, p);
}

static void count_user(const void *key, size_t size, uint64_t value, void *context)
{
	const struct publication *process = (const struct publication *)(uintptr_t)value;
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;

	while (process->layout && (m = mappings_next(&process->layout->mappings, &cursor))) {
		struct code_file *file = m->object->code;

		if (!file || file->counted_pid == process->pid)
			continue;
		file->counted_pid = process->pid;
		file->mapped_by++;
	}
}

void publications_count_users(const struct publications *p)
{
	map_each(&p->by_pid, count_user, NULL);
}
