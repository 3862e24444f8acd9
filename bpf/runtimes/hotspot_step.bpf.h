/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_HOTSPOT_STEP_BPF_H
#define BPF_RUNTIMES_HOTSPOT_STEP_BPF_H

/*
 * One step of a walk through a frame of the code that HotSpot generates (bpf/abi/hotspot.h). That
 * code has no unwind tables, and uses the frame pointer for other purposes; so the size of a frame
 * is read from the CodeBlob around the pc. There are four layouts:
 *
 *   compiled code, and stubs whose frame size is known: return address and the caller's frame
 *     pointer are the two topmost words of the frame. In the interrupted frame, the instructions
 *     at the pc show whether the frame is set up, or has been removed;
 *   the interpreter: by the frame pointer, which always points to its frame. The caller's stack
 *     pointer is stored in the frame;
 *   entries of the interpreter, and adapters: the return address is on top of the stack, or in
 *     rax while the arguments are moved; r13 is the caller's stack pointer;
 *   other stubs: by the frame pointer, or they have no frame at all.
 *
 * Except for the call stub, code in the cache is called by code in the cache only. A return address
 * outside of it is therefore wrong, and shows that a guess was wrong.
 *
 * x86-64 only.
 */

#include "bpf/state/walk_state.bpf.h"

#include <stdbool.h>

#if defined(__TARGET_ARCH_x86)

#define HOTSPOT_BACK 64 /* steps back in a segment map; each goes up to 254 segments */
#define HOTSPOT_COOKIE (~0ULL)
#define HOTSPOT_SCAN 8	    /* words that barriers may push below a compiled frame's call */
#define HOTSPOT_PUSHED 6    /* words that stubs push that have no frame */
#define HOTSPOT_SAVED 20    /* words that stubs save before they have a frame, or after it */
#define HOTSPOT_FRAME 65536 /* words; no frame of compiled code is larger */

static __always_inline bool hotspot_in_cache(const struct walk *w, __u64 pc)
{
	return pc - w->hotspot.process.low[0] < w->hotspot.process.high - w->hotspot.process.low[0];
}

static __always_inline bool hotspot_in_interpreter(const struct walk *w, __u64 pc)
{
	return pc - w->hotspot.process.interpreter < w->hotspot.process.interpreter_size;
}

static __always_inline bool hotspot_in_piece(const struct walk *w,
					     const struct hotspot_piece *piece)
{
	return w->pc - w->hotspot.process.interpreter - piece->start < piece->size;
}

static __always_inline __u32 hotspot_u32(const void *bytes, __u32 offset)
{
	const __u8 *b = bytes;

	return b[offset & 127] | b[(offset + 1) & 127] << 8 | b[(offset + 2) & 127] << 16 |
	       (__u32)b[(offset + 3) & 127] << 24;
}

static __always_inline __u64 hotspot_u64(const void *bytes, __u32 offset)
{
	return hotspot_u32(bytes, offset) | (__u64)hotspot_u32(bytes, offset + 4) << 32;
}

/* -------- which code it is -------- */

/* The CodeBlob of the block around pc; 0: there is none. */
static __always_inline __u64 hotspot_block(struct walk *w, __u64 pc)
{
	const struct hotspot_process *p = &w->hotspot.process;
	__u64 low = p->low[0], map = p->segmaps[0], segment;
	__u8 back = 0;

	for (__u64 i = 1; i < HOTSPOT_HEAPS; i++) {
		if (p->low[i] && pc >= p->low[i]) {
			low = p->low[i];
			map = p->segmaps[i];
		}
	}
	segment = (pc - low) >> (p->segment_shift & 31);
	for (__u64 i = 0; i < HOTSPOT_BACK; i++) {
		if (WALK_READ_USER(&back, 1, map + segment) || back == 255 || back > segment)
			return 0;
		if (!back)
			return low + (segment << (p->segment_shift & 31)) + p->block_header;
		segment -= back;
	}
	return 0;
}

#define HOTSPOT_NAME(a, b, c, d)                                                                   \
	((__u32)(a) | (__u32)(b) << 8 | (__u32)(c) << 16 | (__u32)(d) << 24)
#define HOTSPOT_NAMED(name, a, b, c, d, e, f, g, h)                                                \
	((name)[0] == HOTSPOT_NAME(a, b, c, d) && (name)[1] == HOTSPOT_NAME(e, f, g, h))

