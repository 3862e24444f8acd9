/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_SCRIPT_LIST_BPF_H
#define BPF_RUNTIMES_SCRIPT_LIST_BPF_H

/*
 * For runtimes that keep a list of frames apart from the stack: reads the list of the current task,
 * once its user frames are there. The native frames of the evaluation loop, which run the list's
 * frames, are marked, so that the recorder can put each where it belongs.
 */

#include "bpf/runtimes/php.bpf.h"
#include "bpf/runtimes/python.bpf.h"
#include "bpf/runtimes/ruby.bpf.h"
#include "bpf/runtimes/script.bpf.h"
#include "bpf/runtimes/script_sent.bpf.h"
#include "bpf/state/arch.h"
#include "bpf/state/kernel.h"
#include "bpf/state/walk_state.bpf.h"

#define SCRIPT_STEPS 4 /* frames per call of script_steps() */
#define SCRIPT_MARKS 8 /* user frames per call of script_mark_evaluation() */

/* Scratches for lists of frames aside, one for each of unwind_walks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct script_walk);
} script_walks SEC(".maps");

/* -------- by runtime -------- */

/* The first frame of the current task. Not 0: it has no list. */
static __always_inline int script_list_begin(struct script_walk *list,
					     const struct script_process *process,
					     const struct script_thread *thread)
{
	switch (process->runtime) {
	case SCRIPT_PYTHON: return python_begin(list, script_python(process), thread);
	case SCRIPT_RUBY: return ruby_begin(list, script_ruby(process), thread);
	case SCRIPT_PHP: return php_begin(list, script_php(process), thread);
	default: return -1;
	}
}

/* Reads a frame, list->last, and goes on to the next one. Not 0: it is not readable. */
static __always_inline int script_list_read(struct script_walk *list,
					    const struct script_process *process, __u32 runtime)
{
	switch (runtime) {
	case SCRIPT_PYTHON: return python_read(list, script_python(process), &list->last);
	case SCRIPT_RUBY: return ruby_read(list, script_ruby(process), &list->last);
	default: return php_read(list, script_php(process), &list->last);
	}
}

/* Fills in list->name for the code of the frame that was read last. Not 0: it has no name. */
static __always_inline int script_list_name(struct script_walk *list,
					    const struct script_process *process, __u32 runtime)
{
	switch (runtime) {
	case SCRIPT_PYTHON: return python_name(list, script_python(process), &list->last);
	case SCRIPT_RUBY: return ruby_name(list, script_ruby(process), &list->last);
	default: return php_name(list, script_php(process), &list->last);
	}
}

/* -------- names -------- */

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

/*
 * What is remembered of the code that was read last once its names are sent. The identity of a
 * frame of Ruby or PHP has its line in the lowest bits, where that of Python has a part of the
 * hash.
 */
static __always_inline __u64 script_sent_as(const struct script_walk *list, __u32 runtime)
{
	return runtime == SCRIPT_PYTHON ? list->last.identity
					: list->last.identity & ~SCRIPT_POSITION;
}

/* Sends the names of the code that was read last. */
static __always_inline int script_send_name(__u32 index, __u32 tgid, __u32 runtime)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct script_walk *list = bpf_map_lookup_elem(&script_walks, &index);
	struct script_name *n;
	__u64 size;

	if (!process || !list)
		return 0;
	list->names++;
	list->name.pid = tgid;
	list->name.image = process->image;
	if (script_list_name(list, process, runtime))
		return 0;
	n = &list->name;
	size = n->name.captured + n->file.captured + n->table.captured;
	if (size > SCRIPT_TEXTS_BYTES)
		size = SCRIPT_TEXTS_BYTES;
	script_send(script_sent_as(list, runtime), n, sizeof(*n) - SCRIPT_TEXTS_BYTES + size);
	return 0;
}

__noinline int script_python_name(__u32 index, __u32 tgid)
{
	return script_send_name(index, tgid, SCRIPT_PYTHON);
}

