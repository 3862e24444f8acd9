/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/program_hits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/kernel/program_attach.h"
#include "bench/measure/recording.h"
#include "bench/results/output.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "format/prf.h"
#include "record/symbols/kernel_name.h"
#include "record/unwind/unwind_arch.h"
#include "report/annotate/disassembler.h"
#include "report/merge/label.h"

#define AROUND 2 /* instructions that are shown before and after one with samples */

void program_hits_release(struct program_hits *hits)
{
	map_release(&hits->self);
	map_release(&hits->total);
	*hits = (struct program_hits){ 0 };
}

/* -------- counting -------- */

static bool add(struct map *to, uint64_t address)
{
	uint64_t *count = map_put(to, &address, sizeof(address), NULL);

	if (count)
		++*count;
	return count;
}

/*
 * The address of the instruction that a frame is in, or of a byte of it: a return address follows
 * the call. 0: it is in no BPF program, or it is not known where that is.
 */
static uint64_t place_of(const struct prf_reader *r, const struct prf_frame *f)
{
	const struct prf_object *object = f->object == PRF_NONE ? NULL
								: prf_reader_object(r, f->object);

	if (!object || object->kind != PRF_OBJECT_BPF || !object->base)
		return 0;
	return object->base + f->offset - !(f->flags & PRF_FRAME_EXACT);
}

/* A sample counts where it leaves the innermost BPF program, for the kernel or not at all. */
static struct error *count_stack(struct program_hits *hits, const struct prf_reader *r,
				 uint32_t stack)
{
	const struct prf_stack *stacks = prf_reader_all_stacks(r);
	const struct prf_frame *frames = prf_reader_all_frames(r);
	uint64_t place = 0;
	uint32_t at = stack;

	/* Kernel frames are nearer to the leaf than user frames. */
	for (; at != PRF_NONE && frames[stacks[at].frame].flags & PRF_FRAME_KERNEL;
	     at = stacks[at].parent) {
		place = place_of(r, &frames[stacks[at].frame]);
		if (place)
			break;
	}
	if (!place)
		return NULL;
	return add(&hits->total, place) && (at != stack || add(&hits->self, place))
		       ? NULL
		       : error_memory();
}

static struct error *count_all(struct program_hits *hits, struct prf_reader *r)
{
	struct prf_record record;
	struct error *error = prf_reader_next(r, &record);

	while (!error && record.type != PRF_RECORD_END) {
		size_t n = record.type == PRF_RECORD_SAMPLES ? record.samples.n : 0;

		hits->samples += n;
		for (size_t i = 0; i < n && !error; i++)
			error = count_stack(hits, r, record.samples.stack[i]);
		if (!error)
			error = prf_reader_next(r, &record);
	}
	return error;
}

struct error *program_hits_read(struct program_hits *hits, int fd)
{
	struct prf_reader *reader;
	struct error *error = prf_reader_new_fd(&reader, fd);

	if (error)
		return error;
	error = count_all(hits, reader);
	prf_reader_free(reader);
	return error;
}

struct program_hit program_hits_at(const struct program_hits *hits, uint64_t address, uint32_t size)
{
	struct program_hit hit = { 0 };

	for (uint64_t at = address; at < address + size; at++) {
		const uint64_t *self = map_get(&hits->self, &at, sizeof(at));
		const uint64_t *total = map_get(&hits->total, &at, sizeof(at));

		hit.self += self ? *self : 0;
		hit.total += total ? *total : 0;
	}
	return hit;
}

/* -------- recording -------- */

