/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of one object: one that runs, one that nothing makes run, and with REFUSED or NOWHERE
 * one that no kernel takes, or whose section does not say where to attach it.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("raw_tp/sched_switch")
int runs(struct bpf_raw_tracepoint_args *context)
{
	return 0;
}

SEC("raw_tp/oom_score_adj_update")
int waits(struct bpf_raw_tracepoint_args *context)
{
	return 0;
}

#ifdef REFUSED
SEC("raw_tp/sched_switch")
int refused(struct bpf_raw_tracepoint_args *context)
{
	return *(int *)context->args[0];
}
#endif

#ifdef NOWHERE
SEC("uprobe")
int nowhere(void *context)
{
	return 0;
}
#endif
