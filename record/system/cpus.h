/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_CPUS_H
#define RECORD_SYSTEM_CPUS_H

/* Sets of CPUs, as the kernel writes them: "0-3,8". Starts as { 0 }. */

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

#define CPUS_MAX 8192

struct cpus {
	uint32_t *ids; /* ascending, each once */
	size_t n;
};

void cpus_release(struct cpus *c);

/* ERROR_ARGUMENT: it is no list of CPUs, or has a number of CPUS_MAX or more. */
struct error *cpus_parse(struct cpus *c, const char *text);

/* The CPUs that are online now. */
struct error *cpus_online(struct cpus *c);

/*
 * Those that may ever be: a per-CPU map has a value for each. Not by libbpf, which takes what one
 * read() gives for the whole list.
 */
struct error *cpus_possible(struct cpus *c);

#endif
