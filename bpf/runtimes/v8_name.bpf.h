/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_V8_NAME_BPF_H
#define BPF_RUNTIMES_V8_NAME_BPF_H

/*
 * Which function a JSFunction is, and what it is called. All that is read is the process's own
 * claim: it costs a bounded number of reads, and leads to nothing but this process's names.
 *
 * Nothing here needs a map, so that the tests can read images of memory.
 */

#include "bpf/abi/runtimes.h"
#include "bpf/state/user_memory.bpf.h"
#include "bpf/state/v8_state.bpf.h"

#include <stdbool.h>

#define V8_HOPS 3 /* strings that only lead to another one, and that one */

/* A map's type, and a string; the same in all versions, see record/javascript/v8_file.c. */
#define V8_MAP_TYPE 12
#define V8_NO_STRING 0xff80 /* bits of a type */
#define V8_STRING_KIND 7
#define V8_ONE_BYTE 8
#define V8_UNCACHED 16 /* an external string that does not have its characters' address */
#define V8_STRING_HEAD 16

enum v8_string {
	V8_SEQUENTIAL = 0,
	V8_CONS = 1,
	V8_EXTERNAL = 2,
	V8_SLICED = 3,
	V8_THIN = 5,
};

/* A ScopeInfo, in words: flags, number of parameters, of variables, in some versions positions. */
#define V8_SCOPE_VARIABLES 2
#define V8_SCOPE_POSITION 3
#define V8_SCOPE_WITH_POSITION 5  /* words in the head */
#define V8_SCOPE_INLINE 75	  /* more variables have their names in a table */
#define V8_SCOPE_CLASS (1u << 10) /* flags: what comes after the variables */
#define V8_SCOPE_FUNCTION (3u << 12)
#define V8_SCOPE_INFERRED (1u << 14)
#define V8_VARIABLES_MAX 100000

/* In a DebugInfo: node 18 and 20 put it before a function's script for coverage and breakpoints. */
#define V8_DEBUG_SCRIPT 24

#define V8_NO_TOKEN 0xffff /* the function begins too far before its parameters */

static __always_inline bool v8_is_pointer(__u64 word)
{
	return (word & 3) == V8_TAG;
}

/* A small integer that is not negative. */
static __always_inline bool v8_is_count(__u64 word)
{
	return !(__u32)word && !(word >> 63);
}

/* Whether the object's map has that type; `map` is the object's first word. */
static __always_inline bool v8_is_type(__u64 map, __u16 type)
{
	__u16 its;

	return v8_is_pointer(map) && !WALK_READ_USER(&its, 2, map - V8_TAG + V8_MAP_TYPE) &&
	       its == type;
}

/* A field of the script that was read last. */
static __always_inline __u64 v8_script_field(const struct v8_walk *v, __u16 offset)
{
	return v->script[((offset >> 3) - 1) & (V8_SCRIPT_WORDS - 1)];
}

/* The length of a string, and its hash if V8 has computed it; 0: it is none. */
static __always_inline __u64 v8_string_head(__u64 string)
{
	__u64 head = 0;

	if (!v8_is_pointer(string) || WALK_READ_USER(&head, 8, string - V8_TAG + 8))
		return 0;
	return head;
}

/* Reads the script, once in a walk. Not 0: it is not there. */
static __always_inline int v8_read_script(struct v8_walk *v, __u64 script)
{
	const struct v8_process *p = &v->process;
	__u64 hash;

	if (v->script_read == script && v->script_walk == v->walks)
		return 0;
	v->script_read = 0;
	if (!v8_is_pointer(script) ||
	    WALK_READ_USER(v->script, sizeof(v->script), script - V8_TAG + 8))
		return -1;
	hash = script_mix(v->thread, v8_string_head(v8_script_field(v, p->source)));
	v->code = script_mix(hash, v8_string_head(v8_script_field(v, p->name))) & V8_SCRIPT;
	v->script_read = script;
	v->script_walk = v->walks;
	return 0;
}

/* The script's number, a small integer; 0: it is none, or it is not there. */
static __always_inline __u64 v8_read_number(struct v8_walk *v, __u64 script)
{
	__u64 number = v8_read_script(v, script) ? 0 : v8_script_field(v, v->process.script_number);

	return v8_is_count(number) ? number : 0;
}

/*
 * The script's number and the function's number in it; 0: it is no function of a script. Afterwards
 * v->code is the hash of its script, and v->shared what is needed of the SharedFunctionInfo.
 */
