/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/suite/corpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf_file.h"
#include "format/prf.h"

#define PERIOD_NS 1001001 /* 999 Hz */
#define CPUS 2

/* Small numbers much more often than large ones. */
static uint32_t skewed(struct random *r, uint32_t limit)
{
	double u = random_unit(r);

	return (uint32_t)((double)limit * u * u * u);
}

static void make_tree(struct corpus *c, struct random *r)
{
	for (uint32_t i = 0; i < c->options.nodes; i++) {
		uint32_t parent = UINT32_MAX, tries = 0;

		/* Mostly below what came last: deep, with branches. */
		while (i && parent == UINT32_MAX && tries++ < 8) {
			uint32_t back = 1 + skewed(r, i < 64 ? i : 64);

			if (back <= i && c->level[i - back] + 1 < c->options.depth)
				parent = i - back;
		}
		c->parents[i] = parent;
		c->level[i] = parent == UINT32_MAX ? 0 : c->level[parent] + 1;
		c->place[i] = skewed(r, c->options.places);
	}
}

static void make_samples(struct corpus *c, struct random *r)
{
	uint64_t time = UINT64_C(1000000000000);

	for (uint32_t i = 0; i < c->options.samples; i++) {
		c->cpu[i] = i % CPUS;
		if (!c->cpu[i])
			time += PERIOD_NS + random_below(r, 2000);
		c->time_ns[i] = time + c->cpu[i] * 1500 + random_below(r, 500);
		c->node[i] = c->options.nodes - 1 - skewed(r, c->options.nodes);
		c->thread[i] = (uint32_t)random_below(r, c->options.threads);
	}
}

/* The path. This program's own path may name another file by now, or none. */
static int find_object(struct corpus *c)
{
	const char *object = c->options.object;
	ssize_t length;

	if (object)
		return snprintf(c->path, sizeof(c->path), "%s", object) < (int)sizeof(c->path) ? 0
											       : -1;
	length = readlink("/proc/self/exe", c->path, sizeof(c->path) - 1);
	if (length < 0)
		return -1;
	c->path[length] = 0;
	return 0;
}

static int open_object(const struct corpus *c)
{
	return open(c->options.object ? c->path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int make_places(struct corpus *c, struct random *r)
{
	const struct elf_section *text;
	struct elf_file elf;
	int fd, status = -1;

	if (find_object(c))
		return -1;
	fd = open_object(c);
	if (fd < 0)
		return -1;
	if (!elf_file_open(&elf, fd)) {
		text = elf_file_section(&elf, ".text");
		for (uint32_t i = 0; text && i < c->options.places; i++)
			c->offsets[i] = text->offset + random_below(r, text->size);
		status = text && text->size ? 0 : -1;
		elf_file_release(&elf);
	}
	close(fd);
	return status;
}

int corpus_init(struct corpus *c, const struct corpus_options *options)
{
	size_t nodes = options->nodes, samples = options->samples;
	struct random r;

	*c = (struct corpus){ .options = *options };
	c->parents = calloc(nodes, sizeof(*c->parents));
	c->place = calloc(nodes, sizeof(*c->place));
	c->level = calloc(nodes, sizeof(*c->level));
	c->offsets = calloc(options->places, sizeof(*c->offsets));
	c->time_ns = calloc(samples, sizeof(*c->time_ns));
	c->node = calloc(samples, sizeof(*c->node));
	c->thread = calloc(samples, sizeof(*c->thread));
	c->cpu = calloc(samples, sizeof(*c->cpu));
	random_seed(&r, options->seed);
	if (!c->parents || !c->place || !c->level || !c->offsets || !c->time_ns || !c->node ||
	    !c->thread || !c->cpu || make_places(c, &r)) {
		corpus_release(c);
		return -1;
	}
	make_tree(c, &r);
	make_samples(c, &r);
	return 0;
}

void corpus_release(struct corpus *c)
{
	free(c->parents);
	free(c->place);
	free(c->level);
	free(c->offsets);
	free(c->time_ns);
	free(c->node);
	free(c->thread);
	free(c->cpu);
	*c = (struct corpus){ 0 };
}

/* -------- as a trace -------- */

static int write_object(const struct corpus *c, struct prf_writer *w, uint32_t *object)
{
	struct prf_object o = { .kind = PRF_OBJECT_FILE, .path = c->path, .root = "" };
	int fd = open_object(c);
	struct elf_file elf;
	struct stat info;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &info)) {
		o.device = info.st_dev;
		o.inode = info.st_ino;
		o.size = (uint64_t)info.st_size;
		o.mtime_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
			     (uint64_t)info.st_mtim.tv_nsec;
	}
	if (!elf_file_open(&elf, fd)) {
		memcpy(o.build_id, elf.build_id, sizeof(o.build_id));
		o.build_id_size = elf.build_id_size;
		elf_file_release(&elf);
	}
	close(fd);
	return error_ignore(prf_writer_object(w, &o, object)) ? -1 : 0;
}

