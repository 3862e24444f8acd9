/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_FOLDED_TRACE_H
#define REPORT_FOLDED_TRACE_H

/*
 * Folded stacks read as a trace, so that all that can be done with the stacks of a recording can
 * be done with those that a database, or another profiler, has counted:
 *
 *     command;outermost function;...;innermost function 12
 *
 * Each line becomes one sample whose weight is its number. It has no time, no thread, and its
 * frames have names only.
 */

#include "common/fuzzing.h"
#include "report/profile/trace.h"

/* A fuzzer's inputs are small: making room for a longer line would cost more than reading them. */
#define FOLDED_LINE_MAX (1u << (FUZZING ? 12 : 20))

/*
 * Reads the text that `t` was opened on, to its end, into an unnamed temporary file that `t` then
 * reads instead. ERROR_CORRUPT names the first line that is not as above; a line without a newline
 * at the end of the text is one, and one that counts 0 is none. After an interrupt the trace ends
 * with the lines that were read.
 */
struct error *folded_trace_open(struct trace *t) ERROR_CHECKED;

#endif
