/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/sampler.h"

#include "bpf/sampler.skel.h"
#include "common/buffer.h"
#include "record/capture/full_timer.h"
#include "record/capture/kernel_types.h"
#include "record/capture/sampler_maps.h"
#include "record/events/event_attributes.h"
#include "record/system/cpus.h"
#include "record/system/privileges.h"
#include "record/system/proc.h"
#include "record/system/thread.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_LIMIT (64u << 10)

/* One event on one CPU. */
struct attached {
	int fd;
	uint32_t cpu;
	size_t number;			   /* of the event */
	uint32_t opened;		   /* how many events were opened up to this one */
	const struct bpf_program *program; /* NULL: full_timer's, once that is loaded */
	struct bpf_link *link;		   /* once sampling began */
};

struct sampler {
	struct sampler_bpf *skeleton;
	struct ring rings[CLASS_COUNT];
	struct ring script_names;
	size_t ring_count;
	struct attached *attached;
	size_t attached_count;
	uint32_t opened; /* events so far, those of CPUs that came back included */
	struct bpf_link *follow[5];
	struct off_cpu off_cpu;
	struct full_timer full_timer;
	int types; /* the kernel's, for libbpf */
	size_t possible_cpus;
	bool follows; /* targets' forks and execs are followed */
	bool started; /* programs may be running */
};

/* libbpf has one print callback for the whole process, so its log is global, too. */
static struct buffer log_text;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* see full_timer.h */

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_DEBUG)
		return 0;
	pthread_mutex_lock(&log_lock);
	buffer_vprintf(&log_text, format, args);
	/* The verifier writes the reason for a rejection at the end, so the end is kept. */
	if (log_text.size > LOG_LIMIT) {
		memmove(log_text.data, log_text.data + log_text.size - LOG_LIMIT / 2,
			LOG_LIMIT / 2);
		log_text.size = LOG_LIMIT / 2;
	}
	pthread_mutex_unlock(&log_lock);
	return 0;
}

char *sampler_log(void)
{
	char *copy;

	pthread_mutex_lock(&log_lock);
	copy = strdup(buffer_string(&log_text));
	pthread_mutex_unlock(&log_lock);
	return copy;
}

/* The program is attached only when sampling begins; it runs from then on. */
static struct error *open_event(struct sampler *s, const struct event *event,
				struct perf_event_attr *attributes, struct attached attached)
{
	attached.fd = (int)syscall(SYS_perf_event_open, attributes, -1, (int)attached.cpu, -1,
				   PERF_FLAG_FD_CLOEXEC);
	if (attached.fd < 0 && errno == ENODEV)
		return NULL; /* the CPU went offline */
	if (attached.fd < 0)
		return error_system(errno, "cannot open perf event %s on CPU %" PRIu32, event->name,
				    attached.cpu);
	attached.opened = ++s->opened;
	s->attached[s->attached_count++] = attached;
	return NULL;
}

static struct error *open_counter(struct sampler *s, const struct event *event, size_t number,
				  uint32_t cpu)
{
	struct attached attached = { .cpu = cpu, .number = number };
	struct perf_event_attr attributes;

	if (!s->full_timer.alone)
		attached.program = s->full_timer.first ? s->skeleton->progs.enter_timer
						       : s->skeleton->progs.sample_timer;
	event_attributes(event, &attributes);
	return open_event(s, event, &attributes, attached);
}

/*
 * The program of a probe or tracepoint runs at each hit and on all CPUs, whichever CPU and period
 * the event was opened with.
 */
static struct error *open_places(struct sampler *s, const struct event *event, size_t number,
				 uint32_t cpu)
{
	struct attached attached = { .cpu = cpu, .number = number };
	struct perf_event_attr attributes;
	struct error *error = NULL;

	attached.program = event_is_probe(event) ? s->skeleton->progs.sample_probe
						 : s->skeleton->progs.sample_tracepoint;
	for (size_t i = 0; i < event_place_count(event) && !error; i++) {
		if (!event_place_attributes(event, i, &attributes))
			return error_new(ERROR_UNSUPPORTED,
					 "cannot open %s: this kernel has no %ss", event->name,
					 event->probe.form->device);
		error = open_event(s, event, &attributes, attached);
	}
	return error;
}

static size_t most_attached(const struct event_list *events, const struct cpus *cpus)
{
	size_t n = events->n * cpus->n;

	for (size_t i = 0; i < events->n; i++)
		n += event_place_count(&events->events[i]);
	return n;
}

static struct error *open_events(struct sampler *s, const struct sampler_options *options)
{
	const struct event_list *events = options->events;
	const struct cpus *cpus = options->cpus;
	struct error *error = NULL;

