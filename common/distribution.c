/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/distribution.h"

#include <math.h>

double distribution_normal(double x)
{
	return 0.5 * erfc(-x / M_SQRT2);
}

/* The distribution functions rise everywhere: find where one passes p by halving. */
static double inverse(double (*cumulative)(double x, double parameter), double parameter, double p)
{
	double low = -1, high = 1;

	if (!(p > 0 && p < 1))
		return NAN;
	while (cumulative(low, parameter) > p && low > -1e300)
		low *= 2;
	while (cumulative(high, parameter) < p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (cumulative(middle, parameter) < p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

static double normal(double x, double parameter)
{
	(void)parameter;
	return distribution_normal(x);
}

double distribution_normal_inverse(double p)
{
	return inverse(normal, 0, p);
}

/*
 * The regularized incomplete beta function by its continued fraction (modified Lentz),
 * which converges fast for x < (a + 1) / (a + b + 2); the symmetry serves the rest.
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double distribution_student(double t, double freedom)
{
	double tail;

	if (!(freedom > 0))
		return NAN;
	tail = 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
	return t > 0 ? 1 - tail : tail;
}

double distribution_student_inverse(double p, double freedom)
{
	if (!(freedom > 0))
		return NAN;
	/* By symmetry, so that 1 - tail loses no digits. */
	if (p > 0.5)
		return -inverse(distribution_student, freedom, 1 - p);
	return inverse(distribution_student, freedom, p);
}

/* With more trials lgamma() leaves the tail few digits or none, and the normal one is near. */
#define BINOMIAL_MAX 1e10

double distribution_binomial_tail(double k, double n, double p)
{
	if (k <= 0)
		return 1;
	if (k > n)
		return 0;
	if (n > BINOMIAL_MAX)
		return distribution_normal((n * p - k + 0.5) / sqrt(n * p * (1 - p)));
	return incomplete_beta(k, n - k + 1, p);
}
