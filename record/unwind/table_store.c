/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/table_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "common/limits.h"

#define SLAB_BYTES (UNWIND_SLAB_ROWS * sizeof(uint32_t))
#define BATCH 64
/* So many are made at once without need, so that few calls wait. */
#define AHEAD_MAX 4

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

/* The slab that is no part of the array of maps. */
static bool map_first_slab(struct table_slab *slab, int fd)
{
	*slab = (struct table_slab){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
	if (slab->fd >= 0 && (slab->rows = map_array(slab->fd, SLAB_BYTES)))
		return true;
	if (slab->fd >= 0)
		close(slab->fd);
	slab->fd = -1;
	return false;
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
	s->slab_shares.limit = s->max_slabs;
	s->slabs = calloc(s->max_slabs, sizeof(*s->slabs));
	if (!s->slabs || range_pool_init(&s->page_pool, UNWIND_MAX_PAGES)) {
		error = error_memory();
		goto out;
	}
	for (uint32_t i = 0; i < s->max_slabs; i++)
		s->slabs[i].fd = -1;
	s->slab_count = map_first_slab(&s->slabs[0], maps->first_slab);
	if (!s->slab_count || !(s->pages = map_array(maps->pages, s->pages_size)) ||
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
	shares_release(&s->slab_shares);
	*s = (struct table_store){ 0 };
}

/* -------- shares -------- */

static bool is_resting(const struct table_slab *slab)
{
	return slab->used && !slab->live;
}

/* Slabs and pages that have rested are nobody's. */
static void give_rested(struct table_store *s, uint64_t now_ns)
{
	range_pool_expire(&s->page_pool, now_ns);
	for (uint32_t i = 0; i < s->max_slabs; i++) {
		struct table_slab *slab = &s->slabs[i];

		if (!is_resting(slab) || now_ns - slab->emptied_ns < RANGE_POOL_REST_NS)
			continue;
		slab->used = 0;
		shares_give(&s->slab_shares, slab->user, 1);
	}
}

/* What rests and was the user's; for root, whose else it was, too. */
static struct table_need resting_of(const struct table_store *s, uint32_t user)
{
	struct table_need resting = { .pages = range_pool_resting(&s->page_pool, user) };

	for (uint32_t i = 0; i < s->max_slabs; i++)
		resting.slabs += is_resting(&s->slabs[i]) && (!user || s->slabs[i].user == user);
	return resting;
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

/*
 * One call for all of them: the kernel waits for its readers once per call. Older ones do so for
 * each, or know no such call.
 */
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

/*
 * Makes `wanted` more slabs, or as many as there are, as far as the limit allows: who needs many
 * small ones, one after the other, waits for few calls.
 */
static struct error *add_slabs(struct table_store *s, uint32_t wanted)
{
	uint32_t ahead = s->slab_count < AHEAD_MAX ? s->slab_count : AHEAD_MAX;
	uint32_t keys[BATCH], count = 0;
	struct error *error = NULL;
	int fds[BATCH];

	if (wanted < ahead)
		wanted = ahead;
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

void table_store_reserve(struct table_store *s, uint64_t now_ns)
{
	give_rested(s, now_ns);
	/* Most tables are root's. */
	for (uint32_t i = 0; i < s->max_slabs; i++) {
		const struct table_slab *slab = &s->slabs[i];

		if (slab->fd >= 0 &&
		    (!slab->used || (!slab->user && slab->used <= UNWIND_SLAB_ROWS / 2)))
			return;
	}
	/* Without one the next table is published later. */
	error_ignore(add_slabs(s, 1));
}

uint64_t table_store_bytes(const struct table_store *s)
{
	return (uint64_t)s->slab_count * SLAB_BYTES;
}

/* -------- where rows go -------- */

/* A page with more has none. */
static uint32_t rows_of(const struct table_page *page)
{
	return page->rows > UINT16_MAX ? 0 : page->rows;
}

/* The first slab of the user's from there on, after which new ones begin. */
static uint32_t next_slab(const struct table_store *s, uint32_t user, uint32_t from)
{
	while (from < s->max_slabs && (!s->slabs[from].live || s->slabs[from].user != user))
		from++;
	return from;
}

/*
 * For each page of the table the slab into which its rows go: one of the user's that has room, or
 * from max_slabs on a new one, of which there are so many. NULL without memory.
 */
static uint32_t *choose_slabs(const struct table_store *s, const struct unwind_table *t,
			      uint32_t user, uint32_t *new_slabs)
{
	uint32_t *places = calloc(t->page_count + 1, sizeof(*places));
	uint32_t at = next_slab(s, user, 0), used = at < s->max_slabs ? s->slabs[at].used : 0;
	bool any = false;

	for (uint32_t i = 0; places && i < t->page_count; i++) {
		uint32_t rows = rows_of(&t->pages[i]);

		while (used + rows > UNWIND_SLAB_ROWS) {
			at = next_slab(s, user, at + 1);
			used = at < s->max_slabs ? s->slabs[at].used : 0;
		}
		places[i] = at;
		used += rows;
		any |= rows > 0;
	}
	*new_slabs = at < s->max_slabs || !any ? 0 : at - s->max_slabs + 1;
	return places;
}

/* So many slabs that are nobody's, some of which may have to be made. */
static struct error *find_free_slabs(struct table_store *s, uint32_t *found, uint32_t n)
{
	uint32_t count = 0;

	while (count < n) {
		struct error *error;

		count = 0;
		for (uint32_t i = 0; i < s->max_slabs && count < n; i++)
			if (s->slabs[i].fd >= 0 && !s->slabs[i].used)
				found[count++] = i;
		error = count < n ? add_slabs(s, n - count) : NULL;
		if (error)
			return error;
	}
	return NULL;
}

/* Puts slabs in place of the new ones. */
static struct error *take_new_slabs(struct table_store *s, const struct unwind_table *t,
				    uint32_t *places, uint32_t n)
{
	uint32_t *found = calloc(n + 1, sizeof(*found));
	struct error *error = found ? find_free_slabs(s, found, n) : error_memory();

	for (uint32_t i = 0; !error && i < t->page_count; i++)
		if (places[i] >= s->max_slabs && rows_of(&t->pages[i]))
			places[i] = found[places[i] - s->max_slabs];
	free(found);
	return error;
}

/* Who has no slab, or gives back all that he has, may have one, even the last. */
static uint64_t lacking_slabs(const struct shares *s, uint32_t user, uint32_t new_slabs)
{
	uint64_t lacking = shares_lacking(s, user, new_slabs), has = shares_of(s, user);

	if (new_slabs != 1)
		return lacking;
	if (!has)
		return shares_lacking(s, 0, 1);
	return has < lacking ? has : lacking;
}

static struct table_need lacking(const struct table_store *s, const struct unwind_table *t,
				 uint32_t user, uint32_t new_slabs)
{
	return (struct table_need){
		.slabs = lacking_slabs(&s->slab_shares, user, new_slabs),
		.pages = shares_lacking(&s->page_pool.shares, user, t->page_count),
	};
}

static uint64_t beyond(uint64_t n, uint64_t limit)
{
	return n > limit ? n - limit : 0;
}

struct table_need table_store_need(struct table_store *s, const struct unwind_table *t,
				   uint32_t user, uint64_t now_ns)
{
	struct table_need need, resting;
	uint32_t new_slabs = 0;

	give_rested(s, now_ns);
	free(choose_slabs(s, t, user, &new_slabs));
	need = lacking(s, t, user, new_slabs);
	resting = resting_of(s, user);
	return (struct table_need){ beyond(need.slabs, resting.slabs),
				    beyond(need.pages, resting.pages) };
}

/* -------- tables -------- */

/* The table's rule numbers as the kernel half's; new rules are written before they are used. */
static uint16_t *translate_rules(struct table_store *s, const struct rule_set *rules, uint32_t user)
{
	uint16_t *numbers = calloc(rules->count + 1, sizeof(*numbers));
	uint32_t before = s->rules.count;

	s->rules.refused = false;
	s->rules.limit = user ? before + (uint32_t)shares_room(&s->rule_shares, user) : 0;
	if (s->rules.limit > UNWIND_MAX_RULES)
		s->rules.limit = 0;
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

/* A table on its way into the store. */
struct putting {
	struct table_store *store;
	const struct unwind_table *table;
	uint32_t user;
	uint16_t *numbers; /* of its rules, in the kernel half */
	uint32_t *places;  /* slabs, by page */
};

static void put_page(const struct putting *p, uint32_t i, struct unwind_page *page)
{
	const struct table_page *from = &p->table->pages[i];
	struct table_slab *slab;

	*page = (struct unwind_page){ 0 };
	if (!rows_of(from))
		return;
	slab = &p->store->slabs[p->places[i]];
	if (!slab->used) {
		slab->user = p->user;
		shares_take(&p->store->slab_shares, p->user, 1);
	}
	for (uint32_t j = 0; j < from->rows; j++) {
		uint32_t row = p->table->rows[from->first + j];

		slab->rows[slab->used + j] = (row & 0xffff0000) | p->numbers[row & 0xffff];
	}
	*page = (struct unwind_page){ .first = slab->used,
				      .slab = (uint16_t)p->places[i],
				      .rows = (uint16_t)from->rows };
	slab->used += from->rows;
	slab->live += from->rows;
}

/* With numbers and places. */
static struct error *put(struct putting *p, uint32_t new_slabs, struct stored_table *stored,
			 uint64_t now_ns)
{
	const struct unwind_table *t = p->table;
	struct table_store *s = p->store;
	struct error *error = take_new_slabs(s, t, p->places, new_slabs);
	uint32_t first;

	if (error)
		return error;
	/* From the beginning, so that what is left lies side by side. */
	s->page_pool.hint = 0;
	first = range_pool_take(&s->page_pool, t->page_count, p->user, now_ns);
	if (first == RANGE_POOL_NONE)
		return no_room();
	for (uint32_t i = 0; i < t->page_count; i++)
		put_page(p, i, &s->pages[first + i]);
	*stored = (struct stored_table){ first, t->page_count, t->row_count, p->user,
					 t->rules.refused || s->rules.refused };
	return NULL;
}

struct error *table_store_put(struct table_store *s, const struct unwind_table *t, uint32_t user,
			      struct stored_table *stored, uint64_t now_ns)
{
	struct putting p = { .store = s, .table = t, .user = user };
	uint32_t new_slabs = 0;
	struct table_need need;
	struct error *error;

	give_rested(s, now_ns);
	p.places = choose_slabs(s, t, user, &new_slabs);
	need = lacking(s, t, user, new_slabs);
	if (!p.places)
		return error_memory();
	if (need.slabs || need.pages) {
		free(p.places);
		return no_room();
	}
	p.numbers = translate_rules(s, &t->rules, user);
	error = p.numbers ? put(&p, new_slabs, stored, now_ns) : error_memory();
	free(p.numbers);
	free(p.places);
	return error;
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

/* Takes a table's rows off those that live in each slab; returns how many slabs become empty. */
static uint64_t take_off(const struct table_store *s, const struct stored_table *table,
			 uint32_t *live)
{
	uint64_t emptied = 0;

	for (uint32_t i = 0; i < table->pages; i++) {
		const struct unwind_page *page = &s->pages[table->first_page + i];

		live[page->slab] -= page->rows;
		emptied += page->rows && !live[page->slab];
	}
	return emptied;
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

/* Drops those that empty a slab, if any is needed, and of the others as many as have the pages. */
static void drop_needed(const struct table_store *s, struct table_choice *choices, size_t n,
			const uint32_t *live, const struct table_need *need)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < n && need->slabs; i++) {
		choices[i].drop = empties_a_slab(s, choices[i].table, live);
		pages += choices[i].drop ? choices[i].table->pages : 0;
	}
	for (size_t i = 0; i < n && pages < need->pages; i++) {
		pages += choices[i].drop ? 0 : choices[i].table->pages;
		choices[i].drop = true;
	}
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
	for (; live && taken < n && (freed.slabs < need->slabs || freed.pages < need->pages);
	     taken++) {
		freed.slabs += take_off(s, choices[taken].table, live);
		freed.pages += choices[taken].table->pages;
	}
	enough = live && freed.slabs >= need->slabs && freed.pages >= need->pages;
	if (enough)
		drop_needed(s, choices, taken, live, need);
	free(live);
	return enough;
}

void table_store_drop(struct table_store *s, const struct stored_table *stored, uint64_t now_ns)
{
	forget_pages(s, stored->first_page, stored->pages, now_ns);
	range_pool_give(&s->page_pool,
			&(struct pool_range){ stored->first_page, stored->pages, stored->user },
			now_ns);
}
