/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_WORLD_H
#define RECORD_SPACES_WORLD_H

/*
 * The state of the recorded machine at the time of the sample that is being resolved: processes,
 * their mappings, threads' names, and the kernel's symbols. Begins as a snapshot of /proc and then
 * follows the side band.
 */

#include "common/buffer.h"
#include "record/capture/side_record.h"
#include "record/spaces/space.h"
#include "record/spaces/task.h"
#include "record/symbols/kernel_symbols.h"

struct world {
	struct objects *objects;
	struct spaces *spaces;
	struct tasks *tasks;
	struct kernel_symbols *kernel;
	bool everything;     /* follow all processes (-a) */
	struct buffer stale; /* processes that are to be read again, fewest mappings first */
	size_t read_again;   /* so many of them have been */
};

/* Takes ownership of `kernel`. Release it even after an error. */
struct error *world_init(struct world *w, bool everything, struct kernel_symbols *kernel);
void world_release(struct world *w);

/*
 * Reads a process that runs already from /proc. The side band must be running, so that nothing
 * is missed in between. error_is(error, ESRCH) when the process is gone.
 */
struct error *world_add_process(struct world *w, uint32_t pid);

/* Reads all processes of the machine. */
struct error *world_add_all(struct world *w);

/* Adds a child of ours that will exec. It has our own mappings until then; they are not added. */
struct error *world_add_command(struct world *w, uint32_t pid);

/* Applies the next record of the side band, in order of time. */
struct error *world_apply(struct world *w, const struct side_record *record);

/*
 * For when records of the side band were lost, so that mappings and names may be wrong: all
 * processes are to be read again from /proc, piece by piece, as that may take long.
 * Until then samples of them have what was known before.
 */
struct error *world_refresh(struct world *w);
/* Whether there are more of them. */
bool world_is_stale(const struct world *w);

/*
 * Reads the next one, and more until `until_ns`; calls `changed` (unless NULL) for each that lives.
 * When all have been read, the others have ended, at `now_ns`.
 */
struct error *world_refresh_some(struct world *w, uint64_t now_ns, uint64_t until_ns,
				 void (*changed)(uint32_t pid, void *context), void *context);

/* Forgets tasks and processes that ended before this time. */
void world_forget(struct world *w, uint64_t before_ns);

#endif
