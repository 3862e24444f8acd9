/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_SOURCE_H
#define RECORD_EVENTS_EVENT_SOURCE_H

/*
 * What makes an event's samples. With all but EVENT_PERF the program runs at each hit and counts
 * the period itself.
 */

enum event_source {
	EVENT_PERF,	    /* a perf event on each CPU; its overflow runs the program */
	EVENT_TRACEPOINT,   /* of the kernel's source */
	EVENT_TRACED_PROBE, /* made with tracefs's kprobe_events or uprobe_events, by others */
	EVENT_UPROBE,	    /* an instruction of a file, or the return of its function */
	EVENT_USDT,	    /* places in a file that its notes name */
	EVENT_KPROBE,	    /* a function of the kernel, or its return */
	EVENT_SCHEDULER,    /* waits, measured at context switches (--off-cpu) */
};

#endif
