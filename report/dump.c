/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dump.h"

#include "report/output/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct dump {
	struct sink *sink;
	struct prf_reader *reader;
	size_t events, objects, tasks, frames, stacks; /* written so far */
	bool blocks;				       /* write them */
	uint64_t block_count;
};

static void write_text(struct sink *s, const char *key, const char *text)
{
	sink_printf(s, " %s=\"", key);
	sink_printable(s, text);
	sink_char(s, '"');
}

static void write_id(struct sink *s, const char *key, uint32_t id)
{
	if (id == PRF_NONE)
		sink_printf(s, " %s=-", key);
	else
		sink_printf(s, " %s=%" PRIu32, key, id);
}

/* -------- definitions -------- */

static void dump_event(struct dump *d, uint32_t id)
{
	const struct prf_event *e = prf_reader_event(d->reader, id);

	sink_printf(d->sink, "  event %" PRIu32 " kind=%d", id, (int)e->kind);
	write_text(d->sink, "name", e->name);
	write_text(d->sink, "unit", e->unit);
	sink_printf(d->sink, " frequency=%" PRIu64 " period=%" PRIu64 "\n", e->frequency,
		    e->period);
}

static void dump_object(struct dump *d, uint32_t id)
{
	const struct prf_object *o = prf_reader_object(d->reader, id);

	sink_printf(d->sink, "  object %" PRIu32 " kind=%d", id, (int)o->kind);
	write_text(d->sink, "path", o->path);
	if (o->root[0])
		write_text(d->sink, "root", o->root);
	if (o->build_id_size) {
		sink_text(d->sink, " build_id=");
		for (unsigned int i = 0; i < o->build_id_size; i++)
			sink_printf(d->sink, "%02x", o->build_id[i]);
	}
	sink_printf(d->sink,
		    "%s base=0x%" PRIx64 " device=%" PRIu64 " inode=%" PRIu64 " size=%" PRIu64
		    " mtime_ns=%" PRIu64 "\n",
		    o->deleted ? " deleted" : "", o->base, o->device, o->inode, o->size,
		    o->mtime_ns);
}

static void dump_task(struct dump *d, uint32_t id)
{
	const struct prf_task *t = prf_reader_task(d->reader, id);

	sink_printf(d->sink,
		    "  task %" PRIu32 " pid=%" PRIu32 " tid=%" PRIu32 " inner_pid=%" PRIu32
		    " inner_tid=%" PRIu32 " parent=%" PRIu32 " start_ns=%" PRIu64,
		    id, t->pid, t->tid, t->inner_pid, t->inner_tid, t->parent_pid, t->start_ns);
	write_text(d->sink, "comm", t->comm);
	write_text(d->sink, "cgroup", t->cgroup);
	write_text(d->sink, "command_line", t->command_line);
	sink_char(d->sink, '\n');
}

static void dump_frame(struct dump *d, uint32_t id)
{
	const struct prf_frame *f = &prf_reader_all_frames(d->reader)[id];

	sink_printf(d->sink, "  frame %" PRIu32, id);
	if (f->flags & PRF_FRAME_END) {
		sink_printf(d->sink, " end=%s\n",
			    f->offset < PRF_END_COUNT
				    ? prf_stack_end_name((enum prf_stack_end)f->offset)
				    : "unknown");
		return;
	}
	write_id(d->sink, "object", f->object);
	sink_printf(d->sink, " offset=0x%" PRIx64 "%s%s%s\n", f->offset,
		    f->flags & PRF_FRAME_KERNEL ? " kernel" : "",
		    f->flags & PRF_FRAME_EXACT ? " exact" : "",
		    f->flags & PRF_FRAME_GUESSED ? " guessed" : "");
}

static void dump_stack(struct dump *d, uint32_t id)
{
	const struct prf_stack *s = &prf_reader_all_stacks(d->reader)[id];

	sink_printf(d->sink, "  stack %" PRIu32, id);
	write_id(d->sink, "parent", s->parent);
	write_id(d->sink, "frame", s->frame);
	sink_char(d->sink, '\n');
}

/* Writes the definitions that were read since the last call. */
static void dump_definitions(struct dump *d)
{
	while (d->events < prf_reader_events(d->reader))
		dump_event(d, (uint32_t)d->events++);
	while (d->objects < prf_reader_objects(d->reader))
		dump_object(d, (uint32_t)d->objects++);
	while (d->tasks < prf_reader_tasks(d->reader))
		dump_task(d, (uint32_t)d->tasks++);
	while (d->frames < prf_reader_frames(d->reader))
		dump_frame(d, (uint32_t)d->frames++);
	while (d->stacks < prf_reader_stacks(d->reader))
		dump_stack(d, (uint32_t)d->stacks++);
}

