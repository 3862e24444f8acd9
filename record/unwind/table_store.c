/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/table_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "common/array.h"
#include "common/limits.h"

#define SLAB_BYTES (UNWIND_SLAB_ROWS * sizeof(uint32_t))
#define BATCH 64

static size_t map_bytes(size_t entries, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (entries * size + page - 1) / page * page;
}

static void *map_array(int fd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

struct error *table_store_init(struct table_store *s, const struct unwinder_maps *maps,
			       uint64_t limit)
{
	uint64_t slabs = limit / SLAB_BYTES;
	struct error *error = NULL;

	*s = (struct table_store){ .slabs_fd = maps->slabs };
	s->max_slabs = slabs < 1		  ? 1
		       : slabs > UNWIND_MAX_SLABS ? UNWIND_MAX_SLABS
						  : (uint32_t)slabs;
	s->pages_size = map_bytes(UNWIND_MAX_PAGES, sizeof(*s->pages));
	s->rules_size = map_bytes(UNWIND_MAX_RULES, sizeof(*s->kernel_rules));
	s->rule_shares.limit = UNWIND_MAX_RULES - LIMIT_ROOT_RULES;
	s->page_shares.limit = UNWIND_MAX_PAGES;
	s->row_shares.limit = (uint64_t)s->max_slabs * UNWIND_SLAB_ROWS;
	s->slabs = calloc(s->max_slabs, sizeof(*s->slabs));
	if (!s->slabs || range_pool_init(&s->page_pool, UNWIND_MAX_PAGES)) {
		error = error_memory();
		goto out;
	}
	for (uint32_t i = 0; i < s->max_slabs; i++)
		s->slabs[i].fd = -1;
	if (!(s->pages = map_array(maps->pages, s->pages_size)) ||
	    !(s->kernel_rules = map_array(maps->rules, s->rules_size)))
		error = error_system(errno, "cannot map the memory of unwind tables");
out:
	if (error)
		table_store_release(s);
	return error;
}

static void release_slab(struct table_store *s, uint32_t i)
{
	struct table_slab *slab = &s->slabs[i];

	if (slab->fd < 0)
		return;
	munmap(slab->rows, SLAB_BYTES);
	close(slab->fd);
	*slab = (struct table_slab){ .fd = -1 };
	s->slab_count--;
}

void table_store_release(struct table_store *s)
{
	for (uint32_t i = 0; s->slabs && i < s->max_slabs; i++)
		release_slab(s, i);
	free(s->slabs);
	if (s->pages)
		munmap(s->pages, s->pages_size);
	if (s->kernel_rules)
		munmap(s->kernel_rules, s->rules_size);
	rule_set_release(&s->rules);
	range_pool_release(&s->page_pool);
	shares_release(&s->rule_shares);
	shares_release(&s->page_shares);
	shares_release(&s->row_shares);
	free(s->resting);
	*s = (struct table_store){ 0 };
}

/* -------- slabs -------- */

static struct error *no_room(void)
{
	return error_new(ERROR_LIMIT, "the memory for unwind tables is used up");
}

static struct error *create_slab(struct table_slab *slab)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_slab", sizeof(uint32_t), SLAB_BYTES, 1,
				&options);
	uint32_t *rows = fd < 0 ? NULL : map_array(fd, SLAB_BYTES);
	struct error *error;

	if (rows) {
		*slab = (struct table_slab){ .fd = fd, .rows = rows };
		return NULL;
	}
	error = error_system(errno, "cannot make a map for unwind tables");
	if (fd >= 0)
		close(fd);
	return error;
}

/* One call for all of them: the kernel waits for its readers once per call. */
static struct error *publish_slabs(struct table_store *s, const uint32_t *keys, const int *fds,
				   uint32_t count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t done = count;

	if (bpf_map_update_batch(s->slabs_fd, keys, fds, &done, &options) == 0)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(s->slabs_fd, &keys[i], &fds[i], BPF_ANY))
			return error_system(errno, "cannot publish a map for unwind tables");
	return NULL;
}

