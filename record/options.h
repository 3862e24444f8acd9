/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

/* The settings of prof-record, from its command line. */

#include "bpf/abi/unwind.h"
#include "common/options.h"
#include "record/capture/off_cpu.h"
#include "record/events/event.h"
#include "record/trace/series.h"
#include "record/trace/trace_file.h"

struct settings {
	uint32_t *pids; /* processes to record, or threads with by_thread */
	bool *by_name;	/* of each of `pids`: it was found by its name, and may be left out */
	size_t pid_count;
	bool by_thread;
	const char *cgroup;   /* NULL: none */
	const char *cpu_list; /* "0,2-3", or NULL */
	bool no_inherit;
	bool children;	       /* of `pids`, those that run already are recorded, too */
	bool keep_interpreter; /* frames of its evaluation loop stay beside those of scripts */
	bool everything;       /* -a */
	/* NULL: none. Beside another target it is not recorded: its end ends the recording. */
	char **command;
	bool as_user;		    /* the command runs as who called sudo */
	uint64_t frequency, period; /* period 0: by frequency */
	uint64_t delay_ns;
	bool off_cpu; /* also record waits, besides the events of -e */
	struct off_cpu_options waits;
	bool list; /* only print the list of events */
	struct event_list events;
	const char *output;
	struct series series; /* --switch-output */
	uint64_t max_bytes;   /* of the trace; 0: no limit */
	bool stats;
	const char *embed;    /* the option of prof-report that adds names to each file, or NULL */
	uint64_t duration_ns; /* 0: until the targets end */
	int level;
	bool quiet, verbose;
	bool asked_for_stacks; /* -g */
	enum unwind_by unwind_by;
	uint64_t unwind_memory; /* bytes; 0: default */
	uint64_t ring_bytes;	/* 0: chosen from CPUs and rate */
	struct metadata *metadata;
	size_t metadata_count;
	char *command_line; /* the recorder's own, for the trace */
	char why[512];	    /* one line: what is wrong with an option */
};

/* Fills `s` from the command line. Call settings_release() whatever the result. */
enum options_result settings_parse(struct settings *s, int argc, char **argv);
void settings_release(struct settings *s);

#endif
