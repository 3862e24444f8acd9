/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/options.h"

/* Does what the command line asks for; returns the exit status. */
int report_run(struct report_options *o);

#endif
