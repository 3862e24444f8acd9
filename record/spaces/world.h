/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_WORLD_H
#define RECORD_SPACES_WORLD_H

/*
 * What is known of the recorded machine at one moment of the timeline: its processes, what
 * they have mapped, their threads' names, and the kernel's symbols. Begins as a snapshot of
 * /proc and then follows the side band.
 */

#include "record/capture/side_record.h"
#include "record/spaces/roots.h"
#include "record/spaces/space.h"
#include "record/spaces/task.h"
#include "record/symbols/jit.h"
#include "record/symbols/kernel_symbols.h"

#define MAPPINGS_MAX 65536 /* of code, known of one process; the kernel allows about as many */

struct world {
	struct objects *objects;
	struct spaces *spaces;
	struct tasks *tasks;
	struct kernel_symbols *kernel;
	struct roots roots;
	struct jit *jit; /* not ours; NULL: nobody wants names of made code */
	bool everything; /* processes that nobody named are followed too (-a) */
};

/* Takes over `kernel`. 0 or -ENOMEM; to be released in both cases. */
int world_init(struct world *w, bool everything, struct kernel_symbols *kernel);
void world_release(struct world *w);

/*
 * Learns of a process that runs already, from /proc; the side band must be running, so that
 * nothing is missed in between. -ESRCH when it is gone.
 */
int world_add_process(struct world *w, uint32_t pid);

/* All processes there are. */
int world_add_all(struct world *w);

/* A child of ours that will exec: everything before that is none of the user's business. */
int world_add_command(struct world *w, uint32_t pid);

/* The next record of the side band, in order of time. 0 or -ENOMEM. */
int world_apply(struct world *w, const struct side_record *record);

/*
 * Records of the side band were lost: what is known of mappings and names may be wrong. Asks
 * /proc again, for all processes that live, and calls `changed` for each (unless NULL).
 * 0 or -ENOMEM.
 */
int world_refresh(struct world *w, uint64_t now_ns, void (*changed)(uint32_t pid, void *context),
		  void *context);

/* Forgets what ended before a time. */
void world_forget(struct world *w, uint64_t before_ns);

#endif