static __always_inline __u64 v8_identify_shared(struct v8_walk *v, __u64 shared_info)
{
	const struct v8_process *p = &v->process;
	/* No more: it may be the last object in what is mapped. */
	__u64 *words = v->shared, size = 8 * ((p->literal >> 3) + 1ULL), number;

	if (size > sizeof(v->shared))
		size = sizeof(v->shared);
	if (!v8_is_pointer(shared_info))
		return 0;
	v->shared_info = shared_info - V8_TAG;
	if (WALK_READ_USER(words, size, v->shared_info + p->script))
		return 0;
	number = v8_read_number(v, words[0]);
	if (!number) {
		words[0] = v8_script_field(v, V8_DEBUG_SCRIPT);
		number = v8_read_number(v, words[0]);
	}
	if (!number)
		return 0;
	return number |
	       (__u32)(words[(p->literal >> 3) & (V8_SHARED_WORDS - 1)] >> (p->literal & 4) * 8);
}

/* -------- optimized code -------- */

static __always_inline __u64 v8_code_field(const struct v8_walk *v, __u16 offset)
{
	return v->made[(offset >> 3) & (V8_CODE_WORDS - 1)];
}

static __always_inline __u32 v8_code_half(const struct v8_walk *v, __u16 offset)
{
	return (__u32)(v8_code_field(v, offset) >> (offset & 4) * 8);
}

/*
 * Whether the Code's instructions are around the pc, and it is theirs: it may be one that was
 * collected, whose memory nothing else uses yet. Then all but the pc and the walk is set.
 */
static __always_inline bool v8_read_code(struct v8_walk *v, struct v8_compiled *c)
{
	const struct v8_process *p = &v->process;
	__u64 number, its;

	c->optimization = 0;
	if (!v8_is_pointer(c->address) ||
	    WALK_READ_USER(v->made, sizeof(v->made), c->address - V8_TAG))
		return false;
	c->start = v8_code_field(v, p->start);
	c->size = v8_code_half(v, p->length);
	if (c->pc - c->start >= c->size)
		return false;
	if (WALK_READ_USER(&its, 8, c->start - p->made) || its != c->address)
		return false;
	if ((v8_code_half(v, p->kind) & V8_KIND_MASK) >= p->optimized &&
	    v8_is_pointer(v8_code_field(v, p->optimization)) &&
	    !WALK_READ_USER(&number, 8,
			    v8_code_field(v, p->optimization) - V8_TAG + 16 +
				    8 * p->optimization_index) &&
	    v8_is_count(number)) {
		c->optimization = (number >> 32) + 1;
		c->data = v8_code_field(v, p->optimization);
		c->table = v8_code_field(v, p->optimization + 8);
	}
	return true;
}

/*
 * `code` of frames in optimized code of that script. Code that V8 has moved is another one: what is
 * inlined in it is found by its place.
 */
static __always_inline __u64 v8_optimized_code(__u64 script, const struct v8_compiled *c)
{
	return (script_mix(script_mix(script, c->optimization), c->start) & V8_SCRIPT) |
	       V8_OPTIMIZED;
}

/* Copies an array of bytes, or what there is room for. */
#define V8_CAPTURE_BYTES(array, size, room)                                                        \
	do {                                                                                       \
		__u64 length_ = 0, bytes_;                                                         \
                                                                                                   \
		(size) = 0;                                                                        \
		if (!v8_is_pointer(array) || WALK_READ_USER(&length_, 8, (array)-V8_TAG + 8) ||    \
		    !v8_is_count(length_))                                                         \
			break;                                                                     \
		bytes_ = length_ >> 32;                                                            \
		if (bytes_ > sizeof(room))                                                         \
			bytes_ = sizeof(room);                                                     \
		if (bytes_ && !WALK_READ_USER(room, bytes_, (array)-V8_TAG + 16))                  \
			(size) = length_ >> 32;                                                    \
	} while (0)

/*
 * What the code has inlined, but for its functions. The address of the array that begins with them;
 * 0: nothing.
 */
