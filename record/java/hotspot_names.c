/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/map.h"
#include "record/java/hotspot_methods.h"
#include "record/java/hotspot_scopes.h"

#define TRIES 2 /* to find a frame's methods: what was known of one may be out of date */

/* A compiled method's debug information. */
struct compiled {
	uint64_t nmethod;
	const struct hotspot_method *outer;
	struct hotspot_pcs pcs;
	const uint8_t *scopes;
	size_t scope_bytes;
	uint64_t metadata;  /* where it is in the process */
	struct map methods; /* number in the metadata -> struct hotspot_method *, 0: it has none */
};

struct hotspot_names {
	struct hotspot_reader reader;
	struct hotspot_methods methods;
	struct map compiled;	/* compile id -> struct compiled *, 0: it has no names */
	struct map interpreted; /* Method, cookie -> struct hotspot_method * */
	struct map blobs;	/* stub -> its name */
};

struct hotspot_names *hotspot_names_new(const struct hotspot *h, struct shares *shares,
					uint32_t user)
{
	struct hotspot_names *n = calloc(1, sizeof(*n));

	if (n && hotspot_reader_init(&n->reader, h, shares, user)) {
		hotspot_methods_init(&n->methods, &n->reader);
		return n;
	}
	free(n);
	return NULL;
}

static void release_compiled(void *compiled)
{
	map_release(&((struct compiled *)compiled)->methods);
}

void hotspot_names_free(struct hotspot_names *n)
{
	if (!n)
		return;
	map_release_values(&n->compiled, release_compiled);
	map_release(&n->interpreted);
	map_release(&n->blobs);
	hotspot_methods_release(&n->methods);
	hotspot_reader_release(&n->reader);
	free(n);
}

void hotspot_names_as_of(struct hotspot_names *n, uint64_t sample_ns)
{
	hotspot_reader_as_of(&n->reader, sample_ns);
}

static void fill_place(const struct hotspot_names *n, const struct hotspot_method *m, int64_t bci,
		       struct prf_place *place)
{
	hotspot_method_place(m, hotspot_reader_no_zero(&n->reader), bci, place);
}

/* -------- compiled code -------- */

static const uint8_t *read_bytes(struct hotspot_reader *r, uint64_t at, uint64_t size, uint64_t max)
{
	uint8_t *bytes;

	if (!size || size > max)
		return NULL;
	bytes = hotspot_reader_take_room(r, size);
	return bytes && target_read(&r->memory, at, bytes, size) ? bytes : NULL;
}

/* Where its tables are: pcs up to `pcs_end`, scopes up to `scopes_end`. */
struct tables_at {
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata;
};

