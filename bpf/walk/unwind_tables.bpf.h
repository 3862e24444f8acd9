/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_WALK_UNWIND_TABLES_BPF_H
#define BPF_WALK_UNWIND_TABLES_BPF_H

/*
 * The tables of bpf/abi/unwind.h in the kernel half: the maps that hold them, and the search from
 * a pc to the rule that holds there. The recorder fills the maps; nothing here writes them.
 */

#include <bpf/bpf_helpers.h>

#include "bpf/abi/unwind.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_SEGMENTS);
	__type(key, __u32);
	__type(value, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_PAGES);
	__type(key, __u32);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_RULES);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct unwind_slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, UNWIND_SLAB_ROWS * sizeof(__u32));
};

/*
 * Slab 0, which is there from the beginning, and enough for most targets: the kernel waits for all
 * readers when a map is put among `unwind_slabs`.
 */
struct unwind_slab unwind_first_slab SEC(".maps");

/* Each other slab is a map of its own, so that the recorder creates only as many as it needs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_SLABS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__array(values, struct unwind_slab);
} unwind_slabs SEC(".maps");

/* Numbers that no rule has. */
#define RULE_NO_MAPPING 0xffffffff /* the process has no executable mapping there */
#define RULE_MISSING 0xfffffffe	   /* the file has no table */
#define RULE_WAITING 0xfffffffd	   /* the file's table is being made */

/* The segment of the run that holds `pc`: its index in unwind_segments, or -1. */
__noinline int find_segment(__u32 first, __u32 count, __u64 pc)
{
	struct unwind_segment *s;
	__u32 index;

	/* The last segment that starts at or before pc is in [first, first + count). */
	for (__u64 i = 0; i < 14 && count > 1; i++) {
		__u32 half = count / 2;

		index = first + half;
		s = bpf_map_lookup_elem(&unwind_segments, &index);
		if (!s)
			return -1;
		if (s->start <= pc)
			first = index;
		count = s->start <= pc ? count - half : half;
	}
	s = bpf_map_lookup_elem(&unwind_segments, &first);
	if (!s || !count || pc < s->start || pc >= s->end)
		return -1;
	return (int)first;
}

static __always_inline __u32 *slab_rows(__u32 slab_index)
{
	__u32 zero = 0, *rows;
	void *slab;

	if (!slab_index) {
		rows = bpf_map_lookup_elem(&unwind_first_slab, &zero);
		/* So that both look-ups are not one call, which the kernel then does not inline. */
		asm volatile("" : "+r"(rows));
		return rows;
	}
	slab = bpf_map_lookup_elem(&unwind_slabs, &slab_index);
	return slab ? bpf_map_lookup_elem(slab, &zero) : NULL;
}

/* The rule that holds at `offset` from the first byte of the page. */
__noinline __u32 find_rule(__u32 page_index, __u32 offset)
{
	struct unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &page_index);
	__u32 key = offset << 16 | 0xffff;
	__u32 first, count;
	__u32 *rows;

	if (!page || !page->rows)
		return 0;
	first = page->first;
	count = page->rows;
	rows = slab_rows(page->slab);
	if (!rows)
		return 0;
	for (__u64 i = 0; i < 16 && count > 1; i++) {
		__u32 half = count / 2;
		__u32 row = rows[(first + half) & (UNWIND_SLAB_ROWS - 1)];

		if (row <= key)
			first += half;
		count -= half;
	}
	return rows[first & (UNWIND_SLAB_ROWS - 1)] & 0xffff;
}

static __always_inline __u32 rule_in_segment(struct unwind_segment *s, __u64 pc)
{
	__u64 offset = pc - s->base;

	if (s->pages == UNWIND_PAGES_MISSING)
		return RULE_MISSING;
	if (s->pages == UNWIND_PAGES_WAITING)
		return RULE_WAITING;
	if ((offset >> UNWIND_PAGE_BITS) >= s->pages)
		return 0;
	return find_rule(s->first_page + (__u32)(offset >> UNWIND_PAGE_BITS), offset & 0xffff);
}

#endif
