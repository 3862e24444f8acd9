/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_TABLE_STORE_H
#define RECORD_UNWIND_TABLE_STORE_H

/*
 * The tables' memory in the kernel: rules, pages and slabs of rows (bpf/abi/unwind.h), written
 * in place through shared mappings. Putting a new slab into the array of maps makes the
 * kernel wait for all readers (10 to 20 ms), so the first slab is no part of it, and the others are
 * made in batches and ahead of need. Users share rules, pages and slabs. One thread uses a store.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/unwind.h"
#include "common/error.h"
#include "record/capture/unwinder_maps.h"
#include "record/system/shares.h"
#include "record/unwind/range_pool.h"
#include "record/unwind/unwind_rules.h"
#include "record/unwind/unwind_table.h"

/* Its rows are of one user's tables. */
struct table_slab {
	int fd; /* -1: not there */
	uint32_t *rows;
	uint32_t used;	     /* rows handed out, from the start; 0: it is nobody's */
	uint32_t live;	     /* of those, rows of tables that were not dropped */
	uint64_t emptied_ns; /* when `live` became 0 */
	uint32_t user;
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
	struct shares rule_shares, slab_shares;
};

/* A table in the store. */
struct stored_table {
	uint32_t first_page, pages;
	uint64_t rows;
	uint32_t user;	  /* whose share it is of */
	bool lacks_rules; /* some of its code has none, as there are too many different ones */
};

/* `limit` is of bytes in slabs. */
struct error *table_store_init(struct table_store *s, const struct unwinder_maps *maps,
			       uint64_t limit);
void table_store_release(struct table_store *s);

/*
 * Stores a table of the user's. ERROR_LIMIT: it does not fit into what is left for him, or its
 * pages are not left side by side. If he has his share of rules, what needs further ones is left
 * out.
 */
struct error *table_store_put(struct table_store *s, const struct unwind_table *t, uint32_t user,
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

struct table_need {
	uint64_t slabs, pages;
};

/* What the user has to give back for a table to fit, beyond what rests already. */
struct table_need table_store_need(struct table_store *s, const struct unwind_table *t,
				   uint32_t user, uint64_t now_ns);

/* A table that may be dropped, and whether it has to be. */
struct table_choice {
	const struct stored_table *table;
	bool drop;
};

/*
 * Sets `drop`, which is false before, of as many tables, from the first one on, as give what is
 * needed. A slab is used again only once all of it is empty, so for slabs no table is dropped that
 * does not empty one. False: even without all of them there is no room, or no memory to find out.
 */
bool table_store_choose(const struct table_store *s, struct table_choice *choices, size_t n,
			const struct table_need *need);

/* Has a slab with room ready for the next table, if that is of a small file of root's. */
void table_store_reserve(struct table_store *s, uint64_t now_ns);

uint64_t table_store_bytes(const struct table_store *s);

#endif
