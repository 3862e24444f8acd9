/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program for each kind of place that prof-bench bpf attaches to. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("xdp")
int at_xdp(struct xdp_md *context)
{
	return XDP_PASS;
}

SEC("tc")
int at_tc(struct __sk_buff *packet)
{
	return 0;
}

SEC("cgroup_skb/egress")
int at_cgroup(struct __sk_buff *packet)
{
	return 1;
}

SEC("perf_event")
int at_clock(void *context)
{
	return 0;
}

SEC("raw_tp/sched_switch")
int at_raw_tp(void *context)
{
	return 0;
}

SEC("tracepoint/sched/sched_switch")
int at_tracepoint(void *context)
{
	return 0;
}

SEC("uprobe/libc.so.6:getenv")
int at_uprobe(void *context)
{
	return 0;
}

SEC("kprobe/do_nanosleep")
int at_kprobe(void *context)
{
	return 0;
}
