/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_SPACE_H
#define RECORD_SPACES_SPACE_H

/*
 * What is mapped executable where, in each followed process. This is the one place that knows:
 * samples, unwind tables, JIT compilers and language runtimes all ask here.
 *
 * A `struct spaces` is the state after some record of the kernel's side band. The recorder keeps
 * two, made of the same records and the same objects. The newest one (lookahead.h) has all
 * records that have arrived; whoever prepares the kernel half for samples to come works with it.
 * The other one (world.h) has the records up to the time of the sample that is being resolved.
 *
 * What is this address?           spaces_find(s, pid, address)
 * What does this process map?     spaces_layout(s, pid)->mappings
 * Report each file that is mapped: spaces_listen(s, &listener); the object in the mapping has
 *                                 its kind and path, and object_open() opens the very file.
 *
 * A layout is one state of one address space. It never changes once somebody else holds it, so
 * that whatever was worked out for (layout, address) stays true, and a forked child simply holds
 * its parent's. What was worked out for (id of a layout, address) stays true, too, with one
 * exception: if the layout has made code, more of it may be added where nothing was mapped.
 */

#include "common/error.h"
#include "record/capture/side_record.h"
#include "record/spaces/mappings.h"
#include "record/spaces/object.h"

struct layout {
	uint64_t id; /* never used twice in one `struct spaces`; see above */
	unsigned int users;
	uint64_t changed_ns; /* when it got that id; 0: before the recording */
	uint32_t asked;	     /* the process that was asked whose it is; 0: none was */
	bool made_code; /* maps executable memory without a file: an address means something else in
			   each process */
	struct mappings mappings;
};

/* Add and drop a reference to a layout. Reference counts are not atomic: one thread only. */
struct layout *layout_get(const struct layout *layout);
void layout_put(struct layout *layout); /* NULL is fine */

struct spaces;

/* Objects must outlive the spaces. `everything`: follow all processes. NULL without memory. */
struct spaces *spaces_new(struct objects *objects, bool everything);
void spaces_free(struct spaces *s);

/*
 * Called on each change. Each function may be NULL; it may query the spaces, but not change them. A
 * mapping is reported after it was added to the layout.
 */
struct space_listener {
	/* Something was mapped executable; `time_ns` 0: before the recording began. */
	void (*mapped)(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m);
	/* The child has its parent's layout now. */
	void (*forked)(void *context, uint32_t parent, uint32_t child);
	/*
	 * All mappings are gone: after an exec, or because records were lost and /proc is read
	 * again. Calls of mapped() for what is mapped now follow.
	 */
	void (*cleared)(void *context, uint32_t pid, uint64_t time_ns, bool by_exec);
	void (*ended)(void *context, uint32_t pid, uint64_t time_ns);
	/* No process maps it any more, and its memory will be used for other things. */
	void (*forgotten)(void *context, const struct object *object);
	void *context;
};

/* Adds a listener, which is copied. Calls it for everything that is mapped already. */
struct error *spaces_listen(struct spaces *s, const struct space_listener *listener);

/*
 * From now on files are opened before listeners are called for them; if a file does not answer,
 * they are called when it has, and the mapping is still there. Other processes' files do not wait.
 */
void spaces_prepare_files(struct spaces *s);

/* Calls listeners for an object that is about to be forgotten. */
void spaces_forget(const struct spaces *s, const struct object *object);

/* Calls listeners for files that have answered meanwhile. */
void spaces_look_at_files(struct spaces *s);

/* Mappings that listeners were never called for: too many of one process waited for files. */
uint64_t spaces_left_out(const struct spaces *s);

/*
 * Mappings that were forgotten, or never known, as they or their files did not fit: too many, or
 * their user has had his share of the memory for them.
 */
uint64_t spaces_crowded_out(const struct spaces *s);

/* How often a process did not answer when its mappings were to be read: see process_reader.h. */
uint64_t spaces_silent(const struct spaces *s);

/* Starts to follow a process, with no mappings. */
struct error *spaces_add(struct spaces *s, uint32_t pid);

/*
 * Reads /proc/PID/maps, which replaces the known mappings, and follows the process. They stay as
 * they are if the file cannot be read or the process is ending. `time_ns` is now; 0: before the
 * recording.
 */
struct error *spaces_read(struct spaces *s, uint32_t pid, uint64_t time_ns);

/* Gives the process what other spaces know of it. */
struct error *spaces_adopt(struct spaces *s, uint32_t pid, const struct spaces *from);

/* Applies a record of the side band: mappings, execs and forks. Other records change nothing. */
struct error *spaces_apply(struct spaces *s, const struct side_record *record);

/*
 * Whether the record is older than the first that was known of its process (of a FORK, the child),
 * which was read from /proc: then spaces_apply() changes nothing. That has come of it already, or
 * it is of another process that had the number before.
 */
bool spaces_have_read(const struct spaces *s, const struct side_record *record);

/*
 * The process has ended. Samples of it may still come, so its layout stays until spaces_remove().
 */
void spaces_end(struct spaces *s, uint32_t pid, uint64_t time_ns);
void spaces_remove(struct spaces *s, uint32_t pid);

bool spaces_knows(const struct spaces *s, uint32_t pid);

/*
 * Whether a process has begun an exec, and nothing is mapped yet. An exit that is recorded then may
 * be none: the kernel ends the events of a process whose exec changes its privileges, or whose new
 * program it may not read.
 */
bool spaces_are_in_exec(const struct spaces *s, uint32_t pid);

/* Whether this process is followed; always true if all are. */
bool spaces_follows(const struct spaces *s, uint32_t pid);

/* Calls `visit` for each process that is known; it must not add or remove any. */
void spaces_each(const struct spaces *s, void (*visit)(uint32_t pid, void *context), void *context);

/*
 * The process's layout; the empty one if the process is unknown. Valid until the process's next
 * change; longer with layout_get().
 */
const struct layout *spaces_layout(const struct spaces *s, uint32_t pid);

/* The mapping that holds an address of a process, or NULL. Valid as long as the layout. */
const struct mapping *spaces_find(const struct spaces *s, uint32_t pid, uint64_t address);

#endif