static __always_inline __u64 v8_read_compilation(struct v8_walk *v, const struct v8_compiled *c)
{
	struct v8_compilation *m = &v->compilation;
	__u64 elements = c->data - V8_TAG + 16, length, count, literals, places;
	__u32 index = v->process.optimization_index;

	m->inner_count = 0;
	/* Code that is never left early has an array without elements. */
	if (WALK_READ_USER(&length, 8, elements - 8) || !v8_is_count(length) ||
	    length >> 32 < index + 3 || WALK_READ_USER(&count, 8, elements + 8) ||
	    WALK_READ_USER(&literals, 8, elements + 8 * (__u64)(index - 3)) ||
	    WALK_READ_USER(&places, 8, elements + 8 * (__u64)(index + 2)) || !v8_is_count(count) ||
	    !count || !v8_is_pointer(literals))
		return 0;
	V8_CAPTURE_BYTES(places, m->places_size, m->places);
	V8_CAPTURE_BYTES(c->table, m->positions_size, m->positions);
	m->inner_count = count >> 32;
	m->instructions = c->start;
	m->size = c->size;
	return literals - V8_TAG + 16;
}

#define V8_CODE_ALIGNMENT 64
#define V8_CODE_STEPS 4
#define V8_SEARCHES_MAX 1024 /* in one walk: each reads up to 8 words */

/*
 * Searches downwards from v->search for where the instructions around the pc begin: before them is
 * a pointer to their Code, which has their address. Not 0: it is over, and c->address is that
 * pointer, or 0. One walk is given so many searches, as a process may have code where each fails.
 */
static __always_inline int v8_search_code(struct v8_walk *v, struct v8_compiled *c)
{
	const struct v8_process *p = &v->process;
	__u64 at = v->search, address, start;

	c->address = 0;
	if (v->searches >= V8_SEARCHES_MAX)
		return 1;
	v->searches++;
	v->search = at - V8_CODE_STEPS * V8_CODE_ALIGNMENT;
	for (__u64 i = 0; i < V8_CODE_STEPS; i++, at -= V8_CODE_ALIGNMENT) {
		if (WALK_READ_USER(&address, 8, at - p->made))
			return 1;
		if (v8_is_pointer(address) &&
		    !WALK_READ_USER(&start, 8, address - V8_TAG + p->start) && start == at) {
			c->address = address;
			return 1;
		}
	}
	return 0;
}

/* -------- texts -------- */

/*
 * Goes from a string to its characters, or to the string that has them: > 0, then v->words[2]. 0:
 * t->address is complete. < 0: it is no string in one piece.
 */
static __always_inline int v8_text_step(struct v8_walk *v, struct v8_text *t, __u64 string,
					bool first)
{
	__u64 *head = v->words, length;
	__u16 type;

	if (!v8_is_pointer(string) || WALK_READ_USER(head, V8_STRING_HEAD, string - V8_TAG) ||
	    !v8_is_pointer(head[0]) || WALK_READ_USER(&type, 2, head[0] - V8_TAG + V8_MAP_TYPE) ||
	    type & V8_NO_STRING)
		return -1;
	if (first)
		t->length = head[1] >> 32;
	t->width = type & V8_ONE_BYTE ? 1 : 2;
	if ((type & V8_STRING_KIND) == V8_SEQUENTIAL) {
		t->address += string - V8_TAG + V8_STRING_HEAD;
		return 0;
	}
	if (WALK_READ_USER(head + 2, 16, string - V8_TAG + V8_STRING_HEAD))
		return WALK_READ_USER(head + 2, 8, string - V8_TAG + V8_STRING_HEAD) ||
				       (type & V8_STRING_KIND) != V8_THIN
			       ? -1
			       : 1;
	switch (type & V8_STRING_KIND) {
	case V8_THIN: return 1;
	case V8_EXTERNAL: t->address += head[3]; return type & V8_UNCACHED ? -1 : 0;
	case V8_SLICED:
		t->address += head[3] >> 32 << (t->width - 1);
		return v8_is_count(head[3]) ? 1 : -1;
	case V8_CONS:
		/* Its second part is empty once it is in one piece. */
		if (!v8_is_pointer(head[3]) || WALK_READ_USER(&length, 8, head[3] - V8_TAG + 8) ||
		    length >> 32)
			return -1;
		return 1;
	default: return -1;
	}
}

/* Finds the characters of a string. t->width 0: it is none. */
static __always_inline void v8_text_find(struct v8_walk *v, struct v8_text *t, __u64 string)
{
	int more = 1;

	*t = (struct v8_text){ 0 };
	for (__u64 i = 0; i < V8_HOPS && more > 0; i++) {
		more = v8_text_step(v, t, string, i == 0);
		string = v->words[2];
	}
	if (more)
		*t = (struct v8_text){ 0 };
}

