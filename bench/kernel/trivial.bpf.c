/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does nothing: the cost of an event that has any program. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("perf_event")
int trivial(void *ctx)
{
	(void)ctx;
	return 0;
}
