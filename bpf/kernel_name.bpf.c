/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Asks the kernel for the name of one address, which takes a microsecond; reading all names from
 * /proc/kallsyms takes a tenth of a second. Run by BPF_PROG_TEST_RUN, attached to nothing.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi/kernel_name.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * A map that is declared by its types: of an object without one, libbpf 1.1 goes on when it has no
 * memory for what it has read of its BTF, and then reads that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_name_question);
} questions SEC(".maps");

SEC("raw_tp")
int ask_name(void *ctx)
{
	static const char format[] = "%pS";
	__u32 first = 0;
	struct kernel_name_question *question = bpf_map_lookup_elem(&questions, &first);
	__u64 arguments[1];

	if (!question)
		return 0;
	arguments[0] = question->address;
	bpf_snprintf(question->answer, sizeof(question->answer), format, arguments,
		     sizeof(arguments));
	return 0;
}