/* Makes up to `wanted` more slabs, as far as the limit allows. */
static struct error *add_slabs(struct table_store *s, uint32_t wanted)
{
	uint32_t keys[BATCH], count = 0;
	struct error *error = NULL;
	int fds[BATCH];

	for (uint32_t i = 0; i < s->max_slabs && count < wanted && count < BATCH; i++) {
		if (s->slabs[i].fd >= 0)
			continue;
		error = create_slab(&s->slabs[i]);
		if (error)
			break;
		s->slab_count++;
		keys[count] = i;
		fds[count++] = s->slabs[i].fd;
	}
	if (!count)
		return error ? error : no_room();
	/* Some are better than none. */
	error_free(error);
	error = publish_slabs(s, keys, fds, count);
	for (uint32_t i = 0; error && i < count; i++)
		release_slab(s, keys[i]);
	return error;
}

static bool slab_rested(const struct table_slab *slab, uint64_t now_ns)
{
	return slab->used && !slab->live && now_ns - slab->emptied_ns >= RANGE_POOL_REST_NS;
}

static uint32_t slab_room(const struct table_slab *slab, uint64_t now_ns)
{
	if (slab->fd < 0)
		return 0;
	return UNWIND_SLAB_ROWS - (slab_rested(slab, now_ns) ? 0 : slab->used);
}

/* A table on its way into the store. */
struct putting {
	struct table_store *store;
	const struct unwind_table *table;
	uint16_t *numbers; /* of its rules, in the kernel half */
	uint32_t slab;	   /* where the page before went */
	uint64_t now_ns;
};

/* Sets p->slab to one with room for the page. */
static struct error *find_slab(struct putting *p, const struct table_page *page)
{
	struct table_store *s = p->store;
	uint64_t missing = p->table->row_count - page->first;

	for (int attempt = 0; attempt < 2; attempt++) {
		for (uint32_t n = 0; n < s->max_slabs; n++) {
			uint32_t i = (p->slab + n) % s->max_slabs;
			struct table_slab *slab = &s->slabs[i];

			if (slab_room(slab, p->now_ns) < page->rows)
				continue;
			if (slab_rested(slab, p->now_ns))
				slab->used = 0;
			p->slab = i;
			return NULL;
		}
		if (attempt == 0) {
			struct error *error = add_slabs(s,
							(uint32_t)(missing / UNWIND_SLAB_ROWS) + 1);

			if (error)
				return error;
		}
	}
	return no_room();
}

void table_store_reserve(struct table_store *s, uint64_t now_ns)
{
	for (uint32_t i = 0; i < s->max_slabs; i++)
		if (slab_room(&s->slabs[i], now_ns) >= UNWIND_SLAB_ROWS / 2)
			return;
	/* Without one the next table is published later. */
	error_ignore(add_slabs(s, 1));
}

uint64_t table_store_bytes(const struct table_store *s)
{
	return (uint64_t)s->slab_count * SLAB_BYTES;
}

/* -------- shares -------- */

static void give(struct table_store *s, const struct resting_table *table)
{
	shares_give(&s->row_shares, table->user, table->rows);
	shares_give(&s->page_shares, table->user, table->pages);
}

/* Tables that have rested are nobody's. */
static void give_rested(struct table_store *s, uint64_t now_ns)
{
	size_t n = 0;

	for (; n < s->resting_count && now_ns - s->resting[n].since_ns >= RANGE_POOL_REST_NS; n++)
		give(s, &s->resting[n]);
	s->resting_count -= n;
	if (n)
		memmove(s->resting, s->resting + n, s->resting_count * sizeof(*s->resting));
}

/* Without memory it is nobody's at once. */
static void let_rest(struct table_store *s, const struct stored_table *stored, uint64_t now_ns)
{
	const struct resting_table table = { now_ns, stored->rows, stored->pages, stored->user };

	if (array_reserve(&s->resting, &s->resting_capacity, s->resting_count + 1))
		s->resting[s->resting_count++] = table;
	else
		give(s, &table);
}

static uint64_t beyond(uint64_t n, uint64_t room)
{
	return n > room ? n - room : 0;
}