	s->attached = calloc(most_attached(events, cpus) + 1, sizeof(*s->attached));
	if (!s->attached)
		return error_memory();
	for (size_t i = 0; i < events->n && !error; i++) {
		const struct event *event = &events->events[i];

		error = open_places(s, event, i, cpus->ids[0]);
		for (size_t j = 0; j < cpus->n && event->source == EVENT_PERF && !error; j++)
			error = open_counter(s, event, i, cpus->ids[j]);
	}
	return error;
}

static struct error *attach(struct attached *a)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = TICK_COOKIE(a->number, a->opened));

	/* This also enables the event. The link now owns the fd. */
	a->link = bpf_program__attach_perf_event_opts(a->program, a->fd, &options);
	return a->link ? NULL
		       : error_system(errno, "cannot start sampling: attaching %s on CPU %" PRIu32,
				      bpf_program__name(a->program), a->cpu);
}

/* How many frames bpf_get_stack() finds, if that is less than what we ask for. */
static uint32_t kernel_walk_max(void)
{
	struct buffer text = { 0 };
	uint64_t n = MAX_USER_FRAMES;

	if (!read_file("/proc/sys/kernel/perf_event_max_stack", &text))
		n = strtoull(buffer_string(&text), NULL, 10);
	buffer_release(&text);
	return n < MAX_USER_FRAMES ? (uint32_t)n : MAX_USER_FRAMES;
}

/* Sets the programs' constants before the verifier sees them: it removes code that they disable. */
static void tell(struct sampler_bpf *skeleton, const struct sampler_options *options)
{
	const struct event_list *events = options->events;
	bool tracepoints = false, probes = false;

	skeleton->rodata->unwind_by = options->unwind_by;
	skeleton->rodata->kernel_walk_max = kernel_walk_max();
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
		skeleton->rodata->tick_ns[i] = event_tick_ns(&events->events[i]);
		skeleton->rodata->tick_modes[i] = event_tick_mode(&events->events[i]);
		tracepoints |= events->events[i].source == EVENT_TRACEPOINT;
		probes |= event_is_probe(&events->events[i]);
	}
	bpf_program__set_autoload(skeleton->progs.sample_tracepoint, tracepoints);
	bpf_program__set_autoload(skeleton->progs.sample_probe, probes);
}

static struct error *map_rings(struct sampler *s, const struct sampler_options *options)
{
	struct error *error = ring_map(
		&s->script_names, bpf_map__fd(s->skeleton->maps.script_names), SCRIPT_NAMES_BYTES);

	for (int i = 0; i < CLASS_COUNT && !error; i++)
		if (sampler_maps_use(options->events, i))
			error = ring_map(&s->rings[s->ring_count++],
					 bpf_map__fd(sampler_maps_ring(s->skeleton, i)),
					 options->ring_bytes);
	return error;
}

/*
 * Opens the programs, which shall get the kernel's types from the file, if there is one. libbpf
 * reads it when it loads them, but has to have its name now.
 */
static struct sampler_bpf *open_programs(const struct sampler *s)
{
	char path[64];
	LIBBPF_OPTS(bpf_object_open_opts, options);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->types);
	if (s->types >= 0)
		options.btf_custom_path = path;
	return sampler_bpf__open_opts(&options);
}

/* A thread writes the kernel's types, which takes nearly as long as to make the maps. */
struct types_writing {
	const struct btf *wanted;
	int fd;
	bool written;
	pthread_t thread;
};

static void *write_types(void *context)
{
	struct types_writing *w = context;

	privileges_drop_in_thread(PRIVILEGES_FOR_NOTHING);
	w->written = kernel_types_write(w->wanted, w->fd);
	return NULL;
}

static size_t count_timers(const struct event_list *events)
{
	size_t n = 0;

	for (size_t i = 0; i < events->n; i++)
		n += events->events[i].source == EVENT_PERF;
	return n;
}

/* Programs for other samples are loaded once, with all that they may need. */
static bool may_wait_for_runtimes(const struct sampler_options *options)
{
	return options->runtimes_later && count_timers(options->events) == options->events->n;
}

/* 0 or -errno. */
static int make_maps(struct sampler *s, const struct sampler_options *options)
{
	tell(s->skeleton, options);
	off_cpu_tell(&s->off_cpu, s->skeleton, options->events, &options->off_cpu);
	s->full_timer.warn = options->off_cpu.warn;
	return sampler_maps_make(s->skeleton, &(struct sampler_maps_options){
						      .events = options->events,
						      .possible_cpus = s->possible_cpus,
						      .ring_bytes = options->ring_bytes,
					      });
}

/* The same without the file of the kernel's types: libbpf reads all of them. */
static int make_maps_anew(struct sampler *s, const struct sampler_options *options)
{
	sampler_bpf__destroy(s->skeleton);
	if (s->types >= 0)
		close(s->types);
	s->types = -1;
	s->skeleton = open_programs(s);
	return s->skeleton ? make_maps(s, options) : -errno;
}

