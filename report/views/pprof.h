/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_PPROF_H
#define REPORT_VIEWS_PPROF_H

#include "report/tables/view.h"

/*
 * -f pprof: google/pprof's profile.proto, gzipped, for `go tool pprof`, Pyroscope and Parca.
 *
 * One sample per thread and stack, with the labels comm, pid, tid and whatever else the profile
 * distinguishes. Its values are the samples and, where it can be said, the time in ns or the events
 * they stand for. Addresses are file offsets; inlined functions are further lines of the location
 * that they were inlined into. Stacks that were shaped (hidden or recursive frames) are written as
 * shown.
 */
struct error *pprof_render(const struct profile *p, const struct view_options *o,
			   struct sink *s) ERROR_CHECKED;

#endif
