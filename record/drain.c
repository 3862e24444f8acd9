/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/drain.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/system/error_status.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LONGEST_MS 200
#define JAVA_MS 10 /* while a Java machine sets itself up */
#define FORGET_NS UINT64_C(3000000000)
/* A record is written a moment after its time was taken; until then others must wait. */
#define HOLD_BACK_NS UINT64_C(10000000)

static uint64_t peek_side(void *context, size_t number)
{
	struct session *s = context;

	return sideband_peek(s->sideband, number);
}

static int take_side(void *context, size_t number)
{
	struct session *s = context;
	struct side_record record;

	if (!sideband_take(s->sideband, number, &record)) {
		s->malformed++;
		return 0;
	}
	if (record.type == SIDE_RECORD_LOST) {
		s->refresh = true;
		return losses_side_band(&s->losses, s->trace.writer,
					sideband_cpu(s->sideband, number), record.time_ns,
					record.lost);
	}
	return world_apply(&s->world, &record);
}

static uint64_t peek_sample(void *context, size_t number)
{
	struct session *s = context;
	uint32_t size;
	const struct sample *sample = ring_peek(sampler_ring(s->sampler, number), &size);

	return sample && size >= sizeof(*sample) ? sample->time_ns : sample ? 0 : UINT64_MAX;
}

static int take_sample(void *context, size_t number)
{
	struct session *s = context;
	struct ring *ring = sampler_ring(s->sampler, number);
	uint32_t size;
	const void *data = ring_peek(ring, &size);
	int status;

	if (!resolver_sample(s->resolver, s->trace.writer, s->trace.events, s->trace.event_count,
			     data, size, &status))
		s->malformed++;
	ring_next(ring);
	return status;
}

int drain_init(struct session *s)
{
	int status = 0;

	for (size_t i = 0; i < sideband_rings(s->sideband) && !status; i++)
		status = timeline_add(&s->timeline,
				      &(struct timeline_source){ peek_side, take_side, s, i });
	for (size_t i = 0; i < sampler_rings(s->sampler) && !status; i++)
		status = timeline_add(&s->timeline,
				      &(struct timeline_source){ peek_sample, take_sample, s, i });
	return status;
}

/* Percent of the fullest ring. */
static unsigned int filled(struct session *s)
{
	unsigned int most = sideband_filled(s->sideband);

	for (size_t i = 0; i < sampler_rings(s->sampler); i++) {
		const struct ring *ring = sampler_ring(s->sampler, i);
		uint64_t waiting = ring_filled(ring);
		unsigned int percent = (unsigned int)(waiting * 100 / ring->size);

		if (waiting > s->overhead.ring_peak)
			s->overhead.ring_peak = waiting;

		if (percent > most)
			most = percent;
	}
	return most;
}

int drain_until(struct session *s, uint64_t horizon_ns)
{
	filled(s);
	if (s->lookahead)
		lookahead_run(s->lookahead);
	if (s->java)
		java_tick(s->java, clock_now());
	jit_tick(s->jit, clock_now());
	return timeline_run(&s->timeline, horizon_ns);
}

int drain_round(struct session *s, uint64_t now_ns, int *wait_ms)
{
	unsigned int percent = filled(s);
	int status;

	if (percent > 25)
		*wait_ms = *wait_ms > 1 ? *wait_ms / 2 : 1;
	else if (percent < 10)
		*wait_ms = *wait_ms * 2 < LONGEST_MS ? *wait_ms * 2 : LONGEST_MS;
	if (s->java && java_is_waiting(s->java) && *wait_ms > JAVA_MS)
		*wait_ms = JAVA_MS;
	/* Rather a frame in the wrong file now and then than a lost sample. */
	status = drain_until(s, percent > 25 ? now_ns : now_ns - HOLD_BACK_NS);
	/* What would have waited for a second when we come again is due now. */
	return status ? status
		      : error_status(
				prf_writer_tick(s->trace.writer, now_ns + LONGEST_MS * 1000000u));
}

static void tell_lookahead(uint32_t pid, void *context)
{
	struct session *s = context;

	lookahead_add(s->lookahead, pid, spaces_layout(s->world.spaces, pid));
}

static void cpu_changed(uint32_t cpu, enum hotplug_change change, void *context)
{
	struct session *s = context;
	int status;

	if (change == HOTPLUG_WENT) {
		message_warning("CPU %" PRIu32 " went offline", cpu);
		return;
	}
	status = sideband_cpu_came_back(s->sideband, cpu);
	if (!status)
		status = sampler_cpu_came_back(s->sampler, &s->settings->events, cpu);
	if (status)
		message_warning("CPU %" PRIu32 " is back, but nothing more is recorded there: %s",
				cpu, strerror(-status));
	else
		message_warning("CPU %" PRIu32 " is back; until now nothing was recorded there",
				cpu);
	s->refresh = true; /* what was mapped meanwhile */
}

static int look_at_cpus(struct session *s)
{
	struct cpus online = { 0 };
	int status = cpus_online(&online);

	if (!status)
		status = hotplug_look(&s->hotplug, &online, cpu_changed, s);
	cpus_release(&online);
	return status == -ENOMEM ? status : 0;
}

int drain_settle(struct session *s, uint64_t now_ns)
{
	int status = losses_update(&s->losses, s->sampler, s->trace.writer, now_ns);

	if (!status)
		status = look_at_cpus(s);
	if (!status)
		status = kernel_symbols_write(s->world.kernel, s->trace.writer);
	if (!status && s->refresh) {
		s->refresh = false;
		status = world_refresh(&s->world, now_ns, s->lookahead ? tell_lookahead : NULL, s);
	}
	world_forget(&s->world, now_ns - FORGET_NS);
	return status;
}
