/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/selection.h"

#include "common/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------- numbers -------- */

static const char *read_number(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

bool number_set_add(struct number_set *s, const char *text)
{
	do {
		struct number_range range = { 0 }, *ranges;

		text = read_number(text, &range.low);
		range.high = range.low;
		if (text && *text == '-')
			text = read_number(text + 1, &range.high);
		if (!text || range.high < range.low || (*text && *text != ','))
			return false;
		ranges = realloc(s->ranges, (s->count + 1) * sizeof(*ranges));
		if (!ranges)
			return false;
		s->ranges = ranges;
		s->ranges[s->count++] = range;
	} while (*text++);
	return true;
}

bool number_set_has(const struct number_set *s, uint64_t number)
{
	for (size_t i = 0; i < s->count; i++)
		if (number >= s->ranges[i].low && number <= s->ranges[i].high)
			return true;
	return !s->count;
}

void number_set_release(struct number_set *s)
{
	free(s->ranges);
	*s = (struct number_set){ 0 };
}

/* -------- patterns -------- */

bool pattern_list_add(struct pattern_list *l, const char *pattern)
{
	char **patterns = realloc(l->patterns, (l->count + 1) * sizeof(*patterns));

	if (!patterns)
		return false;
	l->patterns = patterns;
	patterns[l->count] = strdup(pattern);
	if (!patterns[l->count])
		return false;
	l->count++;
	return true;
}

bool pattern_list_fits(const struct pattern_list *l, const char *text)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->patterns[i], text) || !fnmatch(l->patterns[i], text, 0))
			return true;
	return !l->count;
}

void pattern_list_release(struct pattern_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->patterns[i]);
	free(l->patterns);
	*l = (struct pattern_list){ 0 };
}

void selection_release(struct selection *s)
{
	number_set_release(&s->pids);
	number_set_release(&s->tids);
	number_set_release(&s->cpus);
	number_set_release(&s->parallelism);
	pattern_list_release(&s->comms);
	pattern_list_release(&s->cgroups);
	pattern_list_release(&s->events);
}

/* -------- time -------- */

static bool read_time(const char *text, struct time_point *point)
{
	unsigned long long ns;
	size_t length = strlen(text);
	char *end;

	*point = (struct time_point){ .kind = TIME_OPEN };
	if (!length)
		return true;
	if (text[length - 1] == '%') {
		point->kind = TIME_PERCENT;
		point->percent = strtod(text, &end);
		return end == text + length - 1 && end != text && isfinite(point->percent) &&
		       point->percent >= 0 && point->percent <= 100;
	}
	point->kind = *text == '@' ? TIME_ABSOLUTE : TIME_RELATIVE;
	if (!option_duration(text + (*text == '@' || *text == '+'), 1000000000, &ns))
		return false;
	point->ns = ns;
	return true;
}

bool selection_set_time(struct selection *s, const char *text)
{
	const char *comma = strchr(text, ',');
	char from[64];

	if (!comma || (size_t)(comma - text) >= sizeof(from) || !text[1])
		return false;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = 0;
	s->has_time = read_time(from, &s->from) && read_time(comma + 1, &s->to);
	return s->has_time &&
	       (s->from.kind != s->to.kind || s->from.kind == TIME_PERCENT ||
		s->from.kind == TIME_OPEN || s->from.ns < s->to.ns) &&
	       (s->from.kind != TIME_PERCENT || s->to.kind != TIME_PERCENT ||
		s->from.percent < s->to.percent);
}

bool selection_needs_start(const struct selection *s)
{
	return s->has_time && (s->from.kind == TIME_RELATIVE || s->to.kind == TIME_RELATIVE ||
			       selection_needs_end(s));
}

bool selection_needs_end(const struct selection *s)
{
	return s->has_time && (s->from.kind == TIME_PERCENT || s->to.kind == TIME_PERCENT);
}

static uint64_t resolve(const struct time_point *point, const struct time_window *recorded,
			uint64_t open)
{
	switch (point->kind) {
	case TIME_RELATIVE:
		return point->ns > UINT64_MAX - recorded->from_ns ? UINT64_MAX
								  : recorded->from_ns + point->ns;
	case TIME_ABSOLUTE: return point->ns;
	case TIME_PERCENT:
		/* The end itself belongs to the last percent. */
		if (point->percent >= 100)
			return open;
		return recorded->from_ns +
		       (uint64_t)((double)(recorded->to_ns - recorded->from_ns) * point->percent /
				  100);
	default: return open;
	}
}

struct time_window selection_window(const struct selection *s, struct time_window recorded)
{
	return (struct time_window){
		resolve(&s->from, &recorded, s->from.kind == TIME_PERCENT ? UINT64_MAX : 0),
		resolve(&s->to, &recorded, UINT64_MAX),
	};
}

/* -------- tasks and events -------- */

bool selection_has_task(const struct selection *s, const struct prf_task *task)
{
	return number_set_has(&s->pids, task->pid) && number_set_has(&s->tids, task->tid) &&
	       pattern_list_fits(&s->comms, task->comm) &&
	       pattern_list_fits(&s->cgroups, task->cgroup);
}

bool selection_has_event(const struct selection *s, const struct prf_event *event,
			 const struct prf_event *first)
{
	bool waits = event->kind == PRF_EVENT_OFF_CPU || event->kind == PRF_EVENT_PREEMPTED;

	if (s->events.count && !pattern_list_fits(&s->events, event->name))
		return false;
	if (s->on_cpu || s->off_cpu)
		return (s->on_cpu && event->kind == PRF_EVENT_ON_CPU) || (s->off_cpu && waits);
	if (s->events.count || s->all_events)
		return true;
	if (event->kind != first->kind || strcmp(event->unit, first->unit))
		return false;
	return event->kind == PRF_EVENT_ON_CPU || !strcmp(event->name, first->name);
}
