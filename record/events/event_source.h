/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_SOURCE_H
#define RECORD_EVENTS_EVENT_SOURCE_H

/* What makes an event's samples. */

enum event_source {
	EVENT_PERF,	  /* a perf event on each CPU; its overflow runs the program */
	EVENT_TRACEPOINT, /* the program runs at each hit and counts the period itself */
	EVENT_UPROBE,	  /* as a tracepoint, in the text of a file */
	EVENT_SCHEDULER,  /* waits, measured at context switches (--off-cpu) */
};

#endif
