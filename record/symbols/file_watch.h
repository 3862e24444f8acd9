/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_FILE_WATCH_H
#define RECORD_SYMBOLS_FILE_WATCH_H

/*
 * Looks at the size of files whenever they are written, in a thread of its own (inotify), so that
 * it is known to about a millisecond when a part of a file was written, however rarely the file is
 * read. Without the thread these times are less exact, and nothing else is lost.
 *
 * Files in /tmp that are named like perf maps are watched as soon as they are created, before it is
 * known whose they are. Of containers, which have another /tmp, only files that were added are
 * watched.
 */

#include "record/symbols/write_times.h"

struct file_watch;

/* Starts the thread; NULL when there can be none. */
struct file_watch *file_watch_new(void);
void file_watch_free(struct file_watch *watch);

/*
 * The open file is duplicated. Returns its number, or -1 when it cannot be watched. For at most
 * 64 files at a time.
 */
int file_watch_add(struct file_watch *watch, int fd);
void file_watch_remove(struct file_watch *watch, int number);

/* Adds what was seen since the last time to `times`. */
void file_watch_take(struct file_watch *watch, int number, struct write_times *times);

#endif
