/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/folded_lines.h"

#include "common/array.h"
#include "common/map.h"
#include "report/profile/label.h"
#include "report/tables/frame_text.h"

#include <stdlib.h>
#include <string.h>

/* A distinct frame text; `offset` is where it begins in folded.bytes. */
struct folded_text {
	size_t offset;
	uint32_t length;
	uint32_t id; /* before the texts were sorted */
};

/*
 * Lines are compared as sequences of numbers, in which texts are ranked as they would sort with a
 * ';' after them: this compares far fewer bytes than the characters themselves.
 */
struct builder {
	const struct profile *profile;
	const struct view_options *options;
	struct folded_lines *out;
	struct map ids;
	size_t text_capacity, frame_count, frame_capacity;
	uint32_t *text_of; /* of each frame of the profile */
	struct buffer label;
};

void folded_lines_release(struct folded_lines *f)
{
	free(f->lines);
	free(f->frames);
	free(f->texts);
	buffer_release(&f->bytes);
	*f = (struct folded_lines){ 0 };
}

/* The number of the text in b->label; UINT32_MAX without memory. */
static uint32_t add_text(struct builder *b)
{
	struct folded_lines *f = b->out;
	uint32_t id = UINT32_MAX;
	bool added;

	if (buffer_ok(&b->label))
		id = map_number(&b->ids, b->label.data, b->label.size, (uint32_t)f->text_count,
				&added);
	if (id == UINT32_MAX || !added)
		return id;
	if (!array_reserve(&f->texts, &b->text_capacity, f->text_count + 1))
		return UINT32_MAX;
	f->texts[f->text_count] = (struct folded_text){ f->bytes.size, (uint32_t)b->label.size,
							(uint32_t)f->text_count };
	buffer_append(&f->bytes, b->label.data, b->label.size);
	return (uint32_t)f->text_count++;
}

static bool name_frames(struct builder *b)
{
	const struct profile *p = b->profile;

	b->text_of = malloc((p->frame_count + 1) * sizeof(*b->text_of));
	for (size_t i = 0; b->text_of && i < p->frame_count; i++) {
		buffer_clear(&b->label);
		frame_text(&b->label, p, &p->frames[i], b->options);
		b->text_of[i] = add_text(b);
		if (b->text_of[i] == UINT32_MAX)
			return false;
	}
	return b->text_of;
}

static bool room_for_frames(struct builder *b, size_t more)
{
	return array_reserve(&b->out->frames, &b->frame_capacity, b->frame_count + more);
}

static bool add_leading(struct builder *b, const struct profile_entry *entry)
{
	for (size_t i = 0; i < VIEW_LEADING_MAX && b->options->leading[i]; i++) {
		uint32_t id;

		buffer_clear(&b->label);
		label_group(&b->label, b->profile, entry, b->options->leading[i]);
		id = add_text(b);
		if (id == UINT32_MAX)
			return false;
		b->out->frames[b->frame_count++] = id;
	}
	return true;
}

/*
 * The leading frames of an entry are those of the one before it, unless group or slice
 * changed: entries are sorted by both.
 */
static bool add_line(struct builder *b, const struct profile_entry *entry,
		     const struct profile_entry *before)
{
	const struct profile *p = b->profile;
	struct folded_lines *f = b->out;
	struct folded_line *line = &f->lines[f->line_count];
	uint32_t depth = entry->node == PRF_NONE ? 0 : p->nodes[entry->node].depth;
	size_t leading = 0;
	uint32_t *end;

	if (!room_for_frames(b, depth + VIEW_LEADING_MAX))
		return false;
	line->first = b->frame_count;
	line->value = entry->value;
	while (leading < VIEW_LEADING_MAX && b->options->leading[leading])
		leading++;
	if (leading && before && before->group == entry->group && before->slice == entry->slice) {
		memmove(f->frames + b->frame_count, f->frames + line[-1].first,
			leading * sizeof(*f->frames));
		b->frame_count += leading;
	} else if (leading && !add_leading(b, entry)) {
		return false;
	}
	b->frame_count += depth;
	end = f->frames + b->frame_count;
	for (uint32_t node = entry->node; node != PRF_NONE; node = p->nodes[node].parent)
		*--end = b->text_of[p->nodes[node].frame];
	line->count = b->frame_count - line->first;
	f->line_count += line->count > 0;
	return true;
}

