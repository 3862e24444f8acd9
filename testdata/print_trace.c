/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says what libprf reads in a trace, in the language of testdata/README.md: definitions, then
 * records; damage and errors as comments.
 *
 *     print_trace FILE
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/message.h"
#include "format/prf.h"

static void put_bytes(struct buffer *out, const uint8_t *bytes, size_t size)
{
	buffer_text(out, " \"");
	for (size_t i = 0; i < size; i++) {
		uint8_t c = bytes[i];

		if (c < 0x20 || c >= 0x7f)
			buffer_printf(out, "\\x%02x", c);
		else
			buffer_printf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	buffer_text(out, "\"");
}

static void put_text(struct buffer *out, const char *text)
{
	put_bytes(out, (const uint8_t *)text, strlen(text));
}

static void put_id(struct buffer *out, uint32_t id)
{
	if (id == PRF_NONE)
		buffer_text(out, " -");
	else
		buffer_printf(out, " %" PRIu32, id);
}

static void put_samples(struct buffer *out, const struct prf_samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		buffer_printf(out, "sample %" PRIu64 " %" PRIu32 " %" PRIu32, s->time_ns[i],
			      s->task[i], s->event[i]);
		put_id(out, s->stack[i]);
		buffer_printf(out, " %" PRIu32 " %" PRIu64, s->cpu[i], s->weight[i]);
		if (s->waker[i] != PRF_NONE)
			put_id(out, s->waker[i]);
		if (s->waker_task[i] != PRF_NONE)
			put_id(out, s->waker_task[i]);
		buffer_text(out, "\n");
	}
}

static void put_symbols(struct buffer *out, const struct prf_record *r)
{
	buffer_printf(out, "symbols %" PRIu32, r->symbols.object);
	for (size_t i = 0; i < r->symbols.n; i++) {
		buffer_printf(out, " %" PRIu64 " %" PRIu64, r->symbols.symbols[i].start,
			      r->symbols.symbols[i].size);
		put_text(out, r->symbols.symbols[i].name);
	}
	buffer_text(out, "\n");
}

static void put_names(struct buffer *out, const struct prf_record *r)
{
	buffer_printf(out, "names %" PRIu32, r->names.frame);
	for (size_t i = 0; i < r->names.n; i++) {
		put_text(out, r->names.places[i].function);
		put_text(out, r->names.places[i].file);
		buffer_printf(out, " %" PRIu32 " %" PRIu32, r->names.places[i].line,
			      r->names.places[i].start_line);
	}
	buffer_text(out, "\n");
}

static void put_code(struct buffer *out, const struct prf_code *code)
{
	buffer_printf(out, "code %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32, code->object,
		      code->offset, code->address, code->machine);
	put_text(out, code->name);
	put_bytes(out, code->bytes, code->size);
	buffer_printf(out, " %zu", code->line_count);
	for (size_t i = 0; i < code->line_count; i++) {
		buffer_printf(out, " %" PRIu64, code->lines[i].address);
		put_text(out, code->lines[i].function);
		put_text(out, code->lines[i].file);
		buffer_printf(out, " %" PRIu32, code->lines[i].line);
	}
	for (size_t i = 0; i < code->symbol_count; i++) {
		buffer_printf(out, " %" PRIu64 " %" PRIu64, code->symbols[i].address,
			      code->symbols[i].into);
		put_text(out, code->symbols[i].name);
	}
	buffer_text(out, "\n");
}

static void put_source(struct buffer *out, const struct prf_source *source)
{
	buffer_text(out, "source");
	put_text(out, source->path);
	buffer_printf(out, " %" PRIu32, source->first_line);
	for (size_t i = 0; i < source->n; i++)
		put_text(out, source->lines[i]);
	buffer_text(out, "\n");
}

