/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_PARQUET_H
#define REPORT_VIEWS_PARQUET_H

/*
 * A row for each sample, for databases: prof-report(1) lists the columns. Names are as folded
 * stacks have them, so that a database that joins them with ';' makes the lines of -f folded.
 */

#include "report/tables/view.h"

struct error *parquet_begin(const struct profile *p, const struct view_options *o, struct sink *s,
			    void **stream) ERROR_CHECKED;
void parquet_sample(const struct profile *p, const struct view_options *o,
		    const struct view_sample *sample, struct sink *s);
struct error *parquet_end(void *stream) ERROR_CHECKED;

#endif