/* What kind of code it is shows in its name, which is the machine's own text. */
static __always_inline __u8 hotspot_kind(__u64 name, __u32 frame_words)
{
	__u32 begin[2];

	if (WALK_READ_USER(begin, sizeof(begin), name))
		return HOTSPOT_UNKNOWN;
	/* "native nmethod", but not "native signature handlers", which have no frame */
	if (HOTSPOT_NAMED(begin, 'n', 'm', 'e', 't', 'h', 'o', 'd', 0) ||
	    HOTSPOT_NAMED(begin, 'n', 'a', 't', 'i', 'v', 'e', ' ', 'n'))
		return HOTSPOT_COMPILED;
	if (HOTSPOT_NAMED(begin, 'f', 'l', 'u', 's', 'h', '_', 'i', 'c')) /* flush_icache_stub */
		return HOTSPOT_CALLED_STUB;
	return frame_words && frame_words < HOTSPOT_FRAME ? HOTSPOT_SIZED_STUB : HOTSPOT_OTHER_STUB;
}

/* What an nmethod has more than a CodeBlob. */
static __always_inline int hotspot_find_compiled(struct walk *w, __u64 pc)
{
	const struct hotspot_process *p = &w->hotspot.process;
	struct hotspot_blob *blob = &w->hotspot.blob;
	__u64 handlers[2];

	if (WALK_READ_USER(&blob->compile_id, 4, blob->address + p->compile_id) ||
	    WALK_READ_USER(&blob->orig_pc, 4, blob->address + p->orig_pc) ||
	    WALK_READ_USER(handlers, 16, blob->address + p->deopt_handler))
		return -1;
	if (p->flags & HOTSPOT_OFFSETS) {
		handlers[1] = blob->address + (handlers[0] >> 32);
		handlers[0] = blob->address + (__u32)handlers[0];
	}
	blob->replaced = pc == handlers[0] ||
			 (!(p->flags & HOTSPOT_ONE_HANDLER) && pc == handlers[1]);
	return 0;
}

/* Reads what the CodeBlob around pc says into w->hotspot.blob. Not 0: there is none. */
__noinline int hotspot_find(__u32 index, __u64 pc)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct hotspot_blob *blob;
	const struct hotspot_process *p;
	__u64 code, end, *bytes;

	if (!w)
		return -1;
	p = &w->hotspot.process;
	blob = &w->hotspot.blob;
	bytes = w->hotspot.head;
	blob->pc = 0;
	blob->address = hotspot_block(w, pc);
	if (!blob->address || WALK_READ_USER(bytes, sizeof(w->hotspot.head), blob->address))
		return -1;
	code = hotspot_u64(bytes, p->code_begin);
	end = hotspot_u64(bytes, p->code_end);
	if (p->flags & HOTSPOT_OFFSETS) {
		code = blob->address + (__u32)code;
		end = blob->address + (__u32)end;
	}
	if (pc < code || pc > end)
		return -1;
	blob->code = code;
	blob->frame_words = hotspot_u32(bytes, p->frame_size);
	blob->complete = hotspot_u32(bytes, p->frame_complete);
	if (p->flags & HOTSPOT_SHORT_COMPLETE)
		blob->complete = (__u32)(__s16)blob->complete;
	blob->kind = hotspot_kind(hotspot_u64(bytes, p->name), blob->frame_words);
	blob->compile_id = 0;
	blob->replaced = 0;
	if (blob->kind == HOTSPOT_COMPILED && hotspot_find_compiled(w, pc))
		return -1;
	blob->pc = pc;
	blob->process = p->id;
	blob->walk = w->hotspot.walks;
	return blob->kind == HOTSPOT_UNKNOWN;
}

/*
 * The same by a cache: return addresses come again and again. Compiled code may have made place
 * for other code, which has another compile id then; while a walk lasts the code on its stack
 * stays. NULL: there is none.
 */
