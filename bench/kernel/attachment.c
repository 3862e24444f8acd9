/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/attachment.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/kernel/trivial.skel.h"
#include "bench/kernel/wait.skel.h"
#include "common/clock.h"

#define MAPS_MAX 64
#define RING_BYTES (UINT64_C(32) << 20)
#define SETTLE_NS UINT64_C(5000000000)

/* The same error, or NULL; but one that permissions explain is ERROR_UNAVAILABLE. */
static struct error *failed(struct error *error)
{
	bool forbidden = error_is(error, EPERM) || error_is(error, EACCES);
	struct error *refused;

	if (!forbidden)
		return error;
	refused = error_new(ERROR_UNAVAILABLE, "%s; run as root or with cap_bpf and cap_perfmon",
			    error->text);
	error_free(error);
	return refused;
}

void attachment_release(struct attachment *a)
{
	program_free(a->program);
	program_free(a->walking);
	program_free(a->departure);
	if (a->sampler)
		sampler_stop(a->sampler);
	unwinder_free(a->unwinder);
	javascript_free(a->javascript);
	scripts_free(a->scripts);
	spaces_free(a->spaces);
	objects_free(a->objects);
	sampler_free(a->sampler);
	event_list_release(&a->events);
	bpf_link__destroy(a->link);
	trivial_bpf__destroy(a->trivial);
	wait_bpf__destroy(a->wait);
	memset(a, 0, sizeof(*a));
}

/* -------- the sampler -------- */

/* The worker's mappings, and what follows them: the unwinder, and runtimes. */
static struct error *follow_worker(struct attachment *a, pid_t pid)
{
	struct unwinder_options options = { .memory_limit = 0 };
	const struct scripts_options scripts = { .scripts_fd = sampler_scripts(a->sampler),
						 .lists_fd = sampler_script_lists(a->sampler),
						 .files_fd = sampler_script_files(a->sampler),
						 .sent_fd = sampler_scripts_sent(a->sampler) };
	const struct javascript_options javascript = {
		.scripts_fd = scripts.scripts_fd,
		.lists_fd = scripts.lists_fd,
		.sent_fd = scripts.sent_fd,
	};
	struct error *error;

	a->objects = objects_new();
	a->spaces = a->objects ? spaces_new(a->objects, false) : NULL;
	a->scripts = scripts_new(&scripts);
	a->javascript = javascript_new(&javascript);
	if (!a->spaces || !a->scripts || !a->javascript)
		return error_memory();
	sampler_unwinder_maps(a->sampler, &options.maps);
	error = unwinder_new(&a->unwinder, &options);
	if (!error)
		error = unwinder_follow(a->unwinder, a->spaces);
	if (!error)
		error = scripts_follow(a->scripts, a->spaces);
	if (!error)
		error = javascript_follow(a->javascript, a->spaces);
	return error ? error : spaces_read(a->spaces, (uint32_t)pid, 0);
}

static struct error *build_tables(struct attachment *a, pid_t pid)
{
	struct error *error = follow_worker(a, pid);

	if (error)
		return failed(error_prefix(error, "cannot build unwind tables"));
	unwinder_flush(a->unwinder);
	if (!unwinder_settle(a->unwinder, SETTLE_NS))
		return error_new(ERROR_FAILED, "unwind tables were not ready within 5 s");
	unwinder_flush(a->unwinder);
	return NULL;
}

/*
 * Finds a program by the beginning of its name, among our own descriptors only: other processes may
 * have loaded the same program.
 */
static struct error *find_program(struct program **found, const char *name)
{
	for (int fd = 3; fd < 4096; fd++) {
		char path[64], line[128];
		bool is_program = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			is_program |= !strncmp(line, "prog_type:", 10);
		if (f)
			fclose(f);
		if (!is_program || error_ignore(program_from_fd(found, fd)))
			continue;
		if (!strncmp(program_name(*found), name, strlen(name)))
			return NULL;
		program_free(*found);
		*found = NULL;
	}
	return error_new(ERROR_FAILED, "the program %s is not found", name);
}

