/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_OUTERMOST_H
#define REPORT_PROFILE_OUTERMOST_H

/*
 * Recursion has several nodes of one function in a stack. Where samples are added up with those of
 * the nodes called, only the outermost of them counts, so that each sample counts once.
 */

#include "report/profile/profile.h"

/*
 * By node: whether it has a number, and none between it and the root has the same. Numbers are
 * below n; PRF_NONE: it has none. To be freed; NULL without memory.
 */
bool *outermost_nodes(const struct profile *p, const uint32_t *number, size_t n);

#endif
