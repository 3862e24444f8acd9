/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_SPEEDSCOPE_H
#define REPORT_VIEWS_SPEEDSCOPE_H

#include "report/tables/view.h"

/*
 * -f speedscope: speedscope's own JSON, one profile per thread, samples in the order of the
 * profile's time slices. The format spells out every stack of every sample; where that would
 * be too much for a browser, equal stacks of a thread are added up and the order is lost.
 */
struct error *speedscope_render(const struct profile *p, const struct view_options *o,
				struct sink *s) ERROR_CHECKED;

#endif
