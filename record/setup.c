/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/setup.h"

#include "record/failure.h"
#include "record/traces.h"

#include "common/buffer.h"
#include "common/clock.h"
#include "common/message.h"
#include "record/system/caller.h"
#include "record/system/descendants.h"
#include "record/system/opener.h"
#include "record/system/privileges.h"
#include "record/system/proc.h"
#include "record/system/process_reader.h"
#include "record/spaces/made_code.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SIDE_BAND_BYTES (1u << 20)
#define CHILDREN_LOOKS 10

/* -------- before anything is opened -------- */

static int check_machine(void)
{
	char missing[128], self[PATH_MAX];

	if (!privileges_suffice(missing, sizeof(missing))) {
		ssize_t n = readlink("/proc/self/exe", self, sizeof(self));

		return fail("no permission to use BPF and perf events: missing %s; run as root, or "
			    "once: sudo setcap " PRIVILEGES_WANTED "+ep %.*s",
			    missing, n > 0 ? (int)n : 11, n > 0 ? self : "prof-record");
	}
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

/* --off-cpu: adds both events of waits, unless -e named them already. */
static struct error *add_waits(struct event_list *events)
{
	static const char *const names[] = { "off-cpu", "preempted" };
	struct error *error = NULL;

	for (size_t i = 0; i < 2 && !error; i++) {
		bool there = false;

		for (size_t j = 0; j < events->n; j++)
			there |= !strcmp(events->events[j].name, names[i]);
		if (!there)
			error = event_list_add(events, names[i]);
	}
	return error;
}

static struct error *add_default(struct event_list *events)
{
	struct error *error = event_list_add(events, "cycles");

	if (error || event_is_available(&events->events[0]))
		return error;
	event_list_release(events);
	message_detail("no hardware counter for cycles here; using cpu-clock");
	return event_list_add(events, "cpu-clock");
}

static int choose_events(struct settings *settings)
{
	struct event_list *events = &settings->events;
	uint64_t highest = highest_frequency();
	struct error *error = NULL;

	if (!events->n)
		error = add_default(events);
	if (!error && settings->off_cpu)
		error = add_waits(events);
	if (error)
		return fail_error(error);
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
	for (size_t i = 0; i < events->n; i++)
		if (event_limit_ticks(&events->events[i]))
			message_warning("%s: the kernel's timers have no period below %d ns; "
					"using that",
					events->events[i].name, EVENT_TICK_LEAST_NS);
	error = event_list_resolve(events);
	return error ? fail_error(error) : 0;
}

static int choose_cpus(struct session *s)
{
	const char *list = s->settings->cpu_list;
	struct cpus wanted = { 0 };
	struct error *error = cpus_online(&s->sources.cpus);

	if (!error)
		error = cpus_online(&s->sources.sampled);
	if (!error && list)
		error = error_prefix(cpus_parse(&wanted, list), "-C %s", list);
	if (error)
		return fail_error(error);
	if (!list)
		return 0;
	s->sources.sampled.n = 0;
	for (size_t i = 0; i < s->sources.cpus.n; i++)
		for (size_t j = 0; j < wanted.n; j++)
			if (s->sources.cpus.ids[i] == wanted.ids[j])
				s->sources.sampled.ids[s->sources.sampled.n++] =
					s->sources.cpus.ids[i];
	if (s->sources.sampled.n && s->sources.sampled.n < wanted.n)
		message_warning("-C %s: only %zu of these CPUs are online", list,
				s->sources.sampled.n);
	cpus_release(&wanted);
	return s->sources.sampled.n ? 0 : fail("none of the CPUs %s is online", list);
}

/*
 * Raises the limit of open files: each CPU and event takes two, each named process or thread one.
 */
static void raise_limits(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Right before the command is run: it must not begin with what was granted to the recorder. */
static bool prepare_command(const void *caller)
{
	return (!caller || caller_become(caller)) && privileges_drop_for_command();
}

/* --user: as who called sudo. A recorder that is not root's runs it as its own user anyway. */
static struct error *add_command(struct session *s)
{
	struct target_command command = { .argv = s->settings->command,
					  .prepare = prepare_command };
	struct caller caller = { 0 };
	struct error *error = NULL;

	if (s->settings->as_user && !geteuid()) {
		error = error_prefix(caller_find(&caller), "--user");
		command.context = &caller;
	}
	if (!error)
		error = target_add_command(&s->target, &command);
	caller_release(&caller);
	return error;
}

/* Processes that were found by name come and go; those that were given by number must be there. */
static struct error *add_targets(struct session *s)
{
	const struct settings *settings = s->settings;
	struct error *error = NULL;

	for (size_t i = 0; i < settings->pid_count && !error; i++) {
		error = settings->by_thread ? target_add_thread(&s->target, settings->pids[i])
					    : target_add_process(&s->target, settings->pids[i]);
		if (error && error->kind == ERROR_ARGUMENT && settings->by_name[i]) {
			message_warning("left out: %s", error->text);
			error_free(error);
			error = NULL;
		}
	}
	if (!error && settings->pid_count && !s->target.n)
		error = error_new(ERROR_ARGUMENT, "all processes of that name have ended");
	return error;
}

static int find_targets(struct session *s)
{
	const struct settings *settings = s->settings;
	struct error *error = NULL;

	/* Not for a command, which inherits the limit and shall have the one that we were given. */
	if (!settings->command)
		raise_limits();
	if (settings->cgroup)
		error = cgroup_find(&s->cgroup, settings->cgroup);
	if (!error)
		error = add_targets(s);
	s->target.paced = settings->command &&
			  (settings->pid_count || settings->everything || settings->cgroup);
	if (!error && settings->command)
		error = add_command(s);
	return error ? fail_error(error) : 0;
}

/* -------- setting up -------- */

/* How often a CPU samples the event in a second, if that is known. */
static uint64_t event_rate(const struct event *event)
{
	uint64_t tick_ns = event_tick_ns(event);

	return tick_ns ? 1000000000 / tick_ns : event->frequency;
}

/* Room for half a second of stacks with a hundred frames each, between 1 and 64 MiB. */
static uint64_t ring_size(const struct session *s)
{
	uint64_t wanted = s->settings->ring_bytes, size = 4096;
	uint64_t rate = 0;

	if (!wanted) {
		for (size_t i = 0; i < s->settings->events.n; i++)
			rate += event_rate(&s->settings->events.events[i]);
		wanted = rate * s->sources.cpus.n * 1024 / 2;
		if (wanted < 1u << 20)
			wanted = 1u << 20;
		if (wanted > 64u << 20)
			wanted = 64u << 20;
	}
	while (size < wanted)
		size *= 2;
	return size;
}

static void show_warning(const char *text, void *context)
{
	message_warning("%s", text);
}

static void show_silent(const char *text)
{
	message_warning("%s", text);
}

/* Whether a process could not be read because it is no more. */
static bool has_ended(const struct error *error)
{
	return error_is(error, ESRCH) || error_is(error, ENOENT);
}

/* Others may begin with a runtime, and be gone before a program that walks it is loaded. */
static bool run_already(const struct session *s)
{
	return !s->settings->everything && !s->settings->cgroup &&
	       (s->target.paced || !s->target.command);
}

static struct sampler_options sampler_options(const struct session *s)
{
	const struct sources *sources = &s->sources;
	struct sampler_options options = {
		.events = &s->settings->events,
		.cpus = &sources->sampled,
		.some_cpus = sources->sampled.n < sources->cpus.n,
		.cgroup = s->settings->cgroup ? &s->cgroup : NULL,
		.all_processes = s->settings->everything,
		.by_thread = s->settings->by_thread,
		.inherit = !s->settings->no_inherit && !s->settings->by_thread,
		.command_pid = s->target.paced ? 0 : (uint32_t)s->target.command,
		.off_cpu = s->settings->waits,
		.ring_bytes = ring_size(s),
		.unwind_by = s->settings->unwind_by,
		.runtimes_later = run_already(s),
	};

	options.off_cpu.warn = show_warning;
	return options;
}

static int open_sampler(struct session *s)
{
	const struct sampler_options options = sampler_options(s);
	struct error *error;

	raise_limits();
	s->sources.ring_bytes = options.ring_bytes;
	error = sampler_new(&s->sources.sampler, &options);
	return error ? fail_kernel(error) : 0;
}

/*
 * The side band reports what changes before /proc is read, so that nothing is missed. Its records
 * are applied later, when there are listeners.
 */
static struct error *begin_world(struct session *s, bool everything)
{
	struct kernel_symbols *kernel = NULL;
	struct error *error = sideband_new(&s->sources.sideband, &s->sources.cpus, SIDE_BAND_BYTES);

	if (error)
		return error;
	sideband_enable(s->sources.sideband);
	error = kernel_symbols_new(&kernel);
	if (!error)
		error = world_init(&s->world, everything, kernel);
	if (!error)
		error = jit_new(&s->jit, &(struct jit_options){ .warn = show_warning });
	return error ? error : made_code_follow(s->world.spaces, s->jit);
}

/* Reads the processes that run already. */
static struct error *fill_world(struct session *s, bool everything)
{
	struct error *error = everything ? world_add_all(&s->world) : NULL;

	if (!error && s->target.command && !s->target.paced)
		error = world_add_command(&s->world, (uint32_t)s->target.command);
	for (size_t i = 0; i < s->target.pid_count && !error; i++) {
		if (s->target.pids[i] != (uint32_t)s->target.command)
			error = world_add_process(&s->world, s->target.pids[i]);
		/* Then there is nothing to record of it; that it ended is noticed as always. */
		if (has_ended(error)) {
			error_free(error);
			error = NULL;
		}
	}
	return error;
}

static int open_world(struct session *s)
{
	/*
	 * Tasks may enter a cgroup at any time and must be known by then; and any task may be a
	 * waker.
	 */
	bool everything = s->settings->everything || s->settings->cgroup ||
			  s->settings->waits.wakers;
	struct error *error = begin_world(s, everything);

	if (error)
		return fail_kernel(error);
	if (kernel_symbols_hidden(s->world.kernel))
		message_warning(
			"the kernel hides its symbols' addresses; kernel frames will have no names "
			"(grant cap_syslog, or set kernel.kptr_restrict to 0 and "
			"kernel.perf_event_paranoid, which is %d, to 1)",
			privileges_paranoid());
	error = fill_world(s, everything);
	if (has_ended(error)) {
		error_free(error);
		return fail("a process ended before it could be recorded");
	}
	if (error_is(error, EACCES) || error_is(error, EPERM)) {
		fail("%s%s", error->text,
		     privileges_can_trace()
			     ? ""
			     : ": missing cap_sys_ptrace; run as root, or grant it to prof-record");
		error_free(error);
		return 1;
	}
	return error ? fail_error(error) : 0;
}

/* -------- unwind tables -------- */

static struct error *add_to_unwinding(struct session *s, uint32_t pid)
{
	return spaces_knows(s->world.spaces, pid)
		       ? unwinding_add(&s->unwinding, pid, s->world.spaces)
		       : NULL;
}

struct adding {
	struct session *session;
	struct error *error;
};

static void add_running(uint32_t pid, void *context)
{
	struct adding *adding = context;

	if (!adding->error)
		adding->error = add_to_unwinding(adding->session, pid);
}

static int open_unwinding(struct session *s)
{
	struct unwinding_options options = {
		.sideband = s->sources.sideband,
		.world = &s->world,
		.jit = s->jit,
		.unwinder.memory_limit = s->settings->unwind_memory,
		.unwinder.built = unwinding_show_file,
		.java.refused = show_warning,
		.javascript.refused = show_warning,
		.scripts.refused = show_warning,
		.everything = s->settings->everything || s->settings->cgroup,
	};
	struct adding adding = { .session = s };
	struct error *error;

	if (s->settings->unwind_by != UNWIND_BY_TABLES)
		return 0;
	sampler_unwinder_maps(s->sources.sampler, &options.unwinder.maps);
	options.java.scripts_fd = sampler_scripts(s->sources.sampler);
	options.javascript.scripts_fd = sampler_scripts(s->sources.sampler);
	options.javascript.lists_fd = sampler_script_lists(s->sources.sampler);
	options.javascript.sent_fd = sampler_scripts_sent(s->sources.sampler);
	options.scripts.scripts_fd = sampler_scripts(s->sources.sampler);
	options.scripts.lists_fd = sampler_script_lists(s->sources.sampler);
	options.scripts.files_fd = sampler_script_files(s->sources.sampler);
	options.scripts.sent_fd = sampler_scripts_sent(s->sources.sampler);
	options.names = sampler_script_names(s->sources.sampler);
	error = unwinding_open(&s->unwinding, &options);
	if (error)
		return fail_kernel(error_prefix(error, "cannot set up unwinding"));
	if (options.everything)
		proc_each("/proc", add_running, &adding);
	for (size_t i = 0; i < s->target.pid_count; i++)
		add_running(s->target.pids[i], &adding);
	return adding.error ? fail_error(adding.error) : 0;
}

/* -------- the programs -------- */

/*
 * --children: makes the children that run already targets, too. Those that are forked meanwhile by
 * a process that is no target yet are found by looking again. There may be new ones at each look:
 * those of a target that forks all the time, which are targets from their beginning.
 */
static struct error *take_children(struct session *s)
{
	struct error *error = NULL;
	uint32_t *pids;
	size_t n = 1;

	for (int look = 0; look < CHILDREN_LOOKS && n && !error; look++) {
		error = descendants_find(s->target.pids, s->target.pid_count, &pids, &n);
		for (size_t i = 0; i < n && !error; i++) {
			error = target_add_process(&s->target, pids[i]);
			if (!error)
				error = sampler_add_target(s->sources.sampler, pids[i]);
			if (!error)
				error = world_add_process(&s->world, pids[i]);
			if (!error)
				error = add_to_unwinding(s, pids[i]);
			/* It has ended: the next look does not find it. */
			if (has_ended(error) || (error && error->kind == ERROR_ARGUMENT)) {
				error_free(error);
				error = NULL;
			}
		}
		free(pids);
	}
	return error;
}

/* What -p leaves out is easily missed: servers work in children that run for long. */
static struct error *count_children(const struct session *s)
{
	uint32_t *pids;
	size_t n;
	struct error *error = descendants_find(s->target.pids, s->target.pid_count, &pids, &n);

	free(pids);
	if (n)
		message_info("%zu %s already %s not recorded; --children records them, too", n,
			     n == 1 ? "child that runs" : "children that run",
			     n == 1 ? "is" : "are");
	return error;
}

/* Begins to follow the targets. What they have mapped is known by now. */
static int load_sampler(struct session *s)
{
	const struct sampler_options options = sampler_options(s);
	struct sources *sources = &s->sources;
	struct error *error = sampler_load(sources->sampler, &options);

	if (!error)
		error = sampler_follow(sources->sampler);
	/* A command is one of them, and is known to the sampler, or no target. */
	for (size_t i = 0; i < s->target.n && !error; i++)
		if (s->target.ids[i] != (uint32_t)s->target.command)
			error = sampler_add_target(sources->sampler, s->target.ids[i]);
	if (!error && s->settings->children)
		error = take_children(s);
	else if (!error && s->settings->pid_count && !s->settings->by_thread)
		error = count_children(s);
	return error ? fail_kernel(error) : 0;
}

/* What holds from the beginning: the next file may be asked for before there is a first one. */
static void prepare_signals(const struct session *s)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	if (s->settings->series.on_signal)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* To be called last: until then there is nothing to save, and a signal ends the program at once. */
static int catch_signals(struct session *s)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* nohup(1) ignores SIGHUP: then a closed terminal must not end the recording. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (s->settings->series.on_signal)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? fail("cannot catch signals: %s", strerror(errno)) : 0;
}

/*
 * Raises our priority: the rings must be emptied however busy the CPUs are, and that takes little
 * time. The command was forked before and does not inherit it. Without privileges it fails, which
 * is fine.
 */
static void hurry(void)
{
	setpriority(PRIO_PROCESS, 0, -19);
}

/* Opens the path of a sample, from the rings to the trace. */
static struct error *open_drain(struct session *s)
{
	struct resolver_sources sources = {
		.spaces = s->world.spaces,
		.tasks = s->world.tasks,
		.kernel = s->world.kernel,
		.jit = s->jit,
		.java = s->unwinding.java,
		.javascript = s->unwinding.javascript,
		.scripts = s->unwinding.scripts,
		.names = s->unwinding.names,
		.keep_interpreter = s->settings->keep_interpreter,
		.events = &s->settings->events,
	};
	struct error *error;

	s->drain = (struct drain){
		.sources = &s->sources,
		.world = &s->world,
		.jit = s->jit,
		.unwinding = &s->unwinding,
		.resolver = resolver_new(&sources),
		.trace = &s->trace,
		.losses = &s->losses,
		.events = &s->settings->events,
	};
	error = s->drain.resolver ? drain_init(&s->drain) : error_memory();
	return error ? error
		     : losses_init(&s->losses, sampler_possible_cpus(s->sources.sampler),
				   clock_now());
}

int session_set_up(struct session *s)
{
	struct error *error;
	int status = check_machine();

	if (!status)
		status = choose_events(s->settings);
	if (!status)
		status = choose_cpus(s);
	prepare_signals(s);
	/* Before there are other threads and a command, whose pipes it must not have. */
	error = status ? NULL : opener_start(show_silent);
	process_reader_start(show_silent);
	if (error)
		return fail_error(error);
	if (!status)
		status = find_targets(s);
	hurry();
	/* First, as the verifier may work while processes are read. */
	if (!status)
		status = open_sampler(s);
	if (!status)
		status = open_world(s);
	if (!status)
		status = open_unwinding(s);
	if (!status)
		status = load_sampler(s);
	if (status)
		return status;
	error = open_drain(s);
	if (error)
		return fail_error(error);
	error = s->settings->stats ? overhead_count(&s->overhead) : NULL;
	if (error)
		message_warning("%s", error->text);
	error_free(error);
	status = catch_signals(s);
	return status ? status : traces_open(s);
}
