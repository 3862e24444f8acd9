/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/losses.h"

#include "common/message.h"

#include <inttypes.h>
#include <stdlib.h>

static const enum prf_loss_reason reasons[SAMPLE_LOST_COUNT] = {
	[SAMPLE_LOST_RING_FULL] = PRF_LOSS_RING_FULL,
	[SAMPLE_LOST_RING_BUSY] = PRF_LOSS_RING_BUSY,
	[SAMPLE_LOST_NESTED] = PRF_LOSS_NESTED,
	[SAMPLE_LOST_SKIPPED] = PRF_LOSS_SKIPPED,
};

struct error *losses_init(struct losses *a, size_t cpus, uint64_t now_ns)
{
	*a = (struct losses){ .cpus = cpus, .last_ns = now_ns };
	a->last = calloc(cpus, sizeof(*a->last));
	a->now = calloc(cpus, sizeof(*a->now));
	return a->last && a->now ? NULL : error_memory();
}

void losses_release(struct losses *a)
{
	free(a->last);
	free(a->now);
	*a = (struct losses){ 0 };
}

static struct error *update_cpu(struct losses *a, struct prf_writer *w, size_t cpu, uint64_t now_ns)
{
	const struct sample_counters *last = &a->last[cpu], *now = &a->now[cpu];
	struct error *error = NULL;

	a->fired += now->fired - last->fired;
	a->sent += now->sent - last->sent;
	for (int i = 0; i < SAMPLE_LOST_COUNT && !error; i++) {
		struct prf_loss loss = {
			.from_ns = a->last_ns,
			.to_ns = now_ns,
			.cpu = (uint32_t)cpu,
			.reason = reasons[i],
			.count = now->lost[i] - last->lost[i],
		};

		if (!loss.count)
			continue;
		a->lost[loss.reason] += loss.count;
		error = prf_writer_loss(w, &loss);
	}
	return error;
}

struct error *losses_read(struct losses *a, struct sampler *s)
{
	return sampler_read_counters(s, a->now);
}

struct error *losses_write(struct losses *a, struct prf_writer *w, uint64_t now_ns)
{
	struct sample_counters *read = a->now;
	struct error *error = NULL;

	for (size_t cpu = 0; cpu < a->cpus && !error; cpu++)
		error = update_cpu(a, w, cpu, now_ns);
	a->now = a->last;
	a->last = read;
	a->last_ns = now_ns;
	return error;
}

struct error *losses_side_band(struct losses *a, struct prf_writer *w, uint32_t cpu,
			       const struct side_record *record)
{
	struct prf_loss loss = {
		.from_ns = record->time_ns,
		.to_ns = record->time_ns,
		.cpu = cpu,
		.reason = PRF_LOSS_SIDE_BAND,
		.count = record->lost,
	};

	a->lost[PRF_LOSS_SIDE_BAND] += record->lost;
	return prf_writer_loss(w, &loss);
}

uint64_t losses_samples(const struct losses *a)
{
	uint64_t lost = 0;

	for (int i = 0; i < PRF_LOSS_COUNT; i++)
		if (i != PRF_LOSS_SIDE_BAND)
			lost += a->lost[i];
	return lost;
}

void losses_show(const struct losses *a)
{
	for (size_t cpu = 0; cpu < a->cpus; cpu++)
		for (int i = 0; i < SAMPLE_LOST_COUNT; i++)
			if (a->last[cpu].lost[i])
				message_info("  lost on CPU %zu: %" PRIu64 " (%s)", cpu,
					     (uint64_t)a->last[cpu].lost[i],
					     prf_loss_reason_name(reasons[i]));
}
