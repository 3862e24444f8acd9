/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/world.h"

#include "record/system/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

int world_init(struct world *w, bool everything, struct kernel_symbols *kernel)
{
	*w = (struct world){ .everything = everything, .kernel = kernel };
	w->objects = objects_new();
	w->spaces = spaces_new();
	w->tasks = tasks_new();
	return w->objects && w->spaces && w->tasks ? 0 : -ENOMEM;
}

void world_release(struct world *w)
{
	tasks_free(w->tasks);
	spaces_free(w->spaces);
	objects_free(w->objects);
	kernel_symbols_free(w->kernel);
	roots_release(&w->roots);
	*w = (struct world){ 0 };
}

static int add_mapping(struct world *w, uint32_t pid, const struct proc_mapping *m)
{
	struct prf_object known = {
		.root = roots_of(&w->roots, pid),
		.deleted = m->deleted,
		.device = makedev(m->major, m->minor),
		.inode = m->inode,
	};
	if (w->jit && jit_is_dump(m->path))
		jit_dump(w->jit, pid, m->path);
	struct mapping mapping = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.object = objects_get(w->objects, m->path, &known),
	};

	return mapping.object ? spaces_map(w->spaces, pid, &mapping) : -ENOMEM;
}

static int add_mappings(struct world *w, uint32_t pid)
{
	struct buffer text = { 0 };
	struct proc_mapping m;
	char *rest;
	int status = proc_read(pid, "maps", &text);

	/* A process that is ending has none: what was there before is known from elsewhere. */
	if (!status && text.size) {
		roots_read(&w->roots, pid);
		buffer_string(&text);
		rest = buffer_ok(&text) ? (char *)text.data : NULL;
		while (!status && rest && (rest = proc_next_mapping(rest, &m)))
			if (m.executable)
				status = add_mapping(w, pid, &m);
	}
	buffer_release(&text);
	return status;
}

struct adding {
	struct world *world;
	uint32_t pid;
	int status;
};

static void add_thread(uint32_t tid, void *context)
{
	struct adding *adding = context;

	if (!adding->status)
		adding->status = tasks_add(adding->world->tasks, adding->pid, tid);
}

int world_add_process(struct world *w, uint32_t pid)
{
	struct adding adding = { .world = w, .pid = pid };
	char folder[64];
	int status;

	snprintf(folder, sizeof(folder), "/proc/%" PRIu32 "/task", pid);
	status = spaces_add(w->spaces, pid);
	if (!status)
		status = proc_each(folder, add_thread, &adding);
	if (!status)
		status = adding.status;
	if (!status)
		status = add_mappings(w, pid);
	return status == -ENOENT ? -ESRCH : status;
}

static void add_one(uint32_t pid, void *context)
{
	struct adding *adding = context;
	int status;

	if (adding->status)
		return;
	/* Whatever it is that keeps one process from being read, the others can be. */
	status = world_add_process(adding->world, pid);
	if (status == -ENOMEM)
		adding->status = status;
}

int world_add_all(struct world *w)
{
	struct adding adding = { .world = w };
	int status = proc_each("/proc", add_one, &adding);

	return status ? status : adding.status;
}

int world_add_command(struct world *w, uint32_t pid)
{
	int status = spaces_add(w->spaces, pid);

	return status ? status : tasks_add(w->tasks, pid, pid);
}

/*
 * Nothing tells of what is unmapped. A process that maps code at ever new addresses has most
 * of what is known of it no more: what it has now is read anew.
 */
static int tidy(struct world *w, uint32_t pid)
{
	int status = spaces_clear(w->spaces, pid);

	if (!status)
		status = add_mappings(w, pid);
	if (status && status != -ENOMEM)
		status = 0; /* it has ended, or cannot be read */
	if (!status && spaces_layout(w->spaces, pid)->mappings.n >= MAPPINGS_MAX)
		status = spaces_clear(w->spaces, pid);
	return status;
}