/* This machine does not have the event, so the benchmark is not available here. */
static struct error *no_event(struct error *error)
{
	struct error *unavailable = error_new(ERROR_UNAVAILABLE, "%.200s", error->text);

	error_free(error);
	return unavailable;
}

/* Loads, names the worker as target and builds its tables. */
static struct error *load(struct attachment *a, const struct worker *worker,
			  const struct sampler_options *options)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
	struct error *error = sampler_new(&a->sampler, options);

	if (!error)
		error = sampler_load(a->sampler, options);
	a->load_ns = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - start);
	if (!error)
		error = sampler_add_target(a->sampler, (uint32_t)worker->pid);
	if (error)
		return failed(error);
	if (options->unwind_by == UNWIND_BY_TABLES)
		return build_tables(a, worker->pid);
	return NULL;
}

static struct error *start(struct attachment *a)
{
	return failed(sampler_start(a->sampler));
}

struct error *attachment_sampler(struct attachment *a, const struct worker *worker,
				 const struct attachment_options *wanted)
{
	uint32_t id = wanted->cpu;
	const struct cpus cpus = { &id, 1 };
	const struct sampler_options options = {
		.events = &a->events,
		.cpus = &cpus,
		.some_cpus = true,
		.ring_bytes = RING_BYTES,
		.unwind_by = wanted->unwind_by,
		.time_phases = a->time_phases,
		.runtimes_later = true, /* as with -p */
	};
	struct error *error = event_list_parse(&a->events, wanted->event);

	if (!error)
		error = event_list_resolve(&a->events);
	if (error)
		return no_event(error);
	error = load(a, worker, &options);
	if (!error)
		error = find_program(&a->program, "enter_timer");
	if (!error)
		error = find_program(&a->walking, "sample_native");
	return error ? error : start(a);
}

static struct error *load_waits(struct attachment *a, const struct worker *worker)
{
	struct cpus cpus = { 0 };
	const struct sampler_options options = {
		.events = &a->events,
		.cpus = &cpus,
		.ring_bytes = RING_BYTES,
		.unwind_by = UNWIND_BY_TABLES,
	};
	struct error *error = cpus_online(&cpus);

	if (error)
		return error;
	error = event_list_add(&a->events, "off-cpu");
	if (!error)
		error = event_list_resolve(&a->events);
	error = error ? no_event(error) : load(a, worker, &options);
	cpus_release(&cpus);
	if (!error)
		error = find_program(&a->departure, "note_switch");
	if (!error)
		error = find_program(&a->program, "end_of_switch");
	return error;
}

struct error *attachment_waits(struct attachment *a, const struct worker *worker)
{
	struct error *error = load_waits(a, worker);

	return error ? error : start(a);
}

/* -------- a wait by test runs -------- */

/* Maps of one loader's object file have names that begin with that file's. */
static bool same_map(const struct bpf_map *map, const char *kernel_name)
{
	const char *name = bpf_map__name(map);

	if (!bpf_map__is_internal(map))
		return !strncmp(name, kernel_name, BPF_OBJ_NAME_LEN - 1);
	name = strrchr(name, '.');
	kernel_name = strrchr(kernel_name, '.');
	return name && kernel_name && !strcmp(name, kernel_name);
}

/* Makes `object` use the maps of `program`. */
static int share_maps(struct bpf_object *object, const struct program *program)
{
	uint32_t ids[MAPS_MAX];
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)ids };
	uint32_t size = sizeof(info);
	struct bpf_map *map;
	int status = bpf_obj_get_info_by_fd(program_fd(program), &info, &size) ? -errno : 0;

	for (uint32_t i = 0; !status && i < info.nr_map_ids && i < MAPS_MAX; i++) {
		struct bpf_map_info found = { 0 };
		uint32_t found_size = sizeof(found);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &found, &found_size))
			status = -errno;
		bpf_object__for_each_map(map, object)
		{
			if (status || !same_map(map, found.name))
				continue;
			status = bpf_map__value_size(map) == found.value_size
					 ? bpf_map__reuse_fd(map, fd)
					 : -EINVAL;
			if (!status)
				bpf_map__set_autocreate(map, true);
		}
		if (fd >= 0)
			close(fd);
	}
	return status;
}

