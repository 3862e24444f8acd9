/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole trace: read twice, all and a range of times, with all that a reader's caller relies on
 * checked.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/prf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t used; /* so that reads are not optimized away */

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_samples(const struct prf_reader *r, const struct prf_samples *s)
{
	size_t stacks = prf_reader_stacks(r);

	check(s->n > 0);
	for (size_t i = 0; i < s->n; i++) {
		check(s->task[i] < prf_reader_tasks(r));
		check(s->event[i] < prf_reader_events(r));
		check(s->stack[i] == PRF_NONE || s->stack[i] < stacks);
		check(s->waker[i] == PRF_NONE || s->waker[i] < stacks);
		check(s->waker_task[i] == PRF_NONE || s->waker_task[i] < prf_reader_tasks(r));
		used += s->time_ns[i] + s->weight[i] + s->cpu[i];
	}
}

static void check_code(const struct prf_reader *r, const struct prf_code *code)
{
	check(code->object < prf_reader_objects(r));
	used += strlen(code->name);
	for (size_t i = 0; i < code->size; i++)
		used += code->bytes[i];
	for (size_t i = 0; i < code->line_count; i++) {
		used += strlen(code->lines[i].function) + strlen(code->lines[i].file);
		check(!i || code->lines[i].address >= code->lines[i - 1].address);
	}
	for (size_t i = 0; i < code->symbol_count; i++) {
		used += strlen(code->symbols[i].name);
		check(!i || code->symbols[i].address >= code->symbols[i - 1].address);
	}
}

static void check_record(const struct prf_reader *r, const struct prf_record *record)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES: check_samples(r, &record->samples); break;
	case PRF_RECORD_LOSS: check((unsigned int)record->loss.reason < PRF_LOSS_COUNT); break;
	case PRF_RECORD_SYMBOLS:
		check(record->symbols.object < prf_reader_objects(r));
		for (size_t i = 0; i < record->symbols.n; i++) {
			used += strlen(record->symbols.symbols[i].name);
			check(!i || record->symbols.symbols[i].start >=
					    record->symbols.symbols[i - 1].start);
		}
		break;
	case PRF_RECORD_NAMES:
		check(record->names.frame < prf_reader_frames(r));
		for (size_t i = 0; i < record->names.n; i++)
			used += strlen(record->names.places[i].function) +
				strlen(record->names.places[i].file);
		break;
	case PRF_RECORD_CODE: check_code(r, &record->code); break;
	case PRF_RECORD_SOURCE:
		used += strlen(record->source.path);
		for (size_t i = 0; i < record->source.n; i++)
			used += strlen(record->source.lines[i]);
		break;
	case PRF_RECORD_METADATA:
		used += strlen(record->metadata.key) + strlen(record->metadata.value);
		break;
	case PRF_RECORD_STATISTIC:
		used += strlen(record->statistic.key) + record->statistic.value;
		break;
	case PRF_RECORD_DAMAGE:
		check(record->damage.kind == ERROR_CORRUPT ||
		      record->damage.kind == ERROR_TRUNCATED);
		used += strlen(record->damage.reason);
		break;
	case PRF_RECORD_END: break;
	}
}

static void check_definitions(const struct prf_reader *r)
{
	const struct prf_frame *frames = prf_reader_all_frames(r);
	const struct prf_stack *stacks = prf_reader_all_stacks(r);

	for (uint32_t i = 0; i < prf_reader_events(r); i++)
		used += strlen(prf_reader_event(r, i)->name) + strlen(prf_reader_event(r, i)->unit);
	for (uint32_t i = 0; i < prf_reader_objects(r); i++) {
		const struct prf_object *object = prf_reader_object(r, i);

		used += strlen(object->path) + strlen(object->root);
		check(object->build_id_size <= PRF_BUILD_ID_MAX);
	}
	for (uint32_t i = 0; i < prf_reader_tasks(r); i++) {
		const struct prf_task *task = prf_reader_task(r, i);

		used += strlen(task->comm) + strlen(task->cgroup) + strlen(task->command_line);
	}
	for (size_t i = 0; i < prf_reader_frames(r); i++) {
		if (frames[i].flags & PRF_FRAME_END)
			check(frames[i].object == PRF_NONE && frames[i].offset <= PRF_END_COUNT);
		else
			check(frames[i].object < prf_reader_objects(r));
	}
	for (size_t i = 0; i < prf_reader_stacks(r); i++) {
		check(stacks[i].frame < prf_reader_frames(r));
		check(stacks[i].parent == PRF_NONE || stacks[i].parent < i);
	}
}

static void on_block(const struct prf_block_info *info, void *context)
{
	used += strlen(info->type) + info->number;
}

static void read_trace(const uint8_t *data, size_t size, uint64_t from_ns, uint64_t to_ns)
{
	struct prf_reader *r;
	struct prf_record record;
	uint64_t file_bytes, raw_bytes;
	struct error *error;

	if (error_ignore(prf_reader_new_memory(&r, data, size)))
		return;
	prf_reader_set_time(r, from_ns, to_ns);
	prf_reader_on_block(r, on_block, NULL);
	while (!(error = prf_reader_next(r, &record)) && record.type != PRF_RECORD_END)
		check_record(r, &record);
	/* An error stays, as the end does. */
	check(error_ignore(error) == error_ignore(prf_reader_next(r, &record)));
	check(record.type == PRF_RECORD_END || error);
	check_definitions(r);
	prf_reader_bytes(r, &file_bytes, &raw_bytes);
	check(file_bytes <= size);
	prf_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_trace(data, size, 0, UINT64_MAX);
	read_trace(data, size, 1000010000, 1000030000);
	return 0;
}