/* Copies what there is room for, from a place in the text on. */
#define V8_CAPTURE(t, from, room)                                                                  \
	do {                                                                                       \
		__u64 size_ = (t)->length;                                                         \
                                                                                                   \
		size_ = (size_ - (from)) << ((t)->width == 2);                                     \
		if (size_ > sizeof(room))                                                          \
			size_ = sizeof(room);                                                      \
		if ((t)->width && (from) < (t)->length &&                                          \
		    !WALK_READ_USER(room, size_,                                                   \
				    (t)->address + ((__u64)(from) << ((t)->width == 2))))          \
			(t)->captured = size_;                                                     \
	} while (0)

/* -------- a function -------- */

/* Not 0: it is no ScopeInfo. Else the function's start, and its name. */
static __always_inline int v8_read_scope(struct v8_walk *v, __u64 scope)
{
	const struct v8_process *p = &v->process;
	struct v8_name *n = &v->name;
	__u64 flags, variables, at, name = 0, inferred = 0, start;

	if (!v8_is_pointer(scope) || WALK_READ_USER(v->words, 32, scope - V8_TAG) ||
	    !v8_is_type(v->words[0], p->scope_type) ||
	    !v8_is_count(v->words[1 + V8_SCOPE_VARIABLES]))
		return -1;
	/* Either a small integer, or 32 bits with nothing above them. */
	flags = v->words[1];
	if (!(__u32)flags)
		flags >>= 32;
	variables = v->words[1 + V8_SCOPE_VARIABLES] >> 32;
	if (variables > V8_VARIABLES_MAX)
		return -1;
	/* The names of variables, or a table of them, a word for each, and what the flags say. */
	at = scope - V8_TAG +
	     8 * (1 + p->scope_head + variables + (variables < V8_SCOPE_INLINE ? variables : 1));
	if (flags & V8_SCOPE_CLASS)
		at += 8;
	if (flags & V8_SCOPE_FUNCTION) {
		if (WALK_READ_USER(&name, 8, at))
			return -1;
		at += 16;
	}
	if (flags & V8_SCOPE_INFERRED) {
		if (WALK_READ_USER(&inferred, 8, at))
			return -1;
		at += 8;
	}
	if (p->scope_head == V8_SCOPE_WITH_POSITION)
		at = scope - V8_TAG + 8 * (1 + V8_SCOPE_POSITION);
	if (WALK_READ_USER(&start, 8, at) || !v8_is_count(start))
		return -1;
	n->start = start >> 32;
	v8_text_find(v, &n->name, name);
	if (!n->name.length)
		v8_text_find(v, &n->name, inferred);
	return 0;
}

/*
 * Fills in v->name for the function that v8_identify_shared() read last, but for the texts of the
 * script. Not 0: it is no function.
 */
static __always_inline int v8_name_function(struct v8_walk *v)
{
	const struct v8_process *p = &v->process;
	__u64 map, scope, script = v->shared[0];
	__u16 token;

	if (WALK_READ_USER(&map, 8, v->shared_info) || !v8_is_type(map, p->shared_type) ||
	    WALK_READ_USER(&scope, 8, v->shared_info + p->scope) ||
	    WALK_READ_USER(&token, 2, v->shared_info + p->token) ||
	    WALK_READ_USER(&map, 8, script - V8_TAG) || !v8_is_type(map, p->script_type) ||
	    v8_read_scope(v, scope))
		return -1;
	if (token != V8_NO_TOKEN && token <= v->name.start)
		v->name.start -= token;
	V8_CAPTURE(&v->name.name, 0, v->name.name_bytes);
	return 0;
}

/* The texts of the script of the function that v8_identify_shared() read last. */
static __always_inline void v8_name_script(struct v8_walk *v)
{
	const struct v8_process *p = &v->process;
	__u64 lines = v8_script_field(v, p->name + 8);
	struct v8_name *n = &v->name;

	n->first_line = v8_is_count(lines) ? lines >> 32 : 0;
	v8_text_find(v, &n->file, v8_script_field(v, p->name));
	v8_text_find(v, &n->source, v8_script_field(v, p->source));
	n->from = (__u64)n->start * n->source.width <= V8_SOURCE_HEAD ? 0 : n->start;
	V8_CAPTURE(&n->file, 0, n->file_bytes);
	V8_CAPTURE(&n->source, n->from, n->source_bytes);
}

#endif