static __always_inline struct hotspot_blob *hotspot_recall(struct walk *w, __u64 pc)
{
	__u32 slot = ((__u32)pc * 0x9e3779b1U) >> (32 - HOTSPOT_CACHE_BITS);
	struct hotspot_blob *cached = &w->hotspot.cache[slot & (HOTSPOT_CACHE - 1)];
	__u32 compile_id;

	if (cached->pc == pc && cached->process == w->hotspot.process.id) {
		if (cached->walk == w->hotspot.walks || cached->kind != HOTSPOT_COMPILED)
			return cached;
		if (!WALK_READ_USER(&compile_id, 4,
				    cached->address + w->hotspot.process.compile_id) &&
		    compile_id == cached->compile_id) {
			cached->walk = w->hotspot.walks;
			return cached;
		}
	}
	if (hotspot_find(w->index, pc))
		return NULL;
	*cached = w->hotspot.blob;
	return cached;
}

/* -------- which method is interpreted -------- */

static __always_inline int hotspot_symbol(struct walk *w, __u64 symbol, __u64 *words)
{
	__builtin_memset(words, 0, HOTSPOT_SYMBOL_WORDS * 8);
	if (WALK_READ_USER(words, HOTSPOT_SYMBOL_WORDS * 8, symbol) &&
	    WALK_READ_USER(words, 8, symbol))
		return -1;
	hotspot_symbol_settle(words, &w->hotspot.process);
	return 0;
}

/*
 * What identifies the method among others at the same address, earlier or later. Not 0: it is no
 * method.
 */
static __always_inline int hotspot_identify(struct walk *w, __u64 method)
{
	const struct hotspot_process *p = &w->hotspot.process;
	struct hotspot_identity *identity = &w->hotspot.identity;
	__u64 constants, holder;
	__u16 name;

	if (WALK_READ_USER(&identity->const_method, 8, method + p->const_method) ||
	    WALK_READ_USER(&constants, 8, identity->const_method + p->constants) ||
	    WALK_READ_USER(&name, 2, identity->const_method + p->name_index) ||
	    WALK_READ_USER(&holder, 8, constants + p->holder) ||
	    WALK_READ_USER(&identity->method_symbol, 8, constants + p->pool_size + 8 * name) ||
	    WALK_READ_USER(&identity->class_symbol, 8, holder + p->klass_name))
		return -1;
	return hotspot_symbol(w, identity->class_symbol, identity->class_name) ||
	       hotspot_symbol(w, identity->method_symbol, identity->method_name);
}

/*
 * Notes the interpreted frame. While a thread is being walked its methods stay where they are,
 * so what was found out about one holds for the whole walk.
 */
__noinline int hotspot_note_method(__u32 index, __u64 method, __u64 bytecode)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u32 slot = ((__u32)(method >> 3) * 0x9e3779b1U) >> (32 - HOTSPOT_METHODS_BITS);
	struct hotspot_method *m;
	__u64 position;

	if (!w)
		return -1;
	m = &w->hotspot.methods[slot & (HOTSPOT_METHODS - 1)];
	if (m->method != method || m->walk != w->hotspot.walks) {
		m->method = 0;
		if (method & 7 || !method)
			return -1;
		/*
		 * If it is not in memory now, the method cannot be identified, and the frame has no
		 * name.
		 */
		if (hotspot_identify(w, method))
			return script_put(w, method | HOTSPOT_METHOD, HOTSPOT_NO_INDEX);
		m->const_method = w->hotspot.identity.const_method;
		m->cookie = hotspot_cookie(&w->hotspot.identity);
		m->walk = w->hotspot.walks;
		m->method = method;
	}
	position = bytecode - m->const_method - w->hotspot.process.const_method_size;
	if (position > 0xffff)
		position = HOTSPOT_NO_INDEX;
	return script_put(w, method | HOTSPOT_METHOD, (__u64)m->cookie << 32 | position);
}

/* -------- the caller -------- */

/* Whether a word of the stack is where code in the cache called from. */
static __always_inline bool hotspot_is_return(const struct walk *w, __u64 pc)
{
	__u64 code;

	if (!hotspot_in_cache(w, pc))
		return false;
	if (hotspot_in_interpreter(w, pc) || pc == w->hotspot.process.call_stub_return)
		return true;
	if (WALK_READ_USER(&code, sizeof(code), pc - 8))
		return false;
	/* call rel32; call *reg, with or without a prefix; call *disp8(reg); call *disp32(reg) */
	return (code >> 24 & 0xff) == 0xe8 || (code >> 48 & 0xf8ff) == 0xd0ff ||
	       (code >> 40 & 0x38ff) == 0x10ff || (code >> 16 & 0x38ff) == 0x10ff;
}

