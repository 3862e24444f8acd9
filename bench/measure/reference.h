/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_REFERENCE_H
#define BENCH_MEASURE_REFERENCE_H

/*
 * A loop of fixed work, which no change to any program makes faster or slower. It is timed
 * beside each measurement of a benchmark. Measurements of two runs can be compared only if the
 * loop took as long in both: else it is the machine that changed.
 */

/* ns of CPU time that the loop took, once; some tens of microseconds. */
double reference_ns(void);

/*
 * ns for which a task could have run so far but other tasks had the CPU, as the scheduler counts
 * them; NaN where the kernel does not. `task` is its folder in /proc: "thread-self", or the number
 * of a process for its first thread.
 */
double reference_waited_ns(const char *task);

#endif
