/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PROGRAM_ATTACH_H
#define BENCH_KERNEL_PROGRAM_ATTACH_H

/*
 * Attaches a program of an object file to what runs it. libbpf does that where the section name is
 * sufficient, as for a tracepoint, kprobe, uprobe or raw tracepoint. XDP, tc and socket filters
 * need an interface, cgroup programs a cgroup; perf_event programs get a clock on each CPU.
 */

#include "bench/kernel/program.h"

struct program_place {
	const char *interface; /* XDP, tc, socket filter */
	const char *cgroup;    /* a folder below /sys/fs/cgroup */
};

struct program_attachment;

/* ERROR_FAILED where the place is missing or does not fit the type of program. */
struct error *program_attach(struct program_attachment **attachment, const struct program *program,
			     const struct program_place *place) ERROR_CHECKED;

/*
 * Whether a signal came while a program was attached that would outlive this process: the caller
 * detaches it, and has no result.
 */
bool program_interrupted(void);

/* Detaches it; NULL is allowed. */
void program_detach(struct program_attachment *attachment);

#endif