/* Up to JDK 22 the tables follow the code. */
static bool find_in_code(const struct hotspot_reader *r, uint64_t nmethod, struct tables_at *t)
{
	uint32_t pcs, end, metadata, scopes;

	if (hotspot_reader_has(r, NMETHOD_IMMUTABLE_DATA))
		return false;
	/* An address, but an offset in JDK 8. */
	if (hotspot_reader_u32(r, nmethod, NMETHOD_SCOPES_OFFSET, &scopes))
		t->scopes = nmethod + scopes;
	else if (!hotspot_reader_u64(r, nmethod, NMETHOD_SCOPES_DATA, &t->scopes))
		return false;
	if (!hotspot_reader_u32(r, nmethod, NMETHOD_SCOPES_PCS, &pcs) ||
	    !hotspot_reader_u32(r, nmethod, NMETHOD_DEPENDENCIES, &end) ||
	    !hotspot_reader_u32(r, nmethod, NMETHOD_METADATA, &metadata))
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
static bool find_apart(const struct hotspot_reader *r, uint64_t nmethod, struct tables_at *t)
{
	uint64_t immutable, mutable;
	uint32_t pcs, scopes, size, relocations;

	if (!hotspot_reader_u64(r, nmethod, NMETHOD_IMMUTABLE_DATA, &immutable) ||
	    !hotspot_reader_u32(r, nmethod, NMETHOD_IMMUTABLE_SIZE, &size) ||
	    !hotspot_reader_u32(r, nmethod, NMETHOD_SCOPES_PCS, &pcs) ||
	    !hotspot_reader_u32(r, nmethod, NMETHOD_SCOPES_OFFSET, &scopes) ||
	    !hotspot_reader_u64(r, nmethod, BLOB_MUTABLE_DATA, &mutable) ||
	    !hotspot_reader_u32(r, nmethod, BLOB_RELOCATION_SIZE, &relocations))
		return false;
	t->pcs = immutable + pcs;
	t->pcs_end = t->scopes = immutable + scopes;
	t->scopes_end = immutable + size;
	t->metadata = mutable + relocations;
	return true;
}

static void read_tables(struct hotspot_reader *r, struct compiled *c)
{
	uint64_t stride = r->h->tables.sizes[SIZE_PC_DESC];
	uint64_t pc = hotspot_reader_field(r, PC_DESC_PC);
	uint64_t scope = hotspot_reader_field(r, PC_DESC_SCOPE);
	struct tables_at t;

	if ((!find_in_code(r, c->nmethod, &t) && !find_apart(r, c->nmethod, &t)) || stride < 8 ||
	    pc > stride - 4 || scope > stride - 4)
		return;
	c->pcs = (struct hotspot_pcs){
		.data = read_bytes(r, t.pcs, t.pcs_end - t.pcs, LIMIT_NMETHOD_PC_BYTES),
		.count = (t.pcs_end - t.pcs) / stride,
		.stride = stride,
		.pc = pc,
		.scope = scope,
	};
	c->scope_bytes = t.scopes_end - t.scopes;
	c->scopes = c->pcs.data ? read_bytes(r, t.scopes, c->scope_bytes, LIMIT_NMETHOD_SCOPE_BYTES)
				: NULL;
	c->metadata = t.metadata;
}

/* Not known to be the one that was asked for until it was settled. */
static struct compiled *read_compiled(struct hotspot_names *n, uint64_t nmethod,
				      uint32_t compile_id)
{
	struct hotspot_reader *r = &n->reader;
	struct compiled *c;
	uint64_t method;
	uint32_t id;

	if (!hotspot_reader_u32(r, nmethod, NMETHOD_COMPILE_ID, &id) || id != compile_id ||
	    !hotspot_reader_u64(r, nmethod, NMETHOD_METHOD, &method))
		return NULL;
	c = hotspot_reader_take_room(r, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct compiled){ .nmethod = nmethod };
	c->outer = hotspot_methods_find(&n->methods, method);
	read_tables(r, c);
	return c->outer ? c : NULL;
}

/* What was read for a frame, and counts only once it is settled. */
struct looked_up {
	uint32_t compile_id;
	bool compiled; /* the nmethod itself */
	uint32_t numbers[HOTSPOT_INLINED_MAX];
	size_t count; /* of inlined methods, by these numbers */
};

static struct compiled *get_compiled(struct hotspot_names *n, uint64_t nmethod,
				     struct looked_up *new)
{
	bool added = false;
	uint64_t *value = map_put(&n->compiled, &new->compile_id, sizeof(new->compile_id), &added);

	if (!value)
		return NULL;
	if (added)
		*value = (uintptr_t)read_compiled(n, nmethod, new->compile_id);
	new->compiled = added &&*value;
	return (struct compiled *)(uintptr_t)*value;
}

static const struct hotspot_method *inlined_method(struct hotspot_names *n, struct compiled *c,
						   uint32_t number, struct looked_up *new)
{
	bool added = false;
	uint64_t *value = map_put(&c->methods, &number, sizeof(number), &added), method;

	if (!value || !added)
		return value ? (const struct hotspot_method *)(uintptr_t)*value : NULL;
	new->numbers[new->count++] = number;
	if (number &&
	    target_u64(&n->reader.memory, c->metadata + 8 * (uint64_t)(number - 1), &method))
		*value = (uintptr_t)hotspot_methods_find(&n->methods, method);
	return (const struct hotspot_method *)(uintptr_t)*value;
}

/* The scope at `at` and those around it; false: one has no names. */
static bool find_scopes(struct hotspot_names *n, struct compiled *c, uint32_t at,
			struct looked_up *new, struct prf_place *places, size_t *count)
{
	const bool no_zero = hotspot_reader_no_zero(&n->reader);
	const struct hotspot_method *m;
	struct hotspot_scope scope;

	while (*count < HOTSPOT_INLINED_MAX &&
	       hotspot_scope_at(c->scopes, c->scope_bytes, no_zero, at, &scope)) {
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

/*
 * As it was not what it seemed to be. `for_good`: the nmethod is another one by now, and has no
 * names any more; else what is there may be read again.
 */
static void forget(struct hotspot_names *n, struct compiled *c, const struct looked_up *new,
		   bool for_good)
{
	for (size_t i = 0; i < new->count; i++)
		if (for_good)
			*map_get(&c->methods, &new->numbers[i], sizeof(new->numbers[i])) = 0;
		else
			map_remove(&c->methods, &new->numbers[i], sizeof(new->numbers[i]));
	if (!new->compiled)
		return;
	map_release(&c->methods);
	if (for_good)
		*map_get(&n->compiled, &new->compile_id, sizeof(new->compile_id)) = 0;
	else
		map_remove(&n->compiled, &new->compile_id, sizeof(new->compile_id));
}

enum settled { SETTLED, CHANGED, GONE };

/*
 * Whether the methods are those that were found, and the nmethod, if something new was read from
 * it, still is what it was when the sample was taken. When its classes are unloaded it is freed
 * before their memory is used again, or loses its method at least; a freed one keeps its bytes for
 * a while, but not its block.
 */
static enum settled settle(struct hotspot_names *n, const struct compiled *c,
			   const struct looked_up *new)
{
	const struct hotspot_reader *r = &n->reader;
	uint64_t block = c->nmethod - r->h->tables.sizes[SIZE_HEAP_BLOCK], method = 0;
	uint32_t id = 0;
	uint8_t used = 0;
	const struct target_piece pieces[] = {
		{ block + hotspot_reader_field(r, BLOCK_USED), &used, sizeof(used) },
		{ c->nmethod + hotspot_reader_field(r, NMETHOD_COMPILE_ID), &id, sizeof(id) },
		{ c->nmethod + hotspot_reader_field(r, NMETHOD_METHOD), &method, sizeof(method) },
	};
	struct hotspot_pieces more = { pieces, 0, false };
	bool methods;

	if (new->count || new->compiled)
		more.count = sizeof(pieces) / sizeof(*pieces);
	methods = hotspot_methods_settle(&n->methods, &more);
	if (more.count && (!more.read || !used || id != new->compile_id || !method))
		return GONE;
	return methods ? SETTLED : CHANGED;
}

/* One try. CHANGED: another one may succeed. */
static enum settled try_compiled(struct hotspot_names *n, const struct script_frame *frame,
				 bool exact, struct prf_place *places, size_t *count)
{
	struct looked_up new = { .compile_id = (uint32_t)(frame->position >> 32) };
	uint32_t offset = (uint32_t)frame->position, at;
	enum settled settled;
	struct compiled *c;
	bool known;

	*count = 0;
	hotspot_methods_begin(&n->methods);
	c = get_compiled(n, frame->code & HOTSPOT_CODE, &new);
	if (!c)
		return GONE;
	/*
	 * A return address has debug information of its own. Another pc gets that of the next call,
	 * which is near.
	 */
	at = c->scopes ? hotspot_pcs_find(&c->pcs, exact ? offset + 1 : offset) : 0;
	known = find_scopes(n, c, at, &new, places, count);
	settled = settle(n, c, &new);
	if (settled != SETTLED) {
		forget(n, c, &new, settled == GONE);
		*count = 0;
	} else if (!known) {
		*count = 0;
	} else if (!*count || strcmp(places[*count - 1].function, c->outer->function)) {
		fill_place(n, c->outer, INT64_MAX, &places[0]);
		*count = 1;
	}
	return settled;
}

static size_t find_compiled(struct hotspot_names *n, const struct script_frame *frame, bool exact,
			    struct prf_place *places)
{
	size_t count = 0;

	for (unsigned int i = 0; i < TRIES; i++)
		if (try_compiled(n, frame, exact, places, &count) != CHANGED)
			break;
	return count;
}

/* -------- the interpreter, and stubs -------- */

static const struct hotspot_method *certain_method(struct hotspot_names *n, uint64_t method)
{
	struct hotspot_pieces none = { 0 };
	const struct hotspot_method *m;

	for (unsigned int i = 0; i < TRIES; i++) {
		hotspot_methods_begin(&n->methods);
		m = hotspot_methods_find(&n->methods, method);
		if (hotspot_methods_settle(&n->methods, &none))
			return m;
	}
	return NULL;
}

static size_t find_interpreted(struct hotspot_names *n, const struct script_frame *frame,
			       struct prf_place *places)
{
	struct {
		uint64_t method;
		uint64_t cookie;
	} key = { frame->code & HOTSPOT_CODE, frame->position >> 32 };
	uint32_t bci = (uint32_t)frame->position;
	const struct hotspot_method *m;
	bool added = false;
	uint64_t *value;

	/* The kernel half could not read the names that the cookie is made of. */
	if (!key.cookie)
		return 0;
	value = map_put(&n->interpreted, &key, sizeof(key), &added);
	if (!value)
		return 0;
	if (added) {
		m = certain_method(n, key.method);
		if (m && hotspot_cookie(&m->way.identity) == key.cookie)
			*value = (uintptr_t)m;
	}
	m = (const struct hotspot_method *)(uintptr_t)*value;
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
	if (added && (blob == n->reader.h->process.interpreter ||
		      (hotspot_reader_u64(&n->reader, blob, BLOB_NAME, &at) &&
		       target_text(&n->reader.memory, at, text, sizeof(text)) && text[0])))
		*value = (uintptr_t)hotspot_reader_keep_text(&n->reader, text);
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
