/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jit_names.h"

#include "common/array.h"
#include "common/limits.h"
#include "common/sorted.h"

#include <stdlib.h>
#include <string.h>

#define HIT_BYTES (sizeof(struct jit_hit) + 96) /* with its entry in `hit_of` */
#define OPEN_NS 50000000
/*
 * They are sorted in each round, so no more are kept, however many functions a process makes while
 * it sleeps: up to the last of the others each sample is looked up anew.
 */
#define CHANGES_MAX 4096
#define LAYER_NONE UINT32_MAX

struct jit_symbol_state {
	uint32_t layer; /* LAYER_NONE: not hit */
	bool waits;	/* in hit_symbols, or written already */
};

/* Of one address in an open object. */
struct jit_hit {
	uint64_t address;
	uint64_t first_ns, last_ns;
	uint32_t object;
	bool alone; /* others of the object were decided before it */
};

void jit_names_init(struct jit_names *n, struct shares *shares, uint32_t user)
{
	*n = (struct jit_names){ .code = { .shares = shares, .user = user },
				 .known_until_ns = UINT64_MAX,
				 .open = PRF_NONE,
				 .nameless = PRF_NONE };
}

void jit_names_release(struct jit_names *n)
{
	code_map_release(&n->code);
	range_map_release(&n->layers);
	map_release(&n->hit_of);
	free(n->changes);
	free(n->states);
	free(n->objects);
	free(n->hit_symbols);
	free(n->hits);
	jit_names_init(n, n->code.shares, n->code.user);
}

/* -------- when answers change -------- */

void jit_names_set_time(struct jit_names *n, const struct jit_names_owner *owner, uint64_t time_ns)
{
	/* Those of other CPUs may be: changes before the newest sample are not kept. */
	bool late = time_ns < n->newest_ns;

	n->time_ns = time_ns;
	if (!late)
		n->newest_ns = time_ns;
	/* In the open object each hit is noted with its time. */
	if (late || time_ns > n->known_until_ns || time_ns <= n->changing_until_ns) {
		n->epoch = (*owner->next_epoch)++;
		return;
	}
	n->epoch = n->first_epoch + (uint32_t)sorted_up_to(n->changes, n->n_changes,
							   SORTED_NUMBERS(uint64_t), time_ns);
}

static void add_change(struct jit_names *n, uint64_t time_ns)
{
	if (time_ns <= n->newest_ns)
		return;
	if (n->n_changes < CHANGES_MAX &&
	    array_reserve(&n->changes, &n->changes_capacity, n->n_changes + 1))
		n->changes[n->n_changes++] = time_ns;
	else if (time_ns > n->changing_until_ns)
		n->changing_until_ns = time_ns;
}

static void drop_old_changes(struct jit_names *n)
{
	size_t old = 0;

	while (old < n->n_changes && n->changes[old] <= n->newest_ns)
		old++;
	n->n_changes -= old;
	if (n->n_changes) /* there is no array before the first one */
		memmove(n->changes, n->changes + old, n->n_changes * sizeof(*n->changes));
}

static void renew_epochs(struct jit_names *n, const struct jit_names_owner *owner)
{
	n->first_epoch = *owner->next_epoch;
	*owner->next_epoch += (uint32_t)n->n_changes + 1;
}

/* New epochs, as what was added may answer for any time. */
static void note_changes(struct jit_names *n, const struct jit_names_owner *owner)
{
	if (n->seen == n->code.n)
		return;
	drop_old_changes(n);
	for (; n->seen < n->code.n; n->seen++) {
		const struct code_symbol *s = &n->code.symbols[n->seen];

		if (s->victims == CODE_NONE && !s->piece.exact)
			continue;
		/*
		 * The answer changes twice: after `after` it is uncertain, from `by` on it is the
		 * new code.
		 */
		add_change(n, s->piece.after + 1);
		add_change(n, s->piece.by);
	}
	if (n->n_changes)
		qsort(n->changes, n->n_changes, sizeof(*n->changes), sorted_compare);
	renew_epochs(n, owner);
}

/* -------- objects -------- */

