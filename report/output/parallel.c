/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct parallel {
	size_t jobs;
	atomic_size_t next;
	parallel_job *job;
	void *context;
};

struct worker {
	pthread_t thread;
	struct parallel *shared;
	unsigned int number;
};

unsigned int parallel_threads(unsigned int threads)
{
	cpu_set_t set;

	if (!threads)
		threads = sched_getaffinity(0, sizeof(set), &set) ? 1
								  : (unsigned int)CPU_COUNT(&set);
	return threads > PARALLEL_THREADS_MAX ? PARALLEL_THREADS_MAX : threads ? threads : 1;
}

static void *work(void *argument)
{
	struct worker *w = argument;

	for (;;) {
		size_t job = atomic_fetch_add(&w->shared->next, 1);

		if (job >= w->shared->jobs)
			return NULL;
		w->shared->job(job, w->number, w->shared->context);
	}
}

void parallel_run(size_t jobs, unsigned int threads, parallel_job *job, void *context)
{
	struct parallel shared = { .jobs = jobs, .job = job, .context = context };
	struct worker workers[PARALLEL_THREADS_MAX];
	unsigned int started = 1;

	threads = parallel_threads(threads);
	if (threads > jobs)
		threads = jobs ? (unsigned int)jobs : 1;
	for (; started < threads; started++) {
		workers[started] = (struct worker){ .shared = &shared, .number = started };
		if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
			break;
	}
	workers[0] = (struct worker){ .shared = &shared };
	work(&workers[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}
