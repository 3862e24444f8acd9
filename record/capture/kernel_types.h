/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_KERNEL_TYPES_H
#define RECORD_CAPTURE_KERNEL_TYPES_H

/*
 * The kernel's types, reduced to what some BPF programs read of them. libbpf reads all of the
 * kernel's hundred thousand types to find the offsets of a few fields, which takes longer than
 * everything else that it does; from the reduced ones it gets the same offsets.
 */

#include "common/cursor.h"

struct btf;

/*
 * Of the kernel's types, as BTF in `kernel`, those structures and members whose names `wanted` has.
 * NULL if the BTF has something that is not known here, or without memory.
 */
struct btf *kernel_types_reduce(const struct btf *wanted, struct cursor kernel);

/* Writes those of the running kernel to a file. False if there is nothing in it that can be used.
 */
bool kernel_types_write(const struct btf *wanted, int fd);

#endif
