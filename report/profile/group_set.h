/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_GROUP_SET_H
#define REPORT_PROFILE_GROUP_SET_H

/*
 * The groups in which a tally counts, each once. Groups are told apart by a key, which has the text
 * of all that the caller distinguishes. A group has parts, which differ in one number: there may be
 * many, and they are asked for with each sample, so they have no text.
 */

#include "common/map.h"
#include "format/prf.h"

#include <stddef.h>
#include <stdint.h>

/* Samples that are counted together. `task` is that of the first sample. */
struct tally_group {
	const struct prf_task *task; /* the trace's; after tally_join() a copy */
	uint32_t trace;
	uint32_t event; /* index into tally_events() */
	uint32_t cpu;
	uint32_t parallelism; /* see struct parallel_sample; 0 without PROFILE_BY_PARALLELISM */
};

/* What parts a group further: numbers that differ from sample to sample of a task. */
enum group_part { GROUP_PART_CPU, GROUP_PART_PARALLELISM, GROUP_PARTS };

struct group_set {
	struct tally_group *groups; /* by number */
	size_t n, capacity;
	struct map numbers;
	/* The last part that was asked for. */
	struct {
		uint32_t base, number, group;
	} last[GROUP_PARTS];
};

void group_set_init(struct group_set *s);
void group_set_release(struct group_set *s);

#define GROUP_KEY_MIN 10 /* bytes; those of parts are shorter */

/*
 * The number of the group with this key, which becomes a copy of `group` if it is new; PRF_NONE
 * without memory, and beyond 16 million groups.
 */
uint32_t group_set_add(struct group_set *s, const void *key, size_t size,
		       const struct tally_group *group);

/* The number of the part of group `base` that has this number; PRF_NONE as above. */
uint32_t group_set_part(struct group_set *s, uint32_t base, enum group_part part, uint32_t number);

#endif
