/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_BASELINE_H
#define BENCH_MEASURE_BASELINE_H

/*
 * The measurements of the last run, number by number, in a JSON file: what the next run is
 * compared with.
 */

#include "bench/measure/measurement.h"

struct baseline;

/* `path` NULL: prof/bench.json in the user's cache folder. A missing file is an empty one. */
struct error *baseline_open(struct baseline **baseline, const char *path) ERROR_CHECKED;
void baseline_free(struct baseline *b);

const char *baseline_path(const struct baseline *b);

/* 1: found, to be released by the caller; 0: not there; -1: no memory or not usable. */
int baseline_get(const struct baseline *b, const char *benchmark, struct measurement *m);
int baseline_put(struct baseline *b, const char *benchmark, const struct measurement *m);

/* Writes the file. */
struct error *baseline_save(const struct baseline *b) ERROR_CHECKED;

#endif
