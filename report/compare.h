/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

/* What --diff needs beside a view: what is compared, and --fail-on-regression. */

#include "report/load.h"

/*
 * Once both sides are read, decides what is counted where the user did not: CPU time in tables,
 * and wherever the sampling rates differ, for there samples mean different times. Says so, and
 * that recordings of different lengths are compared as they are.
 */
void compare_choose_value(struct report_options *o, const struct loaded *base,
			  const struct loaded *now);

/* Whether a function surely grew by o->fail_percent of the total; says which. */
bool compare_finds_regression(const struct report_options *o, const struct profile *base,
			      const struct profile *now);

#endif
