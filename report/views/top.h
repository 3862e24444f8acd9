/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_TOP_H
#define REPORT_VIEWS_TOP_H

/*
 * -f top: a table of functions, objects, lines, threads or commands by what was counted in
 * them (self) and in all they called (total), as text, CSV or JSON; or the callers and
 * callees of some functions.
 */

#include "report/tables/view.h"

struct error *top_render(const struct profile *p, const struct view_options *o,
			 struct sink *s) ERROR_CHECKED;

/*
 * The half width of the 95 % interval of a share, in percent, when `part` of `whole` samples
 * were counted: samples taken at random moments are a binomial trial each (Agresti-Coull).
 */
double share_interval(uint64_t part, uint64_t whole);

#endif
