/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/task.h"

#include "common/buffer.h"
#include "common/map.h"
#include "record/system/cgroup.h"
#include "record/system/namespace.h"
#include "record/system/proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of a command line is kept: it is written for each task of the trace. */
#define COMMAND_LINE_BYTES 4096

struct tasks {
	struct map by_tid; /* -> struct task * */
	struct map alive;  /* pid -> number of its threads that live */
	size_t gone;	   /* entries of threads that have ended */
};

struct tasks *tasks_new(void)
{
	return calloc(1, sizeof(struct tasks));
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	map_release_values(&t->by_tid, free);
	map_release(&t->alive);
	free(t);
}

struct task *tasks_find(struct tasks *t, uint32_t tid)
{
	uint64_t *value = map_get(&t->by_tid, &tid, sizeof(tid));

	return value ? (struct task *)(uintptr_t)*value : NULL;
}

static void count_out(struct tasks *t, struct task *task, uint64_t time_ns)
{
	uint64_t *alive = map_get(&t->alive, &task->pid, sizeof(task->pid));

	if (task->gone_ns)
		return;
	task->gone_ns = time_ns ? time_ns : 1;
	t->gone++;
	if (alive && *alive)
		--*alive;
}

/* A new entry for a thread; an older one with the same number is dropped. */
static struct task *start(struct tasks *t, uint32_t pid, uint32_t tid)
{
	uint64_t *value = map_put(&t->by_tid, &tid, sizeof(tid), NULL);
	struct task *task;

	if (!value)
		return NULL;
	if (!*value)
		*value = (uintptr_t)calloc(1, sizeof(*task));
	task = (struct task *)(uintptr_t)*value;
	if (!task)
		return NULL;
	if (task->tid) {
		count_out(t, task, 1);
		t->gone--;
	}
	*task = (struct task){ .pid = pid, .tid = tid, .id = PRF_NONE };
	value = map_put(&t->alive, &pid, sizeof(pid), NULL);
	if (!value)
		return NULL;
	++*value;
	return task;
}

struct error *tasks_add(struct tasks *t, uint32_t pid, uint32_t tid)
{
	struct task *task = tasks_find(t, tid);

	if (task && task->pid == pid && !task->gone_ns)
		return NULL;
	task = start(t, pid, tid);
	if (!task)
		return error_memory();
	proc_comm(pid, tid, task->comm, sizeof(task->comm));
	proc_status(pid, "PPid:", &task->parent_pid);
	return NULL;
}

struct ending {
	struct tasks *tasks;
	const struct side_record *record;
};

static void end_other(const void *key, size_t size, uint64_t value, void *context)
{
	struct task *task = (struct task *)(uintptr_t)value;
	const struct ending *e = context;

	if (task->pid == e->record->pid && task->tid != e->record->tid)
		count_out(e->tasks, task, e->record->time_ns);
}

/* Of the record's process, all threads but the record's have ended. */
static void end_others(struct tasks *t, const struct side_record *r)
{
	const uint64_t *alive = map_get(&t->alive, &r->pid, sizeof(r->pid));
	struct ending e = { t, r };

	if (alive && *alive > 1)
		map_each(&t->by_tid, end_other, &e);
}

struct error *tasks_fork(struct tasks *t, const struct side_record *fork)
{
	const struct task *parent = tasks_find(t, fork->parent_tid);
	uint32_t parent_pid = fork->parent_pid;
	char comm[COMM_BYTES] = "";
	struct task *task;

	if (parent) {
		memcpy(comm, parent->comm, sizeof(comm));
		/* A thread's parent is that of its process, not the thread that created it. */
		if (fork->pid == fork->parent_pid)
			parent_pid = parent->parent_pid;
	}
	task = start(t, fork->pid, fork->tid);
	if (!task)
		return error_memory();
	memcpy(task->comm, comm, sizeof(comm));
	task->parent_pid = parent_pid;
	task->start_ns = fork->time_ns;
	return NULL;
}

struct error *tasks_rename(struct tasks *t, uint32_t pid, uint32_t tid, const char *comm,
			   uint64_t time_ns)
{
	struct task *task = tasks_find(t, tid);

	if (!task || task->pid != pid || task->gone_ns) {
		task = start(t, pid, tid);
		if (!task)
			return error_memory();
		proc_status(pid, "PPid:", &task->parent_pid);
	}
	/* An exec may keep the name, but the trace's description of the process changes. */
	task->id = PRF_NONE;
	task->start_ns = time_ns;
	snprintf(task->comm, sizeof(task->comm), "%s", comm);
	return NULL;
}

struct error *tasks_exec(struct tasks *t, const struct side_record *exec)
{
	struct error *error = tasks_rename(t, exec->pid, exec->tid, exec->name, exec->time_ns);

