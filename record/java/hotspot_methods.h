/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_METHODS_H
#define RECORD_JAVA_HOTSPOT_METHODS_H

/*
 * The methods of one Java process: their names, files and lines, read from it while it lives.
 *
 * Memory of a class that was unloaded is used again, at any time. So a method counts only if the
 * way from its place to its names is the same before and after they were read. The second look is
 * one for all methods that a frame needs, hotspot_methods_settle(): until then they are uncertain.
 */

#include "common/map.h"
#include "format/prf.h"
#include "record/java/hotspot_reader.h"

#define HOTSPOT_INLINED_MAX 64 /* methods in one frame */

/* What identifies a method, and what is between. */
struct hotspot_way {
	uint64_t method, constants, holder;
	struct hotspot_identity identity;
	uint16_t name;
};

/* A method, as it was once. */
struct hotspot_method {
	const char *function, *file; /* as they are shown */
	const uint8_t *lines;	     /* its line table; NULL: none */
	size_t line_bytes;
	struct hotspot_way way;
	uint64_t as_of; /* that of the reader, when it was last found to be right */
};

struct hotspot_methods {
	struct hotspot_reader *reader;
	struct map places; /* Method -> struct hotspot_method *, as it was last read */
	struct hotspot_method *uncertain[HOTSPOT_INLINED_MAX + 1];
	size_t uncertain_count;
};

/* `r` must outlive it. */
void hotspot_methods_init(struct hotspot_methods *m, struct hotspot_reader *r);
void hotspot_methods_release(struct hotspot_methods *m);

/* A frame begins: it depends on no method yet. */
void hotspot_methods_begin(struct hotspot_methods *m);

/*
 * The method at a place, at most HOTSPOT_INLINED_MAX + 1 for each frame; NULL: there is none. Valid
 * until the reader is released.
 */
const struct hotspot_method *hotspot_methods_find(struct hotspot_methods *m, uint64_t method);

/* What else the frame depends on: pieces of memory. */
#define HOTSPOT_PIECES_MAX 4

struct hotspot_pieces {
	const struct target_piece *pieces;
	size_t count;
	bool read; /* set: all of them could be read */
};

/*
 * Reads the ways to the uncertain methods once more, and then the pieces, all at once. False if
 * one does not lead to the method that was found: that is forgotten, and may be found anew.
 */
bool hotspot_methods_settle(struct hotspot_methods *m, struct hotspot_pieces *more);

/* A bytecode of a method; negative: before the first one. */
void hotspot_method_place(const struct hotspot_method *method, bool no_zero, int64_t bci,
			  struct prf_place *place);

#endif
