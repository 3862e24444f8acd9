/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/table_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

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

int table_store_init(struct table_store *s, int pages_fd, int rules_fd, int slabs_fd,
		     uint64_t limit)
{
	uint64_t slabs = limit / SLAB_BYTES;
	int error = 0;

	*s = (struct table_store){ .slabs_fd = slabs_fd };
	s->max_slabs = slabs < 1		  ? 1
		       : slabs > UNWIND_MAX_SLABS ? UNWIND_MAX_SLABS
						  : (uint32_t)slabs;
	s->pages_size = map_bytes(UNWIND_MAX_PAGES, sizeof(*s->pages));
	s->rules_size = map_bytes(UNWIND_MAX_RULES, sizeof(*s->kernel_rules));
	s->slabs = calloc(s->max_slabs, sizeof(*s->slabs));
	if (!s->slabs || range_pool_init(&s->page_pool, UNWIND_MAX_PAGES)) {
		error = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < s->max_slabs; i++)
		s->slabs[i].fd = -1;
	s->pages = map_array(pages_fd, s->pages_size);
	s->kernel_rules = map_array(rules_fd, s->rules_size);
	if (!s->pages || !s->kernel_rules)
		error = -errno;
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
	*s = (struct table_store){ 0 };
}

/* -------- slabs -------- */

static int create_slab(struct table_slab *slab)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_slab", sizeof(uint32_t), SLAB_BYTES, 1,
				&options);

	if (fd < 0)
		return -errno;
	*slab = (struct table_slab){ .fd = fd, .rows = map_array(fd, SLAB_BYTES) };
	if (!slab->rows) {
		int error = -errno;

		close(fd);
		slab->fd = -1;
		return error;
	}
	return 0;
}

/* One call for all of them: the kernel waits for its readers once per call. */
static int publish_slabs(struct table_store *s, const uint32_t *keys, const int *fds,
			 uint32_t count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t done = count;

	if (bpf_map_update_batch(s->slabs_fd, keys, fds, &done, &options) == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(s->slabs_fd, &keys[i], &fds[i], BPF_ANY))
			return -errno;
	return 0;
}

/* Makes up to `wanted` more slabs, as far as the limit allows. */
static int add_slabs(struct table_store *s, uint32_t wanted)
{
	uint32_t keys[BATCH], count = 0;
	int fds[BATCH], error = 0;

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
		return error ? error : -ENOSPC;
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

uint64_t table_store_lacking(const struct table_store *s, const struct unwind_table *t,
			     uint64_t now_ns)
{
	uint64_t room = (uint64_t)(s->max_slabs - s->slab_count) * UNWIND_SLAB_ROWS;

	for (uint32_t i = 0; i < s->max_slabs; i++)
		room += slab_room(&s->slabs[i], now_ns);
	return t->row_count > room ? t->row_count - room : 0;
}

/* A slab with room for `rows`; `hint` is where the page before went. */
static int find_slab(struct table_store *s, uint32_t rows, uint32_t *hint, uint64_t missing,
		     uint64_t now_ns)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		for (uint32_t n = 0; n < s->max_slabs; n++) {
			uint32_t i = (*hint + n) % s->max_slabs;
			struct table_slab *slab = &s->slabs[i];

			if (slab_room(slab, now_ns) < rows)
				continue;
			if (slab_rested(slab, now_ns))
				slab->used = 0;
			*hint = i;
			return 0;
		}
		if (attempt == 0) {
			int error = add_slabs(s, (uint32_t)(missing / UNWIND_SLAB_ROWS) + 1);

			if (error)
				return error;
		}
	}
	return -ENOSPC;
}

void table_store_reserve(struct table_store *s, uint64_t now_ns)
{
	for (uint32_t i = 0; i < s->max_slabs; i++)
		if (slab_room(&s->slabs[i], now_ns) >= UNWIND_SLAB_ROWS / 2)
			return;
	add_slabs(s, 1);
}

uint64_t table_store_bytes(const struct table_store *s)
{
	return (uint64_t)s->slab_count * SLAB_BYTES;
}

/* -------- tables -------- */

/* The table's rule numbers as the kernel half's; new rules are written before they are used. */
static uint16_t *translate_rules(struct table_store *s, const struct rule_set *rules)
{
	uint16_t *numbers = calloc(rules->count + 1, sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < rules->count; i++) {
		int number = rule_set_add(&s->rules, &rules->rules[i]);

		if (number < 0) {
			free(numbers);
			return NULL;
		}
		numbers[i] = (uint16_t)number;
	}
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

static int put_page(struct table_store *s, const struct unwind_table *t,
		    const struct table_page *from, const uint16_t *numbers, uint32_t *hint,
		    struct unwind_page *page, uint64_t now_ns)
{
	struct table_slab *slab;
	int error;

	if (!from->rows || from->rows > UINT16_MAX) {
		*page = (struct unwind_page){ 0 };
		return 0;
	}
	error = find_slab(s, from->rows, hint, t->row_count - from->first, now_ns);
	if (error)
		return error;
	slab = &s->slabs[*hint];
	for (uint32_t i = 0; i < from->rows; i++) {
		uint32_t row = t->rows[from->first + i];

		slab->rows[slab->used + i] = (row & 0xffff0000) | numbers[row & 0xffff];
	}
	*page = (struct unwind_page){ .first = slab->used,
				      .slab = (uint16_t)*hint,
				      .rows = (uint16_t)from->rows };
	slab->used += from->rows;
	slab->live += from->rows;
	return 0;
}

int table_store_put(struct table_store *s, const struct unwind_table *t,
		    struct stored_table *stored, uint64_t now_ns)
{
	uint16_t *numbers = translate_rules(s, &t->rules);
	uint32_t first, hint = 0;
	int error = 0;

	if (!numbers)
		return -ENOMEM;
	first = range_pool_take(&s->page_pool, t->page_count, now_ns);
	if (first == RANGE_POOL_NONE) {
		free(numbers);
		return -ENOSPC;
	}
	for (uint32_t i = 0; i < t->page_count && !error; i++) {
		error = put_page(s, t, &t->pages[i], numbers, &hint, &s->pages[first + i], now_ns);
		if (error) {
			forget_pages(s, first, i, now_ns);
			range_pool_give(&s->page_pool, first, t->page_count, now_ns);
		}
	}
	free(numbers);
	*stored = (struct stored_table){ first, t->page_count, t->row_count };
	return error;
}

void table_store_drop(struct table_store *s, const struct stored_table *stored, uint64_t now_ns)
{
	forget_pages(s, stored->first_page, stored->pages, now_ns);
	range_pool_give(&s->page_pool, stored->first_page, stored->pages, now_ns);
}
