/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

/*
 * One recording as a whole: setup.c opens its parts, session.c runs them from the first sample to
 * the end of the file, traces.c begins and ends the files. The parts themselves do not use this
 * struct.
 */

#include "record/drain.h"
#include "record/embedder.h"
#include "record/options.h"
#include "record/overhead.h"
#include "record/system/target.h"
#include "record/trace/vanished.h"

#include <stdatomic.h>

/* Totals of the files of this recording before the current one. */
struct earlier_files {
	uint64_t files, samples, stacks, bytes, lost, fired, cpu_ns;
};

struct session {
	struct settings *settings;
	struct target target;
	struct cgroup cgroup; /* with --cgroup */
	struct sources sources;
	struct world world;
	struct jit *jit;
	struct unwinding unwinding;
	struct losses losses;
	struct overhead overhead;
	struct trace_file trace;
	struct vanished_names vanished; /* for the file that is written */
	struct embedder embedder;	/* of files before that one */
	struct drain drain;
	int signal_fd;
	bool sampling;
	struct trace_start start; /* of sampling in the file that is written, once it is on */
	atomic_bool ending; /* as a signal asked for; read by the thread that writes the trace */
	bool failed;	    /* waiting for records did: it has ended early, with what there was */
	uint64_t began_ns;  /* when sampling began, CLOCK_MONOTONIC */
	uint64_t file_began_ns;
	struct earlier_files earlier;
	/* When records of the side band were looked at, and how soon they may be again. */
	uint64_t looked_ns, together_ms;
};

#endif
