/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_JITDUMP_H
#define RECORD_SYMBOLS_JITDUMP_H

/*
 * jit-PID.dump, which JIT compilers write and map once for profilers (the layout is
 * tools/perf/Documentation/jitdump-specification.txt of the kernel): a header, then records
 * of a size each. Code that is loaded or moved becomes symbols; the rest is skipped.
 *
 * Each record has the time when the code came, by CLOCK_MONOTONIC (unless the header's flags say
 * that it is the processor's own counter). The records themselves may come much later: compilers
 * buffer megabytes of them.
 */

#include "common/map.h"
#include "record/symbols/code_map.h"
#include "record/symbols/write_times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jitdump {
	bool began;	  /* the header was read */
	bool broken;	  /* not a jitdump, or of a kind we cannot read: stays so */
	bool other_clock; /* the times of its records are not CLOCK_MONOTONIC */
	uint64_t time_ns; /* of the last record; what came before it has been read */
	uint64_t offset;  /* in the file, of what is parsed next */
	uint64_t skip;	  /* bytes of a record that was only needed in part */
	struct map names; /* of pieces of code by their index, as offsets in the code map */
};

void jitdump_release(struct jitdump *d);

/*
 * Adds what complete records hold, always to the same code map, and returns how many bytes they
 * took; all of them when it is broken. `times` are those of the file, for records whose own time
 * is of no use.
 */
size_t jitdump_parse(struct jitdump *d, struct code_map *map, const struct write_times *times,
		     const void *data, size_t size);

#endif
