/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

/* What --diff needs besides a view: the choice of what is compared, and --fail-on-regression. */

#include "report/load.h"

/*
 * To be called when both sides are read. Where the user did not choose what is counted, chooses CPU
 * time for tables and the page, and for folded stacks, too, if the sampling rates differ, because
 * samples then stand for different times. Reports that, and that recordings of different lengths
 * are compared unscaled.
 */
void compare_choose_value(struct report_options *o, const struct loaded *base,
			  const struct loaded *now);

/* True when a function surely grew by o->fail_percent of the total; reports each of them. */
bool compare_finds_regression(const struct report_options *o, const struct profile *base,
			      const struct profile *now);

#endif
