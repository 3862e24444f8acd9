/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bench/suite/xdp_example.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PACKET_CLASSES);
	__type(key, __u32);
	__type(value, __u64);
} classes SEC(".maps");

/* Counts each IPv4 packet in its class and lets it pass. */
SEC("xdp")
int xdp_example(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *ethernet = data;
	struct iphdr *ip = (void *)(ethernet + 1);
	__u64 *count;
	__u32 class;

	if ((void *)(ip + 1) > end || ethernet->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	class = classify(bpf_ntohl(ip->saddr));
	count = bpf_map_lookup_elem(&classes, &class);
	if (count)
		*count += 1;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