/* Begins an object. */
static struct error *define(const struct jit_names_owner *owner, uint32_t number, uint32_t *id)
{
	struct prf_object object = { .kind = PRF_OBJECT_JIT,
				     .path = "[jit]",
				     .root = owner->root,
				     .base = (uint64_t)owner->pid << 32 | number };

	return prf_writer_object(owner->writer, &object, id);
}

static struct error *layer_object(struct jit_names *n, const struct jit_names_owner *owner,
				  uint32_t layer, uint32_t *object)
{
	struct error *error = NULL;

	if (!array_reserve(&n->objects, &n->objects_capacity, layer + 1))
		return error_memory();
	while (n->n_objects <= layer)
		n->objects[n->n_objects++] = PRF_NONE;
	if (n->objects[layer] == PRF_NONE)
		error = define(owner, ++*owner->next_object, &n->objects[layer]);
	*object = n->objects[layer];
	return error;
}

static void highest(const struct range *part, void *context)
{
	uint32_t *layer = context;

	if (part->value > *layer)
		*layer = part->value;
}

/* The lowest layer in which no other hit code overlaps the symbol, which then occupies it. */
static uint32_t take_layer(struct jit_names *n, const struct code_piece *piece)
{
	struct range range = { piece->start, piece->start + piece->size, 0 };
	uint32_t layer = 0;

	if (!range_map_put(&n->layers, range, highest, &layer))
		return LAYER_NONE;
	range.value = layer + 1;
	return range_map_put(&n->layers, range, NULL, NULL) ? layer : LAYER_NONE;
}

static struct jit_symbol_state *state_of(struct jit_names *n, uint32_t symbol)
{
	if (!array_reserve(&n->states, &n->states_capacity, symbol + 1))
		return NULL;
	while (n->n_states <= symbol)
		n->states[n->n_states++] = (struct jit_symbol_state){ .layer = LAYER_NONE };
	return &n->states[symbol];
}

static struct error *known_object(struct jit_names *n, const struct jit_names_owner *owner,
				  uint32_t symbol, uint32_t *object)
{
	struct jit_symbol_state *state = state_of(n, symbol);

	if (!state)
		return error_memory();
	if (state->layer == LAYER_NONE)
		state->layer = take_layer(n, &n->code.symbols[symbol].piece);
	if (state->layer == LAYER_NONE)
		return error_memory();
	if (!state->waits) {
		if (!array_reserve(&n->hit_symbols, &n->hit_symbols_capacity, n->n_hit_symbols + 1))
			return error_memory();
		n->hit_symbols[n->n_hit_symbols++] = symbol;
		state->waits = true;
	}
	return layer_object(n, owner, state->layer, object);
}

/* Room for one more hit. It stays when hits go. */
static bool reserve_hit(struct jit_names *n)
{
	if (n->n_hits >= LIMIT_JIT_HITS ||
	    !array_reserve(&n->hits, &n->hits_capacity, n->n_hits + 1) ||
	    (n->n_hits == n->hits_counted && !code_map_take(&n->code, HIT_BYTES)))
		return false;
	n->hits_counted += n->n_hits == n->hits_counted;
	return true;
}

/* In the open object. False: there is no room. */
static bool note_hit(struct jit_names *n, uint64_t address)
{
	uint64_t *at = map_get(&n->hit_of, &address, sizeof(address));

	if (!at) {
		if (!reserve_hit(n))
			return false;
		at = map_put(&n->hit_of, &address, sizeof(address), NULL);
		if (!at)
			return false;
		*at = n->n_hits;
		n->hits[n->n_hits++] = (struct jit_hit){ address, n->time_ns, n->time_ns, n->open,
							 false };
	}
	if (n->time_ns < n->hits[*at].first_ns)
		n->hits[*at].first_ns = n->time_ns;
	if (n->time_ns > n->hits[*at].last_ns)
		n->hits[*at].last_ns = n->time_ns;
	return true;
}

/* Closes the open object: later hits go to a new one. */
static void close_open(struct jit_names *n)
{
	/* Later hits of an address in the same epoch were not noted. */
	for (size_t i = 0; i < n->n_hits && n->known_until_ns == UINT64_MAX; i++)
		if (n->hits[i].object == n->open)
			n->hits[i].last_ns = n->newest_ns;
	n->open = PRF_NONE;
	map_release(&n->hit_of);
}