/* -------- records -------- */

static void dump_samples(struct dump *d, const struct prf_samples *samples)
{
	for (size_t i = 0; i < samples->n; i++) {
		sink_printf(d->sink, "  sample time_ns=%" PRIu64, samples->time_ns[i]);
		write_id(d->sink, "task", samples->task[i]);
		write_id(d->sink, "event", samples->event[i]);
		write_id(d->sink, "stack", samples->stack[i]);
		if (samples->waker[i] != PRF_NONE)
			write_id(d->sink, "waker", samples->waker[i]);
		if (samples->waker_task[i] != PRF_NONE)
			write_id(d->sink, "waker_task", samples->waker_task[i]);
		sink_printf(d->sink, " cpu=%" PRIu32 " weight=%" PRIu64 "\n", samples->cpu[i],
			    samples->weight[i]);
	}
}

static void dump_loss(struct dump *d, const struct prf_loss *loss)
{
	sink_printf(d->sink,
		    "  loss reason=%s count=%" PRIu64 " from_ns=%" PRIu64 " to_ns=%" PRIu64,
		    prf_loss_reason_name(loss->reason), loss->count, loss->from_ns, loss->to_ns);
	write_id(d->sink, "cpu", loss->cpu);
	sink_char(d->sink, '\n');
}

/* A line of what belongs to an object or a frame. */
static void begin_line(struct dump *d, const char *what, const char *of, uint32_t id)
{
	sink_printf(d->sink, "  %s", what);
	write_id(d->sink, of, id);
}

static void dump_symbols(struct dump *d, const struct prf_record *record)
{
	for (size_t i = 0; i < record->symbols.n; i++) {
		const struct prf_symbol *symbol = &record->symbols.symbols[i];

		begin_line(d, "symbol", "object", record->symbols.object);
		sink_printf(d->sink, " start=0x%" PRIx64 " size=%" PRIu64, symbol->start,
			    symbol->size);
		write_text(d->sink, "name", symbol->name);
		sink_char(d->sink, '\n');
	}
}

static void dump_names(struct dump *d, const struct prf_record *record)
{
	for (size_t i = 0; i < record->names.n; i++) {
		const struct prf_place *place = &record->names.places[i];

		begin_line(d, "name", "frame", record->names.frame);
		write_text(d->sink, "function", place->function);
		write_text(d->sink, "file", place->file);
		sink_printf(d->sink, " line=%" PRIu32 " start_line=%" PRIu32 "\n", place->line,
			    place->start_line);
	}
}

static void dump_code(struct dump *d, const struct prf_code *code)
{
	begin_line(d, "code", "object", code->object);
	sink_printf(d->sink,
		    " offset=0x%" PRIx64 " address=0x%" PRIx64 " machine=%" PRIu32
		    " size=%zu lines=%zu symbols=%zu",
		    code->offset, code->address, code->machine, code->size, code->line_count,
		    code->symbol_count);
	write_text(d->sink, "name", code->name);
	sink_char(d->sink, '\n');
}

static void dump_source(struct dump *d, const struct prf_source *source)
{
	for (size_t i = 0; i < source->n; i++) {
		sink_text(d->sink, "  source");
		write_text(d->sink, "path", source->path);
		sink_printf(d->sink, " line=%" PRIu64, (uint64_t)source->first_line + i);
		write_text(d->sink, "text", source->lines[i]);
		sink_char(d->sink, '\n');
	}
}

static void dump_damage(struct dump *d, const struct prf_damage *damage)
{
	sink_printf(d->sink,
		    "damage block=%" PRIu64 " offset=0x%" PRIx64 " skipped=%" PRIu64 " kind=%s",
		    damage->block, damage->offset, damage->skipped, error_kind_name(damage->kind));
	write_text(d->sink, "reason", damage->reason);
	sink_char(d->sink, '\n');
}