	end_others(t, exec);
	return error;
}

bool tasks_exit(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct task *task = tasks_find(t, tid);
	uint64_t *alive;

	if (!task)
		return false;
	count_out(t, task, time_ns);
	alive = map_get(&t->alive, &pid, sizeof(pid));
	return task->pid == pid && alive && !*alive;
}

struct forgetting {
	uint32_t pid;	    /* 0: any */
	uint64_t before_ns; /* those that ended then */
	struct buffer tids; /* u32 each */
};

static void collect(const void *key, size_t size, uint64_t value, void *context)
{
	const struct task *task = (const struct task *)(uintptr_t)value;
	struct forgetting *f = context;

	if (f->pid ? task->pid == f->pid : task->gone_ns && task->gone_ns < f->before_ns)
		buffer_append(&f->tids, &task->tid, sizeof(task->tid));
}

/* Forgets the thread with this u32 as its number. Returns its process. */
static uint32_t drop(struct tasks *t, const uint8_t *number)
{
	struct task *task;
	uint32_t tid, pid;

	memcpy(&tid, number, sizeof(tid));
	task = tasks_find(t, tid);
	pid = task->pid;
	t->gone -= task->gone_ns != 0;
	map_remove(&t->by_tid, &tid, sizeof(tid));
	free(task);
	return pid;
}

void tasks_remove(struct tasks *t, uint32_t pid)
{
	const uint64_t *alive = map_get(&t->alive, &pid, sizeof(pid));
	struct forgetting f = { .pid = pid };

	if (!alive)
		return;
	if (*alive)
		map_each(&t->by_tid, collect, &f);
	for (size_t i = 0; i + sizeof(uint32_t) <= f.tids.size; i += sizeof(uint32_t))
		drop(t, f.tids.data + i);
	map_remove(&t->alive, &pid, sizeof(pid));
	buffer_release(&f.tids);
}

struct missing {
	struct tasks *tasks;
	uint64_t time_ns;
};

static void end_missing(const void *key, size_t size, uint64_t value, void *context)
{
	struct task *task = (struct task *)(uintptr_t)value;
	const struct missing *m = context;

	if (!task->gone_ns && !proc_has_thread(task->pid, task->tid))
		count_out(m->tasks, task, m->time_ns);
}

void tasks_end_missing(struct tasks *t, uint64_t time_ns)
{
	struct missing m = { t, time_ns };

	map_each(&t->by_tid, end_missing, &m);
}

void tasks_forget(struct tasks *t, uint64_t before_ns, void (*process)(uint32_t pid, void *context),
		  void *context)
{
	struct forgetting f = { .before_ns = before_ns };

	if (!t->gone)
		return;
	map_each(&t->by_tid, collect, &f);
	for (size_t i = 0; i + sizeof(uint32_t) <= f.tids.size; i += sizeof(uint32_t)) {
		uint32_t pid = drop(t, f.tids.data + i);
		uint64_t *alive = map_get(&t->alive, &pid, sizeof(pid));

		if (alive && !*alive) {
			map_remove(&t->alive, &pid, sizeof(pid));
			process(pid, context);
		}
	}
	buffer_release(&f.tids);
}

/* Writes what /proc says of the thread now, or what the side band reported if it has ended. */
static struct error *write_task(struct task *task, struct prf_writer *w)
{
	char cgroup[512], command_line[COMMAND_LINE_BYTES];
	struct prf_task definition = {
		.pid = task->pid,
		.tid = task->tid,
		.parent_pid = task->parent_pid,
		.start_ns = task->start_ns,
		.comm = task->comm,
		.cgroup = cgroup,
		.command_line = command_line,
	};

	namespace_numbers(task->pid, task->tid, &definition.inner_pid, &definition.inner_tid);
	namespace_command_line(task->pid, command_line, sizeof(command_line));
	cgroup_of(task->pid, cgroup, sizeof(cgroup));
	return prf_writer_task(w, &definition, &task->id);
}

struct error *tasks_define(struct tasks *t, struct prf_writer *w, uint32_t pid, uint32_t tid,
			   uint32_t *id)
{
	struct task *task = tasks_find(t, tid);
	struct error *error = NULL;

	if (!task || task->pid != pid) {
		error = tasks_add(t, pid, tid);
		if (error)
			return error;
		task = tasks_find(t, tid);
	}
	if (task->id == PRF_NONE)
		error = write_task(task, w);
	*id = task->id;
	return error;
}

static void forget_id(const void *key, size_t size, uint64_t value, void *context)
{
	((struct task *)(uintptr_t)value)->id = PRF_NONE;
}

void tasks_forget_ids(struct tasks *t)
{
	map_each(&t->by_tid, forget_id, NULL);
}
