/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwind_rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash_seed.h"
#include "common/pair_hash.h"
#include "record/unwind/unwind_arch.h"

#define WORDS_AT_ONCE 8

void rule_set_release(struct rule_set *set)
{
	free(set->rules);
	free(set->buckets);
	*set = (struct rule_set){ 0 };
}

static uint16_t *find_bucket(const struct rule_set *set, const struct unwind_rule *rule)
{
	uint64_t words[2];
	uint32_t at;

	_Static_assert(sizeof(words) == sizeof(*rule), "all of it is hashed");
	memcpy(words, rule, sizeof(words));
	at = (uint32_t)pair_hash(set->seed, words[0], words[1]) & (set->bucket_count - 1);
	while (set->buckets[at] &&
	       memcmp(&set->rules[set->buckets[at] - 1], rule, sizeof(*rule)) != 0)
		at = (at + 1) & (set->bucket_count - 1);
	return &set->buckets[at];
}

static int grow(struct rule_set *set)
{
	uint32_t capacity = set->capacity ? set->capacity * 2 : 256;
	struct unwind_rule *rules = realloc(set->rules, capacity * sizeof(*rules));
	uint16_t *buckets;

	if (!rules)
		return -1;
	set->rules = rules;
	if (!set->seed)
		set->seed = hash_seed();
	buckets = calloc((size_t)capacity * 2, sizeof(*buckets));
	if (!buckets)
		return -1;
	free(set->buckets);
	set->buckets = buckets;
	set->bucket_count = capacity * 2;
	set->capacity = capacity;
	for (uint32_t i = 0; i < set->count; i++)
		*find_bucket(set, &rules[i]) = (uint16_t)(i + 1);
	return 0;
}

static int append(struct rule_set *set, const struct unwind_rule *rule, uint16_t *bucket)
{
	set->rules[set->count++] = *rule;
	*bucket = (uint16_t)set->count;
	return (int)set->count - 1;
}

int rule_set_add(struct rule_set *set, const struct unwind_rule *rule)
{
	uint16_t *bucket;

	if (set->count == set->capacity && grow(set))
		return -1;
	while (set->count < RULE_FIRST_FREE) {
		struct unwind_rule fixed = { .kind = (uint8_t)set->count };

		append(set, &fixed, find_bucket(set, &fixed));
	}
	bucket = find_bucket(set, rule);
	if (*bucket)
		return *bucket - 1;
	if (set->count >= (set->limit ? set->limit : UNWIND_MAX_RULES)) {
		set->refused = true;
		return UNWIND_UNSUPPORTED;
	}
	return append(set, rule, bucket);
}

static bool fits(int64_t value, int bits)
{
	int64_t limit = INT64_C(1) << (bits - 1);

	return value >= -limit && value < limit;
}

static bool set_cfa(struct unwind_rule *rule, const struct cfi_row *row)
{
	if (!fits(row->offset, 32) || !fits(row->add, 16))
		return false;
	rule->cfa_offset = (int32_t)row->offset;
	rule->add = (int16_t)row->add;
	switch (row->cfa) {
	case CFI_CFA_REGISTER:
		if (row->reg == ARCH_REGISTER_SP) {
			rule->kind = UNWIND_CFA_SP;
		} else if (row->reg == ARCH_REGISTER_FP) {
			rule->kind = UNWIND_CFA_FP;
		} else if (row->reg == ARCH_REGISTER_BASE) {
			rule->kind = UNWIND_CFA_BASE;
		} else {
			rule->kind = UNWIND_CFA_REGISTER;
			rule->add = (int16_t)arch_register_word(row->reg);
		}
		return rule->add >= 0;
	case CFI_CFA_DEREF:
		rule->kind = row->reg == ARCH_REGISTER_SP ? UNWIND_DEREF_SP : UNWIND_DEREF_FP;
		return row->reg == ARCH_REGISTER_SP || row->reg == ARCH_REGISTER_FP;
	case CFI_CFA_PLT: rule->kind = UNWIND_PLT; return true;
	case CFI_CFA_OTHER: break;
	}
	return false;
}

/* The return address: where it is saved, or the link register. */
static bool set_return(struct unwind_rule *rule, const struct cfi_row *row)
{
	if (row->ra.place == CFI_AT_CFA && fits(row->ra.offset, 16)) {
		rule->words = 1;
		rule->read_offset = (int16_t)row->ra.offset;
		return true;
	}
	rule->ra_word = UNWIND_IN_REGISTER;
	if (row->ra.place == CFI_REGISTER && rule->kind == UNWIND_CFA_SP) {
		rule->flags = UNWIND_RA_FROM_REGISTER;
		rule->add = (int16_t)arch_register_word((unsigned int)row->ra.offset);
		return rule->add >= 0;
	}
	return ARCH_LINK_REGISTER && (row->ra.place == CFI_UNSAID || row->ra.place == CFI_SAME);
}

