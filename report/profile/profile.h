/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_PROFILE_H
#define REPORT_PROFILE_PROFILE_H

/*
 * What a view gets: one or several traces, read, filtered, added up and named. A view turns
 * a profile into text or a file and needs nothing else: no reader, no symbols, no options of
 * the tally.
 *
 *     entry ──group──▶ group   (comm, pid, tid, cpu, time, ...: who)
 *       └────node────▶ node ──parent──▶ node ──▶ ... ──▶ PRF_NONE   (where)
 *                        └──frame──▶ frame   (name, object, file:line)
 *
 * Walking from an entry's node along `parent` meets the frames leaf first. A parent has a
 * lower number than its children, so one loop from 0 up (or from the end down) visits a tree
 * in order and may add up inclusive values without recursion.
 *
 * Text is bytes from outside: it may hold anything but NUL, so a view escapes what it
 * writes. No pointer is NULL unless a comment says so. All of it stays until profile_free().
 */

#include "format/prf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_frame_kind {
	PROFILE_FRAME_USER,
	PROFILE_FRAME_KERNEL,
	PROFILE_FRAME_JIT,
	PROFILE_FRAME_END, /* "[truncated]", "[incomplete]": the stack does not reach the root */
	PROFILE_FRAME_SEPARATOR, /* "-" between user and kernel, "--" before a waker's stack */
	PROFILE_FRAME_GROUP,	 /* no code: whose the stack is, where profile.led */
	PROFILE_FRAME_SCRIPT,	 /* a function of a script that a runtime runs */
};

/*
 * A function, or with PROFILE_BY_ADDRESS a place in one. An inlined function is a frame of
 * its own and lies on the function that it was inlined into; walking from the leaf, the
 * first frame that is not `inlined` is the real function of the ones before it, and has the
 * same object and offset.
 */
struct profile_frame {
	const char *name;	  /* as shown: demangled, or "[libfoo.so.1]", "[unknown]" */
	const char *linkage_name; /* as in the symbol table; "" when there is none */
	const char *file;	  /* source file; "" when not known, or when lines are not wanted */
	uint32_t line;		  /* 0: not known */
	uint32_t start_line;	  /* where the function is declared; 0: not known */
	uint32_t object;	  /* index into profile.objects, or PRF_NONE */
	uint64_t offset; /* in the object, as PROFILE_BY_ADDRESS and the like say; else 0 */
	uint8_t kind;	 /* enum profile_frame_kind */
	bool inlined;
	bool guessed; /* found by frame pointer where there was no unwind table */
	bool waker;   /* of the stack that ended a wait */
	bool named;   /* `name` is a function's name; false: it stands for an object */
};

/* The frame `frame`, called from the node `parent` (PRF_NONE: it is a root). */
struct profile_node {
	uint32_t parent;
	uint32_t frame;
	uint32_t depth; /* 1 for a root */
};

/* An object as recorded, and what became of its symbols. */
struct profile_object {
	const struct prf_object *recorded;
	const char *name;    /* the path's last part, "[kernel]", "[nf_tables]" */
	const char *symbols; /* "ok", "no file", "build-id differs", ... */
};

/*
 * Whose samples. Groups differ only in the fields that profile.dimensions selects; the other fields
 * are those of the first sample met, or 0 and "".
 */
struct profile_group {
	const char *comm;
	uint32_t pid, tid;
	uint32_t cpu;
	uint32_t parallelism; /* threads of the process that ran at the time; 0: not known */
	uint32_t event;	      /* index into profile.events */
	uint32_t trace;	      /* index into profile.traces */
	uint32_t object;      /* of the leaf; index into profile.objects, or PRF_NONE */
	const char *cgroup;
	const char *command_line;
	/*
	 * The CPU time that each of its samples stands for: the event's interval, and a share of
	 * those of lost samples; 0: none, or not the same for all of them.
	 */
	uint64_t ns_per_sample;
};

/*
 * Samples of one group on one stack, and with PROFILE_BY_TIME in one slice of time: from
 * the trace's start_ns + slice * profile.slice_ns on. Sorted by group, then node with PRF_NONE
 * before all nodes; by time instead by group, slice, and where in the slice the stack was met
 * first.
 */
struct profile_entry {
	uint32_t group;
	uint32_t slice; /* 0 without PROFILE_BY_TIME */
	uint32_t node;	/* PRF_NONE: a sample without frames */
	uint64_t samples;
	uint64_t value; /* in profile.unit */
};

/* With PROFILE_IN_PARTS: an entry's samples in one slice of time, and what they count for. */
struct profile_part {
	uint32_t entry;
	uint32_t slice; /* as above */
	uint64_t value;
};

struct profile_event {
	enum prf_event_kind kind;
	const char *name;
	const char *unit; /* of recorded weights */
	uint64_t frequency, period;
	uint64_t interval_ns; /* between two samples; 0: the weight is ns, or not time */
};

/* The part of a loss that lies in the window of time that was asked for. */
struct profile_loss {
	uint64_t from_ns, to_ns;
	uint32_t cpu; /* PRF_NONE: not known */
	enum prf_loss_reason reason;
	uint64_t count;
	uint32_t trace;
};

#define PROFILE_NOTES 4

/* What whoever recorded notes of a trace: prof-record -M KEY=VALUE. */
struct profile_label {
	const char *key, *value;
};

