/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_SCRIPT_MERGE_H
#define RECORD_SCRIPTS_SCRIPT_MERGE_H

/*
 * Merges the two stacks of a runtime that keeps a list of frames of its own. It runs these frames
 * in calls of its evaluation loop, which are native frames: each of them stands for the frames of
 * the list up to the next one with SCRIPT_ENTRY, and is replaced by them. Functions that are only
 * parts of the loop have no frames for themselves, and vanish.
 *
 * While a call begins or ends, the loop is on the native stack and its frame is not in the list:
 * then there is one loop more than the list has entries, and it is the one at the leaf. So where
 * both stacks are complete they are matched from the root. Where the native stack is cut off they
 * are matched from the leaf, and the rest of the list is put at the root. Where the list is cut
 * off, loops stay whose frames it does not have, or not all.
 *
 * A leaf with SCRIPT_FRAMELESS is left out unless the stacks match: else the frame that says so may
 * not be the one that the innermost loop runs.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi/sample.h"

#define SCRIPT_MERGE_MAX (MAX_USER_FRAMES + MAX_SCRIPT_FRAMES)

enum script_match {
	SCRIPT_NO_LIST,	  /* the sample is of no process that has one */
	SCRIPT_MATCHED,	  /* each loop has its entry */
	SCRIPT_LEAF_SKEW, /* one loop more, at the leaf */
	SCRIPT_UNMATCHED, /* or one of the two is cut off */
	SCRIPT_MATCHES
};

/* A frame of the merged stack. `script` NULL: the user frame `native`. */
struct script_merged {
	const struct script_frame *script;
	__u64 native;
	bool replaces; /* the last script frame of a loop that has given its place to them */
};

/*
 * Merges the user frames with those of the list, leaf first, into `merged`, which has room for
 * SCRIPT_MERGE_MAX; `keep`: the frames of the loop stay, after those that they stand for.
 */
size_t script_merge(const struct sample *s, bool keep, struct script_merged *merged,
		    enum script_match *match);

#endif
