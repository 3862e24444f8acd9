/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_OBJECT_FILE_H
#define BENCH_KERNEL_OBJECT_FILE_H

/*
 * A BPF object file, loaded into the kernel: all its programs, or those that were asked for. The
 * others are not loaded, as an object often has programs for other kernels than this one.
 */

#include "bench/kernel/program.h"

struct object_file {
	struct bpf_object *object;
	struct program **programs; /* as they stand in the file */
	size_t count;
	double load_ns; /* from opening the file to having all in the kernel */
};

/*
 * `names`: with commas between them; NULL: all. When the kernel refuses, the error has what it says
 * about it.
 */
struct error *object_file_load(struct object_file *o, const char *path,
			       const char *names) ERROR_CHECKED;
void object_file_release(struct object_file *o);

#endif
