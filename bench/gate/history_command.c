/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <time.h>

#include "bench/gate/history.h"
#include "bench/gate/trend.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

static bool wanted(const struct settings *s, const struct history_entry *e)
{
	/* "main" is only where the gate puts results; looking shows all branches. */
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
		output_line("%s %s %s %s: %zu results%s", text, e->branch, *e->hash ? e->hash : "-",
			    e->testbed, e->results.count, e->regressed ? ", regressed" : "");
	}
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
		message_error("usage: prof-bench history --history FILE [--svg FILE]");
		return VERDICT_ERROR;
	}
	if (output_error(history_read(&h, s->history)))
		return VERDICT_ERROR;
	if (!h.count) {
		message_error("%s: holds no results", s->history);
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
