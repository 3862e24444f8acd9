/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/session.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/drain.h"
#include "record/embed.h"
#include "record/failure.h"
#include "record/setup.h"
#include "record/status.h"
#include "record/system/privileges.h"
#include "record/traces.h"

#include "record/unwinding.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SETTLE_NS UINT64_C(500000000)
/* CPUs whose side band is waited for; that of others is read when something else happens. */
#define SIDE_BANDS_MAX 1024
#define STATUS_NS UINT64_C(1000000000)
#define FIRST_WAIT_MS 20

/*
 * As poll(), for fds that have room for SIDE_BANDS_MAX more. Meanwhile the unwinder is kept in
 * step with what the targets map, at once: programs may live for milliseconds.
 */
static int poll_and_scout(struct session *s, struct pollfd *fds, size_t n, int ms)
{
	uint64_t until = clock_now() + (uint64_t)ms * 1000000;
	size_t rings = 0;

	for (; s->lookahead && rings < sideband_rings(s->sideband) && rings < SIDE_BANDS_MAX;
	     rings++)
		fds[n + rings] = (struct pollfd){ .fd = sideband_fd(s->sideband, rings),
						  .events = POLLIN };
	for (;;) {
		int ready = poll(fds, n + rings, ms);
		uint64_t now = clock_now();

		if (s->lookahead)
			lookahead_run(s->lookahead);
		for (size_t i = 0; i < rings; i++) {
			ready -= ready > 0 && fds[n + i].revents;
			/* A CPU that went offline: it would wake us again at once. */
			if (fds[n + i].revents & (POLLHUP | POLLERR))
				fds[n + i].fd = -1;
		}
		if (ready || now >= until)
			return ready;
		ms = (int)((until - now) / 1000000) + 1;
	}
}

