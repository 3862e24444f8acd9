/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/sent_names.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/abi/runtimes.h"

void sent_names_forget_one(int sent_fd, uint64_t identity)
{
	uint32_t slot = (uint32_t)(identity >> (64 - SCRIPT_SENT_BITS));
	uint64_t none = 0;

	bpf_map_update_elem(sent_fd, &slot, &none, BPF_ANY);
}

void sent_names_forget(int sent_fd)
{
	const size_t size = (SCRIPT_SENT + 1) * sizeof(uint64_t);
	uint64_t *sent = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, sent_fd, 0);

	/* Without it, code that was sent before keeps its frames without names. */
	if (sent == MAP_FAILED)
		return;
	memset(sent, 0, SCRIPT_SENT * sizeof(*sent));
	/* After they are empty: from now on nothing is remembered that was sent before. */
	__atomic_fetch_add(&sent[SCRIPT_SENT], 1, __ATOMIC_RELEASE);
	munmap(sent, size);
}
