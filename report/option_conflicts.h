/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OPTION_CONFLICTS_H
#define REPORT_OPTION_CONFLICTS_H

/* Options of prof-report that do not go together, or with what is there. */

#include "report/options.h"

/* Why this cannot be done, in one sentence; NULL when it can. */
const char *contradiction(const struct report_options *o);

/* What is asked for, but changes nothing in this report; NULL: all of it does something. */
const char *without_effect(const struct report_options *o);

/* Whether one of --pid, --tid, ... stands alone, so that its list may have become a path. */
bool asks_for_first_frame(const struct report_options *o);

/* Whether one function would be shown and none is given, so that its name may have become a path.
 */
bool lacks_function(const struct report_options *o);

#endif
