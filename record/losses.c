/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/losses.h"
#include "record/system/error_status.h"

#include <errno.h>
#include <stdlib.h>

static const enum prf_loss_reason reasons[SAMPLE_LOST_COUNT] = {
	[SAMPLE_LOST_RING_FULL] = PRF_LOSS_RING_FULL,
	[SAMPLE_LOST_RING_BUSY] = PRF_LOSS_RING_BUSY,
	[SAMPLE_LOST_NESTED] = PRF_LOSS_NESTED,
};

int losses_init(struct losses *a, size_t cpus, uint64_t now_ns)
{
	*a = (struct losses){ .cpus = cpus, .last_ns = now_ns };
	a->last = calloc(cpus, sizeof(*a->last));
	a->now = calloc(cpus, sizeof(*a->now));
	return a->last && a->now ? 0 : -ENOMEM;
}

void losses_release(struct losses *a)
{
	free(a->last);
	free(a->now);
	*a = (struct losses){ 0 };
}

static int update_cpu(struct losses *a, struct prf_writer *w, size_t cpu, uint64_t now_ns)
{
	const struct sample_counters *last = &a->last[cpu], *now = &a->now[cpu];
	int status = 0;

	a->fired += now->fired - last->fired;
	a->sent += now->sent - last->sent;
	for (int i = 0; i < SAMPLE_LOST_COUNT && !status; i++) {
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
		status = error_status(prf_writer_loss(w, &loss));
	}
	return status;
}

int losses_update(struct losses *a, struct sampler *s, struct prf_writer *w, uint64_t now_ns)
{
	struct sample_counters *read = a->now;
	int status = sampler_read_counters(s, read);

	for (size_t cpu = 0; cpu < a->cpus && !status; cpu++)
		status = update_cpu(a, w, cpu, now_ns);
	a->now = a->last;
	a->last = read;
	a->last_ns = now_ns;
	return status;
}

int losses_side_band(struct losses *a, struct prf_writer *w, uint32_t cpu, uint64_t time_ns,
		     uint64_t count)
{
	struct prf_loss loss = {
		.from_ns = time_ns,
		.to_ns = time_ns,
		.cpu = cpu,
		.reason = PRF_LOSS_SIDE_BAND,
		.count = count,
	};

	a->lost[PRF_LOSS_SIDE_BAND] += count;
	return error_status(prf_writer_loss(w, &loss));
}

uint64_t losses_samples(const struct losses *a)
{
	uint64_t lost = 0;

	for (int i = 0; i < PRF_LOSS_COUNT; i++)
		if (i != PRF_LOSS_SIDE_BAND)
			lost += a->lost[i];
	return lost;
}
