/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/label_frames.h"

#include "report/merge/label.h"

#include <stdlib.h>
#include <string.h>

void label_frames_release(struct label_frames *l)
{
	node_tree_release(&l->tree);
	text_pool_release(&l->texts);
	free(l->frames);
	*l = (struct label_frames){ 0 };
}

/* State while the stacks of a group are added; groups are added one at a time. */
struct adding {
	struct label_frames *leading;
	const struct profile *profile;
	uint32_t *known; /* per node of the profile: its new number, ... */
	uint32_t *below; /* ... if it was put on this root */
	uint32_t *path;
	uint32_t root; /* the last of the leading frames */
	struct buffer label;
};

/* A text's frame number is its number in the pool plus the number of the profile's own frames. */
static bool add_root(struct adding *a, const struct profile_entry *entry, const unsigned int *masks)
{
	struct label_frames *l = a->leading;

	a->root = PRF_NONE;
	for (; *masks; masks++) {
		uint32_t text;

		buffer_clear(&a->label);
		label_group(&a->label, a->profile, entry, *masks);
		text = buffer_ok(&a->label) ? text_pool_add(&l->texts, buffer_string(&a->label))
					    : PRF_NONE;
		if (text == PRF_NONE)
			return false;
		a->root = node_tree_add(&l->tree, a->root,
					(uint32_t)a->profile->frame_count + text);
		if (a->root == PRF_NONE)
			return false;
	}
	return true;
}

/* The new number of a node on the root that was added last; PRF_NONE without memory. */
static uint32_t add_stack(struct adding *a, uint32_t node)
{
	const struct profile_node *nodes = a->profile->nodes;
	uint32_t at = a->root;
	size_t n = 0;

	for (; node != PRF_NONE; node = nodes[node].parent) {
		if (a->below[node] == a->root) {
			at = a->known[node];
			break;
		}
		a->path[n++] = node;
	}
	while (n && at != PRF_NONE) {
		node = a->path[--n];
		at = node_tree_add(&a->leading->tree, at, nodes[node].frame);
		a->known[node] = at;
		a->below[node] = a->root;
	}
	return at;
}

static bool add_entries(struct adding *a, struct profile_entry *entries, const unsigned int *masks)
{
	for (size_t i = 0; i < a->profile->entry_count; i++) {
		struct profile_entry *e = &entries[i];

		if ((!i || e->group != e[-1].group || e->slice != e[-1].slice) &&
		    !add_root(a, e, masks))
			return false;
		e->node = add_stack(a, e->node);
		if (e->node == PRF_NONE)
			return false;
	}
	return true;
}

static bool add_frames(struct label_frames *l, const struct profile *p)
{
	l->frames = malloc((p->frame_count + l->texts.count + 1) * sizeof(*l->frames));
	if (!l->frames)
		return false;
	if (p->frame_count)
		memcpy(l->frames, p->frames, p->frame_count * sizeof(*l->frames));
	for (size_t i = 0; i < l->texts.count; i++)
		l->frames[p->frame_count + i] = (struct profile_frame){
			.name = text_pool_get(&l->texts, (uint32_t)i),
			.linkage_name = "",
			.file = "",
			.object = PRF_NONE,
			.kind = PROFILE_FRAME_GROUP,
			.named = true,
		};
	return true;
}

struct error *label_frames_add(struct label_frames *l, struct profile *p,
			       struct profile_entry *entries, const unsigned int *masks)
{
	struct adding a = { .leading = l, .profile = p };
	bool ok;

	a.known = malloc((p->node_count + 1) * sizeof(*a.known));
	a.below = malloc((p->node_count + 1) * sizeof(*a.below));
	a.path = malloc((profile_depth(p) + 1) * sizeof(*a.path));
	ok = a.known && a.below && a.path;
	if (ok)
		memset(a.below, 0xff, p->node_count * sizeof(*a.below));
	ok = ok && add_entries(&a, entries, masks) && add_frames(l, p);
	free(a.known);
	free(a.below);
	free(a.path);
	buffer_release(&a.label);
	if (!ok)
		return error_memory();
	p->frames = l->frames;
	p->frame_count += l->texts.count;
	p->nodes = l->tree.nodes;
	p->node_count = l->tree.count;
	p->led = true;
	return NULL;
}
