/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULTS_VERDICT_H
#define BENCH_RESULTS_VERDICT_H

/* Exit statuses. */
enum verdict {
	VERDICT_FINE = 0,
	VERDICT_REGRESSED = 1, /* commands that judge nothing: failure */
	VERDICT_ERROR = 2,     /* also: bad usage */
	VERDICT_INCONCLUSIVE = 3,
};

#endif
