/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_DESCENDANTS_H
#define RECORD_SYSTEM_DESCENDANTS_H

/* The children of processes, their children, and so on, as far as their parents live. */

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The descendants of `n` processes that live now and are none of them, except our own process and
 * its children. The caller frees `*found`, an array of `*count` numbers.
 */
struct error *descendants_find(const uint32_t *pids, size_t n, uint32_t **found,
			       size_t *count) ERROR_CHECKED;

/*
 * The same where the kernel keeps no lists of children (CONFIG_PROC_CHILDREN): by the parents of
 * all processes of the machine.
 */
struct error *descendants_by_parents(const uint32_t *pids, size_t n, uint32_t **found,
				     size_t *count) ERROR_CHECKED;

#endif
