/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_COMPARISON_H
#define REPORT_DIFFERENCE_COMPARISON_H

/*
 * What changed from function to function (or object, line, command) between the runs of two
 * profiles.
 *
 * row_common_key() says which rows are the same in two runs. Of functions those are one row, too,
 * that report/difference/lineage.h takes as renamed.
 */

#include "report/difference/compared_runs.h"
#include "report/difference/lineage.h"
#include "report/tables/rows.h"

struct compared {
	const char *name;   /* as it is now, or was; not yet made printable */
	const char *object; /* "" when there is none */
	bool before, now;   /* whether the side has it; at least one is true */
	enum lineage_kind lineage;
	/* Renamed: its name before. Inlined or called: into what it is or was inlined; "": that is
	 * several functions, or not known. "" with LINEAGE_NONE. */
	const char *other;
	struct change self, total;
	/*
	 * Where one side has functions apart that the other has inlined into this one, without
	 * saying so in debug information: `joint` is the change of what all of them have
	 * themselves. Otherwise it is that of `self`. `part`: this row is such a function, whose
	 * samples the other side counts in another row.
	 */
	bool has_parts, part;
	struct change joint;
};

struct comparison {
	struct compared *list; /* those that surely changed first, the largest change at the top */
	size_t count;
	struct compared_runs runs;
	struct rows *rows; /* of each run, which the names belong to */
};

/* What is compared, and by what. */
struct comparison_sides {
	const struct profile *base, *now;
	enum rows_key key;
	bool scale; /* shares of the total, not the values themselves */
};

/* ERROR_MEMORY; to be released in both cases. */
struct error *comparison_init(struct comparison *c,
			      const struct comparison_sides *sides) ERROR_CHECKED;
void comparison_release(struct comparison *c);

/* "new", "vanished", "renamed", "inlined", "called"; "": both sides have it as it is. */
const char *compared_state(const struct compared *one);

#endif
