/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/setup.h"

#include "record/drain.h"
#include "record/failure.h"
#include "record/traces.h"

#include "common/buffer.h"
#include "common/clock.h"
#include "common/message.h"
#include "record/system/privileges.h"
#include "record/system/proc.h"
#include "record/unwinding.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SIDE_BAND_BYTES (1u << 20)

/* -------- before anything is opened -------- */

static int check_machine(void)
{
	char missing[128];

	if (!privileges_suffice(missing, sizeof(missing)))
		return fail("no permission to use BPF and perf events: missing %s; run as root, or "
			    "setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep on prof-record",
			    missing);
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return fail("the kernel has no BTF (/sys/kernel/btf/vmlinux: %s); one built with "
			    "CONFIG_DEBUG_INFO_BTF=y is needed",
			    strerror(errno));
	return 0;
}

static uint64_t highest_frequency(void)
{
	struct buffer text = { 0 };
	uint64_t hz = 0;

	if (!read_file("/proc/sys/kernel/perf_event_max_sample_rate", &text))
		hz = strtoull(buffer_string(&text), NULL, 10);
	buffer_release(&text);
	return hz;
}

/* --off-cpu: both kinds, unless -e named them already. */
static int add_waits(struct event_list *events)
{
	static const char *const names[] = { "off-cpu", "preempted" };

	for (size_t i = 0; i < 2; i++) {
		bool there = false;

		for (size_t j = 0; j < events->n; j++)
			there |= !strcmp(events->events[j].name, names[i]);
		if (!there && event_list_add(events, names[i]))
			return -1;
	}
	return 0;
}

static int choose_events(struct settings *settings)
{
	struct event_list *events = &settings->events;
	uint64_t highest = highest_frequency();

	if (!events->n) {
		if (event_list_add(events, "cycles"))
			return fail("%s", events->why);
		if (!event_is_available(&events->events[0])) {
			event_list_release(events);
			if (event_list_add(events, "cpu-clock"))
				return fail("%s", events->why);
			message_detail("no hardware counter for cycles here; using cpu-clock");
		}
	}
	if (settings->off_cpu && add_waits(events))
		return fail("%s", events->why);
	event_list_set_rate(events, settings->frequency, settings->period);
	for (size_t i = 0; i < events->n && highest; i++) {
		struct event *event = &events->events[i];

		if (event->frequency <= highest)
			continue;
		message_warning("%" PRIu64 " Hz are more than the kernel allows "
				"(/proc/sys/kernel/perf_event_max_sample_rate); using %" PRIu64,
				event->frequency, highest);
		event->frequency = highest;
	}
	if (event_list_resolve(events))
		return fail("%s", events->why);
	return 0;
}

static int choose_cpus(struct session *s)
{
	const char *list = s->settings->cpu_list;
	struct cpus wanted = { 0 };

	if (cpus_online(&s->cpus) || cpus_online(&s->sampled))
		return fail("cannot tell which CPUs are online");
	if (!list)
		return 0;
	if (cpus_parse(&wanted, list))
		return fail("-C %s: not a list of CPUs", list);
	s->sampled.n = 0;
	for (size_t i = 0; i < s->cpus.n; i++)
		for (size_t j = 0; j < wanted.n; j++)
			if (s->cpus.ids[i] == wanted.ids[j])
				s->sampled.ids[s->sampled.n++] = s->cpus.ids[i];
	if (s->sampled.n < wanted.n)
		message_warning("-C %s: only %zu of these CPUs are online", list, s->sampled.n);
	cpus_release(&wanted);
	return s->sampled.n ? 0 : fail("none of the CPUs %s is online", list);
}

/* An fd for each CPU and event, twice, and for each process or thread that is named. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void prepare_command(void)
{
	privileges_drop_all();
}

static int find_targets(struct session *s)
{
	const struct settings *settings = s->settings;
	char why[512];

	/* A command is to have the limits that we were given. */
	if (!settings->command)
		raise_limits();
	if (settings->cgroup && cgroup_find(&s->cgroup, settings->cgroup, why, sizeof(why)))
		return fail("%s", why);
	for (size_t i = 0; i < settings->pid_count; i++) {
		uint32_t process = 0, pid = settings->pids[i];
		int status = settings->by_thread ? target_add_thread(&s->target, pid)
						 : target_add_process(&s->target, pid, &process);

		if (status == -EINVAL)
			return fail("%" PRIu32 " is a thread of process %" PRIu32
				    "; give -p %" PRIu32,
				    pid, process, process);
		if (status == -ESRCH)
			return fail("no %s %" PRIu32 "; it may have ended",
				    settings->by_thread ? "thread" : "process", pid);
		if (status)
			return fail("cannot watch %s %" PRIu32 ": %s%s",
				    settings->by_thread ? "thread" : "process", pid,
				    strerror(-status), status == -EMFILE ? FAILURE_MORE_FILES : "");
	}
	if (settings->command) {
		int status = target_add_command(&s->target, settings->command, prepare_command);

		if (status)
			return fail("cannot start a process: %s", strerror(-status));
	}
	return 0;
}

