/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_SCRIPT_LIST_BPF_H
#define BPF_RUNTIMES_SCRIPT_LIST_BPF_H

/*
 * For runtimes that keep a list of frames apart from the stack: reads the list of the current task,
 * once its user frames are there. The native frames of the evaluation loop, which run the list's
 * frames, are marked, so that the recorder can put each where it belongs.
 */

#include "bpf/runtimes/python.bpf.h"
#include "bpf/runtimes/script.bpf.h"
#include "bpf/runtimes/script_sent.bpf.h"
#include "bpf/state/arch.h"
#include "bpf/state/kernel.h"
#include "bpf/state/walk_state.bpf.h"

#define SCRIPT_MARKS 16 /* user frames per call of script_mark_evaluation() */

/* Scratches for lists of frames aside, one for each of unwind_walks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct python_walk);
} script_walks SEC(".maps");

static __always_inline const struct python_process *
script_python(const struct script_process *process)
{
	return (const struct python_process *)process->parameters;
}

/* The frame that was added last is the outermost of its call of the evaluation loop. */
static __always_inline int script_mark_entry(struct walk *w)
{
	__u32 last = w->script_frames - 1;

	/* The loop runs, and has no frame yet, or no more. */
	if (last >= MAX_SCRIPT_FRAMES ||
	    w->scripts[last & (MAX_SCRIPT_FRAMES - 1)].code & SCRIPT_ENTRY)
		return script_put(w, SCRIPT_ENTRY, 0);
	w->scripts[last & (MAX_SCRIPT_FRAMES - 1)].code |= SCRIPT_ENTRY;
	return 0;
}

/* Sends the names of the code object that was read last. */
__noinline int script_send_name(__u32 index, __u32 tgid)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct python_walk *list = bpf_map_lookup_elem(&script_walks, &index);
	__u32 size;

	if (!process || !list)
		return 0;
	list->names++;
	list->name.pid = tgid;
	list->name.image = process->image;
	if (python_name(list, script_python(process), &list->last))
		return 0;
	size = list->name.table.captured;
	if (size > SCRIPT_TABLE_BYTES)
		size = SCRIPT_TABLE_BYTES;
	size += sizeof(list->name) - SCRIPT_TABLE_BYTES;
	script_send(list->last.identity, &list->name, size);
	return 0;
}

static __always_inline int script_step(struct walk *w, struct python_walk *list,
				       struct script_process *process, __u32 tgid)
{
	struct python_frame *frame = &list->last;

	if (!list->frame)
		return 1;
	if (list->listed++ >= PYTHON_LIST_MAX || python_read(list, script_python(process), frame)) {
		walk_sample(w)->script_flags |= SCRIPT_CUT;
		return 1;
	}
	if (frame->marks_last)
		return script_mark_entry(w);
	if (frame->identity && !frame->known) {
		if (script_is_sent(frame->identity))
			python_remember(list, frame);
		else if (list->names < PYTHON_NAMES_MAX)
			script_send_name(w->index, tgid);
	}
	return script_put(w, frame->code, frame->position);
}

/* Some frames of the list of the walk in that scratch. Not 0: it has ended. */
__noinline int script_steps(__u32 index, __u32 tgid)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct python_walk *list = bpf_map_lookup_elem(&script_walks, &index);
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!process || !list || !w)
		return 1;
	/* Of 64 bits: before 5.16 the verifier forgets a smaller counter that is kept on the stack.
	 */
	for (__u64 i = 0; i < PYTHON_STEPS; i++)
		if (script_step(w, list, process, tgid))
			return 1;
	return 0;
}

/* Marks those of some user frames that stand for the list's. Not 0: there are no more. */
__noinline int script_mark_evaluation(__u32 index, __u32 tgid, __u32 first)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	const __u64 *range;
	struct sample *s;

	if (!process || !w)
		return 1;
	s = walk_sample(w);
	range = script_python(process)->evaluation;
	for (__u64 i = 0; i < SCRIPT_MARKS; i++) {
		__u64 n = (first + i) & (MAX_USER_FRAMES - 1);
		__u64 at;

		if (n >= s->user_frames)
			return 1;
		at = s->frames[n] & FRAME_ADDRESS;
		if (at - range[0] < range[1] - range[0] || at - range[2] < range[3] - range[2])
			s->frames[n] |= FRAME_EVALUATES;
	}
	return 0;
}

/* The futex that the current task waits for in the system call that it is in; 0: none. */
static __always_inline __u64 script_futex(struct task_struct *task)
{
	const struct user_registers *registers = (void *)bpf_task_pt_regs(task);
	__u64 number = 0, futex = 0;

	if (bpf_probe_read_kernel(&number, sizeof(number), &SYSCALL_NUMBER(registers)) ||
	    number != SYSCALL_FUTEX ||
	    bpf_probe_read_kernel(&futex, sizeof(futex), &SYSCALL_FIRST(registers)))
		return 0;
	return futex;
}

/* Of the current task: the frames of a process that may have a list. */
static __always_inline void script_read_list(struct walk *w, __u32 tgid)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 index = w->index, last = SCRIPT_SENT;
	struct python_walk *list;
	struct python_thread thread;
	__u64 *sendings;

	if (!process || process->runtime != SCRIPT_PYTHON)
		return;
	list = bpf_map_lookup_elem(&script_walks, &index);
	sendings = bpf_map_lookup_elem(&script_sent, &last);
	if (!list || !sendings)
		return;
	walk_sample(w)->script_runtime = process->runtime;
	thread.pointer = THREAD_POINTER(task);
	thread.keys_first = thread.pointer + THREAD_KEYS_FIRST;
	thread.keys = thread.pointer + THREAD_KEYS;
	/* A forked child has the parent's image, and then code of its own at the same addresses. */
	thread.process = python_mix(python_mix(process->image, tgid),
				    task->group_leader->start_time);
	thread.sendings = *sendings;
	if (python_begin(list, script_python(process), &thread))
		return;
	/* Only waits are asked for; all other samples are spared the question. */
	if (index % CLASS_COUNT == CLASS_SWITCH &&
	    python_waits(list, script_python(process), script_futex(task)))
		walk_sample(w)->script_flags |= SCRIPT_WAITS;
	for (__u64 i = 0; i < MAX_USER_FRAMES; i += SCRIPT_MARKS)
		if (script_mark_evaluation(index, tgid, i))
			break;
	for (__u64 i = 0; i < PYTHON_LIST_MAX / PYTHON_STEPS; i++)
		if (script_steps(index, tgid))
			break;
}

/* Of the current task, once its user frames are there: the frames that its runtime has aside. */
static __always_inline void script_list(struct walk *w, __u32 tgid)
{
	const __u64 *lists = script_lists_of(tgid);

	if (lists && *lists)
		script_read_list(w, tgid);
}

#endif
