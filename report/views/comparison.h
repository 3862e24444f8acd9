/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_COMPARISON_H
#define REPORT_VIEWS_COMPARISON_H

/*
 * What changed from function to function (or object, line, command) between the runs of two
 * profiles, which must distinguish traces (PROFILE_BY_TRACE): each trace is a run.
 *
 * row_common_key() says which rows are the same in two runs.
 */

#include "report/views/change.h"
#include "report/views/rows.h"

struct compared {
	const char *name;   /* as it is now, or was; not yet made printable */
	const char *object; /* "" when there is none */
	bool before, now;   /* whether the side has it; at least one is true */
	struct change self, total;
};

struct comparison {
	struct compared *list; /* those that surely changed first, the largest change at the top */
	size_t count;
	size_t runs[2];	   /* enum change_side */
	double totals[2];  /* of everything, for one run */
	bool scaled;	   /* those before are scaled to the total of now */
	bool noise_known;  /* false: there are no intervals and no p */
	const char *unit;  /* of values: "s", or that of the profile */
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
