/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_COMPARISON_H
#define REPORT_DIFFERENCE_COMPARISON_H

/*
 * What changed from function to function (or object, line, command) between the runs of two
 * profiles.
 *
 * row_common_key() says which rows are the same in two runs.
 */

#include "report/difference/compared_runs.h"
#include "report/tables/rows.h"

struct compared {
	const char *name;   /* as it is now, or was; not yet made printable */
	const char *object; /* "" when there is none */
	bool before, now;   /* whether the side has it; at least one is true */
	struct change self, total;
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

#endif
