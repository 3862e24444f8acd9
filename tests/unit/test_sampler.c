/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the verifier has to do for the programs: too much, and older kernels refuse them. */

#include "bpf/blocked.skel.h"
#include "bpf/sampler.skel.h"
#include "bpf/walk_copy.skel.h"
#include "record/capture/blocked.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTIONS_MAX 100000
#define LOG_BYTES 65536

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* As the recorder finds it out. */
static bool asks_kernel(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_find_vma, NULL) > 0;
}

static void check_instructions(bool time_phases)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;
	char *log = malloc(LOG_BYTES);
	int programs = 0;

	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	/* One by one, since they share the log. */
	bpf_object__for_each_program(program, skeleton->obj)
	{
		struct sampler_bpf *one = sampler_bpf__open();
		struct bpf_program *other;
		unsigned long instructions;
		const char *processed;

		assert_non_null(one);
		one->rodata->time_phases = time_phases;
		one->rodata->off_cpu_event = 0; /* or what ends a wait is dead code */
		one->rodata->unwind_asks_kernel = asks_kernel();
		one->rodata->walk_when_leaving = !strcmp(bpf_program__name(program), "note_switch");
		bpf_object__for_each_program(other, one->obj)
		{
			bool same = strcmp(bpf_program__name(other), bpf_program__name(program)) ==
				    0;

			bpf_program__set_autoload(other, same);
			if (same)
				bpf_program__set_log_level(other, 4);
			if (same)
				bpf_program__set_log_buf(other, log, LOG_BYTES);
		}
		memset(log, 0, LOG_BYTES);
		if (sampler_bpf__load(one)) {
			sampler_bpf__destroy(one);
			continue; /* not every kernel has every tracepoint; privileges may be
				     missing */
		}
		processed = strstr(log, "processed ");
		assert_non_null(processed);
		instructions = strtoul(processed + strlen("processed "), NULL, 10);
		print_message("%s: %lu instructions processed\n", bpf_program__name(program),
			      instructions);
		assert_true(instructions > 0 && instructions <= INSTRUCTIONS_MAX);
		programs++;
		sampler_bpf__destroy(one);
	}
	sampler_bpf__destroy(skeleton);
	free(log);
	if (!programs)
		skip();
}

static void test_verifier_instructions(void **state)
{
	check_instructions(false);
}

static void test_with_phases_timed(void **state)
{
	check_instructions(true);
}

/* See "Working on it" in CONTRIBUTING.md. */
static bool may_be_used_in_nmi(const struct bpf_map *map)
{
	switch ((int)bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_RINGBUF: return true;
	case BPF_MAP_TYPE_HASH:
		return !(bpf_map__map_flags(map) & BPF_F_NO_PREALLOC) &&
		       bpf_map__max_entries(map) >= 8;
	default: return false;
	}
}

/* A program at a switch is never in an NMI, and no other uses the storage of tasks. */
static void check_maps(const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (bpf_map__type(map) == BPF_MAP_TYPE_TASK_STORAGE || may_be_used_in_nmi(map))
			continue;
		fail_msg("%s must not be used in an NMI", bpf_map__name(map));
	}
}

static void test_maps_in_nmi(void **state)
{
	struct walk_copy_bpf *copy = walk_copy_bpf__open();
	struct blocked_bpf *blocked = blocked_bpf__open();
	struct sampler_bpf *sampler = sampler_bpf__open();

	assert_true(copy && blocked && sampler);
	check_maps(copy->obj);
	check_maps(blocked->obj);
	check_maps(sampler->obj);
	walk_copy_bpf__destroy(copy);
	blocked_bpf__destroy(blocked);
	sampler_bpf__destroy(sampler);
}

static bool add_target(const struct sampler_bpf *skeleton, uint32_t pid)
{
	uint64_t start = 0;

	return !bpf_map__update_elem(skeleton->maps.targets, &pid, sizeof(pid), &start,
				     sizeof(start), BPF_ANY);
}

/* There is room for so many targets; children that find none are counted. */
static void test_children_without_room(void **state)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;
	uint32_t pid = 0;
	pid_t child;

	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, program == skeleton->progs.follow_fork);
	if (sampler_bpf__load(skeleton) || sampler_bpf__attach(skeleton)) {
		sampler_bpf__destroy(skeleton);
		skip();
	}
	assert_true(add_target(skeleton, (uint32_t)getpid()));
	/* No process has such numbers. */
	while (pid < 1000000 && add_target(skeleton, (1u << 30) + pid))
		pid++;
	assert_in_range(pid, 1000, 999999);
	assert_int_equal(skeleton->bss->not_followed, 0);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(skeleton->bss->not_followed, 1);
	sampler_bpf__destroy(skeleton);
}

/* Whether a process has room for its waits; `start_ns`: when the current one began. */
static bool has_room(const struct sampler_bpf *skeleton, pid_t pid, uint64_t *start_ns)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status;
	uint8_t wait[4096];

	assert_true(bpf_map__value_size(skeleton->maps.waits) <= sizeof(wait));
	assert_true(fd >= 0);
	status = bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.waits), &fd, wait);
	close(fd);
	if (!status)
		memcpy(start_ns, wait, sizeof(*start_ns)); /* the first field */
	return !status;
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Whether a child that this process forks now has room for its waits. */
static bool child_has_room(const struct sampler_bpf *skeleton)
{
	pid_t child = start_child();
	uint64_t start_ns;
	bool has = has_room(skeleton, child, &start_ns);

	end_child(child);
	return has;
}

