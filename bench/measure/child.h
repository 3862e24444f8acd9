/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_CHILD_H
#define BENCH_MEASURE_CHILD_H

/* Running another program, and what it cost. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child_options {
	const char *const *arguments; /* ends with NULL; the first is looked up in PATH */
	const char *stdout_path;      /* NULL: /dev/null */
	const char *stderr_path;      /* NULL: /dev/null */
	char *const *environment;     /* NULL: as it is */
	bool inherit;		      /* stdout and stderr are ours; the paths are not used */
};

struct child_cost {
	int status; /* exit status; 128 + signal */
	double elapsed_ns;
	double user_ns, system_ns;
	double waited_ns;    /* for a CPU, by its first thread; NaN: not known */
	uint64_t peak_bytes; /* resident memory */
};

/* Runs it to its end. -1: it could not be started, errno says why. */
int child_run(const struct child_options *options, struct child_cost *cost);

/* User and system time of all children that have ended. */
uint64_t child_cpu_ns(void);

/*
 * From now on this process and its children run on the last of their CPUs only, as far as the
 * system lets them: what a program does then does not depend on how its threads share the work.
 */
void child_use_one_cpu(void);

/* True when PATH holds such a program. */
bool child_exists(const char *program);

/* The path of this program, to run it again. False when it is not known, or is longer. */
bool child_self(char *path, size_t size);

#endif
