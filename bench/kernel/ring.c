/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring buffer between the kernel and a reader: records per second with one and two
 * producers and several ways of waking the reader. Producers are BPF programs run on a CPU
 * each by test runs; the reader is a thread that reads as prof-record does.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/kernel/ring.skel.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/statistics/bootstrap.h"
#include "common/clock.h"
#include "common/message.h"
#include "record/capture/ring.h"

#define RECORDS 1000 /* in a run of the program */
#define RING_BYTES (UINT64_C(16) << 20)
#define ROUNDS 8
#define PRODUCERS_MOST 2

struct policy {
	const char *name;
	uint32_t wakeup_every;
};

static const struct policy policies[] = {
	{ "none", 0 },
	{ "each", 1 },
	{ "every-10th", 10 },
	{ "every-100th", 100 },
};

struct ring_bench {
	const struct settings *settings;
	struct ring_bpf *skeleton;
	unsigned int cpus[PRODUCERS_MOST];
	size_t cpu_count;
	bool stop;   /* atomic */
	bool unread; /* the reader could not begin */
};

struct producer {
	struct ring_bench *bench;
	pthread_t thread;
	unsigned int cpu;
	uint64_t runs;
	bool failed;
};

static double now_seconds(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC_RAW) / 1e9;
}

static void *produce(void *argument)
{
	struct producer *p = argument;
	int fd = bpf_program__fd(p->bench->skeleton->progs.produce);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(p->cpu, &cpus);
	p->failed = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) != 0;
	while (!p->failed && !__atomic_load_n(&p->bench->stop, __ATOMIC_RELAXED)) {
		LIBBPF_OPTS(bpf_test_run_opts, options);

		p->failed = bpf_prog_test_run_opts(fd, &options) != 0;
		__atomic_fetch_add(&p->runs, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Reads until `stop` is set, sleeping in poll() when the ring is empty. */
static void *consume(void *argument)
{
	struct ring_bench *b = argument;
	int fd = bpf_map__fd(b->skeleton->maps.ring);
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct ring ring;
	uint32_t size;

	b->unread = error_ignore(ring_map(&ring, fd, RING_BYTES));
	if (b->unread)
		return NULL;
	while (!__atomic_load_n(&b->stop, __ATOMIC_RELAXED)) {
		while (ring_peek(&ring, &size))
			ring_next(&ring);
		poll(&readable, 1, 1);
	}
	ring_unmap(&ring);
	return NULL;
}

static uint64_t count_of(struct ring_bench *b, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL, sum = 0;

	if (values && !bpf_map_lookup_elem(bpf_map__fd(b->skeleton->maps.counts), &which, values))
		for (int i = 0; i < cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}

static bool all_ran(struct producer *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!__atomic_load_n(&p[i].runs, __ATOMIC_RELAXED))
			return false;
	return true;
}

/* Records per second. */
struct rates {
	double sent, dropped;
};

/* One round. -1: it did not work. */
static int take_round(struct ring_bench *b, size_t producers, double seconds, struct rates *rates)
{
	struct producer p[PRODUCERS_MOST] = { { 0 } };
	struct timespec wait = { (time_t)seconds, (long)(fmod(seconds, 1) * 1e9) };
	uint64_t sent_before = count_of(b, 0), dropped_before = count_of(b, 1);
	double start = now_seconds(), elapsed;
	pthread_t consumer;
	size_t started = 0;
	bool failed;

	b->stop = false;
	if (pthread_create(&consumer, NULL, consume, b))
		return -1;
	for (; started < producers; started++) {
		p[started] = (struct producer){ .bench = b, .cpu = b->cpus[started] };
		if (pthread_create(&p[started].thread, NULL, produce, &p[started]))
			break;
	}
	nanosleep(&wait, NULL);
	/* On a busy machine a producer may not have come to run yet. */
	for (int i = 0; i < 5000 && !all_ran(p, started); i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	__atomic_store_n(&b->stop, true, __ATOMIC_RELAXED);
	failed = started < producers;
	for (size_t i = 0; i < started; i++) {
		pthread_join(p[i].thread, NULL);
		failed |= p[i].failed;
	}
	elapsed = now_seconds() - start;
	pthread_join(consumer, NULL);
	rates->sent = (double)(count_of(b, 0) - sent_before) / elapsed;
	rates->dropped = (double)(count_of(b, 1) - dropped_before) / elapsed;
	return failed || b->unread || !(rates->sent > 0) ? -1 : 0;
}

static int measure(struct ring_bench *b, const struct policy *policy, size_t producers,
		   struct results *results)
{
	double seconds = (b->settings->seconds > 0 ? b->settings->seconds : 2) / ROUNDS;
	const struct bootstrap bootstrap = { b->settings->seed, 10000, 0.95 };
	double sent[ROUNDS], dropped[ROUNDS];
	struct bootstrap_estimates rate;
	char name[64];

	for (size_t i = 0; i < ROUNDS; i++) {
		struct rates rates;

		if (take_round(b, producers, seconds, &rates)) {
			message_error(
				"ring: a producer or the reader did not run, or nothing was sent");
			return -1;
		}
		sent[i] = rates.sent;
		dropped[i] = rates.dropped;
	}
	if (bootstrap_estimates(&bootstrap, sent, ROUNDS, &rate))
		return -1;
	snprintf(name, sizeof(name), "ring/%zu-producers/wakeup-%s", producers, policy->name);
	output_line("%-35s [%s %s %s] sent, %s dropped", name, output_rate(rate.mean.low, "").text,
		    output_rate(rate.mean.value, "").text,
		    output_rate(rate.mean.high, "records/s").text,
		    output_rate(statistics_mean(dropped, ROUNDS), "/s").text);
	return results_estimate(results, name, "throughput", rate.mean);
}

static int load(struct ring_bench *b, const struct policy *policy)
{
	libbpf_set_print(NULL);
	b->skeleton = ring_bpf__open();
	if (!b->skeleton)
		return -1;
	b->skeleton->rodata->records = RECORDS;
	b->skeleton->rodata->wakeup_every = policy->wakeup_every;
	if (bpf_map__set_max_entries(b->skeleton->maps.ring, RING_BYTES) ||
	    ring_bpf__load(b->skeleton)) {
		ring_bpf__destroy(b->skeleton);
		b->skeleton = NULL;
		return -1;
	}
	return 0;
}

static void find_cpus(struct ring_bench *b)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (unsigned int i = 0; i < CPU_SETSIZE && b->cpu_count < PRODUCERS_MOST; i++)
		if (CPU_ISSET(i, &cpus))
			b->cpus[b->cpu_count++] = i;
}

enum verdict ring_command(const struct settings *s)
{
	struct ring_bench b = { .settings = s };
	struct results results = { 0 };
	enum verdict verdict = VERDICT_FINE;

	find_cpus(&b);
	if (!b.cpu_count) {
		message_error("ring: it is not known which CPUs may be used");
		return VERDICT_ERROR;
	}
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		if (load(&b, &policies[i])) {
			message_error("ring: not available: the BPF program cannot be loaded: %s; "
				      "run as root",
				      strerror(errno));
			verdict = VERDICT_ERROR;
			break;
		}
		for (size_t n = 1; n <= b.cpu_count && verdict == VERDICT_FINE; n++)
			if (measure(&b, &policies[i], n, &results))
				verdict = VERDICT_ERROR;
		ring_bpf__destroy(b.skeleton);
	}
	if (verdict == VERDICT_FINE)
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}
