/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_WALK_STATE_BPF_H
#define BPF_STATE_WALK_STATE_BPF_H

/*
 * A walk in progress: the frame it has reached, the part of the stack that was read last, and
 * the sample that its frames go to. Shared by the steps of all kinds of code.
 */

#include "bpf/state/arch.h"
#include "bpf/state/hotspot_state.bpf.h"
#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "bpf/state/user_memory.bpf.h"
#include "bpf/state/v8_state.bpf.h"

#define WALK_WINDOW 64 /* words of the stack that are read at once */
#define WALK_CACHE_BITS 11
#define WALK_CACHE (1 << WALK_CACHE_BITS)
#define WALK_SAMPLE_WORDS (sizeof(struct sample) / 8)
#define WALK_SAMPLE_BYTES (8 * (WALK_SAMPLE_WORDS + WALK_MAX_FRAMES))
#define WALK_REST_WORDS (sizeof(struct walk_rest) / 8)
#define WALK_MAX_FRAMES                                                                            \
	(MAX_USER_FRAMES + 2 * (MAX_KERNEL_FRAMES + 1) + SCRIPT_FRAME_WORDS * MAX_SCRIPT_FRAMES)
/* A remembered search: the rule that holds at a pc of the process with that run. */
struct walk_cached {
	__u64 pc;
	__u32 run;
	__u32 rule;
};

struct walk {
	__u64 pc, sp, fp, link;
	__u64 base;		 /* another register that code uses to find its frame */
	__u32 index;		 /* of this scratch in unwind_walks */
	__u32 first, count, run; /* the process's segments */
	__u32 tgid;
	__u32 frames;
	__u64 mm;     /* the address space, as the kernel's struct */
	__u8 exact;   /* pc is where the code was interrupted, not a return address */
	__u8 guessed; /* pc was found by frame pointer */
	__u8 end;
	__u8 base_lost;
	__u8 too_early;			 /* it ended at code that the recorder may know by now */
	struct user_registers registers; /* of the interrupted frame */
	/*
	 * A copy of the stack from `window_start` on: one read of 64 words costs about as much as
	 * one of 2, and serves several frames.
	 */
	__u64 window_start;
	__u32 window_bytes;
	__u32 at; /* index in `window` of the words that read_words() got last */
	__u64 window[WALK_WINDOW];
	/* The sample, see walk_sample(), and what the walk lacks, see bpf/walk/unwind_rest.bpf.h.
	 */
	__u64 room[WALK_SAMPLE_WORDS + WALK_MAX_FRAMES + WALK_REST_WORDS];
	struct walk_cached cache[WALK_CACHE];
	__u32 script_frames; /* frames of a runtime, see bpf/runtimes/script.bpf.h */
	__u32 loops; /* not 0: some of the user frames are the loop of a runtime with a list, or may
			be */
	/* Where the innermost of these is; no address if that is code that a runtime made. */
	__u64 loop_at;
	struct script_frame scripts[MAX_SCRIPT_FRAMES];
	struct hotspot_walk hotspot;
	struct v8_walk v8;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader: CPUs x CLASS_COUNT */
	__type(key, __u32);
	__type(value, struct walk);
} unwind_walks SEC(".maps");

/* The sample in the scratch; its frames have room for WALK_MAX_FRAMES. */
static __always_inline struct sample *walk_sample(struct walk *w)
{
	return (struct sample *)w->room;
}

/* A walk's end besides those in enum walk_end: the file's table is not published (yet). */
#define WALK_NOT_YET 254

#define STEP_ON 0
#define STEP_END(w, why)                                                                           \
	({                                                                                         \
		(w)->end = (why);                                                                  \
		1;                                                                                 \
	})

/*
 * Leaves a frame of a runtime: its caller is at pc with that stack pointer. Where the runtime's
 * code has saved the caller's base register is not known: base_lost.
 */
static __always_inline int step_to_caller(struct walk *w, __u64 pc, __u64 sp)
{
	if (!pc || pc >> USER_ADDRESS_BITS || sp <= w->sp - 8 || sp & 7)
		return STEP_END(w, WALK_RUNTIME_FRAME);
	w->pc = pc;
	w->sp = sp;
	w->base_lost = 1;
	w->exact = 0;
	w->guessed = 0;
	return STEP_ON;
}

/* Word `i` of those that read_words() got last. */
static __always_inline __u64 word(const struct walk *w, __u32 i)
{
	return w->window[(w->at + i) & (WALK_WINDOW - 1)];
}

/* Reads at most 15 words of the stack, see word(). Not 0: they are not there. */
static __always_inline int read_words(struct walk *w, __u64 address, __u32 words)
{
	__u32 bytes = (words & 15) * 8;
	__u64 offset = address - w->window_start;

	if (!(offset & 7) && offset + bytes <= w->window_bytes && offset < sizeof(w->window)) {
		w->at = (__u32)offset / 8;
		return 0;
	}
	w->window_start = address;
	w->window_bytes = sizeof(w->window);
	w->at = 0;
	if (!WALK_READ_USER(w->window, sizeof(w->window), address))
		return 0;
	/* The stack may end within the window. */
	w->window_bytes = 0;
	return WALK_READ_USER(w->window, bytes, address);
}

/* Preallocated: perf_event programs may use no other hash before Linux 6.1. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIPT_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct script_process);
} scripts SEC(".maps");

/* Adds the next frame towards the root. Not 0: there is no room for it. */
static __always_inline int script_put(struct walk *w, __u64 code, __u64 position)
{
	__u32 n = w->script_frames;

	if (n >= MAX_SCRIPT_FRAMES) {
		walk_sample(w)->script_flags |= SCRIPT_CUT;
		return -1;
	}
	w->scripts[n & (MAX_SCRIPT_FRAMES - 1)] = (struct script_frame){ code, position };
	w->script_frames = n + 1;
	return 0;
}

#endif