/* Fills the writer's number of each node. */
static int write_stacks(const struct corpus *c, struct prf_writer *w, uint32_t object,
			uint32_t *stacks)
{
	for (uint32_t i = 0; i < c->options.nodes; i++) {
		uint32_t parent = c->parents[i], frame;
		struct prf_stack stack;

		if (error_ignore(prf_writer_frame(
			    w,
			    &(struct prf_frame){ .object = object,
						 .offset = c->offsets[c->place[i]] },
			    &frame)))
			return -1;
		stack.parent = parent == UINT32_MAX ? PRF_NONE : stacks[parent];
		stack.frame = frame;
		if (error_ignore(prf_writer_stack(w, &stack, &stacks[i])))
			return -1;
	}
	return 0;
}

static int write_samples(const struct corpus *c, struct prf_writer *w, const uint32_t *stacks,
			 const uint32_t *tasks, uint32_t event)
{
	for (uint32_t i = 0; i < c->options.samples; i++) {
		const struct prf_sample sample = { .time_ns = c->time_ns[i],
						   .task = tasks[c->thread[i]],
						   .event = event,
						   .stack = stacks[c->node[i]],
						   .waker = PRF_NONE,
						   .cpu = c->cpu[i],
						   .weight = 1 };

		if (error_ignore(prf_writer_sample(w, &sample)))
			return -1;
	}
	return 0;
}

int corpus_write(const struct corpus *c, struct prf_writer *w)
{
	const struct prf_event event = {
		.kind = PRF_EVENT_ON_CPU, .name = "cpu-clock", .unit = "samples", .frequency = 999
	};
	uint32_t *stacks = calloc(c->options.nodes + c->options.threads, sizeof(*stacks));
	uint32_t *tasks = stacks + c->options.nodes, object, number;
	int status = -1;

	if (!stacks || error_ignore(prf_writer_event(w, &event, &number)) ||
	    write_object(c, w, &object))
		goto out;
	for (uint32_t i = 0; i < c->options.threads; i++) {
		const struct prf_task task = { .pid = 1000,
					       .tid = 1000 + i,
					       .inner_pid = 1000,
					       .inner_tid = 1000 + i,
					       .comm = "corpus",
					       .cgroup = "",
					       .command_line = "" };

		if (error_ignore(prf_writer_task(w, &task, &tasks[i])))
			goto out;
	}
	if (!write_stacks(c, w, object, stacks) && !write_samples(c, w, stacks, tasks, number))
		status = 0;
out:
	free(stacks);
	return status;
}

int corpus_trace(const struct corpus *c, int level, uint8_t **bytes, size_t *size)
{
	const struct prf_writer_options options = { .fd = -1, .level = level };
	struct prf_writer *w;
	const void *memory;
	int status = -1;

	if (error_ignore(prf_writer_new(&w, &options)))
		return -1;
	if (!corpus_write(c, w) && !error_ignore(prf_writer_finish(w))) {
		memory = prf_writer_memory(w, size);
		*bytes = malloc(*size);
		if (*bytes) {
			memcpy(*bytes, memory, *size);
			status = 0;
		}
	}
	prf_writer_free(w);
	return status;
}
