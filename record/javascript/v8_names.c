/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/cursor.h"
#include "common/limits.h"
#include "common/map.h"
#include "common/sorted.h"
#include "common/utf8.h"

#define SOURCE_PIECE 65536
/*
 * What is read of sources, of all processes together: so much at once, and so much more with each
 * millisecond. Processes may claim a source of its own for each function. A large program has 10
 * MiB; functions beyond have no line.
 */
#define READ_BYTES (UINT64_C(256) << 20)
#define READ_BYTES_PER_MS (UINT64_C(32) << 10)
#define TRIES 4

/* A script whose source was read. */
struct script {
	uint32_t *lines; /* where each begins, but the first one, in characters */
	size_t count, capacity;
};

/* Of a function; of a script with a position without the lower half. */
struct key {
	uint64_t code, position;
};

/* Optimized code of a function, with others inlined. */
struct compiled {
	struct v8_inlined *inlined;
	uint64_t instructions; /* where they begin */
	uint32_t tries; /* to get the inlined functions: how often it was sent; TRIES: no more */
	bool asked;	/* since it was sent last */
	uint32_t inner_count;
	struct key inner[V8_INNER_MAX];
};

struct function {
	uint32_t line;	/* 0: not known */
	uint32_t tries; /* to get a part of its source; TRIES: no more */
	uint32_t file;	/* where in texts */
	char texts[];	/* its name, its script's */
};

struct v8_names {
	struct v8_names_options options;
	struct map functions, scripts; /* struct key -> struct function *, struct script * */
	struct map compiled;	       /* likewise -> struct compiled * */
	uint64_t bytes;		       /* kept */
	uint64_t read;		       /* of sources, less what the time since has allowed */
	uint64_t read_ms;	       /* that time */
	struct buffer text;
};

struct v8_names *v8_names_new(const struct v8_names_options *options)
{
	struct v8_names *n = calloc(1, sizeof(*n));

	if (n)
		n->options = *options;
	return n;
}

static void script_free(void *script)
{
	free(((struct script *)script)->lines);
	free(script);
}

static void compiled_free(void *compiled)
{
	v8_inlined_free(((struct compiled *)compiled)->inlined);
	free(compiled);
}

static void forget(struct v8_names *n)
{
	map_release_values(&n->functions, free);
	map_release_values(&n->compiled, compiled_free);
	map_release_values(&n->scripts, script_free);
	n->bytes = 0;
}

void v8_names_free(struct v8_names *n)
{
	if (!n)
		return;
	forget(n);
	buffer_release(&n->text);
	free(n);
}

static void *recall(const struct map *map, const struct key *key)
{
	const uint64_t *value = map_get(map, key, sizeof(*key));

	return value ? (void *)(uintptr_t)*value : NULL;
}

/* In place of nothing. */
static bool keep(struct map *map, const struct key *key, void *what)
{
	uint64_t *value = map_put(map, key, sizeof(*key), NULL);

	if (value)
		*value = (uintptr_t)what;
	return value != NULL;
}

/* -------- lines -------- */

static uint32_t character_at(const uint8_t *bytes, size_t i, uint8_t width)
{
	return width == 1 ? bytes[i] : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
}

/* As in ECMAScript: \r\n is one end of a line. */
static bool is_line_end(uint32_t character, uint32_t next)
{
	return character == '\n' || (character == '\r' && next != '\n') || character == 0x2028 ||
	       character == 0x2029;
}

/* A part of a source, with the character after it, if there is one. */
struct piece {
	const uint8_t *bytes;
	size_t characters, after; /* 1: one more */
	uint32_t first;		  /* its place in the source */
	uint8_t width;
};

static bool add_lines(struct script *s, const struct piece *p)
{
	for (size_t i = 0; i < p->characters; i++) {
		uint32_t next = i + 1 < p->characters + p->after
					? character_at(p->bytes, i + 1, p->width)
					: 0;

		if (!is_line_end(character_at(p->bytes, i, p->width), next))
			continue;
		if (!array_reserve(&s->lines, &s->capacity, s->count + 1))
			return false;
		s->lines[s->count++] = p->first + (uint32_t)i + 1;
	}
	return true;
}

static bool may_read(struct v8_names *n, size_t size)
{
	uint64_t now_ms = clock_now() / 1000000;
	uint64_t allowed = (now_ms - n->read_ms) * READ_BYTES_PER_MS;

	n->read -= allowed < n->read ? allowed : n->read;
	n->read_ms = now_ms;
	if (n->read + size > READ_BYTES)
		return false;
	n->read += size;
	return true;
}

static bool read_lines(struct v8_names *n, struct script *s, const struct target_memory *m,
		       const struct v8_text *source)
{
	size_t most = SOURCE_PIECE / source->width, left = source->length;
	uint8_t *bytes = malloc(SOURCE_PIECE + 2);
	uint64_t at = source->address;
	bool all = bytes && (uint64_t)left * source->width <= LIMIT_SCRIPT_SOURCE_BYTES;

	while (left && all) {
		struct piece p = {
			.bytes = bytes,
			.characters = left < most ? left : most,
			.first = source->length - (uint32_t)left,
			.width = source->width,
		};

		p.after = p.characters < left;
		all = may_read(n, p.characters * p.width) &&
		      target_read(m, at, bytes, (p.characters + p.after) * p.width) &&
		      add_lines(s, &p);
		at += p.characters * p.width;
		left -= p.characters;
	}
	free(bytes);
	return all;
}

