/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_WALK_UNWIND_SPACES_BPF_H
#define BPF_WALK_UNWIND_SPACES_BPF_H

/*
 * Which segments a process has. The recorder publishes a run of segments for each process, but
 * it learns of a new mapping only some milliseconds later. Until then the kernel half helps
 * itself: a forked child gets a copy of its parent's run, exec drops the run, and a file that
 * the run does not cover is looked up by asking the kernel which file is mapped there ("fresh"
 * segments).
 */

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "bpf/state/arch.h"
#include "bpf/state/kernel.h"
#include "bpf/abi/unwind.h"
#include "bpf/runtimes/script.bpf.h"
#include "bpf/walk/unwind_tables.bpf.h"
#include "bpf/state/user_memory.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_MAX_FILES);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

/* An array, as both a program in an NMI and one that it interrupted may write: it has no lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_FRESH_SLOTS);
	__type(key, __u32);
	__type(value, struct unwind_fresh);
} unwind_fresh SEC(".maps");

/* Set by the loader: the kernel has bpf_find_vma(), since 5.17. */
const volatile __u8 unwind_asks_kernel = 0;

static __always_inline struct unwind_fresh *fresh_of(__u32 tgid)
{
	__u32 slot = tgid & (UNWIND_FRESH_SLOTS - 1);

	return bpf_map_lookup_elem(&unwind_fresh, &slot);
}

static __always_inline bool fresh_is_of(const struct unwind_fresh_segment *one, __u32 tgid,
					__u64 mm)
{
	return one->tgid == tgid && one->mm == mm;
}

static __always_inline bool fresh_covers(const struct unwind_fresh_segment *one, __u32 tgid,
					 __u64 mm, __u64 pc)
{
	return pc >= one->segment.start && pc < one->segment.end && fresh_is_of(one, tgid, mm);
}

/* In place of the oldest one of that slot. */
static __always_inline void fresh_put(__u32 tgid, __u64 mm, const struct unwind_segment *segment)
{
	struct unwind_fresh *fresh = fresh_of(tgid);
	struct unwind_fresh_segment *one;

	if (!fresh)
		return;
	one = &fresh->segments[__sync_fetch_and_add(&fresh->next, 1) & (UNWIND_FRESH_SEGMENTS - 1)];
	one->mm = 0; /* not to be found while it is written */
	barrier();
	one->tgid = tgid;
	one->segment = *segment;
	barrier();
	one->mm = mm;
}

/* The process runs another program now, or is a new one: what has its number is of one before. */
static __always_inline void fresh_drop(__u32 tgid)
{
	struct unwind_fresh *fresh = fresh_of(tgid);

	for (__u64 i = 0; fresh && i < UNWIND_FRESH_SEGMENTS; i++)
		if (fresh->segments[i].tgid == tgid)
			fresh->segments[i].mm = 0;
}

const volatile __u32 page_shift = 12; /* of the running kernel: vm_pgoff counts pages */

/* Adds the mapped file to the current process's fresh segments, if the file has a table. */
static __always_inline void walk_map(__u32 tgid, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct unwind_segment segment = { .start = vma->vm_start, .end = vma->vm_end };
	struct unwind_file_key key;
	struct unwind_file *known;
	__u64 offset = (__u64)vma->vm_pgoff << page_shift;

	key.device = file->f_inode->i_sb->s_dev;
	key.inode = file->f_inode->i_ino;
	script_map(tgid, &key, vma->vm_start, offset);
	known = bpf_map_lookup_elem(&unwind_files, &key);
	if (!known)
		return;
	for (__u64 i = 0; i < 4; i++) {
		if (i >= known->count ||
		    offset < (known->segments[i].offset >> page_shift << page_shift) ||
		    offset >= known->segments[i].offset + known->segments[i].size)
			continue;
		segment.base = segment.start - (offset + known->segments[i].delta);
		segment.first_page = known->first_page;
		segment.pages = known->pages;
		fresh_put(tgid, (__u64)vma->vm_mm, &segment);
		return;
	}
}

static long note_mapping(struct task_struct *task, struct vm_area_struct *vma, void *context)
{
	if (vma->vm_flags & VM_EXEC && vma->vm_file)
		walk_map(*(__u32 *)context, vma);
	return 0;
}

