/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWIND_SPACES_H
#define RECORD_UNWIND_UNWIND_SPACES_H

/*
 * The targets' executable mappings, and their publication to the kernel half as runs of
 * segments. A run is never changed: a process that changed gets a new one, and the old one
 * rests before it is used again. Forked children share their parent's run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/map.h"
#include "record/spaces/mappings.h"
#include "record/unwind/code_files.h"
#include "record/unwind/range_pool.h"

struct segment_run {
	uint32_t first, count, id;
	uint32_t users;
};

struct unwind_space {
	uint32_t pid;
	uint32_t execs;		  /* as counted by the kernel half, too */
	struct mappings mappings; /* of files */
	struct segment_run *run;  /* NULL: nothing published */
	bool dirty;
	uint64_t behind_since_ns; /* the kernel half has seen an exec that we have not; 0: no */
};

struct unwind_spaces {
	struct map by_pid; /* -> struct unwind_space * */
	struct unwind_segment *segments;
	size_t segments_size;
	struct range_pool pool;
	int processes_fd;
	uint32_t next_id;
	uint64_t now_ns;  /* of the publication that is going on */
	uint64_t refused; /* publications for which there was no room */
};

/* 0 or a negative errno; to be released in both cases. */
int unwind_spaces_init(struct unwind_spaces *s, int segments_fd, int processes_fd);
void unwind_spaces_release(struct unwind_spaces *s);

bool unwind_spaces_knows(const struct unwind_spaces *s, uint32_t pid);

void unwind_spaces_map(struct unwind_spaces *s, uint32_t pid, const struct mapping *mapping);
void unwind_spaces_unmap(struct unwind_spaces *s, uint32_t pid, uint64_t start, uint64_t end);
void unwind_spaces_fork(struct unwind_spaces *s, uint32_t parent, uint32_t child);
void unwind_spaces_exec(struct unwind_spaces *s, uint32_t pid);
void unwind_spaces_exit(struct unwind_spaces *s, uint32_t pid, uint64_t now_ns);

/* Marks the processes that have this file mapped as changed; how many those are. */
uint64_t unwind_spaces_touch(struct unwind_spaces *s, const struct code_file *file);
uint64_t unwind_spaces_users(const struct unwind_spaces *s, const struct code_file *file);

/* Publishes the processes that changed. */
void unwind_spaces_publish(struct unwind_spaces *s, uint64_t now_ns);

#endif
