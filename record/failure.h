/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_FAILURE_H
#define RECORD_FAILURE_H

#include "common/error.h"

/* Each prints what failed and what to do about it, and returns the program's exit status, 1. */

#define FAILURE_MORE_FILES "; raise the limit of open files (ulimit -n)"

int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error's text, with the remedy for its cause; ends the error. */
int fail_error(struct error *error);

/* The same for what concerns the kernel half, where permissions and memory limits matter. */
int fail_kernel(struct error *error);

#endif
