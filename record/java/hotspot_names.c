/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/java/hotspot_scopes.h"

#define PCS_MAX (4 << 20) /* bytes of one nmethod */
#define SCOPES_MAX (16 << 20)
#define LINES_BYTES 16384
#define SYMBOL_BYTES 1024
#define BLOCK 4096 /* bytes; no page ends within one */
#define BLOCKS 64

/* What identifies a method, and what is between. */
struct method_way {
	uint64_t method, constants, holder;
	struct hotspot_identity identity;
	uint16_t name;
};

/* The names of a method as they are shown, and its line table. */
struct method_name {
	const char *function, *file;
	const uint8_t *lines;
	size_t line_bytes;
	struct method_way way;
	uint64_t as_of; /* that of the names, when it was last found to be right */
};

/* A compiled method's debug information. */
struct compiled {
	uint64_t nmethod;
	struct method_name *outer;
	struct hotspot_pcs pcs;
	const uint8_t *scopes;
	size_t scope_bytes;
	uint64_t metadata;  /* where it is in the process */
	struct map methods; /* number in the metadata -> struct method_name *, 0: it has none */
};

/*
 * A cache of the process's memory: reading the fields of a structure takes one system call, not one
 * for each. It only has what was read after the sample.
 */
struct block {
	uint64_t address; /* 0: nothing */
	uint8_t bytes[BLOCK];
};

struct hotspot_names {
	const struct hotspot *h;
	struct target_memory memory; /* through the blocks */
	struct block blocks[BLOCKS];
	uint64_t as_of; /* since when they are read */
	struct arena arena;
	uint64_t bytes;		/* in it */
	uint64_t *total;	/* in those of all processes */
	struct map methods;	/* Method -> struct method_name *, as it was last read */
	struct map compiled;	/* compile id -> struct compiled *, 0: it has no names */
	struct map interpreted; /* Method, cookie -> struct method_name * */
	struct map blobs;	/* stub -> struct method_name * */
};

void hotspot_names_as_of(struct hotspot_names *n, uint64_t sample_ns)
{
	if (sample_ns < n->as_of)
		return;
	for (size_t i = 0; i < BLOCKS; i++)
		n->blocks[i].address = 0;
	n->as_of = clock_now();
}

static const uint8_t *block_at(struct hotspot_names *n, uint64_t address)
{
	struct block *block = &n->blocks[address / BLOCK % BLOCKS];

	if (!address)
		return NULL;
	if (block->address != address)
		block->address = target_read(&n->h->memory, address, block->bytes, BLOCK) ? address
											  : 0;
	return block->address ? block->bytes : NULL;
}

static bool read_blocks(void *context, uint64_t address, void *to, size_t size)
{
	uint64_t at = address % BLOCK;
	const uint8_t *block = at + size <= BLOCK ? block_at(context, address - at) : NULL;

	if (!block)
		return target_read(&((struct hotspot_names *)context)->h->memory, address, to,
				   size);
	memcpy(to, block + at, size);
	return true;
}

struct hotspot_names *hotspot_names_new(const struct hotspot *h, uint64_t *total)
{
	struct hotspot_names *n = calloc(1, sizeof(*n));

	if (n) {
		n->h = h;
		n->total = total;
		n->memory = (struct target_memory){ read_blocks, n };
	}
	return n;
}

static void release_compiled(void *compiled)
{
	map_release(&((struct compiled *)compiled)->methods);
}

void hotspot_names_free(struct hotspot_names *n)
{
	if (!n)
		return;
	map_release(&n->methods);
	map_release_values(&n->compiled, release_compiled);
	map_release(&n->interpreted);
	map_release(&n->blobs);
	arena_release(&n->arena);
	*n->total -= n->bytes;
	free(n);
}

static void *take_room(struct hotspot_names *n, size_t size)
{
	if (n->bytes + size > LIMIT_JAVA_BYTES || *n->total + size > LIMIT_JAVA_TOTAL_BYTES)
		return NULL;
	n->bytes += size;
	*n->total += size;
	return arena_take(&n->arena, size);
}

static const char *keep_text(struct hotspot_names *n, const char *text)
{
	size_t size = strlen(text);
	char *copy = take_room(n, size + 1);

	return copy ? memcpy(copy, text, size + 1) : NULL;
}

