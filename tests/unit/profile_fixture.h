/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PROFILE_FIXTURE_H
#define TESTS_UNIT_PROFILE_FIXTURE_H

/*
 * A small profile for tests of the formats: three threads of two commands, inlined and kernel
 * frames, names that try to break out of every format, two slices of time and some loss.
 *
 *   server 100/100   main;middle_[i];leaf_[i]                5 samples in slice 0, 2 in slice 1
 *   server 100/100   main;write;ksys_write_[k]               3 in slice 1
 *   server 100/101   main;<script>...;"a;b"...               4 in slice 0
 *   server 100/101   no frames                               1 in slice 1
 *   </script> 200/200   main                                 6 in slice 1
 */

#include "report/tables/view.h"

static const struct prf_object
	fixture_recorded[] = {
		{ .kind = PRF_OBJECT_FILE,
		  .path = "/usr/bin/server",
		  .root = "",
		  .build_id = { 0xab, 0xcd, 0xef, 1,  2,  3,  4,  5,  6,  7,
				8,    9,    10,	  11, 12, 13, 14, 15, 16, 17 },
		  .build_id_size = 20 },
		{ .kind = PRF_OBJECT_KERNEL, .path = "[kernel]", .root = "" },
	};

static const struct profile_object fixture_objects[] = {
	{ &fixture_recorded[0], "server", "ok" },
	{ &fixture_recorded[1], "[kernel]", "ok" },
};

#define FIXTURE_SCRIPT "<script>alert(1)</script><!-- @data@ -->"
#define FIXTURE_BROKEN "a;b x 5\n\x1b[31m\"\\\xff\xc0\x80 tail"

enum {
	FRAME_MAIN,
	FRAME_MIDDLE,
	FRAME_LEAF,
	FRAME_WRITE,
	FRAME_KERNEL,
	FRAME_SCRIPT,
	FRAME_BROKEN,
	FRAMES
};

#define FRAME(text, linkage, from, where, ...)                                                     \
	{                                                                                          \
		.name = text, .linkage_name = linkage, .file = from, .object = where,              \
		.named = true, __VA_ARGS__                                                         \
	}
static const struct profile_frame fixture_frames[FRAMES] = {
	[FRAME_MAIN] = FRAME("main", "", "main.c", 0, .line = 12, .start_line = 10,
			     .offset = 0x1010),
	[FRAME_MIDDLE] = FRAME("middle", "", "main.c", 0, .line = 7, .start_line = 5,
			       .offset = 0x1010, .inlined = true),
	[FRAME_LEAF] = FRAME("leaf", "", "leaf.h", 0, .line = 3, .start_line = 2, .offset = 0x1010,
			     .inlined = true),
	[FRAME_WRITE] = FRAME("write", "", "", 0, .offset = 0x2000),
	[FRAME_KERNEL] = FRAME("ksys_write", "", "", 1, .offset = 0x300,
			       .kind = PROFILE_FRAME_KERNEL),
	[FRAME_SCRIPT] = FRAME(FIXTURE_SCRIPT, "_Z6scriptv", "", 0, .offset = 0x3000),
	[FRAME_BROKEN] = FRAME(FIXTURE_BROKEN, "", "", 0, .offset = 0x4000),
};

enum {
	NODE_MAIN,
	NODE_MIDDLE,
	NODE_LEAF,
	NODE_WRITE,
	NODE_KERNEL,
	NODE_SCRIPT,
	NODE_BROKEN,
	NODES
};

static const struct profile_node fixture_nodes[NODES] = {
	[NODE_MAIN] = { PRF_NONE, FRAME_MAIN, 1 },
	[NODE_MIDDLE] = { NODE_MAIN, FRAME_MIDDLE, 2 },
	[NODE_LEAF] = { NODE_MIDDLE, FRAME_LEAF, 3 },
	[NODE_WRITE] = { NODE_MAIN, FRAME_WRITE, 2 },
	[NODE_KERNEL] = { NODE_WRITE, FRAME_KERNEL, 3 },
	[NODE_SCRIPT] = { NODE_MAIN, FRAME_SCRIPT, 2 },
	[NODE_BROKEN] = { NODE_SCRIPT, FRAME_BROKEN, 3 },
};

#define GROUP(name, process, thread)                                                               \
	{                                                                                          \
		.comm = name, .pid = process, .tid = thread, .cgroup = "", .command_line = "",     \
		.object = PRF_NONE, .ns_per_sample = 1000000                                       \
	}
static const struct profile_group fixture_groups[] = {
	GROUP("</script>", 200, 200),
	GROUP("server", 100, 100),
	GROUP("server", 100, 101),
};

static const struct profile_entry fixture_entries[] = {
	{ 0, 1, NODE_MAIN, 6, 6 },   { 1, 0, NODE_LEAF, 5, 5 },	  { 1, 1, NODE_LEAF, 2, 2 },
	{ 1, 1, NODE_KERNEL, 3, 3 }, { 2, 0, NODE_BROKEN, 4, 4 }, { 2, 1, PRF_NONE, 1, 1 },
};

/* Each entry is of one slice. */
static const struct profile_part fixture_parts[] = {
	{ 0, 1, 6 }, { 1, 0, 5 }, { 2, 1, 2 }, { 3, 1, 3 }, { 4, 0, 4 }, { 5, 1, 1 },
};

static const struct profile_event fixture_events[] = {
	{ .kind = PRF_EVENT_ON_CPU,
	  .name = "cpu-clock",
	  .unit = "samples",
	  .frequency = 1000,
	  .interval_ns = 1000000 },
};

static const struct profile_loss fixture_losses[] = {
	{ .from_ns = 1050000000,
	  .to_ns = 1150000000,
	  .cpu = PRF_NONE,
	  .reason = PRF_LOSS_RING_FULL,
	  .count = 9 },
};

static const struct profile_trace fixture_traces[] = {
	{ .path = "</title>.prf",
	  .host = "host",
	  .kernel = "6.1",
	  .arch = "x86_64",
	  .command_line = "prof-record -a",
	  .start_ns = 1000000000,
	  .duration_ns = 200000000,
	  .realtime_ns = 1700000000000000000,
	  .complete = true },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct profile fixture = {
	.frames = fixture_frames,
	.nodes = fixture_nodes,
	.groups = fixture_groups,
	.entries = fixture_entries,
	.parts = fixture_parts,
	.objects = fixture_objects,
	.events = fixture_events,
	.losses = fixture_losses,
	.traces = fixture_traces,
	.frame_count = FRAMES,
	.node_count = NODES,
	.group_count = COUNT(fixture_groups),
	.entry_count = COUNT(fixture_entries),
	.part_count = COUNT(fixture_parts),
	.object_count = COUNT(fixture_objects),
	.event_count = 1,
	.loss_count = 1,
	.trace_count = 1,
	.dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE | PROFILE_BY_TIME,
	.detail = PROFILE_BY_LINE | PROFILE_BY_ADDRESS,
	.value = PROFILE_SAMPLES,
	.unit = "samples",
	.samples = 21,
	.total = 21,
	.lost = 9,
	.slice_ns = 100000000,
};

/* A profile without anything in it. */
static const struct profile fixture_empty = { .unit = "samples", .dimensions = PROFILE_BY_THREAD };

#endif
