/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWIND_RULES_H
#define RECORD_UNWIND_UNWIND_RULES_H

/*
 * Sets of unwind rules (bpf/abi/unwind.h), each kept once and known by its number. Numbers
 * below RULE_FIRST_FREE are the same in every set: UNWIND_NONE, _END, _UNSUPPORTED, _SIGNAL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/unwind.h"
#include "record/unwind/cfi.h"

#define RULE_FIRST_FREE 4

/* Starts as { 0 }. */
struct rule_set {
	struct unwind_rule *rules;
	uint32_t count, capacity;
	uint16_t *buckets; /* numbers + 1, open addressing */
	uint32_t bucket_count;
	uint64_t seed;	/* whoever makes a file chooses the rules */
	uint32_t limit; /* highest number + 1; 0: UNWIND_MAX_RULES */
	bool refused;	/* some rule, as the set was full; whoever asks sets it back */
};

void rule_set_release(struct rule_set *set);

/* The rule's number; UNWIND_UNSUPPORTED when the set is full. -1 only without memory. */
int rule_set_add(struct rule_set *set, const struct unwind_rule *rule);

/* The kernel half's rule for a row; UNWIND_UNSUPPORTED if it cannot be expressed. */
struct unwind_rule unwind_rule_from_row(const struct cfi_row *row);

/* CFA = sp + offset, the return address at the CFA's usual place, nothing else saved. */
struct unwind_rule unwind_rule_at_entry(int offset);

/* For an entry of a procedure linkage table that pushes something at `push` and later. */
struct unwind_rule unwind_rule_plt(int offset, int push);

#endif
