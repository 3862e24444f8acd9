/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_PERF_MAP_H
#define RECORD_SYMBOLS_PERF_MAP_H

/*
 * /tmp/perf-PID.map, which JIT compilers write for profilers: one line for each piece of
 * code, "START SIZE NAME", numbers in hexadecimal, the name up to the end of the line.
 */

#include "record/symbols/code_map.h"

#include <stddef.h>

/*
 * Adds the symbols of all complete lines and returns how many bytes they took. Lines that
 * are no symbol are passed over. An incomplete line that is longer than any symbol's is
 * consumed as well, so that what stays pending is bounded.
 */
size_t perf_map_parse(struct code_map *map, const void *data, size_t size);

#endif
