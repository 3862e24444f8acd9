/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_LINEAGE_H
#define REPORT_DIFFERENCE_LINEAGE_H

/*
 * What became of functions that only one side of a comparison has, or that are functions of their
 * own on one side only. Nothing is said of one with fewer than LINEAGE_SAMPLES samples on a side
 * that has it, and a call is evidence where it has a twentieth of the function's samples. What
 * stands for an object counts as neither caller nor called, nor does a function for itself, nor one
 * of the kernel for one that is not.
 *
 * Renamed, from a function that only the runs before have to one that only those now have: it has
 * callers, each side's are there on the other side, both lie in the same object, and
 *   - both names are the same without template arguments, function arguments and version, or
 *   - each side calls what the other calls, and callers and called are at least three;
 * and no other of the functions that its main caller calls on one side only could be either of the
 * two. Renamed functions are the same ones where further renamed ones are looked for.
 *
 * Inlined: before it is a function of its own in all samples, and now in all samples it lies in
 * another one, as the debug information has it. Without that: it is there before only, and what it
 * called is now called by its callers, which never called it before, with at least half of its part
 * of all samples. Called: the same, from now to before.
 */

#include "report/profile/profile.h"

#define LINEAGE_SAMPLES 20

enum lineage_kind { LINEAGE_NONE, LINEAGE_RENAMED, LINEAGE_INLINED, LINEAGE_CALLED };

/* Of a row. */
struct lineage {
	enum lineage_kind kind;
	/*
	 * Renamed: the row of its other name, of both rows. Otherwise the row that it is, or was,
	 * inlined into; PRF_NONE: there are several.
	 */
	uint32_t other;
};

/* Row numbers of the frames of a side, before and now. */
struct lineage_side {
	const struct profile *profile;
	const uint32_t *row_of; /* by frame; PRF_NONE: none */
};

/* Fills list[0..n), of rows with these names. ERROR_MEMORY. */
struct error *lineages_find(struct lineage *list, const char *const *names, size_t n,
			    const struct lineage_side sides[2]) ERROR_CHECKED;

#endif
