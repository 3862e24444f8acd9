/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/java.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/runtimes.h"
#include "common/map.h"
#include "record/runtimes/hotspot.h"
#include "record/system/namespace.h"

/* A machine that takes longer than this to set itself up is stopped, or is none. */
#define SETUP_NS UINT64_C(10000000000)

_Static_assert(sizeof(struct hotspot_process) <= sizeof(((struct script_process *)0)->parameters),
	       "the kernel half gets it as the runtime's parameters");

enum java_state { JAVA_WAITS, JAVA_READY, JAVA_REFUSED };

struct java_process {
	uint32_t pid;
	enum java_state state;
	uint64_t start, file_offset; /* of the mapping of libjvm.so that made it known */
	uint64_t since_ns;	     /* when it was asked first; 0: not yet */
	struct elf_file libjvm;	     /* while it waits */
	struct hotspot machine;
	char path[];
};

struct java {
	struct java_options options;
	struct map by_pid; /* -> struct java_process * */
	size_t waiting;
	uint32_t ids;
	uint64_t now_ns;
};

struct java *java_new(const struct java_options *options)
{
	struct java *j = calloc(1, sizeof(*j));

	if (j)
		j->options = *options;
	return j;
}

static void process_free(struct java_process *p)
{
	elf_file_release(&p->libjvm);
	free(p);
}

static void free_process(const void *key, size_t size, uint64_t value, void *context)
{
	process_free((struct java_process *)(uintptr_t)value);
}

void java_free(struct java *j)
{
	if (!j)
		return;
	map_each(&j->by_pid, free_process, NULL);
	map_release(&j->by_pid);
	free(j);
}

static struct java_process *find(const struct java *j, uint32_t pid)
{
	const uint64_t *value = map_get(&j->by_pid, &pid, sizeof(pid));

	return value ? (struct java_process *)(uintptr_t)*value : NULL;
}

static bool is_libjvm(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strcmp(name, "/libjvm.so");
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	const char *path = m->object->definition.path;
	struct java *j = context;
	struct java_process *p;
	uint64_t *value;

	if (!is_libjvm(path) || find(j, pid))
		return;
	p = calloc(1, sizeof(*p) + strlen(path) + 1);
	value = p ? map_put(&j->by_pid, &pid, sizeof(pid), NULL) : NULL;
	if (!value) {
		free(p);
		return;
	}
	*p = (struct java_process){ .pid = pid, .start = m->start, .file_offset = m->offset };
	strcpy(p->path, path);
	*value = (uintptr_t)p;
	j->waiting++;
}

static void forget(struct java *j, uint32_t pid)
{
	struct java_process *p = find(j, pid);

	if (!p)
		return;
	j->waiting -= p->state == JAVA_WAITS;
	map_remove(&j->by_pid, &pid, sizeof(pid));
	if (p->state == JAVA_READY && j->options.scripts_fd >= 0)
		bpf_map_delete_elem(j->options.scripts_fd, &pid);
	process_free(p);
}

static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	forget(context, pid);
}

static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	forget(context, pid);
}

struct error *java_follow(struct java *j, struct spaces *newest)
{
	return spaces_listen(newest, &(struct space_listener){ .mapped = mapped,
							       .cleared = cleared,
							       .ended = ended,
							       .context = j });
}

static void settle(struct java *j, struct java_process *p, enum java_state state)
{
	p->state = state;
	j->waiting--;
	elf_file_release(&p->libjvm);
}

static void refuse(struct java *j, struct java_process *p, const char *why)
{
	const char *missing = p->machine.tables.missing;
	char text[512];

	settle(j, p, JAVA_REFUSED);
	if (!j->options.refused)
		return;
	snprintf(text, sizeof(text), "process %" PRIu32 ": Java code is not walked: %s: %s%s%s",
		 p->pid, p->path, why, missing ? ": " : "", missing ? missing : "");
	j->options.refused(text, j->options.context);
}

static void publish(struct java *j, struct java_process *p)
{
	struct script_process process = { .runtime = SCRIPT_HOTSPOT };

	p->machine.process.id = ++j->ids;
	memcpy(process.parameters, &p->machine.process, sizeof(p->machine.process));
	if (j->options.scripts_fd >= 0)
		bpf_map_update_elem(j->options.scripts_fd, &p->pid, &process, BPF_ANY);
	settle(j, p, JAVA_READY);
}

/* Opens the file, the first time. NULL, or why that cannot be. */
static const char *open_machine(struct java_process *p)
{
	struct target_memory memory = target_memory_of(p->pid);
	int fd = namespace_open_any(p->pid, p->path), status = -1;
	uint64_t address;

	if (fd >= 0) {
		status = elf_file_open(&p->libjvm, fd);
		close(fd);
	}
	if (status) {
		p->libjvm = (struct elf_file){ 0 };
		return "the file cannot be read";
	}
	if (!elf_file_offset_to_address(&p->libjvm, p->file_offset, &address))
		return "the file is another one now";
	return hotspot_init(&p->machine, &memory, &p->libjvm, p->start - address)
		       ? NULL
		       : "it exports no tables about itself";
}

static void ask(struct java *j, struct java_process *p)
{
	const char *why = p->since_ns ? NULL : open_machine(p);
	enum hotspot_state state = HOTSPOT_REFUSED;

	if (!p->since_ns)
		p->since_ns = j->now_ns;
	if (!why)
		state = hotspot_attach(&p->machine, &why);
	if (state == HOTSPOT_READY)
		publish(j, p);
	else if (state == HOTSPOT_REFUSED || j->now_ns - p->since_ns > SETUP_NS)
		refuse(j, p, why);
}

static void look(const void *key, size_t size, uint64_t value, void *context)
{
	struct java_process *p = (struct java_process *)(uintptr_t)value;

	if (p->state == JAVA_WAITS)
		ask(context, p);
}

void java_tick(struct java *j, uint64_t now_ns)
{
	if (!j->waiting)
		return;
	j->now_ns = now_ns;
	map_each(&j->by_pid, look, j);
}

bool java_is_waiting(const struct java *j)
{
	return j->waiting > 0;
}
