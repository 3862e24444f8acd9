/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does nothing: what an event costs that has a program at all. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("perf_event")
int trivial(void *ctx)
{
	(void)ctx;
	return 0;
}
