/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/blocked.h"

#include "bpf/blocked.skel.h"
#include "bpf/sampler.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct blocked {
	struct blocked_bpf *skeleton;
	struct bpf_link *begin, *end;
};

/*
 * Both objects use the sampler's maps, except for the scratch and the constants, of which each has
 * its own.
 */
static int share_maps(struct blocked_bpf *skeleton, const struct sampler_bpf *sampler)
{
	struct bpf_map *map;
	int status = 0;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		const char *name = bpf_map__name(map);
		struct bpf_map *shared;

		if (bpf_map__is_internal(map) || !strcmp(name, "unwind_walks"))
			continue;
		shared = bpf_object__find_map_by_name(sampler->obj, name);
		if (shared && !status)
			status = bpf_map__reuse_fd(map, bpf_map__fd(shared));
	}
	return status;
}

static void tell(struct blocked_bpf *skeleton, const struct sampler_bpf *sampler)
{
	skeleton->rodata->all_processes = sampler->rodata->all_processes;
	skeleton->rodata->by_thread = sampler->rodata->by_thread;
	skeleton->rodata->by_cgroup = sampler->rodata->by_cgroup;
	skeleton->rodata->cgroup_id = sampler->rodata->cgroup_id;
	skeleton->rodata->by_cpu = sampler->rodata->by_cpu;
	memcpy((void *)(uintptr_t)skeleton->rodata->cpu_mask, sampler->rodata->cpu_mask,
	       sizeof(skeleton->rodata->cpu_mask));
	skeleton->rodata->unwind_by = sampler->rodata->unwind_by;
	skeleton->rodata->recorder_pid = sampler->rodata->recorder_pid;
	skeleton->rodata->off_cpu_min_ns = sampler->rodata->off_cpu_min_ns;
	skeleton->rodata->off_cpu_event = sampler->rodata->off_cpu_event;
	skeleton->rodata->preempted_event = sampler->rodata->preempted_event;
}

struct error *blocked_new(struct blocked **blocked, struct sampler_bpf *sampler)
{
	struct blocked *b = calloc(1, sizeof(*b));
	int status;

	if (!b)
		return error_memory();
	b->skeleton = blocked_bpf__open();
	status = b->skeleton ? 0 : -errno;
	if (!status) {
		tell(b->skeleton, sampler);
		status = share_maps(b->skeleton, sampler);
	}
	if (!status)
		status = blocked_bpf__load(b->skeleton);
	if (!status && !b->skeleton->bss) /* as in sampler.c */
		status = -ENOMEM;
	if (!status &&
	    !(b->begin = bpf_program__attach_iter(b->skeleton->progs.note_waiting, NULL)))
		status = -errno;
	if (!status &&
	    !(b->end = bpf_program__attach_iter(b->skeleton->progs.send_still_waiting, NULL)))
		status = -errno;
	if (status) {
		blocked_free(b);
		return error_system(status, "cannot load the programs for waits that last");
	}
	*blocked = b;
	return NULL;
}

void blocked_free(struct blocked *b)
{
	if (!b)
		return;
	bpf_link__destroy(b->begin);
	bpf_link__destroy(b->end);
	blocked_bpf__destroy(b->skeleton);
	free(b);
}

/*
 * Reading the iterator runs its program on every task. The program writes no text, so the read
 * returns end of file.
 */
static struct error *run(const struct bpf_link *link)
{
	int fd = bpf_iter_create(bpf_link__fd(link));
	struct error *error = NULL;
	ssize_t n;
	char byte;

	if (fd < 0)
		return error_system(errno, "cannot go through the tasks that wait");
	do
		n = read(fd, &byte, 1);
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		error = error_system(errno, "cannot go through the tasks that wait");
	close(fd);
	return error;
}

struct error *blocked_make_room(struct blocked *b)
{
	return run(b->begin);
}

struct error *blocked_begin(struct blocked *b)
{
	b->skeleton->bss->waits_end = true;
	return run(b->begin);
}

struct error *blocked_end(struct blocked *b)
{
	return run(b->end);
}