struct profile_trace {
	const char *path;				 /* as given; "-" for standard input */
	const char *host, *kernel, *arch, *command_line; /* "" when not known */
	const char *notes[PROFILE_NOTES];		 /* of profile.note_keys; "": none */
	const struct profile_label *labels; /* all notes but those that are the recorder's own */
	size_t label_count;
	/*
	 * When the recording began, or the part of it that was asked for: CLOCK_MONOTONIC. The
	 * first sample where the trace does not say; 0: there are none.
	 */
	uint64_t start_ns;
	uint64_t duration_ns; /* that was recorded */
	uint64_t realtime_ns; /* wall clock at start_ns, since 1970; 0: the trace does not say */
	bool complete;
};

/* Code that a trace holds, so that it can be shown without its object's file. */
struct profile_code {
	uint32_t object; /* index into profile.objects */
	const struct prf_code *recorded;
};

/* What distinguishes groups: the dimensions of a profile, bits. */
enum profile_dimension {
	PROFILE_BY_COMM = 1 << 0,
	PROFILE_BY_PID = 1 << 1,
	PROFILE_BY_TID = 1 << 2,
	PROFILE_BY_CPU = 1 << 3,
	PROFILE_BY_EVENT = 1 << 4,
	PROFILE_BY_CGROUP = 1 << 5,
	PROFILE_BY_TIME = 1 << 6,
	PROFILE_BY_TRACE = 1 << 7,
	PROFILE_BY_OBJECT = 1 << 8,
	/* The first of PROFILE_NOTES bits: what the trace notes of a key. */
	PROFILE_BY_NOTE = 1 << 9,
	PROFILE_BY_NOTES = ((1 << PROFILE_NOTES) - 1) * PROFILE_BY_NOTE,
	PROFILE_BY_PARALLELISM = PROFILE_BY_NOTE << PROFILE_NOTES,
	/* Distinguishes no groups: entries have parts, by time where that is known. */
	PROFILE_IN_PARTS = PROFILE_BY_PARALLELISM << 1,
	/* With one of these it counts when samples came. */
	PROFILE_TIMED = PROFILE_BY_TIME | PROFILE_IN_PARTS,
	PROFILE_BY_THREAD = PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID,
};

/* What distinguishes frames besides name, object and kind: bits. */
enum profile_detail {
	PROFILE_BY_LINE = 1 << 0,    /* file and line are filled */
	PROFILE_BY_ADDRESS = 1 << 1, /* offset is filled */
	PROFILE_BY_UNNAMED = 1 << 2, /* offset is filled where `named` is false */
	PROFILE_BY_FILE = 1 << 3,    /* file is filled, and start_line: at worst by a line in it */
	PROFILE_LOWEST_ADDRESS = 1 << 4, /* offset is the lowest met, not a key */
	PROFILE_BY_GUESS = 1 << 5,	 /* guessed is filled, as with PROFILE_BY_ADDRESS */
	PROFILE_GUESS_IN_NAME = 1 << 6,	 /* names of guessed frames end in " [guessed]" */
	PROFILE_INSIDE_CALL = 1 << 7,	 /* a caller's offset is that of its call's last byte */
};

enum profile_value { PROFILE_SAMPLES, PROFILE_TIME, PROFILE_WEIGHT };

struct profile {
	const struct profile_frame *frames;
	const struct profile_node *nodes;
	const struct profile_group *groups;
	const struct profile_entry *entries;
	const struct profile_part *parts; /* by group, slice, and where in it they were met first */
	const struct profile_object *objects;
	const struct profile_event *events;
	const struct profile_loss *losses;
	const struct profile_trace *traces;
	const struct profile_code *codes; /* only where a view wants them: view.code */
	const struct prf_source *sources; /* likewise */
	size_t code_count, source_count;
	size_t frame_count, node_count, group_count, entry_count, part_count;
	size_t object_count, event_count, loss_count, trace_count;

	unsigned int dimensions;	      /* enum profile_dimension */
	const char *note_keys[PROFILE_NOTES]; /* of PROFILE_BY_NOTE << i; NULL: not asked for */
	unsigned int detail;		      /* enum profile_detail */
	enum profile_value value;
	bool latency;	   /* times are divided by how many threads of the process ran */
	const char *unit;  /* of values: "samples", "us" (all times), "bytes", "events", ... */
	uint64_t samples;  /* sum over entries */
	uint64_t total;	   /* sum of values */
	uint64_t lost;	   /* samples lost while recording, in the window that was asked for */
	uint64_t slice_ns; /* length of a time slice */
	bool led; /* every stack begins with a frame that says whose it is, so none is empty */
	double min_percent; /* what the user wants left out in tables and trees; 0: nothing */
};

/* The frames of the deepest stack. */
static inline size_t profile_depth(const struct profile *p)
{
	size_t depth = 0;

	for (size_t i = 0; i < p->node_count; i++)
		depth = p->nodes[i].depth > depth ? p->nodes[i].depth : depth;
	return depth;
}

/* Between two samples of the first event that has samples here and an interval; 0: none has. */
static inline uint64_t profile_interval_ns(const struct profile *p)
{
	for (size_t i = 0; i < p->group_count; i++)
		if (p->events[p->groups[i].event].interval_ns)
			return p->events[p->groups[i].event].interval_ns;
	return 0;
}

#endif
