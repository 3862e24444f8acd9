/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_SCRIPT_BPF_H
#define BPF_RUNTIMES_SCRIPT_BPF_H

/*
 * Frames of runtimes. They are collected in the walk's scratch while the stack is walked, and
 * copied to the sample after the kernel frames.
 */

#include <stdbool.h>

#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "bpf/abi/script.h"
#include "bpf/abi/unwind.h"
#include "bpf/runtimes/v8_step.bpf.h"
#include "bpf/state/walk_state.bpf.h"

/*
 * Not 0: a process with that tgid, modulo SCRIPT_LISTS, may have frames aside, or be one of V8; for
 * all others one look at an array is all that they pay.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIPT_LISTS);
	__type(key, __u32);
	__type(value, __u64);
} script_lists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SCRIPT_MAX_FILES);
	__type(key, struct unwind_file_key);
	__type(value, struct script_file);
} script_files SEC(".maps");

static __always_inline __u64 *script_lists_of(__u32 tgid)
{
	__u32 slot = tgid & (SCRIPT_LISTS - 1);

	return bpf_map_lookup_elem(&script_lists, &slot);
}

/* Before the walk: whether it is one of V8. */
static __always_inline void script_begin(struct walk *w, __u32 tgid)
{
	const __u64 *lists = script_lists_of(tgid);
	struct script_process *process;

	if (!lists || !*lists)
		return;
	process = bpf_map_lookup_elem(&scripts, &tgid);
	if (process && process->runtime == SCRIPT_V8)
		v8_begin(w, process);
}

/* After the sample has got its user and kernel frames. */
static __always_inline void script_append(struct walk *w)
{
	struct sample *s = walk_sample(w);
	__u64 at = (__u64)s->user_frames + s->kernel_frames;
	__u64 n = w->script_frames;

	if (!n || n > MAX_SCRIPT_FRAMES || at > MAX_USER_FRAMES + MAX_KERNEL_FRAMES)
		return;
	bpf_probe_read_kernel(&s->frames[at], n * sizeof(struct script_frame), w->scripts);
	s->script_frames = n;
}

/*
 * The process has that file's code mapped, its byte `offset` at `start`. If it holds a runtime, the
 * process has frames of it from now on. The time distinguishes images, as the recorder's numbers
 * do.
 */
static __always_inline void script_map(__u32 tgid, const struct unwind_file_key *key, __u64 start,
				       __u64 offset)
{
	struct script_file *file = bpf_map_lookup_elem(&script_files, key);
	struct script_process *process;
	__u64 *lists = script_lists_of(tgid);

	if (!file || !lists || bpf_map_update_elem(&scripts, &tgid, &file->process, BPF_NOEXIST))
		return;
	process = bpf_map_lookup_elem(&scripts, &tgid);
	if (!process)
		return;
	script_process_place(process, file->runtime, start - offset - file->delta);
	process->image = SCRIPT_IMAGE_BY_TIME | (__u32)(bpf_ktime_get_ns() >> 10);
	process->runtime = file->runtime; /* last: now it is whole */
	*lists = 1;
}

/* The child of a fork has the parent's runtime. */
static __always_inline void script_fork(__u32 parent, __u32 child)
{
	struct script_process *process = bpf_map_lookup_elem(&scripts, &parent);
	__u64 *lists = script_lists_of(child);

	if (!process)
		return;
	if (lists && process->runtime != SCRIPT_HOTSPOT)
		*lists = 1;
	bpf_map_update_elem(&scripts, &child, process, BPF_ANY);
}

static __always_inline void script_exec(__u32 tgid)
{
	bpf_map_delete_elem(&scripts, &tgid);
}

#endif
