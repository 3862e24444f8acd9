/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/full_timer.h"

#include "bpf/sampler.skel.h"
#include "common/clock.h"
#include "record/system/privileges.h"
#include "record/system/thread.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool holds_something(const struct bpf_map *map)
{
	uint8_t key[64];

	return bpf_map__key_size(map) <= sizeof(key) &&
	       !bpf_map_get_next_key(bpf_map__fd(map), NULL, key);
}

static bool knows_runtime(const struct sampler_bpf *sampler)
{
	return holds_something(sampler->maps.scripts) ||
	       holds_something(sampler->maps.script_files);
}

bool full_timer_foresee(struct full_timer *f, struct sampler_bpf *sampler, int types)
{
	if (knows_runtime(sampler))
		return false;
	f->first = sampler;
	f->types = types;
	f->since_ns = UINT64_MAX;
	return true;
}

static int put(const struct full_timer *f, const struct bpf_program *edition)
{
	int fd = bpf_program__fd(edition);
	uint32_t zero = 0;

	return bpf_map__update_elem(f->first->maps.timer_programs, &zero, sizeof(zero), &fd,
				    sizeof(fd), BPF_ANY);
}

int full_timer_put_first(struct full_timer *f)
{
	return f->first ? put(f, f->first->progs.sample_native) : 0;
}

/*
 * All maps but the constants are the first edition's; it has no map that it does not need.
 * Variables are no map yet if there is no first edition, and nothing of timers' program.
 */
static int share_maps(struct sampler_bpf *full, const struct sampler_bpf *first)
{
	struct bpf_map *map;
	int status = 0;

	bpf_object__for_each_map(map, full->obj)
	{
		const struct bpf_map *shared = bpf_object__find_map_by_name(first->obj,
									    bpf_map__name(map));

		if (status || map == full->maps.rodata ||
		    (map == full->maps.bss && bpf_map__fd(shared) < 0))
			continue;
		if (bpf_map__fd(shared) < 0)
			status = bpf_map__set_autocreate(map, false);
		else
			status = bpf_map__reuse_fd(map, bpf_map__fd(shared));
	}
	return status;
}

/* All but the verifier's work. */
static int prepare(struct full_timer *f)
{
	char path[64];
	LIBBPF_OPTS(bpf_object_open_opts, options);
	struct bpf_program *program;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->types);
	if (f->types >= 0)
		options.btf_custom_path = path;
	f->skeleton = sampler_bpf__open_opts(&options);
	if (!f->skeleton)
		return -errno;
	memcpy(f->skeleton->rodata, f->first->rodata, sizeof(*f->skeleton->rodata));
	bpf_object__for_each_program(program, f->skeleton->obj)
		bpf_program__set_autoload(program, program == f->skeleton->progs.sample_timer);
	return share_maps(f->skeleton, f->first);
}

static int load(struct full_timer *f)
{
	int status = f->alone ? 0 : prepare(f);

	if (!status)
		status = sampler_bpf__load(f->skeleton);
	if (!status && !f->alone)
		status = put(f, f->skeleton->progs.sample_timer);
	if (!status)
		f->since_ns = clock_now();
	return status;
}

bool full_timer_was_used(const struct full_timer *f, uint64_t time_ns)
{
	return time_ns >= f->since_ns;
}

static void warn(const struct full_timer *f, int error)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "functions that runtimes run are not seen: cannot load the program that walks "
		 "them: %s",
		 strerror(error));
	if (f->warn)
		f->warn(text, NULL);
}

static void *run(void *context)
{
	struct full_timer *f = context;

	privileges_drop_in_thread(PRIVILEGES_FOR_PROGRAMS);
	f->status = load(f);
	if (f->status && !f->alone)
		warn(f, -f->status);
	return NULL;
}

/* Where there may be no more threads it is tried again at each look, and said once. */
static void begin(struct full_timer *f)
{
	int error = thread_start(&f->thread, run, f);

	f->begun = !error;
	if (error && !f->refused)
		warn(f, error);
	f->refused = error;
}

bool full_timer_begin(struct full_timer *f, const struct sampler_bpf *sampler, int types)
{
	f->first = sampler;
	f->types = types;
	f->alone = true;
	f->status = prepare(f);
	f->begun = !f->status && !thread_start(&f->thread, run, f);
	if (f->begun)
		return true;
	sampler_bpf__destroy(f->skeleton);
	f->skeleton = NULL;
	f->first = NULL;
	f->alone = false;
	return false;
}

const struct bpf_program *full_timer_program(const struct full_timer *f)
{
	return f->alone ? f->skeleton->progs.sample_timer : NULL;
}

bool full_timer_look(struct full_timer *f)
{
	if (!f->first || f->begun)
		return f->begun;
	if (knows_runtime(f->first))
		begin(f);
	return f->begun;
}

int full_timer_wait(struct full_timer *f)
{
	if (f->begun)
		pthread_join(f->thread, NULL);
	f->begun = false;
	f->first = NULL;
	return f->alone ? f->status : 0;
}

bool full_timer_release(struct full_timer *f)
{
	if (f->begun && pthread_tryjoin_np(f->thread, NULL))
		return false;
	f->begun = false;
	f->first = NULL;
	sampler_bpf__destroy(f->skeleton);
	f->skeleton = NULL;
	return true;
}
