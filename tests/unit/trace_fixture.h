/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_TRACE_FIXTURE_H
#define TESTS_UNIT_TRACE_FIXTURE_H

/* A trace of some hundred bytes that has every kind of block, in memory. */

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/prf.h"

#define FIXTURE_SAMPLES 60
#define FIXTURE_BLOCKS_OF_SAMPLES 3

static inline void fixture_must(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", error->text);
	abort();
}

/* The next record of a trace that can be read; false at its end. */
static inline bool fixture_next(struct prf_reader *r, struct prf_record *record)
{
	fixture_must(prf_reader_next(r, record));
	return record->type != PRF_RECORD_END;
}

/* Ends a trace that is written to memory, and begins to read it; the writer keeps the bytes. */
static inline struct prf_reader *fixture_read_back(struct prf_writer *w)
{
	struct prf_reader *r;
	const void *data;
	size_t size;

	fixture_must(prf_writer_finish(w));
	data = prf_writer_memory(w, &size);
	fixture_must(prf_reader_new_memory(&r, data, size));
	return r;
}

/* A writer to a pipe, of which `ends[0]` is to be closed to break it. */
static inline struct prf_writer *fixture_piped(int ends[2])
{
	struct prf_writer_options options = { .block_bytes = 1 };
	struct prf_writer *w;

	signal(SIGPIPE, SIG_IGN);
	if (pipe(ends))
		abort();
	options.fd = ends[1];
	fixture_must(prf_writer_new(&w, &options));
	return w;
}

static inline struct prf_sample fixture_sample(uint32_t i, const uint32_t stacks[3])
{
	return (struct prf_sample){
		.time_ns = 1000000000 + i * 1000000 + i * i % 97,
		.task = i % 2,
		.event = i % 7 == 3,
		.stack = i % 11 == 10 ? PRF_NONE : stacks[i % 3],
		.waker = i % 7 == 3 ? stacks[2] : PRF_NONE,
		.waker_task = i % 14 == 3 ? 1 : PRF_NONE,
		.cpu = i % 2,
		.weight = i % 7 == 3 ? 1000 + i : 1,
	};
}

static inline void fixture_definitions(struct prf_writer *w, uint32_t stacks[3])
{
	const struct prf_event events[2] = {
		{ PRF_EVENT_ON_CPU, "cpu-clock", "samples", 999, 0 },
		{ PRF_EVENT_OFF_CPU, "off-cpu", "ns", 0, 1 },
	};
	const struct prf_object objects[2] = {
		{ .kind = PRF_OBJECT_FILE,
		  .path = "/usr/bin/a b;c",
		  .root = "/proc/7/root",
		  .build_id = { 1, 2, 3, 0xff },
		  .build_id_size = 20,
		  .device = 64,
		  .inode = 77,
		  .size = 4096,
		  .mtime_ns = 123456789 },
		{ .kind = PRF_OBJECT_KERNEL,
		  .path = "[kernel]",
		  .root = "",
		  .deleted = true,
		  .base = 0xffffffff81000000 },
	};
	const struct prf_task tasks[2] = {
		{ 7, 7, 1, 1, 3, 0, "main", "/user.slice", "a b c" },
		{ 7, 8, 1, 2, 3, 5, "\xff\nthread", "", "" },
	};
	const struct prf_frame frames[4] = {
		{ 0, PRF_FRAME_EXACT, 0x1234 },
		{ 0, PRF_FRAME_GUESSED, 0x2345 },
		{ 1, PRF_FRAME_KERNEL, 0x99 },
		{ PRF_NONE, PRF_FRAME_END, PRF_END_TOO_DEEP },
	};
	uint32_t id, ids[4], order[3];

	for (uint32_t i = 0; i < 2; i++) {
		fixture_must(prf_writer_event(w, &events[i], &id));
		assert(id == i);
		fixture_must(prf_writer_object(w, &objects[i], &id));
		assert(id == i);
		fixture_must(prf_writer_task(w, &tasks[i], &id));
		assert(id == i);
	}
	for (uint32_t i = 0; i < 4; i++)
		fixture_must(prf_writer_frame(w, &frames[i], &ids[i]));
	fixture_must(prf_writer_frames(w, &ids[1], 1, &stacks[0]));
	order[0] = ids[0], order[1] = ids[1], order[2] = ids[3];
	fixture_must(prf_writer_frames(w, order, 3, &stacks[1]));
	order[0] = ids[2], order[1] = ids[0];
	fixture_must(prf_writer_frames(w, order, 2, &stacks[2]));
}

/* Writes everything but the end. */
static inline void fixture_write(struct prf_writer *w)
{
	const struct prf_symbol symbols[2] = { { 0x90, 0x20, "schedule" }, { 0xb0, 0, "exit" } };
	const struct prf_place places[2] = { { "inner", "a.c", 10, 5 }, { "outer", "", 0, 0 } };
	const struct prf_loss loss = { 1000000000, 1000500000, 1, PRF_LOSS_RING_FULL, 17 };
	uint32_t stacks[3];

	fixture_must(prf_writer_metadata(w, "host", "box"));
	fixture_definitions(w, stacks);
	fixture_must(prf_writer_symbols(w, 1, symbols, 2));
	fixture_must(prf_writer_names(w, 0, places, 2));
	fixture_must(prf_writer_loss(w, &loss));
	for (uint32_t i = 0; i < FIXTURE_SAMPLES; i++) {
		struct prf_sample sample = fixture_sample(i, stacks);

		fixture_must(prf_writer_sample(w, &sample));
	}
	fixture_must(prf_writer_statistic(w, "fired", FIXTURE_SAMPLES + 17));
}

/* A complete trace; `prf_writer_free(*writer)` frees the bytes. */
static inline const uint8_t *fixture_trace(struct prf_writer **writer, int level, size_t *size)
{
	/* 16 bytes are counted for a sample, so three blocks of them. */
	struct prf_writer_options options = {
		.fd = -1,
		.level = level,
		.block_bytes = 16 * FIXTURE_SAMPLES / FIXTURE_BLOCKS_OF_SAMPLES,
	};

	fixture_must(prf_writer_new(writer, &options));
	fixture_write(*writer);
	fixture_must(prf_writer_finish(*writer));
	return prf_writer_memory(*writer, size);
}

#endif
