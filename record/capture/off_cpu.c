/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/off_cpu.h"

#include "bpf/sampler.skel.h"
#include "record/capture/blocked.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Number of arguments that the tracepoint passes to programs; 0 if there is no such tracepoint. */
static int tracepoint_arguments(const struct btf *kernel, const char *name)
{
	const struct btf_type *type;
	char full[64];
	int id;

	if (!kernel)
		return 0;
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	id = btf__find_by_name_kind(kernel, full, BTF_KIND_TYPEDEF);
	/* typedef void (*btf_trace_x)(void *, the arguments...) */
	if (id > 0 &&
	    (type = btf__type_by_id(kernel, btf__type_by_id(kernel, (uint32_t)id)->type)) &&
	    btf_is_ptr(type) && (type = btf__type_by_id(kernel, type->type)) &&
	    btf_is_func_proto(type))
		return (int)btf_vlen(type) - 1;
	return 0;
}

bool off_cpu_ends_switch(const char *symbol)
{
	static const char name[] = "finish_task_switch";
	const char *suffix = symbol + strlen(name);

	return !strncmp(symbol, name, strlen(name)) && (!*suffix || *suffix == '.') &&
	       !strstr(suffix, ".cold");
}

static bool find_probe(char *name, size_t size)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256];
	bool found = false;

	/* Without kprobes there is no such folder. */
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		found = false;
	else
		while (f && !found && fgets(line, sizeof(line), f))
			if (sscanf(line, "%*s %*c %255s", symbol) == 1 &&
			    off_cpu_ends_switch(symbol))
				found = (size_t)snprintf(name, size, "%s", symbol) < size;
	if (f)
		fclose(f);
	return found;
}

static enum off_cpu_way find_way(struct off_cpu *o, const struct btf *kernel)
{
	if (tracepoint_arguments(kernel, "sched_exit_tp"))
		return OFF_CPU_AT_EXIT;
	return find_probe(o->probe, sizeof(o->probe)) ? OFF_CPU_BY_PROBE : OFF_CPU_WHEN_LEAVING;
}

/* What depends on the kernel. Its types are read once, which takes some 10 ms. */
static void ask_kernel(struct off_cpu *o, struct sampler_bpf *skeleton, bool when_leaving)
{
	struct btf *kernel = btf__load_vmlinux_btf();

	o->way = when_leaving ? OFF_CPU_WHEN_LEAVING : find_way(o, kernel);
	skeleton->rodata->switch_tells_state = tracepoint_arguments(kernel, "sched_switch") >= 4;
	btf__free(kernel);
}

void off_cpu_tell(struct off_cpu *o, struct sampler_bpf *skeleton, const struct event_list *events,
		  const struct off_cpu_options *options)
{
	*o = (struct off_cpu){ .wakers = options->wakers, .warn = options->warn };
	for (size_t i = 0; i < events->n; i++) {
		if (events->events[i].source != EVENT_SCHEDULER)
			continue;
		o->wanted = true;
		if (events->events[i].kind == PRF_EVENT_OFF_CPU)
			skeleton->rodata->off_cpu_event = (uint32_t)i;
		else
			skeleton->rodata->preempted_event = (uint32_t)i;
	}
	if (o->wanted)
		ask_kernel(o, skeleton, options->when_leaving);
	skeleton->rodata->off_cpu_min_ns = options->min_ns;
	skeleton->rodata->wakers = options->wakers;
	skeleton->rodata->walk_when_leaving = o->way == OFF_CPU_WHEN_LEAVING;
	bpf_program__set_autoload(skeleton->progs.expect_fork, o->wanted);
	bpf_program__set_autoload(skeleton->progs.expect_exec, o->wanted);
	bpf_program__set_autoload(skeleton->progs.note_switch, o->wanted);
	bpf_program__set_autoload(skeleton->progs.note_waker, o->wanted && o->wakers);
	bpf_program__set_autoload(skeleton->progs.end_of_switch,
				  o->wanted && o->way == OFF_CPU_AT_EXIT);
	bpf_program__set_autoload(skeleton->progs.end_of_switch_probe,
				  o->wanted && o->way == OFF_CPU_BY_PROBE);
	bpf_map__set_autocreate(skeleton->maps.waits, o->wanted);
	bpf_map__set_autocreate(skeleton->maps.givers, o->wanted && o->wakers);
	bpf_map__set_autocreate(skeleton->maps.kept_stacks,
				o->wanted && o->way == OFF_CPU_WHEN_LEAVING);
}

/* Ends an error after which the recording goes on without these waits. */
static void warn(const struct off_cpu *o, struct error *error)
{
	error = error_prefix(error,
			     "waits that begin before the recording or outlast it are missing");
	if (error && o->warn)
		o->warn(error->text, NULL);
	error_free(error);
}

void off_cpu_prepare(struct off_cpu *o, struct sampler_bpf *skeleton)
{
	if (o->wanted)
		warn(o, blocked_new(&o->blocked, skeleton));
}

static struct error *attach(struct bpf_link **link, const struct bpf_program *program)
{
	*link = bpf_program__attach(program);
	return *link ? NULL : error_system(errno, "cannot attach %s", bpf_program__name(program));
}

struct error *off_cpu_start(struct off_cpu *o, struct sampler_bpf *skeleton)
{
	struct error *error = NULL;

	if (!o->wanted)
		return NULL;
	/* If that fails so does what follows below, which is reported. */
	if (o->blocked)
		error_ignore(blocked_make_room(o->blocked));
	/* Programs that end waits are attached first: no wait may begin whose end is not seen. */
	if (o->way == OFF_CPU_AT_EXIT) {
		error = attach(&o->links[0], skeleton->progs.end_of_switch);
	} else if (o->way == OFF_CPU_BY_PROBE) {
		o->links[0] = bpf_program__attach_kprobe(skeleton->progs.end_of_switch_probe, false,
							 o->probe);
		if (!o->links[0])
			error = error_system(errno, "cannot probe %s", o->probe);
	}
	if (!error && o->wakers)
		error = attach(&o->links[1], skeleton->progs.note_waker);
	if (!error)
		error = attach(&o->links[2], skeleton->progs.note_switch);
	if (!error && o->blocked)
		warn(o, blocked_begin(o->blocked));
	return error;
}

void off_cpu_stop(struct off_cpu *o)
{
	if (o->blocked && o->links[2])
		warn(o, blocked_end(o->blocked));
	for (int i = OFF_CPU_LINKS - 1; i >= 0; i--) {
		bpf_link__destroy(o->links[i]);
		o->links[i] = NULL;
	}
}

void off_cpu_release(struct off_cpu *o)
{
	off_cpu_stop(o);
	blocked_free(o->blocked);
	o->blocked = NULL;
}
