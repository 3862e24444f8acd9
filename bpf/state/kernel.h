/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_KERNEL_H
#define BPF_STATE_KERNEL_H

/*
 * The few fields of kernel structures that the programs read. Offsets are put in when the
 * programs are loaded (CO-RE), from the running kernel's BTF, so neither vmlinux.h nor the
 * order of the fields here matters.
 */

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#ifdef __bpf__ /* not in a test that runs the walk on the host */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct mm_struct {
	unsigned long start_code, start_stack;
};

struct super_block {
	unsigned int s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct cgroup;

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* of the v2 hierarchy */
};

struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
};

struct task_struct {
	unsigned int flags;
	struct thread_struct thread;
	int pid;
	int tgid;
	__u64 start_time;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	unsigned int on_cpu; /* it runs right now; unsigned, so that CO-RE may load the u8 of 7.x */
	int wake_cpu;	     /* where it ran last */
	struct css_set *cgroups;
	unsigned long nvcsw, nivcsw; /* how often it has left a CPU */
	unsigned int __state;	     /* `state` before Linux 5.14 */
};

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

#define PF_KTHREAD 0x00200000
#define VM_EXEC 0x4

static inline unsigned int task_state(const struct task_struct *task)
{
	return task->__state;
}

/*
 * The address of the task's memory; 0: it has none. Not read through `task`: where a typed pointer
 * gives another one, Linux 6.x looks through the names of all its types, four times for each state
 * that the verifier has there, which takes longer than the rest of its work.
 */
static inline __u64 task_mm(const struct task_struct *task)
{
	__u64 mm = 0;

	bpf_probe_read_kernel(&mm, sizeof(mm), &task->mm);
	return mm;
}

#endif