static uint64_t field(const struct hotspot_names *n, enum hotspot_field name)
{
	return n->h->tables.fields[name];
}

static bool has(const struct hotspot_names *n, enum hotspot_field name)
{
	return n->h->tables.fields[name] != HOTSPOT_MISSING;
}

static bool no_zero(const struct hotspot_names *n)
{
	return n->h->version >= 20;
}

static bool read_word(const struct hotspot_names *n, uint64_t object, enum hotspot_field name,
		      uint64_t *value)
{
	return has(n, name) && target_u64(&n->memory, object + field(n, name), value);
}

static bool read_half(const struct hotspot_names *n, uint64_t object, enum hotspot_field name,
		      uint32_t *value)
{
	return has(n, name) && target_u32(&n->memory, object + field(n, name), value);
}

static bool read_short(const struct hotspot_names *n, uint64_t object, enum hotspot_field name,
		       uint16_t *value)
{
	return has(n, name) && target_u16(&n->memory, object + field(n, name), value);
}

/* -------- texts -------- */

/* A symbol's characters; the virtual machine has them in a kind of UTF-8. */
static bool read_symbol(const struct hotspot_names *n, uint64_t symbol, char text[SYMBOL_BYTES])
{
	uint64_t head;
	size_t length;

	if (!symbol || !target_u64(&n->memory, symbol, &head))
		return false;
	length = head >> n->h->process.symbol_length_shift & 0xffff;
	if (length >= SYMBOL_BYTES)
		length = SYMBOL_BYTES - 1;
	if (!target_read(&n->memory, symbol + field(n, SYMBOL_BODY), text, length))
		return false;
	text[length] = 0;
	return length && !memchr(text, 0, length);
}

static uint64_t pool_entry(const struct hotspot_names *n, uint64_t constants, uint16_t index)
{
	return constants + n->h->tables.sizes[SIZE_CONSTANTS] + 8 * (uint64_t)index;
}

