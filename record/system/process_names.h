/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PROCESS_NAMES_H
#define RECORD_SYSTEM_PROCESS_NAMES_H

/* Processes by name. */

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The processes that have this name now, except our own: by their comm, which the kernel
 * cuts after 15 bytes, or by the last part of the first word of their command line. Adds them to
 * the array `*pids` of `*n` numbers, which the caller frees. None found is no error.
 */
struct error *process_names_find(const char *name, uint32_t **pids, size_t *n);

#endif