static void put_record(struct buffer *out, const struct prf_record *r)
{
	switch (r->type) {
	case PRF_RECORD_SAMPLES: put_samples(out, &r->samples); break;
	case PRF_RECORD_LOSS:
		buffer_printf(out, "loss %" PRIu64 " %" PRIu64, r->loss.from_ns, r->loss.to_ns);
		put_id(out, r->loss.cpu);
		buffer_printf(out, " %d %" PRIu64 "\n", (int)r->loss.reason, r->loss.count);
		break;
	case PRF_RECORD_SYMBOLS: put_symbols(out, r); break;
	case PRF_RECORD_NAMES: put_names(out, r); break;
	case PRF_RECORD_CODE: put_code(out, &r->code); break;
	case PRF_RECORD_SOURCE: put_source(out, &r->source); break;
	case PRF_RECORD_METADATA:
		buffer_text(out, "metadata");
		put_text(out, r->metadata.key);
		put_text(out, r->metadata.value);
		buffer_text(out, "\n");
		break;
	case PRF_RECORD_STATISTIC:
		buffer_text(out, "statistic");
		put_text(out, r->statistic.key);
		buffer_printf(out, " %" PRIu64 "\n", r->statistic.value);
		break;
	case PRF_RECORD_DAMAGE:
		buffer_printf(out, "# %s: block %" PRIu64 " at 0x%" PRIx64 ": %s; ",
			      error_kind_name(r->damage.kind), r->damage.block, r->damage.offset,
			      r->damage.reason);
		buffer_printf(out, "%" PRIu64 " bytes skipped\n", r->damage.skipped);
		break;
	case PRF_RECORD_END: break;
	}
}

static void put_object(struct buffer *out, const struct prf_object *o)
{
	buffer_printf(out, "object %d", (int)o->kind);
	put_text(out, o->path);
	put_text(out, o->root);
	buffer_text(out, " \"");
	for (size_t i = 0; i < o->build_id_size; i++)
		buffer_printf(out, "%02x", o->build_id[i]);
	buffer_printf(out, "\" %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		      o->base, o->deleted, o->device, o->inode, o->size, o->mtime_ns);
}

static void put_task(struct buffer *out, const struct prf_task *t)
{
	buffer_printf(out, "task %" PRIu32 " %" PRIu32, t->pid, t->tid);
	put_text(out, t->comm);
	put_text(out, t->cgroup);
	put_text(out, t->command_line);
	buffer_printf(out, " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", t->parent_pid,
		      t->start_ns, t->inner_pid, t->inner_tid);
}

static void put_definitions(struct buffer *out, const struct prf_reader *r)
{
	const struct prf_frame *frames = prf_reader_all_frames(r);
	const struct prf_stack *stacks = prf_reader_all_stacks(r);

	for (uint32_t i = 0; i < prf_reader_events(r); i++) {
		const struct prf_event *e = prf_reader_event(r, i);

		buffer_printf(out, "event %d", (int)e->kind);
		put_text(out, e->name);
		put_text(out, e->unit);
		buffer_printf(out, " %" PRIu64 " %" PRIu64 "\n", e->frequency, e->period);
	}
	for (uint32_t i = 0; i < prf_reader_objects(r); i++)
		put_object(out, prf_reader_object(r, i));
	for (uint32_t i = 0; i < prf_reader_tasks(r); i++)
		put_task(out, prf_reader_task(r, i));
	for (size_t i = 0; i < prf_reader_frames(r); i++) {
		buffer_text(out, "frame");
		put_id(out, frames[i].object);
		buffer_printf(out, " %" PRIu32 " %" PRIu64 "\n", frames[i].flags, frames[i].offset);
	}
	for (size_t i = 0; i < prf_reader_stacks(r); i++) {
		buffer_text(out, "stack");
		put_id(out, stacks[i].parent);
		buffer_printf(out, " %" PRIu32 "\n", stacks[i].frame);
	}
}

static void print_trace(const char *path, struct buffer *out)
{
	struct buffer records = { 0 };
	struct prf_reader *r;
	struct prf_record record;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error *error = fd < 0 ? error_system(errno, "cannot open")
				     : prf_reader_new_fd(&r, fd);

	if (error) {
		message_error("%s: %s", path, error->text);
		exit(1);
	}
	while (!(error = prf_reader_next(r, &record)) && record.type != PRF_RECORD_END)
		put_record(&records, &record);
	put_definitions(out, r);
	buffer_append(out, records.data, records.size);
	if (error)
		buffer_printf(out, "# %s: %s\n", error_kind_name(error->kind), error->text);
	else if (prf_reader_complete(r))
		buffer_text(out, "finish\n");
	error_free(error);
	buffer_release(&records);
	prf_reader_free(r);
	close(fd);
}

int main(int argc, char **argv)
{
	struct buffer out = { 0 };
	int status = 1;

	message_setup("print_trace", MESSAGE_WARNING);
	if (argc != 2) {
		message_error("needs one trace");
		return 2;
	}
	print_trace(argv[1], &out);
	if (buffer_ok(&out) && fwrite(out.data, 1, out.size, stdout) == out.size &&
	    fflush(stdout) == 0)
		status = 0;
	else
		message_error("cannot write: %s", strerror(errno));
	buffer_release(&out);
	return status;
}
