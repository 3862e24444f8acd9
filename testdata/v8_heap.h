/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTDATA_V8_HEAP_H
#define TESTDATA_V8_HEAP_H

/*
 * A made-up heap of V8, laid out as that of node 20: enough objects to find a function and its
 * names in. What the kernel half does with memory is done with this one.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define V8_HEAP_BASE 0x100000
#define V8_HEAP_SIZE 32768

struct v8_heap {
	uint8_t bytes[V8_HEAP_SIZE];
	uint64_t used;
	bool newer; /* ScopeInfos as in node 24: positions first, and flags of 32 bits */
};

extern struct v8_heap v8_heap;

static inline bool v8_heap_has(uint64_t address, uint64_t size)
{
	return address >= V8_HEAP_BASE && size <= V8_HEAP_SIZE &&
	       address - V8_HEAP_BASE <= V8_HEAP_SIZE - size;
}

static inline int v8_heap_read(void *to, uint64_t size, uint64_t from)
{
	if (!v8_heap_has(from, size))
		return -1;
	memcpy(to, v8_heap.bytes + (from - V8_HEAP_BASE), size);
	return 0;
}

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define WALK_READ_USER(to, size, from) v8_heap_read(to, size, from)
#include "bpf/runtimes/v8_name.bpf.h"

/* Types in maps, as in node 20. */
#define TYPE_SHARED 262
#define TYPE_SCRIPT 167
#define TYPE_SCOPE 261
#define TYPE_ODDBALL 131
#define TYPE_TEXT 40	  /* of one byte */
#define TYPE_WIDE_TEXT 32 /* of two */

static const struct v8_process v8_heap_layout = {
	.context = 8,
	.function = 16,
	.bytecodes = 32,
	.shared = 24,
	.script = 32,
	.literal = 20,
	.scope = 16,
	.token = 44,
	.script_number = 64,
	.source = 8,
	.name = 16,
	.scope_head = 3,
	.shared_type = TYPE_SHARED,
	.script_type = TYPE_SCRIPT,
	.scope_type = TYPE_SCOPE,
};

static inline void v8_put(uint64_t object, uint64_t offset, uint64_t word)
{
	uint64_t address = object - V8_TAG + offset;

	if (v8_heap_has(address, sizeof(word)))
		memcpy(v8_heap.bytes + (address - V8_HEAP_BASE), &word, sizeof(word));
}

static inline uint64_t v8_small(uint64_t value)
{
	return value << 32;
}

static inline uint64_t v8_new(uint64_t size)
{
	uint64_t object = V8_HEAP_BASE + v8_heap.used + V8_TAG;

	v8_heap.used += (size + 7) & ~UINT64_C(7);
	return object;
}

/* An object with a map of its own. */
static inline uint64_t v8_new_object(uint64_t size, uint16_t type)
{
	uint64_t map = v8_new(16), object = v8_new(size);

	v8_put(map, 8, (uint64_t)type << 32);
	v8_put(object, 0, map);
	return object;
}

static inline uint64_t v8_new_text(const void *characters, uint32_t length, uint16_t type)
{
	uint32_t bytes = type & V8_ONE_BYTE ? length : 2 * length;
	uint64_t text = v8_new_object(16 + bytes, type);

	v8_put(text, 8, (uint64_t)length << 32 | 0xabcd);
	if (v8_heap_has(text - V8_TAG + 16, bytes))
		memcpy(v8_heap.bytes + (text - V8_TAG + 16 - V8_HEAP_BASE), characters, bytes);
	return text;
}

static inline uint64_t v8_new_ascii(const char *text)
{
	return v8_new_text(text, (uint32_t)strlen(text), TYPE_TEXT);
}

/* What one function is made of; strings are objects, and others as well. */
struct v8_made {
	uint64_t name, inferred, file, source;
	uint32_t variables, start, token, number, literal, lines_before;
	bool saved_class, no_name;
};

static inline uint64_t v8_new_scope(const struct v8_made *m)
{
	uint32_t flags = 2 | (m->saved_class ? V8_SCOPE_CLASS : 0) |
			 (m->no_name ? 0 : V8_SCOPE_FUNCTION) | V8_SCOPE_INFERRED;
	uint64_t at = 8 + 8 * ((v8_heap.newer ? 5 : 3) + m->variables +
			       (m->variables < 75 ? m->variables : 1));
	uint64_t scope = v8_new_object(at + 64, TYPE_SCOPE);

	v8_put(scope, 8, v8_heap.newer ? flags : v8_small(flags));
	v8_put(scope, 24, v8_small(m->variables));
	if (m->saved_class)
		at += 8;
	if (!m->no_name) {
		v8_put(scope, at, m->name);
		at += 16;
	}
	v8_put(scope, at, m->inferred);
	at = v8_heap.newer ? 32 : at + 8;
	v8_put(scope, at, v8_small(m->start));
	v8_put(scope, at + 8, v8_small(m->start + 10));
	return scope;
}

/* A JSFunction. */
static inline uint64_t v8_new_function(const struct v8_made *m)
{
	uint64_t script = v8_new_object(104, TYPE_SCRIPT);
	uint64_t shared = v8_new_object(72, TYPE_SHARED), function = v8_new(64);

	v8_put(script, 8, m->source);
	v8_put(script, 16, m->file);
	v8_put(script, 24, v8_small(m->lines_before));
	v8_put(script, 64, v8_small(m->number));
	v8_put(shared, 16, v8_new_scope(m));
	v8_put(shared, 32, script);
	v8_put(shared, 40, (uint64_t)m->token << 32);
	v8_put(shared, 48, (uint64_t)m->literal << 32);
	v8_put(function, 24, shared);
	return function;
}

/* As the kernel half does it. The position; 0: it is no function, or has no names. */
static inline uint64_t v8_heap_name(struct v8_walk *v, uint64_t function)
{
	uint64_t position, shared = 0;

	*v = (struct v8_walk){ .process = v8_heap_layout, .thread = 2 };
	if (v8_heap.newer)
		v->process.scope_head = 5;
	v8_heap_read(&shared, sizeof(shared), function - V8_TAG + v->process.shared);
	position = v8_identify_shared(v, shared);
	v->name.code = v->code | V8_NAME;
	v->name.script = v->code;
	v->name.position = position;
	if (!position || v8_name_function(v))
		return 0;
	v8_name_script(v);
	return position;
}

#endif
