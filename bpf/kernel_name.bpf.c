/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Asks the kernel for the name of one address, which takes a microsecond; reading all names from
 * /proc/kallsyms takes a tenth of a second. Run by BPF_PROG_TEST_RUN, attached to nothing.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi/kernel_name.h"

char LICENSE[] SEC("license") = "GPL";

struct kernel_name_question question;

SEC("raw_tp")
int ask_name(void *ctx)
{
	static const char format[] = "%pS";
	__u64 arguments[] = { question.address };

	bpf_snprintf(question.answer, sizeof(question.answer), format, arguments,
		     sizeof(arguments));
	return 0;
}
