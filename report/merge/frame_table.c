/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/frame_table.h"

#include "common/array.h"

#include <stdlib.h>

void frame_table_release(struct frame_table *t)
{
	text_pool_release(&t->texts);
	map_release(&t->ids);
	free(t->frames);
	*t = (struct frame_table){ 0 };
}

uint32_t frame_table_add(struct frame_table *t, const struct profile_frame *frame)
{
	struct {
		uint64_t offset;
		uint32_t name, file, line, object;
		uint8_t kind, inlined, guessed, waker, named, padding[3];
	} key = { 0 };
	uint64_t *id;
	bool added;

	key.offset = frame->offset;
	key.name = text_pool_add(&t->texts, frame->name);
	key.file = text_pool_add(&t->texts, frame->file);
	key.line = frame->line;
	key.object = frame->object;
	key.kind = frame->kind;
	key.inlined = frame->inlined;
	key.guessed = frame->guessed;
	key.waker = frame->waker;
	key.named = frame->named;
	if (key.name == PRF_NONE || key.file == PRF_NONE ||
	    !array_reserve(&t->frames, &t->capacity, t->count + 1))
		return PRF_NONE;
	id = map_put(&t->ids, &key, sizeof(key), &added);
	if (!id)
		return PRF_NONE;
	if (added) {
		struct profile_frame *copy = &t->frames[t->count];
		const char *linkage = text_pool_keep(&t->texts, frame->linkage_name);

		*id = PRF_NONE;
		if (!linkage)
			return PRF_NONE;
		*copy = *frame;
		copy->name = text_pool_get(&t->texts, key.name);
		copy->file = text_pool_get(&t->texts, key.file);
		copy->linkage_name = linkage;
		*id = t->count++;
	}
	return (uint32_t)*id;
}

void node_tree_release(struct node_tree *t)
{
	pairs_release(&t->ids);
	free(t->nodes);
	*t = (struct node_tree){ 0 };
}

uint32_t node_tree_add(struct node_tree *t, uint32_t parent, uint32_t frame)
{
	uint32_t id;

	if (!array_reserve(&t->nodes, &t->capacity, t->count + 1))
		return PRF_NONE;
	id = pairs_put(&t->ids, parent, frame);
	if (id == t->count) {
		uint32_t depth = parent == PRF_NONE ? 1 : t->nodes[parent].depth + 1;

		t->nodes[t->count++] = (struct profile_node){ parent, frame, depth };
	}
	return id;
}
