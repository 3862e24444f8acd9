/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/session.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/failure.h"
#include "record/setup.h"
#include "record/status.h"
#include "record/system/opener.h"
#include "record/system/privileges.h"
#include "record/traces.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SETTLE_NS UINT64_C(500000000)
/* At most so many side band rings are polled; the others are read when something else wakes us. */
#define SIDE_BANDS_MAX 1024
#define STATUS_NS UINT64_C(1000000000)
#define LET_GO_NS UINT64_C(10000000000)
#define FIRST_WAIT_MS 10
/* How long messages wait for a reader, and how long in a recording. */
#define PATIENCE_MS 500
#define RECORDING_PATIENCE_MS 100
#define NAMES_WAIT_MS 10
/* How long names of the last files are looked for when a service is stopped, or without a word. */
#define NAMES_NS UINT64_C(1000000000)
#define TABLES_WAIT_NS UINT64_C(10000000)
/*
 * Records of the side band that come so soon after others are read together: a program that begins
 * maps all of its files, one after the other. The others may be of processes that are no targets,
 * and whoever sees nothing else looks less often.
 */
#define TOGETHER_MS 1
#define TOGETHER_MOST_MS 4

/* When the work that is not done in each round is due next. */
struct due {
	uint64_t settle_ns, status_ns, let_go_ns;
};

/* The rings of the side band that are polled, put into `fds`; how many. */
static size_t add_rings(const struct session *s, struct pollfd *fds)
{
	size_t n = s->unwinding.lookahead ? sideband_rings(s->sources.sideband) : 0;

	if (n > SIDE_BANDS_MAX)
		n = SIDE_BANDS_MAX;
	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = sideband_fd(s->sources.sideband, i),
					  .events = POLLIN };
	return n;
}

/* How many of these rings have records. */
static int count_rings(struct pollfd *fds, size_t n)
{
	int ready = 0;

	for (size_t i = 0; i < n; i++) {
		ready += fds[i].revents != 0;
		/* The CPU went offline: its fd would end every poll() at once. */
		if (fds[i].revents & (POLLHUP | POLLERR))
			fds[i].fd = -1;
	}
	return ready;
}

/* As poll(), but 0 when a signal came, and -errno. */
static int wait_for_fds(struct pollfd *fds, size_t n, int ms)
{
	int ready = poll(fds, n, ms);

	return ready >= 0 ? ready : errno == EINTR ? 0 : -errno;
}

/*
 * Records have come: waits until it is time to look at them, or for `most_ms`. Returns how many of
 * `fds` are ready by then.
 */
static int wait_for_more(struct session *s, struct pollfd *fds, size_t n, int most_ms)
{
	uint64_t due_ns = s->looked_ns + s->together_ms * UINT64_C(1000000);
	int ms = clock_wait_ms(clock_now(), due_ns, most_ms);

	return ms ? wait_for_fds(fds, n, ms) : 0;
}

/* Records have been looked at: how soon again depends on whether targets had a part in them. */
static void note_look(struct session *s, uint64_t now_ns, bool followed)
{
	if (followed)
		s->together_ms = TOGETHER_MS;
	else if (s->together_ms < TOGETHER_MOST_MS)
		s->together_ms *= 2;
	s->looked_ns = now_ns;
}

/* Others take answers, too: these are not what the recording thread wakes up for. */
static bool took_answers(void)
{
	uint64_t before = opener_answers();

	opener_look(clock_now());
	return opener_answers() != before;
}

/*
 * As poll(), for `fds` with room for SIDE_BANDS_MAX more, of which the last is that of the opener.
 * While it waits, it updates the unwind tables as soon as a target maps code: programs may live for
 * milliseconds only.
 */