/* Makes the maps while the kernel's types are written. 0 or -errno. */
static int make_maps_and_types(struct sampler *s, const struct sampler_options *options)
{
	struct types_writing w = { bpf_object__btf(s->skeleton->obj), s->types };
	bool threaded = s->types >= 0 && !thread_start(&w.thread, write_types, &w);
	int status = make_maps(s, options);

	if (threaded)
		pthread_join(w.thread, NULL);
	return w.written || status ? status : make_maps_anew(s, options);
}

/* Opens the programs, which are loaded later, and makes their maps. */
static struct error *open_maps(struct sampler *s, const struct sampler_options *options)
{
	int status;

	s->types = memfd_create("types", MFD_CLOEXEC);
	s->skeleton = open_programs(s);
	status = s->skeleton ? make_maps_and_types(s, options) : -errno;
	return status ? error_system(status, "cannot make the maps of the BPF programs")
		      : map_rings(s, options);
}

static struct error *load(struct sampler *s, const struct sampler_options *options)
{
	bool later = may_wait_for_runtimes(options) &&
		     full_timer_foresee(&s->full_timer, s->skeleton, s->types);
	int status;

	bpf_program__set_autoload(s->skeleton->progs.enter_timer, later);
	bpf_program__set_autoload(s->skeleton->progs.sample_native, later);
	bpf_program__set_autoload(s->skeleton->progs.sample_timer,
				  count_timers(options->events) && !later && !s->full_timer.alone);
	status = sampler_bpf__load(s->skeleton);
	/* For libbpf a kernel that had no memory for its first array is one whose arrays cannot be
	 * mapped. */
	if (!status && !s->skeleton->bss)
		status = -ENOMEM;
	if (!status && later)
		status = full_timer_put_first(&s->full_timer);
	if (status)
		return error_system(status, "cannot load the BPF programs");
	off_cpu_prepare(&s->off_cpu, s->skeleton);
	return NULL;
}

static struct error *set_cgroup(struct sampler *s, const struct cgroup *cgroup)
{
	int fd = open(cgroup->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t zero = 0;
	int status = fd < 0 ? -errno
			    : bpf_map__update_elem(s->skeleton->maps.cgroups, &zero, sizeof(zero),
						   &fd, sizeof(fd), BPF_ANY);

	if (fd >= 0)
		close(fd);
	return status ? error_system(status, "cannot watch the cgroup %s", cgroup->path) : NULL;
}

static struct error *count_cpus(struct sampler *s)
{
	struct cpus possible = { 0 };
	struct error *error = cpus_possible(&possible);

	s->possible_cpus = possible.n;
	cpus_release(&possible);
	return error;
}

struct error *sampler_new(struct sampler **sampler, const struct sampler_options *options)
{
	struct sampler *s = calloc(1, sizeof(*s));
	struct error *error;

	if (!s)
		return error_memory();
	s->types = -1;
	buffer_clear(&log_text);
	libbpf_set_print(keep_log);
	s->follows = options->unwind_by == UNWIND_BY_TABLES ||
		     (!options->all_processes && !options->cgroup);
	error = count_cpus(s);
	if (!error)
		error = open_maps(s, options);
	s->follows |= s->off_cpu.wanted; /* children get room for their waits */
	if (error) {
		sampler_free(s);
		return error;
	}
	/* Without a thread for it the program is loaded with the others. */
	if (count_timers(options->events) && !may_wait_for_runtimes(options))
		full_timer_begin(&s->full_timer, s->skeleton, s->types);
	*sampler = s;
	return NULL;
}

struct error *sampler_load(struct sampler *s, const struct sampler_options *options)
{
	struct error *error = load(s, options);

	if (!error && options->cgroup)
		error = set_cgroup(s, options->cgroup);
	return error ? error : open_events(s, options);
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
	/* Who ends the recording does not wait for the verifier. */
	if (!full_timer_release(&s->full_timer))
		return;
	sampler_bpf__destroy(s->skeleton);
	if (s->types >= 0)
		close(s->types);
	free(s);
}

struct error *sampler_follow(struct sampler *s)
{
	const struct bpf_program *const programs[] = {
		s->skeleton->progs.follow_fork,
		s->skeleton->progs.follow_exec,
		s->skeleton->progs.forget_task,
		s->skeleton->progs.expect_fork, /* after follow_fork */
		s->skeleton->progs.expect_exec,
	};
	size_t n = s->off_cpu.wanted ? 5 : 3;