static struct error *record_once(struct program_hits *hits, const struct recording *r,
				 const char *const *command, double seconds)
{
	char duration[32];
	const char *const options[] = { "-a", "--unwind=none", command ? NULL : "-d", duration,
					NULL };
	struct error *error;
	int fd;

	snprintf(duration, sizeof(duration), "%.9f", seconds);
	error = recording_run(r, options, command);
	if (!error && program_interrupted())
		error = error_new(ERROR_FAILED, "interrupted");
	if (error)
		return error;
	fd = open(r->trace, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s", r->trace);
	error = program_hits_read(hits, fd);
	close(fd);
	return error;
}

struct error *program_hits_record(struct program_hits *hits, const char *const *command,
				  double seconds)
{
	const uint64_t end_ns = clock_now() + (uint64_t)(seconds * 1e9);
	struct recording recording;
	struct error *error = recording_begin(&recording);

	if (error)
		return error;
	do
		error = record_once(hits, &recording, command, seconds);
	while (!error && command && clock_now() < end_ns);
	recording_end(&recording);
	return error;
}

/* -------- printing -------- */

/* A function and its instructions, as they are printed. */
struct listing {
	const struct program_hits *hits;
	const struct program_code *code;
	const struct program_function *function;
	struct disassembly instructions;
	struct program_hit *rows;   /* of the instructions */
	struct program_hit sum;	    /* of all functions */
	struct kernel_names *names; /* NULL: addresses stay numbers */
};

static void print_counts(const struct listing *l, const struct program_hit *hit, const char *rest)
{
	char self[16] = "", total[16] = "";

	if (hit && hit->self)
		snprintf(self, sizeof(self), "%.1f%%",
			 100.0 * (double)hit->self / (double)l->sum.total);
	if (hit && hit->total)
		snprintf(total, sizeof(total), "%.1f%%",
			 100.0 * (double)hit->total / (double)l->sum.total);
	output_line("%8s %8s  %s", self, total, rest);
}

/* Where in the function that is printed, by bytes; or in which other one, "name+0x10". */
static void append_target(const struct listing *l, struct buffer *b, uint64_t target)
{
	struct kernel_name name = { 0 };

	if (target - l->function->address < l->function->size) {
		buffer_printf(b, "%" PRIx64, target - l->function->address);
		return;
	}
	for (size_t i = 0; i < l->code->count; i++)
		if (target == l->code->functions[i].address && *l->code->functions[i].name)
			name = (struct kernel_name){ .name = l->code->functions[i].name,
						     .start = target };
	if (name.name || (l->names && kernel_names_find(l->names, target, &name)))
		buffer_text(b, name.name);
	if (!name.name || target != name.start)
		buffer_printf(b, "%s0x%" PRIx64, name.name ? "+" : "", target - name.start);
}

static void print_instruction(const struct listing *l, size_t i)
{
	const struct instruction *one = &l->instructions.list[i];
	struct buffer b = { 0 };

	buffer_printf(&b, "%6" PRIx64 "  ", one->address - l->function->address);
	for (const char *at = one->text; *at; at++) {
		if (*at == INSTRUCTION_ADDRESS)
			append_target(l, &b, one->target);
		else
			buffer_u8(&b, (uint8_t)*at);
	}
	print_counts(l, &l->rows[i], buffer_string(&b));
	buffer_release(&b);
}

/* Lines of the function before do not go on in this one. */
static bool is_new_line(const struct listing *l, const struct program_line *line,
			const struct program_line *last)
{
	return line && line->line && line->address >= l->function->address &&
	       (!last || line->line != last->line || strcmp(line->file, last->file) != 0);
}

static void print_line(const struct listing *l, const struct program_line *line)
{
	const char *text = line->text + strspn(line->text, " \t");
	struct buffer b = { 0 };

	buffer_printf(&b, "; %s:%" PRIu32 "  ", label_base_name(line->file), line->line);
	for (; *text; text++)
		buffer_u8(&b, *text == '\t' ? ' ' : (uint8_t)*text);
	print_counts(l, NULL, buffer_string(&b));
	buffer_release(&b);
}

static bool is_shown(const struct listing *l, size_t i)
{
	size_t from = i > AROUND ? i - AROUND : 0, to = i + AROUND;

	for (size_t at = from; at <= to && at < l->instructions.count; at++)
		if (l->rows[at].total)
			return true;
	return false;
}

static void print_skipped(size_t n)
{
	if (n)
		output_line("%8s %8s  ... %zu instructions", "", "", n);
}

static void print_rows(const struct listing *l)
{
	const struct program_line *last = NULL;
	size_t skipped = 0;

	output_line("%8s %8s  %6s  %s", "self", "total", "offset", "instruction");
	for (size_t i = 0; i < l->instructions.count; i++) {
		const struct program_line *line =
			program_code_line(l->code, l->instructions.list[i].address);

		if (!is_shown(l, i)) {
			skipped++;
			continue;
		}
		print_skipped(skipped);
		skipped = 0;
		if (is_new_line(l, line, last))
			print_line(l, line);
		last = line;
		print_instruction(l, i);
	}
	print_skipped(skipped);
}

static struct error *count_rows(struct listing *l)
{
	l->rows = calloc(l->instructions.count + 1, sizeof(*l->rows));
	if (!l->rows)
		return error_memory();
	for (size_t i = 0; i < l->instructions.count; i++) {
		const struct instruction *one = &l->instructions.list[i];

		l->rows[i] = program_hits_at(l->hits, one->address, one->size);
	}
	return NULL;
}

static struct error *print_function(struct listing *l)
{
	const struct program_function *f = l->function;
	const struct program_hit in = program_hits_at(l->hits, f->address, (uint32_t)f->size);
	struct error *error;

	if (!in.total)
		return NULL;
	error = disassemble(&l->instructions, ARCH_MACHINE, f->address, f->bytes, f->size);
	if (!error)
		error = count_rows(l);
	if (!error) {
		output_line("%s, %zu bytes of machine code, %s samples:",
			    *f->name ? f->name : "a function without a name", f->size,
			    output_count((double)in.total).text);
		print_rows(l);
	}
	free(l->rows);
	l->rows = NULL;
	disassembly_release(&l->instructions);
	return error;
}

/* The sampler is a BPF program itself: programs of some types keep others of these from running. */
static const char *why_none(const struct program *p)
{
	switch (program_type(p)) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
		return "while a program of its type runs, the kernel runs no other one that "
		       "samples";
	default:
		return "a program that runs while interrupts are disabled is only sampled where "
		       "there is a counter of cycles";
	}
}

static struct error *print_code(const struct program_hits *hits, const struct program *p,
				const struct program_code *code)
{
	struct listing l = { .hits = hits, .code = code };
	struct error *error = NULL;

	for (size_t i = 0; i < code->count; i++) {
		const struct program_function *f = &code->functions[i];
		struct program_hit in = program_hits_at(hits, f->address, (uint32_t)f->size);

		l.sum.self += in.self;
		l.sum.total += in.total;
	}
	if (!l.sum.total) {
		output_line("%24sno hits: of %s samples none lies in it; %s", "",
			    output_count((double)hits->samples).text, why_none(p));
		return NULL;
	}
	output_line("%24s%s of %s samples lie in it, %s more in what it called", "",
		    output_count((double)l.sum.self).text, output_count((double)hits->samples).text,
		    output_count((double)(l.sum.total - l.sum.self)).text);
	l.names = kernel_names_new();
	for (size_t i = 0; i < code->count && !error; i++) {
		l.function = &code->functions[i];
		error = print_function(&l);
	}
	kernel_names_free(l.names);
	return error;
}

struct error *program_hits_print(const struct program_hits *hits, const struct program *p)
{
	struct program_code code;
	struct error *error = program_code_read(&code, p);

	if (error)
		return error;
	error = print_code(hits, p, &code);
	program_code_release(&code);
	return error;
}
