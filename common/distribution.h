/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_DISTRIBUTION_H
#define COMMON_DISTRIBUTION_H

/* The normal, Student's t and the binomial distribution, to about 1e-12. */

double distribution_normal(double x);
/* 0 < p < 1, else NaN. */
double distribution_normal_inverse(double p);

/* `freedom` > 0 degrees of freedom. */
double distribution_student(double t, double freedom);
double distribution_student_inverse(double p, double freedom);

/*
 * The chance of `k` or more of `n` trials that succeed with probability `p` each; of millions of
 * trials and more to some digits only.
 */
double distribution_binomial_tail(double k, double n, double p);

#endif
