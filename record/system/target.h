/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_TARGET_H
#define RECORD_SYSTEM_TARGET_H

/*
 * The targets that a recording waits for: running processes or threads, held by pidfd so that a
 * reused number is never mistaken for them, or a command that the recorder starts. Where pidfds are
 * not available (seccomp filters, valgrind), their folders in /proc are held open instead; those
 * detect reuse, too, but cannot be polled.
 */

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	int *pidfds; /* of `ids`, or fds of folders in /proc; -1 once it has ended */
	bool folders;
	uint32_t *ids; /* processes or threads that are waited for */
	size_t n, alive;
	uint32_t *pids; /* the processes that they belong to, each once */
	size_t pid_count;
	pid_t command;	     /* 0: none */
	bool paced;	     /* the command is not a target: it says how long the recording takes */
	const char *program; /* of the command */
	int go_fd;	     /* writing a byte lets the command start; -1 afterwards */
	int error_fd;	     /* receives the errno of a failed exec */
	bool reaped;
	int wait_status; /* of the command, once reaped */
};

/* Starts empty. */
void target_init(struct target *t);

/* A command that was not started is killed; one that runs is left running. */
void target_release(struct target *t);

/* ERROR_ARGUMENT: there is no such process, or it is a thread of another one. */
struct error *target_add_process(struct target *t, uint32_t pid);

/* ERROR_ARGUMENT: there is no such thread. Its process may outlive it. */
struct error *target_add_thread(struct target *t, uint32_t tid);

struct target_command {
	char **argv; /* must stay */
	/* The child calls it before the exec; false with errno: it cannot be run. May be NULL. */
	bool (*prepare)(const void *context);
	const void *context;
};

/* Forks a child that execs the command at target_go(). It is a target, unless `paced` is set
 * before. */
struct error *target_add_command(struct target *t, const struct target_command *command);

/* Lets the command begin. The errno of an error is that of execvp(3). */
struct error *target_go(struct target *t);

/* To be called when a pidfd became readable, and from time to time: notes which targets ended. */
void target_look(struct target *t);

/* Whether there is nothing left to wait for. */
bool target_has_ended(const struct target *t);

/* Waits up to `ms` for the command's end; -1: for ever. True when it ended. */
bool target_wait(struct target *t, int ms);

/* Sends the command a signal, which it gets even when it is stopped. */
void target_ask(struct target *t, int signal);

/* The signal that killed the command, or 0. */
int target_killed_by(const struct target *t);

/* The command's status as a shell gives it: 128 + signal when it was killed. */
int target_exit_status(const struct target *t);

#endif