__noinline int script_ruby_name(__u32 index, __u32 tgid)
{
	return script_send_name(index, tgid, SCRIPT_RUBY);
}

__noinline int script_php_name(__u32 index, __u32 tgid)
{
	return script_send_name(index, tgid, SCRIPT_PHP);
}

/* The code that was read last is not remembered: whether its names have been sent. */
static __always_inline int script_was_sent(struct script_walk *list, __u32 runtime)
{
	struct script_found *frame = &list->last;

	if (!frame->identity)
		return 1;
	if (script_is_sent(script_sent_as(list, runtime))) {
		script_remember(list, frame);
		return 1;
	}
	return list->names >= SCRIPT_NAMES_MAX;
}

/* Identifies the code that was read last. Not 0: its names are to be sent. */
static __always_inline int script_identify(__u32 index, __u32 tgid, __u32 runtime)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct script_walk *list = bpf_map_lookup_elem(&script_walks, &index);

	if (!process || !list)
		return 0;
	if (runtime == SCRIPT_RUBY)
		ruby_identify(list, script_ruby(process), &list->last);
	else
		php_identify(list, script_php(process), &list->last);
	return !script_was_sent(list, runtime);
}

/* Not inlined, as the verifier looks at all ways through it as often as the loop may run. */
__noinline int script_ruby_identify(__u32 index, __u32 tgid)
{
	return script_identify(index, tgid, SCRIPT_RUBY) ? script_ruby_name(index, tgid) : 0;
}

__noinline int script_php_identify(__u32 index, __u32 tgid)
{
	return script_identify(index, tgid, SCRIPT_PHP) ? script_php_name(index, tgid) : 0;
}

/* Identifies the code that was read last, and sends its names unless that was done. */
static __always_inline void script_new_code(struct walk *w, struct script_walk *list, __u32 runtime)
{
	const __u32 tgid = walk_sample(w)->pid;

	if (runtime == SCRIPT_RUBY)
		script_ruby_identify(w->index, tgid);
	else if (runtime == SCRIPT_PHP)
		script_php_identify(w->index, tgid);
	else if (!script_was_sent(list, runtime))
		script_python_name(w->index, tgid);
}

/* -------- frames -------- */

static __always_inline int script_step(struct walk *w, struct script_walk *list,
				       struct script_process *process, __u32 runtime)
{
	struct script_found *frame = &list->last;

	if (!list->frame)
		return 1;
	if (list->listed++ >= SCRIPT_LIST_MAX || script_list_read(list, process, runtime)) {
		walk_sample(w)->script_flags |= SCRIPT_CUT;
		return 1;
	}
	if (frame->hidden && frame->marks_base)
		return script_put(w, SCRIPT_BASE, 0);
	if (frame->hidden)
		return frame->marks_last ? script_mark_entry(w) : 0;
	if (!frame->known)
		script_new_code(w, list, runtime);
	return script_put(w, frame->code, frame->position);
}

static __always_inline int script_some_steps(__u32 index, __u32 tgid, __u32 runtime)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct script_walk *list = bpf_map_lookup_elem(&script_walks, &index);
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!process || !list || !w)
		return 1;
	for (__u64 i = 0; i < SCRIPT_STEPS; i++)
		if (script_step(w, list, process, runtime))
			return 1;
	return 0;
}

/* Some frames of the list of the walk in that scratch. Not 0: it has ended. */
__noinline int script_python_steps(__u32 index, __u32 tgid)
{
	return script_some_steps(index, tgid, SCRIPT_PYTHON);
}

__noinline int script_ruby_steps(__u32 index, __u32 tgid)
{
	return script_some_steps(index, tgid, SCRIPT_RUBY);
}

__noinline int script_php_steps(__u32 index, __u32 tgid)
{
	return script_some_steps(index, tgid, SCRIPT_PHP);
}