/* Widens what is read at once to a word at CFA + offset. False: that is too far away. */
static bool read_too(struct unwind_rule *rule, int64_t offset)
{
	int64_t low = rule->read_offset, high = low + 8 * (rule->words - 1), shift;

	if (!rule->words || (offset - low) % 8)
		return false;
	shift = offset < low ? (low - offset) / 8 : 0;
	low = offset < low ? offset : low;
	high = offset > high ? offset : high;
	if ((high - low) / 8 >= WORDS_AT_ONCE)
		return false;
	rule->read_offset = (int16_t)low;
	rule->words = (uint8_t)((high - low) / 8 + 1);
	rule->ra_word = (uint8_t)(rule->ra_word + shift);
	if (rule->fp_word != UNWIND_IN_REGISTER)
		rule->fp_word = (uint8_t)(rule->fp_word + shift);
	return true;
}

static uint8_t word_at(const struct unwind_rule *rule, int64_t offset)
{
	return (uint8_t)((offset - rule->read_offset) / 8);
}

/* The caller's frame pointer: read together with the return address where that is near. */
static bool set_frame_pointer(struct unwind_rule *rule, const struct cfi_row *row)
{
	rule->fp_word = UNWIND_IN_REGISTER;
	if (row->fp.place == CFI_AT_FP && fits(row->fp.offset, 16)) {
		rule->flags |= UNWIND_FP_FROM_FP;
		rule->fp_far = (int16_t)row->fp.offset;
		return true;
	}
	if (row->fp.place != CFI_AT_CFA)
		return true; /* unchanged or lost; if lost, a later frame fails */
	if (!fits(row->fp.offset, 16))
		return false;
	if (read_too(rule, row->fp.offset)) {
		rule->fp_word = word_at(rule, row->fp.offset);
		return true;
	}
	rule->flags |= UNWIND_FP_FROM_CFA;
	rule->fp_far = (int16_t)row->fp.offset;
	return true;
}

/* The base register is restored only if the same read covers it. */
static void set_base(struct unwind_rule *rule, const struct cfi_row *row)
{
	rule->base_word = UNWIND_IN_REGISTER;
	if (row->base.place == CFI_UNSAID || row->base.place == CFI_SAME)
		return;
	rule->base_word = UNWIND_LOST;
	if (row->base.place == CFI_AT_CFA && fits(row->base.offset, 16) &&
	    read_too(rule, row->base.offset))
		rule->base_word = word_at(rule, row->base.offset);
}

/*
 * On arm64 the frame's own words lie below the CFA. glibc's _dl_runtime_resolve saves nothing
 * itself: its return address was pushed by PLT0, two words that its CFI counts to the caller and
 * has at CFA + 8. The caller's stack begins after them.
 */
static struct cfi_row above_pushed_words(const struct cfi_row *row)
{
	struct cfi_row moved = *row;

	if (!ARCH_LINK_REGISTER || row->ra.place != CFI_AT_CFA || row->ra.offset != 8)
		return moved;
	moved.offset += 16;
	moved.ra.offset -= 16;
	if (moved.fp.place == CFI_AT_CFA)
		moved.fp.offset -= 16;
	if (moved.base.place == CFI_AT_CFA)
		moved.base.offset -= 16;
	return moved;
}

struct unwind_rule unwind_rule_from_row(const struct cfi_row *original)
{
	static const struct unwind_rule unsupported = { .kind = UNWIND_UNSUPPORTED };
	struct cfi_row moved = above_pushed_words(original);
	const struct cfi_row *row = &moved;
	struct unwind_rule rule = { 0 };

	if (row->signal)
		return (struct unwind_rule){ .kind = UNWIND_SIGNAL };
	if (row->ra.place == CFI_UNDEFINED)
		return (struct unwind_rule){ .kind = UNWIND_END };
	if (!set_cfa(&rule, row) || !set_return(&rule, row) || !set_frame_pointer(&rule, row))
		return unsupported;
	set_base(&rule, row);
	return rule;
}

struct unwind_rule unwind_rule_at_entry(int offset)
{
	struct cfi_row row = { .cfa = CFI_CFA_REGISTER, .reg = ARCH_REGISTER_SP, .offset = offset };

	if (!ARCH_LINK_REGISTER)
		row.ra = (struct cfi_saved){ CFI_AT_CFA, -8 };
	return unwind_rule_from_row(&row);
}

struct unwind_rule unwind_rule_plt(int offset, int push)
{
	struct cfi_row row = { .cfa = CFI_CFA_PLT,
			       .reg = ARCH_REGISTER_SP,
			       .offset = offset,
			       .add = push,
			       .ra = { CFI_AT_CFA, -8 } };

	return unwind_rule_from_row(&row);
}
