/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/overhead.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/system/process_reader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

void overhead_init(struct overhead *e)
{
	*e = (struct overhead){ .counting_fd = -1 };
}

struct error *overhead_count(struct overhead *e)
{
	e->counting_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return e->counting_fd < 0 ? error_system(errno, "the kernel does not measure its programs")
				  : NULL;
}

void overhead_release(struct overhead *e)
{
	if (e->counting_fd >= 0)
		close(e->counting_fd);
	overhead_init(e);
}

void overhead_update(struct overhead *e, const struct sources *sources)
{
	struct rusage usage;

	e->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + process_reader_cpu_ns();
	if (!getrusage(RUSAGE_SELF, &usage))
		e->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	e->ring_peak = sources->ring_waited_most;
	if (e->counting_fd >= 0)
		sampler_runs(sources->sampler, &e->runs, &e->run_ns);
}

struct error *overhead_write(const struct overhead *e, struct trace_file *f)
{
	const struct statistic statistics[] = {
		{ "ring_peak_bytes", e->ring_peak },
		{ "recorder_peak_memory_bytes", e->peak_memory },
		{ "bpf_runs", e->runs },
		{ "bpf_run_ns", e->run_ns },
	};

	/* The last two only if they were measured: a zero would be read as a result. */
	return trace_file_statistics(f, statistics, e->counting_fd >= 0 ? 4 : 2);
}

void overhead_show(const struct overhead *e, const struct losses *losses, uint64_t duration_ns)
{
	double seconds = (double)(duration_ns ? duration_ns : 1) / 1e9;
	uint64_t ran = losses->fired - losses->lost[PRF_LOSS_SKIPPED];

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
			     ran ? (double)e->run_ns / (double)ran : 0.0, ran);
	message_info("  rings: %.1f KB waited at most", (double)e->ring_peak / 1e3);
	losses_show(losses);
}