struct table_need table_store_need(struct table_store *s, const struct unwind_table *t,
				   uint32_t user, uint64_t now_ns)
{
	uint64_t room = (uint64_t)(s->max_slabs - s->slab_count) * UNWIND_SLAB_ROWS;

	give_rested(s, now_ns);
	for (uint32_t i = 0; i < s->max_slabs; i++)
		room += slab_room(&s->slabs[i], now_ns);
	return (struct table_need){
		.slab_rows = beyond(t->row_count, room),
		.rows = beyond(t->row_count, shares_room(&s->row_shares, user)),
		.pages = beyond(t->page_count, shares_room(&s->page_shares, user)),
	};
}

/* -------- tables -------- */

/* The table's rule numbers as the kernel half's; new rules are written before they are used. */
static uint16_t *translate_rules(struct table_store *s, const struct rule_set *rules, uint32_t user)
{
	uint16_t *numbers = calloc(rules->count + 1, sizeof(*numbers));
	uint32_t before = s->rules.count;

	s->rules.refused = false;
	s->rules.limit = user ? before + (uint32_t)shares_room(&s->rule_shares, user) : 0;
	for (uint32_t i = 0; numbers && i < rules->count; i++) {
		int number = rule_set_add(&s->rules, &rules->rules[i]);

		if (number < 0) {
			free(numbers);
			return NULL;
		}
		numbers[i] = (uint16_t)number;
	}
	shares_take(&s->rule_shares, user, s->rules.count - before);
	for (; s->rules_written < s->rules.count; s->rules_written++)
		s->kernel_rules[s->rules_written] = s->rules.rules[s->rules_written];
	return numbers;
}

static void forget_pages(struct table_store *s, uint32_t first, uint32_t count, uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		struct unwind_page page = s->pages[first + i];

		if (!page.rows)
			continue;
		s->slabs[page.slab].live -= page.rows;
		if (!s->slabs[page.slab].live)
			s->slabs[page.slab].emptied_ns = now_ns;
		s->pages[first + i] = (struct unwind_page){ 0 };
	}
}

static struct error *put_page(struct putting *p, const struct table_page *from,
			      struct unwind_page *page)
{
	struct table_slab *slab;
	struct error *error;

	*page = (struct unwind_page){ 0 };
	if (!from->rows || from->rows > UINT16_MAX)
		return NULL;
	error = find_slab(p, from);
	if (error)
		return error;
	slab = &p->store->slabs[p->slab];
	for (uint32_t i = 0; i < from->rows; i++) {
		uint32_t row = p->table->rows[from->first + i];

		slab->rows[slab->used + i] = (row & 0xffff0000) | p->numbers[row & 0xffff];
	}
	*page = (struct unwind_page){ .first = slab->used,
				      .slab = (uint16_t)p->slab,
				      .rows = (uint16_t)from->rows };
	slab->used += from->rows;
	slab->live += from->rows;
	return NULL;
}

struct error *table_store_put(struct table_store *s, const struct unwind_table *t, uint32_t user,
			      struct stored_table *stored, uint64_t now_ns)
{
	struct table_need need = table_store_need(s, t, user, now_ns);
	struct putting p = { .store = s, .table = t, .now_ns = now_ns };
	struct error *error = NULL;
	uint32_t first;

	if (need.slab_rows || need.rows || need.pages)
		return no_room();
	p.numbers = translate_rules(s, &t->rules, user);
	if (!p.numbers)
		return error_memory();
	first = range_pool_take(&s->page_pool, t->page_count, now_ns);
	if (first == RANGE_POOL_NONE) {
		free(p.numbers);
		return no_room();
	}
	for (uint32_t i = 0; i < t->page_count && !error; i++) {
		error = put_page(&p, &t->pages[i], &s->pages[first + i]);
		if (error) {
			forget_pages(s, first, i, now_ns);
			range_pool_give(&s->page_pool, first, t->page_count, now_ns);
		}
	}
	free(p.numbers);
	if (error)
		return error;
	*stored = (struct stored_table){ first, t->page_count, t->row_count, user,
					 t->rules.refused || s->rules.refused };
	shares_take(&s->row_shares, user, stored->rows);
	shares_take(&s->page_shares, user, stored->pages);
	return NULL;
}

