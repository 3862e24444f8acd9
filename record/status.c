/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/status.h"

#include "common/message.h"
#include "record/traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void bytes_text(char *text, size_t size, uint64_t bytes)
{
	if (bytes < 10000)
		snprintf(text, size, "%" PRIu64 " bytes", bytes);
	else if (bytes < 10000000)
		snprintf(text, size, "%.1f KB", (double)bytes / 1e3);
	else
		snprintf(text, size, "%.1f MB", (double)bytes / 1e6);
}

/* Not on a terminal that Ctrl-S has stopped, for one. */
static bool wanted(const struct session *s)
{
	return !s->settings->quiet && isatty(STDERR_FILENO) && message_has_room();
}

void status_begin(const struct session *s)
{
	const struct settings *settings = s->settings;

	if (settings->asked_for_stacks)
		message_info("stacks are always taken; -g and --call-graph are not needed");
	/* Nothing else would end it. */
	if (wanted(s) && !s->target.n && !settings->duration_ns && !settings->max_bytes)
		message_info("recording %s; Ctrl-C ends it",
			     settings->everything ? "everything" : "the control group");
}

void status_show(const struct session *s, uint64_t now_ns)
{
	struct prf_writer_totals totals;
	char bytes[32];

	if (!wanted(s))
		return;
	traces_totals(s, &totals);
	bytes_text(bytes, sizeof(bytes), totals.file_bytes);
	fprintf(stderr, "\r\033[K%.0f s, %" PRIu64 " samples, %" PRIu64 " lost, %s",
		(double)(now_ns - s->began_ns) / 1e9, totals.samples, losses_samples(&s->losses),
		bytes);
	fflush(stderr);
}

void status_end(const struct session *s)
{
	const struct losses *a = &s->losses;
	char bytes[32], where[4200];

	if (wanted(s))
		fputs("\r\033[K", stderr);
	/* The last file is already part of the totals. */
	bytes_text(bytes, sizeof(bytes), s->earlier.bytes);
	if (series_wanted(&s->settings->series))
		snprintf(where, sizeof(where), "%" PRIu64 " files %s.*", s->earlier.files,
			 s->settings->output);
	else
		snprintf(where, sizeof(where), "%s",
			 strcmp(s->settings->output, "-") ? s->settings->output
							  : "standard output");
	message_info("%" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " stacks, %s in %s",
		     s->earlier.samples, losses_samples(a), s->earlier.stacks, bytes, where);
	if (a->lost[PRF_LOSS_RING_FULL])
		message_warning("%" PRIu64 " samples did not fit into the ring buffer; "
				"a larger one (-m) or a lower rate (-F) helps",
				a->lost[PRF_LOSS_RING_FULL]);
	if (a->lost[PRF_LOSS_SKIPPED] > s->earlier.samples / 100)
		message_warning("%" PRIu64 " ticks of the timer were skipped: stacks took longer "
				"than a period (a lower rate helps, -F), or the machine was held "
				"up by others",
				a->lost[PRF_LOSS_SKIPPED]);
	if (a->lost[PRF_LOSS_SIDE_BAND])
		message_warning("%" PRIu64 " records about mappings were lost; "
				"some frames may be unknown",
				a->lost[PRF_LOSS_SIDE_BAND]);
	if (sampler_not_followed(s->sources.sampler))
		message_warning("%" PRIu64 " children of the recorded processes were not recorded: "
				"there were too many at a time, or the kernel had no memory for "
				"more; -a or -G has no such limit",
				sampler_not_followed(s->sources.sampler));
	unwinding_show_totals(&s->unwinding);
	if (spaces_crowded_out(s->world.spaces))
		message_warning("%" PRIu64
				" mappings were forgotten, as processes have mapped too much; "
				"frames there are unknown",
				spaces_crowded_out(s->world.spaces));
	if (s->vanished.unread)
		message_warning("deleted files whose names were not read: %" PRIu64 "; first: %s",
				s->vanished.unread, s->vanished.why->text);
	if (s->drain.malformed)
		message_warning("%" PRIu64 " records of the kernel were malformed",
				s->drain.malformed);
}
