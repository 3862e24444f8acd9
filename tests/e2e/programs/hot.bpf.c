/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that spends its time in two lines: in a division of its own, and in what it calls. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u64);
	__type(value, __u64);
} counts SEC(".maps");

static __noinline __u64 divide(__u64 n)
{
	__u64 sum = n;

	for (int i = 1; i < 500; i++)
		sum += n / (sum | 1); /* the division */
	return sum;
}

SEC("raw_tp/sys_enter")
int hot(struct bpf_raw_tracepoint_args *context)
{
	__u64 sum = divide(context->args[1]), key = 1;

	for (int i = 0; i < 20; i++)
		bpf_map_update_elem(&counts, &key, &sum, BPF_ANY); /* the update */
	return 0;
}
