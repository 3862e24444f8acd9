/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_KERNEL_NAME_H
#define BPF_ABI_KERNEL_NAME_H

/* A question for the kernel, and its answer: what is at an address of its own code. */

#include <linux/types.h>

#define KERNEL_NAME_BYTES 1024 /* the kernel's names have at most 511 bytes */

struct kernel_name_question {
	__u64 address;
	char answer[KERNEL_NAME_BYTES]; /* as printk("%pS"): "name+0x12/0x340 [module]" */
};

#endif
