/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_COLD_FILE_H
#define BENCH_MEASURE_COLD_FILE_H

#include <stdbool.h>

/*
 * Writes a file out and drops its pages, and those of no other file, from the page cache. True when
 * none of its pages is in memory any more; never true for a file that is mapped or on tmpfs.
 */
bool cold_file(const char *path);

#endif