static bool add_lines(struct builder *b)
{
	const struct profile *p = b->profile;
	const struct profile_entry *before = NULL;

	b->out->lines = malloc((p->entry_count + 1) * sizeof(*b->out->lines));
	if (!b->out->lines)
		return false;
	for (size_t i = 0; i < p->entry_count; i++) {
		if (!p->entries[i].value)
			continue;
		if (!add_line(b, &p->entries[i], before))
			return false;
		before = &p->entries[i];
	}
	return true;
}

/* -------- sorting -------- */

static int compare_texts(const void *left, const void *right, void *context)
{
	const struct folded_text *a = left, *b = right;
	const uint8_t *bytes = context;
	uint32_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(bytes + a->offset, bytes + b->offset, shorter);

	if (order || a->length == b->length)
		return order;
	if (a->length < b->length)
		return ';' - bytes[b->offset + shorter];
	return bytes[a->offset + shorter] - ';';
}

/* Sorts the texts and puts their ranks into the lines. */
static bool rank_texts(struct builder *b)
{
	struct folded_lines *f = b->out;
	uint32_t *rank = malloc((f->text_count + 1) * sizeof(*rank));

	if (!rank)
		return false;
	if (f->text_count)
		qsort_r(f->texts, f->text_count, sizeof(*f->texts), compare_texts, f->bytes.data);
	for (size_t i = 0; i < f->text_count; i++)
		rank[f->texts[i].id] = (uint32_t)i;
	for (size_t i = 0; i < b->frame_count; i++)
		f->frames[i] = rank[f->frames[i]];
	free(rank);
	return true;
}

static bool begins(const struct folded_lines *f, uint32_t text, uint32_t prefix)
{
	const struct folded_text *t = &f->texts[text], *p = &f->texts[prefix];

	return t->length >= p->length &&
	       !memcmp(f->bytes.data + t->offset, f->bytes.data + p->offset, p->length);
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct folded_line *a = left, *b = right;
	const struct folded_lines *f = context;
	const uint32_t *x = f->frames + a->first, *y = f->frames + b->first;
	size_t common = a->count < b->count ? a->count : b->count, i = 0;

	/* Stacks share most of their outer frames, so these are compared four at a time. */
	while (i + 4 <= common && !memcmp(x + i, y + i, 4 * sizeof(*x)))
		i += 4;
	while (i < common && x[i] == y[i])
		i++;
	if (i == common)
		return a->count < b->count ? -1 : a->count > b->count;
	/* The ranks assume a ';' after each frame; the last frame of a line has none. */
	if (i + 1 == a->count && begins(f, y[i], x[i]))
		return -1;
	if (i + 1 == b->count && begins(f, x[i], y[i]))
		return 1;
	return x[i] < y[i] ? -1 : 1;
}

static void join_lines(struct folded_lines *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->line_count; i++) {
		if (n && !compare_lines(&f->lines[n - 1], &f->lines[i], f))
			f->lines[n - 1].value += f->lines[i].value;
		else
			f->lines[n++] = f->lines[i];
	}
	f->line_count = n;
}

struct error *folded_lines_init(struct folded_lines *f, const struct profile *p,
				const struct view_options *o)
{
	struct builder b = { .profile = p, .options = o, .out = f };
	bool ok;

	*f = (struct folded_lines){ 0 };
	ok = name_frames(&b) && add_lines(&b) && buffer_ok(&f->bytes) && rank_texts(&b);
	if (ok && f->line_count) {
		qsort_r(f->lines, f->line_count, sizeof(*f->lines), compare_lines, f);
		join_lines(f);
	}
	map_release(&b.ids);
	free(b.text_of);
	buffer_release(&b.label);
	return ok ? NULL : error_memory();
}

void folded_lines_stack(const struct folded_lines *f, const struct folded_line *line,
			struct sink *s)
{
	const uint32_t *frames = f->frames + line->first;
	const struct folded_text *texts = f->texts;
	const uint8_t *bytes = f->bytes.data;
	size_t size = line->count - 1;
	uint8_t *room;

	for (size_t i = 0; i < line->count; i++)
		size += texts[frames[i]].length;
	room = sink_room(s, size);
	for (size_t i = 0; room && i < line->count; i++) {
		const struct folded_text *text = &texts[frames[i]];

		if (i)
			*room++ = ';';
		memcpy(room, bytes + text->offset, text->length);
		room += text->length;
	}
}
