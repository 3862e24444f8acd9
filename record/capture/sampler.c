/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/sampler.h"

#include "bpf/sampler.skel.h"
#include "common/buffer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCRIPT_NAMES_BYTES (2u << 20) /* about a thousand code objects */
#define LOG_LIMIT (64u << 10)

/* One event on one CPU. */
struct attached {
	int fd;
	uint32_t cpu;
	size_t number; /* of the event */
	const struct bpf_program *program;
	struct bpf_link *link; /* once sampling began */
};

struct sampler {
	struct sampler_bpf *skeleton;
	struct ring rings[CLASS_COUNT];
	struct ring script_names;
	size_t ring_count;
	struct attached *attached;
	size_t attached_count;
	struct bpf_link *follow[3];
	struct off_cpu off_cpu;
	int possible_cpus;
	bool follows; /* targets' forks and execs are followed */
	bool started; /* programs may be running */
};

/* libbpf has one print callback for the whole process, so its log is global, too. */
static struct buffer log_text;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_DEBUG)
		return 0;
	buffer_vprintf(&log_text, format, args);
	/* The verifier writes the reason for a rejection at the end, so the end is kept. */
	if (log_text.size > LOG_LIMIT) {
		memmove(log_text.data, log_text.data + log_text.size - LOG_LIMIT / 2,
			LOG_LIMIT / 2);
		log_text.size = LOG_LIMIT / 2;
	}
	return 0;
}

const char *sampler_log(void)
{
	return buffer_string(&log_text);
}

/* The program is attached only when sampling begins; it runs from then on. */
static int open_event(struct sampler *s, struct perf_event_attr *attributes,
		      const struct bpf_program *program, size_t number, uint32_t cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attributes, -1, (int)cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno; /* the CPU went offline */
	s->attached[s->attached_count++] = (struct attached){ fd, cpu, number, program, NULL };
	return 0;
}

static int open_counter(struct sampler *s, const struct event *event, size_t number, uint32_t cpu)
{
	struct perf_event_attr attributes;

	event_attributes(event, &attributes);
	return open_event(s, &attributes, s->skeleton->progs.sample_timer, number, cpu);
}

/*
 * The program of a probe runs at each hit and on all CPUs, whichever CPU and period the event was
 * opened with.
 */
static int open_probe(struct sampler *s, const struct event *event, size_t number, uint32_t cpu)
{
	struct perf_event_attr attributes;

	event_attributes(event, &attributes);
	attributes.sample_period = 1;
	if (event->source == EVENT_TRACEPOINT)
		return open_event(s, &attributes, s->skeleton->progs.sample_tracepoint, number,
				  cpu);
	if (!event_uprobe_type(&attributes.type))
		return -EOPNOTSUPP;
	attributes.uprobe_path = (uintptr_t)event->file;
	attributes.probe_offset = event->file_offset;
	return open_event(s, &attributes, s->skeleton->progs.sample_uprobe, number, cpu);
}

static int open_events(struct sampler *s, const struct sampler_options *options)
{
	const struct event_list *events = options->events;
	const struct cpus *cpus = options->cpus;
	int status = 0;

	s->attached = calloc(events->n * cpus->n + 1, sizeof(*s->attached));
	if (!s->attached)
		return -ENOMEM;
	for (size_t i = 0; i < events->n && !status; i++) {
		const struct event *event = &events->events[i];

		if (event->source == EVENT_TRACEPOINT || event->source == EVENT_UPROBE)
			status = open_probe(s, event, i, cpus->ids[0]);
		for (size_t j = 0; j < cpus->n && event->source == EVENT_PERF && !status; j++)
			status = open_counter(s, event, i, cpus->ids[j]);
	}
	return status;
}

static int attach(struct attached *a)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = a->number);

	/* This also enables the event. The link now owns the fd. */
	a->link = bpf_program__attach_perf_event_opts(a->program, a->fd, &options);
	return a->link ? 0 : -errno;
}

