/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_OPENER_PROCESS_H
#define RECORD_SYSTEM_OPENER_PROCESS_H

/*
 * The process that opens files for the recorder; see opener.h. Messages of a socket that keeps
 * their bounds: requests, with a folder's fd if there is one, and answers, with the file's.
 */

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "record/system/opening.h"

/* Questions that are open at a time, at most. Each may keep a thread. */
#define OPENER_OPEN_MAX 32

struct opener_request {
	uint64_t id;
	int folder; /* the sender's number of it */
	enum opening_kind kind;
	uint32_t pid;
	uint64_t start, end;
	uint32_t uid;
	bool in_folder;
	uint64_t folder_device, folder_inode;
	char path[PATH_MAX];
};

struct opener_answer {
	uint64_t id;
	int error; /* -errno */
	bool copied;
	struct stat status;
};

/* Sends one message, with an fd unless that is -1. 0 or -errno. */
int opener_send(int socket, const void *message, size_t size, int fd, int flags);
/* Receives one; its size, 0 at the end, or -errno. `*fd` is -1 without one. */
ssize_t opener_receive(int socket, void *message, size_t size, int *fd, int flags);

/* Answers a request here. Its folder's fd is valid here. */
void opener_process_answer(const struct opener_request *request, struct opener_answer *answer,
			   int *fd);

/* Answers requests until the other end of the socket is closed. */
_Noreturn void opener_process_run(int socket);

#endif
