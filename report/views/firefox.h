/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_FIREFOX_H
#define REPORT_VIEWS_FIREFOX_H

#include "report/tables/view.h"

/*
 * -f firefox: a profile for the Firefox Profiler (profiler.firefox.com), which Perfetto reads
 * too. It is written in the processed format, version 49, which every later version upgrades
 * by itself; names are already in it. Samples stand where the profile's time slices begin;
 * lost samples are markers of the first thread.
 */
struct error *firefox_render(const struct profile *p, const struct view_options *o,
			     struct sink *s) ERROR_CHECKED;

#endif
