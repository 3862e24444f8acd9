/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/describe.h"

#include "common/words.h"
#include "report/profile/event_time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void described_release(struct described *d)
{
	free(d->events);
	free(d->losses);
	free(d->traces);
	free(d->labels);
	free(d->samples_per_sample);
	*d = (struct described){ 0 };
}

struct error *describe_events(struct described *d, struct profile *profile,
			      const struct tally *tally)
{
	size_t n;
	const struct prf_event *const *events = tally_events(tally, &n);

	d->events = calloc(n + 1, sizeof(*d->events));
	if (!d->events)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		d->events[i] = (struct profile_event){
			.kind = events[i]->kind,
			.name = events[i]->name,
			.unit = events[i]->unit,
			.frequency = events[i]->frequency,
			.period = events[i]->period,
			.interval_ns = event_ns_per_sample(events[i]),
		};
	profile->events = d->events;
	profile->event_count = n;
	return NULL;
}

/* "2026-11-21T23:17:10.198Z" in ns since 1970; 0 when it is not that. */
static uint64_t wall_clock(const char *text)
{
	struct tm parts = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	time_t seconds = rest ? timegm(&parts) : 0;
	uint64_t ns = 0, digit = 100000000;

	if (!rest || seconds <= 0 || (*rest != '.' && *rest != 'Z'))
		return 0;
	for (rest += *rest == '.'; *rest >= '0' && *rest <= '9'; rest++, digit /= 10)
		ns += (uint64_t)(*rest - '0') * digit;
	return *rest == 'Z' ? (uint64_t)seconds * 1000000000 + ns : 0;
}

static const char *metadata_or_nothing(const struct trace *t, const char *key)
{
	const char *value = trace_metadata(t, key);

	return value ? value : "";
}

/* Of several events it is known only for ticks that the timer skipped whose they are. */
static double samples_per_sample(const struct trace *traces, size_t n, bool one_event)
{
	double there = 0, lost = 0;

	for (size_t i = 0; i < n; i++) {
		there += (double)traces[i].totals.cpu_samples;
		lost += one_event ? trace_lost_in_window(&traces[i], PRF_LOSS_COUNT)
				  : trace_lost_in_window(&traces[i], PRF_LOSS_SKIPPED);
	}
	return there > 0 ? (there + lost) / there : 1;
}

/* Their time is divided evenly among the samples that there are. */
static void share_lost_time(struct described *d, const struct profile *profile,
			    const struct trace *traces, size_t trace_count)
{
	bool apart = profile->dimensions & (PROFILE_BY_TRACE | PROFILE_BY_NOTES);
	bool one_event = profile->event_count == 1;

	for (size_t i = 0; i < trace_count; i++)
		d->samples_per_sample[i] = apart ? samples_per_sample(&traces[i], 1, one_event)
					   : i	 ? d->samples_per_sample[0]
					       : samples_per_sample(traces, trace_count, one_event);
}

/* Samples may come before the recorder's start: those of a file of a series, some of the last
 * file's. */
static uint64_t wall_clock_at_origin(const struct trace *t)
{
	uint64_t began = wall_clock(metadata_or_nothing(t, "start_time"));
	int64_t since;

	return began && trace_since_start(t, &since) ? began + (uint64_t)since : 0;
}

/* "java.4711": of a process whose names the recorder reads. */
static bool is_about_process(const char *key)
{
	static const char *const prefixes[] = { "java.", "javascript.", "jit." };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if (!strncmp(key, prefixes[i], length) && key[length] &&
		    !key[length + strspn(key + length, "0123456789")])
			return true;
	}
	return false;
}

/* What prof-record notes by itself. */
static bool is_own_key(const char *key)
{
	static const char *const keys[] = { "host",	    "kernel",	  "arch",
					    "command_line", "recorder",	  "clock",
					    "event_source", "start_time", "start_monotonic_ns" };

	return words_have(keys, sizeof(keys) / sizeof(*keys), key) || is_about_process(key);
}

static struct error *describe_labels(struct described *d, const struct trace *traces,
				     size_t trace_count)
{
	struct profile_label *label;
	size_t n = 0;

	for (size_t i = 0; i < trace_count; i++)
		n += traces[i].metadata_count;
	label = d->labels = calloc(n + 1, sizeof(*d->labels));
	if (!label)
		return error_memory();
	for (size_t i = 0; i < trace_count; i++) {
		const struct trace *t = &traces[i];

		d->traces[i].labels = label;
		for (size_t k = 0; k < t->metadata_count; k++)
			if (!is_own_key(t->metadata[k].key))
				*label++ = (struct profile_label){ t->metadata[k].key,
								   t->metadata[k].value };
		d->traces[i].label_count = (size_t)(label - d->traces[i].labels);
	}
	return NULL;
}

struct error *describe_traces(struct described *d, struct profile *profile,
			      const struct trace *traces, size_t trace_count)
{
	size_t losses = 0;

	for (size_t i = 0; i < trace_count; i++)
		losses += traces[i].loss_count;
	d->traces = calloc(trace_count + 1, sizeof(*d->traces));
	d->losses = calloc(losses + 1, sizeof(*d->losses));
	d->samples_per_sample = calloc(trace_count + 1, sizeof(*d->samples_per_sample));
	if (!d->traces || !d->losses || !d->samples_per_sample)
		return error_memory();
	for (size_t i = 0; i < trace_count; i++) {
		const struct trace *t = &traces[i];

		d->traces[i] = (struct profile_trace){
			.path = t->path,
			.host = metadata_or_nothing(t, "host"),
			.kernel = metadata_or_nothing(t, "kernel"),
			.arch = metadata_or_nothing(t, "arch"),
			.command_line = metadata_or_nothing(t, "command_line"),
			.start_ns = t->totals.origin_ns,
			.duration_ns = trace_duration(t),
			.realtime_ns = wall_clock_at_origin(t),
			.complete = t->complete,
		};
		for (size_t k = 0; k < PROFILE_NOTES && profile->note_keys[k]; k++)
			d->traces[i].notes[k] = metadata_or_nothing(t, profile->note_keys[k]);
		for (size_t k = 0; k < t->loss_count; k++) {
			struct prf_loss loss = t->losses[k];

			if (trace_cut_loss(t, &loss) > 0)
				d->losses[profile->loss_count++] = (struct profile_loss){
					loss.from_ns, loss.to_ns, loss.cpu,
					loss.reason,  loss.count, (uint32_t)i
				};
		}
		profile->lost += trace_whole_samples(trace_lost_in_window(t, PRF_LOSS_COUNT));
	}
	profile->losses = d->losses;
	profile->traces = d->traces;
	profile->trace_count = trace_count;
	share_lost_time(d, profile, traces, trace_count);
	return describe_labels(d, traces, trace_count);
}
