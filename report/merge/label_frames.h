/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_LABEL_FRAMES_H
#define REPORT_MERGE_LABEL_FRAMES_H

/*
 * Frames at the root of stacks that say whose they are, "cpu-3" or "make-12/14", for formats that
 * show frames and have no other place for it: a step after building a profile, taken only when it
 * is asked for. Starts as { 0 }.
 */

#include "report/merge/frame_table.h"

struct label_frames {
	struct node_tree tree;
	struct profile_frame *frames;
	struct text_pool texts;
};

void label_frames_release(struct label_frames *l);

/*
 * Puts what label_group() says for each of the masks, ended by 0 and at least one, below all stacks
 * of a profile that has everything else already. Its entries keep their order, its frames their
 * numbers; the new ones follow them, as PROFILE_FRAME_GROUP. `entries` are the profile's own.
 * ERROR_MEMORY; the profile points to `l` then.
 */
struct error *label_frames_add(struct label_frames *l, struct profile *p,
			       struct profile_entry *entries,
			       const unsigned int *masks) ERROR_CHECKED;

#endif
