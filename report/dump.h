/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DUMP_H
#define REPORT_DUMP_H

/*
 * A trace as text, record by record, to find what is wrong with it; and --check, which verifies a
 * whole trace.
 */

#include "report/output/progress.h"
#include "report/output/sink.h"
#include "report/profile/trace.h"

/*
 * Every block, definition and record, in the order of the file. NULL or t->error. `progress` was
 * begun, here and below; NULL: none.
 */
const struct error *dump_trace(struct trace *t, struct sink *s, struct progress *progress);

/*
 * Reads everything and writes a line per defect. True when there was none: no damage, all
 * checksums and references right, and an end.
 */
bool check_trace(struct trace *t, struct sink *s, struct progress *progress);

#endif
