/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For the tests only: walks the user stack as the sampler does, and sends a copy of the
 * registers and of the stack with it, so that another unwinder can be asked about the same
 * moment.
 */
#include "bpf/state/kernel.h"

#include <bpf/bpf_helpers.h>
#include <linux/bpf_perf_event.h>

#include "bpf/walk/unwind_walk.bpf.h"
#include "bpf/abi/walk_copy.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 target = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} copies SEC(".maps");

SEC("perf_event")
int copy_walk(struct bpf_perf_event_data *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct user_registers *registers = (void *)&ctx->regs;
	struct walk_copy *copy;
	struct walk *w;
	__u64 page;

	if (pid != target || !REGISTERS_USER(registers))
		return 0;
	w = walk_begin(CLASS_TIMER);
	copy = bpf_ringbuf_reserve(&copies, sizeof(*copy), 0);
	if (!w || !copy) {
		if (copy)
			bpf_ringbuf_discard(copy, 0);
		return 0;
	}
	walk_user_regs(w, pid, task_mm(bpf_get_current_task_btf()), &ctx->regs, true);
	copy->frames = walk_sample(w)->user_frames;
	copy->end = walk_sample(w)->walk_end;
	bpf_probe_read_kernel(copy->frame, sizeof(copy->frame), walk_sample(w)->frames);
	bpf_probe_read_kernel(copy->registers, sizeof(copy->registers), &w->registers);
	copy->start = w->registers.sp & ~4095ULL;
	/* Page by page, up to the end of the stack. */
	copy->pages = 0;
	for (__u64 i = 0; i < WALK_COPY_PAGES; i++) {
		page = copy->start + i * 4096;
		if (bpf_probe_read_user(copy->stack[i], 4096, (void *)page))
			break;
		copy->pages = i + 1;
	}
	bpf_ringbuf_submit(copy, 0);
	return 0;
}
