/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/prf.h"

const char *prf_stack_end_name(enum prf_stack_end end)
{
	static const char *const names[PRF_END_COUNT] = {
		[PRF_END_ROOT] = "root",
		[PRF_END_NO_TABLE] = "no-table",
		[PRF_END_BAD_READ] = "bad-read",
		[PRF_END_TOO_DEEP] = "too-deep",
		[PRF_END_UNSUPPORTED] = "unsupported",
		[PRF_END_NO_REGISTERS] = "no-registers",
		[PRF_END_NO_MAPPING] = "no-mapping",
		[PRF_END_FRAME_POINTER] = "frame-pointer",
		[PRF_END_RUNTIME_CODE] = "runtime-code",
		[PRF_END_RUNTIME_FRAME] = "runtime-frame",
	};

	return (unsigned int)end < PRF_END_COUNT ? names[end] : "unknown";
}

const char *prf_loss_reason_name(enum prf_loss_reason reason)
{
	static const char *const names[PRF_LOSS_COUNT] = {
		[PRF_LOSS_RING_FULL] = "ring-full", [PRF_LOSS_RING_BUSY] = "ring-busy",
		[PRF_LOSS_SIDE_BAND] = "side-band", [PRF_LOSS_LATE] = "late",
		[PRF_LOSS_NESTED] = "nested",	    [PRF_LOSS_OTHER] = "other",
		[PRF_LOSS_SKIPPED] = "skipped",
	};

	return (unsigned int)reason < PRF_LOSS_COUNT ? names[reason] : "unknown";
}
