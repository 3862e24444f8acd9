/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/allocations.h"

bool allocations_counted, allocations_counting;
uint64_t allocations_blocks, allocations_bytes;

bool allocations_available(void)
{
	return allocations_counted;
}

void allocations_begin(void)
{
	__atomic_store_n(&allocations_blocks, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&allocations_bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&allocations_counting, true, __ATOMIC_SEQ_CST);
}

struct allocations allocations_end(void)
{
	__atomic_store_n(&allocations_counting, false, __ATOMIC_SEQ_CST);
	return (struct allocations){ allocations_blocks, allocations_bytes };
}