static int apply_map(struct world *w, const struct side_record *r)
{
	struct prf_object known = { .build_id_size = r->map.build_id_size };
	struct mapping mapping = {
		.start = r->map.start,
		.end = r->map.start + r->map.size,
		.offset = r->map.offset,
	};
	char name[4096];

	if (!w->everything && !spaces_knows(w->spaces, r->pid))
		return 0;
	if (spaces_layout(w->spaces, r->pid)->mappings.n >= MAPPINGS_MAX && tidy(w, r->pid))
		return -ENOMEM;
	memcpy(known.build_id, r->map.build_id, sizeof(known.build_id));
	if (!known.build_id_size) {
		known.device = makedev(r->map.major, r->map.minor);
		known.inode = r->map.inode;
	}
	snprintf(name, sizeof(name), "%s", r->name);
	known.deleted = cut_deleted(name);
	known.root = roots_of(&w->roots, r->pid);
	if (w->jit && (jit_is_dump(name) || object_is_made(name, known.build_id_size)))
		jit_begin(w->jit, r->pid, r->time_ns);
	if (w->jit && jit_is_dump(name))
		jit_dump(w->jit, r->pid, name);
	mapping.object = objects_get(w->objects, name, &known);
	return mapping.object ? spaces_map(w->spaces, r->pid, &mapping) : -ENOMEM;
}

static int apply_fork(struct world *w, const struct side_record *r)
{
	int status;

	if (!w->everything && !spaces_knows(w->spaces, r->parent_pid))
		return 0;
	status = tasks_fork(w->tasks, r->parent_tid, r->parent_pid, r->pid, r->tid, r->time_ns);
	if (!status && r->pid != r->parent_pid) {
		roots_fork(&w->roots, r->parent_pid, r->pid);
		status = spaces_fork(w->spaces, r->parent_pid, r->pid);
	}
	return status;
}

static int apply_name(struct world *w, const struct side_record *r)
{
	int status;

	if (!w->everything && !spaces_knows(w->spaces, r->pid))
		return 0;
	status = tasks_rename(w->tasks, r->pid, r->tid, r->name, r->time_ns);
	if (!status && r->type == SIDE_RECORD_EXEC) {
		if (w->jit)
			jit_exit(w->jit, r->pid, r->time_ns);
		roots_read(&w->roots, r->pid);
		status = spaces_clear(w->spaces, r->pid);
	}
	return status;
}

int world_apply(struct world *w, const struct side_record *record)
{
	switch (record->type) {
	case SIDE_RECORD_MAP: return apply_map(w, record);
	case SIDE_RECORD_COMM:
	case SIDE_RECORD_EXEC: return apply_name(w, record);
	case SIDE_RECORD_FORK: return apply_fork(w, record);
	case SIDE_RECORD_EXIT:
		if (tasks_exit(w->tasks, record->tid, record->time_ns) && w->jit)
			jit_exit(w->jit, record->pid, record->time_ns);
		return 0;
	case SIDE_RECORD_KERNEL_SYMBOL:
		if (!record->symbol.gone)
			return kernel_symbols_add(w->kernel, record->symbol.start,
						  record->symbol.size, record->name);
		kernel_symbols_remove(w->kernel, record->symbol.start);
		return 0;
	default: return 0;
	}
}

static void collect_pid(uint32_t pid, void *context)
{
	buffer_append(context, &pid, sizeof(pid));
}

/* What an exec that nobody told of has left of a process. */
static int refresh_process(struct world *w, uint32_t pid, uint64_t now_ns)
{
	const struct task *task = tasks_find(w->tasks, pid);
	char comm[COMM_BYTES];
	int status;

	if (proc_comm(pid, pid, comm, sizeof(comm)))
		return -ESRCH;
	status = !task || strcmp(task->comm, comm) ? tasks_rename(w->tasks, pid, pid, comm, now_ns)
						   : 0;
	if (!status)
		status = spaces_clear(w->spaces, pid);
	return status ? status : world_add_process(w, pid);
}

int world_refresh(struct world *w, uint64_t now_ns, void (*changed)(uint32_t pid, void *context),
		  void *context)
{
	struct buffer pids = { 0 };
	int status = w->everything ? world_add_all(w) : 0;

	spaces_each(w->spaces, collect_pid, &pids);
	for (size_t i = 0; i + sizeof(uint32_t) <= pids.size && status != -ENOMEM;
	     i += sizeof(uint32_t)) {
		uint32_t pid;

		memcpy(&pid, pids.data + i, sizeof(pid));
		status = refresh_process(w, pid, now_ns);
		if (!status && changed)
			changed(pid, context);
	}
	buffer_release(&pids);
	return status == -ENOMEM ? status : 0;
}

static void forget_process(uint32_t pid, void *context)
{
	struct world *w = context;

	roots_remove(&w->roots, pid);
	spaces_remove(w->spaces, pid);
}

void world_forget(struct world *w, uint64_t before_ns)
{
	tasks_forget(w->tasks, before_ns, forget_process, w);
}
