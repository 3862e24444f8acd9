/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes traces of any size, always the same ones for the same options: for tests and
 * benchmarks. Each CPU has a timer with a little noise; each thread has stacks that share their
 * outer frames, and a few of them are taken far more often than others.
 *
 *     make_trace -n 1000000 -o big.prf
 *     make_trace -n 1000 --object /bin/true -o real.prf    frames that can be named
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf_file.h"
#include "common/message.h"
#include "common/options.h"
#include "format/prf.h"

#define OBJECTS_MAX 64
#define DEPTH_MAX 1000

struct settings {
	const char *output;
	unsigned long long samples, seed, sample_seed, threads, cpus, depth, stacks, period_ns,
		level, processes;
	const char *objects[OBJECTS_MAX];
	size_t object_count;
};

/* A place that frames may point to. */
struct code {
	uint32_t object;
	uint64_t offset, size;
};

struct generator {
	const struct settings *settings;
	struct prf_writer *writer;
	uint64_t random;
	struct code codes[OBJECTS_MAX];
	size_t code_count;
	uint32_t kernel;
	uint32_t *frames; /* of the functions */
	size_t frame_count;
	uint32_t *stacks, *tasks;
};

static void die(struct error *error, const char *what)
{
	message_error("%s: %s", what, error->text);
	error_free(error);
	exit(1);
}

static void must(struct error *error, const char *what)
{
	if (error)
		die(error, what);
}

/* splitmix64 */
static uint64_t next_random(struct generator *g)
{
	uint64_t z = (g->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t below(struct generator *g, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)next_random(g) * limit >> 64);
}

/* Below the limit, small ones much more often. */
static uint64_t skewed(struct generator *g, uint64_t limit)
{
	double u = (double)(next_random(g) >> 11) / (double)(UINT64_C(1) << 53);

	return (uint64_t)(u * u * u * (double)limit);
}

/* -------- definitions -------- */

static void add_file(struct generator *g, const char *path)
{
	static char absolute[PATH_MAX];
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .root = "" };
	struct code *code = &g->codes[g->code_count];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file elf;

	if (fd < 0 || !realpath(path, absolute) || elf_file_open(&elf, fd)) {
		message_error("%s: not an ELF file that can be read", path);
		exit(1);
	}
	close(fd);
	object.path = absolute;
	object.size = elf.size;
	object.build_id_size = elf.build_id_size;
	memcpy(object.build_id, elf.build_id, elf.build_id_size);
	for (size_t i = 0; i < elf.section_count; i++) {
		if (strcmp(elf.sections[i].name, ".text") == 0) {
			code->offset = elf.sections[i].offset;
			code->size = elf.sections[i].size;
		}
	}
	elf_file_release(&elf);
	if (!code->size) {
		message_error("%s: has no .text", path);
		exit(1);
	}
	must(prf_writer_object(g->writer, &object, &code->object), path);
	g->code_count++;
}

static void add_invented(struct generator *g)
{
	for (unsigned int i = 0; i < 8; i++) {
		struct code *code = &g->codes[g->code_count++];
		char path[64];
		struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = path, .root = "" };

		snprintf(path, sizeof(path),
			 i ? "/usr/lib/libinvented-%u.so.1" : "/usr/bin/invented", i);
		for (object.build_id_size = 0; object.build_id_size < 20; object.build_id_size++)
			object.build_id[object.build_id_size] = (uint8_t)next_random(g);
		object.size = 10000000 + i * 1000000;
		code->offset = 0x1000;
		code->size = object.size / 2;
		must(prf_writer_object(g->writer, &object, &code->object), path);
	}
}

static void add_kernel(struct generator *g)
{
	static char names[64][16];
	struct prf_symbol symbols[64];
	struct prf_object object = { .kind = PRF_OBJECT_KERNEL,
				     .path = "[kernel]",
				     .root = "",
				     .build_id = { 1, 2, 3, 4 },
				     .build_id_size = 20,
				     .base = 0xffffffff81000000 };

	must(prf_writer_object(g->writer, &object, &g->kernel), "kernel");
	for (size_t i = 0; i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "invented_%zu", i);
		symbols[i] = (struct prf_symbol){ i * 0x1000, 0x1000, names[i] };
	}
	must(prf_writer_symbols(g->writer, g->kernel, symbols, 64), "kernel symbols");
}

