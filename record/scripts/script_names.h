/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_SCRIPT_NAMES_H
#define RECORD_SCRIPTS_SCRIPT_NAMES_H

/*
 * The names of scripts' code: function, file, lines. The kernel half sends them once for each code
 * object, with the first sample that has it (struct script_name). Equal code, in whatever process,
 * is one function in the trace; a frame of it is a line of it.
 *
 * In the trace such a frame is a place in an object of kind PRF_OBJECT_SCRIPT, which stands for a
 * source file, and carries its names with it (prf_writer_names()). A frame whose names have not
 * arrived yet belongs to an object without a file, and gets its names when they arrive.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/script.h"
#include "bpf/abi/sample.h"
#include "common/error.h"
#include "format/prf.h"

struct script_names;

struct script_names_options {
	/*
	 * Reads the first bytes of a text of the code object from the process, at most `most`, if
	 * that is still the same code object, and completes `text`. How many; NULL: nobody can.
	 */
	size_t (*read)(void *context, const struct script_name *name, struct script_text *text,
		       void *to, size_t most);
	/*
	 * Called when a limit was reached and all codes were forgotten: names must be sent again.
	 */
	void (*forgot)(void *context);
	/* Whether the process may have more samples. */
	bool (*lives)(void *context, uint32_t pid);
	void *context;
};

/* NULL without memory. */
struct script_names *script_names_new(const struct script_names_options *options);
void script_names_free(struct script_names *n);

/* Adds a record of the kernel half. False: it is malformed, or there is no memory for it. */
bool script_names_add(struct script_names *n, const void *data, size_t size);

/*
 * To be called every few seconds: which codes a process had that has ended is forgotten by the
 * second call that finds it so, as the first may come before its last samples were resolved. The
 * codes stay, for other processes.
 */
void script_names_let_go(struct script_names *n);

/* Frames are written to `w` from now on; numbers of the last trace are not valid in it. */
void script_names_set_writer(struct script_names *n, struct prf_writer *w);

/*
 * The trace's number of a frame. `settled`: a later call gives the same one; else the code's
 * names have not come yet. The error may be one of writing the names of an earlier frame.
 */
struct error *script_names_frame(struct script_names *n, const struct script_frame *frame,
				 uint32_t *id, bool *settled);

/* The trace's number of the frame that says that a thread waits for the interpreter's lock. */
struct error *script_names_waiting(struct script_names *n, uint32_t *id);

/*
 * Number of known codes, of the code objects of processes that they are for, and of frames whose
 * names never arrived.
 */
size_t script_names_count(const struct script_names *n);
size_t script_names_identities(const struct script_names *n);
size_t script_names_nameless(const struct script_names *n);

#endif