	for (size_t i = 0; i < n && s->follows; i++) {
		s->follow[i] = bpf_program__attach(programs[i]);
		if (!s->follow[i])
			return error_system(errno, "cannot follow forks");
	}
	return NULL;
}

struct error *sampler_add_target(struct sampler *s, uint32_t pid)
{
	uint64_t start = 0;
	int status = bpf_map__update_elem(s->skeleton->maps.targets, &pid, sizeof(pid), &start,
					  sizeof(start), BPF_ANY);

	if (status == -E2BIG)
		return error_new(ERROR_LIMIT,
				 "there are more targets than the %" PRIu32 " that can be followed",
				 bpf_map__max_entries(s->skeleton->maps.targets));
	return status ? error_system(status, "cannot add a target") : NULL;
}

uint64_t sampler_not_followed(const struct sampler *s)
{
	return s->skeleton->bss->not_followed;
}

void sampler_look(struct sampler *s)
{
	full_timer_look(&s->full_timer);
}

bool sampler_walked_runtimes(const struct sampler *s, uint64_t time_ns)
{
	return full_timer_was_used(&s->full_timer, time_ns);
}

struct error *sampler_ready(struct sampler *s)
{
	/* What has a runtime already is walked from the first sample on. */
	int status = full_timer_look(&s->full_timer) ? full_timer_wait(&s->full_timer) : 0;

	if (status)
		return error_system(status, "cannot load the BPF programs");
	for (size_t i = 0; i < s->attached_count; i++)
		if (!s->attached[i].program)
			s->attached[i].program = full_timer_program(&s->full_timer);
	return NULL;
}

struct error *sampler_start(struct sampler *s)
{
	struct error *error = sampler_ready(s);

	if (!error)
		error = off_cpu_start(&s->off_cpu, s->skeleton);
	s->started = true;
	for (size_t i = 0; i < s->attached_count && !error; i++)
		error = attach(&s->attached[i]);
	return error;
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

static struct error *open_anew(struct sampler *s, struct attached *a, const struct event *event)
{
	struct perf_event_attr attributes;
	int fd;

	event_attributes(event, &attributes);
	fd = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)a->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "cannot open perf event %s anew", event->name);
	/* Freeing the link closes the old fd. */
	if (a->link)
		bpf_link__destroy(a->link);
	else
		close(a->fd);
	a->link = NULL;
	a->fd = fd;
	a->opened = ++s->opened;
	return s->started ? attach(a) : NULL;
}

struct error *sampler_cpu_came_back(struct sampler *s, const struct event_list *events,
				    uint32_t cpu)
{
	struct error *error = NULL;

	/* Programs of probes run on all CPUs, wherever the probe was opened. */
	for (size_t i = 0; i < s->attached_count && !error; i++)
		if (s->attached[i].cpu == cpu &&
		    events->events[s->attached[i].number].source == EVENT_PERF)
			error = open_anew(s, &s->attached[i],
					  &events->events[s->attached[i].number]);
	return error;
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
	for (size_t i = 0; i < sizeof(s->follow) / sizeof(s->follow[0]); i++) {
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

int sampler_script_files(const struct sampler *s)
{
	return bpf_map__fd(s->skeleton->maps.script_files);
}

int sampler_script_lists(const struct sampler *s)
{
	return bpf_map__fd(s->skeleton->maps.script_lists);
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
		.first_slab = bpf_map__fd(s->skeleton->maps.unwind_first_slab),
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
	return s->possible_cpus;
}

struct error *sampler_read_counters(struct sampler *s, struct sample_counters *counters)
{
	size_t cpus = s->possible_cpus;
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
	return status ? error_system(status, "cannot read the counters of samples") : NULL;
}

static void add_phase(struct phase_time *to, const struct phase_time *from)
{
	to->samples += from->samples;
	to->ns += from->ns;
	for (int i = 0; i < PHASE_BINS; i++)
		to->bins[i] += from->bins[i];
}

struct error *sampler_read_phases(const struct sampler *s, struct phase_times *times)
{
	size_t cpus = s->possible_cpus;
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
	return status ? error_system(status, "cannot read the times of phases") : NULL;
}

static void add_runs(const struct bpf_program *program, uint64_t *runs, uint64_t *run_ns)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	/* Programs that were not needed were not loaded. */
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return;
	*runs += info.run_cnt;
	*run_ns += info.run_time_ns;
}

void sampler_runs(const struct sampler *s, uint64_t *runs, uint64_t *run_ns)
{
	struct bpf_program *program;

	*runs = *run_ns = 0;
	bpf_object__for_each_program(program, s->skeleton->obj) add_runs(program, runs, run_ns);
	/* That of a second edition runs within the first one's. */
	if (full_timer_program(&s->full_timer))
		add_runs(full_timer_program(&s->full_timer), runs, run_ns);
}
