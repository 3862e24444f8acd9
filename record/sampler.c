/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/sampler.h"

#include "bpf/sampler.skel.h"
#include "common/buffer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_LIMIT (64u << 10)

/* One event on one CPU. */
struct attached {
	int fd;
	struct bpf_link *link;
};

struct sampler {
	struct sampler_bpf *skeleton;
	struct ring ring;
	struct attached *attached;
	size_t attached_count;
	struct bpf_link *follow[3];
	int possible_cpus;
	bool all_processes;
};

/* libbpf has one place for what it says in the whole process. */
static struct buffer log_text;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_DEBUG && log_text.size < LOG_LIMIT)
		buffer_vprintf(&log_text, format, args);
	return 0;
}

const char *sampler_log(void)
{
	return buffer_string(&log_text);
}

static int open_event(struct sampler *s, const struct event *event, uint32_t number, uint32_t cpu)
{
	struct attached *a = &s->attached[s->attached_count];
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = number);
	struct perf_event_attr attributes;
	int fd;

	event_attributes(event, &attributes);
	fd = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENODEV ? 0 : -errno; /* the CPU went offline */
	a->link = bpf_program__attach_perf_event_opts(s->skeleton->progs.sample_timer, fd,
						      &options);
	if (!a->link) {
		int status = -errno;

		close(fd);
		return status;
	}
	a->fd = fd; /* belongs to the link now */
	s->attached_count++;
	return 0;
}

static int open_events(struct sampler *s, const struct sampler_options *options)
{
	s->attached = calloc(options->events->n * options->cpus->n + 1, sizeof(*s->attached));
	if (!s->attached)
		return -ENOMEM;
	for (size_t i = 0; i < options->events->n; i++)
		for (size_t cpu = 0; cpu < options->cpus->n; cpu++) {
			int status = open_event(s, &options->events->events[i], (uint32_t)i,
						options->cpus->ids[cpu]);

			if (status)
				return status;
		}
	return 0;
}

static int load(struct sampler *s, const struct sampler_options *options)
{
	struct sampler_bpf *skeleton = sampler_bpf__open();
	int status;

	if (!skeleton)
		return -errno;
	s->skeleton = skeleton;
	skeleton->rodata->all_processes = options->all_processes;
	skeleton->rodata->by_thread = options->by_thread;
	skeleton->rodata->inherit = options->inherit;
	skeleton->rodata->recorder_pid = (uint32_t)getpid();
	skeleton->rodata->command_pid = options->command_pid;
	status = bpf_map__set_max_entries(skeleton->maps.timer_ring, (uint32_t)options->ring_bytes);
	return status ? status : sampler_bpf__load(skeleton);
}

int sampler_new(struct sampler **sampler, const struct sampler_options *options, const char **what)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return -ENOMEM;
	buffer_clear(&log_text);
	libbpf_set_print(keep_log);
	s->all_processes = options->all_processes;
	s->possible_cpus = libbpf_num_possible_cpus();
	*what = "load the BPF programs";
	status = s->possible_cpus < 0 ? s->possible_cpus : load(s, options);
	if (!status) {
		*what = "map the ring buffer";
		status = ring_map(&s->ring, bpf_map__fd(s->skeleton->maps.timer_ring),
				  options->ring_bytes);
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
	free(s->attached);
	ring_unmap(&s->ring);
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
	for (size_t i = 0; i < 3 && !s->all_processes; i++) {
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

int sampler_start(struct sampler *s)
{
	for (size_t i = 0; i < s->attached_count; i++)
		if (ioctl(s->attached[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	return 0;
}

void sampler_stop(struct sampler *s)
{
	/* All at once first, so that CPUs stop at about the same time. */
	for (size_t i = 0; i < s->attached_count; i++)
		ioctl(s->attached[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < s->attached_count; i++)
		bpf_link__destroy(s->attached[i].link);
	s->attached_count = 0;
	for (size_t i = 0; i < 3; i++) {
		bpf_link__destroy(s->follow[i]);
		s->follow[i] = NULL;
	}
}

size_t sampler_rings(const struct sampler *s)
{
	return 1;
}

struct ring *sampler_ring(struct sampler *s, size_t i)
{
	return &s->ring;
}

size_t sampler_possible_cpus(const struct sampler *s)
{
	return (size_t)s->possible_cpus;
}

int sampler_read_counters(struct sampler *s, struct sample_counters *counters)
{
	uint32_t zero = 0;

	return bpf_map__lookup_elem(s->skeleton->maps.counters, &zero, sizeof(zero), counters,
				    sizeof(*counters) * (size_t)s->possible_cpus, 0);
}
