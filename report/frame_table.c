/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/frame_table.h"

#include <stdlib.h>
#include <string.h>

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
	if (key.name == PRF_NONE || key.file == PRF_NONE)
		return PRF_NONE;
	if (t->count == t->capacity) {
		size_t capacity = t->capacity ? t->capacity * 2 : 256;
		struct profile_frame *frames = realloc(t->frames, capacity * sizeof(*frames));

		if (!frames)
			return PRF_NONE;
		t->frames = frames;
		t->capacity = capacity;
	}
	id = map_put(&t->ids, &key, sizeof(key), &added);
	if (!id)
		return PRF_NONE;
	if (added) {
		struct profile_frame *copy = &t->frames[t->count];
		const char *linkage = text_pool_keep(&t->texts, frame->linkage_name);

		*copy = *frame;
		copy->name = text_pool_get(&t->texts, key.name);
		copy->file = text_pool_get(&t->texts, key.file);
		copy->linkage_name = linkage ? linkage : "";
		*id = t->count++;
	}
	return (uint32_t)*id;
}

void node_tree_release(struct node_tree *t)
{
	free(t->nodes);
	free(t->table);
	*t = (struct node_tree){ 0 };
}

static uint64_t hash_node(uint32_t parent, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent << 32 | frame) * 0x9fb21c651e98df25u;

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 29;
}

static bool grow_table(struct node_tree *t)
{
	size_t size = t->table_size ? t->table_size * 2 : 4096;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < t->count; i++) {
		size_t at = hash_node(t->nodes[i].parent, t->nodes[i].frame) & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(t->table);
	t->table = table;
	t->table_size = size;
	return true;
}

uint32_t node_tree_add(struct node_tree *t, uint32_t parent, uint32_t frame)
{
	size_t at;

	if ((t->count + 1) * 4 > t->table_size * 3 && !grow_table(t))
		return PRF_NONE;
	for (at = hash_node(parent, frame) & (t->table_size - 1); t->table[at];
	     at = (at + 1) & (t->table_size - 1)) {
		const struct profile_node *node = &t->nodes[t->table[at] - 1];

		if (node->parent == parent && node->frame == frame)
			return t->table[at] - 1;
	}
	if (t->count == t->capacity) {
		size_t capacity = t->capacity ? t->capacity * 2 : 1024;
		struct profile_node *nodes = NULL;

		if (capacity < PRF_NONE)
			nodes = realloc(t->nodes, capacity * sizeof(*nodes));
		if (!nodes)
			return PRF_NONE;
		t->nodes = nodes;
		t->capacity = capacity;
	}
	t->nodes[t->count] = (struct profile_node){
		parent, frame, parent == PRF_NONE ? 1 : t->nodes[parent].depth + 1
	};
	t->table[at] = (uint32_t)t->count + 1;
	return (uint32_t)t->count++;
}
