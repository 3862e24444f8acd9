/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_names.h"

#include "record/system/proc.h"
#include "record/system/process_reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_LINE_BYTES 65536 /* its first word ends by then */

struct search {
	const char *name;
	uint32_t *pids;
	size_t n;
	bool no_memory;
};

static bool has_name(uint32_t pid, const char *name)
{
	struct buffer text = { 0 };
	const char *word, *slash;
	char comm[64];
	bool same;

	if (!proc_comm(pid, pid, comm, sizeof(comm)) && !strcmp(comm, name))
		return true;
	/* A thread may have set a comm of its own, and a long name is cut there. */
	if (process_reader_file(pid, "cmdline", COMMAND_LINE_BYTES, &text))
		text.size = 0;
	word = buffer_string(&text);
	slash = strrchr(word, '/');
	same = !strcmp(slash ? slash + 1 : word, name);
	buffer_release(&text);
	return same;
}

static void visit(uint32_t pid, void *context)
{
	struct search *s = context;
	uint32_t *more;

	if (s->no_memory || pid == (uint32_t)getpid() || !has_name(pid, s->name))
		return;
	/* A zombie keeps its comm until its parent has taken notice. */
	if (!proc_runs(pid, NULL))
		return;
	more = reallocarray(s->pids, s->n + 1, sizeof(*more));
	if (!more) {
		s->no_memory = true;
		return;
	}
	s->pids = more;
	s->pids[s->n++] = pid;
}

struct error *process_names_find(const char *name, uint32_t **pids, size_t *n)
{
	struct search s = { .name = name, .pids = *pids, .n = *n };
	int status = proc_each("/proc", visit, &s);

	*pids = s.pids;
	*n = s.n;
	if (s.no_memory)
		return error_memory();
	return status ? error_system(status, "cannot read /proc") : NULL;
}
