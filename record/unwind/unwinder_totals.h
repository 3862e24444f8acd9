/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWINDER_TOTALS_H
#define RECORD_UNWIND_UNWINDER_TOTALS_H

/* What became of all files and processes. */

#include <stdint.h>

struct unwinder_totals {
	uint64_t files, rows, rules, slabs, table_bytes;
	uint64_t build_ns;
	uint64_t dropped; /* files whose tables were given back to stay within the limit */
	uint64_t refused; /* files that got no table although they may have unwind information */
	uint64_t short_of_memory; /* of the refused: those for want of memory */
	uint64_t over_limit;	/* files that got no table as they have more than is read of one */
	uint64_t lacking_rules; /* files whose tables lack rules for some of their code */
	uint64_t failed;	/* files without usable unwind information */
	uint64_t crowded_out;	/* processes that found no room in the kernel half */
};

#endif
