/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/images/kernel_half.h"

#include <stddef.h>
#include <string.h>

/* The walk of threads of x86-64, whatever compiles it. */
#undef __TARGET_ARCH_arm64
#define __TARGET_ARCH_x86

#include <bpf/bpf_helpers.h>

static void *look_up(const void *map, const void *key);
static long read_user(void *to, uint32_t size, const void *from);
static long read_kernel(void *to, uint32_t size, const void *from);
static long no_update(const void *map, const void *key, const void *value);
static long send_name(const void *data, uint64_t size);
static struct task_struct *current_task(void);
static void *task_registers(void);

/* In place of libbpf's, which are numbers of helpers. */
#define bpf_map_lookup_elem(map, key) look_up(map, key)
#define bpf_map_update_elem(map, key, value, flags) no_update(map, key, value)
#define bpf_map_delete_elem(map, key) no_update(map, key, NULL)
#define bpf_probe_read_user(to, size, from) read_user(to, size, from)
#define bpf_probe_read_kernel(to, size, from) read_kernel(to, size, from)
#define bpf_get_current_task_btf() current_task()
#define bpf_task_pt_regs(task) task_registers()
#define bpf_get_smp_processor_id() 0
#define bpf_get_stack(context, to, size, flags) ((long)-1)
#define bpf_ringbuf_output(ring, data, size, flags) send_name(data, size)
#define bpf_ringbuf_query(ring, what) ((__u64)0)
#define bpf_ktime_get_ns() ((__u64)1)
#define bpf_find_vma(task, address, function, context, flags) ((void)(function))
#define bpf_current_task_under_cgroup(map, index) ((long)0)

/* Global functions of the kernel half are without declarations. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include "bpf/tasks/current.bpf.h"

#define SENT 1024 /* fewer slots than the kernel's: names are sent again at most */
#define START_TIME 1

_Static_assert(sizeof(struct user_registers) == KERNEL_REGISTERS * sizeof(uint64_t),
	       "the registers are those of struct pt_regs");

static const struct kernel_half *half;
static struct walk scratch;
static struct script_walk script_scratch;
static struct unwind_process process;
static struct mm_struct memory;
static struct task_struct task;
static __u64 lists, sent[SENT], sendings;

static void *table_entry(const void *table, uint32_t count, size_t size, uint32_t n)
{
	return n < count ? (char *)(uintptr_t)table + n * size : NULL;
}

static void *sent_entry(uint32_t n)
{
	return n == SCRIPT_SENT ? &sendings : &sent[n % SENT];
}

static void *look_up(const void *map, const void *key)
{
	const struct kernel_tables *t = &half->tables;
	uint32_t n;

	memcpy(&n, key, sizeof(n));
	if (map == &unwind_walks)
		return n < CLASS_COUNT ? &scratch : NULL;
	if (map == &script_walks)
		return n < CLASS_COUNT ? &script_scratch : NULL;
	if (map == &unwind_processes)
		return n == half->thread.pid ? &process : NULL;
	if (map == &scripts)
		return n == half->thread.pid && half->process.runtime != SCRIPT_NONE
			       ? (void *)(uintptr_t)&half->process
			       : NULL;
	if (map == &script_lists)
		return &lists;
	if (map == &script_sent)
		return sent_entry(n);
	if (map == &unwind_fresh)
		return NULL;
	if (map == &unwind_segments)
		return table_entry(t->segments, t->segment_count, sizeof(*t->segments), n);
	if (map == &unwind_pages)
		return table_entry(t->pages, t->page_count, sizeof(*t->pages), n);
	if (map == &unwind_rules)
		return table_entry(t->rules, t->rule_count, sizeof(*t->rules), n);
	if (map == &unwind_first_slab)
		return t->slab_count ? (void *)(uintptr_t)t->slabs[0] : NULL;
	if (map == &unwind_slabs)
		return n < t->slab_count ? (void *)(uintptr_t)t->slabs[n] : NULL;
	for (uint32_t i = 0; i < t->slab_count; i++)
		if (map == t->slabs[i]) /* of one entry, which is all of it */
			return (void *)(uintptr_t)map;
	return NULL;
}

/* As in the kernel, what is not there is read as 0. */
static long read_user(void *to, uint32_t size, const void *from)
{
	if (target_read(&half->memory, (uintptr_t)from, to, size))
		return 0;
	memset(to, 0, size);
	return -1;
}

static long read_kernel(void *to, uint32_t size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

/* The recorder's part is done, and there are no other tasks. */
static long no_update(const void *map, const void *key, const void *value)
{
	return -1;
}

static long send_name(const void *data, uint64_t size)
{
	half->name(half->context, data, size);
	return 0;
}

static struct task_struct *current_task(void)
{
	return &task;
}

static void *task_registers(void)
{
	return (void *)(uintptr_t)half->thread.registers;
}

static void begin(const struct kernel_half *h)
{
	half = h;
	process = h->tables.process;
	lists = script_has_list(h->process.runtime) || h->process.runtime == SCRIPT_V8;
	task = (struct task_struct){ .pid = (int)h->thread.tid,
				     .tgid = (int)h->thread.pid,
				     .start_time = START_TIME,
				     .mm = &memory,
				     .group_leader = &task };
	task.thread.fsbase = h->thread.pointer;
	memset(&scratch, 0, sizeof(scratch));
	memset(&script_scratch, 0, sizeof(script_scratch));
	memset(sent, 0, sizeof(sent));
}

const struct sample *kernel_half_sample(const struct kernel_half *h)
{
	struct user_registers registers;
	struct walk *w;
	struct sample *s;

	begin(h);
	memcpy(&registers, h->thread.registers, sizeof(registers));
	w = walk_begin(CLASS_TIMER);
	s = walk_sample(w);
	s->pid = h->thread.pid;
	s->tid = h->thread.tid;
	current_frames(NULL, w, &registers, true);
	return s;
}

/* Of the process's published run, without the walk's memory of it. */
static bool find_published(uint64_t pc, uint32_t *rule)
{
	int index = find_segment(process.first, process.count, pc);
	const struct unwind_segment *s = &half->tables.segments[index < 0 ? 0 : index];

	if (index < 0)
		return false;
	*rule = rule_in_segment((struct unwind_segment *)(uintptr_t)s, pc);
	return true;
}

void kernel_half_each_rule(void (*visit)(uint64_t pc, uint32_t rule, void *context), void *context)
{
	const struct sample *s = walk_sample(&scratch);
	uint32_t rule;

	for (size_t i = 0; i < WALK_CACHE; i++)
		if (scratch.cache[i].pc)
			visit(scratch.cache[i].pc, scratch.cache[i].rule, context);
	/* Two that share a slot of the cache are not both there. */
	for (size_t i = 0; i < s->user_frames; i++)
		for (uint64_t back = 0; back < 2; back++)
			if (find_published((s->frames[i] & FRAME_ADDRESS) - back, &rule))
				visit((s->frames[i] & FRAME_ADDRESS) - back, rule, context);
}
