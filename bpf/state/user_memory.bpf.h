/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_USER_MEMORY_BPF_H
#define BPF_STATE_USER_MEMORY_BPF_H

/*
 * How the walk reads the walked task's memory: WALK_READ_USER(to, size, from) is not 0 when the
 * memory is not there. By default that is the current task's memory; a program that walks
 * another task defines WALK_READ_USER before it includes any header of the walk.
 */

#ifndef WALK_READ_USER
#include <bpf/bpf_helpers.h>
#define WALK_READ_USER(to, size, from) bpf_probe_read_user(to, size, (void *)(from))
#define WALKS_CURRENT 1
#else
#define WALKS_CURRENT 0
#endif

#endif
