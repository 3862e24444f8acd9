/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Waits of a child, with stacks taken when it comes back, and when it leaves. */

#include "record/capture/off_cpu.h"
#include "tests/unit/unit.h"

#include "bpf/sampler.skel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "tests/unit/error_check.h"

#include "record/capture/sampler.h"

#define WAITS 5
#define WAIT_NS 20000000

static void wait_often(int go)
{
	const struct timespec t = { 0, WAIT_NS };
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < WAITS; i++)
		nanosleep(&t, NULL);
	_exit(0);
}

/* A child that waits once it was written to. */
static pid_t start_child(int *go)
{
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		wait_often(fds[0]);
	close(fds[0]);
	*go = fds[1];
	return child;
}

struct seen {
	size_t waits, without_kernel, without_user, wakers;
	uint64_t ns;
};

static void look(struct seen *seen, const struct sample *s, uint32_t size, pid_t child)
{
	assert_true(size >= sizeof(*s));
	assert_int_equal(size,
			 sizeof(*s) + ((size_t)s->user_frames + s->kernel_frames + s->waker_frames +
				       SCRIPT_FRAME_WORDS * s->script_frames) *
					      8);
	assert_int_equal(s->pid, child);
	if (s->event != 0 || s->weight < WAIT_NS / 2)
		return;
	seen->waits++;
	seen->ns += s->weight;
	seen->without_kernel += !s->kernel_frames;
	seen->without_user += !s->user_frames;
	seen->wakers += s->waker_frames > 0;
}

static void record_waits(bool when_leaving, struct seen *seen)
{
	struct event_list events = { 0 };
	struct cpus cpus = { 0 };
	struct sampler_options options = {
		.events = &events,
		.cpus = &cpus,
		.off_cpu = { .min_ns = WAIT_NS / 2, .wakers = true, .when_leaving = when_leaving },
		.ring_bytes = 1 << 20,
		.unwind_by = UNWIND_BY_FRAME_POINTER,
	};
	struct sampler *sampler = NULL;
	struct error *error;
	const void *data;
	uint32_t size;
	int go, status;
	pid_t child;

	memset(seen, 0, sizeof(*seen));
	assert_no_error(event_list_add(&events, "off-cpu"));
	assert_no_error(cpus_online(&cpus));
	error = sampler_new(&sampler, &options);
	if (!error)
		error = sampler_load(sampler, &options);
	if (error) {
		print_message("%s\n", error->text);
		error_free(error);
		sampler_free(sampler);
		event_list_release(&events);
		cpus_release(&cpus);
		skip();
	}
	child = start_child(&go);
	assert_no_error(sampler_add_target(sampler, (uint32_t)child));
	assert_no_error(sampler_start(sampler));
	assert_int_equal(write(go, "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	sampler_stop(sampler);
	for (size_t i = 0; i < sampler_rings(sampler); i++)
		for (struct ring *r = sampler_ring(sampler, i); (data = ring_peek(r, &size));
		     ring_next(r))
			look(seen, data, size, child);
	close(go);
	sampler_free(sampler);
	event_list_release(&events);
	cpus_release(&cpus);
}

static void check_waits(bool when_leaving)
{
	struct seen seen;

	record_waits(when_leaving, &seen);
	/*
	 * There may be more of them, as for the pipe or within the exit, which have no stack when
	 * they began before the recording or without memory; and a loaded machine may run others
	 * for so long that a timer is over before the child waits for it.
	 */
	assert_true(seen.waits >= WAITS - 2);
	assert_true(seen.ns >= (uint64_t)(WAITS - 2) * WAIT_NS / 2);
	assert_true(seen.wakers >= WAITS - 2);
	assert_true(seen.waits - seen.without_kernel >= WAITS - 2);
	assert_true(seen.waits - seen.without_user >= WAITS - 2);
}

static void test_when_coming_back(void **state)
{
	check_waits(false);
}

static void test_when_leaving(void **state)
{
	check_waits(true);
}

static void test_name_of_the_end_of_a_switch(void **state)
{
	assert_true(off_cpu_ends_switch("finish_task_switch"));
	assert_true(off_cpu_ends_switch("finish_task_switch.isra.0"));
	assert_false(off_cpu_ends_switch("finish_task_switch.isra.0.cold"));
	assert_false(off_cpu_ends_switch("finish_task_switch.cold.99"));
	assert_false(off_cpu_ends_switch("finish_task_switch_other"));
	assert_false(off_cpu_ends_switch("finish_task"));
}

static char warned[512];

static void keep_warning(const char *text, void *context)
{
	snprintf(warned, sizeof(warned), "%s", text);
}

/* The sampler's programs are not loaded, so those that share its maps cannot be loaded either. */
static void test_warns_of_missing_waits(void **state)
{
	struct off_cpu_options options = { .warn = keep_warning };
	struct sampler_bpf *skeleton = sampler_bpf__open();
	struct event_list events = { 0 };
	struct off_cpu off_cpu;

	assert_non_null(skeleton);
	assert_no_error(event_list_add(&events, "off-cpu"));
	libbpf_set_print(NULL);
	off_cpu_tell(&off_cpu, skeleton, &events, &options);
	off_cpu_prepare(&off_cpu, skeleton);
	assert_null(off_cpu.blocked);
	assert_non_null(strstr(warned, "waits that begin before the recording or outlast it are "
				       "missing: cannot load the programs"));
	off_cpu_release(&off_cpu);
	event_list_release(&events);
	sampler_bpf__destroy(skeleton);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_when_coming_back),
	cmocka_unit_test(test_when_leaving),
	cmocka_unit_test(test_name_of_the_end_of_a_switch),
	cmocka_unit_test(test_warns_of_missing_waits),
};

UNIT_TESTS(tests);
