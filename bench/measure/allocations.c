/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/allocations.h"

/* malloc() has no context to pass on, so this belongs to the process. */
static struct {
	bool announced, counting;
	uint64_t blocks, bytes;
} state;

void allocations_announce(void)
{
	state.announced = true;
}

bool allocations_available(void)
{
	return state.announced;
}

void allocations_count(uint64_t size)
{
	if (__builtin_expect(__atomic_load_n(&state.counting, __ATOMIC_RELAXED), 0)) {
		__atomic_fetch_add(&state.blocks, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&state.bytes, size, __ATOMIC_RELAXED);
	}
}

void allocations_begin(void)
{
	__atomic_store_n(&state.blocks, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&state.bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&state.counting, true, __ATOMIC_SEQ_CST);
}

struct allocations allocations_end(void)
{
	__atomic_store_n(&state.counting, false, __ATOMIC_SEQ_CST);
	return (struct allocations){ state.blocks, state.bytes };
}
