/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/program.h"

#include "common/clock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program {
	int fd;
	bool own_fd;
	struct bpf_program *program; /* of an object file */
	char name[128];
	struct bpf_prog_info info;
};

#define MAPS_MAX 256

static struct error *refused(const char *what)
{
	int error = errno;

	if (error == EPERM || error == EACCES)
		return error_new(ERROR_UNAVAILABLE,
				 "%s: permission denied; run as root or with cap_bpf, "
				 "cap_perfmon and cap_sys_admin",
				 what);
	return error_new(ERROR_UNAVAILABLE, "%s: %s", what, strerror(error));
}

/* -------- finding one -------- */

/* The one loaded program of this name, compared up to the length that the kernel keeps. */
static struct error *find_by_name(struct program *p, const char *name)
{
	uint32_t id = 0, found = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) ||
		    strncmp(info.name, name, sizeof(info.name) - 1)) {
			close(fd);
			continue;
		}
		if (found) {
			close(fd);
			return error_new(ERROR_FAILED,
					 "programs %u and %u are both named \"%s\"; choose by --id",
					 found, id, name);
		}
		found = id;
		p->fd = fd;
		p->own_fd = true;
	}
	if (!found && errno != ENOENT)
		return refused("cannot list BPF programs");
	if (!found)
		return error_new(ERROR_FAILED, "no loaded BPF program is named \"%s\"", name);
	return NULL;
}

static struct error *find(struct program *p, const struct program_choice *choice)
{
	if (choice->name)
		return find_by_name(p, choice->name);
	p->own_fd = true;
	p->fd = choice->pin ? bpf_obj_get(choice->pin) : bpf_prog_get_fd_by_id(choice->id);
	if (p->fd >= 0)
		return NULL;
	if (choice->pin)
		return refused(choice->pin);
	if (errno == ENOENT)
		return error_new(ERROR_FAILED, "there is no BPF program with id %u", choice->id);
	return refused("cannot open the BPF program");
}

static struct error *read_info(struct program *p)
{
	uint32_t size = sizeof(p->info);

	p->info = (struct bpf_prog_info){ 0 };
	if (bpf_obj_get_info_by_fd(p->fd, &p->info, &size))
		return refused("cannot read about the BPF program");
	if (!p->info.type && !p->info.id)
		return error_new(ERROR_FAILED, "not a BPF program");
	if (!*p->name && *p->info.name)
		snprintf(p->name, sizeof(p->name), "%s", p->info.name);
	else if (!*p->name)
		snprintf(p->name, sizeof(p->name), "id-%u", p->info.id);
	return NULL;
}

/* An empty one, to be filled and completed. */
static struct program *program_new(void)
{
	struct program *p = calloc(1, sizeof(*p));

	if (p)
		p->fd = -1;
	return p;
}

/* Frees it in case of an error, or reads about it. */
static struct error *complete(struct program **program, struct program *p, struct error *error)
{
	if (!error)
		error = read_info(p);
	if (error)
		program_free(p);
	else
		*program = p;
	return error;
}

struct error *program_open(struct program **program, const struct program_choice *choice)
{
	struct program *p = program_new();

	return p ? complete(program, p, find(p, choice)) : error_memory();
}

struct error *program_from_fd(struct program **program, int fd)
{
	struct program *p = program_new();

	if (!p)
		return error_memory();
	p->fd = fd;
	return complete(program, p, NULL);
}

struct error *program_from_object(struct program **program, struct bpf_program *from)
{
	struct program *p = program_new();

	if (!p)
		return error_memory();
	p->program = from;
	p->fd = bpf_program__fd(from);
	snprintf(p->name, sizeof(p->name), "%s", bpf_program__name(from));
	return complete(program, p, NULL);
}

void program_free(struct program *p)
{
	if (!p)
		return;
	if (p->own_fd && p->fd >= 0)
		close(p->fd);
	free(p);
}

struct bpf_program *program_of(const struct program *p)
{
	return p->program;
}

int program_fd(const struct program *p)
{
	return p->fd;
}

const char *program_name(const struct program *p)
{
	return p->name;
}

uint32_t program_id(const struct program *p)
{
	return p->info.id;
}

uint32_t program_type(const struct program *p)
{
	return p->info.type;
}

const char *program_type_name(const struct program *p)
{
	const char *name = libbpf_bpf_prog_type_str((enum bpf_prog_type)p->info.type);

	return name ? name : "unknown";
}

/* -------- what the kernel reports -------- */

/* "memlock:" of the descriptor of one map; 0 when it cannot be read. */
static uint64_t map_bytes(uint32_t id)
{
	char path[64], line[128];
	unsigned long long bytes = 0;
	int fd = bpf_map_get_fd_by_id(id);
	FILE *f;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	close(fd);
	return bytes;
}

struct error *program_sizes(const struct program *p, struct program_sizes *sizes)
{
	uint32_t maps[MAPS_MAX];
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX,
				      .map_ids = (uint64_t)(uintptr_t)maps };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(p->fd, &info, &size))
		return refused("cannot read about the BPF program");
	*sizes = (struct program_sizes){ .verified = info.verified_insns,
					 .xlated = info.xlated_prog_len,
					 .jited = info.jited_prog_len };
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++)
		sizes->map_bytes += map_bytes(maps[i]);
	return NULL;
}

struct error *program_counters(const struct program *p, struct program_counters *c)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(p->fd, &info, &size))
		return refused("cannot read about the BPF program");
	*c = (struct program_counters){ .runs = info.run_cnt,
					.run_ns = info.run_time_ns,
					.recursion_misses = info.recursion_misses,
					.time_ns = clock_now() };
	return NULL;
}

struct error *program_enable_statistics(int *fd)
{
	*fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return *fd < 0 ? refused("cannot switch BPF statistics on") : NULL;
}

/* -------- running it -------- */

/* Whether BPF_PROG_TEST_RUN runs programs of this type, and takes `repeat` with it. */
static bool can_run(const struct program *p, bool *repeats)
{
	*repeats = true;
	switch (p->info.type) {
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_SYSCALL: *repeats = false; return true;
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_CGROUP_SKB:
	case BPF_PROG_TYPE_LWT_IN:
	case BPF_PROG_TYPE_LWT_OUT:
	case BPF_PROG_TYPE_LWT_XMIT:
	case BPF_PROG_TYPE_FLOW_DISSECTOR: return true;
	default: return false;
	}
}

struct error *program_run(const struct program *p, const struct program_input *input,
			  uint64_t times, struct program_output *output)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = input->context,
		    .ctx_size_in = (uint32_t)input->context_size);
	bool repeats;

	if (!can_run(p, &repeats))
		return error_new(ERROR_UNAVAILABLE,
				 "the kernel has no test run for programs of type %s",
				 program_type_name(p));
	if (repeats) {
		options.repeat = (int)times;
		options.data_in = input->data;
		options.data_size_in = (uint32_t)input->data_size;
		times = 1;
	}
	while (times--)
		if (bpf_prog_test_run_opts(p->fd, &options))
			return refused("test run");
	output->result = options.retval;
	output->run_ns = repeats ? options.duration : NAN;
	return NULL;
}
