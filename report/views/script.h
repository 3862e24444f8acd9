/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_SCRIPT_H
#define REPORT_VIEWS_SCRIPT_H

/*
 * One sample after the other: -f script, the text of `perf script`, which many tools read;
 * and -f jsonl, a JSON object per line (prof-report(1) lists its members).
 */

#include "report/tables/view.h"

void script_frame(const struct profile *p, const struct profile_frame *frame, struct sink *s);
void script_sample(const struct profile *p, const struct view_options *o,
		   const struct view_sample *sample, struct sink *s);

struct error *jsonl_begin(const struct profile *p, const struct view_options *o, struct sink *s,
			  void **stream) ERROR_CHECKED;
struct error *jsonl_end(void *stream) ERROR_CHECKED;
void jsonl_frame(const struct profile *p, const struct profile_frame *frame, struct sink *s);
void jsonl_sample(const struct profile *p, const struct view_options *o,
		  const struct view_sample *sample, struct sink *s);

#endif