static void add_tasks(struct generator *g)
{
	const struct settings *s = g->settings;

	for (uint32_t i = 0; i < s->threads; i++) {
		uint32_t process = (uint32_t)(i * s->processes / s->threads);
		char comm[32];
		struct prf_task task = { .pid = 1000 + process * 10000,
					 .comm = comm,
					 .cgroup = "",
					 .command_line = "invented --all",
					 .parent_pid = 1 };

		snprintf(comm, sizeof(comm), "worker-%u", (unsigned int)i);
		task.tid = task.pid + i;
		task.inner_pid = task.pid;
		task.inner_tid = task.tid;
		must(prf_writer_task(g->writer, &task, &g->tasks[i]), "task");
	}
}

/* Functions: at first a few outer ones, which most stacks have in common. */
static void add_frames(struct generator *g)
{
	for (size_t i = 0; i < g->frame_count; i++) {
		const struct code *code = &g->codes[skewed(g, g->code_count)];
		struct prf_frame frame = { .object = code->object,
					   .offset = code->offset + below(g, code->size) };

		must(prf_writer_frame(g->writer, &frame, &g->frames[i]), "frame");
	}
}

/* A new stack begins like an earlier one, and goes on with frames of its own. */
static void add_stacks(struct generator *g)
{
	const struct settings *s = g->settings;
	uint32_t(*paths)[DEPTH_MAX] = malloc(64 * sizeof(*paths));
	size_t depths[64] = { 0 };

	if (!paths)
		die(error_memory(), "stacks");
	for (size_t i = 0; i < s->stacks; i++) {
		size_t from = below(g, i < 64 ? i + 1 : 64), to = i % 64;
		size_t depth = s->depth / 2 + below(g, s->depth) + 1;
		size_t common = depths[from] ? depths[from] - below(g, depths[from] / 2 + 1) : 0;
		uint32_t leaf_first[DEPTH_MAX];

		depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
		common = common < depth ? common : depth - 1;
		if (from != to)
			memcpy(paths[to], paths[from], common * sizeof(**paths));
		for (size_t j = common; j < depth; j++)
			paths[to][j] = g->frames[skewed(g, g->frame_count)];
		depths[to] = depth;
		if (below(g, 8) == 0) {
			struct prf_frame frame = { g->kernel, PRF_FRAME_KERNEL | PRF_FRAME_EXACT,
						   below(g, 64 * 0x1000) };

			must(prf_writer_frame(g->writer, &frame, &paths[to][depth - 1]), "frame");
		}
		for (size_t j = 0; j < depth; j++)
			leaf_first[j] = paths[to][depth - 1 - j];
		must(prf_writer_frames(g->writer, leaf_first, depth, &g->stacks[i]), "stack");
	}
	free(paths);
}

/* -------- samples -------- */

/* How late a timer is: some hundred ns, now and then much more. */
static uint64_t lateness(struct generator *g)
{
	uint64_t r = next_random(g);

	return 300 + (r & 0xff) + (r >> 8 & 0xff) + (r >> 16 & 0x1ff) +
	       ((r >> 32 & 0xff) == 0 ? r >> 40 & 0xffff : 0);
}

static void add_samples(struct generator *g)
{
	const struct settings *s = g->settings;
	uint32_t event, *running = calloc(s->cpus, 2 * sizeof(*running));
	uint32_t *stack = running ? running + s->cpus : NULL;
	struct prf_event clock = { .kind = PRF_EVENT_ON_CPU,
				   .name = "cpu-clock",
				   .unit = "samples",
				   .frequency = 1000000000 / s->period_ns };

	if (!running)
		die(error_memory(), "samples");
	must(prf_writer_event(g->writer, &clock, &event), "event");
	for (uint64_t i = 0; i < s->samples; i++) {
		uint32_t cpu = (uint32_t)(i % s->cpus);
		uint64_t tick = i / s->cpus + 1;
		struct prf_sample sample = {
			.time_ns = 1000000000 + tick * s->period_ns +
				   cpu * (s->period_ns / s->cpus) + lateness(g),
			.event = event,
			.waker = PRF_NONE,
			.cpu = cpu,
			.weight = 1,
		};

		if (below(g, 50) == 0 || tick == 1)
			running[cpu] = (uint32_t)below(g, s->threads);
		if (below(g, 4) != 0 || tick == 1)
			stack[cpu] = (uint32_t)skewed(g, s->stacks);
		sample.task = g->tasks[running[cpu]];
		sample.stack = g->stacks[stack[cpu]];
		must(prf_writer_sample(g->writer, &sample), "sample");
	}
	must(prf_writer_statistic(g->writer, "fired", s->samples), "statistic");
	free(running);
}