/* Index of the last of the sorted rows that is not above the key; the first row is below any. */
static uint32_t last_up_to(const uint32_t *rows, uint32_t count, uint32_t key)
{
	uint32_t first = 0;

	while (count > 1) {
		uint32_t half = count / 2;

		if (rows[first + half] <= key)
			first += half;
		count -= half;
	}
	return first;
}

const struct unwind_rule *table_store_rule(const struct table_store *s,
					   const struct unwind_segment *segment, uint64_t address)
{
	uint64_t offset = address - segment->base, page_number = offset >> UNWIND_PAGE_BITS;
	const struct unwind_page *page;
	const uint32_t *rows;
	uint32_t row;

	if (segment->pages >= UNWIND_PAGES_WAITING || page_number >= segment->pages)
		return NULL;
	page = &s->pages[segment->first_page + page_number];
	if (!page->rows)
		return NULL;
	rows = s->slabs[page->slab].rows + page->first;
	row = rows[last_up_to(rows, page->rows, (uint32_t)offset << 16 | 0xffff)];
	return (row & 0xffff) == UNWIND_NONE ? NULL : &s->kernel_rules[row & 0xffff];
}

/* Takes a table's rows off those that live in each slab; returns the rows that become free. */
static uint64_t take_off(const struct table_store *s, const struct stored_table *table,
			 uint32_t *live)
{
	uint64_t freed = 0;

	for (uint32_t i = 0; i < table->pages; i++) {
		const struct unwind_page *page = &s->pages[table->first_page + i];

		live[page->slab] -= page->rows;
		if (page->rows && !live[page->slab])
			freed += s->slabs[page->slab].used;
	}
	return freed;
}

static bool empties_a_slab(const struct table_store *s, const struct stored_table *table,
			   const uint32_t *live)
{
	for (uint32_t i = 0; i < table->pages; i++) {
		const struct unwind_page *page = &s->pages[table->first_page + i];

		if (page->rows && !live[page->slab])
			return true;
	}
	return false;
}

static bool covers(const struct table_need *freed, const struct table_need *need)
{
	return freed->slab_rows >= need->slab_rows && freed->rows >= need->rows &&
	       freed->pages >= need->pages;
}

/* Drops one of those that were chosen; `need` is what is needed without it. */
static void drop(struct table_choice *choice, struct table_need *need)
{
	choice->drop = true;
	need->rows = beyond(need->rows, choice->table->rows);
	need->pages = beyond(need->pages, choice->table->pages);
}

/* Those that empty a slab, and as many of the others as are needed for the user's share. */
static void drop_needed(const struct table_store *s, struct table_choice *choices, size_t n,
			const uint32_t *live, struct table_need need)
{
	for (size_t i = 0; i < n; i++)
		if (empties_a_slab(s, choices[i].table, live))
			drop(&choices[i], &need);
	for (size_t i = 0; i < n && (need.rows || need.pages); i++)
		if (!choices[i].drop)
			drop(&choices[i], &need);
}

bool table_store_choose(const struct table_store *s, struct table_choice *choices, size_t n,
			const struct table_need *need)
{
	uint32_t *live = calloc(s->max_slabs, sizeof(*live));
	struct table_need freed = { 0 };
	size_t taken = 0;
	bool enough;

	for (uint32_t i = 0; live && i < s->max_slabs; i++)
		live[i] = s->slabs[i].live;
	while (live && taken < n && !covers(&freed, need)) {
		const struct stored_table *table = choices[taken++].table;

		freed.slab_rows += take_off(s, table, live);
		freed.rows += table->rows;
		freed.pages += table->pages;
	}
	enough = live && covers(&freed, need);
	if (enough)
		drop_needed(s, choices, taken, live, *need);
	free(live);
	return enough;
}

void table_store_drop(struct table_store *s, const struct stored_table *stored, uint64_t now_ns)
{
	forget_pages(s, stored->first_page, stored->pages, now_ns);
	range_pool_give(&s->page_pool, stored->first_page, stored->pages, now_ns);
	let_rest(s, stored, now_ns);
}
