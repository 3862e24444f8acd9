/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_V8_STEP_BPF_H
#define BPF_RUNTIMES_V8_STEP_BPF_H

/*
 * The step through frames of V8 (bpf/abi/v8.h), and which function each is of. Frames that have
 * called something are complete: the frame pointer leads to the caller. Where code was interrupted,
 * its frame may not be there yet, or no more; then the frame pointer is still, or again, that of
 * the caller, and must not give this frame the caller's name:
 *
 *   the instructions at the pc show it (v8_code.bpf.h). Entries of compiled code, and of the
 *   interpreter, are push %rbp; mov %rsp,%rbp; push %rsi; push %rdi, after a few checks, with the
 *   function in rdi. There, and where the code leaves, the return address is on top of the stack;
 *   but not every return address there is the frame's.
 *
 * x86-64 only.
 */

#include "bpf/runtimes/v8_code.bpf.h"
#include "bpf/runtimes/v8_name.bpf.h"
#include "bpf/state/walk_state.bpf.h"

#if WALKS_CURRENT
#include "bpf/runtimes/script_sent.bpf.h"
#endif

#include <stdbool.h>
#include <stddef.h>

#if defined(__TARGET_ARCH_x86)

/* Sets w->v8.at. A global function, so that the verifier checks its loop once. */
__noinline int v8_locate(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 0;
	w->v8.at = w->v8.size;
	for (__u64 i = 0; i < V8_COPIES; i++) {
		__u64 at = w->pc - w->v8.process.builtins[i];

		if (at < w->v8.size) {
			w->v8.at = at;
			break;
		}
	}
	return 0;
}

/* Whether the frame that was located last is in one of V8's builtins; in the interpreter's. */
static __always_inline bool v8_is_builtin(const struct walk *w)
{
	return w->v8.at < w->v8.size;
}

static __always_inline bool v8_is_entry(const struct walk *w)
{
	return w->v8.at - w->v8.process.entry < w->v8.process.entry_size;
}

/* -------- which function it is -------- */

#define V8_NAMES_MAX 64	       /* sent with one sample */
#define V8_COMPILATION_NAMES 3 /* a struct v8_compilation is as large as that many of them */

#if WALKS_CURRENT

/* The rest of v->name, and sends it. A global function, as this is long and rare. */
__noinline int v8_send_script(__u32 index, __u64 identity)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 0;
	v8_name_script(&w->v8);
	script_send(identity, &w->v8.name, sizeof(w->v8.name));
	return 0;
}

/* Sends the names of w->v8.sending, which was identified last. */
__noinline int v8_send(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct v8_name *n;

	if (!w || w->v8.names >= V8_NAMES_MAX)
		return 0;
	w->v8.names++;
	n = &w->v8.name;
	n->code = w->v8.sending.code | V8_NAME;
	n->script = w->v8.code;
	n->position = w->v8.sending.position;
	n->pid = w->v8.pid;
	if (!v8_name_function(&w->v8))
		v8_send_script(index, script_mix(w->v8.sending.code, n->position));
	return 0;
}

/*
 * v8_identify_shared(), once for the verifier; the position is left in w->v8.identified.
 */
__noinline int v8_identify_info(__u32 index, __u64 shared_info)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (w)
		w->v8.identified = v8_identify_shared(&w->v8, shared_info);
	return 0;
}

static __always_inline __u64 v8_identify_function(struct walk *w, __u64 function)
{
	__u64 shared_info;

	if (WALK_READ_USER(&shared_info, 8, function - V8_TAG + w->v8.process.shared))
		return 0;
	v8_identify_info(w->index, shared_info);
	return w->v8.identified;
}

/* Reads what the code of w->v8.wanted has inlined. */
__noinline int v8_look_compilation(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 0;
	w->v8.compilation.inner_count = 0;
	if (w->v8.wanted & V8_OPTIMIZED && w->v8.names < V8_NAMES_MAX) {
		w->v8.names += V8_COMPILATION_NAMES;
		w->v8.inner = v8_read_compilation(
			&w->v8, &w->v8.compiled[w->v8.wanted_slot & (V8_COMPILED - 1)]);
	}
	return 0;
}