/* Sets the programs' constants before the verifier sees them: it removes code that they disable. */
static void tell(struct sampler_bpf *skeleton, const struct sampler_options *options)
{
	const struct event_list *events = options->events;
	bool tracepoints = false, uprobes = false;

	skeleton->rodata->unwind_by = options->unwind_by;
	skeleton->rodata->page_shift =
		(uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	skeleton->rodata->unwind_asks_kernel =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_find_vma, NULL) == 1;
	skeleton->rodata->all_processes = options->all_processes;
	skeleton->rodata->by_thread = options->by_thread;
	skeleton->rodata->inherit = options->inherit;
	skeleton->rodata->recorder_pid = (uint32_t)getpid();
	skeleton->rodata->command_pid = options->command_pid;
	skeleton->rodata->time_phases = options->time_phases;
	if (options->cgroup) {
		skeleton->rodata->by_cgroup = true;
		skeleton->rodata->cgroup_id = options->cgroup->id;
	}
	skeleton->rodata->by_cpu = options->some_cpus;
	for (size_t i = 0; i < options->cpus->n; i++)
		if (options->cpus->ids[i] < 64 * CPU_MASK_WORDS)
			skeleton->rodata->cpu_mask[options->cpus->ids[i] / 64] |=
				UINT64_C(1) << (options->cpus->ids[i] % 64);
	for (size_t i = 0; i < events->n; i++) {
		skeleton->rodata->periods[i] = event_period_rule(&events->events[i]);
		tracepoints |= events->events[i].source == EVENT_TRACEPOINT;
		uprobes |= events->events[i].source == EVENT_UPROBE;
	}
	bpf_program__set_autoload(skeleton->progs.sample_tracepoint, tracepoints);
	bpf_program__set_autoload(skeleton->progs.sample_uprobe, uprobes);
}

/* Whether any event uses this class. Rings of unused classes get the smallest size. */
static bool uses(const struct event_list *events, enum sample_class class)
{
	for (size_t i = 0; i < events->n; i++)
		if (event_class(&events->events[i]) == class)
			return true;
	return false;
}

static int load(struct sampler *s, const struct sampler_options *options)
{
	struct sampler_bpf *skeleton = sampler_bpf__open();
	int status = 0;

	if (!skeleton)
		return -errno;
	s->skeleton = skeleton;
	tell(skeleton, options);
	off_cpu_tell(&s->off_cpu, skeleton, options->events, &options->off_cpu);
	struct bpf_map *const rings[CLASS_COUNT] = {
		[CLASS_TIMER] = skeleton->maps.timer_ring,
		[CLASS_SWITCH] = skeleton->maps.switch_ring,
		[CLASS_PROBE] = skeleton->maps.probe_ring,
	};
	for (int i = 0; i < CLASS_COUNT && !status; i++)
		status = bpf_map__set_max_entries(
			rings[i], uses(options->events, i) ? (uint32_t)options->ring_bytes
							   : (uint32_t)sysconf(_SC_PAGESIZE));
	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.unwind_walks,
						  (uint32_t)s->possible_cpus * CLASS_COUNT);
	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.script_walks,
						  (uint32_t)s->possible_cpus * CLASS_COUNT);
	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.script_names, SCRIPT_NAMES_BYTES);
	if (!status)
		status = sampler_bpf__load(skeleton);
	if (!status)
		off_cpu_prepare(&s->off_cpu, skeleton);
	if (!status)
		status = ring_map(&s->script_names, bpf_map__fd(skeleton->maps.script_names),
				  SCRIPT_NAMES_BYTES);
	for (int i = 0; i < CLASS_COUNT && !status; i++)
		if (uses(options->events, i))
			status = ring_map(&s->rings[s->ring_count++], bpf_map__fd(rings[i]),
					  options->ring_bytes);
	return status;
}

