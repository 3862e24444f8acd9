/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/event_set.h"

#include "common/array.h"
#include "common/buffer.h"

#include <stdlib.h>
#include <string.h>

void event_set_release(struct event_set *s)
{
	free(s->events);
	map_release(&s->numbers);
	arena_release(&s->arena);
	text_pool_release(&s->texts);
}

/* All in which different events differ. */
static void append_key(const struct prf_event *event, struct buffer *key)
{
	buffer_u32(key, event->kind);
	buffer_u64(key, event->frequency);
	buffer_u64(key, event->period);
	buffer_append(key, event->name, strlen(event->name) + 1);
	buffer_text(key, event->unit);
}

/* NULL without memory. */
static const struct prf_event *copy_event(struct event_set *s, const struct prf_event *event)
{
	struct prf_event *copy = arena_take(&s->arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *event;
	copy->name = text_pool_keep(&s->texts, event->name);
	copy->unit = text_pool_keep(&s->texts, event->unit);
	return copy->name && copy->unit ? copy : NULL;
}

/* As the next one; false without memory. */
static bool append_copy(struct event_set *s, const struct prf_event *event)
{
	if (!array_reserve(&s->events, &s->capacity, s->n + 1))
		return false;
	s->events[s->n] = copy_event(s, event);
	if (!s->events[s->n])
		return false;
	s->n++;
	return true;
}

uint32_t event_set_add(struct event_set *s, const struct prf_event *event)
{
	struct buffer key = { 0 };
	uint64_t *number = NULL;
	bool added = false;

	append_key(event, &key);
	if (buffer_ok(&key))
		number = map_put(&s->numbers, key.data, key.size, &added);
	if (number && added) {
		*number = s->n;
		if (!append_copy(s, event)) {
			map_remove(&s->numbers, key.data, key.size);
			number = NULL;
		}
	}
	buffer_release(&key);
	return number ? (uint32_t)*number : PRF_NONE;
}

bool event_set_find(const struct event_set *s, const struct prf_event *event, uint32_t *number)
{
	const uint64_t *found = NULL;
	struct buffer key = { 0 };
	bool ok;

	append_key(event, &key);
	ok = buffer_ok(&key);
	if (ok)
		found = map_get(&s->numbers, key.data, key.size);
	buffer_release(&key);
	*number = found ? (uint32_t)*found : PRF_NONE;
	return ok;
}