void jit_names_know(struct jit_names *n, const struct jit_names_owner *owner, uint64_t until_ns)
{
	if ((until_ns == UINT64_MAX) != (n->known_until_ns == UINT64_MAX)) {
		close_open(n);
		renew_epochs(n, owner);
	}
	n->known_until_ns = until_ns;
}

/* Of places whose code is not certain. */
static struct error *nameless_object(struct jit_names *n, const struct jit_names_owner *owner,
				     uint32_t *object)
{
	struct error *error = NULL;

	if (n->nameless == PRF_NONE)
		error = define(owner, 0, &n->nameless);
	*object = n->nameless;
	return error;
}

/* Later and later, if nothing comes: the objects and hits of a compiler that is done stay few. */
static uint64_t open_until(const struct jit_names *n)
{
	uint64_t length = n->known_until_ns ? (n->time_ns - n->known_until_ns) / 8 : 0;

	if (n->known_until_ns == UINT64_MAX)
		return UINT64_MAX;
	return n->time_ns + (length > OPEN_NS ? length : OPEN_NS);
}

static struct error *open_object(struct jit_names *n, const struct jit_names_owner *owner,
				 uint64_t address, uint32_t *object)
{
	struct error *error = NULL;

	if (n->open == PRF_NONE || n->time_ns >= n->open_until_ns) {
		close_open(n);
		error = define(owner, ++*owner->next_object, &n->open);
		n->open_until_ns = open_until(n);
	}
	*object = n->open;
	if (error || note_hit(n, address))
		return error;
	return nameless_object(n, owner, object);
}

struct error *jit_names_object(struct jit_names *n, const struct jit_names_owner *owner,
			       uint64_t address, uint32_t *object)
{
	uint32_t symbol;

	if (n->time_ns < n->begins_ns)
		return nameless_object(n, owner, object);
	if (n->time_ns > n->known_until_ns)
		return open_object(n, owner, address, object);
	switch (code_map_find(&n->code, address, n->time_ns, &symbol)) {
	case CODE_KNOWN: return known_object(n, owner, symbol, object);
	case CODE_UNKNOWN: return open_object(n, owner, address, object);
	case CODE_AMBIGUOUS: break;
	}
	return nameless_object(n, owner, object);
}

/* -------- names -------- */

/* A symbol that is to be written. */
struct name {
	uint32_t object;
	struct prf_symbol symbol;
};

static int by_object(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->symbol.start < y->symbol.start ? -1 : x->symbol.start > y->symbol.start;
}

static struct error *pass_on(const struct jit_names_owner *owner, struct name *names, size_t count)
{
	struct prf_symbol *symbols = malloc((count + 1) * sizeof(*symbols));
	struct error *error = NULL;
	size_t from = 0;

	if (!symbols)
		return error_memory();
	qsort(names, count, sizeof(*names), by_object);
	for (size_t i = 0; i < count && !error; i++) {
		symbols[i - from] = names[i].symbol;
		if (i + 1 < count && names[i + 1].object == names[i].object)
			continue;
		error = prf_writer_symbols(owner->writer, names[i].object, symbols, i + 1 - from);
		from = i + 1;
	}
	free(symbols);
	return error;
}

/* Whether all samples of the hit were of one piece of code. */
static bool is_certain(const struct jit_names *n, const struct jit_hit *hit, uint32_t *symbol)
{
	uint32_t last;

	if (code_map_find(&n->code, hit->address, hit->first_ns, symbol) != CODE_KNOWN ||
	    code_map_find(&n->code, hit->address, hit->last_ns, &last) != CODE_KNOWN ||
	    *symbol != last)
		return false;
	return hit->last_ns <= n->known_until_ns || n->code.symbols[last].victims == CODE_NONE;
}

