/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/event.h"

#include "common/options.h"
#include "record/events/event_names.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static void event_release(struct event *e)
{
	free(e->name);
	probe_release(&e->probe);
	free(e->places);
	*e = (struct event){ 0 };
}

void event_list_release(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		event_release(&list->events[i]);
	list->n = 0;
}

/* Takes "/freq=99/" or "/period=1000/" off the end of `text`. */
static struct error *take_rate(struct event *e, char *text)
{
	size_t size = strlen(text);
	unsigned long long number;
	char *option, *value;

	if (!size || text[size - 1] != '/')
		return NULL;
	text[size - 1] = 0;
	option = strrchr(text, '/');
	if (!option || !(value = strchr(option, '='))) {
		text[size - 1] = '/';
		return error_new(ERROR_ARGUMENT,
				 "event '%s': expected /freq=N/ or /period=N/ at the end", text);
	}
	*option++ = 0;
	*value++ = 0;
	if (strcmp(option, "freq") && strcmp(option, "period"))
		return error_new(ERROR_ARGUMENT,
				 "event '%s': unknown option '%s'; there are freq and period", text,
				 option);
	if (!option_number(value, 1, 1000000000000, &number))
		return error_new(ERROR_ARGUMENT, "event '%s': '%s' is not a number from 1 to 10^12",
				 text, value);
	if (*option == 'f')
		e->frequency = number;
	else
		e->period = number;
	return NULL;
}

/* Takes ":u" or ":k" off the end. */
static void take_mode(struct event *e, char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || !colon[1] || colon[2] || (colon[1] != 'u' && colon[1] != 'k'))
		return;
	e->user_only = colon[1] == 'u';
	e->kernel_only = colon[1] == 'k';
	*colon = 0;
}

/* "rNNN": the number as the processor's manual gives it. */
static bool parse_raw(struct event *e, const char *text)
{
	char *end;

	if (*text != 'r' || !isxdigit((unsigned char)text[1]) || strlen(text) > 17)
		return false;
	e->config = strtoull(text + 1, &end, 16);
	if (*end)
		return false;
	e->source = EVENT_PERF;
	e->type = PERF_TYPE_RAW;
	e->kind = PRF_EVENT_COUNT;
	e->unit = "events";
	return true;
}

static bool parse_named(struct event *e, const char *text)
{
	const struct event_name *known = event_name_find(text);

	if (!known)
		return false;
	e->source = known->source;
	e->kind = known->kind;
	e->unit = known->unit;
	e->type = known->type;
	e->config = known->config;
	return true;
}

static bool is_tracepoint(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return false;
	for (const char *c = text; *c; c++)
		if (c != colon && !isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return false;
	return true;
}

static struct error *parse_kind(struct event *e, char *text)
{
	char whole[EVENT_TEXT_MAX];
	struct error *error;
	const char *near;

	snprintf(whole, sizeof(whole), "%s", text);
	error = probe_parse(&e->probe, text);
	if (error)
		return error;
	if (e->probe.form) {
		e->source = e->probe.form->source;
		e->kind = PRF_EVENT_COUNT;
		e->unit = "events";
		return NULL;
	}
	take_mode(e, text);
	if (parse_named(e, text) || parse_raw(e, text))
		return NULL;
	if (is_tracepoint(text)) {
		e->source = EVENT_TRACEPOINT;
		e->type = PERF_TYPE_TRACEPOINT;
		e->kind = PRF_EVENT_COUNT;
		e->unit = "events";
		return NULL;
	}
	near = event_name_nearest(text);
	if (near)
		return error_new(ERROR_ARGUMENT, "unknown event '%s'; did you mean '%s'?", whole,
				 near);
	return error_new(ERROR_ARGUMENT,
			 "unknown event '%s'; prof-record --list shows what there is", whole);
}

/* Adds one event; modifies `text`. */
static struct error *parse_one(struct event_list *list, char *text)
{
	struct event e = { 0 };
	struct error *error;

	if (list->n == EVENT_LIST_MAX)
		return error_new(ERROR_ARGUMENT, "more than %d events", EVENT_LIST_MAX);
	if (strlen(text) >= EVENT_TEXT_MAX)
		return error_new(ERROR_ARGUMENT, "an event's name is longer than %d bytes",
				 EVENT_TEXT_MAX - 1);
	error = take_rate(&e, text);
	if (error)
		return error;
	if (!*text)
		return error_new(ERROR_ARGUMENT, "an event's name is missing");
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->events[i].name, text))
			return error_new(ERROR_ARGUMENT, "event '%s' was given twice", text);
	e.name = strdup(text);
	error = e.name ? parse_kind(&e, text) : error_memory();
	if (error) {
		event_release(&e);
		return error;
	}
	list->events[list->n++] = e;
	return NULL;
}

