/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole wait of the current task, from leaving the CPU to the sample, as one program that
 * BPF_PROG_TEST_RUN takes: the recorder's own programs for waits are of type tp_btf, which the
 * kernel does not run that way. The steps are those of bpf/tasks/off_cpu.bpf.h, and the maps those
 * of a recorder that is loaded already.
 */
#include "bpf/sampler.bpf.c"

#define TASK_INTERRUPTIBLE 1

SEC("raw_tp")
int whole_wait(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	leave_cpu(ctx, task, bpf_ktime_get_ns(), TASK_INTERRUPTIBLE);
	come_back(task, bpf_ktime_get_ns());
	return end_wait(ctx, task);
}

SEC("raw_tp")
int nothing(void *ctx)
{
	return 0;
}
