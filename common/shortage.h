/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_SHORTAGE_H
#define COMMON_SHORTAGE_H

/*
 * What was left out because the machine did not let it be read: memory or descriptors were short,
 * or a disk failed. Code that goes on without something, as if a file did not have it, notes the
 * failure where it happens; whoever asked for all of it takes the note, and can say that something
 * may be missing. Like errno, each thread has its own. A failure that is returned as an error needs
 * no note.
 */

#include <stdbool.h>

/* Whether an errno tells of the machine, not of the file as ENOENT and EACCES do. */
bool shortage_is(int os_error);

/* Such an errno as text: "out of memory", "Too many open files", ... */
const char *shortage_text(int os_error);

/* Notes such an errno, and no other. The first note stays. */
void shortage_note(int os_error);

/* Notes ENOMEM if an allocation returned NULL. Returns what it returned. */
void *shortage_check(void *memory);

/* The errno that this thread noted since the last call, 0: none. It is forgotten. */
int shortage_take(void);

#endif
