/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Producers for a ring buffer: each run puts `records` records of `size` bytes into the ring,
 * with a wakeup for each, for every `wakeup_every`-th, or for none.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define SIZE_MAX_BYTES 1024

const volatile __u32 records = 1000;
const volatile __u32 size = 64;
const volatile __u32 wakeup_every = 0; /* 0: never */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* sent, dropped */
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct record {
	__u8 bytes[SIZE_MAX_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct record);
} scratch SEC(".maps");

SEC("raw_tp")
int produce(void *ctx)
{
	__u32 zero = 0, one = 1;
	struct record *record = bpf_map_lookup_elem(&scratch, &zero);
	__u64 *sent = bpf_map_lookup_elem(&counts, &zero);
	__u64 *dropped = bpf_map_lookup_elem(&counts, &one);
	__u32 bytes = size;

	(void)ctx;
	if (!record || !sent || !dropped)
		return 0;
	if (bytes > SIZE_MAX_BYTES)
		bytes = SIZE_MAX_BYTES;
	for (__u32 i = 0; i < 1000; i++) {
		__u64 flags = BPF_RB_NO_WAKEUP;

		if (i >= records)
			break;
		if (wakeup_every && i % wakeup_every == 0)
			flags = BPF_RB_FORCE_WAKEUP;
		if (bpf_ringbuf_output(&ring, record, bytes, flags))
			*dropped += 1;
		else
			*sent += 1;
	}
	return 0;
}
