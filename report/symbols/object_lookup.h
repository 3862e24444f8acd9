/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_OBJECT_LOOKUP_H
#define REPORT_SYMBOLS_OBJECT_LOOKUP_H

/*
 * All lookups in one object. The steps, in order, of which steps of different objects, and
 * within an object the two of step 2 and all units of step 3, may run in parallel:
 *
 *     1. object_lookup_open     find the files, turn offsets into link-time addresses
 *     2. object_lookup_symbols  names from symbol tables
 *        object_lookup_units    find the DWARF unit of each address
 *     3. object_lookup_unit     functions, inlined calls and lines of one unit
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "report/dwarf/debug_sections.h"
#include "report/dwarf/dwarf_lookup.h"
#include "report/symbols/debug_search.h"
#include "report/symbols/debug_split.h"
#include "report/symbols/name_cache.h"
#include "report/symbols/symbol_table.h"

#define LOOKUP_NOWHERE UINT32_MAX

/* The addresses of one DWARF unit: `n` entries of `order`, from `first` on. */
struct unit_run {
	uint32_t unit;
	uint32_t first, n;
};

struct object_lookup {
	/* Set by the caller. */
	const struct prf_object *object;
	const struct prf_object *const *copies; /* the same file at other places */
	size_t copy_count;
	const struct prf_symbol *symbols; /* that the trace holds, sorted */
	size_t symbol_count;
	const uint64_t *offsets; /* sorted, each once */
	size_t n;
	const struct debug_search *search;
	bool inlines, lines;

	enum symbols_status status;
	struct found_file main, debug, alternate, mini;
	uint8_t *mini_data;
	bool has_symbols, has_dwarf;

	uint32_t *position;  /* of each offset among the addresses, or LOOKUP_NOWHERE */
	uint64_t *addresses; /* sorted, each once */
	size_t address_count;
	uint64_t bias;	     /* what the debug file's addresses are higher by */
	uint64_t dwarf_bias; /* the same for the file that has the DWARF */

	struct symbol_name *recorded; /* by offset: names from `symbols` */
	struct symbol_name *names;    /* by address */
	struct dwarf_answer *answers; /* by address; n is 0 where nothing is known */

	struct debug_sections sections, alternate_sections;
	struct debug_split split;
	uint32_t *order; /* numbers of addresses, by unit */
	struct unit_run *runs;
	size_t run_count;
	struct arena arena; /* of step 2, symbols */
};

void object_lookup_release(struct object_lookup *l);

/* Each returns 0, or -1 without memory. That a file is missing or damaged is no error. */
int object_lookup_open(struct object_lookup *l);
int object_lookup_symbols(struct object_lookup *l);
int object_lookup_units(struct object_lookup *l);
int object_lookup_unit(struct object_lookup *l, size_t run, struct arena *arena);

/*
 * Between steps 1 and 2: whether the object itself, or then a debug file, from elsewhere could
 * help, and taking it, if it is what was wanted. Not 0: out of memory.
 */
bool object_lookup_wants_main(const struct object_lookup *l);
int object_lookup_add_main(struct object_lookup *l, const char *path);
bool object_lookup_wants_debug(const struct object_lookup *l);
void object_lookup_add_debug(struct object_lookup *l, const char *path);

/*
 * The key under which answers may be kept for later runs. False: they may not be kept, as they come
 * from the trace itself, or from files that are not part of the key.
 */
bool object_lookup_key(const struct object_lookup *l, struct name_cache_key *key);

/* After step 2: whether the file of dwz was not found. It may be installed next time. */
bool object_lookup_lacks_alternate(const struct object_lookup *l);

/* What is known of an offset: either may be NULL. */
void object_lookup_answer(const struct object_lookup *l, size_t offset, const char **name,
			  const struct dwarf_answer **answer);

#endif
