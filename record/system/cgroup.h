/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_CGROUP_H
#define RECORD_SYSTEM_CGROUP_H

/*
 * Control groups, version 2: the one to sample (-G), and those of tasks. A group is named by its
 * path below the mount point ("/system.slice/x.service"), or by the full path of its folder.
 */

#include "common/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup {
	uint64_t id;	       /* as bpf_get_current_cgroup_id() gives it */
	char path[PATH_MAX];   /* below the mount point, "/" for the root */
	char folder[PATH_MAX]; /* full path of its folder */
};

/* Fails when no cgroup2 is mounted, for a path that is no group, and for groups of v1. */
struct error *cgroup_find(struct cgroup *cgroup, const char *path);

/* The v2 group of a process from /proc; "" when it has none or is gone. */
void cgroup_of(uint32_t pid, char *path, size_t size);

/* Mount point of cgroup2. 0, or -1 when it is not mounted. */
int cgroup_mount_point(char *path, size_t size);

#endif
