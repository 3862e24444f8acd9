/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/folded_trace.h"

#include "common/array.h"
#include "report/output/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVEL 1
/* Sums of this size can be added and divided without a thought to overflow. */
#define TOTAL_MAX (UINT64_C(1) << 53)

struct folding {
	struct prf_writer *writer;
	uint32_t object, event;
	/* The writer forgets what was not used for long, so what it defined is kept here. */
	struct text_pool names; /* the number of a name is the offset of its frame */
	uint32_t *frames;	/* of each name */
	struct text_pool commands;
	uint32_t *tasks; /* of each command */
	size_t frame_capacity, task_capacity;
	uint64_t line;	/* its number, from 1 on */
	uint64_t total; /* of all numbers */
};

static void folding_release(struct folding *f)
{
	prf_writer_free(f->writer);
	text_pool_release(&f->names);
	text_pool_release(&f->commands);
	free(f->frames);
	free(f->tasks);
}

static struct error *wrong(const struct folding *f, const char *why)
{
	return error_new(ERROR_CORRUPT, "line %" PRIu64 " is no folded stack: %s", f->line, why);
}

/* -------- a line -------- */

/* Cuts the number off. */
static struct error *take_count(const struct folding *f, char *line, uint64_t *count)
{
	char *blank = strrchr(line, ' '), *end;

	if (!blank || blank[1] < '0' || blank[1] > '9')
		return wrong(f, "it does not end in a blank and a whole number");
	errno = 0;
	*count = strtoull(blank + 1, &end, 10);
	if (*end)
		return wrong(f, "it does not end in a blank and a whole number");
	if (errno || *count > TOTAL_MAX - f->total)
		return wrong(f, "with it, more than 2^53 are counted");
	*blank = 0;
	return blank == line ? wrong(f, "there is nothing but a number") : NULL;
}

static struct error *take_command(struct folding *f, const char *command, uint32_t *task)
{
	size_t known = f->commands.count;
	uint32_t number = text_pool_add(&f->commands, command);
	struct error *error = NULL;

	if (number == UINT32_MAX || !array_reserve(&f->tasks, &f->task_capacity, number + 1u))
		return error_memory();
	if (number == known)
		error = prf_writer_task(
			f->writer,
			&(struct prf_task){ .comm = command, .cgroup = "", .command_line = "" },
			&f->tasks[number]);
	if (!error)
		*task = f->tasks[number];
	return error;
}

static struct error *define_frame(struct folding *f, const char *name, uint32_t number)
{
	const struct prf_frame frame = { f->object, PRF_FRAME_EXACT, number };
	const struct prf_place place = { .function = name, .file = "" };
	struct error *error = prf_writer_frame(f->writer, &frame, &f->frames[number]);

	return error ? error : prf_writer_names(f->writer, f->frames[number], &place, 1);
}

/* Puts a frame on the stack; `*stack` is PRF_NONE below the outermost one. */
static struct error *add_frame(struct folding *f, const char *name, uint32_t *stack)
{
	size_t known = f->names.count;
	uint32_t number = text_pool_add(&f->names, name);
	struct prf_stack next = { .parent = *stack };
	struct error *error = NULL;

	if (number == UINT32_MAX || !array_reserve(&f->frames, &f->frame_capacity, number + 1u))
		return error_memory();
	if (number == known)
		error = define_frame(f, name, number);
	next.frame = f->frames[number];
	return error ? error : prf_writer_stack(f->writer, &next, stack);
}

static struct error *take_line(struct folding *f, char *line, size_t length)
{
	struct prf_sample sample = {
		.event = f->event, .stack = PRF_NONE, .waker = PRF_NONE, .waker_task = PRF_NONE
	};
	struct error *error;
	char *name;

	f->line++;
	if (memchr(line, 0, length))
		return wrong(f, "it has a byte 0");
	error = take_count(f, line, &sample.weight);
	if (error || !sample.weight)
		return error;
	f->total += sample.weight;
	error = take_command(f, strsep(&line, ";"), &sample.task);
	while (!error && (name = strsep(&line, ";")))
		error = add_frame(f, name, &sample.stack);
	return error ? error : prf_writer_sample(f->writer, &sample);
}

/* -------- all lines -------- */

/* What was read and not taken yet. */
struct unread {
	char bytes[FOLDED_LINE_MAX + 1];
	size_t size;
	size_t searched; /* so many have no newline */
};

/* Takes the lines that are whole. */
static struct error *take_lines(struct folding *f, struct unread *u)
{
	char *at = u->bytes, *from = u->bytes + u->searched, *end = u->bytes + u->size, *newline;
	struct error *error = NULL;

	while (!error && (newline = memchr(from, '\n', (size_t)(end - from)))) {
		*newline = 0;
		error = take_line(f, at, (size_t)(newline - at));
		at = from = newline + 1;
	}
	u->size = u->searched = (size_t)(end - at);
	memmove(u->bytes, at, u->size);
	if (!error && u->size == FOLDED_LINE_MAX) {
		f->line++;
		error = wrong(f, "it has more than a million bytes");
	}
	return error;
}

static struct error *take_text(struct folding *f, int fd)
{
	struct unread *u = malloc(sizeof(*u));
	struct error *error = NULL;
	ssize_t n = 1;

	if (!u)
		return error_memory();
	u->size = u->searched = 0;
	while (!error && n && !progress_interrupted()) {
		n = read(fd, u->bytes + u->size, FOLDED_LINE_MAX - u->size);
		if (n > 0) {
			u->size += (size_t)n;
			error = take_lines(f, u);
		} else if (n < 0 && errno != EINTR) {
			error = error_system(errno, "cannot read");
		}
	}
	if (!error && !n && u->size) {
		u->bytes[u->size] = 0;
		error = take_line(f, u->bytes, u->size);
	}
	free(u);
	return error;
}

static struct error *fold(struct folding *f, int from, int to)
{
	static const struct prf_object object = { .kind = PRF_OBJECT_UNKNOWN,
						  .path = "",
						  .root = "" };
	static const struct prf_event event = { .kind = PRF_EVENT_ON_CPU,
						.name = "folded",
						.unit = "samples" };
	struct error *error = prf_writer_new(
		&f->writer, &(struct prf_writer_options){ .fd = to, .level = LEVEL });

	if (!error)
		error = prf_writer_event(f->writer, &event, &f->event);
	if (!error)
		error = prf_writer_object(f->writer, &object, &f->object);
	if (!error)
		error = take_text(f, from);
	return error ? error : prf_writer_finish(f->writer);
}

struct error *folded_trace_open(struct trace *t)
{
	struct folding f = { 0 };
	int fd = trace_unnamed_file();
	struct error *error;

	if (fd < 0)
		return error_system(errno, "cannot make a temporary file");
	error = fold(&f, t->fd, fd);
	folding_release(&f);
	if (error)
		close(fd);
	else
		trace_replace_file(t, fd);
	return error;
}
