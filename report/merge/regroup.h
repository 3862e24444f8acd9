/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_REGROUP_H
#define REPORT_MERGE_REGROUP_H

/*
 * The last step of building a profile: joins what the tally kept separate (events, equal names) and
 * the view does not, drops nodes and frames that nothing uses, and sorts, so that the same traces
 * always give the same profile. Starts as { 0 }.
 */

#include "report/merge/frame_table.h"
#include "report/profile/tally.h"
#include "report/profile/trace.h"

struct regroup {
	unsigned int dimensions;      /* enum profile_dimension */
	const char *const *note_keys; /* as in the profile */
	double min_percent;	      /* move entries down to where this much passes; 0: don't */
	uint64_t divide_by;	      /* of values, such that their sum is rounded only once */
	/* When samples came, and what they are worth; NULL where that is not known. */
	const struct slices *slices;
	struct slices_place *places; /* of each cell; their entries are found here */
	const struct slices_worth *worths;
	const struct trace *traces;    /* which the tally's groups name */
	const uint64_t *ns_per_sample; /* of each of the tally's groups */
	/* What entries and nodes point to; regroup_finish() reorders both. */
	struct node_tree *tree;
	struct frame_table *frames;
};

struct regrouped {
	struct profile_group *groups;
	size_t group_count, group_capacity;
	uint32_t *group_of; /* of each group of the tally */
	struct profile_entry *entries;
	size_t entry_count, entry_capacity;
	struct slices_parts parts;
	uint32_t *new_node; /* of each node of the tree, once finished; PRF_NONE: dropped */
	size_t old_nodes;
};

void regrouped_release(struct regrouped *r);

/* The groups of the tally. ERROR_MEMORY, as everywhere here. */
struct error *regroup_groups(struct regrouped *r, const struct regroup *how,
			     const struct tally_group *groups, size_t n) ERROR_CHECKED;

/* An entry with the tally's group and the tree's node; its slice is the number of the cell. */
struct error *regroup_add(struct regrouped *r, const struct profile_entry *entry) ERROR_CHECKED;

/* Fills the profile's groups, entries, nodes, frames and sums. */
struct error *regroup_finish(struct regrouped *r, const struct regroup *how,
			     struct profile *profile) ERROR_CHECKED;

/* Once finished: the profile's number of a node of the tree; PRF_NONE for none. */
uint32_t regrouped_node(const struct regrouped *r, uint32_t node);

#endif
