/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SAMPLER_H
#define RECORD_CAPTURE_SAMPLER_H

/*
 * The kernel half, loaded and attached: bpf/sampler.bpf.c. Between sampler_start() and
 * sampler_stop() samples arrive in its rings; after sampler_stop() no program runs any more,
 * so that the counters are final.
 */

#include "bpf/phases.h"
#include "bpf/sample.h"
#include "bpf/unwind.h"
#include "record/capture/off_cpu.h"
#include "record/capture/ring.h"
#include "record/capture/unwinder_maps.h"
#include "record/events/event.h"
#include "record/system/cgroup.h"
#include "record/system/cpus.h"

struct sampler;

struct sampler_options {
	const struct event_list *events; /* resolved */
	const struct cpus *cpus;	 /* to sample on */
	bool some_cpus;			 /* `cpus` are not all there are */
	const struct cgroup *cgroup;	 /* its tasks are the targets, or NULL */
	bool all_processes;
	bool by_thread;	      /* targets are threads */
	bool inherit;	      /* children of targets are targets */
	uint32_t command_pid; /* becomes a target with its exec; 0: none */
	struct off_cpu_options off_cpu;
	uint64_t ring_bytes; /* a power of two */
	enum unwind_by unwind_by;
	bool time_phases; /* for prof-bench: see sampler_read_phases() */
};

/* Loads the programs and opens the events. 0 or -errno, and what failed. */
int sampler_new(struct sampler **sampler, const struct sampler_options *options, const char **what);
void sampler_free(struct sampler *s);

/* From now on forks and execs of targets are followed. 0 or -errno. */
int sampler_follow(struct sampler *s, const char **what);

/* A process (or thread, by_thread) becomes a target. 0 or -errno; -E2BIG: too many. */
int sampler_add_target(struct sampler *s, uint32_t pid);

/* Children of targets that are none themselves, since there were too many. */
uint64_t sampler_not_followed(const struct sampler *s);

int sampler_start(struct sampler *s);
void sampler_stop(struct sampler *s);

/* The CPU was offline: its events are opened anew. 0 or -errno. */
int sampler_cpu_came_back(struct sampler *s, const struct event_list *events, uint32_t cpu);

/* For unwinder_new(). */
void sampler_unwinder_maps(const struct sampler *s, struct unwinder_maps *maps);

/* The map `scripts`, of bpf/script.bpf.h. */
int sampler_scripts(const struct sampler *s);

/* Names of scripts' code: the map `script_sent` of bpf/script_list.bpf.h, and the ring. */
int sampler_scripts_sent(const struct sampler *s);
struct ring *sampler_script_names(struct sampler *s);

/* The rings samples arrive in. */
size_t sampler_rings(const struct sampler *s);
struct ring *sampler_ring(struct sampler *s, size_t i);

/* Counters are per possible CPU, numbered from 0; of all classes together. */
size_t sampler_possible_cpus(const struct sampler *s);
int sampler_read_counters(struct sampler *s, struct sample_counters *counters);

/* What the phases of samples took since the programs were loaded, of all CPUs. 0 or -errno. */
int sampler_read_phases(const struct sampler *s, struct phase_times *times);

/* How often our programs ran, and for how long, if the kernel measures that. */
void sampler_runs(const struct sampler *s, uint64_t *runs, uint64_t *run_ns);

/* What libbpf and the verifier had to say, for -v and for bug reports. */
const char *sampler_log(void);

#endif
