/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/script_frames.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/kernel/attachment.h"
#include "bench/statistics/bootstrap.h"

#define RESAMPLES 2000
#define FAULTS 100 /* of a batch */
#define BATCHES 20 /* of each depth */
#define DEPTHS 5

static const unsigned int depths[DEPTHS] = { 4, 16, 64, 128, 250 };

/*
 * They print their version, read lines "depth faults", and answer each with one. Their functions
 * are all different code.
 */
static const char python_text[] =
	"import mmap, os, sys\n"
	"def touch(n):\n"
	"    pages = mmap.mmap(-1, n * 4096)\n"
	"    for i in range(n): pages[i * 4096] = 1\n"
	"    pages.close()\n"
	"names = {'f0': touch}\n"
	"exec(''.join('def f%d(n): f%d(n)\\n' % (i, i - 1) for i in range(1, 256)), names)\n"
	"os.write(1, ('%d.%d.%d\\n' % sys.version_info[:3]).encode())\n"
	"for line in sys.stdin:\n"
	"    depth, faults = line.split()\n"
	"    names['f' + depth](int(faults))\n"
	"    os.write(1, b'\\n')\n";
/* A large string's memory is mapped for it, and given back at once. */
static const char ruby_text[] = "def f0(n) = ('x' * (n * 4096)).clear\n"
				"1.upto(255) { |i| eval(\"def f#{i}(n) = f#{i - 1}(n)\") }\n"
				"$stdout.sync = true\n"
				"puts RUBY_VERSION\n"
				"while line = $stdin.gets\n"
				"  depth, faults = line.split\n"
				"  send('f' + depth, Integer(faults))\n"
				"  puts\n"
				"end\n";
/* The same of a large string, once malloc() serves it (USE_ZEND_ALLOC). */
static const char php_text[] =
	"function f0($n) { str_repeat('x', $n * 4096); }\n"
	"for ($i = 1; $i < 256; $i++) eval(\"function f$i(\\$n) { f\" . ($i - 1) . '($n); }');\n"
	"echo PHP_VERSION, \"\\n\";\n"
	"while ($line = fgets(STDIN)) {\n"
	"    [$depth, $faults] = explode(' ', $line);\n"
	"    \"f$depth\"((int)$faults);\n"
	"    echo \"\\n\";\n"
	"}\n";
static const char *const python_command[] = { "python3", "-SEu", "-c", python_text, NULL };
static const char *const ruby_command[] = { "ruby", "--disable=gems", "-e", ruby_text, NULL };
static const char *const php_command[] = { "php", "-n", "-r", php_text, NULL };

const struct script_program script_programs[] = {
	{ "Python", "python", python_command },
	{ "Ruby", "ruby", ruby_command },
	{ "PHP", "php", php_command },
};

/* -------- the program -------- */

static void become_script(const struct script_program *program, unsigned int cpu, int in, int out)
{
	cpu_set_t cpus;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	/* Else glibc keeps memory that was freed, after some time. */
	if (!setenv("MALLOC_MMAP_THRESHOLD_", "65536", 1) && !setenv("USE_ZEND_ALLOC", "0", 1) &&
	    !sched_setaffinity(0, sizeof(cpus), &cpus) && dup2(in, 0) == 0 && dup2(out, 1) == 1)
		execvp(program->command[0], (char *const *)(uintptr_t)program->command);
	_exit(127);
}

/* A line of it, without its end. -1: it has ended. */
static int read_line(const struct worker *script, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && read(script->from, line + n, 1) == 1) {
		if (line[n] == '\n') {
			line[n] = 0;
			return 0;
		}
		n++;
	}
	return -1;
}

static int script_do(const struct worker *script, unsigned int depth)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int written = dprintf(script->to, "%u %u\n", depth, FAULTS);
	char line[2];

	signal(SIGPIPE, before);
	return written > 0 ? read_line(script, line, sizeof(line)) : -1;
}

/* A worker that takes no tasks but script_do()'s. */
static struct error *script_start(struct worker *script, const struct script_program *program,
				  unsigned int cpu, struct script_frames *found)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC))
		return error_system(errno, "cannot make a pipe");
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return error_system(errno, "cannot make a pipe");
	}
	*script = (struct worker){ .pid = fork(), .to = to[1], .from = from[0] };
	if (!script->pid)
		become_script(program, cpu, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	if (script->pid > 0 && !read_line(script, found->version, sizeof(found->version)))
		return NULL;
	return error_new(ERROR_UNAVAILABLE, "there is no %s in PATH", program->command[0]);
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
static struct error *take_batch(const struct worker *script, struct attachment *a,
				struct batches *b, size_t i)
{
	struct phase_times before, after;
	struct attachment_samples found;
	struct error *error;

	error = sampler_read_phases(a->sampler, &before);
	if (!error && script_do(script, depths[i % DEPTHS]))
		error = error_new(ERROR_FAILED, "the program ended");
	if (!error)
		error = sampler_read_phases(a->sampler, &after);
	if (!error)
		error = attachment_drain(a, &found);
	if (error)
		return error;
	if (found.samples < FAULTS || !found.script_frames)
		return error_new(
			found.script_frames ? ERROR_FAILED : ERROR_UNAVAILABLE,
			"%d page faults of the program gave %llu samples with %llu frames of its "
			"own",
			FAULTS, (unsigned long long)found.samples,
			(unsigned long long)found.script_frames);
	b->frames[i] = (double)found.script_frames / (double)found.samples;
	b->ns[i] = phase_ns(&before, &after, PHASE_SCRIPT) - phase_ns(&before, &after, PHASE_CLOCK);
	return NULL;
}

/* The depths in turns, as the machine's speed may change. */
static struct error *take_batches(const struct worker *script, struct attachment *a,
				  struct batches *b)
{
	struct error *error = NULL;

	/* The names of all functions are sent with the first samples. */
	for (size_t i = 0; i < 8 && !error; i++)
		error = take_batch(script, a, b, DEPTHS - 1);
	for (size_t i = 0; i < DEPTHS * BATCHES && !error; i++)
		error = take_batch(script, a, b, i);
	return error;
}

static struct error *measure(const struct worker *script, unsigned int cpu, struct batches *b)
{
	struct attachment a = { .time_phases = true };
	const struct attachment_options options = { "page-faults/period=1/", cpu,
						    UNWIND_BY_TABLES };
	struct error *error = attachment_sampler(&a, script, &options);

	if (!error)
		error = take_batches(script, &a, b);
	attachment_release(&a);
	return error;
}

struct error *script_frames_measure(struct script_frames *found,
				    const struct script_program *program, unsigned int cpu,
				    uint64_t seed)
{
	const struct bootstrap bootstrap = { seed, RESAMPLES, 0.95 };
	struct worker script = { 0 };
	struct batches b;
	struct error *error = script_start(&script, program, cpu, found);

	if (!error)
		error = measure(&script, cpu, &b);
	if (script.pid > 0)
		worker_stop(&script);
	if (!error)
		error = sample_cost_fit(&found->cost, &bootstrap,
					&(struct points){ b.frames, b.ns, DEPTHS * BATCHES });
	return error;
}