/* A complete frame of known size that ends at `cfa`. */
__noinline int hotspot_leave_sized(__u32 index, __u64 cfa)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 1;
	/* Nearly always it is the first; barriers push a few words below it. */
	for (__u64 i = 0; i < HOTSPOT_SCAN; i++, cfa += 8) {
		if (read_words(w, cfa - 16, 2))
			return STEP_END(w, WALK_BAD_READ);
		if (hotspot_in_cache(w, word(w, 1))) {
			w->fp = word(w, 0);
			return step_to_caller(w, word(w, 1), cfa);
		}
	}
	return STEP_END(w, WALK_RUNTIME_FRAME);
}

/* No frame (yet, or any more) but the return address, with `saved` words on top of it. */
static __always_inline int hotspot_leave_bare(struct walk *w, __u32 saved)
{
	if (read_words(w, w->sp, 2))
		return STEP_END(w, WALK_BAD_READ);
	if (saved)
		w->fp = word(w, 0);
	return step_to_caller(w, word(w, saved & 1), w->sp + 8 * saved + 8);
}

/* By the frame pointer. */
static __always_inline int hotspot_leave_linked(struct walk *w)
{
	__u64 fp = w->fp;

	if (fp < w->sp || fp & 7)
		return STEP_END(w, WALK_RUNTIME_FRAME);
	if (read_words(w, fp, 2))
		return STEP_END(w, WALK_BAD_READ);
	w->fp = word(w, 0);
	if (word(w, 1) != HOTSPOT_COOKIE)
		return step_to_caller(w, word(w, 1), fp + 16);
	/* The barrier at the entry of methods keeps a word before its frame. */
	if (read_words(w, fp + 16, 1))
		return STEP_END(w, WALK_BAD_READ);
	return step_to_caller(w, word(w, 0), fp + 24);
}

/*
 * Code at and before the interrupted pc: whether the frame is complete. Entries push rbp, then
 * lower rsp (or lower rsp only, and store rbp then); exits raise rsp, pop rbp, and poll for a
 * safepoint before they return.
 */
enum hotspot_frame { FRAME_COMPLETE, FRAME_BARE, FRAME_PUSHED, FRAME_LOWERED };

/* sub $imm8,%rsp; sub $imm32,%rsp */
#define LOWERS(code) (((code)&0xffffff) == 0xec8348 || ((code)&0xffffff) == 0xec8148)

static __always_inline enum hotspot_frame hotspot_entering(__u64 before, __u64 code)
{
	/* mov %rsp,%rbp; or after it */
	if ((code & 0xffffff) == 0xec8b48 || before >> 40 == 0xec8b48)
		return LOWERS(code) || (code & 0xffffff) == 0xec8b48 ? FRAME_PUSHED
								     : FRAME_COMPLETE;
	if (before >> 56 == 0x55 && LOWERS(code))
		return FRAME_PUSHED;
	/* mov %rbp,disp(%rsp), of the second kind of entry */
	if ((code & 0xffffff) == 0x6c8948 || (code & 0xffffff) == 0xac8948)
		return FRAME_LOWERED;
	/* After the subtraction, or the comparison that guards entries. */
	if (LOWERS(before >> 32) || LOWERS(before >> 8) || (before & 0xffffff) == 0x7f8141 ||
	    ((before >> 16 & 0xffff) == 0x850f && !(before & 0xffff)))
		return FRAME_COMPLETE;
	/* After mov %rbp,disp(%rsp). */
	if ((before >> 24 & 0xffffff) == 0x6c8948 || (before & 0xffffff) == 0xac8948)
		return FRAME_COMPLETE;
	return FRAME_BARE;
}

