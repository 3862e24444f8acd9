/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/runtime_map.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void report(struct runtime_map *m, uint32_t pid, int status)
{
	char text[160], why[64];

	if (m->full || !m->refused)
		return;
	m->full = true;
	snprintf(why, sizeof(why), "%d processes with one are the most", SCRIPT_MAX_PROCESSES);
	snprintf(text, sizeof(text),
		 "process %" PRIu32 ": functions that its runtime runs are not seen: %s; others "
		 "may follow",
		 pid, status == -E2BIG ? why : strerror(-status));
	m->refused(text, m->context);
}

void runtime_map_put(struct runtime_map *m, uint32_t pid, const struct script_process *process)
{
	int status;

	if (m->fd < 0)
		return;
	m->any = true;
	status = bpf_map_update_elem(m->fd, &pid, process, BPF_ANY);
	if (status)
		report(m, pid, status);
}

enum script_runtime runtime_map_runtime(const struct runtime_map *m, uint32_t pid)
{
	struct script_process process;

	if (!m->any || bpf_map_lookup_elem(m->fd, &pid, &process))
		return SCRIPT_NONE;
	return (enum script_runtime)process.runtime;
}

void runtime_map_remove(const struct runtime_map *m, uint32_t pid)
{
	if (m->any)
		bpf_map_delete_elem(m->fd, &pid);
}
