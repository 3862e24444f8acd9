/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_INFO_H
#define REPORT_INFO_H

/* What a trace holds, for `prof-report --info`. */

#include "report/load.h"
#include "report/output/sink.h"

/* Why user stacks end, counted in samples; [PRF_END_ROOT] are the whole ones. */
struct user_stacks {
	uint64_t samples[PRF_END_COUNT];
	uint64_t other; /* reasons of newer versions */
};

/* Counts the samples of a tally over this trace. ERROR_MEMORY. */
struct error *user_stacks_count(struct user_stacks *u, const struct tally *tally,
				const struct trace *trace) ERROR_CHECKED;

/* About the only trace in `l`, which was read. ERROR_MEMORY. */
struct error *info_text(const struct loaded *l, struct sink *s) ERROR_CHECKED;
struct error *info_json(const struct loaded *l, struct sink *s) ERROR_CHECKED;

#endif
