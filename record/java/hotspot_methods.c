/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_methods.h"

#include <stdio.h>
#include <string.h>

#include "record/java/hotspot_scopes.h"

#define LINES_BYTES 16384
#define SYMBOL_BYTES 1024
#define NEVER UINT64_MAX /* as_of: not found to be right yet */
#define WAY_PIECES 8
#define UNCERTAIN_MAX (HOTSPOT_INLINED_MAX + 1)
#define PIECES_MAX (UNCERTAIN_MAX * WAY_PIECES + HOTSPOT_PIECES_MAX)

_Static_assert(PIECES_MAX <= TARGET_PIECES_MAX, "they are read by one system call");

void hotspot_methods_init(struct hotspot_methods *m, struct hotspot_reader *r)
{
	*m = (struct hotspot_methods){ .reader = r };
}

void hotspot_methods_release(struct hotspot_methods *m)
{
	map_release(&m->places);
}

void hotspot_method_place(const struct hotspot_method *method, bool no_zero, int64_t bci,
			  struct prf_place *place)
{
	*place = (struct prf_place){ .function = method->function, .file = method->file };
	if (!method->lines)
		return;
	place->line = hotspot_line_at(cursor_over(method->lines, method->line_bytes), no_zero,
				      bci < 0 ? 0 : (uint32_t)bci, &place->start_line);
	if (bci > UINT16_MAX)
		place->line = 0;
}

/* -------- texts -------- */

/* A symbol's characters; the virtual machine has them in a kind of UTF-8. */
static bool read_symbol(const struct hotspot_reader *r, uint64_t symbol, char text[SYMBOL_BYTES])
{
	uint64_t head;
	size_t length;

	if (!symbol || !target_u64(&r->memory, symbol, &head))
		return false;
	length = head >> r->h->process.symbol_length_shift & 0xffff;
	if (length >= SYMBOL_BYTES)
		length = SYMBOL_BYTES - 1;
	if (!target_read(&r->memory, symbol + hotspot_reader_field(r, SYMBOL_BODY), text, length))
		return false;
	text[length] = 0;
	return length && !memchr(text, 0, length);
}

static uint64_t pool_entry(const struct hotspot_reader *r, uint64_t constants, uint16_t index)
{
	return constants + r->h->tables.sizes[SIZE_CONSTANTS] + 8 * (uint64_t)index;
}

static bool read_constant(const struct hotspot_reader *r, uint64_t constants, uint16_t index,
			  char text[SYMBOL_BYTES])
{
	uint64_t symbol;

	return index && target_u64(&r->memory, pool_entry(r, constants, index), &symbol) &&
	       read_symbol(r, symbol, text);
}

/*
 * Replaces slashes by dots. The suffix of hidden classes, which is an address in memory, is
 * removed: it means nothing to a reader, and differs in each run.
 */
static void write_class(char *name)
{
	char *address = strstr(name, "+0x");

	if (!address)
		address = strstr(name, "/0x");
	if (address)
		*address = 0;
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
}

/* "java/util/HashMap$Node" and "HashMap.java": "java/util/HashMap.java". */
static void write_file(char *to, size_t size, const char *class, const char *source)
{
	const char *slash = strrchr(class, '/');
	const char *hidden = strstr(class, "/0x");

	if (hidden && slash == hidden)
		for (slash = hidden - 1; slash > class && *slash != '/';)
			slash--;
	if (slash && *slash == '/')
		snprintf(to, size, "%.*s/%s", (int)(slash - class), class, source);
	else
		snprintf(to, size, "%s", source);
}

/* -------- the way to a method's names -------- */

/* As the kernel half does it (hotspot_identify() in bpf/runtimes/hotspot_step.bpf.h). */
static bool read_head(const struct hotspot_reader *r, uint64_t symbol,
		      __u64 words[HOTSPOT_SYMBOL_WORDS])
{
	const struct target_memory *memory = &r->memory;

	if (!target_read(memory, symbol, words, HOTSPOT_SYMBOL_WORDS * sizeof(*words)) &&
	    !target_read(memory, symbol, words, sizeof(*words)))
		return false;
	hotspot_symbol_settle(words, &r->h->process);
	return true;
}

