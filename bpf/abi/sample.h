/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_SAMPLE_H
#define BPF_ABI_SAMPLE_H

/*
 * What the kernel half sends to prof-record: one struct sample per stack, through a BPF ring
 * buffer, with its exact length. Both halves include this header; nothing else defines the
 * layout.
 */

#include <linux/types.h>

#define MAX_USER_FRAMES 512
#define MAX_KERNEL_FRAMES 127
#define MAX_SCRIPT_FRAMES 512
#define WAKER_FRAMES 64 /* of a waker; those farther from the leaf are cut off */

/* Why the user walk ended; enum prf_stack_end has the same values (record/trace/resolver.c). */
enum walk_end {
	WALK_ROOT = 0,
	WALK_NO_TABLE = 1,
	WALK_BAD_READ = 2,
	WALK_TOO_DEEP = 3,
	WALK_UNSUPPORTED = 4,
	WALK_NO_REGISTERS = 5,
	WALK_NO_MAPPING = 6,
	WALK_FRAME_POINTER = 7,
	WALK_RUNTIME_CODE = 8,
	WALK_RUNTIME_FRAME = 9,
	WALK_NO_USER_STACK = 255, /* a kernel thread, or --no-user: nothing to walk */
};

/* Marks on user frames, in the high bits of the address, which user space never has. */
#define FRAME_EXACT (1ULL << 63)   /* the pc itself (leaf, interrupted by a signal) */
#define FRAME_GUESSED (1ULL << 62) /* found by frame pointer for want of a table */
#define FRAME_SCRIPT (1ULL << 61)  /* a runtime's frame: the next struct script_frame says which */
#define FRAME_EVALUATES (1ULL << 60) /* the evaluation loop of a runtime with frames aside */
#define FRAME_LOOP_PART (1ULL << 59) /* the function that holds that loop, if it is another one */
#define FRAME_ADDRESS                                                                              \
	(~(FRAME_EXACT | FRAME_GUESSED | FRAME_SCRIPT | FRAME_EVALUATES | FRAME_LOOP_PART))

/*
 * A frame of a runtime that runs a program of its own (bpf/abi/runtimes.h). Those of runtimes whose
 * frames lie on the stack belong to the user frames with FRAME_SCRIPT, one each, in order.
 * Other runtimes keep a list of their own aside: its frames belong to no user frame, and come
 * leaf first, too. A process has one runtime, so a sample has frames of one kind only.
 */
struct script_frame {
	__u64 code;	/* which code, with marks of the runtime's */
	__u64 position; /* where in it; also identifies the code at its address */
};

/* Words of the frames that they take. */
#define SCRIPT_FRAME_WORDS (sizeof(struct script_frame) / 8)

/* As script_flags. */
#define SCRIPT_CUT 1   /* there are more frames than MAX_SCRIPT_FRAMES, or one was not readable */
#define SCRIPT_WAITS 2 /* the thread waits for the runtime's lock */

struct sample {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 weight;  /* in the event's unit */
	__u32 pid;     /* tgid in the initial pid namespace */
	__u32 tid;
	__u32 cpu;
	__u16 event;	   /* index into the recorder's table of events */
	__u8 walk_end;	   /* enum walk_end */
	__u8 waker_frames; /* of the last section of frames[] */
	__u16 kernel_frames;
	__u16 user_frames;
	__u32 state;	 /* off-CPU: the task state it left the CPU with; 0: preempted */
	__u32 waker_pid; /* the waker, if there are waker_frames */
	__u32 waker_tid;
	__u16 script_frames;
	__u8 script_runtime; /* enum script_runtime: whose frames they are */
	__u8 script_flags;   /* SCRIPT_... */
	__u32 giver_bytes;   /* of the sample that follows this one's frames; 0: none */
	/*
	 * Sections, one after the other, each leaf first: user_frames user addresses with their
	 * marks; kernel_frames kernel addresses; script_frames of struct script_frame;
	 * waker_frames kernel addresses of the waker. If the waker is a target, a sample of it may
	 * follow: its user frames, and those of its list.
	 */
	__u64 frames[];
};

/* Words of frames[] that are in use. */
static inline __u64 sample_words(const struct sample *s)
{
	return (__u64)s->user_frames + s->kernel_frames + SCRIPT_FRAME_WORDS * s->script_frames +
	       s->waker_frames;
}

/* With what was sampled together with it. */
static inline __u64 sample_bytes(const struct sample *s)
{
	return sizeof(*s) + sample_words(s) * 8 + s->giver_bytes;
}

#define WALK_REST_BYTES 24576
#define WALK_REST_BLOCK 2048 /* the copy begins at a multiple of it */

/*
 * Follows the frames of a sample whose walk came to code that the kernel half has no table for yet:
 * what the recorder needs to go on with the walk from the last user frame, once it has the table.
 */
struct walk_rest {
	__u64 sp, fp, base, link; /* registers in the last user frame */
	__u64 start;		  /* address of `stack` */
	__u32 bytes;		  /* of `stack` that were copied and sent */
	__u32 base_lost;
	__u8 stack[WALK_REST_BYTES];
};

/* Counted for each CPU and class: fired = sent + the sum of lost. */
enum sample_loss {
	SAMPLE_LOST_RING_FULL = 0,
	SAMPLE_LOST_RING_BUSY = 1, /* the ring's lock was held by what was interrupted */
	SAMPLE_LOST_NESTED = 2,	   /* the class's scratch was in use on this CPU */
	SAMPLE_LOST_SKIPPED = 3,   /* ticks of a timer that did not come: bpf/tasks/ticks.bpf.h */
	SAMPLE_LOST_COUNT
};

/* Programs that can interrupt each other are of different classes. */
enum sample_class {
	CLASS_TIMER,  /* perf events and tracepoints: the kernel runs one of them at a time */
	CLASS_SWITCH, /* at context switches */
	CLASS_PROBE,  /* uprobes, which are preemptible, and kprobes */
	CLASS_COUNT
};

#define SAMPLE_EVENTS_MAX 64
#define PERIOD_OF_EVENT (~0ULL)

/* Which ticks of a timer are samples. */
enum tick_mode { TICK_ANY, TICK_USER, TICK_KERNEL };

/*
 * The cookie of a perf event's program: the event's number, and how many events were opened up to
 * this one. The latter distinguishes a timer from the one that its CPU had before it went offline.
 */
#define TICK_COOKIE(event, opened) ((__u64)(opened) << 32 | (event))

#define CPU_MASK_WORDS 64 /* of 64 CPUs each */

struct sample_counters {
	__u64 busy; /* programs of the class that run on this CPU now; used by the kernel half only
		     */
	__u64 fired;
	__u64 sent;
	__u64 lost[SAMPLE_LOST_COUNT];
};

_Static_assert(sizeof(struct sample) == 56, "struct sample is part of the ABI between the halves");
_Static_assert(sizeof(struct walk_rest) == 48 + WALK_REST_BYTES,
	       "struct walk_rest is part of the ABI between the halves");

#endif
