/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_SCRIPT_SENT_BPF_H
#define BPF_RUNTIMES_SCRIPT_SENT_BPF_H

/* Names of code, which are sent to the recorder when the code is seen for the first time. */

#include <bpf/bpf_helpers.h>

#include "bpf/abi/runtimes.h"

/* struct script_name, struct v8_name */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the recorder */
} script_names SEC(".maps");

/*
 * Identities of code whose names were sent, each in the slot given by its upper bits. Two that
 * share a slot are sent repeatedly, which costs time but loses nothing. The last entry says how
 * often the recorder has emptied all others.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRIPT_SENT + 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} script_sent SEC(".maps");

static __always_inline int script_is_sent(__u64 identity)
{
	__u32 slot = identity >> (64 - SCRIPT_SENT_BITS);
	__u64 *sent = bpf_map_lookup_elem(&script_sent, &slot);

	return sent && *sent == identity;
}

static __always_inline void script_send(__u64 identity, void *name, __u64 size)
{
	__u32 slot = identity >> (64 - SCRIPT_SENT_BITS);
	__u64 *sent = bpf_map_lookup_elem(&script_sent, &slot);

	if (sent && !bpf_ringbuf_output(&script_names, name, size, BPF_RB_NO_WAKEUP))
		*sent = identity;
}

#endif
