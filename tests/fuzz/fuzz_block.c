/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One block of any type after good definitions, and the same one again as if it came next: the
 * first byte is the type, the rest the payload. So every decoder is reached without luck.
 */

#include <stdint.h>
#include <stdlib.h>

#include "common/buffer.h"
#include "format/block.h"
#include "format/prf.h"
#include "tests/unit/trace_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buffer base; /* a trace without an end */
static uint32_t next_sequence;

static void count_block(const struct prf_block_info *info, void *context)
{
	next_sequence = (uint32_t)info->sequence + 1;
}

static void make_base(void)
{
	const struct prf_writer_options options = { .fd = -1 };
	struct prf_reader *r;
	struct prf_record record;
	struct prf_writer *w;
	const void *bytes;
	size_t size;

	fixture_must(prf_writer_new(&w, &options));
	fixture_write(w);
	fixture_must(prf_writer_flush(w));
	bytes = prf_writer_memory(w, &size);
	buffer_append(&base, bytes, size);
	prf_writer_free(w);
	fixture_must(prf_reader_new_memory(&r, base.data, base.size));
	prf_reader_on_block(r, count_block, NULL);
	while (fixture_next(r, &record))
		continue;
	prf_reader_free(r);
}

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_record(const struct prf_reader *r, const struct prf_record *record)
{
	const struct prf_samples *s = &record->samples;

	if (record->type == PRF_RECORD_SYMBOLS)
		check(record->symbols.object < prf_reader_objects(r));
	if (record->type == PRF_RECORD_NAMES)
		check(record->names.frame < prf_reader_frames(r));
	if (record->type != PRF_RECORD_SAMPLES)
		return;
	for (size_t i = 0; i < s->n; i++) {
		check(s->task[i] < prf_reader_tasks(r) && s->event[i] < prf_reader_events(r));
		check(s->stack[i] == PRF_NONE || s->stack[i] < prf_reader_stacks(r));
		check(s->waker[i] == PRF_NONE || s->waker[i] < prf_reader_stacks(r));
		check(s->waker_task[i] == PRF_NONE || s->waker_task[i] < prf_reader_tasks(r));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer trace = { 0 };
	struct payload p = { 0 };
	struct prf_reader *r;
	struct prf_record record;
	struct error *error;

	if (!base.size)
		make_base();
	if (!size || size > 65536)
		return 0;
	buffer_append(&trace, base.data, base.size);
	p.type = data[0];
	buffer_append(&p.raw, data + 1, size - 1);
	for (uint32_t i = 0; i < 2; i++)
		fixture_must(
			block_encode(&trace, &p,
				     &(struct block_options){ .flags = WIRE_FLAG_OPTIONAL,
							      .sequence = next_sequence + i }));
	payload_release(&p);
	fixture_must(prf_reader_new_memory(&r, trace.data, trace.size));
	while (!(error = prf_reader_next(r, &record)) && record.type != PRF_RECORD_END)
		check_record(r, &record);
	error_free(error);
	prf_reader_free(r);
	buffer_release(&trace);
	return 0;
}