static bool identify(const struct hotspot_reader *r, uint64_t method, struct hotspot_way *way)
{
	uint64_t const_method, method_symbol, class_symbol;
	struct hotspot_identity *identity = &way->identity;

	*way = (struct hotspot_way){ .method = method };
	if (!method || method & 7 ||
	    !hotspot_reader_u64(r, method, METHOD_CONST_METHOD, &const_method) ||
	    !hotspot_reader_u64(r, const_method, CONST_METHOD_CONSTANTS, &way->constants) ||
	    !hotspot_reader_u16(r, const_method, CONST_METHOD_NAME, &way->name) ||
	    !hotspot_reader_u64(r, way->constants, CONSTANTS_HOLDER, &way->holder) ||
	    !target_u64(&r->memory, pool_entry(r, way->constants, way->name), &method_symbol) ||
	    !hotspot_reader_u64(r, way->holder, KLASS_NAME, &class_symbol))
		return false;
	identity->const_method = const_method;
	identity->method_symbol = method_symbol;
	identity->class_symbol = class_symbol;
	return read_head(r, class_symbol, identity->class_name) &&
	       read_head(r, method_symbol, identity->method_name);
}

/* How many bytes of a symbol's head are its own. */
static size_t head_size(const struct hotspot_reader *r, const __u64 words[HOTSPOT_SYMBOL_WORDS])
{
	const struct hotspot_process *p = &r->h->process;
	size_t size = p->symbol_body + (words[0] >> p->symbol_length_shift & 0xffff);

	if (size > HOTSPOT_SYMBOL_WORDS * sizeof(*words))
		size = HOTSPOT_SYMBOL_WORDS * sizeof(*words);
	return words[1] && size > sizeof(*words) ? size : sizeof(*words);
}

/* The same way, read afresh and at once. */
struct way_now {
	uint64_t const_method, constants, holder, method_symbol, class_symbol;
	__u64 class_name[HOTSPOT_SYMBOL_WORDS], method_name[HOTSPOT_SYMBOL_WORDS];
	uint16_t name;
};

static void ask_way(const struct hotspot_reader *r, const struct hotspot_way *way,
		    struct way_now *now, struct target_piece pieces[WAY_PIECES])
{
	const struct hotspot_identity *was = &way->identity;
	const struct target_piece all[WAY_PIECES] = {
		{ way->method + hotspot_reader_field(r, METHOD_CONST_METHOD), &now->const_method,
		  8 },
		{ was->const_method + hotspot_reader_field(r, CONST_METHOD_CONSTANTS),
		  &now->constants, 8 },
		{ was->const_method + hotspot_reader_field(r, CONST_METHOD_NAME), &now->name, 2 },
		{ way->constants + hotspot_reader_field(r, CONSTANTS_HOLDER), &now->holder, 8 },
		{ pool_entry(r, way->constants, way->name), &now->method_symbol, 8 },
		{ way->holder + hotspot_reader_field(r, KLASS_NAME), &now->class_symbol, 8 },
		{ was->class_symbol, now->class_name, head_size(r, was->class_name) },
		{ was->method_symbol, now->method_name, head_size(r, was->method_name) },
	};

	*now = (struct way_now){ 0 };
	memcpy(pieces, all, sizeof(all));
}

static bool is_same_symbol(const struct hotspot_reader *r, const __u64 *was, __u64 *now)
{
	hotspot_symbol_settle(now, &r->h->process);
	return !memcmp(now, was, HOTSPOT_SYMBOL_WORDS * sizeof(*now));
}

static bool is_same_way(const struct hotspot_reader *r, const struct hotspot_way *way,
			struct way_now *now)
{
	const struct hotspot_identity *was = &way->identity;

	return now->const_method == was->const_method && now->constants == way->constants &&
	       now->name == way->name && now->holder == way->holder &&
	       now->method_symbol == was->method_symbol && now->class_symbol == was->class_symbol &&
	       is_same_symbol(r, was->class_name, now->class_name) &&
	       is_same_symbol(r, was->method_name, now->method_name);
}

/* -------- methods -------- */

static void read_source(const struct hotspot_reader *r, uint64_t constants, uint64_t holder,
			char text[SYMBOL_BYTES])
{
	uint16_t index = 0;

	if (!hotspot_reader_u16(r, constants, CONSTANTS_SOURCE_FILE, &index))
		hotspot_reader_u16(r, holder, CLASS_SOURCE_FILE, &index);
	if (!read_constant(r, constants, index, text))
		text[0] = 0;
}

/* They follow the bytecodes; bit 0 of the flags: there are some. */
static void read_lines(struct hotspot_reader *r, struct hotspot_method *m)
{
	uint64_t before = r->h->tables.sizes[SIZE_CONST_METHOD], size;
	uint64_t const_method = m->way.identity.const_method;
	uint32_t flags, words;
	uint16_t code_size;
	uint8_t *bytes;

	if (!hotspot_reader_u32(r, const_method, CONST_METHOD_FLAGS, &flags) || !(flags & 1) ||
	    !hotspot_reader_u16(r, const_method, CONST_METHOD_CODE_SIZE, &code_size) ||
	    !hotspot_reader_u32(r, const_method, CONST_METHOD_WORDS, &words))
		return;
	before += code_size;
	if (8 * (uint64_t)words <= before)
		return;
	size = 8 * (uint64_t)words - before;
	if (size > LINES_BYTES)
		size = LINES_BYTES;
	bytes = hotspot_reader_take_room(r, size);
	if (!bytes || !target_read(&r->memory, const_method + before, bytes, size))
		return;
	m->lines = bytes;
	m->line_bytes = size;
}

