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
 * ns for which this thread could have run so far but other tasks had the CPU, as the scheduler
 * counts them; NaN where the kernel does not.
 */
double reference_waited_ns(void);

#endif