static int poll_and_look_ahead(struct session *s, struct pollfd *fds, size_t n, int ms)
{
	uint64_t until = clock_now() + (uint64_t)ms * 1000000, now, followed;
	size_t rings = add_rings(s, fds + n);

	for (;;) {
		int ready = wait_for_fds(fds, n + rings, ms);
		int with_records = ready > 0 ? count_rings(fds + n, rings) : 0;

		ready -= with_records;
		if (with_records && !ready)
			ready = wait_for_more(s, fds, n, ms);
		if (ready == 1 && fds[n - 1].revents && !took_answers())
			ready = 0;
		now = clock_now();
		followed = unwinding_followed(&s->unwinding);
		/*
		 * Fails only without memory, and then tables are missing; the next round reports
		 * it.
		 */
		error_free(unwinding_run(&s->unwinding));
		sampler_look(s->sources.sampler);
		if (with_records)
			note_look(s, now, unwinding_followed(&s->unwinding) != followed);
		if (ready || now >= until)
			return ready;
		/* Samples that wait for tables take much room in their ring. */
		if (until > now + TABLES_WAIT_NS && drain_holds_since(&s->drain, now) != UINT64_MAX)
			until = now + TABLES_WAIT_NS;
		/* A machine that was noticed meanwhile is asked soon. */
		ms = unwinding_wait_ms(&s->unwinding, (int)((until - now) / 1000000) + 1);
	}
}

/* The next signal that has arrived, or 0. */
static int read_signal(struct session *s)
{
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo != SIGUSR2)
		s->ending = true;
	return (int)info.ssi_signo;
}

/* Waits until an fd is ready or the time is over. Returns the signal that arrived, 0 or -errno. */
static int wait_for(struct session *s, int ms)
{
	struct pollfd fds[64 + SIDE_BANDS_MAX] = { { .fd = s->signal_fd, .events = POLLIN } };
	size_t n = 1;
	int ready;

	/* The ends of further targets are found by target_look() in each round. */
	for (size_t i = 0; i < s->target.n && n < 63 && !s->target.folders; i++)
		if (s->target.pidfds[i] >= 0)
			fds[n++] = (struct pollfd){ .fd = s->target.pidfds[i], .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = opener_fd(), .events = POLLIN };
	ready = poll_and_look_ahead(s, fds, n, ms);
	if (ready < 0)
		return ready;
	target_look(&s->target);
	opener_look(clock_now());
	return read_signal(s);
}

/* 0, or the exit status after printing the error. */
static int start_sampling(struct session *s)
{
	struct error *error = NULL;

	s->start = trace_start_now();
	/* The file of a command begins only once that has started, and has the time from there. */
	if (s->trace.writer)
		error = trace_file_started(&s->trace, &s->start);
	if (error)
		return fail_error(error);
	error = sampler_start(s->sources.sampler);
	s->sampling = true;
	return error ? fail_kernel(error) : 0;
}

/* When the loop must wake up at the latest: to begin sampling or the next file, or to end. */
static uint64_t next_ns(const struct session *s, uint64_t end_ns)
{
	uint64_t next = traces_due_ns(s);

	if (end_ns < next)
		next = end_ns;
	return s->sampling || s->began_ns > next ? next : s->began_ns;
}

/* The work of one round, after the wait. 0, or the exit status. */
static int work(struct session *s, int *wait_ms, int signal, struct due *due)
{
	uint64_t now = clock_now();
	struct error *error = drain_round(&s->drain, now, wait_ms);
	int status;

	if (error)
		return fail_error(error);
	status = traces_switch(s, now, signal);
	if (status)
		return status;
	traces_take_names(s, now);
	if (now >= due->settle_ns) {
		error = drain_settle(&s->drain, now);
		due->settle_ns = now + SETTLE_NS;
	}
	if (!error && now >= due->let_go_ns) {
		error = traces_let_go(s, now);
		due->let_go_ns = now + LET_GO_NS;
	}
	if (now >= due->status_ns) {
		status_show(s, now);
		due->status_ns = now + STATUS_NS;
	}
	return error ? fail_error(error) : 0;
}