static __always_inline enum hotspot_frame hotspot_leaving(__u64 before, __u64 code)
{
	__u8 first = code;

	/* pop %rbp: the frame's last act, as compiled code has no other use for it */
	if (first == 0x5d)
		return FRAME_PUSHED;
	/* ret; or a jump once rbp is popped */
	if (first == 0xc3 || (first == 0xe9 && before >> 56 == 0x5d))
		return FRAME_BARE;
	/* cmp disp32(%r15),%rsp or disp8; ja; test %eax,disp32(%rip) */
	if ((code & 0xffffff) == 0xa73b49 || (code & 0xffffff) == 0x673b49 ||
	    ((code & 0xffff) == 0x870f && (before >> 8 & 0xffffff) == 0xa73b49) ||
	    ((code & 0xffff) == 0x870f && (before >> 32 & 0xffffff) == 0x673b49) ||
	    ((code & 0xffff) == 0x0585 && before >> 56 == 0x5d))
		return FRAME_BARE;
	/* The poll of JDK 11: mov disp32(%r15),%r10; test %eax,(%r10) */
	if (((code & 0xffffff) == 0x978b4d && before >> 56 == 0x5d) ||
	    ((code & 0xffffff) == 0x028541 && (before >> 8 & 0xffffff) == 0x978b4d))
		return FRAME_BARE;
	/* A native wrapper: leave; cmpq $0,disp8(%r15); jne over ret */
	if (((code & 0xffffff) == 0x7f8149 && before >> 56 == 0xc9) ||
	    ((code & 0xffff) == 0x850f && (code >> 48 & 0xff) == 0xc3))
		return FRAME_BARE;
	/* The poll's slow path: lea disp(%rip),%r10; mov %r10,disp(%r15); jmp */
	if (((code & 0xffffff) == 0x158d4c && (code >> 56) == 0x4d) ||
	    (code & 0xffffff) == 0x97894d ||
	    (first == 0xe9 && (before >> 8 & 0xffffff) == 0x97894d))
		return FRAME_BARE;
	return FRAME_COMPLETE;
}

/* The interrupted frame of compiled code, or of a stub that is built alike. */
static __always_inline int hotspot_leave_leaf(struct walk *w, const struct hotspot_blob *blob)
{
	enum hotspot_frame frame;
	__u64 code[2], fp = w->fp;
	int ended;

	if (WALK_READ_USER(code, sizeof(code), w->pc - 8))
		return STEP_END(w, WALK_RUNTIME_CODE);
	frame = (__s32)blob->complete >= 0 && w->pc - blob->code < blob->complete
			? hotspot_entering(code[0], code[1])
			: hotspot_leaving(code[0], code[1]);
	if ((frame == FRAME_BARE || frame == FRAME_PUSHED) && !read_words(w, w->sp, 2) &&
	    hotspot_in_cache(w, word(w, frame == FRAME_PUSHED)))
		return hotspot_leave_bare(w, frame == FRAME_PUSHED);
	ended = hotspot_leave_sized(w->index, w->sp + 8ULL * blob->frame_words);
	if (frame == FRAME_LOWERED)
		w->fp = fp;
	return ended;
}

/* Whether that word of the stack is a return address; negative: it is not there. */
__noinline int hotspot_returns_at(__u32 index, __u64 at)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w || read_words(w, at, 1))
		return -1;
	return hotspot_is_return(w, word(w, 0));
}

/* Whether the frame pointer is the stub's, which begins at `code`: its caller called that. */
__noinline int hotspot_is_own_frame(__u32 index, __u64 code)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 before[2], pc, called;

	if (!w || w->fp - w->sp >= 4096 || read_words(w, w->fp + 8, 1))
		return 0;
	pc = word(w, 0);
	if (!hotspot_in_cache(w, pc) || WALK_READ_USER(before, sizeof(before), pc - 16))
		return 0;
	/* call rel32; or mov $called,%r10; call *%r10 */
	if ((before[1] >> 24 & 0xff) == 0xe8)
		called = pc + (__u64)(__s64)(__s32)(before[1] >> 32);
	else if (before[1] >> 40 == 0xd2ff41 && (before[0] >> 24 & 0xffff) == 0xba49)
		called = before[0] >> 40 | before[1] << 24;
	else
		return 0;
	return called - code <= w->pc - code;
}

/*
 * The interrupted frame of a stub: the first word of the stack that is a return address. Below
 * it are the few registers that the stub has saved, if any. Negative: there is none; otherwise as
 * hotspot_step().
 */
__noinline int hotspot_leave_saved(__u32 index, __u32 kind)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return -1;
	for (__u64 i = 0; i < HOTSPOT_SAVED; i++) {
		__u64 at = w->sp + 8 * i, pc;
		int returns = hotspot_returns_at(index, at);

		if (returns < 0)
			return -1;
		/* Among more words than are pushed, a larger frame's locals: it is linked then. */
		if (i == HOTSPOT_PUSHED && w->fp > at && w->fp - at < 4096 &&
		    hotspot_returns_at(index, w->fp + 8) > 0)
			return -1;
		if (!returns || read_words(w, at, 1))
			continue;
		pc = word(w, 0);
		/* Either it is linked already, or rbp is the last that it takes back. */
		if ((w->fp == at - 8 || kind == HOTSPOT_SIZED_STUB) && i &&
		    !read_words(w, at - 8, 1))
			w->fp = word(w, 0);
		return step_to_caller(w, pc, at + 8);
	}
	return -1;
}