/* The inlined function with that number. Not 0: its names have not been sent. */
__noinline int v8_look_inner(__u32 index, __u32 i)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 shared_info, position;

	if (!w || i >= w->v8.compilation.inner_count)
		return 0;
	i &= V8_INNER_MAX - 1;
	w->v8.compilation.inner[i].position = 0;
	if (WALK_READ_USER(&shared_info, 8, w->v8.inner + 8 * (__u64)i))
		return 0;
	v8_identify_info(index, shared_info);
	position = w->v8.identified;
	w->v8.sending.code = w->v8.code;
	w->v8.sending.position = position;
	w->v8.compilation.inner[i].code = w->v8.code;
	w->v8.compilation.inner[i].position = position;
	return position && !script_is_sent(script_mix(w->v8.code, position));
}

/*
 * The function itself. What its code has inlined is sent before its names; not without them, as
 * both would be sent again with the next sample.
 */
__noinline int v8_look_function(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 position;

	if (!w)
		return 0;
	position = v8_identify_function(w, w->v8.function);
	w->v8.sending.code = w->v8.wanted;
	w->v8.sending.position = position;
	w->v8.compilation.code = w->v8.wanted | V8_NAME;
	w->v8.compilation.position = position;
	if (w->v8.compilation.inner_count && w->v8.names < V8_NAMES_MAX)
		bpf_ringbuf_output(&script_names, &w->v8.compilation, sizeof(w->v8.compilation),
				   BPF_RB_NO_WAKEUP);
	return position != 0;
}

/* Sends what is known of w->v8.function with the code w->v8.wanted. */
__noinline int v8_send_wanted(__u32 index)
{
	v8_look_compilation(index);
	for (__u64 i = 0; i < V8_INNER_MAX; i++)
		if (v8_look_inner(index, i))
			v8_send(index);
	if (v8_look_function(index))
		v8_send(index);
	return 0;
}

#define V8_SEARCHES 64 /* 16 KiB: of larger code, the end is not found */

/* One part of a search, so that the verifier checks it once. */
__noinline int v8_search(__u32 index, __u64 slot)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	return w ? v8_search_code(&w->v8, &w->v8.compiled[slot & (V8_COMPILED - 1)]) : 1;
}

__noinline int v8_read_found(__u32 index, __u64 slot)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	return w ? v8_read_code(&w->v8, &w->v8.compiled[slot & (V8_COMPILED - 1)]) : 0;
}

/* Finds the code around the pc: mostly it is that of the last walk. */
__noinline int v8_find_code(__u32 index, __u64 pc, __u64 slot)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct v8_compiled *c;
	bool known;

	if (!w)
		return 0;
	c = &w->v8.compiled[slot & (V8_COMPILED - 1)];
	known = c->pc == pc;
	c->pc = pc;
	c->walk = w->v8.walks;
	c->sent = 0;
	if (known && v8_read_found(index, slot))
		return 0;
	w->v8.search = pc & -V8_CODE_ALIGNMENT;
	for (__u64 i = 0; i < V8_SEARCHES; i++)
		if (v8_search(index, slot))
			break;
	v8_read_found(index, slot);
	return 0;
}

static __always_inline __u32 v8_slot(__u64 key, int bits)
{
	return ((__u32)key * 0x9e3779b1U) >> (32 - bits);
}

/*
 * Notes the frame that was added last as one of w->v8.function; as native, when it is none. Then
 * w->v8.wanted is not 0 if its names have to be sent. Called once the step is over: before Linux
 * 6.13 the stacks of functions that call each other share 512 bytes.
 */
