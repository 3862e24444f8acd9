/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULTS_OUTPUT_H
#define BENCH_RESULTS_OUTPUT_H

/*
 * The readable report. It goes to stdout, unless BMF goes there ("--bmf -"): then to stderr,
 * so that stdout is one JSON object. -q leaves it out, but for what did not pass.
 */

#include "bench/results/results.h"
#include "bench/results/verdict.h"

#include <stdbool.h>

/* `bmf`: as the user gave --bmf, or NULL; it must stay. */
void output_setup(const char *bmf, bool quiet);

/* One line; the newline is added. Control characters are shown as \xHH. */
void output_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what did not pass, which -q shows, too. */
void output_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A number as text, by value: `output_time(ns).text` is valid to the end of the full expression
 * that it stands in.
 */
struct output_text {
	char text[48];
};

/* "12.345 ns", "1.2340 ms": five digits, as Criterion prints. */
struct output_text output_time(double ns);
/* "12.3 Melem/s" for `what` "elem/s"; thousands by 1000. */
struct output_text output_rate(double per_second, const char *what);
/* "+1.2345%" of 0.012345 */
struct output_text output_percent(double share);
/* "1,234,567" */
struct output_text output_count(double count);

/* Prints an error on stderr and ends it; false for NULL. ERROR_UNAVAILABLE is printed as such. */
bool output_error(struct error *error);

/*
 * An error that is no failure of ours: for ERROR_UNAVAILABLE a line of the report says that `what`
 * is not available and why, the error is ended, and the result is true. Other errors stay as they
 * are, for output_error().
 */
bool output_unavailable(const char *what, struct error *error);

/* Writes what --bmf asks for, and reports when that fails. VERDICT_FINE also without --bmf. */
enum verdict output_bmf(const struct results *results);

#endif