struct error *event_list_parse(struct event_list *list, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one;
	struct error *error = NULL;

	if (!copy)
		return error_memory();
	while (!error && (one = strsep(&rest, ",")))
		error = parse_one(list, one);
	free(copy);
	return error;
}

struct error *event_list_add(struct event_list *list, const char *name)
{
	struct event e = { .name = strdup(name) };

	if (list->n == EVENT_LIST_MAX || !e.name || !parse_named(&e, name)) {
		event_release(&e);
		return error_new(ERROR_ARGUMENT, "cannot add event '%s'", name);
	}
	if (e.source == EVENT_SCHEDULER)
		e.period = 1;
	list->events[list->n++] = e;
	return NULL;
}

void event_list_set_rate(struct event_list *list, uint64_t frequency, uint64_t period)
{
	for (size_t i = 0; i < list->n; i++) {
		struct event *e = &list->events[i];

		if (e->frequency || e->period)
			continue;
		/*
		 * A probe is sampled by period only: its program runs at each hit, and there is no
		 * rate.
		 */
		if (e->source != EVENT_PERF) {
			e->period = period ? period : 1;
			continue;
		}
		e->frequency = period ? 0 : frequency;
		e->period = period;
	}
}

bool event_is_timer(const struct event *event)
{
	return event->source == EVENT_PERF && event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CPU_CLOCK ||
		event->config == PERF_COUNT_SW_TASK_CLOCK);
}

uint64_t event_tick_ns(const struct event *event)
{
	if (!event_is_timer(event))
		return 0;
	return event->frequency ? NS_PER_S / event->frequency : event->period;
}

uint8_t event_tick_mode(const struct event *event)
{
	if (!event_is_timer(event) || event->user_only == event->kernel_only)
		return TICK_ANY;
	return event->user_only ? TICK_USER : TICK_KERNEL;
}

bool event_limit_ticks(struct event *event)
{
	if (!event_is_timer(event) || event_tick_ns(event) >= EVENT_TICK_LEAST_NS)
		return false;
	if (event->frequency)
		event->frequency = NS_PER_S / EVENT_TICK_LEAST_NS;
	else
		event->period = EVENT_TICK_LEAST_NS;
	return true;
}

bool event_is_probe(const struct event *event)
{
	switch (event->source) {
	case EVENT_TRACED_PROBE:
	case EVENT_UPROBE:
	case EVENT_USDT:
	case EVENT_KPROBE: return true;
	default: return false;
	}
}

size_t event_place_count(const struct event *event)
{
	if (event->source == EVENT_UPROBE || event->source == EVENT_USDT)
		return event->place_count;
	return event->source == EVENT_TRACEPOINT || event_is_probe(event);
}

enum sample_class event_class(const struct event *event)
{
	if (event->source == EVENT_SCHEDULER)
		return CLASS_SWITCH;
	return event_is_probe(event) ? CLASS_PROBE : CLASS_TIMER;
}

uint64_t event_period_rule(const struct event *event)
{
	if (event->source == EVENT_TRACEPOINT || event_is_probe(event))
		return event->period;
	/* A sample of a counter has the event's period at that time as its weight. */
	return event->source == EVENT_PERF && event->kind == PRF_EVENT_COUNT ? PERIOD_OF_EVENT : 0;
}