__noinline int v8_note(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct v8_compiled *c;
	struct v8_function *f;
	__u64 code, pc, *sent;
	__u32 slot;

	if (!w)
		return 0;
	w->v8.wanted = 0;
	if (!v8_is_pointer(w->v8.function))
		return 0;
	slot = v8_slot(w->v8.function >> 3, V8_FUNCTIONS_BITS);
	f = &w->v8.functions[slot & (V8_FUNCTIONS - 1)];
	if (f->function != w->v8.function || f->walk != w->v8.walks) {
		f->function = w->v8.function;
		f->walk = w->v8.walks;
		f->sent = 0;
		f->position = v8_identify_function(w, f->function);
		f->code = w->v8.code;
	}
	if (!f->position)
		return 0;
	code = f->code;
	sent = &f->sent;
	if (w->v8.process.made && !v8_is_builtin(w)) {
		pc = w->room[WALK_SAMPLE_WORDS + ((w->frames - 1) & (MAX_USER_FRAMES - 1))];
		pc = (pc & FRAME_ADDRESS) - !(pc & FRAME_EXACT);
		slot = v8_slot(pc, V8_COMPILED_BITS);
		c = &w->v8.compiled[slot & (V8_COMPILED - 1)];
		if (c->pc != pc || c->walk != w->v8.walks)
			v8_find_code(index, pc, slot);
		if (c->optimization) {
			code = v8_optimized_code(code, c);
			sent = &c->sent;
		}
	}
	if (!*sent && !script_is_sent(script_mix(code, f->position))) {
		w->v8.wanted = code;
		w->v8.wanted_slot = slot;
	}
	*sent = 1;
	if (script_put(w, code | (v8_is_entry(w) ? V8_INTERPRETED : 0), f->position))
		return 0;
	w->room[WALK_SAMPLE_WORDS + ((w->frames - 1) & (MAX_USER_FRAMES - 1))] |= FRAME_SCRIPT;
	return 0;
}

#else

/* Of a task that waits, only the stack is there. */
static __always_inline int v8_note(__u32 index)
{
	return 0;
}

static __always_inline int v8_send_wanted(__u32 index)
{
	return 0;
}

#endif

/* -------- the caller -------- */

#define V8_BELOW 5 /* words of a frame below its frame pointer */

/*
 * A frame that is complete. `named`: it is a function's, unless it says that it is another one's.
 * A global function, as it is called in several places.
 */
__noinline int v8_leave(__u32 index, __u32 named)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	const struct v8_process *p;
	__u64 fp, context, function;

	if (!w)
		return 1;
	p = &w->v8.process;
	fp = w->fp;
	if (fp < w->sp || fp & 7)
		return STEP_END(w, WALK_RUNTIME_FRAME);
	if (read_words(w, fp - 8 * V8_BELOW, V8_BELOW + 2))
		return STEP_END(w, WALK_BAD_READ);
	context = word(w, (V8_BELOW - (p->context >> 3)) & 7);
	function = word(w, (V8_BELOW - (p->function >> 3)) & 7);
	if (named && v8_is_pointer(context))
		w->v8.function = function;
	w->fp = word(w, V8_BELOW);
	return step_to_caller(w, word(w, V8_BELOW + 1), fp + 16);
}

/* No frame but the return address, `saved` words above the stack pointer. */
static __always_inline int v8_leave_bare(struct walk *w, __u32 saved, bool entering)
{
	/* Only where the program was interrupted the registers are those of this frame. */
	if (entering && w->frames == 1)
		w->v8.function = w->registers.di;
	if (read_words(w, w->sp, 2))
		return STEP_END(w, WALK_BAD_READ);
	if (saved)
		w->fp = word(w, 0);
	return step_to_caller(w, word(w, saved & 1), w->sp + 8 * saved + 8);
}

/* -------- interrupted frames -------- */

/*
 * Whether a frame begins within the next bytes: the pc is among the checks before it. A global
 * function, so that the verifier checks its loop once.
 */
__noinline int v8_begins_soon(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 code;

	if (!w || WALK_READ_USER(w->v8.ahead, sizeof(w->v8.ahead), w->pc))
		return 0;
	for (int i = 0; i < V8_AHEAD - 1; i++) {
		for (int shift = 0; shift < 64; shift += 8) {
			code = w->v8.ahead[i] >> shift;
			if (shift)
				code |= w->v8.ahead[i + 1] << (64 - shift);
			if (v8_begins(code))
				return 1;
		}
	}
	return 0;
}

/* Whether the word on top of the stack is a return address. */
static __always_inline bool v8_was_called(struct walk *w)
{
	__u64 before;

	return !read_words(w, w->sp, 1) &&
	       !WALK_READ_USER(&before, sizeof(before), word(w, 0) - 8) && ends_in_call(before);
}