static int set_cgroup(struct sampler *s, const struct cgroup *cgroup)
{
	int fd = open(cgroup->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t zero = 0;
	int status = fd < 0 ? -errno
			    : bpf_map__update_elem(s->skeleton->maps.cgroups, &zero, sizeof(zero),
						   &fd, sizeof(fd), BPF_ANY);

	if (fd >= 0)
		close(fd);
	return status;
}

int sampler_new(struct sampler **sampler, const struct sampler_options *options, const char **what)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return -ENOMEM;
	buffer_clear(&log_text);
	libbpf_set_print(keep_log);
	s->follows = options->unwind_by == UNWIND_BY_TABLES ||
		     (!options->all_processes && !options->cgroup);
	s->possible_cpus = libbpf_num_possible_cpus();
	*what = "load the BPF programs";
	status = s->possible_cpus < 0 ? s->possible_cpus : load(s, options);
	if (!status && options->cgroup) {
		*what = "watch the cgroup";
		status = set_cgroup(s, options->cgroup);
	}
	if (!status) {
		*what = "open perf events";
		status = open_events(s, options);
	}
	if (status) {
		sampler_free(s);
		return status;
	}
	*sampler = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	sampler_stop(s);
	off_cpu_release(&s->off_cpu);
	free(s->attached);
	for (size_t i = 0; i < s->ring_count; i++)
		ring_unmap(&s->rings[i]);
	ring_unmap(&s->script_names);
	sampler_bpf__destroy(s->skeleton);
	free(s);
}

int sampler_follow(struct sampler *s, const char **what)
{
	const struct bpf_program *const programs[] = {
		s->skeleton->progs.follow_fork,
		s->skeleton->progs.follow_exec,
		s->skeleton->progs.forget_task,
	};

	*what = "follow forks";
	for (size_t i = 0; i < 3 && s->follows; i++) {
		s->follow[i] = bpf_program__attach(programs[i]);
		if (!s->follow[i])
			return -errno;
	}
	return 0;
}

int sampler_add_target(struct sampler *s, uint32_t pid)
{
	uint64_t start = 0;

	return bpf_map__update_elem(s->skeleton->maps.targets, &pid, sizeof(pid), &start,
				    sizeof(start), BPF_ANY);
}

uint64_t sampler_not_followed(const struct sampler *s)
{
	return s->skeleton->bss->not_followed;
}

int sampler_start(struct sampler *s)
{
	int status = off_cpu_start(&s->off_cpu, s->skeleton);

	s->started = true;
	for (size_t i = 0; i < s->attached_count && !status; i++)
		status = attach(&s->attached[i]);
	return status;
}

/*
 * A detached program may still be running on another CPU, and its sample would be counted neither
 * as recorded nor as lost. membarrier(2) waits until every program that runs under RCU has ended.
 */
static void wait_for_programs(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(20000); /* membarrier(2) is refused with nohz_full */
}

static int open_anew(struct attached *a, const struct event *event, bool started)
{
	struct perf_event_attr attributes;
	int fd;

	event_attributes(event, &attributes);
	fd = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)a->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Freeing the link closes the old fd. */
	if (a->link)
		bpf_link__destroy(a->link);
	else
		close(a->fd);
	a->link = NULL;
	a->fd = fd;
	return started ? attach(a) : 0;
}

int sampler_cpu_came_back(struct sampler *s, const struct event_list *events, uint32_t cpu)
{
	int status = 0;

	/* Programs of probes run on all CPUs, wherever the probe was opened. */
	for (size_t i = 0; i < s->attached_count && !status; i++)
		if (s->attached[i].cpu == cpu &&
		    events->events[s->attached[i].number].source == EVENT_PERF)
			status = open_anew(&s->attached[i], &events->events[s->attached[i].number],
					   s->started);
	return status;
}