/* Why the recording ends: only --max-size was asked for. */
static void say_why(const struct session *s)
{
	if (prf_writer_nearly_full(s->trace.writer))
		message_warning("the recording ends, as the trace holds nearly as many files and "
				"stacks as one can");
	else
		message_info("the trace has reached its largest size");
}

/*
 * Runs rounds until a signal, the end of the targets or of the duration. Sets `*signal` if it was a
 * signal. 0, or the exit status after printing the error.
 */
static int record(struct session *s, int *signal)
{
	struct due due = { s->began_ns + SETTLE_NS, s->began_ns + STATUS_NS,
			   s->began_ns + LET_GO_NS };
	uint64_t end_ns = s->settings->duration_ns ? s->began_ns + s->settings->duration_ns
						   : UINT64_MAX;
	int wait_ms = FIRST_WAIT_MS, status = 0;

	while (!status) {
		uint64_t now = clock_now();

		if (now >= end_ns || target_has_ended(&s->target))
			return 0;
		if (!s->sampling && now >= s->began_ns)
			status = start_sampling(s);
		if (status)
			break;
		*signal = wait_for(s, clock_wait_ms(now, next_ns(s, end_ns), wait_ms));
		if (*signal < 0) {
			s->failed = fail_error(error_system(*signal, "cannot wait for records"));
			*signal = 0;
			return 0;
		}
		if (*signal && *signal != SIGUSR2)
			return 0;
		status = work(s, &wait_ms, *signal, &due);
		*signal = 0;
		if (!status && traces_full(s)) {
			say_why(s);
			return 0;
		}
	}
	return status;
}

/* Sampling has stopped: writes what is left in the rings. */
static struct error *finish(struct session *s)
{
	struct error *error;
	uint64_t now;

	sampler_stop(s->sources.sampler);
	sideband_disable(s->sources.sideband);
	now = clock_now();
	sources_measure_rings(&s->sources);
	error = unwinding_settle(&s->unwinding);
	if (!error)
		error = drain_until(&s->drain, UINT64_MAX);
	s->drain.refresh = false; /* nothing follows for which /proc would have to be read again */
	if (!error)
		error = drain_settle(&s->drain, now);
	return error ? error : traces_finish(s, now, true);
}

/*
 * Asks the command to end, and waits up to `ms`, or until another signal says not to wait. True
 * when it has ended.
 */
static bool ask_command(struct session *s, int signal, int ms, bool *hurried)
{
	const int piece = 50;
	bool ended;

	target_ask(&s->target, signal);
	while (!(ended = target_wait(&s->target, piece)) && !*hurried && ms > piece) {
		int next = read_signal(s);

		*hurried = next && next != SIGUSR2;
		ms -= piece;
	}
	return ended;
}

/* Asks a command that outlives its recording to end, as perf does, and returns its exit status. */
static int end_command(struct session *s, int signal)
{
	struct target *t = &s->target;
	bool asked = !target_wait(t, 0), hurried = false;

	if (!t->command)
		return 0;
	/* Two signals at once, as timeout(1) sends them, are one. */
	while (read_signal(s))
		;
	if (asked && !ask_command(s, signal ? signal : SIGTERM, 1000, &hurried) &&
	    !ask_command(s, SIGTERM, 2000, &hurried))
		message_warning("%s %s and goes on as process %d", s->settings->command[0],
				hurried ? "is not waited for" : "does not end", (int)t->command);
	/* A command that ended by our SIGTERM did what it was asked to: that is no failure. */
	return asked && !signal && target_killed_by(t) == SIGTERM ? 0 : target_exit_status(t);
}