/* After leave, before ret or pop %rcx. */
static __always_inline bool hotspot_has_left(struct walk *w)
{
	__u8 code[2];

	return !WALK_READ_USER(code, sizeof(code), w->pc - 1) && code[0] == 0xc9 &&
	       (code[1] == 0xc3 || code[1] == 0x59) && !read_words(w, w->sp, 1) &&
	       hotspot_in_cache(w, word(w, 0));
}

/* Stubs without a known frame, and the interrupted frame of any of them. */
static __always_inline int hotspot_leave_stub(struct walk *w, const struct hotspot_blob *blob)
{
	const struct hotspot_process *p = &w->hotspot.process;
	__u64 cfa = w->sp + 8ULL * blob->frame_words, sender = w->registers.r13;
	int ended;

	/* It is called by the machine, and has no frame. */
	if (blob->kind == HOTSPOT_CALLED_STUB)
		return hotspot_leave_bare(w, 0);
	/* The call stub comes from the machine's own code. */
	if (w->pc - (p->call_stub_return - 256) < 512)
		return hotspot_leave_linked(w);
	if (!w->exact)
		return blob->kind == HOTSPOT_SIZED_STUB ? hotspot_leave_sized(w->index, cfa)
							: hotspot_leave_linked(w);
	if (hotspot_has_left(w))
		return hotspot_leave_bare(w, 0);
	/* Where an exception is thrown, the return address becomes that of its handler. */
	if (blob->kind == HOTSPOT_SIZED_STUB && !read_words(w, cfa - 16, 2) &&
	    (hotspot_is_return(w, word(w, 1)) ||
	     (w->fp == cfa - 16 && hotspot_in_cache(w, word(w, 1)))))
		return hotspot_leave_sized(w->index, cfa);
	/* Among its locals may be return addresses of earlier calls. */
	if (hotspot_is_own_frame(w->index, blob->code))
		return hotspot_leave_linked(w);
	ended = hotspot_leave_saved(w->index, blob->kind);
	if (ended >= 0)
		return ended;
	/* An adapter has the return address in rax while it moves the arguments. */
	if (w->frames == 1 && hotspot_is_return(w, w->registers.ax))
		return step_to_caller(w, w->registers.ax,
				      sender >= w->sp && sender - w->sp < 65536 ? sender : w->sp);
	return hotspot_leave_linked(w);
}

/* -------- the interpreter -------- */

#define HOTSPOT_SENDER 7 /* words above fp - 64, which read_words() has got */
#define HOTSPOT_METHOD_WORD 5
#define HOTSPOT_LINK 8
#define HOTSPOT_RETURN 9

/* A frame that is complete. */
static __always_inline int hotspot_leave_interpreted(struct walk *w)
{
	__u64 sender, bytecode, fp = w->fp, pc;

	if (fp < w->sp || fp & 7)
		return STEP_END(w, WALK_RUNTIME_FRAME);
	if (read_words(w, fp - 64, 10))
		return STEP_END(w, WALK_BAD_READ);
	sender = word(w, HOTSPOT_SENDER);
	pc = word(w, HOTSPOT_RETURN);
	w->fp = word(w, HOTSPOT_LINK);
	bytecode = word(w, (8 + w->hotspot.process.bcp) & 15);
	/* It is in the frame only while something is called. */
	if (w->exact && w->frames == 1)
		bytecode = w->registers.r13;
	if (sender <= fp || sender - fp > 1 << 20 || !hotspot_in_cache(w, pc) ||
	    hotspot_note_method(w->index, word(w, HOTSPOT_METHOD_WORD), bytecode))
		return STEP_END(w, WALK_RUNTIME_FRAME);
	return step_to_caller(w, pc, sender);
}

/*
 * The interpreter's interrupted frame, while it is being left: leave; pop; mov %rbx,%rsp; jmp. Of
 * methods that never had one: pop; mov %r13,%rsp; jmp. JDK 25 clears a flag before the pop, and
 * polls before the jump to r13.
 */
