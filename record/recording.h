/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

/*
 * The parts of one recording: setup.c opens them, session.c runs them from the first sample to
 * the end of the file, drain.c is what they do meanwhile.
 */

#include "record/capture/sampler.h"
#include "record/capture/sideband.h"
#include "record/capture/timeline.h"
#include "record/hotplug.h"
#include "record/lookahead.h"
#include "record/losses.h"
#include "record/options.h"
#include "record/overhead.h"
#include "record/runtimes/java.h"
#include "record/spaces/world.h"
#include "record/system/target.h"
#include "record/trace/resolver.h"
#include "record/trace/trace_file.h"

struct session {
	struct settings *settings;
	struct cpus cpus;    /* those that are online */
	struct cpus sampled; /* those of them to sample on */
	struct hotplug hotplug;
	struct cgroup cgroup;
	struct target target;
	struct world world;
	struct sideband *sideband;
	struct sampler *sampler;
	struct unwinder *unwinder; /* NULL: no tables are used */
	struct lookahead *lookahead;
	struct resolver *resolver;
	struct jit *jit;
	struct java *java; /* NULL: its code is not walked */
	struct timeline timeline;
	struct trace_file trace;
	struct losses losses;
	struct overhead overhead;
	int signal_fd;
	uint64_t ring_bytes;
	uint64_t began_ns; /* of sampling */
	bool sampling;
	uint64_t malformed; /* records that made no sense */
	bool refresh;	    /* records of the side band were lost since /proc was last asked */
	uint64_t file_began_ns;
	struct {
		uint64_t files, samples, stacks, bytes, lost, fired, cpu_ns;
	} earlier; /* files of this recording than the one being written */
};

#endif
