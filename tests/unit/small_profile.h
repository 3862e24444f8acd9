/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SMALL_PROFILE_H
#define TESTS_UNIT_SMALL_PROFILE_H

/* Profiles put together by hand, frame by frame, for tests of views. */

#include "report/merge/frame_table.h"

#include <assert.h>
#include <string.h>

#define SMALL_ENTRIES 64

struct small_profile {
	struct profile profile;
	struct frame_table frames;
	struct node_tree tree;
	struct profile_group groups[8];
	struct profile_entry entries[SMALL_ENTRIES];
	struct profile_event event;
	struct profile_object object;
	struct prf_object recorded;
};

static inline void small_begin(struct small_profile *s)
{
	memset(s, 0, sizeof(*s));
	s->recorded =
		(struct prf_object){ .kind = PRF_OBJECT_FILE, .path = "/usr/bin/x", .root = "" };
	s->object = (struct profile_object){ &s->recorded, "x", "ok" };
	s->event = (struct profile_event){ .kind = PRF_EVENT_ON_CPU,
					   .name = "cpu-clock",
					   .unit = "samples",
					   .frequency = 1000,
					   .interval_ns = 1000000 };
	s->profile.events = &s->event;
	s->profile.event_count = 1;
	s->profile.objects = &s->object;
	s->profile.object_count = 1;
	s->profile.unit = "samples";
}

static inline uint32_t small_group(struct small_profile *s, const char *comm, uint32_t pid,
				   uint32_t tid)
{
	s->groups[s->profile.group_count] =
		(struct profile_group){ .comm = comm,
					.pid = pid,
					.tid = tid,
					.object = PRF_NONE,
					.cgroup = "",
					.command_line = "",
					.ns_per_sample = s->event.interval_ns };
	return (uint32_t)s->profile.group_count++;
}

/*
 * A stack given as "root;...;leaf", where "k:" begins kernel frames, "i:" inlined ones, "s:" those
 * of scripts, "m:" those with a mangled name, and "o:" those that stand for an object.
 */
static inline uint32_t small_stack(struct small_profile *s, const char *text)
{
	uint32_t node = PRF_NONE;
	char copy[512], *rest = copy, *name;

	assert(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	while ((name = strsep(&rest, ";"))) {
		struct profile_frame frame = { .linkage_name = "", .file = "", .named = true };

		if (!strncmp(name, "k:", 2))
			frame.kind = PROFILE_FRAME_KERNEL;
		if (!strncmp(name, "i:", 2))
			frame.inlined = true;
		if (!strncmp(name, "s:", 2))
			frame.kind = PROFILE_FRAME_SCRIPT;
		if (!strncmp(name, "m:", 2))
			frame.linkage_name = "_Z";
		if (!strncmp(name, "o:", 2))
			frame.named = false;
		frame.name = name + (name[0] && name[1] == ':' ? 2 : 0);
		node = node_tree_add(&s->tree, node, frame_table_add(&s->frames, &frame));
	}
	return node;
}

static inline void small_entry(struct small_profile *s, uint32_t group, const char *stack,
			       uint64_t samples)
{
	assert(s->profile.entry_count < SMALL_ENTRIES);
	s->entries[s->profile.entry_count++] = (struct profile_entry){
		group, 0, stack ? small_stack(s, stack) : PRF_NONE, samples, samples
	};
	s->profile.samples += samples;
	s->profile.total += samples;
}

struct small_stack {
	const char *stack;
	uint64_t samples;
};

/* One group with these stacks; the last one has no samples and no stack. */
static inline void small_begin_with(struct small_profile *s, const char *comm,
				    const struct small_stack *stacks)
{
	uint32_t group;

	small_begin(s);
	group = small_group(s, comm, 1, 1);
	for (; stacks->stack || stacks->samples; stacks++)
		small_entry(s, group, stacks->stack, stacks->samples);
}

#define SMALL_STACKS(...) ((const struct small_stack[]){ __VA_ARGS__, { 0 } })

static inline const struct profile *small_finish(struct small_profile *s)
{
	s->profile.frames = s->frames.frames;
	s->profile.frame_count = s->frames.count;
	s->profile.nodes = s->tree.nodes;
	s->profile.node_count = s->tree.count;
	s->profile.groups = s->groups;
	s->profile.entries = s->entries;
	return &s->profile;
}

static inline void small_end(struct small_profile *s)
{
	frame_table_release(&s->frames);
	node_tree_release(&s->tree);
}

#endif