/* Whether nothing can arrive any more that would change the answer for the hit. */
static bool is_decided(const struct jit_names *n, const struct jit_hit *hit)
{
	uint32_t symbol;

	if (n->ended)
		return true;
	if (n->known_until_ns != UINT64_MAX)
		return hit->last_ns <= n->known_until_ns;
	return code_map_find(&n->code, hit->address, hit->last_ns, &symbol) != CODE_UNKNOWN;
}

static int by_place(const void *a, const void *b)
{
	const struct jit_hit *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* The names that are to be written, and how many hits stay. */
struct naming {
	struct name *names;
	size_t count, left;
};

/*
 * Names those of one object's hits, [from, to), that are certain. Hits of one symbol with no other
 * hits in between get one name. It does not cover the symbol's whole place, since other code may
 * have been in a part of that at another time.
 */
static void name_hits_of_object(struct jit_names *n, size_t from, size_t to, struct naming *out)
{
	const size_t first_left = out->left;
	uint32_t symbol, before = CODE_NONE;

	for (size_t i = from; i < to; i++) {
		const struct jit_hit hit = n->hits[i];

		if (!is_decided(n, &hit)) {
			n->hits[out->left++] = hit;
			before = CODE_NONE;
		} else if (!is_certain(n, &hit, &symbol)) {
			before = CODE_NONE;
		} else if (symbol == before && !hit.alone) {
			struct prf_symbol *last = &out->names[out->count - 1].symbol;

			last->size = hit.address + 1 - last->start;
		} else {
			out->names[out->count++] = (struct name){
				hit.object,
				{ hit.address, 1,
				  code_map_name(&n->code, &n->code.symbols[symbol]) },
			};
			before = symbol;
		}
	}
	/* What was decided now may lie between two of those that stay. */
	for (size_t i = first_left; i < out->left; i++)
		n->hits[i].alone |= out->left - first_left < to - from;
}

/* Returns how many names there are. */
static size_t name_hits(struct jit_names *n, struct name *names)
{
	struct naming out = { .names = names };

	qsort(n->hits, n->n_hits, sizeof(*n->hits), by_place);
	for (size_t from = 0, to; from < n->n_hits; from = to) {
		const uint32_t object = n->hits[from].object;

		for (to = from; to < n->n_hits && n->hits[to].object == object;)
			to++;
		name_hits_of_object(n, from, to, &out);
	}
	n->n_hits = out.left;
	return out.count;
}

static bool has_decided_hits(const struct jit_names *n)
{
	for (size_t i = 0; i < n->n_hits; i++)
		if (is_decided(n, &n->hits[i]))
			return true;
	return false;
}

struct error *jit_names_settle(struct jit_names *n, const struct jit_names_owner *owner)
{
	bool more = n->ended || n->seen != n->code.n || n->known_until_ns != n->settled_until_ns;
	struct error *error;
	struct name *names;
	size_t count = 0;

	note_changes(n, owner);
	more = more && has_decided_hits(n);
	n->settled_until_ns = n->known_until_ns;
	if (!n->n_hit_symbols && !more)
		return NULL;
	names = malloc((n->n_hit_symbols + n->n_hits + 1) * sizeof(*names));
	if (!names)
		return error_memory();
	for (size_t i = 0; i < n->n_hit_symbols; i++) {
		uint32_t number = n->hit_symbols[i];
		const struct code_symbol *s = &n->code.symbols[number];

		names[count++] = (struct name){
			n->objects[n->states[number].layer],
			{ s->piece.start, s->piece.size, code_map_name(&n->code, s) },
		};
	}
	n->n_hit_symbols = 0;
	if (more) {
		close_open(n);
		count += name_hits(n, names + count);
	}
	error = pass_on(owner, names, count);
	n->written += count;
	free(names);
	return error;
}

void jit_names_renew(struct jit_names *n, const struct jit_names_owner *owner)
{
	for (size_t i = 0; i < n->n_objects; i++)
		n->objects[i] = PRF_NONE;
	for (size_t i = 0; i < n->n_states; i++)
		n->states[i].waits = false;
	n->n_hit_symbols = n->n_hits = 0;
	n->written = 0;
	n->open = n->nameless = PRF_NONE;
	map_release(&n->hit_of);
	renew_epochs(n, owner);
}
