/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_FAILURE_H
#define RECORD_FAILURE_H

#include "common/error.h"

/* Each prints what failed and a remedy, and returns the program's exit status, 1. */

#define FAILURE_MORE_FILES "; raise the limit of open files (ulimit -n)"

int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the error's text with a remedy for its cause. Frees the error. */
int fail_error(struct error *error);

/* The same for errors of the kernel half, which may come from permissions and memory limits. */
int fail_kernel(struct error *error);

#endif
