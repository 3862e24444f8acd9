/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_TARGET_H
#define RECORD_SYSTEM_TARGET_H

/*
 * Whom a recording is about, as far as it must be waited for: processes or threads that run
 * already, held by pidfd so that a reused number is never mistaken for them, or a command that the
 * recorder starts. Where pidfds are not to be had (seccomp filters, valgrind) their folders
 * in /proc are held, which does the same but wakes nobody.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
	int *pidfds; /* of `ids`, or folders in /proc; -1 once it ended */
	bool folders;
	uint32_t *ids; /* processes, or threads: what is waited for */
	size_t n, alive;
	uint32_t *pids; /* the processes it is all about, each once */
	size_t pid_count;
	pid_t command; /* 0: none */
	int go_fd;     /* a byte lets the command begin; -1 once it has */
	int error_fd;  /* errno of a failed exec comes out here */
	bool reaped;
	int wait_status; /* of the command, once reaped */
};

/* Starts empty. */
void target_init(struct target *t);

/* A command that was never let go is killed; one that runs goes on running. */
void target_release(struct target *t);

/* -ESRCH: no such process; -EINVAL: a thread, whose process is `*process`. */
int target_add_process(struct target *t, uint32_t pid, uint32_t *process);

/* -ESRCH: no such thread. Its process may go on when it has ended. */
int target_add_thread(struct target *t, uint32_t tid);

/*
 * Forks a child that will exec `argv` when target_go() says so. `prepare` runs in it right
 * before the exec. 0 or -errno.
 */
int target_add_command(struct target *t, char **argv, void (*prepare)(void));

/* Lets the command begin. 0, or the -errno with which it could not be run. */
int target_go(struct target *t);

/* To be called when a pidfd became readable, and now and then: notes who ended. */
void target_look(struct target *t);

/* Waits up to `ms` for the command's end; -1: for ever. True when it ended. */
bool target_wait(struct target *t, int ms);

/* Sends the command a signal, which it gets even when it is stopped, and waits as target_wait()
 * does. */
bool target_ask(struct target *t, int signal, int ms);

/* The signal that killed the command, or 0. */
int target_killed_by(const struct target *t);

/* The command's status as a shell gives it: 128 + signal when it was killed. */
int target_exit_status(const struct target *t);

#endif