/* Waits until something happens or the time has come; the signal that arrived, or 0. */
static int wait_for(struct session *s, int ms)
{
	struct pollfd fds[64 + SIDE_BANDS_MAX] = { { .fd = s->signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	size_t n = 1;

	/* With more targets than that, ends of the others are seen by looking. */
	for (size_t i = 0; i < s->target.n && n < 64 && !s->target.folders; i++)
		if (s->target.pidfds[i] >= 0)
			fds[n++] = (struct pollfd){ .fd = s->target.pidfds[i], .events = POLLIN };
	if (poll_and_scout(s, fds, n, ms) < 0 && errno != EINTR)
		return SIGTERM;
	target_look(&s->target);
	if (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		return (int)info.ssi_signo;
	return 0;
}

static int start_sampling(struct session *s)
{
	s->sampling = true;
	return sampler_start(s->sampler);
}

/* When the loop must be awake at the latest: to begin sampling or another file, or to end. */
static uint64_t next_ns(const struct session *s, uint64_t end_ns)
{
	uint64_t next = traces_due_ns(s);

	if (end_ns < next)
		next = end_ns;
	return s->sampling || s->began_ns > next ? next : s->began_ns;
}

/*
 * Until a signal, the targets' end or the duration's. Answers the signal in `*signal`, and 0
 * or the exit status after telling what went wrong.
 */
static int record(struct session *s, int *signal)
{
	uint64_t settle_ns = s->began_ns + SETTLE_NS, status_ns = s->began_ns + STATUS_NS;
	uint64_t end_ns = s->settings->duration_ns ? s->began_ns + s->settings->duration_ns
						   : UINT64_MAX;
	int wait_ms = FIRST_WAIT_MS, status = 0;

	while (!status) {
		int ms = wait_ms;
		uint64_t now = clock_now();

		if (now >= end_ns || (s->target.n && !s->target.alive))
			return 0;
		if (!s->sampling && now >= s->began_ns) {
			status = start_sampling(s);
			if (status)
				return explain("start sampling", status);
		}
		if (next_ns(s, end_ns) - now < (uint64_t)ms * 1000000)
			ms = (int)((next_ns(s, end_ns) - now) / 1000000) + 1;
		*signal = wait_for(s, ms);
		if (*signal && *signal != SIGUSR2)
			return 0;
		now = clock_now();
		status = drain_round(s, now, &wait_ms);
		if (status)
			return trace_failed(s->settings->output, status);
		status = traces_switch(s, now, *signal);
		*signal = 0;
		if (!status && traces_full(s)) {
			message_info("the trace has reached its largest size");
			return 0;
		}
		if (!status && now >= settle_ns) {
			status = drain_settle(s, now);
			if (status)
				return trace_failed(s->settings->output, status);
			settle_ns = now + SETTLE_NS;
		}
		if (now >= status_ns) {
			status_show(s, now);
			status_ns = now + STATUS_NS;
		}
	}
	return status;
}

/* Nothing fires any more: what is in the rings is all there is. */
static int finish(struct session *s)
{
	uint64_t now;
	int status;

	sampler_stop(s->sampler);
	sideband_disable(s->sideband);
	now = clock_now();
	status = drain_until(s, UINT64_MAX);
	s->refresh = false; /* nothing follows that would need it */
	if (!status)
		status = drain_settle(s, now);
	return status ? status : traces_finish(s, now, true);
}

/* As perf does: a command that outlives its recording is asked to end, too. */
static int end_command(struct session *s, int signal)
{
	struct target *t = &s->target;
	bool asked = !target_wait(t, 0);

	if (!t->command)
		return 0;
	if (asked && !target_ask(t, signal ? signal : SIGTERM, 1000) &&
	    !target_ask(t, SIGTERM, 2000))
		message_warning("%s does not end and goes on as process %d",
				s->settings->command[0], (int)t->command);
	/* That it did what it was asked is no failure. */
	return asked && !signal && target_killed_by(t) == SIGTERM ? 0 : target_exit_status(t);
}

static int run(struct session *s)
{
	int status, signal = 0;

	unwinding_prepare(s);
	s->began_ns = clock_now() + s->settings->delay_ns;
	status = s->settings->delay_ns ? 0 : start_sampling(s);
	if (status)
		return explain("start sampling", status);
	status = target_go(&s->target);
	if (status) {
		fail("cannot run %s: %s", s->settings->command[0], strerror(-status));
		return status == -ENOENT ? 127 : 126;
	}
	/* Not before: a command that is not there costs nobody an older trace. */
	status = traces_begin(s);
	if (status) {
		end_command(s, 0);
		return status;
	}
	/* Not before: root may be in a folder of the user's, from which a failure removes the file.
	 */
	if (privileges_drop(series_wanted(&s->settings->series) || s->settings->embed))
		message_warning("cannot give up privileges: %s", strerror(errno));
	status = record(s, &signal);
	if (!status) {
		status = finish(s);
		if (status)
			status = trace_failed(s->settings->output, status);
	}
	if (status) {
		/* What was recorded so far stays, and is seen to be incomplete. */
		trace_file_close(&s->trace, false);
		return status;
	}
	status_end(s);
	if (s->settings->stats)
		overhead_show(&s->overhead, &s->losses, clock_now() - s->began_ns);
	trace_file_close(&s->trace, false);
	status = end_command(s, signal);
	if (s->settings->embed && embed_names_into(s->settings->output) && !status)
		status = 1;
	return status;
}

static void release(struct session *s, bool discard)
{
	unwinding_close(s);
	sampler_free(s->sampler);
	sideband_free(s->sideband);
	trace_file_close(&s->trace, discard);
	target_release(&s->target);
	timeline_release(&s->timeline);
	losses_release(&s->losses);
	resolver_free(s->resolver);
	world_release(&s->world);
	jit_free(s->jit);
	overhead_release(&s->overhead);
	hotplug_release(&s->hotplug);
	cpus_release(&s->cpus);
	cpus_release(&s->sampled);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
}

int session_run(struct settings *settings)
{
	struct session s = { .settings = settings, .signal_fd = -1, .hotplug.cpus = &s.cpus };
	int status;

	target_init(&s.target);
	trace_file_init(&s.trace);
	overhead_init(&s.overhead);
	status = session_set_up(&s);
	if (!status)
		status = run(&s);
	release(&s, status != 0);
	return status;
}
