/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/label.h"

#include "common/utf8.h"

#include <string.h>

/* Readers of folded stacks take a number after a blank at the end of a line for the count. */
static void guard_end(struct buffer *b, size_t start)
{
	size_t at = b->size;

	if (!buffer_ok(b))
		return;
	while (at > start &&
	       ((b->data[at - 1] >= '0' && b->data[at - 1] <= '9') || b->data[at - 1] == '.'))
		at--;
	if (at > start && b->data[at - 1] == ' ')
		b->data[at - 1] = '_';
	if (b->data[start] == ' ')
		b->data[start] = '_';
}

const char *label_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What separates frames must not be in one. */
static void append_visible(struct buffer *b, const char *text, size_t size)
{
	uint8_t *at = size ? buffer_extend(b, size) : NULL;

	for (size_t i = 0; at && i < size; i++)
		at[i] = text[i] == ';' ? ':' : (uint8_t)text[i];
}

void label_text(struct buffer *b, const char *text)
{
	size_t start = b->size;

	if (!*text)
		buffer_text(b, "[unknown]");
	while (*text) {
		size_t visible = utf8_visible(text);

		append_visible(b, text, visible);
		text += visible;
		if (*text)
			buffer_u8(b, '?');
		text += utf8_skip(text);
	}
	guard_end(b, start);
}

static void label_comm(struct buffer *b, const char *comm)
{
	size_t start = b->size;

	label_text(b, comm);
	for (size_t i = start; buffer_ok(b) && i < b->size; i++)
		if (b->data[i] == ' ')
			b->data[i] = '_';
}

static void label_task(struct buffer *b, const struct profile_group *g, unsigned int mask)
{
	if (mask & PROFILE_BY_COMM) {
		label_comm(b, g->comm);
		if (mask & PROFILE_BY_PID)
			buffer_printf(b, "-%u", g->pid);
		if (mask & PROFILE_BY_TID)
			buffer_printf(b, "%s/%u", mask & PROFILE_BY_PID ? "" : "-?", g->tid);
	} else if (mask & PROFILE_BY_PID) {
		buffer_printf(b, "pid-%u", g->pid);
		if (mask & PROFILE_BY_TID)
			buffer_printf(b, "/%u", g->tid);
	} else {
		buffer_printf(b, "tid-%u", g->tid);
	}
}

static void label_parallelism(struct buffer *b, const struct profile_group *g)
{
	if (g->parallelism)
		buffer_printf(b, "parallelism-%u", g->parallelism);
	else
		buffer_text(b, "parallelism-unknown");
}

/* With as many decimals as the slices' length has, so that each has a text of its own. */
static void label_time(struct buffer *b, uint32_t slice, uint64_t slice_ns)
{
	uint64_t rest = slice_ns;
	int decimals = 9;

	for (; decimals > 3 && rest % 10 == 0; decimals--)
		rest /= 10;
	buffer_printf(b, "%.*fs", decimals, (double)slice * (double)slice_ns / 1e9);
}

void label_group(struct buffer *b, const struct profile *p, const struct profile_entry *entry,
		 unsigned int mask)
{
	const struct profile_group *g = &p->groups[entry->group];

	if (mask & (PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID)) {
		label_task(b, g, mask);
	} else if (mask & PROFILE_BY_CPU) {
		buffer_printf(b, "cpu-%u", g->cpu);
	} else if (mask & PROFILE_BY_PARALLELISM) {
		label_parallelism(b, g);
	} else if (mask & PROFILE_BY_EVENT) {
		label_text(b, p->events[g->event].name);
	} else if (mask & PROFILE_BY_CGROUP) {
		label_text(b, g->cgroup);
	} else if (mask & PROFILE_BY_NOTES) {
		label_text(b, p->traces[g->trace].notes[__builtin_ctz(mask / PROFILE_BY_NOTE)]);
	} else if (mask & PROFILE_BY_TRACE) {
		label_text(b, label_base_name(p->traces[g->trace].path));
	} else if (mask & PROFILE_BY_OBJECT) {
		if (g->object == PRF_NONE)
			label_text(b, "");
		else
			label_text(b, p->objects[g->object].name);
	} else if (mask & PROFILE_BY_TIME) {
		label_time(b, entry->slice, p->slice_ns);
	}
}
