/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program for each kind of place that prof-bench bpf attaches to. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define PLACE(section, name, context_type, status)                                                 \
	SEC(section)                                                                               \
	int name(context_type *context)                                                            \
	{                                                                                          \
		return status;                                                                     \
	}

PLACE("xdp", at_xdp, struct xdp_md, XDP_PASS)
PLACE("tc", at_tc, struct __sk_buff, 0)
PLACE("tc/egress", at_egress, struct __sk_buff, 0)
PLACE("cgroup_skb/egress", at_cgroup, struct __sk_buff, 1)
PLACE("socket", at_socket, struct __sk_buff, 0)
PLACE("perf_event", at_clock, void, 0)
PLACE("raw_tp/sched_switch", at_raw_tp, void, 0)
PLACE("tracepoint/sched/sched_switch", at_tracepoint, void, 0)
PLACE("uprobe/libc.so.6:getenv", at_uprobe, void, 0)
PLACE("kprobe/do_nanosleep", at_kprobe, void, 0)
