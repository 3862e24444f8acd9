/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_WALK_UNWIND_REST_BPF_H
#define BPF_WALK_UNWIND_REST_BPF_H

/*
 * What the recorder needs to go on with a walk that came too early: a library was mapped a moment
 * ago, and its table is not there yet. Without this, the first milliseconds of each program would
 * have stacks that are cut off.
 */

#include "bpf/state/kernel.h"

#include <bpf/bpf_helpers.h>

#include "bpf/abi/sample.h"
#include "bpf/state/walk_state.bpf.h"

/*
 * Appends struct walk_rest to the complete sample in that scratch. Returns its size; 0: there is no
 * room. A global function, so that the verifier checks its loop once.
 */
__noinline int walk_put_rest(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct walk_rest *rest;
	__u64 at, bytes = 0, top = 0; /* of the first thread's stack */

	if (!w)
		return 0;
	bpf_probe_read_kernel(&top, sizeof(top), &((struct mm_struct *)w->mm)->start_stack);
	at = sample_words(walk_sample(w));
	if (at > WALK_MAX_FRAMES)
		return 0;
	rest = (struct walk_rest *)&w->room[WALK_SAMPLE_WORDS + at];
	rest->sp = w->sp;
	rest->fp = w->fp;
	rest->base = w->base;
	rest->link = w->link;
	rest->base_lost = w->base_lost;
	rest->start = w->sp & ~(WALK_REST_BLOCK - 1ULL);
	for (; bytes < WALK_REST_BYTES; bytes += WALK_REST_BLOCK)
		if (rest->start + bytes - top < WALK_REST_BLOCK ||
		    WALK_READ_USER(rest->stack + bytes, WALK_REST_BLOCK, rest->start + bytes))
			break;
	rest->bytes = bytes;
	return (int)(sizeof(*rest) - WALK_REST_BYTES + bytes);
}

#endif
