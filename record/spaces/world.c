/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/world.h"

#include "common/buffer.h"
#include "common/clock.h"
#include "common/sorted.h"
#include "record/system/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error *world_init(struct world *w, bool everything, struct kernel_symbols *kernel)
{
	*w = (struct world){ .everything = everything, .kernel = kernel };
	w->objects = objects_new();
	w->spaces = w->objects ? spaces_new(w->objects, everything) : NULL;
	w->tasks = tasks_new();
	return w->spaces && w->tasks ? NULL : error_memory();
}

void world_release(struct world *w)
{
	tasks_free(w->tasks);
	spaces_free(w->spaces);
	objects_free(w->objects);
	kernel_symbols_free(w->kernel);
	buffer_release(&w->stale);
	*w = (struct world){ 0 };
}

struct adding {
	struct world *world;
	uint32_t pid;
	struct error *error;
};

static void add_thread(uint32_t tid, void *context)
{
	struct adding *adding = context;

	if (!adding->error)
		adding->error = tasks_add(adding->world->tasks, adding->pid, tid);
}

/* Reads a process's mappings and threads. */
static struct error *read_process(struct world *w, uint32_t pid, uint64_t time_ns)
{
	struct adding adding = { .world = w, .pid = pid };
	char folder[64];
	int status;

	snprintf(folder, sizeof(folder), "/proc/%" PRIu32 "/task", pid);
	status = proc_each(folder, add_thread, &adding);
	if (status)
		return error_system(status == -ENOENT ? ESRCH : status, "cannot read %s", folder);
	return adding.error ? adding.error : spaces_read(w->spaces, pid, time_ns);
}

struct error *world_add_process(struct world *w, uint32_t pid)
{
	return read_process(w, pid, 0);
}

static void add_one(uint32_t pid, void *context)
{
	struct adding *adding = context;
	struct error *error;

	if (adding->error)
		return;
	error = read_process(adding->world, pid, 0);
	if (error && error->kind == ERROR_MEMORY)
		adding->error = error;
	else
		error_free(error); /* it has ended, or it cannot be read but others can */
}

struct error *world_add_all(struct world *w)
{
	struct adding adding = { .world = w };
	int status = proc_each("/proc", add_one, &adding);

	return adding.error ? adding.error : status ? error_system(status, "/proc") : NULL;
}

struct error *world_add_command(struct world *w, uint32_t pid)
{
	struct error *error = spaces_add(w->spaces, pid);

	return error ? error : tasks_add(w->tasks, pid, pid);
}

static struct error *apply_name(struct world *w, const struct side_record *r)
{
	struct error *error;

	if (!spaces_follows(w->spaces, r->pid))
		return NULL;
	error = r->type == SIDE_RECORD_EXEC
			? tasks_exec(w->tasks, r)
			: tasks_rename(w->tasks, r->pid, r->tid, r->name, r->time_ns);
	return error ? error : spaces_apply(w->spaces, r);
}

/* Of a process that had the new one's number: the record of its end may have been lost. */
static void end_before(struct world *w, const struct side_record *fork)
{
	if (spaces_knows(w->spaces, fork->pid))
		spaces_end(w->spaces, fork->pid, fork->time_ns);
	spaces_remove(w->spaces, fork->pid);
	tasks_remove(w->tasks, fork->pid);
}

static struct error *apply_fork(struct world *w, const struct side_record *r)
{
	const bool is_process = r->pid != r->parent_pid;
	const bool was_read = is_process && spaces_have_read(w->spaces, r);
	struct error *error;

	if (is_process && !was_read)
		end_before(w, r);
	/* The record before may be of the end of another process that had its number. */
	if (!spaces_follows(w->spaces, r->parent_pid))
		return was_read ? tasks_add(w->tasks, r->pid, r->tid) : NULL;
	error = tasks_fork(w->tasks, r);
	return error ? error : spaces_apply(w->spaces, r);
}

