/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_TABLE_STORE_H
#define RECORD_UNWIND_TABLE_STORE_H

/*
 * The tables' memory in the kernel: rules, pages and slabs of rows (bpf/abi/unwind.h), written
 * in place through shared mappings. Putting a new slab into the array of maps makes the
 * kernel wait for all readers (10 to 20 ms), so slabs are made in batches and ahead of need.
 * One thread uses a store.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/unwind.h"
#include "common/error.h"
#include "record/capture/unwinder_maps.h"
#include "record/unwind/range_pool.h"
#include "record/unwind/unwind_rules.h"
#include "record/unwind/unwind_table.h"

struct table_slab {
	int fd; /* -1: not there */
	uint32_t *rows;
	uint32_t used;	     /* rows handed out, from the start */
	uint32_t live;	     /* of those, rows of tables that were not dropped */
	uint64_t emptied_ns; /* when `live` became 0 */
};

struct table_store {
	int slabs_fd;
	struct unwind_page *pages;
	struct unwind_rule *kernel_rules;
	size_t pages_size, rules_size; /* of the mappings, bytes */
	struct rule_set rules;
	uint32_t rules_written;
	struct range_pool page_pool;
	struct table_slab *slabs; /* [max_slabs] */
	uint32_t max_slabs, slab_count;
};

/* A table in the store. */
struct stored_table {
	uint32_t first_page, pages;
	uint64_t rows;
	bool lacks_rules; /* some of its code has none, as there are too many different ones */
};

/* `limit` is of bytes in slabs. */
struct error *table_store_init(struct table_store *s, const struct unwinder_maps *maps,
			       uint64_t limit);
void table_store_release(struct table_store *s);

/*
 * How many different rules there may be after the next tables are stored; 0: as many as the kernel
 * half can hold. What a table needs beyond them is left out.
 */
void table_store_limit_rules(struct table_store *s, uint32_t limit);

/* Stores a table. ERROR_LIMIT: it does not fit into what is left. */
struct error *table_store_put(struct table_store *s, const struct unwind_table *t,
			      struct stored_table *stored, uint64_t now_ns);
/*
 * Frees a table that no segment refers to any more; its memory is not reused for
 * RANGE_POOL_REST_NS.
 */
void table_store_drop(struct table_store *s, const struct stored_table *stored, uint64_t now_ns);

/*
 * The rule that holds at an address in a segment, as the kernel half finds it; NULL: none. For any
 * thread, as long as the table is not dropped.
 */
const struct unwind_rule *table_store_rule(const struct table_store *s,
					   const struct unwind_segment *segment, uint64_t address);

/* Number of rows for which no slab, present or allowed, has room; 0: the table probably fits. */
uint64_t table_store_lacking(const struct table_store *s, const struct unwind_table *t,
			     uint64_t now_ns);

/* A table that may be dropped, and whether it has to be. */
struct table_choice {
	const struct stored_table *table;
	bool drop;
};

/*
 * Sets `drop` of as many tables, from the first one on, as make room for `rows` more. A slab is
 * used again only once all of it is empty, so tables that do not empty one are kept. False: even
 * without all of them there is no room, or no memory to find out.
 */
bool table_store_choose(const struct table_store *s, struct table_choice *choices, size_t n,
			uint64_t rows);

/* Has one empty slab ready for the next table. */
void table_store_reserve(struct table_store *s, uint64_t now_ns);

uint64_t table_store_bytes(const struct table_store *s);

#endif
