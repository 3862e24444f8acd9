/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_DISTRIBUTION_H
#define BENCH_STATISTICS_DISTRIBUTION_H

/* The normal and Student's t distribution, and their inverses, to about 1e-12. */

double distribution_normal(double x);
/* 0 < p < 1, else NaN. */
double distribution_normal_inverse(double p);

/* `freedom` > 0 degrees of freedom. */
double distribution_student(double t, double freedom);
double distribution_student_inverse(double p, double freedom);

#endif
