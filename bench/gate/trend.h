/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_GATE_TREND_H
#define BENCH_GATE_TREND_H

/* The history as one SVG page: a small chart for each measure of each benchmark. */

#include "bench/gate/history.h"

/*
 * Charts of the entries of `branch` and `testbed` (NULL: of all); refused ones are marked.
 * It is an error if there is no chart to draw.
 */
struct error *trend_write(const struct history *h, const char *branch, const char *testbed,
			  const char *path) ERROR_CHECKED;

#endif