/* Without the programs at switches: nothing is allocated there, where the run queue is locked. */
static void test_children_have_room_for_waits(void **state)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;

	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	skeleton->rodata->off_cpu_event = 0;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, program == skeleton->progs.follow_fork ||
							   program == skeleton->progs.expect_fork);
	if (sampler_bpf__load(skeleton) || sampler_bpf__attach(skeleton)) {
		sampler_bpf__destroy(skeleton);
		skip();
	}
	assert_false(child_has_room(skeleton));
	assert_true(add_target(skeleton, (uint32_t)getpid()));
	assert_true(child_has_room(skeleton));
	sampler_bpf__destroy(skeleton);
}

/* The command becomes a target with its exec, which is no fork. */
static void test_command_has_room_for_waits(void **state)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;
	uint64_t start_ns;
	pid_t child;
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	close(go[0]);
	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	skeleton->rodata->off_cpu_event = 0;
	skeleton->rodata->command_pid = (uint32_t)child;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, program == skeleton->progs.expect_exec);
	if (sampler_bpf__load(skeleton) || sampler_bpf__attach(skeleton)) {
		sampler_bpf__destroy(skeleton);
		close(go[1]);
		waitpid(child, NULL, 0);
		skip();
	}
	assert_false(has_room(skeleton, child, &start_ns));
	assert_int_equal(write(go[1], "x", 1), 1);
	for (int i = 0; i < 10000 && !has_room(skeleton, child, &start_ns); i++)
		usleep(1000);
	assert_true(has_room(skeleton, child, &start_ns));
	close(go[1]);
	end_child(child);
	sampler_bpf__destroy(skeleton);
}

/* Those that are there already have it before a switch is seen, and only then waits that count. */
static void test_targets_have_room_for_waits(void **state)
{
	struct sampler_bpf *skeleton;
	struct bpf_program *program;
	struct blocked *blocked = NULL;
	uint64_t start_ns = 0;
	pid_t child = start_child();
	struct error *error = NULL;

	libbpf_set_print(say_nothing);
	skeleton = sampler_bpf__open();
	assert_non_null(skeleton);
	skeleton->rodata->off_cpu_event = 0;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, false);
	if (sampler_bpf__load(skeleton) || (error = blocked_new(&blocked, skeleton))) {
		error_free(error);
		sampler_bpf__destroy(skeleton);
		end_child(child);
		skip(); /* before Linux 5.18 */
	}
	assert_true(add_target(skeleton, (uint32_t)child));
	assert_false(has_room(skeleton, child, &start_ns));
	assert_no_error(blocked_make_room(blocked));
	assert_true(has_room(skeleton, child, &start_ns));
	assert_int_equal(start_ns, 0);
	/* It may not wait yet. */
	for (int i = 0; i < 10000 && !start_ns; i++) {
		assert_no_error(blocked_begin(blocked));
		assert_true(has_room(skeleton, child, &start_ns));
		usleep(1000);
	}
	assert_int_not_equal(start_ns, 0);
	end_child(child);
	blocked_free(blocked);
	sampler_bpf__destroy(skeleton);
}

/* How many instructions of a loaded program are atomic ones that return a value. */
static size_t count_fetches(const struct bpf_program *program)
{
	struct bpf_insn *instructions = calloc(100000, sizeof(*instructions));
	struct bpf_prog_info info = { .xlated_prog_insns = (uintptr_t)instructions,
				      .xlated_prog_len = 100000 * sizeof(*instructions) };
	uint32_t size = sizeof(info);
	size_t n = 0;

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	assert_true(info.xlated_prog_insns && info.xlated_prog_len > 0);
	for (size_t i = 0; i < info.xlated_prog_len / sizeof(*instructions); i++)
		n += BPF_CLASS(instructions[i].code) == BPF_STX &&
		     (instructions[i].code & 0xe0) == BPF_ATOMIC && instructions[i].imm & BPF_FETCH;
	free(instructions);
	return n;
}

static size_t count_all_fetches(bool asks)
{
	struct sampler_bpf *skeleton = sampler_bpf__open();
	size_t n;

	assert_non_null(skeleton);
	skeleton->rodata->unwind_asks_kernel = asks;
	skeleton->rodata->inherit = true;
	for (size_t i = 0; i < 2; i++)
		bpf_map__set_autocreate(i ? skeleton->maps.givers : skeleton->maps.kept_stacks,
					false);
	bpf_program__set_autoload(skeleton->progs.sample_probe, false);
	bpf_program__set_autoload(skeleton->progs.note_switch, false);
	bpf_program__set_autoload(skeleton->progs.note_waker, false);
	bpf_program__set_autoload(skeleton->progs.end_of_switch, false);
	bpf_program__set_autoload(skeleton->progs.end_of_switch_probe, false);
	if (sampler_bpf__load(skeleton)) {
		sampler_bpf__destroy(skeleton);
		skip();
	}
	n = count_fetches(skeleton->progs.sample_timer) +
	    count_fetches(skeleton->progs.follow_fork) + count_fetches(skeleton->progs.follow_exec);
	sampler_bpf__destroy(skeleton);
	return n;
}

/* Linux 5.15 cannot compile those for arm64. It has no bpf_find_vma() either. */
static void test_atomic_operations(void **state)
{
	libbpf_set_print(say_nothing);
	assert_int_equal(count_all_fetches(false), 0);
	if (asks_kernel())
		assert_true(count_all_fetches(true) > 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_verifier_instructions),
	cmocka_unit_test(test_maps_in_nmi),
	cmocka_unit_test(test_children_without_room),
	cmocka_unit_test(test_children_have_room_for_waits),
	cmocka_unit_test(test_command_has_room_for_waits),
	cmocka_unit_test(test_targets_have_room_for_waits),
	cmocka_unit_test(test_atomic_operations),
	cmocka_unit_test(test_with_phases_timed),
};

UNIT_TESTS(tests);