static void dump_record(struct dump *d, const struct prf_record *record)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES: dump_samples(d, &record->samples); break;
	case PRF_RECORD_LOSS: dump_loss(d, &record->loss); break;
	case PRF_RECORD_SYMBOLS: dump_symbols(d, record); break;
	case PRF_RECORD_NAMES: dump_names(d, record); break;
	case PRF_RECORD_CODE: dump_code(d, &record->code); break;
	case PRF_RECORD_SOURCE: dump_source(d, &record->source); break;
	case PRF_RECORD_METADATA:
		sink_text(d->sink, "  metadata");
		write_text(d->sink, "key", record->metadata.key);
		write_text(d->sink, "value", record->metadata.value);
		sink_char(d->sink, '\n');
		break;
	case PRF_RECORD_STATISTIC:
		sink_text(d->sink, "  statistic");
		write_text(d->sink, "key", record->statistic.key);
		sink_printf(d->sink, " value=%" PRIu64 "\n", record->statistic.value);
		break;
	case PRF_RECORD_DAMAGE: dump_damage(d, &record->damage); break;
	case PRF_RECORD_END: break;
	}
}

static void dump_block(const struct prf_block_info *info, void *context)
{
	struct dump *d = context;

	d->block_count++;
	if (!d->blocks)
		return;
	/* Definitions of the block before: they do not come as records. */
	dump_definitions(d);
	sink_printf(d->sink,
		    "block %" PRIu64 " offset=0x%" PRIx64 " type=%s (%" PRIu32 ") flags=0x%" PRIx32
		    " sequence=%" PRIu64 " stored=%" PRIu64 " raw=%" PRIu64 "\n",
		    info->number, info->offset, info->type, info->type_code, info->flags,
		    info->sequence, info->stored_bytes, info->raw_bytes);
}

/* The next record; false at the end, after an error (t->error), and when the user interrupts. */
static bool next_record(struct trace *t, struct prf_record *record, struct progress *progress)
{
	if (progress_interrupted())
		return false;
	if (progress)
		progress_show_reader(progress, t->reader);
	t->error = prf_reader_next(t->reader, record);
	return !t->error && record->type != PRF_RECORD_END;
}

const struct error *dump_trace(struct trace *t, struct sink *s, struct progress *progress)
{
	struct dump d = { .sink = s, .blocks = true };
	struct prf_record record;
	unsigned int major, minor;

	t->error = prf_reader_new_fd(&t->reader, t->fd);
	if (t->error)
		return t->error;
	d.reader = t->reader;
	prf_reader_on_block(t->reader, dump_block, &d);
	while (!s->error && next_record(t, &record, progress)) {
		dump_definitions(&d);
		dump_record(&d, &record);
	}
	if (progress_interrupted())
		return NULL;
	dump_definitions(&d);
	if (t->error)
		return t->error;
	prf_reader_version(t->reader, &major, &minor);
	sink_printf(s, "%s version=%u.%u blocks=%" PRIu64 "\n",
		    prf_reader_complete(t->reader) ? "complete" : "incomplete", major, minor,
		    d.block_count);
	return NULL;
}

static void show_defect(const struct trace *t, const struct prf_damage *damage, struct sink *s)
{
	sink_printable(s, t->path);
	sink_printf(s, ": block %" PRIu64 " at 0x%" PRIx64 ": %s: ", damage->block, damage->offset,
		    error_kind_name(damage->kind));
	sink_printable(s, damage->reason);
	sink_printf(s, "; %" PRIu64 " bytes skipped\n", damage->skipped);
}

bool check_trace(struct trace *t, struct sink *s, struct progress *progress)
{
	struct dump d = { .sink = s };
	struct prf_record record;
	uint64_t samples = 0, defects = 0;

	t->error = prf_reader_new_fd(&t->reader, t->fd);
	if (t->error)
		return false;
	d.reader = t->reader;
	prf_reader_on_block(t->reader, dump_block, &d);
	while (next_record(t, &record, progress)) {
		if (record.type == PRF_RECORD_SAMPLES)
			samples += record.samples.n;
		if (record.type == PRF_RECORD_DAMAGE) {
			defects++;
			show_defect(t, &record.damage, s);
		}
	}
	if (progress_interrupted() || t->error)
		return false;
	if (!prf_reader_ended(t->reader)) {
		defects++;
		sink_printable(s, t->path);
		sink_text(s, ": there is no end block: the recording was cut short\n");
	}
	sink_printable(s, t->path);
	sink_printf(s, ": %s; %" PRIu64 " blocks, %" PRIu64 " samples\n",
		    defects ? "not intact" : "intact", d.block_count, samples);
	return !defects;
}