static __always_inline int hotspot_returning(struct walk *w, __u64 before, __u64 code, __u64 *pc,
					     __u64 *sp)
{
	__u32 two = code & 0xffff;
	__u64 at = w->sp;

	*sp = w->registers.bx;
	if ((code & 0xffffff) == 0xe5ff41 || (code & 0xffffff) == 0xa73b49 ||
	    (two == 0x870f && (before >> 8 & 0xffffff) == 0xa73b49)) {
		*pc = w->registers.r13;
		*sp = w->sp;
		return 1;
	}
	if ((code >> 8 & 0xffffff) == 0xe38b48 && (code & 0xf8) == 0x58) {
		/* pop of a low register is next */
	} else if (before >> 56 == 0xc9 && (code & 0xffffff) == 0x87c641) {
		/* movb $0,disp32(%r15) is */
	} else if ((code >> 16 & 0xffffff) == 0xe38b48 && two == 0x5d41) {
		/* pop %r13 is next */
	} else if ((code & 0xffffff) == 0xe38b48 && (before >> 56 & 0xf8) == 0x58) {
		at = w->sp - 8;
	} else if ((code & 0xffffff) == 0xe58b49 && (before >> 56 & 0xf8) == 0x58) {
		at = w->sp - 8;
		*sp = w->registers.r13;
	} else if ((before >> 40 == 0xe38b48 || before >> 40 == 0xe58b49) &&
		   (two == 0xff41 || two == 0xe6ff || two == 0xe2ff || two == 0xe7ff)) {
		*pc = two == 0xff41   ? w->registers.r13
		      : two == 0xe6ff ? w->registers.si
		      : two == 0xe2ff ? w->registers.dx
				      : w->registers.di;
		*sp = w->sp;
		return 1;
	} else {
		return 0;
	}
	if (read_words(w, at, 1))
		return 0;
	*pc = word(w, 0);
	return 1;
}

/*
 * Whether the frame pointer is that of the entry's own frame. That has 9 words below it when it is
 * complete, and the caller's frame has a return address and more below those. While the machine
 * is called there may be more; then the method is where rbx has it.
 */
static __always_inline bool hotspot_entered(struct walk *w, bool registers)
{
	__u64 below = w->fp - w->sp;

	if (below < 24 || below >= 4096)
		return false;
	if (below <= 72)
		return true;
	if (read_words(w, w->sp, 1) || hotspot_in_cache(w, word(w, 0)))
		return false;
	if (read_words(w, w->fp - 24, 1))
		return false;
	return !registers || word(w, 0) == w->registers.bx || below == 80 ||
	       !hotspot_in_cache(w, w->registers.ax);
}

/* In an entry, where rbx is the method, r13 the caller's stack pointer until it is stored. */
static __always_inline int hotspot_leave_entry(struct walk *w, bool registers)
{
	__u64 below = w->fp - w->sp, sender, pc, rax, link;

	if (hotspot_entered(w, registers))
		return hotspot_leave_interpreted(w);
	/* Where something is called without a frame, the method is kept nowhere. */
	if (registers ? hotspot_note_method(w->index, w->registers.bx, 0)
		      : script_put(w, w->hotspot.process.interpreter | HOTSPOT_STUB, 0))
		return STEP_END(w, WALK_RUNTIME_FRAME);
	if (read_words(w, w->sp, 4))
		return STEP_END(w, WALK_BAD_READ);
	rax = registers ? w->registers.ax : 0;
	sender = registers ? w->registers.r13 : 0;
	link = w->fp;
	if (below <= 16 && registers) { /* from mov %rsp,%rbp to the push of the method */
		if (below)
			sender = word(w, (__u32)(below / 8 - 1) & 3);
		link = word(w, (__u32)(below / 8) & 3);
		pc = word(w, (__u32)(below / 8 + 1) & 3);
	} else if (word(w, 0) == w->fp && word(w, 1) == rax && rax) {
		pc = rax;
	} else if (hotspot_in_cache(w, word(w, 0))) {
		pc = word(w, 0);
	} else {
		pc = rax;
	}
	if (!hotspot_in_cache(w, pc))
		return STEP_END(w, WALK_RUNTIME_FRAME);
	w->fp = link;
	if (sender < w->sp || sender - w->sp > 1 << 20)
		sender = w->sp + 8;
	return step_to_caller(w, pc, sender);
}

