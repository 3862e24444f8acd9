/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_LATE_WALK_H
#define RECORD_UNWIND_LATE_WALK_H

/*
 * Goes on with walks that came too early. When a program has just been mapped, the kernel half
 * has no table for it yet; then it sends a copy of the stack with the sample (struct walk_rest),
 * and here the walk is ended by the tables that are there when the sample is taken from its ring.
 * In the first moments of a virtual machine, before it is known, its code is on the stack, too: its
 * callers are guessed as the kernel half does it, and marked so. Frames of a runtime that keeps a
 * list are in the sample already; of the native ones found here, those that run them are marked,
 * too.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "bpf/abi/unwind.h"
#include "record/spaces/space.h"

/* Sets the rule that holds at an address. False: it has no table. */
typedef bool late_walk_rule_function(void *context, const struct layout *layout, uint64_t address,
				     struct unwind_rule *rule);

/*
 * Reads 8 bytes of a process's code, which lie in that mapping. False: they cannot be read, or not
 * any more, or that might not end.
 */
typedef bool late_walk_code_function(void *context, uint32_t pid, const struct mapping *mapping,
				     uint64_t address, uint64_t *bytes);

/* The mark of a frame at that address, if it stands for frames that the runtime lists; else 0. */
typedef uint64_t late_walk_mark_function(void *context, const struct layout *layout,
					 enum script_runtime runtime, uint64_t address);

struct late_walk {
	late_walk_rule_function *rule; /* NULL: no walk goes on */
	late_walk_code_function *code;
	late_walk_mark_function *mark;
	void *context;
	/*
	 * The caller of code that the process has made itself, which has no table, may be found by
	 * what the code does next, or guessed. Not where the kernel half knew better.
	 */
	bool guesses;
	/* A struct sample with its frames. */
	__u64 room[sizeof(struct sample) / sizeof(__u64) + MAX_USER_FRAMES + MAX_KERNEL_FRAMES +
		   SCRIPT_FRAME_WORDS * MAX_SCRIPT_FRAMES + WAKER_FRAMES];
};

/* Whether a record, which holds a whole struct sample, goes on after its frames. */
static inline bool late_walk_is_wanted(const struct sample *s, uint32_t size)
{
	return size > sample_bytes(s);
}

/*
 * A record of a ring, without the copy of the stack. If the walk reaches the root, that is a longer
 * sample, valid until the next call; otherwise it is the record itself. Sets `*size`, which is that
 * of `data`. The record need not be valid; `layout` is its process's, as of its time.
 */
const void *late_walk_finish(struct late_walk *l, const struct layout *layout, const void *data,
			     uint32_t *size);

#endif
