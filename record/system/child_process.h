/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_CHILD_PROCESS_H
#define RECORD_SYSTEM_CHILD_PROCESS_H

/*
 * Children of the recorder that do in its place what the kernel may keep them in for ever, against
 * all signals but SIGKILL. Each is asked by one end of a pair of sockets.
 */

#include <stdint.h>
#include <sys/types.h>

#include "record/system/privileges.h"

/* The number of the child's end of the sockets. */
#define CHILD_PROCESS_SOCKET 3

/*
 * The first thing that a forked child does. It has no other open file of the recorder then: pipes
 * must not stay open when the child is kept. What is typed at the terminal is for the recorder. The
 * child is as urgent as the recorder, which waits for it, and ends with it.
 */
void child_process_begin(int socket, const char *name, enum privileges_use use);

/* CPU time of a child, of all its threads, in ns; 0 if it has been waited for. */
uint64_t child_process_cpu_ns(pid_t pid);

#endif
