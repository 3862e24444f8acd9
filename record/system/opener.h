/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_OPENER_H
#define RECORD_SYSTEM_OPENER_H

/*
 * Opens files of targets. They may be on a file system that never answers, as FUSE with a hostile
 * program behind it, or NFS without its server. The kernel then keeps the caller in open(), stat(),
 * read() and even close() of that file, against all signals, and a process whose one thread is kept
 * cannot end. So another process does it, a child of the recorder: each request has a thread there.
 *
 * The recorder never gets a file that may stop answering: of files on other than local file systems
 * it gets a copy, in memory.
 *
 * The same holds for a lock that a write of another process has, and keeps if the memory that it
 * writes from is such a file (OPENING_QUIET, -EAGAIN if it does not end soon).
 *
 * No user can keep others' files from being opened: few questions are open for the processes of one
 * user. If the process is killed, opener_look() starts another one.
 *
 * Before opener_start(), and after opener_stop(), files are opened in the caller. For any thread.
 */

#include <stdint.h>

#include "common/error.h"
#include "record/system/opening.h"

/*
 * `warn` is called for files that do not answer, and if the process has ended, by the thread that
 * calls opener_look(). That is the thread that calls this, and must not end before opener_stop().
 */
struct error *opener_start(void (*warn)(const char *text));
/* Does not wait for what is under way. */
void opener_stop(void);

/*
 * Opens a regular file. 0 or -errno: as record/system/namespace.h; -EAGAIN if there is no answer
 * within a fraction of a second, or too many questions are open: the same call returns it after
 * opener_answers() has changed. -EFBIG: too large for a copy; -ENOMEM: other copies leave no room;
 * -EREMOTE: may stop answering, and is wanted to be read again and again; -EIO also for a file
 * that somebody has a lease on. No other error stands for "later".
 */
int opener_open(const struct opening *what, struct open_file *file);

/* The same for a path of the recorder's own root, of any owner. */
static inline int opener_open_path(const char *path, struct open_file *file)
{
	const struct opening what = { .kind = OPENING_PATH, .uid = OPENING_ANY_UID, .path = path };

	return opener_open(&what, file);
}

/* Takes answers that have arrived, warns of those that are overdue, and restarts the process. */
void opener_look(uint64_t now_ns);

/* Readable when an answer has arrived; -1: not started. */
int opener_fd(void);

/* Changes whenever a call that returned -EAGAIN may return something else. */
uint64_t opener_answers(void);

#endif
