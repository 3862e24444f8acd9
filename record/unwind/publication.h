/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_PUBLICATION_H
#define RECORD_UNWIND_PUBLICATION_H

/*
 * The layouts of processes as the kernel half has them: runs of segments. A run is never
 * changed. A process whose layout or tables changed gets a new run, and the old one rests
 * before its place is used again. Forked children share their parent's run.
 *
 * Calls are under the unwinder's lock. publications_update() and those that say what happened to
 * a process are for the thread of the spaces; the others only read layouts, which stay as they
 * are as long as they are held here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/map.h"
#include "record/spaces/space.h"
#include "record/unwind/code_files.h"
#include "record/unwind/range_pool.h"

struct publications {
	struct map by_pid; /* -> struct publication * */
	struct unwind_segment *segments;
	size_t segments_size;
	struct range_pool pool; /* of segments */
	int processes_fd;
	uint32_t next_id;
	bool pending;	      /* some process changed, or has not been published yet */
	uint64_t now_ns;      /* of the publication that is going on */
	uint64_t again_ns;    /* when those are tried again that found no room; 0: there are none */
	unsigned int tries;   /* how many of them may still find none in this update */
	uint64_t crowded_out; /* how many found none, at any time, as others had it all */
};

/* Release it even after an error. */
struct error *publications_init(struct publications *p, int segments_fd, int processes_fd);
void publications_release(struct publications *p);

/* The process's mappings have changed. */
void publications_change(struct publications *p, uint32_t pid);
void publications_fork(struct publications *p, uint32_t parent, uint32_t child, uint64_t now_ns);
void publications_exec(struct publications *p, uint32_t pid);
void publications_exit(struct publications *p, uint32_t pid, uint64_t now_ns);

/* Whose process it is: see process_owner_user(). It is asked for once for each program. */
uint32_t publications_user(struct publications *p, uint32_t pid);

/* The segment of a mapping, with the table that its file has by now. */
void publications_segment(struct unwind_segment *segment, const struct mapping *m);

/* Takes the layouts of the processes that changed, and publishes them. */
void publications_update(struct publications *p, const struct spaces *spaces, uint64_t now_ns);

/* Publishes the processes that map a file whose `changed` is set. */
void publications_refresh(struct publications *p, uint64_t now_ns);

/* Adds the number of processes that map a file to its `mapped_by`. `counted_pid` starts as 0. */
void publications_count_users(const struct publications *p);

#endif