/*
 * Asks the kernel which file is mapped at pc. In an interrupt only the first call succeeds; the
 * helper is busy until the irq_work of that call has run.
 */
static __always_inline void walk_ask(__u32 tgid, __u64 pc)
{
	if (unwind_asks_kernel)
		bpf_find_vma(bpf_get_current_task_btf(), pc, note_mapping, &tgid, 0);
}

/*
 * Which of the process's fresh segments covers pc, or -1. A global function, so that the verifier
 * checks its loop once.
 */
__noinline int find_fresh(__u32 tgid, __u64 mm, __u64 pc)
{
	struct unwind_fresh *fresh = fresh_of(tgid);

	for (__u64 i = 0; fresh && i < UNWIND_FRESH_SEGMENTS; i++)
		if (fresh_covers(&fresh->segments[i], tgid, mm, pc))
			return (int)i;
	return -1;
}

/*
 * The current process's rule at pc by its fresh segments, of which there may be a new one. `mm` 0:
 * it is not the current one.
 */
__noinline __u32 fresh_rule(__u32 tgid, __u64 mm, __u64 pc)
{
	struct unwind_fresh *fresh = fresh_of(tgid);
	struct unwind_fresh_segment *one;
	__u32 rule;
	int i;

	if (!mm || !fresh)
		return RULE_NO_MAPPING;
	i = find_fresh(tgid, mm, pc);
	if (i < 0) {
		walk_ask(tgid, pc);
		i = find_fresh(tgid, mm, pc);
	}
	if (i < 0)
		return RULE_NO_MAPPING;
	one = &fresh->segments[i & (UNWIND_FRESH_SEGMENTS - 1)];
	rule = rule_in_segment(&one->segment, pc);
	barrier();
	/* Another CPU may have put another segment there meanwhile, of this process or another. */
	return fresh_covers(one, tgid, mm, pc) ? rule : RULE_NO_MAPPING;
}

static __always_inline void fresh_fork(__u32 from, __u64 from_mm, __u32 to, __u64 to_mm)
{
	struct unwind_fresh *fresh = fresh_of(from);

	/* There are none: then fresh_put() is left out, which Linux 5.15 cannot compile for arm64.
	 */
	if (!unwind_asks_kernel)
		return;
	fresh_drop(to);
	for (__u64 i = 0; fresh && i < UNWIND_FRESH_SEGMENTS; i++)
		if (fresh_is_of(&fresh->segments[i], from, from_mm))
			fresh_put(to, to_mm, &fresh->segments[i].segment);
}

/* A forked child has a copy of its parent's address space, so it gets the same segments. */
static __always_inline void walk_fork(__u32 from, __u64 from_mm, __u32 to, __u64 to_mm)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &from);
	struct unwind_process copy;

	if (!process)
		return;
	copy = *process;
	copy.mm = to_mm;
	bpf_map_update_elem(&unwind_processes, &to, &copy, BPF_ANY);
	fresh_fork(from, from_mm, to, to_mm);
}

/*
 * The process runs a new program: its old segments are dropped. A process without an entry gets
 * one only when it is `wanted`.
 */
static __always_inline void walk_exec(__u32 tgid, int wanted)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	struct unwind_process fresh = { .execs = process ? process->execs + 1 : 1 };
	struct task_struct *task = bpf_get_current_task_btf();
	struct user_registers *registers = (void *)bpf_task_pt_regs(task);
	struct mm_struct *mm = (void *)task_mm(task);
	__u64 pc;

	fresh.mm = (__u64)mm;
	if (!process && !wanted)
		return;
	bpf_map_update_elem(&unwind_processes, &tgid, &fresh, BPF_ANY);
	fresh_drop(tgid);
	/* The program itself, and where it starts: in the dynamic linker, mostly. */
	if (!bpf_probe_read_kernel(&pc, sizeof(pc), &mm->start_code))
		walk_ask(tgid, pc);
	if (!bpf_probe_read_kernel(&pc, sizeof(pc), &registers->pc))
		walk_ask(tgid, pc);
}

#endif