struct error *world_apply(struct world *w, const struct side_record *r)
{
	switch (r->type) {
	case SIDE_RECORD_MAP: return spaces_apply(w->spaces, r);
	case SIDE_RECORD_COMM:
	case SIDE_RECORD_EXEC: return apply_name(w, r);
	case SIDE_RECORD_FORK: return apply_fork(w, r);
	case SIDE_RECORD_EXIT:
		if (spaces_are_in_exec(w->spaces, r->pid) && proc_runs(r->pid, NULL))
			return NULL;
		if (tasks_exit(w->tasks, r->pid, r->tid, r->time_ns) &&
		    !spaces_have_read(w->spaces, r))
			spaces_end(w->spaces, r->pid, r->time_ns);
		return NULL;
	case SIDE_RECORD_KERNEL_SYMBOL:
		if (!r->symbol.gone)
			return kernel_symbols_add(w->kernel, r->symbol.start, r->symbol.size,
						  r->name);
		kernel_symbols_remove(w->kernel, r->symbol.start);
		return NULL;
	default: return NULL;
	}
}

/* A process that is to be read again. */
struct stale {
	uint32_t pid, mappings; /* as far as they are known */
};

static void collect(uint32_t pid, void *context)
{
	struct world *w = context;
	const struct stale s = { pid, (uint32_t)spaces_layout(w->spaces, pid)->mappings.n };

	buffer_append(&w->stale, &s, sizeof(s));
}

static void collect_other(uint32_t pid, void *context)
{
	struct world *w = context;

	if (!spaces_knows(w->spaces, pid))
		collect(pid, w);
}

static int by_mappings(const void *left, const void *right)
{
	const struct stale *a = left, *b = right;

	return SORTED_BY_TWO(a, b, mappings, pid);
}

struct error *world_refresh(struct world *w)
{
	int status = 0;

	buffer_release(&w->stale);
	w->read_again = 0;
	spaces_each(w->spaces, collect, w);
	if (w->everything)
		status = proc_each("/proc", collect_other, w);
	/* Nobody's many mappings keep the processes of others waiting. */
	if (w->stale.size)
		qsort(w->stale.data, w->stale.size / sizeof(struct stale), sizeof(struct stale),
		      by_mappings);
	return status ? error_system(status, "/proc") : NULL;
}

bool world_is_stale(const struct world *w)
{
	return w->read_again < w->stale.size / sizeof(struct stale);
}

/* Reads a process's name and mappings again: an exec may have replaced both without a record. */
static struct error *refresh_process(struct world *w, uint32_t pid, uint64_t now_ns)
{
	const struct task *task = tasks_find(w->tasks, pid);
	struct error *error = NULL;
	char comm[COMM_BYTES];

	/* It may have ended since, and its number be a stranger's. */
	if (!spaces_knows(w->spaces, pid))
		return w->everything ? read_process(w, pid, now_ns)
				     : error_system(ESRCH, "process %" PRIu32, pid);
	if (proc_comm(pid, pid, comm, sizeof(comm)))
		return error_system(ESRCH, "process %" PRIu32, pid);
	if (!task || strcmp(task->comm, comm))
		error = tasks_rename(w->tasks, pid, pid, comm, now_ns);
	return error ? error : read_process(w, pid, now_ns);
}

struct error *world_refresh_some(struct world *w, uint64_t now_ns, uint64_t until_ns,
				 void (*changed)(uint32_t pid, void *context), void *context)
{
	struct error *error = NULL;
	struct stale next;
	uint64_t time_ns;

	do {
		if (!world_is_stale(w))
			break;
		memcpy(&next, w->stale.data + w->read_again++ * sizeof(next), sizeof(next));
		/* Not earlier: records of what happened before this one is read are to come. */
		time_ns = clock_now();
		error = refresh_process(w, next.pid, time_ns);
		if (!error && changed)
			changed(next.pid, context);
		/*
		 * A process that has ended meanwhile keeps its mappings: samples of it may still
		 * come.
		 */
		if (error && error->kind != ERROR_MEMORY) {
			error_free(error);
			error = NULL;
		}
	} while (!error && time_ns < until_ns);
	if (!world_is_stale(w))
		tasks_end_missing(w->tasks, now_ns);
	return error;
}

struct forgetting {
	struct spaces *spaces;
	uint64_t before_ns;
};

static void forget_process(uint32_t pid, void *context)
{
	const struct forgetting *f = context;

	/* The record of its end may have been lost. */
	spaces_end(f->spaces, pid, f->before_ns);
	spaces_remove(f->spaces, pid);
}

void world_forget(struct world *w, uint64_t before_ns)
{
	struct forgetting f = { w->spaces, before_ns };

	tasks_forget(w->tasks, before_ns, forget_process, &f);
}
