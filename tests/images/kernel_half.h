/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_IMAGES_KERNEL_HALF_H
#define TESTS_IMAGES_KERNEL_HALF_H

/*
 * The kernel half's walk, compiled for the machine that runs the tests: the same sources, with
 * functions in place of the BPF helpers. It takes a sample of one thread that stands still, whose
 * memory is what `memory` reads. Threads of x86-64 only, on whatever machine.
 *
 * One thread at a time: the state is static.
 */

#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "bpf/abi/unwind.h"
#include "record/runtimes/target_memory.h"

#define KERNEL_REGISTERS 21 /* words of the kernel's struct pt_regs */
#define KERNEL_PC 16	    /* the one of them that says where the thread is */

/* What the recorder has published for the process. */
struct kernel_tables {
	const struct unwind_segment *segments;
	const struct unwind_page *pages;
	const struct unwind_rule *rules;
	const uint32_t *const *slabs;
	uint32_t segment_count, page_count, rule_count, slab_count;
	struct unwind_process process;
};

struct kernel_thread {
	uint64_t registers[KERNEL_REGISTERS];
	uint64_t pointer; /* to its thread-local storage */
	uint32_t pid, tid;
};

struct kernel_half {
	struct target_memory memory;
	struct kernel_thread thread;
	struct script_process process; /* SCRIPT_NONE: there is no runtime */
	struct kernel_tables tables;
	/* Called with each record about code that is seen for the first time. */
	void (*name)(void *context, const void *data, size_t size);
	void *context;
};

/* The sample. Valid until the next call. */
const struct sample *kernel_half_sample(const struct kernel_half *h);

/* The rules that the last walk has looked for: where, and its number. Some come twice. */
void kernel_half_each_rule(void (*visit)(uint64_t pc, uint32_t rule, void *context), void *context);

#endif
