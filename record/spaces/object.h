/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_OBJECT_H
#define RECORD_SPACES_OBJECT_H

/*
 * Things that are mapped executable: files, the vDSO, anonymous memory. Equal ones are stored once,
 * for all processes and times. Build-id, size and time are read from the file itself when it is
 * first opened, or when the first sample hits it: at that moment a process that maps it is probably
 * alive.
 */

#include "common/error.h"
#include "format/prf.h"
#include "record/spaces/code_hits.h"
#include "record/spaces/mappings.h"
#include "record/system/opener.h"

struct objects;
struct code_file;
struct map;

/* Users for whom a file that does not answer is asked for; the last one is the recorder's own. */
#define ASKERS_MAX 4

/* A process and its mapping; pid 0: none. */
struct asker {
	uint32_t pid;
	uint64_t start, end;
	uint32_t uids[ASKERS_MAX]; /* for whom it was asked for so far */
	size_t n;
};

/* Stays until it is forgotten. */
struct object {
	struct mapped mapped; /* by so many mappings, in all layouts; first: see mappings.h */
	struct prf_object definition;
	bool examined;	       /* the definition stays as it is */
	bool prepared;	       /* was opened by object_prepare() */
	bool late;	       /* had not answered when object_examine() asked, */
	uint64_t late_answers; /* which was after so many answers: see opener_answers() */
	/*
	 * Code that samples hit. Its names are written to the trace if the file cannot be found at
	 * the end.
	 */
	struct code_hits hits;
	/* At so many looks there were too many of them for what the file's owner had left. */
	uint32_t tries;
	uint32_t payer; /* of whose share it is, see objects_shares() */
	uint64_t paid;
	uint32_t idle; /* at so many looks, nobody had mapped it since the last: objects_forget() */
	struct code_file *code; /* set by the unwinder: its table; NULL: not looked up yet */
	struct asker asker;	/* for whom the file was asked for and has not answered */
	struct open_file file; /* between object_prepare() and object_let_go(); else its fd is -1 */
};

struct objects *objects_new(void);
void objects_free(struct objects *o);

/*
 * The object of a mapping with this name, as /proc/PID/maps and MMAP2 records have it:
 * "/usr/bin/x", "[vdso]", "//anon", "". `known` gives root, build-id, deleted, device and
 * inode as far as they are known; its kind and path are not looked at. `pid` is a process that maps
 * it, whose user pays for a new one. NULL without memory, or if he has had his share.
 */
struct object *objects_get(struct objects *o, const char *name, const struct prf_object *known,
			   uint32_t pid);

/* What all of them and the mappings of them may take: see LIMIT_SPACES_BYTES. */
struct shares *objects_shares(struct objects *o);

/*
 * Opens the file that a process maps at a mapping, by way of the mapping itself, so that a
 * deleted file is opened, too, or else by its name. Completes the object's definition. Sets
 * `*file`, whose fd the caller closes; it is -1 after an error. ESTALE: another file has the name
 * now. EAGAIN: the file has not answered yet; see opener.h.
 */
struct error *object_open(uint32_t pid, const struct mapping *mapping, struct open_file *file);

/* What somebody makes of files, each of which is read once: nothing (NULL) of most of them. */
struct object_reader {
	/* Closes the file. What it returns is for free(). */
	void *(*read)(void *context, const struct open_file *file, const char *path);
	void *context;
};

/*
 * What was made of the file of a mapping: `read` is a map from struct object * to that. A file that
 * cannot be opened for this process, as that has ended, may be for the next one.
 */
void *object_read(struct map *read, uint32_t pid, const struct mapping *mapping,
		  const struct object_reader *reader);
/* NULL also for one that was not read. */
void *object_known(const struct map *read, const struct object *object);

/*
 * Opens the file of an object that was not opened before, so that following calls of object_open()
 * have it at once, until object_let_go(). False: it has not answered yet.
 */
bool object_prepare(uint32_t pid, const struct mapping *mapping);
void object_let_go(struct object *object);

/*
 * Completes the definition of a mapping's object, if the file can be opened. One that does not
 * answer is `late`, and asked for again once any file has answered: what the trace has of it until
 * then is a less complete object.
 */
void object_examine(uint32_t pid, const struct mapping *mapping);

/*
 * Forgets the objects of which `may` is true, of those that no layout maps, nor has mapped since
 * the last call but one. To be called at a steady pace: `idle` is how often that was so.
 */
void objects_forget(struct objects *o, bool (*may)(struct object *object, void *context),
		    void *context);

void objects_each(const struct objects *o, void (*visit)(struct object *object, void *context),
		  void *context);

#endif
