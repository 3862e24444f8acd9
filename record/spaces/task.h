/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_TASK_H
#define RECORD_SPACES_TASK_H

/*
 * Threads and their names as of some record of the side band, and their numbers in the trace.
 */

#include "common/error.h"
#include "format/prf.h"
#include "record/capture/side_record.h"

#define COMM_BYTES 16

struct task {
	uint32_t pid, tid, parent_pid;
	uint64_t start_ns; /* when it got this name; 0: before the recording */
	uint64_t gone_ns;  /* when it exited; 0: it has not */
	char comm[COMM_BYTES];
	uint32_t id; /* in the trace; PRF_NONE until a sample needs it */
};

struct tasks;

struct tasks *tasks_new(void);
void tasks_free(struct tasks *t);

/* The thread, or NULL. Valid until the next call that may add or remove one. */
struct task *tasks_find(struct tasks *t, uint32_t tid);

/* Adds a thread that existed before the recording; its name is read from /proc unless known. */
struct error *tasks_add(struct tasks *t, uint32_t pid, uint32_t tid);

/* A record of type SIDE_RECORD_FORK: a new thread, or a process with its first one. */
struct error *tasks_fork(struct tasks *t, const struct side_record *fork);

struct error *tasks_rename(struct tasks *t, uint32_t pid, uint32_t tid, const char *comm,
			   uint64_t time_ns);

/*
 * A record of type SIDE_RECORD_EXEC: the process has this thread only. If another one than the
 * first ran the program, it has the number of the first now, and no record of its own end.
 */
struct error *tasks_exec(struct tasks *t, const struct side_record *exec);

/*
 * A thread that ended still has samples during its teardown in the kernel, so it is kept until
 * tasks_forget(). True when no other thread of its process is known to be alive. One that was known
 * as another process's, as the record of its fork was lost, says nothing of that.
 */
bool tasks_exit(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time_ns);

/*
 * The process's number is another one's from now on. If some of its threads have not ended, the
 * records of that were lost, and all are forgotten; else they stay until tasks_forget().
 */
void tasks_remove(struct tasks *t, uint32_t pid);

/*
 * For when records were lost: all threads that are not there any more have ended. The records of
 * their ends may still come.
 */
void tasks_end_missing(struct tasks *t, uint64_t time_ns);

/* Forgets threads that ended before a time, and calls `process` for each process that is gone. */
void tasks_forget(struct tasks *t, uint64_t before_ns, void (*process)(uint32_t pid, void *context),
		  void *context);

/* Sets the trace's number of a thread. A thread that no record named is looked up in /proc. */
struct error *tasks_define(struct tasks *t, struct prf_writer *w, uint32_t pid, uint32_t tid,
			   uint32_t *id);

/* To be called when another trace begins: no thread has a number in it. */
void tasks_forget_ids(struct tasks *t);

#endif
