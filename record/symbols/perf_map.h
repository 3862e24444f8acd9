/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_PERF_MAP_H
#define RECORD_SYMBOLS_PERF_MAP_H

/*
 * /tmp/perf-PID.map, which JIT compilers write for profilers: one line for each piece of
 * code, "START SIZE NAME", numbers in hexadecimal, the name up to the end of the line.
 */

#include "record/symbols/code_map.h"
#include "record/symbols/write_times.h"

#include <stddef.h>

/*
 * Adds the symbols of all complete lines and returns how many bytes they took. The code of a line
 * came when the line was written: `times` are those of the file, in which `data` begins at
 * `offset`. Lines that are no symbol are skipped. An incomplete line that is longer than any
 * symbol's is consumed as well, so that what stays pending is bounded.
 */
struct perf_map_source {
	const struct write_times *times;
	uint64_t offset;
};
size_t perf_map_parse(struct code_map *map, const struct perf_map_source *source, const void *data,
		      size_t size);

#endif
