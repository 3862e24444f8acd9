/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_RUNTIMES_H
#define BPF_ABI_RUNTIMES_H

/*
 * Runtimes: programs that run programs in a language of their own, and keep frames for them. The
 * recorder recognises them and stores what the kernel half must know of a process in the map
 * `scripts`. Those of runtimes that keep their frames aside are first noted in the array
 * `script_lists`, by tgid modulo SCRIPT_LISTS, so that all others pay no more than a look there.
 */

#include <linux/types.h>

#define SCRIPT_MAX_PROCESSES 4096
#define SCRIPT_IMAGE_BY_TIME (1U << 31) /* in an image's number: given by the kernel half */
#define SCRIPT_LISTS 4096		/* a power of two */
#define SCRIPT_SENT_BITS 16
#define SCRIPT_SENT (1 << SCRIPT_SENT_BITS) /* slots of the map `script_sent` */

/* Of what identifies code: the upper SCRIPT_SENT_BITS are its slot. */
static inline __u64 script_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

enum script_runtime {
	SCRIPT_NONE = 0,
	SCRIPT_PYTHON = 1,  /* bpf/abi/python.h */
	SCRIPT_HOTSPOT = 2, /* bpf/abi/hotspot.h */
	SCRIPT_V8 = 3,	    /* bpf/abi/v8.h */
	SCRIPT_RUBY = 4,    /* bpf/abi/ruby.h */
	SCRIPT_PHP = 5,	    /* bpf/abi/php.h */
	SCRIPT_RUNTIMES
};

/* Those that keep their frames in a list aside: bpf/abi/script.h. */
static inline int script_has_list(__u32 runtime)
{
	return runtime == SCRIPT_PYTHON || runtime == SCRIPT_RUBY || runtime == SCRIPT_PHP;
}

/* Of a process, by its tgid. A forked child gets a copy; exec removes it. */
struct script_process {
	__u32 runtime;	      /* enum script_runtime */
	__u32 image;	      /* no two programs with the same runtime have the same */
	__u64 parameters[18]; /* the runtime's own */
};

/*
 * A file that holds a runtime with frames aside, by struct unwind_file_key: a process that maps its
 * code has the runtime before the recorder has learned of the mapping.
 */
#define SCRIPT_MAX_FILES 256

struct script_file {
	__u64 delta; /* from offsets of its code in the file to link-time addresses */
	__u32 runtime;
	__u32 reserved;
	struct script_process process; /* with link-time addresses, and SCRIPT_NONE */
};

#endif