static bool read_constant(const struct hotspot_names *n, uint64_t constants, uint16_t index,
			  char text[SYMBOL_BYTES])
{
	uint64_t symbol;

	return index && target_u64(&n->memory, pool_entry(n, constants, index), &symbol) &&
	       read_symbol(n, symbol, text);
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

/* -------- methods -------- */

/* As the kernel half does it (hotspot_identify() in bpf/runtimes/hotspot_step.bpf.h). */
static bool read_head(const struct hotspot_names *n, uint64_t symbol,
		      __u64 words[HOTSPOT_SYMBOL_WORDS])
{
	const struct target_memory *memory = &n->memory;

	if (!target_read(memory, symbol, words, HOTSPOT_SYMBOL_WORDS * sizeof(*words)) &&
	    !target_read(memory, symbol, words, sizeof(*words)))
		return false;
	hotspot_symbol_settle(words, &n->h->process);
	return true;
}

static bool identify(const struct hotspot_names *n, uint64_t method, struct method_way *way)
{
	uint64_t const_method, method_symbol, class_symbol;
	struct hotspot_identity *identity = &way->identity;

	*way = (struct method_way){ .method = method };
	if (!method || method & 7 || !read_word(n, method, METHOD_CONST_METHOD, &const_method) ||
	    !read_word(n, const_method, CONST_METHOD_CONSTANTS, &way->constants) ||
	    !read_short(n, const_method, CONST_METHOD_NAME, &way->name) ||
	    !read_word(n, way->constants, CONSTANTS_HOLDER, &way->holder) ||
	    !target_u64(&n->memory, pool_entry(n, way->constants, way->name), &method_symbol) ||
	    !read_word(n, way->holder, KLASS_NAME, &class_symbol))
		return false;
	identity->const_method = const_method;
	identity->method_symbol = method_symbol;
	identity->class_symbol = class_symbol;
	return read_head(n, class_symbol, identity->class_name) &&
	       read_head(n, method_symbol, identity->method_name);
}

/* How many bytes of a symbol's head are its own. */
static size_t head_size(const struct hotspot_names *n, const __u64 words[HOTSPOT_SYMBOL_WORDS])
{
	const struct hotspot_process *p = &n->h->process;
	size_t size = p->symbol_body + (words[0] >> p->symbol_length_shift & 0xffff);

	if (size > HOTSPOT_SYMBOL_WORDS * sizeof(*words))
		size = HOTSPOT_SYMBOL_WORDS * sizeof(*words);
	return words[1] && size > sizeof(*words) ? size : sizeof(*words);
}

/* The way leads to the same names now, read afresh and at once. */
static bool is_unchanged(const struct hotspot_names *n, const struct method_way *way)
{
	const struct hotspot_identity *was = &way->identity;
	struct method_way now = { .method = way->method };
	struct hotspot_identity *is = &now.identity;
	uint64_t const_method = 0, method_symbol = 0, class_symbol = 0;
	const struct target_piece pieces[] = {
		{ way->method + field(n, METHOD_CONST_METHOD), &const_method, 8 },
		{ was->const_method + field(n, CONST_METHOD_CONSTANTS), &now.constants, 8 },
		{ was->const_method + field(n, CONST_METHOD_NAME), &now.name, 2 },
		{ way->constants + field(n, CONSTANTS_HOLDER), &now.holder, 8 },
		{ pool_entry(n, way->constants, way->name), &method_symbol, 8 },
		{ way->holder + field(n, KLASS_NAME), &class_symbol, 8 },
		{ was->class_symbol, is->class_name, head_size(n, was->class_name) },
		{ was->method_symbol, is->method_name, head_size(n, was->method_name) },
	};

	if (!target_read_all(&n->h->memory, pieces, sizeof(pieces) / sizeof(*pieces)))
		return false;
	is->const_method = const_method;
	is->method_symbol = method_symbol;
	is->class_symbol = class_symbol;
	hotspot_symbol_settle(is->class_name, &n->h->process);
	hotspot_symbol_settle(is->method_name, &n->h->process);
	return now.constants == way->constants && now.holder == way->holder &&
	       now.name == way->name && !memcmp(is, was, sizeof(*is));
}

static void read_source(const struct hotspot_names *n, uint64_t constants, uint64_t holder,
			char text[SYMBOL_BYTES])
{
	uint16_t index = 0;

	if (!read_short(n, constants, CONSTANTS_SOURCE_FILE, &index))
		read_short(n, holder, CLASS_SOURCE_FILE, &index);
	if (!read_constant(n, constants, index, text))
		text[0] = 0;
}

/* They follow the bytecodes; bit 0 of the flags: there are some. */
static void read_lines(struct hotspot_names *n, struct method_name *m)
{
	uint64_t before = n->h->tables.sizes[SIZE_CONST_METHOD], size;
	uint32_t flags, words;
	uint16_t code_size;
	uint8_t *bytes;

	if (!read_half(n, m->way.identity.const_method, CONST_METHOD_FLAGS, &flags) ||
	    !(flags & 1) ||
	    !read_short(n, m->way.identity.const_method, CONST_METHOD_CODE_SIZE, &code_size) ||
	    !read_half(n, m->way.identity.const_method, CONST_METHOD_WORDS, &words))
		return;
	before += code_size;
	if (8 * (uint64_t)words <= before)
		return;
	size = 8 * (uint64_t)words - before;
	if (size > LINES_BYTES)
		size = LINES_BYTES;
	bytes = take_room(n, size);
	if (!bytes || !target_read(&n->memory, m->way.identity.const_method + before, bytes, size))
		return;
	m->lines = bytes;
	m->line_bytes = size;
}

/* The characters, read at another moment, are those of the identity as far as that has them. */
static bool is_of(const struct hotspot_names *n, const __u64 words[HOTSPOT_SYMBOL_WORDS],
		  const char *text)
{
	size_t body = n->h->process.symbol_body, has = head_size(n, words) - body;

	return !memcmp((const char *)words + body, text, has < strlen(text) ? has : strlen(text));
}

/* NULL: it makes no sense, or is not there. */
static struct method_name *read_method(struct hotspot_names *n, uint64_t method)
{
	char class[SYMBOL_BYTES], name[SYMBOL_BYTES], source[SYMBOL_BYTES];
	char file[2 * SYMBOL_BYTES], function[2 * SYMBOL_BYTES];
	struct method_name *m;
	struct method_way way;

	if (!identify(n, method, &way) || !read_symbol(n, way.identity.class_symbol, class) ||
	    !read_constant(n, way.constants, way.name, name) ||
	    !is_of(n, way.identity.class_name, class) || !is_of(n, way.identity.method_name, name))
		return NULL;
	read_source(n, way.constants, way.holder, source);
	write_file(file, sizeof(file), class, source);
	write_class(class);
	snprintf(function, sizeof(function), "%s.%s", class, name);
	m = take_room(n, sizeof(*m));
	if (!m)
		return NULL;
	*m = (struct method_name){
		.function = keep_text(n, function),
		.file = keep_text(n, source[0] ? file : ""),
		.way = way,
		.as_of = n->as_of,
	};
	if (!m->function || !m->file)
		return NULL;
	read_lines(n, m);
	return is_unchanged(n, &way) ? m : NULL;
}

/* The method that was at this place when the sample was taken, if it still is. */
static struct method_name *find_method(struct hotspot_names *n, uint64_t method)
{
	uint64_t *value = map_put(&n->methods, &method, sizeof(method), NULL);
	struct method_name *m = value ? (struct method_name *)(uintptr_t)*value : NULL;

	if (!value)
		return NULL;
	if (m && (m->as_of == n->as_of || is_unchanged(n, &m->way)))
		m->as_of = n->as_of;
	else
		m = read_method(n, method);
	*value = (uintptr_t)m;
	return m;
}

static void fill_place(const struct hotspot_names *n, const struct method_name *m, int64_t bci,
		       struct prf_place *place)
{
	*place = (struct prf_place){ .function = m->function, .file = m->file };
	if (!m->lines)
		return;
	place->line = hotspot_line_at(cursor_over(m->lines, m->line_bytes), no_zero(n),
				      bci < 0 ? 0 : (uint32_t)bci, &place->start_line);
	if (bci > UINT16_MAX)
		place->line = 0;
}

/* -------- compiled code -------- */

/*
 * The nmethod still is what it was when the sample was taken. When its classes are unloaded it is
 * freed before their memory is used again, or loses its method at least; a freed one keeps its
 * bytes for a while, but not its block.
 */
static bool is_current(const struct hotspot_names *n, uint64_t nmethod, uint32_t compile_id)
{
	uint64_t block = nmethod - n->h->tables.sizes[SIZE_HEAP_BLOCK], method;
	uint32_t id;
	uint8_t used;
	const struct target_piece pieces[] = {
		{ block + field(n, BLOCK_USED), &used, sizeof(used) },
		{ nmethod + field(n, NMETHOD_COMPILE_ID), &id, sizeof(id) },
		{ nmethod + field(n, NMETHOD_METHOD), &method, sizeof(method) },
	};

	return target_read_all(&n->h->memory, pieces, sizeof(pieces) / sizeof(*pieces)) && used &&
	       id == compile_id && method;
}

static const uint8_t *read_bytes(struct hotspot_names *n, uint64_t at, uint64_t size, uint64_t max)
{
	uint8_t *bytes;

	if (!size || size > max)
		return NULL;
	bytes = take_room(n, size);
	return bytes && target_read(&n->memory, at, bytes, size) ? bytes : NULL;
}

/* Where its tables are: pcs up to `pcs_end`, scopes up to `scopes_end`. */
struct tables_at {
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata;
};

/* Up to JDK 22 the tables follow the code. */
static bool find_in_code(const struct hotspot_names *n, uint64_t nmethod, struct tables_at *t)
{
	uint32_t pcs, end, metadata, scopes;

	if (has(n, NMETHOD_IMMUTABLE_DATA))
		return false;
	/* An address, but an offset in JDK 8. */
	if (read_half(n, nmethod, NMETHOD_SCOPES_OFFSET, &scopes))
		t->scopes = nmethod + scopes;
	else if (!read_word(n, nmethod, NMETHOD_SCOPES_DATA, &t->scopes))
		return false;
	if (!read_half(n, nmethod, NMETHOD_SCOPES_PCS, &pcs) ||
	    !read_half(n, nmethod, NMETHOD_DEPENDENCIES, &end) ||
	    !read_half(n, nmethod, NMETHOD_METADATA, &metadata))
		return false;
	t->scopes_end = t->pcs = nmethod + pcs;
	t->pcs_end = nmethod + end;
	t->metadata = nmethod + metadata;
	return true;
}

/*
 * Since JDK 23 the tables have memory of their own: one part for metadata, after the relocations,
 * and one for what never changes.
 */
static bool find_apart(const struct hotspot_names *n, uint64_t nmethod, struct tables_at *t)
{
	uint64_t immutable, mutable;
	uint32_t pcs, scopes, size, relocations;

	if (!read_word(n, nmethod, NMETHOD_IMMUTABLE_DATA, &immutable) ||
	    !read_half(n, nmethod, NMETHOD_IMMUTABLE_SIZE, &size) ||
	    !read_half(n, nmethod, NMETHOD_SCOPES_PCS, &pcs) ||
	    !read_half(n, nmethod, NMETHOD_SCOPES_OFFSET, &scopes) ||
	    !read_word(n, nmethod, BLOB_MUTABLE_DATA, &mutable) ||
	    !read_half(n, nmethod, BLOB_RELOCATION_SIZE, &relocations))
		return false;
	t->pcs = immutable + pcs;
	t->pcs_end = t->scopes = immutable + scopes;
	t->scopes_end = immutable + size;
	t->metadata = mutable + relocations;
	return true;
}

static void read_tables(struct hotspot_names *n, struct compiled *c)
{
	uint64_t stride = n->h->tables.sizes[SIZE_PC_DESC];
	struct tables_at t;

	if ((!find_in_code(n, c->nmethod, &t) && !find_apart(n, c->nmethod, &t)) || stride < 8 ||
	    field(n, PC_DESC_PC) > stride - 4 || field(n, PC_DESC_SCOPE) > stride - 4)
		return;
	c->pcs = (struct hotspot_pcs){
		.data = read_bytes(n, t.pcs, t.pcs_end - t.pcs, PCS_MAX),
		.count = (t.pcs_end - t.pcs) / stride,
		.stride = stride,
		.pc = field(n, PC_DESC_PC),
		.scope = field(n, PC_DESC_SCOPE),
	};
	c->scope_bytes = t.scopes_end - t.scopes;
	c->scopes = c->pcs.data ? read_bytes(n, t.scopes, c->scope_bytes, SCOPES_MAX) : NULL;
	c->metadata = t.metadata;
}

/* Not known to be the one that was asked for until is_current() was true after it. */
static struct compiled *read_compiled(struct hotspot_names *n, uint64_t nmethod,
				      uint32_t compile_id)
{
	struct compiled *c;
	uint64_t method;
	uint32_t id;

	if (!read_half(n, nmethod, NMETHOD_COMPILE_ID, &id) || id != compile_id ||
	    !read_word(n, nmethod, NMETHOD_METHOD, &method))
		return NULL;
	c = take_room(n, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct compiled){ .nmethod = nmethod };
	c->outer = find_method(n, method);
	read_tables(n, c);
	return c->outer ? c : NULL;
}

/* What was read for a frame, and counts only if the nmethod is current after it. */
struct looked_up {
	bool compiled; /* the nmethod itself */
	uint32_t numbers[HOTSPOT_INLINED_MAX];
	size_t count; /* of inlined methods, by these numbers */
};

static struct compiled *get_compiled(struct hotspot_names *n, uint64_t nmethod, uint32_t compile_id,
				     struct looked_up *new)
{
	bool added = false;
	uint64_t *value = map_put(&n->compiled, &compile_id, sizeof(compile_id), &added);

	if (!value)
		return NULL;
	if (added)
		*value = (uintptr_t)read_compiled(n, nmethod, compile_id);
	new->compiled = added &&*value;
	return (struct compiled *)(uintptr_t)*value;
}

static void forget(struct hotspot_names *n, struct compiled *c, uint32_t compile_id,
		   const struct looked_up *new)
{
	for (size_t i = 0; i < new->count; i++)
		*map_get(&c->methods, &new->numbers[i], sizeof(new->numbers[i])) = 0;
	if (!new->compiled)
		return;
	*map_get(&n->compiled, &compile_id, sizeof(compile_id)) = 0;
	map_release(&c->methods);
}

static struct method_name *inlined_method(struct hotspot_names *n, struct compiled *c,
					  uint32_t number, struct looked_up *new)
{
	bool added = false;
	uint64_t *value = map_put(&c->methods, &number, sizeof(number), &added), method;

	if (!value || !added)
		return value ? (struct method_name *)(uintptr_t)*value : NULL;
	new->numbers[new->count++] = number;
	if (number && target_u64(&n->memory, c->metadata + 8 * (uint64_t)(number - 1), &method))
		*value = (uintptr_t)find_method(n, method);
	return (struct method_name *)(uintptr_t)*value;
}

/* The scope at `at` and those around it; false: one has no names. */
static bool find_scopes(struct hotspot_names *n, struct compiled *c, uint32_t at,
			struct looked_up *new, struct prf_place *places, size_t *count)
{
	struct hotspot_scope scope;
	struct method_name *m;

	while (*count < HOTSPOT_INLINED_MAX &&
	       hotspot_scope_at(c->scopes, c->scope_bytes, no_zero(n), at, &scope)) {
		m = inlined_method(n, c, scope.method, new);
		if (!m)
			return false;
		fill_place(n, m, scope.bci, &places[(*count)++]);
		/* Callers come earlier in the data: no circles. */
		if (scope.sender >= at)
			break;
		at = scope.sender;
	}
	return true;
}

static size_t find_compiled(struct hotspot_names *n, const struct script_frame *frame, bool exact,
			    struct prf_place *places)
{
	uint32_t compile_id = (uint32_t)(frame->position >> 32), offset = (uint32_t)frame->position;
	struct looked_up new = { .count = 0 };
	struct compiled *c = get_compiled(n, frame->code & HOTSPOT_CODE, compile_id, &new);
	size_t count = 0;
	uint32_t at;
	bool known;

	if (!c)
		return 0;
	/*
	 * A return address has debug information of its own. Another pc gets that of the next call,
	 * which is near.
	 */
	at = c->scopes ? hotspot_pcs_find(&c->pcs, exact ? offset + 1 : offset) : 0;
	known = find_scopes(n, c, at, &new, places, &count);
	if ((new.count || new.compiled) && !is_current(n, c->nmethod, compile_id)) {
		forget(n, c, compile_id, &new);
		known = false;
	}
	if (!known)
		return 0;
	if (!count || strcmp(places[count - 1].function, c->outer->function)) {
		fill_place(n, c->outer, INT64_MAX, &places[0]);
		count = 1;
	}
	return count;
}

/* -------- the interpreter, and stubs -------- */

static size_t find_interpreted(struct hotspot_names *n, const struct script_frame *frame,
			       struct prf_place *places)
{
	struct {
		uint64_t method;
		uint64_t cookie;
	} key = { frame->code & HOTSPOT_CODE, frame->position >> 32 };
	uint32_t bci = (uint32_t)frame->position;
	bool added = false;
	uint64_t *value;
	struct method_name *m;

	/* The kernel half could not read the names that the cookie is made of. */
	if (!key.cookie)
		return 0;
	value = map_put(&n->interpreted, &key, sizeof(key), &added);
	if (!value)
		return 0;
	if (added) {
		m = find_method(n, key.method);
		if (m && hotspot_cookie(&m->way.identity) == key.cookie)
			*value = (uintptr_t)m;
	}
	m = (struct method_name *)(uintptr_t)*value;
	if (!m)
		return 0;
	fill_place(n, m, bci == HOTSPOT_NO_INDEX ? INT64_MAX : bci, &places[0]);
	return 1;
}

/* Stubs stay where they are: their names are the machine's own texts. */
static size_t find_stub(struct hotspot_names *n, const struct script_frame *frame,
			struct prf_place *places)
{
	uint64_t blob = frame->code & HOTSPOT_CODE, at;
	bool added = false;
	uint64_t *value = map_put(&n->blobs, &blob, sizeof(blob), &added);
	char text[128] = "Interpreter";

	if (!value)
		return 0;
	if (added && (blob == n->h->process.interpreter ||
		      (read_word(n, blob, BLOB_NAME, &at) &&
		       target_text(&n->memory, at, text, sizeof(text)) && text[0])))
		*value = (uintptr_t)keep_text(n, text);
	places[0] = (struct prf_place){ .function = (const char *)(uintptr_t)*value, .file = "" };
	return places[0].function ? 1 : 0;
}

size_t hotspot_names_find(struct hotspot_names *n, const struct script_frame *frame, bool exact,
			  struct prf_place places[HOTSPOT_INLINED_MAX])
{
	if (frame->code & HOTSPOT_METHOD)
		return find_interpreted(n, frame, places);
	if (frame->code & HOTSPOT_STUB)
		return find_stub(n, frame, places);
	return find_compiled(n, frame, exact, places);
}
