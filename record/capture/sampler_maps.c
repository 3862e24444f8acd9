/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/sampler_maps.h"

#include "bpf/sampler.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

bool sampler_maps_use(const struct event_list *events, enum sample_class class)
{
	for (size_t i = 0; i < events->n; i++)
		if (event_class(&events->events[i]) == class)
			return true;
	return false;
}

struct bpf_map *sampler_maps_ring(const struct sampler_bpf *skeleton, enum sample_class class)
{
	switch (class) {
	case CLASS_SWITCH: return skeleton->maps.switch_ring;
	case CLASS_PROBE: return skeleton->maps.probe_ring;
	default: return skeleton->maps.timer_ring;
	}
}

/*
 * Whether programs of perf events may use a hash map that allocates, since Linux 6.1: a hash map
 * that does not takes room for all that it can ever hold, which takes ten milliseconds.
 */
static bool may_allocate(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 4, 4, 1, &options), program = -1;
	const struct bpf_insn instructions[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	if (map >= 0)
		program = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", instructions,
					sizeof(instructions) / sizeof(instructions[0]), NULL);
	if (program >= 0)
		close(program);
	if (map >= 0)
		close(map);
	return program >= 0;
}

/* The hash maps, most of which hold little. 0 or -errno. */
static int size_hashes(const struct sampler_bpf *skeleton)
{
	bool allocates = may_allocate();
	struct bpf_map *map;
	int status = 0;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (allocates && !status && bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			status = bpf_map__set_map_flags(map, bpf_map__map_flags(map) |
								     BPF_F_NO_PREALLOC);
	}
	return status;
}

/* 0 or -errno, as libbpf returns it. */
static int size_maps(const struct sampler_bpf *skeleton, const struct sampler_maps_options *options)
{
	uint32_t scratches = (uint32_t)options->possible_cpus * CLASS_COUNT;
	int status = size_hashes(skeleton);

	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.unwind_walks, scratches);
	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.script_walks, scratches);
	if (!status)
		status = bpf_map__set_max_entries(skeleton->maps.script_names, SCRIPT_NAMES_BYTES);
	for (int i = 0; i < CLASS_COUNT && !status; i++)
		status = bpf_map__set_max_entries(sampler_maps_ring(skeleton, i),
						  sampler_maps_use(options->events, i)
							  ? (uint32_t)options->ring_bytes
							  : (uint32_t)sysconf(_SC_PAGESIZE));
	return status;
}

/* An fd or -errno; inner_fd: of a map as those that the map holds, or 0. */
static int create_map(const struct bpf_map *map, int inner_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map),
		    .inner_map_fd = (uint32_t)inner_fd);

	return bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
			      bpf_map__value_size(map), bpf_map__max_entries(map), &options);
}

/* 0 or -errno. */
static int make_map(struct bpf_map *map)
{
	const struct bpf_map *inner = bpf_map__inner_map(map);
	int inner_fd = inner ? create_map(inner, 0) : 0, fd = inner_fd, status;

	if (inner_fd >= 0)
		fd = create_map(map, inner_fd);
	if (inner_fd > 0)
		close(inner_fd);
	if (fd < 0)
		return fd;
	status = bpf_map__reuse_fd(map, fd); /* a copy of it */
	close(fd);
	return status;
}

/* Storage of tasks needs the BTF of its values. */
static bool is_ours(const struct bpf_map *map)
{
	return bpf_map__autocreate(map) && !bpf_map__is_internal(map) &&
	       bpf_map__type(map) != BPF_MAP_TYPE_TASK_STORAGE;
}

int sampler_maps_make(const struct sampler_bpf *skeleton,
		      const struct sampler_maps_options *options)
{
	int status = size_maps(skeleton, options);
	struct bpf_map *map;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		if (!status && is_ours(map))
			status = make_map(map);
	}
	return status;
}