/* Starts sampling and lets the command run. 0, or the exit status after printing the error. */
static int start(struct session *s)
{
	struct error *error = unwinding_prepare(
		&s->unwinding,
		s->settings->command && !s->target.paced ? s->settings->command[0] : NULL,
		s->signal_fd);
	int status = error ? fail_error(error) : 0;

	if (!status && (error = sampler_ready(s->sources.sampler)))
		status = fail_kernel(error);
	s->began_ns = clock_now() + s->settings->delay_ns;
	if (!status && !s->settings->delay_ns)
		status = start_sampling(s);
	if (status)
		return status;
	status_begin(s);
	error = target_go(&s->target);
	if (error) {
		status = error_is(error, ENOENT) ? 127 : 126;
		fail_error(error);
		return status;
	}
	/* The old trace is emptied only now: a command that cannot be run must not cost it. */
	status = traces_begin(s);
	if (status)
		end_command(s, 0);
	return status;
}

/*
 * The recording has ended: its last files get their names, unless another signal comes. Who pressed
 * Ctrl-C waits for them; who stops a service, or ends the session of the terminal, does not.
 */
static void wait_for_names(struct session *s, int ended_by)
{
	uint64_t due_ns = clock_now() + NAMES_NS;

	for (traces_take_names(s, clock_now()); s->embedder.n; traces_take_names(s, clock_now())) {
		struct pollfd fd = { .fd = s->signal_fd, .events = POLLIN };
		int signal = poll(&fd, 1, NAMES_WAIT_MS) > 0 ? read_signal(s) : 0;
		bool late = clock_now() >= due_ns;

		if ((signal && signal != SIGUSR2) ||
		    (late && (ended_by == SIGTERM || ended_by == SIGHUP))) {
			embedder_give_up(&s->embedder);
		} else if (late) {
			message_info("still finding names to embed; Ctrl-C ends without them");
			due_ns = UINT64_MAX;
		}
	}
}

static int run(struct session *s)
{
	struct error *error = NULL;
	int signal = 0, status = start(s);

	if (status)
		return status;
	/*
	 * Privileges are dropped only now: until here, a failure may have to remove the new file
	 * from a user's folder, which takes root's capabilities.
	 */
	error = privileges_drop(series_wanted(&s->settings->series) || s->settings->embed);
	if (error)
		message_warning("%s", error->text);
	error_free(error);
	error = NULL;
	message_patience(RECORDING_PATIENCE_MS);
	status = record(s, &signal);
	if (!status)
		error = finish(s);
	/*
	 * After a failure the samples up to then stay in the file; readers see that it is
	 * incomplete.
	 */
	if (error || status)
		error_ignore(trace_file_close(&s->trace, false));
	else
		error = traces_close(s);
	message_patience(PATIENCE_MS);
	if (error)
		status = fail_error(error);
	if (status) {
		/* A signal may have come while a pipe's reader was waited for. */
		while (!s->ending && (signal = read_signal(s)))
			;
		if (s->ending)
			end_command(s, signal);
		return status;
	}
	status_end(s);
	if (s->settings->stats)
		overhead_show(&s->overhead, &s->losses, clock_now() - s->began_ns);
	status = end_command(s, signal);
	wait_for_names(s, signal);
	return !status && (s->failed || s->embedder.failed) ? 1 : status;
}

static void release(struct session *s, bool discard)
{
	unwinding_release(&s->unwinding);
	sources_release(&s->sources);
	error_ignore(trace_file_close(&s->trace, discard));
	embedder_give_up(&s->embedder);
	target_release(&s->target);
	drain_release(&s->drain);
	losses_release(&s->losses);
	world_release(&s->world);
	jit_free(s->jit);
	opener_stop();
	overhead_release(&s->overhead);
	error_free(s->vanished.why);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
}

int session_run(struct settings *settings)
{
	struct session s = {
		.settings = settings,
		.signal_fd = -1,
		.sources.hotplug.cpus = &s.sources.cpus,
		.together_ms = TOGETHER_MS,
	};
	int status;

	message_patience(PATIENCE_MS);
	target_init(&s.target);
	trace_file_init(&s.trace);
	s.embedder = (struct embedder){ .option = settings->embed,
					.behind = series_wanted(&settings->series) };
	overhead_init(&s.overhead);
	status = session_set_up(&s);
	if (!status)
		status = run(&s);
	release(&s, status != 0);
	return status;
}
