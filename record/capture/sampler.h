/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SAMPLER_H
#define RECORD_CAPTURE_SAMPLER_H

/*
 * The kernel half, loaded and attached: bpf/sampler.bpf.c. Its maps come first, as unwind tables
 * are made while the verifier looks at the programs. Between sampler_start() and
 * sampler_stop() samples arrive in its rings; after sampler_stop() no program runs any more,
 * so that the counters are final.
 */

#include "bpf/abi/phases.h"
#include "bpf/abi/sample.h"
#include "bpf/abi/unwind.h"
#include "common/error.h"
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
	bool some_cpus;			 /* `cpus` are not all CPUs of the machine */
	const struct cgroup *cgroup;	 /* its tasks are the targets, or NULL */
	bool all_processes;
	bool by_thread;	      /* targets are threads */
	bool inherit;	      /* children of targets are targets */
	uint32_t command_pid; /* becomes a target with its exec; 0: no command */
	struct off_cpu_options off_cpu;
	uint64_t ring_bytes; /* a power of two */
	enum unwind_by unwind_by;
	bool runtimes_later; /* timers walk runtimes once there is one: see sampler_look() */
	bool time_phases;    /* for prof-bench: see sampler_read_phases() */
};

/*
 * Makes the maps: what fills them may begin. If it is known by then which program timers
 * run, a thread begins to load it.
 */
struct error *sampler_new(struct sampler **sampler, const struct sampler_options *options);

/* Loads the programs and opens the events. `options` are the same. */
struct error *sampler_load(struct sampler *s, const struct sampler_options *options);

/* What still loads a program is left to the end of the process. */
void sampler_free(struct sampler *s);

/* Starts to follow forks and execs of targets. */
struct error *sampler_follow(struct sampler *s);

/* Makes a process (or thread, with by_thread) a target. ERROR_LIMIT: there are too many. */
struct error *sampler_add_target(struct sampler *s, uint32_t pid);

/* Number of children of targets that did not become targets, because there were too many. */
uint64_t sampler_not_followed(const struct sampler *s);

/* To be called now and then: when a runtime has become known, its frames are walked soon. */
void sampler_look(struct sampler *s);

/* Whether a sample of that time was walked through runtimes, as far as they were known. */
bool sampler_walked_runtimes(const struct sampler *s, uint64_t time_ns);

/* Waits until all that is loaded by threads is there. sampler_start() does it, too. */
struct error *sampler_ready(struct sampler *s);

/* Attaches the programs; samples arrive from then on, also if it fails half-way. */
struct error *sampler_start(struct sampler *s);
void sampler_stop(struct sampler *s);

/* To be called when a CPU is online again: opens its events anew. */
struct error *sampler_cpu_came_back(struct sampler *s, const struct event_list *events,
				    uint32_t cpu);

/* Fills in the maps that unwinder_new() needs. */
void sampler_unwinder_maps(const struct sampler *s, struct unwinder_maps *maps);

/* Its fds of the maps `scripts`, `script_lists`, `script_files` of bpf/runtimes/script.bpf.h. */
int sampler_scripts(const struct sampler *s);
int sampler_script_lists(const struct sampler *s);
int sampler_script_files(const struct sampler *s);

/* Names of scripts' code: the map `script_sent` of bpf/runtimes/script_sent.bpf.h, and the ring. */
int sampler_scripts_sent(const struct sampler *s);
struct ring *sampler_script_names(struct sampler *s);

/* Number of rings in which samples arrive. */
size_t sampler_rings(const struct sampler *s);
struct ring *sampler_ring(struct sampler *s, size_t i);

/* Number of CPUs for which counters are kept: all possible ones, numbered from 0. */
size_t sampler_possible_cpus(const struct sampler *s);

/* Fills in an array of so many, one for each CPU: the sums over all classes of samples. */
struct error *sampler_read_counters(struct sampler *s, struct sample_counters *counters);

/* Time spent in each phase of samples since the programs were loaded, summed over all CPUs. */
struct error *sampler_read_phases(const struct sampler *s, struct phase_times *times) ERROR_CHECKED;

/* How often our programs ran and for how long; both 0 unless the kernel measures it. */
void sampler_runs(const struct sampler *s, uint64_t *runs, uint64_t *run_ns);

/* The log of libbpf and the verifier, for -v and for bug reports. To be freed; NULL without memory.
 */
char *sampler_log(void);

#endif
