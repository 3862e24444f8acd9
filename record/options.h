/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

/* What the user asked prof-record for. */

#include "bpf/unwind.h"
#include "common/options.h"
#include "record/capture/off_cpu.h"
#include "record/events/event.h"
#include "record/trace/series.h"
#include "record/trace/trace_file.h"

struct settings {
	uint32_t *pids; /* or threads, with by_thread */
	size_t pid_count;
	bool by_thread;
	const char *cgroup;   /* NULL: none */
	const char *cpu_list; /* "0,2-3", or NULL */
	bool no_inherit;
	bool keep_interpreter;	    /* frames of its evaluation loop stay beside those of scripts */
	bool everything;	    /* -a */
	char **command;		    /* NULL: none */
	uint64_t frequency, period; /* period 0: by frequency */
	uint64_t delay_ns;
	bool off_cpu; /* waits too, beside what -e says */
	struct off_cpu_options waits;
	bool list; /* --list, and nothing else */
	struct event_list events;
	const char *output;
	struct series series; /* --switch-output */
	uint64_t max_bytes;   /* of the trace; 0: no limit */
	bool stats;
	bool embed;	      /* names, by prof-report, at the end */
	uint64_t duration_ns; /* 0: until it ends */
	int level;
	bool quiet, verbose;
	enum unwind_by unwind_by;
	uint64_t unwind_memory; /* bytes; 0: the default */
	uint64_t ring_bytes;	/* 0: by CPUs and rate */
	struct metadata *metadata;
	size_t metadata_count;
	char *command_line; /* all of ours, for the trace */
	char why[256];	    /* of a wrong option */
};

/* Fills `s` from the command line; settings_release() in all cases. */
enum options_result settings_parse(struct settings *s, int argc, char **argv);
void settings_release(struct settings *s);

#endif
