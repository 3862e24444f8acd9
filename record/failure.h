/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_FAILURE_H
#define RECORD_FAILURE_H

/* Each reports what failed and what to do about it, and returns the program's exit status. */

#define FAILURE_MORE_FILES "; raise the limit of open files (ulimit -n)"

int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "cannot WHAT: ..."; `status` is -errno. */
int explain(const char *what, int status);

/* A trace file that cannot be written; `status` is -errno. */
int trace_failed(const char *path, int status);

#endif