/* Whether the process still has the part of the source that came with the function. */
static bool is_still_there(const struct target_memory *m, const struct v8_name *name)
{
	uint64_t at = name->source.address + (uint64_t)name->from * name->source.width;
	uint8_t bytes[V8_SOURCE_BYTES];

	return target_read(m, at, bytes, name->source.captured) &&
	       !memcmp(bytes, name->source_bytes, name->source.captured);
}

/* The lines of the function's script; NULL: its source is not there, or no more. */
static const struct script *read_script(struct v8_names *n, const struct v8_name *name)
{
	const struct key key = { name->script, name->position >> 32 << 32 };
	struct target_memory memory = n->options.memory(name->pid);
	struct script *s = recall(&n->scripts, &key);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && is_still_there(&memory, name) && read_lines(n, s, &memory, &name->source) &&
	    is_still_there(&memory, name) && keep(&n->scripts, &key, s)) {
		n->bytes += sizeof(*s) + s->capacity * sizeof(*s->lines);
		return s;
	}
	if (s)
		script_free(s);
	return NULL;
}

static uint32_t lines_before(const struct script *s, uint32_t position)
{
	return (uint32_t)sorted_up_to(s->lines, s->count, SORTED_NUMBERS(uint32_t), position);
}

/* 0: not known. */
static uint32_t line_of(struct v8_names *n, const struct v8_name *name)
{
	struct script here = { 0 };
	const struct script *s = &here;
	struct piece p = { .bytes = name->source_bytes, .width = name->source.width };
	uint32_t line = 0;

	if (!p.width || !name->source.captured)
		return 0;
	p.characters = name->source.captured / p.width;
	if (name->from || name->start >= p.characters)
		s = read_script(n, name);
	else if (!add_lines(&here, &p))
		s = NULL;
	if (s)
		line = 1 + name->first_line + lines_before(s, name->start);
	free(here.lines);
	return line;
}

/* -------- names -------- */

static uint32_t next_character(struct cursor *c, uint8_t width)
{
	uint32_t character = width == 1 ? cursor_u8(c) : cursor_u16(c), low;
	struct cursor after = *c;

	if (width == 1 || character < 0xd800 || character >= 0xdc00)
		return character;
	low = cursor_u16(&after);
	if (!cursor_ok(&after) || low < 0xdc00 || low >= 0xe000)
		return character;
	*c = after;
	return 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
}

/* In UTF-8, with its NUL; or what stands for a text that is none. */
static void append_text(struct buffer *b, const struct v8_text *text, const uint8_t *bytes,
			const char *none)
{
	struct cursor c = cursor_over(bytes, text->captured);

	if (!text->width || !text->captured)
		buffer_text(b, none);
	else
		while (cursor_left(&c) >= text->width)
			utf8_append_character(b, next_character(&c, text->width));
	if (text->width && text->captured < (uint64_t)text->length * text->width)
		buffer_text(b, "...");
	buffer_u8(b, 0);
}

static struct function *make_function(struct v8_names *n, const struct v8_name *name)
{
	struct buffer *b = &n->text;
	struct function *f;
	size_t file;

	buffer_clear(b);
	append_text(b, &name->name, name->name_bytes, "(anonymous)");
	file = b->size;
	/* As V8 itself writes it: code that was made at run time has no file. */
	append_text(b, &name->file, name->file_bytes, "<anonymous>");
	f = buffer_ok(b) ? malloc(sizeof(*f) + b->size) : NULL;
	if (!f)
		return NULL;
	*f = (struct function){ .file = (uint32_t)file };
	memcpy(f->texts, b->data, b->size);
	n->bytes += sizeof(*f) + b->size;
	return f;
}

/* The line, or a part of the source that leads to it, once it is paged in. */
static void find_line(struct v8_names *n, struct function *f, const struct v8_name *name)
{
	uint64_t at = name->source.address + (uint64_t)name->from * name->source.width;
	struct target_memory memory = n->options.memory(name->pid);
	uint8_t bytes[V8_SOURCE_BYTES];

	if (f->tries >= TRIES)
		return;
	f->line = line_of(n, name);
	f->tries++;
	if (f->line || name->source.captured || !name->source.width ||
	    name->start >= name->source.length)
		f->tries = TRIES;
	if (f->tries == TRIES || !n->options.again)
		return;
	/* Both ends of what is copied; the kernel half cannot do that. */
	if (target_read(&memory, at, bytes, 1))
		target_read(&memory, at, bytes, sizeof(bytes));
	n->options.again(n->options.context, name->code, name->position);
}

static bool is_text(const struct v8_text *text, size_t room)
{
	return text->width <= 2 && text->captured <= room;
}