static __always_inline int hotspot_step_interpreter(struct walk *w)
{
	const struct hotspot_process *p = &w->hotspot.process;
	bool registers = w->exact && w->frames == 1;
	__u64 code[2], pc, sp;

	if (registers && !WALK_READ_USER(code, sizeof(code), w->pc - 8) &&
	    hotspot_returning(w, code[0], code[1], &pc, &sp) && hotspot_in_cache(w, pc)) {
		if (script_put(w, p->interpreter | HOTSPOT_STUB, w->pc - p->interpreter))
			return STEP_END(w, WALK_TOO_DEEP);
		return step_to_caller(w, pc, sp);
	}
	if (hotspot_in_piece(w, &p->entries) &&
	    (registers ||
	     !(hotspot_in_piece(w, &p->framed) || hotspot_in_piece(w, &p->framed_native))))
		return hotspot_leave_entry(w, registers);
	return hotspot_leave_interpreted(w);
}

/* -------- the step -------- */

static __always_inline int hotspot_step_blob(struct walk *w)
{
	struct hotspot_blob *blob;
	__u64 real;

	/* A return address may be the last of a blob's code, but never of another one's. */
	if (w->exact)
		blob = hotspot_find(w->index, w->pc) ? NULL : &w->hotspot.blob;
	else
		blob = hotspot_recall(w, w->pc);
	if (!blob)
		return STEP_END(w, WALK_RUNTIME_CODE);
	if (blob->kind == HOTSPOT_COMPILED) {
		real = w->pc;
		if (blob->replaced && WALK_READ_USER(&real, 8, w->sp + blob->orig_pc))
			return STEP_END(w, WALK_BAD_READ);
		if (script_put(w, blob->address,
			       (__u64)blob->compile_id << 32 | (__u32)(real - blob->code)))
			return STEP_END(w, WALK_TOO_DEEP);
		return w->exact ? hotspot_leave_leaf(w, blob)
				: hotspot_leave_sized(
					  w->index,
					  w->sp + 8ULL * (blob->frame_words & (HOTSPOT_FRAME - 1)));
	}
	if (script_put(w, blob->address | HOTSPOT_STUB, w->pc - blob->code))
		return STEP_END(w, WALK_TOO_DEEP);
	return hotspot_leave_stub(w, blob);
}

/* The caller of the frame at w->pc, which is in the code cache. Not 0: the walk has ended. */
__noinline int hotspot_step(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u32 before;
	int ended;

	if (!w)
		return 1;
	before = w->script_frames;
	ended = hotspot_in_interpreter(w, w->pc) ? hotspot_step_interpreter(w)
						 : hotspot_step_blob(w);
	/* The frame is the runtime's if it was noted as such. */
	if (w->script_frames != before && w->frames)
		w->room[WALK_SAMPLE_WORDS + ((w->frames - 1) & (MAX_USER_FRAMES - 1))] |=
			FRAME_SCRIPT;
	return ended;
}

/*
 * Whether pc is in the code cache of a Java process. False until hotspot_begin() was called in
 * this walk, so that others pay no more than this comparison.
 */
static __always_inline bool hotspot_has(const struct walk *w, __u64 pc)
{
	return pc - w->hotspot.process.low[0] < w->hotspot.size;
}

/* Looks whether this is a Java process, once in each walk that meets code without a table. */
static __always_inline void hotspot_begin(struct walk *w)
{
	struct script_process *process;

	if (w->hotspot.looked)
		return;
	w->hotspot.looked = 1;
	process = bpf_map_lookup_elem(&scripts, &w->tgid);
	if (!process || process->runtime != SCRIPT_HOTSPOT)
		return;
	__builtin_memcpy(&w->hotspot.process, process->parameters, sizeof(w->hotspot.process));
	w->hotspot.walks++;
	w->hotspot.size = w->hotspot.process.high - w->hotspot.process.low[0];
	walk_sample(w)->script_runtime = SCRIPT_HOTSPOT;
}

#else

static __always_inline bool hotspot_has(const struct walk *w, __u64 pc)
{
	return false;
}

static __always_inline int hotspot_step(__u32 index)
{
	return 1;
}

static __always_inline void hotspot_begin(struct walk *w)
{
}

#endif
#endif
