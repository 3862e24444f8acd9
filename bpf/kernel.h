/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

/*
 * The few fields of kernel structures that the programs read. Offsets are put in when the
 * programs are loaded (CO-RE), from the running kernel's BTF, so neither vmlinux.h nor the
 * order of the fields here matters.
 */

#include <linux/bpf.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct;

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	__u64 start_time;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	unsigned int __state; /* `state` before Linux 5.14 */
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

static inline unsigned int task_state(const struct task_struct *task)
{
	return task->__state;
}

#endif