/* The characters, read at another moment, are those of the identity as far as that has them. */
static bool is_of(const struct hotspot_reader *r, const __u64 words[HOTSPOT_SYMBOL_WORDS],
		  const char *text)
{
	size_t body = r->h->process.symbol_body, has = head_size(r, words) - body;

	return !memcmp((const char *)words + body, text, has < strlen(text) ? has : strlen(text));
}

/* Uncertain. NULL: it makes no sense, or is not there. */
static struct hotspot_method *read_method(struct hotspot_reader *r, uint64_t method)
{
	char class[SYMBOL_BYTES], name[SYMBOL_BYTES], source[SYMBOL_BYTES];
	char file[2 * SYMBOL_BYTES], function[2 * SYMBOL_BYTES];
	struct hotspot_method *m;
	struct hotspot_way way;

	if (!identify(r, method, &way) || !read_symbol(r, way.identity.class_symbol, class) ||
	    !read_constant(r, way.constants, way.name, name) ||
	    !is_of(r, way.identity.class_name, class) || !is_of(r, way.identity.method_name, name))
		return NULL;
	read_source(r, way.constants, way.holder, source);
	write_file(file, sizeof(file), class, source);
	write_class(class);
	snprintf(function, sizeof(function), "%s.%s", class, name);
	m = hotspot_reader_take_room(r, sizeof(*m));
	if (!m)
		return NULL;
	*m = (struct hotspot_method){
		.function = hotspot_reader_keep_text(r, function),
		.file = hotspot_reader_keep_text(r, source[0] ? file : ""),
		.way = way,
		.as_of = NEVER,
	};
	if (!m->function || !m->file)
		return NULL;
	read_lines(r, m);
	return m;
}

void hotspot_methods_begin(struct hotspot_methods *m)
{
	m->uncertain_count = 0;
}

const struct hotspot_method *hotspot_methods_find(struct hotspot_methods *m, uint64_t method)
{
	uint64_t *value = map_put(&m->places, &method, sizeof(method), NULL);
	struct hotspot_method *found = value ? (struct hotspot_method *)(uintptr_t)*value : NULL;

	if (!value || m->uncertain_count == UNCERTAIN_MAX)
		return NULL;
	if (!found) {
		found = read_method(m->reader, method);
		*value = (uintptr_t)found;
	}
	/* What was read for an earlier sample may be something else now. */
	if (found && found->as_of != m->reader->as_of)
		m->uncertain[m->uncertain_count++] = found;
	return found;
}

/* Another method may have been found in its place since. */
static void forget(struct hotspot_methods *m, const struct hotspot_method *method)
{
	uint64_t *value = map_get(&m->places, &method->way.method, sizeof(method->way.method));

	if (value && *value == (uintptr_t)method)
		*value = 0;
}

bool hotspot_methods_settle(struct hotspot_methods *m, struct hotspot_pieces *more)
{
	struct target_piece pieces[PIECES_MAX];
	struct way_now ways[UNCERTAIN_MAX];
	const struct target_memory *memory = &m->reader->h->memory;
	size_t n = m->uncertain_count, count = n * WAY_PIECES;
	bool at_once, all = true;

	more->read = true;
	if (!n && !more->count)
		return true;
	for (size_t i = 0; i < n; i++)
		ask_way(m->reader, &m->uncertain[i]->way, &ways[i], pieces + i * WAY_PIECES);
	if (more->count)
		memcpy(pieces + count, more->pieces, more->count * sizeof(*pieces));
	at_once = target_read_all(memory, pieces, count + more->count);
	/* One that cannot be read says nothing about the others. */
	more->read = at_once || target_read_all(memory, more->pieces, more->count);
	for (size_t i = 0; i < n; i++) {
		struct hotspot_method *method = m->uncertain[i];

		if ((at_once || target_read_all(memory, pieces + i * WAY_PIECES, WAY_PIECES)) &&
		    is_same_way(m->reader, &method->way, &ways[i])) {
			method->as_of = m->reader->as_of;
			continue;
		}
		forget(m, method);
		all = false;
	}
	/* What they were read from may be old in the cache: the next try reads it afresh. */
	if (!all)
		hotspot_reader_drop(m->reader);
	m->uncertain_count = 0;
	return all;
}