/* With the maps of the recorder's programs, and no program but the two for test runs. */
static int load_wait(struct attachment *a)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int status;

	a->wait = wait_bpf__open();
	if (!a->wait)
		return -errno;
	bpf_object__for_each_program(program, a->wait->obj) bpf_program__set_autoload(
		program, program == a->wait->progs.whole_wait || program == a->wait->progs.nothing);
	/* Our own are only the internal maps (variables) that the programs of a wait do not use. */
	bpf_object__for_each_map(map, a->wait->obj)
		bpf_map__set_autocreate(map, bpf_map__is_internal(map));
	status = share_maps(a->wait->obj, a->departure);
	if (!status)
		status = share_maps(a->wait->obj, a->program);
	return status ? status : wait_bpf__load(a->wait);
}

struct error *attachment_test_waits(struct attachment *a, const struct worker *worker)
{
	struct error *error = load_waits(a, worker);
	int status;

	if (error)
		return error;
	status = load_wait(a);
	if (status)
		return error_new(ERROR_UNAVAILABLE,
				 "the kernel does not take the program for test runs: %s",
				 strerror(-status));
	program_free(a->departure);
	program_free(a->program);
	a->departure = a->program = NULL;
	error = program_from_fd(&a->program, bpf_program__fd(a->wait->progs.whole_wait));
	if (!error)
		error = program_from_fd(&a->departure, bpf_program__fd(a->wait->progs.nothing));
	return error;
}

static struct error *counters_of(struct attachment *a, struct attachment_samples *found)
{
	size_t n = sampler_possible_cpus(a->sampler);
	struct sample_counters *counters = calloc(n, sizeof(*counters));
	struct error *error = counters ? sampler_read_counters(a->sampler, counters)
				       : error_memory();

	for (size_t i = 0; !error && i < n; i++) {
		found->fired += counters[i].fired;
		found->sent += counters[i].sent;
		for (int j = 0; j < SAMPLE_LOST_COUNT; j++)
			found->lost += counters[i].lost[j];
	}
	free(counters);
	return failed(error);
}

struct error *attachment_drain(struct attachment *a, struct attachment_samples *found)
{
	*found = (struct attachment_samples){ .least_frames = UINT32_MAX };
	for (size_t i = 0; i < sampler_rings(a->sampler); i++) {
		struct ring *ring = sampler_ring(a->sampler, i);
		const struct sample *s;
		uint32_t size;

		for (; (s = ring_peek(ring, &size)); ring_next(ring)) {
			if (size < sizeof(*s))
				return error_new(ERROR_FAILED, "the ring holds what is no sample");
			found->samples++;
			found->bytes += size;
			found->rooted += s->walk_end == WALK_ROOT;
			found->kernel_frames += s->kernel_frames;
			found->script_frames += s->script_frames;
			if (s->user_frames < found->least_frames)
				found->least_frames = s->user_frames;
			if (s->user_frames > found->most_frames)
				found->most_frames = s->user_frames;
		}
	}
	if (a->scripts)
		name_ring_read(&(struct name_ring){ sampler_script_names(a->sampler), a->scripts,
						    a->javascript });
	return counters_of(a, found);
}

/* -------- the program that does nothing -------- */

struct error *attachment_trivial(struct attachment *a, unsigned int cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_PAGE_FAULTS,
					.sample_period = 1 };
	int fd;

	a->trivial = trivial_bpf__open_and_load();
	if (!a->trivial)
		return failed(error_system(errno, "cannot load the program that does nothing"));
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return failed(error_system(errno, "cannot open a page-fault event"));
	a->link = bpf_program__attach_perf_event(a->trivial->progs.trivial, fd);
	if (!a->link) {
		int error = errno;

		close(fd);
		return failed(error_system(error, "cannot attach to the page-fault event"));
	}
	return NULL;
}
