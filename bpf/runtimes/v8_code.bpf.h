/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_V8_CODE_BPF_H
#define BPF_RUNTIMES_V8_CODE_BPF_H

/*
 * What the instructions around the place where compiled code was interrupted say about its frame.
 * All compilers of V8 begin and end functions with the same few sequences. Between them the frame
 * is complete, whatever lies on top of the stack: that may well be a return address which an
 * earlier call has left there.
 *
 * x86-64 only. Nothing here needs a map, so that the tests can call it.
 */

#include <linux/types.h>

#include <stdbool.h>

enum v8_frame {
	V8_COMPLETE,
	V8_BARE,   /* not begun */
	V8_PUSHED, /* the caller's frame pointer is on the stack */
	V8_LINKED, /* the frame pointer is its own, the function is not there yet */
	V8_LEFT,   /* no frame any more, or it is not known */
	/* No frame any more; the return address is there while the arguments are removed. */
	V8_IN_R9,
	V8_IN_R10,
};

/* The code around a pc: 16 bytes before, 8 bytes from there on. The lowest byte comes first. */
struct v8_around {
	__u64 earlier, before, after;
};

#define V8_PUSH_RBP 0x55
#define V8_MOVE_RSP 0xe58948 /* mov %rsp,%rbp, both encodings */
#define V8_MOVE_RSP_2 0xec8b48
#define V8_MOVES(code) (((code)&0xffffff) == V8_MOVE_RSP || ((code)&0xffffff) == V8_MOVE_RSP_2)

/* Code that begins a function's frame: then it pushes its context and itself, or a marker. */
static __always_inline bool v8_begins(__u64 code)
{
	return (__u8)code == V8_PUSH_RBP && V8_MOVES(code >> 8) &&
	       ((code >> 32 & 0xffff) == 0x5756 || (code >> 32 & 0xff) == 0x6a);
}

/* cmp $N,register: the number of arguments against that of parameters. */
static __always_inline bool v8_compares(__u64 code)
{
	return (code & 0xf8fdfe) == 0xf88148;
}

/* mov %rbp,%rsp; pop %rbp */
static __always_inline bool v8_ends(__u32 code)
{
	return code == 0x5de58b48 || code == 0x5dec8948;
}

/*
 * After pop %rbp: cmp; jg; ret; or instead of this ret: pop of the return address to r9 or r10, lea
 * of the new stack pointer, push, ret.
 */
static __always_inline enum v8_frame v8_exit(const struct v8_around *c)
{
	const __u64 before = c->before, after = c->after;

	if ((__u8)after == 0xc3 || (__u8)after == 0xc2)
		return V8_LEFT;
	if (v8_compares(after) && v8_ends(before >> 32))
		return V8_LEFT;
	if (((__u8)after == 0x7f || (__u16)after == 0x8f0f) &&
	    ((v8_compares(before >> 32) && v8_ends((__u32)before)) ||
	     (v8_compares(before >> 8) && (__u8)before == 0x5d)))
		return V8_LEFT;
	if (((__u16)after == 0x5a41 || (__u16)after == 0x5941) &&
	    (before >> 56 == 0xc3 || (before >> 40 & 0xff) == 0xc2))
		return V8_LEFT;
	if (before >> 48 == 0x5a41 || (after & 0xffffff) == 0xc35241)
		return V8_IN_R10;
	if (before >> 48 == 0x5941 || (after & 0xffffff) == 0xc35141)
		return V8_IN_R9;
	return V8_COMPLETE;
}

/*
 * Baseline code begins with a frame's size to ebx, its bytecodes to r12, and a call of a builtin
 * that makes the frame.
 */
static __always_inline bool v8_baseline_begins(const struct v8_around *c)
{
	const __u64 before = c->before, after = c->after;

	if ((__u32)after == 0xbc49db33 || ((__u8)after == 0xbb && (after >> 40 & 0xffff) == 0xbc49))
		return true;
	if ((__u16)after == 0xbc49)
		return before >> 48 == 0xdb33 || (before >> 24 & 0xff) == 0xbb;
	return (__u8)after == 0xe8 && c->earlier >> 48 == 0xbc49;
}

/* Not V8_BARE where the checks before a frame run: that needs a look at what comes. */
static __always_inline enum v8_frame v8_frame_at(const struct v8_around *c)
{
	if (c->before >> 56 == V8_PUSH_RBP && V8_MOVES(c->after))
		return V8_PUSHED;
	if (V8_MOVES(c->before >> 40) || (V8_MOVES(c->before >> 32) && (c->before >> 56) == 0x56))
		return V8_LINKED;
	if (v8_baseline_begins(c))
		return V8_BARE;
	return v8_exit(c);
}

#endif