static void generate(struct generator *g)
{
	const struct settings *s = g->settings;

	g->random = s->seed;
	g->frame_count = s->stacks / 2 + 16;
	g->frames = malloc(g->frame_count * sizeof(*g->frames));
	g->stacks = malloc(s->stacks * sizeof(*g->stacks));
	g->tasks = malloc(s->threads * sizeof(*g->tasks));
	if (!g->frames || !g->stacks || !g->tasks)
		die(error_memory(), "tables");
	must(prf_writer_metadata(g->writer, "recorder", "make_trace"), "metadata");
	must(prf_writer_metadata(g->writer, "host", "invented"), "metadata");
	for (size_t i = 0; i < s->object_count; i++)
		add_file(g, s->objects[i]);
	if (!s->object_count)
		add_invented(g);
	add_kernel(g);
	add_tasks(g);
	add_frames(g);
	add_stacks(g);
	g->random += s->sample_seed;
	add_samples(g);
	free(g->frames);
	free(g->stacks);
	free(g->tasks);
}

/* -------- command line -------- */

static const char *take_number(unsigned long long *into, unsigned long long low,
			       unsigned long long high, const char *argument)
{
	return option_number(argument, low, high, into) ? NULL : "is not a number in range";
}

#define TAKE(what, low, high)                                                                      \
	static const char *take_##what(void *context, const char *argument)                        \
	{                                                                                          \
		struct settings *s = context;                                                      \
                                                                                                   \
		return take_number(&s->what, low, high, argument);                                 \
	}
TAKE(samples, 0, 1000000000)
TAKE(seed, 0, ULLONG_MAX)
TAKE(sample_seed, 0, ULLONG_MAX)
TAKE(threads, 1, 1000000)
TAKE(processes, 1, 100000)
TAKE(cpus, 1, 4096)
TAKE(depth, 1, DEPTH_MAX)
TAKE(stacks, 1, 10000000)
TAKE(level, 0, 19)

static const char *take_rate(void *context, const char *argument)
{
	struct settings *s = context;
	unsigned long long rate;

	if (!option_number(argument, 1, 1000000, &rate))
		return "is not a rate from 1 to 1000000";
	s->period_ns = 1000000000 / rate;
	return NULL;
}

static const char *take_object(void *context, const char *argument)
{
	struct settings *s = context;

	if (s->object_count == OBJECTS_MAX)
		return "is one object too many";
	s->objects[s->object_count++] = argument;
	return NULL;
}

static const char *take_output(void *context, const char *argument)
{
	struct settings *s = context;

	s->output = argument;
	return NULL;
}

static const struct option_entry table[] = {
	{ 'n', "samples", "N", "samples (100000)", take_samples },
	{ 's', "seed", "N", "seed (1)", take_seed },
	{ 0, "sample-seed", "N", "the same stacks with other samples (0)", take_sample_seed },
	{ 't', "threads", "N", "threads (4)", take_threads },
	{ 0, "processes", "N", "processes that the threads belong to (1)", take_processes },
	{ 'C', "cpus", "N", "CPUs (2)", take_cpus },
	{ 'd', "depth", "N", "average depth of the stacks (20)", take_depth },
	{ 'k', "stacks", "N", "different stacks (2000)", take_stacks },
	{ 'F', "rate", "HZ", "samples per second and CPU (999)", take_rate },
	{ 'z', "level", "N", "zstd level, 0 stores (3)", take_level },
	{ 'O', "object", "FILE", "an ELF file whose code the frames lie in; may be repeated",
	  take_object },
	{ 'o', "output", "FILE", "where to write (stdout)", take_output },
	{ 0 },
};

int main(int argc, char **argv)
{
	struct settings settings = {
		.samples = 100000,
		.seed = 1,
		.threads = 4,
		.processes = 1,
		.cpus = 2,
		.depth = 20,
		.stacks = 2000,
		.period_ns = 1000000000 / 999,
		.level = 3,
	};
	const struct options options = {
		.program = "make_trace",
		.synopsis = "[OPTIONS]",
		.summary = "Makes a trace of invented samples.",
		.table = table,
		.context = &settings,
	};
	struct prf_writer_options writer = { .fd = STDOUT_FILENO, .compress_thread = true };
	struct generator g = { .settings = &settings };
	char **rest = calloc((size_t)argc, sizeof(*rest)), **command;
	int rest_count = 0, status;

	message_setup("make_trace", MESSAGE_WARNING);
	status = options_parse(&options, argc, argv, rest, &rest_count, &command);
	free(rest);
	if (status != OPTIONS_OK)
		return status;
	if (settings.output) {
		writer.fd = open(settings.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (writer.fd < 0)
			die(error_system(errno, "cannot open"), settings.output);
	}
	writer.level = (int)settings.level;
	must(prf_writer_new(&g.writer, &writer), "header");
	generate(&g);
	must(prf_writer_finish(g.writer), "end");
	prf_writer_free(g.writer);
	if (close(writer.fd))
		die(error_system(errno, "cannot close"), "output");
	return 0;
}