/* With its line. False without memory. */
static bool add_function(struct v8_names *n, struct v8_name *name)
{
	const struct key key = { name->code & V8_SCRIPT, name->position };
	/* Two that share a slot of the kernel half's map are sent again and again. */
	struct function *f = recall(&n->functions, &key);

	name->code &= ~V8_NAME;
	if (!f) {
		f = make_function(n, name);
		if (!f || !keep(&n->functions, &key, f)) {
			free(f);
			return false;
		}
	}
	find_line(n, f, name);
	return true;
}

/* -------- inlined functions -------- */

/*
 * Code is seen for the first time: what it has inlined is kept with the function of that code,
 * whose names come next.
 */
static bool add_compilation(struct v8_names *n, const void *data)
{
	struct v8_compilation c;
	struct v8_inlined *inlined;
	struct compiled *compiled;
	struct key key;

	memcpy(&c, data, sizeof(c));
	key = (struct key){ c.code & V8_SCRIPT, c.position };
	compiled = recall(&n->compiled, &key);
	if (compiled) {
		compiled->tries += compiled->tries < TRIES;
		compiled->asked = false;
		return true;
	}
	inlined = v8_inlined_new(&c);
	compiled = inlined ? calloc(1, sizeof(*compiled)) : NULL;
	if (!compiled || !keep(&n->compiled, &key, compiled)) {
		v8_inlined_free(inlined);
		free(compiled);
		return false;
	}
	compiled->inlined = inlined;
	compiled->tries = 1;
	compiled->instructions = c.instructions;
	compiled->inner_count = c.inner_count < V8_INNER_MAX ? c.inner_count : V8_INNER_MAX;
	for (uint32_t i = 0; i < compiled->inner_count; i++)
		compiled->inner[i] = (struct key){ c.inner[i].code & V8_SCRIPT,
						   c.inner[i].position };
	n->bytes += sizeof(*compiled) + v8_inlined_size(inlined);
	return true;
}

static void bound(struct v8_names *n)
{
	if (n->functions.count < LIMIT_SCRIPT_FUNCTIONS &&
	    n->compiled.count < LIMIT_SCRIPT_FUNCTIONS && n->bytes < LIMIT_SCRIPT_NAME_BYTES)
		return;
	forget(n);
	if (n->options.forgot)
		n->options.forgot(n->options.context);
}

bool v8_names_add(struct v8_names *n, const void *data, size_t size)
{
	struct v8_name name;

	bound(n);
	if (size == sizeof(struct v8_compilation))
		return add_compilation(n, data);
	if (size != sizeof(name))
		return false;
	memcpy(&name, data, size);
	if (!is_text(&name.name, V8_NAME_BYTES) || !is_text(&name.file, V8_FILE_BYTES) ||
	    !is_text(&name.source, V8_SOURCE_BYTES))
		return false;
	return add_function(n, &name);
}

static struct prf_place place_of(const struct function *f)
{
	return (struct prf_place){
		.function = f->texts,
		.file = f->texts + f->file,
		.line = f->line,
		.start_line = f->line,
	};
}

/* Of a frame; `complete`: it will stay like this. */
struct found {
	struct prf_place *places;
	size_t count;
	bool complete;
};

/* Those that are inlined where the code was left; a return address lies after its call. */
static void find_inner(const struct v8_names *n, const struct compiled *c,
		       const struct v8_question *q, struct found *found)
{
	uint64_t offset = q->address - c->instructions - !q->exact;
	uint32_t numbers[V8_INLINED_DEPTH];
	size_t count = v8_inlined_find(c->inlined, offset, numbers);

	for (size_t i = 0; i < count; i++) {
		const struct key *key = numbers[i] < c->inner_count ? &c->inner[numbers[i]] : NULL;
		const struct function *inner = key ? recall(&n->functions, key) : NULL;

		if (key && key->position && (!inner || inner->tries < TRIES))
			found->complete = false;
		if (!inner) {
			found->count = 0;
			return;
		}
		found->places[found->count++] = place_of(inner);
	}
}

/*
 * Names of inlined functions, or their lines, are missing. The kernel half sends them with the
 * function that they are inlined in, and only with that. False: that was in vain often enough.
 */
static bool ask_for_inner(const struct v8_names *n, struct compiled *c,
			  const struct script_frame *frame)
{
	if (c->tries >= TRIES)
		return false;
	if (!c->asked && n->options.again)
		n->options.again(n->options.context, frame->code, frame->position);
	c->asked = true;
	return true;
}

size_t v8_names_find(const struct v8_names *n, const struct v8_question *q,
		     struct prf_place places[V8_PLACES_MAX], bool *complete)
{
	const struct key key = { q->frame->code & V8_SCRIPT, q->frame->position };
	const struct function *f = recall(&n->functions, &key);
	struct found found = { .places = places, .complete = true };
	struct compiled *compiled;

	*complete = f && f->tries == TRIES;
	if (!f)
		return 0;
	compiled = q->frame->code & V8_OPTIMIZED ? recall(&n->compiled, &key) : NULL;
	if (compiled)
		find_inner(n, compiled, q, &found);
	if (!found.complete && ask_for_inner(n, compiled, q->frame))
		*complete = false;
	places[found.count] = place_of(f);
	return found.count + 1;
}
