/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/overhead.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/system/error_status.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

void overhead_init(struct overhead *e)
{
	*e = (struct overhead){ .counting_fd = -1 };
}

int overhead_count(struct overhead *e)
{
	e->counting_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return e->counting_fd < 0 ? -errno : 0;
}

void overhead_release(struct overhead *e)
{
	if (e->counting_fd >= 0)
		close(e->counting_fd);
	overhead_init(e);
}

void overhead_update(struct overhead *e, const struct sampler *sampler)
{
	struct rusage usage;

	e->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!getrusage(RUSAGE_SELF, &usage))
		e->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	if (e->counting_fd >= 0)
		sampler_runs(sampler, &e->runs, &e->run_ns);
}

int overhead_write(const struct overhead *e, struct prf_writer *w)
{
	int status = error_status(prf_writer_statistic(w, "ring_peak_bytes", e->ring_peak));

	if (!status)
		status = error_status(
			prf_writer_statistic(w, "recorder_peak_memory_bytes", e->peak_memory));
	/* What was not measured is not there. */
	if (!status && e->counting_fd >= 0)
		status = error_status(prf_writer_statistic(w, "bpf_runs", e->runs));
	if (!status && e->counting_fd >= 0)
		status = error_status(prf_writer_statistic(w, "bpf_run_ns", e->run_ns));
	return status;
}

/* By reason and CPU, only where there was loss. */
static void show_losses(const struct losses *a)
{
	static const enum prf_loss_reason reasons[SAMPLE_LOST_COUNT] = {
		[SAMPLE_LOST_RING_FULL] = PRF_LOSS_RING_FULL,
		[SAMPLE_LOST_RING_BUSY] = PRF_LOSS_RING_BUSY,
		[SAMPLE_LOST_NESTED] = PRF_LOSS_NESTED,
	};

	for (size_t cpu = 0; cpu < a->cpus; cpu++)
		for (int i = 0; i < SAMPLE_LOST_COUNT; i++)
			if (a->last[cpu].lost[i])
				message_info("  lost on CPU %zu: %" PRIu64 " (%s)", cpu,
					     (uint64_t)a->last[cpu].lost[i],
					     prf_loss_reason_name(reasons[i]));
}

void overhead_show(const struct overhead *e, const struct losses *losses, uint64_t duration_ns)
{
	double seconds = (double)(duration_ns ? duration_ns : 1) / 1e9;

	message_info("what the recording cost:");
	message_info("  recorder: %.3f s of CPU, %.2f %% of one; at most %.1f MB of memory",
		     (double)e->cpu_ns / 1e9, (double)e->cpu_ns / 1e7 / seconds,
		     (double)e->peak_memory / 1e6);
	if (e->counting_fd < 0)
		message_info("  kernel: not measured");
	else
		message_info("  kernel: %" PRIu64
			     " runs of our programs, %.3f s, %.2f %% of one CPU; "
			     "%.0f ns for each of %" PRIu64 " samples",
			     e->runs, (double)e->run_ns / 1e9, (double)e->run_ns / 1e7 / seconds,
			     losses->fired ? (double)e->run_ns / (double)losses->fired : 0.0,
			     losses->fired);
	message_info("  rings: %.1f KB waited at most", (double)e->ring_peak / 1e3);
	show_losses(losses);
}