/* Of compiled code. */
static __always_inline enum v8_frame v8_compiled_frame(struct walk *w)
{
	struct v8_around code;
	enum v8_frame frame;

	if (WALK_READ_USER(&code, sizeof(code), w->pc - offsetof(struct v8_around, after)))
		return V8_LEFT;
	frame = v8_frame_at(&code);
	if (frame == V8_PUSHED || frame == V8_LINKED)
		return frame;
	if (frame == V8_IN_R9 || frame == V8_IN_R10)
		return w->frames == 1 ? frame : V8_LEFT;
	if (!v8_was_called(w))
		return V8_COMPLETE;
	return frame == V8_COMPLETE && v8_begins_soon(w->index) ? V8_BARE : frame;
}

/* Of the interpreter's entry. In its frame, r12 is the bytecode that the frame has, too. */
static __always_inline enum v8_frame v8_entry_frame(struct walk *w)
{
	const struct v8_process *p = &w->v8.process;
	__u32 at = w->v8.at - p->entry;

	if (at <= p->entry_frame)
		return V8_BARE;
	if (at <= p->entry_frame + 3)
		return V8_PUSHED;
	if (at <= p->entry_frame + 6)
		return V8_LINKED;
	if (w->frames == 1 && w->fp >= w->sp && w->fp - w->sp >= p->bytecodes &&
	    !read_words(w, w->fp - p->bytecodes, 1) && word(w, 0) == w->registers.r12)
		return V8_COMPLETE;
	return V8_LEFT;
}

static __always_inline int v8_leave_exact(struct walk *w)
{
	switch (v8_is_entry(w) ? v8_entry_frame(w) : v8_compiled_frame(w)) {
	case V8_BARE: return v8_leave_bare(w, 0, true);
	case V8_PUSHED: return v8_leave_bare(w, 1, true);
	case V8_LINKED:
		if (w->frames == 1)
			w->v8.function = w->registers.di;
		return v8_leave(w->index, 0);
	case V8_LEFT: return v8_was_called(w) ? v8_leave_bare(w, 0, false) : v8_leave(w->index, 0);
	case V8_IN_R9: return step_to_caller(w, w->registers.r9, w->sp);
	case V8_IN_R10: return step_to_caller(w, w->registers.r10, w->sp);
	default: return v8_leave(w->index, 1);
	}
}

/* The caller of the frame at w->pc, which is V8's code. Not 0: the walk has ended. */
__noinline int v8_step(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 1;
	if (w->exact)
		return v8_leave_exact(w);
	return v8_leave(index, !v8_is_builtin(w) || v8_is_entry(w));
}

/* -------- which walks are of V8 -------- */

/*
 * Whether pc may be in code that V8 has made, where nothing is known to be mapped: what lies before
 * a return address must be a call.
 */
static __always_inline bool v8_may_have_made(struct walk *w)
{
	__u64 before;

	return !WALK_READ_USER(&before, sizeof(before), w->pc - 8) &&
	       (w->exact || ends_in_call(before));
}

static __always_inline void v8_begin(struct walk *w, const struct script_process *process)
{
	__builtin_memcpy(&w->v8.process, process->parameters, sizeof(w->v8.process));
	w->v8.walks++;
	w->v8.size = w->v8.process.builtins_size;
#if WALKS_CURRENT
	struct task_struct *task = bpf_get_current_task_btf();

	w->v8.thread = script_mix((__u64)process->image << 32 | (__u32)task->pid, task->start_time);
	w->v8.pid = task->tgid;
	w->v8.names = 0;
	w->v8.searches = 0;
#endif
	walk_sample(w)->script_runtime = SCRIPT_V8;
}

#else

static __always_inline int v8_locate(__u32 index)
{
	return 0;
}

static __always_inline bool v8_is_builtin(const struct walk *w)
{
	return false;
}

static __always_inline bool v8_is_entry(const struct walk *w)
{
	return false;
}

static __always_inline bool v8_may_have_made(struct walk *w)
{
	return false;
}

static __always_inline int v8_leave(__u32 index, __u32 named)
{
	return 1;
}

static __always_inline int v8_note(__u32 index)
{
	return 0;
}

static __always_inline int v8_send_wanted(__u32 index)
{
	return 0;
}

static __always_inline int v8_step(__u32 index)
{
	return 1;
}

static __always_inline void v8_begin(struct walk *w, const struct script_process *process)
{
}

#endif
#endif