/* The same, whatever the runtime: one loop of calls, as the verifier counts each. */
__noinline int script_steps(__u32 index, __u32 tgid, __u32 runtime)
{
	switch (runtime) {
	case SCRIPT_PYTHON: return script_python_steps(index, tgid);
	case SCRIPT_RUBY: return script_ruby_steps(index, tgid);
	default: return script_php_steps(index, tgid);
	}
}

/* Marks those of some user frames that stand for the list's. Not 0: there are no more. */
__noinline int script_mark_evaluation(__u32 index, __u32 tgid, __u32 first)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	const __u64 *loop, *part;
	struct sample *s;

	if (!process || !w)
		return 1;
	s = walk_sample(w);
	loop = script_loop(process);
	part = script_loop_part(process);
	for (__u64 i = 0; i < SCRIPT_MARKS; i++) {
		__u64 n = (first + i) & (MAX_USER_FRAMES - 1), mark;

		if (n >= s->user_frames)
			return 1;
		mark = script_loop_mark(loop, part, s->frames[n] & FRAME_ADDRESS);
		s->frames[n] |= mark;
		/* Made code stands for the loop, but of another thread it is somebody else's. */
		w->loops |= (mark & FRAME_EVALUATES) ||
			    ((s->frames[n] & FRAME_GUESSED) && s->pid == s->tid);
		if (!w->loop_at && (mark || s->frames[n] & FRAME_GUESSED))
			w->loop_at = s->frames[n] & FRAME_GUESSED ? ~0ULL
								  : s->frames[n] & FRAME_ADDRESS;
	}
	return 0;
}

/* The futex that the system call which the current task is in is about; 0: none. */
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
__noinline int script_read_list(__u32 index, __u32 tgid)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &tgid);
	struct script_walk *list = bpf_map_lookup_elem(&script_walks, &index);
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 last = SCRIPT_SENT;
	__u64 *sendings = bpf_map_lookup_elem(&script_sent, &last);
	struct script_thread thread;

	if (!process || !script_has_list(process->runtime) || !list || !w || !sendings)
		return 0;
	walk_sample(w)->script_runtime = process->runtime;
	thread.pointer = THREAD_POINTER(task);
	thread.keys_first = thread.pointer + THREAD_KEYS_FIRST;
	thread.keys = thread.pointer + THREAD_KEYS;
	thread.modules = thread.pointer + THREAD_MODULES;
	/* A forked child has the parent's image, and then code of its own at the same addresses. */
	thread.process = script_mix(script_mix(process->image, tgid),
				    task->group_leader->start_time);
	thread.sendings = *sendings;
	if (script_list_begin(list, process, &thread))
		return 0;
	/* Timers are spared the question. */
	if (index % CLASS_COUNT != CLASS_TIMER && process->runtime == SCRIPT_PYTHON &&
	    python_waits(list, script_python(process), script_futex(task)))
		walk_sample(w)->script_flags |= SCRIPT_WAITS;
	w->loops = 0;
	w->loop_at = 0;
	for (__u64 i = 0; i < MAX_USER_FRAMES; i += SCRIPT_MARKS)
		if (script_mark_evaluation(index, tgid, i))
			break;
	if (script_is_anothers(walk_sample(w), process->runtime, w->loops))
		return 0;
	if (walk_sample(w)->frames[0] & (FRAME_EVALUATES | FRAME_LOOP_PART))
		list->leaf = REGISTERS_PHP(&w->registers);
	list->calls = process->runtime == SCRIPT_PHP && php_calls(script_php(process), w->loop_at);
	for (__u64 i = 0; i < SCRIPT_LIST_MAX / SCRIPT_STEPS; i++)
		if (script_steps(index, tgid, process->runtime))
			break;
	return 0;
}

/* Of the current task, once its user frames are there: the frames that its runtime has aside. */
static __always_inline void script_list(struct walk *w, __u32 tgid)
{
	const __u64 *lists = script_lists_of(tgid);

	if (lists && *lists)
		script_read_list(w->index, tgid);
}

#endif
