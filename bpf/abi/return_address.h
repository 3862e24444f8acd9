/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_RETURN_ADDRESS_H
#define BPF_ABI_RETURN_ADDRESS_H

/*
 * What tells a return address from other words of a stack, and what the code there does next. Both
 * halves find callers by it.
 */

#include <linux/types.h>

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)

/* Whether the last bytes of these 8 are a call: e8 and 4 bytes, or ff /2 with its operand. */
static inline int ends_in_call(__u64 before)
{
	const __u64 mask = 0x38ff, indirect = 0x10ff; /* ff, and 2 in the middle of ModRM */

	return (before >> 24 & 0xff) == 0xe8 || (before >> 48 & mask) == indirect ||
	       (before >> 40 & mask) == indirect || (before >> 32 & mask) == indirect ||
	       (before >> 16 & mask) == indirect || (before >> 8 & mask) == indirect;
}

/*
 * Code without a table whose next instructions remove so many bytes from the stack and return,
 * as Python's trampolines do after their call. -1: other code.
 */
static inline int returns_after(__u64 code)
{
	/* add $n,%rsp; ret: 48 83 c4 n c3 */
	if ((code & 0xff00ffffffULL) == 0xc300c48348ULL && !((code >> 24) & 0x87))
		return (code >> 24) & 0x78;
	return -1;
}

static inline __u64 plain_address(__u64 address)
{
	return address;
}

#elif defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/* Whether the last 4 of these 8 bytes are BL or BLR (with pointer authentication or without). */
static inline int ends_in_call(__u64 before)
{
	__u32 last = (__u32)(before >> 32);

	return last >> 26 == 0x25 || (last & 0xfffffc1f) == 0xd63f0000 ||
	       (last & 0xfefff800) == 0xd63f0800;
}

static inline int returns_after(__u64 code)
{
	return -1;
}

/* Return addresses may be signed (PAC): the signature stands above the address bits. */
static inline __u64 plain_address(__u64 address)
{
	return address & ((1ULL << 48) - 1);
}

#else
#error "unwinding is not written for this processor"
#endif

#endif
