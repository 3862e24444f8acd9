/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_CHANGE_COLUMNS_H
#define REPORT_DIFFERENCE_CHANGE_COLUMNS_H

/*
 * Changes as the first columns of a table's rows: of self, and after a bar of total; or of one
 * thing only. And as JSON.
 */

#include "report/output/sink.h"
#include "report/difference/compared_runs.h"

struct change_columns {
	const struct compared_runs *runs;
	unsigned int width; /* of a terminal: columns are left out for the sake of names; 0: none */
	bool colour;
	bool one_side; /* there is no second change */
};

/* What is compared, and what marks a row, as lines that begin with "#". */
void change_summary(const struct change_columns *c, struct sink *s);

/* The columns' names. */
void change_heading(const struct change_columns *c, struct sink *s);

/* `total`: NULL where there is one side only. */
void change_write(const struct change_columns *c, struct sink *s, const struct change *self,
		  const struct change *total);

/* How many columns change_write() takes. */
unsigned int change_width(const struct change_columns *c);

/* An object with all there is to say. */
void change_json(struct sink *s, const struct change *one);

/* Members of the object around the changes: what is compared. */
void change_json_runs(struct sink *s, const struct compared_runs *r);

#endif
