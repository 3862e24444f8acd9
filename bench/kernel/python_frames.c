/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/python_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "bench/kernel/attachment.h"
#include "bench/statistics/bootstrap.h"

#define RESAMPLES 2000
#define FAULTS 100 /* of a batch */
#define BATCHES 20 /* of each depth */
#define DEPTHS 5

static const unsigned int depths[DEPTHS] = { 4, 16, 64, 128, 250 };

/* Reads lines "depth faults", and answers each with one. Its functions are all different code. */
static const char program[] = "import mmap, os, sys\n"
			      "def touch(n):\n"
			      "    pages = mmap.mmap(-1, n * 4096)\n"
			      "    for i in range(n): pages[i * 4096] = 1\n"
			      "    pages.close()\n"
			      "names = {'f0': touch}\n"
			      "exec(''.join('def f%d(n): f%d(n)\\n' % (i, i - 1) "
			      "for i in range(1, 256)), names)\n"
			      "os.write(1, ('%d.%d.%d\\n' % sys.version_info[:3]).encode())\n"
			      "for line in sys.stdin:\n"
			      "    depth, faults = line.split()\n"
			      "    names['f' + depth](int(faults))\n"
			      "    os.write(1, b'\\n')\n";

/* -------- the program -------- */

static void become_python(unsigned int cpu, int in, int out)
{
	cpu_set_t cpus;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus) && dup2(in, 0) == 0 && dup2(out, 1) == 1)
		execlp("python3", "python3", "-S", "-E", "-u", "-c", program, (char *)NULL);
	_exit(127);
}

/* A line of it, without its end. -1: it has ended. */
static int read_line(const struct worker *python, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && read(python->from, line + n, 1) == 1) {
		if (line[n] == '\n') {
			line[n] = 0;
			return 0;
		}
		n++;
	}
	return -1;
}

static int python_do(const struct worker *python, unsigned int depth)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int written = dprintf(python->to, "%u %u\n", depth, FAULTS);
	char line[2];

	signal(SIGPIPE, before);
	return written > 0 ? read_line(python, line, sizeof(line)) : -1;
}

/* A worker that takes no tasks but python_do()'s. */
static struct error *python_start(struct worker *python, unsigned int cpu,
				  struct python_frames *found)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC))
		return error_system(errno, "cannot make a pipe");
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return error_system(errno, "cannot make a pipe");
	}
	*python = (struct worker){ .pid = fork(), .to = to[1], .from = from[0] };
	if (!python->pid)
		become_python(cpu, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	if (python->pid > 0 && !read_line(python, found->version, sizeof(found->version)))
		return NULL;
	return error_new(ERROR_UNAVAILABLE, "there is no python3 in PATH");
}

/* -------- the measurement -------- */

struct batches {
	double frames[DEPTHS * BATCHES], ns[DEPTHS * BATCHES];
};

static double phase_ns(const struct phase_times *before, const struct phase_times *after,
		       enum phase phase)
{
	const struct phase_time *b = &before->phases[phase], *a = &after->phases[phase];

	return (double)(a->ns - b->ns) / (double)(a->samples - b->samples);
}

/* Batch `i`: the frames of a sample, and what they took. */
static struct error *take_batch(const struct worker *python, struct attachment *a,
				struct batches *b, size_t i)
{
	struct phase_times before, after;
	struct attachment_samples found;
	struct error *error;

	error = sampler_read_phases(a->sampler, &before);
	if (!error && python_do(python, depths[i % DEPTHS]))
		error = error_new(ERROR_FAILED, "the Python program ended");
	if (!error)
		error = sampler_read_phases(a->sampler, &after);
	if (!error)
		error = attachment_drain(a, &found);
	if (error)
		return error;
	if (found.samples < FAULTS || !found.script_frames)
		return error_new(
			found.script_frames ? ERROR_FAILED : ERROR_UNAVAILABLE,
			"%d page faults of the Python program gave %llu samples with %llu frames "
			"of its own",
			FAULTS, (unsigned long long)found.samples,
			(unsigned long long)found.script_frames);
	b->frames[i] = (double)found.script_frames / (double)found.samples;
	b->ns[i] = phase_ns(&before, &after, PHASE_SCRIPT) - phase_ns(&before, &after, PHASE_CLOCK);
	return NULL;
}

/* The depths in turns, as the machine's speed may change. */
static struct error *take_batches(const struct worker *python, struct attachment *a,
				  struct batches *b)
{
	struct error *error = NULL;

	/* The names of all functions are sent with the first samples. */
	for (size_t i = 0; i < 8 && !error; i++)
		error = take_batch(python, a, b, DEPTHS - 1);
	for (size_t i = 0; i < DEPTHS * BATCHES && !error; i++)
		error = take_batch(python, a, b, i);
	return error;
}

static struct error *measure(const struct worker *python, unsigned int cpu, struct batches *b)
{
	struct attachment a = { .time_phases = true };
	const struct attachment_options options = { "page-faults/period=1/", cpu,
						    UNWIND_BY_TABLES };
	struct error *error = attachment_sampler(&a, python, &options);

	if (!error)
		error = take_batches(python, &a, b);
	attachment_release(&a);
	return error;
}

struct error *python_frames_measure(struct python_frames *found, unsigned int cpu, uint64_t seed)
{
	const struct bootstrap bootstrap = { seed, RESAMPLES, 0.95 };
	struct worker python = { 0 };
	struct batches b;
	struct error *error = python_start(&python, cpu, found);

	if (!error)
		error = measure(&python, cpu, &b);
	if (python.pid > 0)
		worker_stop(&python);
	if (!error)
		error = sample_cost_fit(&found->cost, &bootstrap,
					&(struct points){ b.frames, b.ns, DEPTHS * BATCHES });
	return error;
}
