/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

/*
 * --live: the table of a trace that is still written. It is read on as it grows; on a terminal the
 * table is drawn anew each second, until q is pressed, and elsewhere once, when the trace has
 * ended.
 */

#include "report/load.h"

enum live_result {
	LIVE_FAILED, /* reported */
	LIVE_SHOWN,  /* on the terminal */
	LIVE_READ,   /* no terminal: all is in the tally, to be built and shown as any trace is */
};

/* `l` is to be released in any case. Changes how the options show: to the size of the terminal. */
enum live_result live_run(struct loaded *l, struct report_options *o);

#endif
