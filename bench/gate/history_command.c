/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/gate/change_points.h"
#include "bench/gate/history.h"
#include "bench/gate/trend.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

static bool wanted(const struct settings *s, const struct history_entry *e)
{
	/* "main" is the default for adding results only; the listing shows all branches. */
	return (!s->branch_given || !strcmp(s->branch, e->branch)) &&
	       (!s->testbed || !strcmp(s->testbed, e->testbed));
}

static void list(const struct settings *s, const struct history *h)
{
	for (size_t i = 0; i < h->count; i++) {
		const struct history_entry *e = &h->all[i];
		time_t when = (time_t)e->time;
		char text[32] = "";
		struct tm tm;

		if (!wanted(s, e))
			continue;
		if (gmtime_r(&when, &tm))
			strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
		output_line("%s %s %s %s: %zu results%s%s", text, e->branch,
			    *e->hash ? e->hash : "-", e->testbed, e->results.count,
			    e->regressed ? ", regressed" : "", e->incomplete ? ", incomplete" : "");
	}
}

static enum verdict print_changes(const struct settings *s, const struct history *h)
{
	struct change_point *points;
	size_t count;

	if (output_error(change_points_find(h, s->branch_given ? s->branch : NULL, s->testbed,
					    &points, &count)))
		return VERDICT_ERROR;
	for (size_t i = 0; i < count; i++) {
		const struct change_point *p = &points[i];

		output_line("%s %s: %.6g to %.6g (%s) at %s", p->benchmark, p->measure, p->before,
			    p->after, output_percent(p->after / p->before - 1).text,
			    *p->entry->hash ? p->entry->hash : "an entry without hash");
	}
	output_line("%zu changes", count);
	free(points);
	return VERDICT_FINE;
}

/* The results of the last entry that is wanted. */
static enum verdict write_last(const struct settings *s, const struct history *h)
{
	const struct results none = { 0 }, *last = &none;

	for (size_t i = 0; i < h->count; i++)
		if (wanted(s, &h->all[i]))
			last = &h->all[i].results;
	return output_bmf(last);
}

enum verdict history_command(const struct settings *s)
{
	struct history h = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	if (!s->history || s->rest_count) {
		message_error("usage: prof-bench history --history FILE [--svg FILE | --changes]");
		return VERDICT_ERROR;
	}
	if (output_error(history_read(&h, s->history)))
		return VERDICT_ERROR;
	if (!h.count) {
		message_error("%s: holds no results", s->history);
		goto out;
	}
	if (s->changes) {
		verdict = print_changes(s, &h);
		goto out;
	}
	if (!s->svg) {
		list(s, &h);
		verdict = VERDICT_FINE;
		goto out;
	}
	if (!output_error(trend_write(&h, s->branch_given ? s->branch : NULL, s->testbed, s->svg)))
		verdict = VERDICT_FINE;
out:
	if (verdict == VERDICT_FINE)
		verdict = write_last(s, &h);
	history_release(&h);
	return verdict;
}