void sampler_stop(struct sampler *s)
{
	off_cpu_stop(&s->off_cpu);
	/* Disable all of them first, so that all CPUs stop at about the same time. */
	for (size_t i = 0; i < s->attached_count; i++)
		ioctl(s->attached[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < s->attached_count; i++)
		if (s->attached[i].link)
			bpf_link__destroy(s->attached[i].link);
		else
			close(s->attached[i].fd);
	s->attached_count = 0;
	for (size_t i = 0; i < 3; i++) {
		bpf_link__destroy(s->follow[i]);
		s->follow[i] = NULL;
	}
	if (s->started)
		wait_for_programs();
	s->started = false;
}

int sampler_scripts_sent(const struct sampler *s)
{
	return bpf_map__fd(s->skeleton->maps.script_sent);
}

struct ring *sampler_script_names(struct sampler *s)
{
	return &s->script_names;
}

int sampler_scripts(const struct sampler *s)
{
	return bpf_map__fd(s->skeleton->maps.scripts);
}

void sampler_unwinder_maps(const struct sampler *s, struct unwinder_maps *maps)
{
	*maps = (struct unwinder_maps){
		.segments = bpf_map__fd(s->skeleton->maps.unwind_segments),
		.pages = bpf_map__fd(s->skeleton->maps.unwind_pages),
		.rules = bpf_map__fd(s->skeleton->maps.unwind_rules),
		.slabs = bpf_map__fd(s->skeleton->maps.unwind_slabs),
		.processes = bpf_map__fd(s->skeleton->maps.unwind_processes),
		.files = bpf_map__fd(s->skeleton->maps.unwind_files),
	};
}

size_t sampler_rings(const struct sampler *s)
{
	return s->ring_count;
}

struct ring *sampler_ring(struct sampler *s, size_t i)
{
	return &s->rings[i];
}

size_t sampler_possible_cpus(const struct sampler *s)
{
	return (size_t)s->possible_cpus;
}

int sampler_read_counters(struct sampler *s, struct sample_counters *counters)
{
	size_t cpus = (size_t)s->possible_cpus;
	struct sample_counters *one = calloc(cpus, sizeof(*one));
	int status = one ? 0 : -ENOMEM;

	memset(counters, 0, cpus * sizeof(*counters));
	for (uint32_t class = 0; class < CLASS_COUNT && !status; class ++) {
		status = bpf_map__lookup_elem(s->skeleton->maps.counters, &class, sizeof(class),
					      one, sizeof(*one) * cpus, 0);
		for (size_t cpu = 0; cpu < cpus && !status; cpu++) {
			counters[cpu].fired += one[cpu].fired;
			counters[cpu].sent += one[cpu].sent;
			for (int i = 0; i < SAMPLE_LOST_COUNT; i++)
				counters[cpu].lost[i] += one[cpu].lost[i];
		}
	}
	free(one);
	return status;
}

static void add_phase(struct phase_time *to, const struct phase_time *from)
{
	to->samples += from->samples;
	to->ns += from->ns;
	for (int i = 0; i < PHASE_BINS; i++)
		to->bins[i] += from->bins[i];
}

int sampler_read_phases(const struct sampler *s, struct phase_times *times)
{
	size_t cpus = (size_t)s->possible_cpus;
	struct phase_times *of_cpus = calloc(cpus, sizeof(*of_cpus));
	uint32_t zero = 0;
	int status = of_cpus ? 0 : -ENOMEM;

	*times = (struct phase_times){ 0 };
	if (!status)
		status = bpf_map__lookup_elem(s->skeleton->maps.phase_times, &zero, sizeof(zero),
					      of_cpus, sizeof(*of_cpus) * cpus, 0);
	for (size_t cpu = 0; cpu < cpus && !status; cpu++)
		for (int i = 0; i < PHASE_COUNT; i++)
			add_phase(&times->phases[i], &of_cpus[cpu].phases[i]);
	free(of_cpus);
	return status;
}

void sampler_runs(const struct sampler *s, uint64_t *runs, uint64_t *run_ns)
{
	struct bpf_program *program;

	*runs = *run_ns = 0;
	bpf_object__for_each_program(program, s->skeleton->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		/* Programs that were not needed were not loaded. */
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
			continue;
		*runs += info.run_cnt;
		*run_ns += info.run_time_ns;
	}
}
