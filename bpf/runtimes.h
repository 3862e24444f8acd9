/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_H
#define BPF_RUNTIMES_H

/*
 * Runtimes: programs that run programs of their own, and know of their frames. The recorder
 * recognises them and puts what the kernel half must know of a process into the map `scripts`.
 * Whose process is not in there costs one look at that map.
 */

#include <linux/types.h>

#define SCRIPT_MAX_PROCESSES 4096

enum script_runtime {
	SCRIPT_NONE = 0,
};

/* Of a process, by its tgid. A forked child inherits it; with exec it is gone. */
struct script_process {
	__u32 runtime; /* enum script_runtime */
	__u32 reserved;
	__u64 parameters[16]; /* the runtime's own */
};

#endif