/* -------- setting up -------- */

/* Half a second's worth of stacks of a hundred frames, between 1 and 64 MiB. */
static uint64_t ring_size(const struct session *s)
{
	uint64_t wanted = s->settings->ring_bytes, size = 4096;
	uint64_t rate = 0;

	if (!wanted) {
		for (size_t i = 0; i < s->settings->events.n; i++)
			rate += s->settings->events.events[i].frequency;
		wanted = rate * s->cpus.n * 1024 / 2;
		if (wanted < 1u << 20)
			wanted = 1u << 20;
		if (wanted > 64u << 20)
			wanted = 64u << 20;
	}
	while (size < wanted)
		size *= 2;
	return size;
}

static int open_sampler(struct session *s)
{
	struct sampler_options options = {
		.events = &s->settings->events,
		.cpus = &s->sampled,
		.some_cpus = s->sampled.n < s->cpus.n,
		.cgroup = s->settings->cgroup ? &s->cgroup : NULL,
		.all_processes = s->settings->everything,
		.by_thread = s->settings->by_thread,
		.inherit = !s->settings->no_inherit && !s->settings->by_thread,
		.command_pid = (uint32_t)s->target.command,
		.off_cpu = s->settings->waits,
		.unwind_by = s->settings->unwind_by,
	};
	const char *what = "";
	int status;

	raise_limits();
	s->ring_bytes = options.ring_bytes = ring_size(s);
	status = sampler_new(&s->sampler, &options, &what);
	if (!status)
		status = sampler_follow(s->sampler, &what);
	for (size_t i = 0; i < s->settings->pid_count && !status; i++) {
		what = "add a target";
		status = sampler_add_target(s->sampler, s->settings->pids[i]);
	}
	return status ? explain(what, status) : 0;
}

static void warn_of_made_code(const char *text, void *context)
{
	message_warning("%s", text);
}

static int open_world(struct session *s)
{
	/* Tasks come into a cgroup at any time, and must be known when they do; wakers are anyone.
	 */
	bool everything = s->settings->everything || s->settings->cgroup ||
			  s->settings->waits.wakers;
	struct kernel_symbols *kernel = NULL;
	int status = kernel_symbols_new(&kernel);

	if (!status)
		status = world_init(&s->world, everything, kernel);
	if (!status)
		status = sideband_new(&s->sideband, &s->cpus, SIDE_BAND_BYTES);
	if (status)
		return explain("follow mappings", status);
	if (kernel_symbols_hidden(kernel))
		message_warning(
			"the kernel hides its symbols' addresses; kernel frames will have no "
			"names (set /proc/sys/kernel/kptr_restrict to 0, or grant cap_syslog)");
	if (jit_new(&s->jit, &(struct jit_options){ .warn = warn_of_made_code }))
		return fail("out of memory");
	s->world.jit = s->jit;
	sideband_enable(s->sideband);
	if (everything)
		status = world_add_all(&s->world);
	if (s->target.command)
		status = world_add_command(&s->world, (uint32_t)s->target.command);
	for (size_t i = 0; i < s->target.pid_count && !status; i++)
		if (s->target.pids[i] != (uint32_t)s->target.command)
			status = world_add_process(&s->world, s->target.pids[i]);
	if (status == -ESRCH)
		return fail("a process ended before it could be recorded");
	if (status == -EACCES || status == -EPERM)
		return fail("no permission to read the process's mappings: missing cap_sys_ptrace; "
			    "run as "
			    "root, or grant it to prof-record");
	return status ? explain("read /proc", status) : 0;
}

static int catch_signals(struct session *s)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* Under nohup(1) a terminal that goes away is nothing to end for. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (s->settings->series.on_signal)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? fail("cannot catch signals: %s", strerror(errno)) : 0;
}

/*
 * The rings must be emptied however many threads want the CPUs, and that takes little time.
 * The command was forked before and does not have it from us; without privileges we stay as
 * we are.
 */
static void hurry(void)
{
	setpriority(PRIO_PROCESS, 0, -19);
}

int session_set_up(struct session *s)
{
	struct resolver_sources sources;
	int status;

	status = check_machine();
	if (!status)
		status = choose_events(s->settings);
	if (!status)
		status = choose_cpus(s);
	if (!status)
		status = catch_signals(s);
	if (!status)
		status = find_targets(s);
	hurry();
	if (!status)
		status = open_world(s);
	if (!status)
		status = open_sampler(s);
	if (!status)
		status = unwinding_open(s);
	if (status)
		return status;
	sources = (struct resolver_sources){ s->world.spaces, s->world.tasks, s->world.kernel,
					     s->jit, &s->settings->events };
	s->resolver = resolver_new(&sources);
	if (!s->resolver || drain_init(s) ||
	    losses_init(&s->losses, sampler_possible_cpus(s->sampler), clock_now()))
		return fail("out of memory");
	if (s->settings->stats && (status = overhead_count(&s->overhead)))
		message_warning("the kernel does not measure its programs: %s", strerror(-status));
	return traces_open(s);
}
