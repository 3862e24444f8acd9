/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled with frame pointers, so that both ways of walking see the same stacks. */
#include "bench/kernel/worker.h"

#include "common/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_ROOM 128 /* makes frames of 144 bytes */

struct request {
	uint32_t task, depth, amount, program_id;
};

struct work {
	struct request request;
	uint8_t *pages;
	size_t page_size;
	int zeros; /* a file of them */
	double ns; /* the answer */
	uint64_t sink;
	int program;
	bool failed;
};

static bool is_fault(uint32_t task)
{
	return task == WORKER_FAULT || task == WORKER_FAULT_IN_KERNEL;
}

/* CPU time for work, so that other tasks on this CPU are not counted; else elapsed time. */
static double now_ns(const struct work *w)
{
	bool real = w->request.task == WORKER_SLEEP || w->request.task == WORKER_SPIN_ELAPSED;

	return (double)clock_ns(real ? CLOCK_MONOTONIC_RAW : CLOCK_THREAD_CPUTIME_ID);
}

static void touch(struct work *w)
{
	for (uint32_t i = 0; i < w->request.amount; i++)
		*(volatile uint8_t *)(w->pages + i * w->page_size) = 1;
}

static void touch_in_kernel(struct work *w)
{
	for (uint32_t i = 0; i < w->request.amount; i++)
		if (read(w->zeros, w->pages + i * w->page_size, 1) != 1)
			return; /* on failure there are too few samples, which the caller checks */
}

static void spin(struct work *w)
{
	uint64_t x = w->sink;

	for (uint32_t i = 0; i < w->request.amount; i++)
		for (int j = 0; j < 100; j++)
			x = x * 6364136223846793005 + 1442695040888963407;
	w->sink = x;
}

static void sleep_shortly(struct work *w)
{
	const struct timespec shortly = { 0, 20000 }; /* a shorter one ends before it begins */

	for (uint32_t i = 0; i < w->request.amount; i++)
		nanosleep(&shortly, NULL);
}

static void test_run(struct work *w)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	for (uint32_t i = 0; i < w->request.amount && !w->failed; i++)
		w->failed = bpf_prog_test_run_opts(w->program, &options) != 0;
}

__attribute__((noinline)) static void do_task(struct work *w)
{
	double start = now_ns(w);

	if (w->request.task == WORKER_FAULT)
		touch(w);
	else if (w->request.task == WORKER_FAULT_IN_KERNEL)
		touch_in_kernel(w);
	else if (w->request.task == WORKER_SPIN || w->request.task == WORKER_SPIN_ELAPSED)
		spin(w);
	else if (w->request.task == WORKER_TEST_RUN)
		test_run(w);
	else
		sleep_shortly(w);
	w->ns = now_ns(w) - start;
}

/*
 * The size of its frames decides how many of them one read of the stack covers, and so what a frame
 * costs: it must not change with this program or its compiler's flags.
 */
__attribute__((noinline)) static void descend(struct work *w, uint32_t depth)
{
	char room[FRAME_ROOM];

	if (depth)
		descend(w, depth - 1);
	else
		do_task(w);
	__asm__ volatile("" : : "r"(room) : "memory"); /* used, and after a call, not a jump */
}

static void serve(int in, int out)
{
	struct work w = { .page_size = (size_t)sysconf(_SC_PAGESIZE),
			  .zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC) };
	size_t size = WORKER_FAULTS_MAX * w.page_size;

	w.pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w.pages == MAP_FAILED)
		return;
	madvise(w.pages, size, MADV_NOHUGEPAGE);
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (read(in, &w.request, sizeof(w.request)) == sizeof(w.request)) {
		if (w.request.depth > WORKER_DEPTH_MAX)
			return;
		if (is_fault(w.request.task) &&
		    (w.request.amount > WORKER_FAULTS_MAX || madvise(w.pages, size, MADV_DONTNEED)))
			return;
		if (w.request.task == WORKER_TEST_RUN) {
			w.program = bpf_prog_get_fd_by_id(w.request.program_id);
			w.failed = w.program < 0;
		}
		descend(&w, w.request.depth);
		if (w.request.task == WORKER_TEST_RUN && w.program >= 0)
			close(w.program);
		if (w.failed)
			return;
		if (write(out, &w.ns, sizeof(w.ns)) != sizeof(w.ns))
			return;
	}
}

unsigned int worker_choose_cpu(void)
{
	cpu_set_t cpus;
	unsigned int chosen = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	for (unsigned int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus))
			chosen = i;
	return chosen;
}

int worker_start(struct worker *w, unsigned int cpu)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	cpu_set_t cpus;
	pid_t pid;

	if (pipe(to))
		return -errno;
	if (pipe(from)) {
		int error = errno;

		close(to[0]);
		close(to[1]);
		return -error;
	}
	pid = fork();
	if (pid == 0) {
		/*
		 * The callers have no frame pointers. A walk along them would go on from whatever
		 * the register held, at a cost that says nothing.
		 */
		*(void **)__builtin_frame_address(0) = NULL;
		close(to[1]);
		close(from[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		if (!sched_setaffinity(0, sizeof(cpus), &cpus))
			serve(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	*w = (struct worker){ .pid = pid, .to = to[1], .from = from[0] };
	if (pid < 0) {
		int error = errno;

		close(to[1]);
		close(from[0]);
		w->pid = 0;
		return -error;
	}
	return 0;
}

void worker_stop(struct worker *w)
{
	if (!w->pid)
		return;
	close(w->to);
	close(w->from);
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
}

int worker_do(struct worker *w, const struct worker_order *order, double *ns)
{
	const struct request request = { order->task, order->depth, order->amount, w->program_id };
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	bool good = write(w->to, &request, sizeof(request)) == sizeof(request) &&
		    read(w->from, ns, sizeof(*ns)) == sizeof(*ns);

	signal(SIGPIPE, before);
	return good ? 0 : -1;
}
