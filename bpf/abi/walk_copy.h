/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_WALK_COPY_H
#define BPF_ABI_WALK_COPY_H

/*
 * What bpf/walk_copy.bpf.c sends, which only tests load: the result of a walk, and the registers
 * and the stack that it walked.
 */

#include <linux/types.h>

#define WALK_COPY_PAGES 16

struct walk_copy {
	__u32 frames;	     /* 512 at most */
	__u32 end;	     /* enum walk_end */
	__u64 registers[21]; /* struct pt_regs of x86-64 */
	__u64 start;	     /* address of the first page */
	__u32 pages, reserved;
	__u64 frame[512]; /* with their marks, leaf first */
	__u8 stack[WALK_COPY_PAGES][4096];
};

#endif
