/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/unnamed.h"

#include "common/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_unnamed(const void *left, const void *right)
{
	const struct unnamed *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* The recorder's object for code that it could name, but not for certain (man/prf.5). */
static bool is_withheld(const struct profile_object *object)
{
	return object->recorded->kind == PRF_OBJECT_JIT && !(uint32_t)object->recorded->base;
}

/*
 * A process that makes code has many objects (record/symbols/jit_names.h). They are listed as
 * two: code without symbols, and code whose name was withheld.
 */
static uint32_t listed_as(const struct profile *p, uint32_t object, uint32_t *made)
{
	uint32_t *first = &made[is_withheld(&p->objects[object])];

	if (p->objects[object].recorded->kind != PRF_OBJECT_JIT)
		return object;
	if (*first == PRF_NONE)
		*first = object;
	return *first;
}

struct unnamed *unnamed_objects(const struct profile *p, size_t *n)
{
	struct unnamed *list = calloc(p->object_count + 1, sizeof(*list));
	uint64_t *at_node = calloc(p->node_count + 1, sizeof(*at_node));
	uint32_t made[2] = { PRF_NONE, PRF_NONE };

	*n = 0;
	if (!list || !at_node) {
		free(list);
		free(at_node);
		return NULL;
	}
	for (size_t i = 0; i < p->object_count; i++)
		list[i].object = (uint32_t)i;
	for (size_t i = 0; i < p->entry_count; i++)
		if (p->entries[i].node != PRF_NONE)
			at_node[p->entries[i].node] += p->entries[i].samples;
	for (size_t i = 0; i < p->node_count; i++) {
		const struct profile_frame *frame = &p->frames[p->nodes[i].frame];

		if (at_node[i] && frame->object != PRF_NONE && !frame->named)
			list[listed_as(p, frame->object, made)].samples += at_node[i];
	}
	free(at_node);
	if (p->object_count)
		qsort(list, p->object_count, sizeof(*list), compare_unnamed);
	while (*n < p->object_count && list[*n].samples)
		++*n;
	return list;
}

const char *unnamed_reason(const struct profile_object *object)
{
	if (is_withheld(object))
		return "withheld: other code took the place at about that time";
	if (!strcmp(object->symbols, symbols_status_text(SYMBOLS_DIFFERENT)) &&
	    !object->recorded->build_id_size)
		return "another file is there now";
	return strcmp(object->symbols, "ok") ? object->symbols : "code that no symbol covers";
}

const char *unnamed_remedy(const struct profile_object *object)
{
	if (!strcmp(object->symbols, symbols_status_text(SYMBOLS_SHORT)))
		return "run it again";
	switch ((int)object->recorded->kind) {
	case PRF_OBJECT_FILE:
		return "debug packages, --debug-dir, --sysroot or --debuginfod may help";
	case PRF_OBJECT_KERNEL:
	case PRF_OBJECT_MODULE:
	case PRF_OBJECT_BPF: return "prof-record must be allowed to read /proc/kallsyms";
	case PRF_OBJECT_JIT:
		if (is_withheld(object))
			return "a jitdump has exact times, as node --perf-prof writes it";
		/* fallthrough */
	case PRF_OBJECT_ANONYMOUS:
		return "the runtime must write a perf map, as node --perf-basic-prof does";
	default: return "nothing is known of it";
	}
}

void unnamed_say_shortage(const struct symbolizer *s, void (*say)(const char *format, ...))
{
	struct symbolizer_shortage lacks;
	const char *remedy;
	char others[64] = "";

	symbolizer_shortage(s, &lacks);
	switch (lacks.os_error) {
	case 0: return;
	case ENOMEM: remedy = "run it again with more memory"; break;
	case EMFILE:
	case ENFILE: remedy = "run it again with more open files (ulimit -n)"; break;
	default: remedy = "run it again";
	}
	if (lacks.objects > 1)
		snprintf(others, sizeof(others), " and %zu more", lacks.objects - 1);
	say("%s%s: %s while names were looked up: functions, inlined calls or lines may be "
	    "missing; "
	    "%s",
	    lacks.path, others, shortage_text(lacks.os_error), remedy);
}
