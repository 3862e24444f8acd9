/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/block.h"
#include "format/wire.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

/* What a whole reading found. */
struct found {
	size_t samples, losses, symbols, names, code, sources, metadata, statistics, damages;
	struct prf_damage damage; /* the first one; `reason` is not kept */
	char reason[96];
	bool failed; /* reading ended with an error: */
	enum error_kind kind;
	bool complete;
};

static void check_samples(const struct prf_samples *s, size_t first)
{
	const uint32_t stacks[3] = { 0, 3, 5 };

	for (size_t i = 0; i < s->n; i++) {
		struct prf_sample expected = fixture_sample((uint32_t)(first + i), stacks);

		assert_int_equal(s->time_ns[i], expected.time_ns);
		assert_int_equal(s->task[i], expected.task);
		assert_int_equal(s->event[i], expected.event);
		assert_int_equal(s->stack[i], expected.stack);
		assert_int_equal(s->waker[i], expected.waker);
		assert_int_equal(s->waker_task[i], expected.waker_task);
		assert_int_equal(s->cpu[i], expected.cpu);
		assert_int_equal(s->weight[i], expected.weight);
	}
}

static void count(struct found *found, const struct prf_record *record)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES: found->samples += record->samples.n; break;
	case PRF_RECORD_LOSS: found->losses++; break;
	case PRF_RECORD_SYMBOLS: found->symbols++; break;
	case PRF_RECORD_NAMES: found->names++; break;
	case PRF_RECORD_CODE: found->code++; break;
	case PRF_RECORD_SOURCE: found->sources++; break;
	case PRF_RECORD_METADATA: found->metadata++; break;
	case PRF_RECORD_STATISTIC: found->statistics++; break;
	case PRF_RECORD_DAMAGE:
		if (!found->damages++) {
			found->damage = record->damage;
			strncpy(found->reason, record->damage.reason, sizeof(found->reason) - 1);
		}
		break;
	case PRF_RECORD_END: break;
	}
}

/* Adds what there is by now. */
static void read_on(struct prf_reader *r, struct found *found)
{
	struct prf_record record;
	struct error *error;

	while (!(error = prf_reader_next(r, &record)) && record.type != PRF_RECORD_END)
		count(found, &record);
	found->failed = error;
	if (error)
		found->kind = error->kind;
	error_free(error);
	found->complete = prf_reader_complete(r);
}

static struct found read_all(struct prf_reader *r)
{
	struct found found = { 0 };

	read_on(r, &found);
	return found;
}

static struct found read_memory(const void *data, size_t size)
{
	struct prf_reader *r;
	struct found found;

	fixture_must(prf_reader_new_memory(&r, data, size));
	found = read_all(r);
	prf_reader_free(r);
	return found;
}

static void check_definitions(struct prf_reader *r)
{
	const struct prf_frame *frames = prf_reader_all_frames(r);
	const struct prf_stack *stacks = prf_reader_all_stacks(r);

	assert_int_equal(prf_reader_events(r), 2);
	assert_string_equal(prf_reader_event(r, 1)->name, "off-cpu");
	assert_string_equal(prf_reader_event(r, 1)->unit, "ns");
	assert_int_equal(prf_reader_event(r, 0)->frequency, 999);
	assert_int_equal(prf_reader_objects(r), 2);
	assert_string_equal(prf_reader_object(r, 0)->path, "/usr/bin/a b;c");
	assert_string_equal(prf_reader_object(r, 0)->root, "/proc/7/root");
	assert_int_equal(prf_reader_object(r, 0)->build_id_size, 20);
	assert_int_equal(prf_reader_object(r, 0)->build_id[3], 0xff);
	assert_int_equal(prf_reader_object(r, 0)->inode, 77);
	assert_true(prf_reader_object(r, 1)->deleted);
	assert_true(prf_reader_object(r, 1)->base == 0xffffffff81000000);
	assert_int_equal(prf_reader_tasks(r), 2);
	assert_string_equal(prf_reader_task(r, 1)->comm, "\xff\nthread");
	assert_int_equal(prf_reader_task(r, 1)->inner_tid, 2);
	assert_string_equal(prf_reader_task(r, 0)->command_line, "a b c");
	assert_int_equal(prf_reader_frames(r), 4);
	assert_int_equal(frames[1].offset, 0x2345);
	assert_int_equal(frames[3].object, PRF_NONE);
	assert_int_equal(frames[3].offset, PRF_END_TOO_DEEP);
	assert_int_equal(prf_reader_stacks(r), 6);
	assert_int_equal(stacks[3].parent, 2);
	assert_int_equal(stacks[3].frame, 0);
	assert_int_equal(stacks[1].parent, PRF_NONE);
}

static void check_record(struct prf_reader *r, const struct prf_record *record, size_t *samples)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES:
		check_samples(&record->samples, *samples);
		*samples += record->samples.n;
		break;
	case PRF_RECORD_LOSS:
		assert_int_equal(record->loss.count, 17);
		assert_int_equal(record->loss.cpu, 1);
		assert_int_equal(record->loss.to_ns, 1000500000);
		break;
	case PRF_RECORD_SYMBOLS:
		assert_int_equal(record->symbols.object, 1);
		assert_int_equal(record->symbols.n, 2);
		assert_int_equal(record->symbols.symbols[1].start, 0xb0);
		assert_string_equal(record->symbols.symbols[1].name, "exit");
		break;
	case PRF_RECORD_NAMES:
		assert_int_equal(record->names.frame, 0);
		assert_int_equal(record->names.n, 2);
		assert_string_equal(record->names.places[0].function, "inner");
		assert_int_equal(record->names.places[0].start_line, 5);
		break;
	case PRF_RECORD_CODE:
	case PRF_RECORD_SOURCE: fail_msg("the fixture has neither"); break;
	case PRF_RECORD_METADATA:
		assert_string_equal(record->metadata.key, "host");
		assert_string_equal(record->metadata.value, "box");
		break;
	case PRF_RECORD_STATISTIC:
		assert_string_equal(record->statistic.key, "fired");
		assert_int_equal(record->statistic.value, FIXTURE_SAMPLES + 17);
		break;
	case PRF_RECORD_DAMAGE: fail_msg("damage: %s", record->damage.reason);
	case PRF_RECORD_END: break;
	}
}

static void check_code(const struct prf_code *code)
{
	assert_int_equal(code->object, 0);
	assert_int_equal(code->offset, 0x100);
	assert_int_equal(code->address, 0x1000);
	assert_int_equal(code->machine, 62);
	assert_string_equal(code->name, "work");
	assert_int_equal(code->size, 3);
	assert_memory_equal(code->bytes, "\x90\0\xc3", 3);
	assert_int_equal(code->line_count, 2);
	assert_int_equal(code->lines[1].address, 0x1001);
	assert_string_equal(code->lines[0].function, "inner");
	assert_string_equal(code->lines[0].file, "a.c");
	assert_int_equal(code->lines[0].line, 10);
	assert_int_equal(code->symbol_count, 1);
	assert_int_equal(code->symbols[0].address, 0x2000);
	assert_int_equal(code->symbols[0].into, 3);
	assert_string_equal(code->symbols[0].name, "table");
}

static void check_source(const struct prf_source *source)
{
	assert_string_equal(source->path, "a.c");
	assert_int_equal(source->first_line, 10);
	assert_int_equal(source->n, 2);
	assert_string_equal(source->lines[0], "int x;");
	assert_string_equal(source->lines[1], "");
}

static void test_code_and_sources(void **state)
{
	const struct prf_writer_options options = { .fd = -1, .level = 3 };
	const struct prf_object object = { .path = "/p", .root = "" };
	const struct prf_code_line lines[2] = { { 0x1000, "inner", "a.c", 10 },
						{ 0x1001, "", "", 0 } };
	const struct prf_code_symbol symbols[1] = { { 0x2000, 3, "table" } };
	const struct prf_code code = {
		0, 0x100, 0x1000, 62, "work", (const uint8_t *)"\x90\0\xc3", 3, lines, 2, symbols, 1
	};
	const char *const text[2] = { "int x;", "" };
	const struct prf_source source = { "a.c", 10, text, 2 };
	struct prf_record record;
	struct prf_writer *w;
	struct prf_reader *r;
	const void *bytes;
	size_t size, codes = 0, sources = 0;
	uint32_t id;

	fixture_must(prf_writer_new(&w, &options));
	fixture_must(prf_writer_object(w, &object, &id));
	fixture_must(prf_writer_code(w, &code));
	fixture_must(prf_writer_source(w, &source));
	fixture_must(prf_writer_finish(w));
	bytes = prf_writer_memory(w, &size);
	fixture_must(prf_reader_new_memory(&r, bytes, size));
	while (fixture_next(r, &record)) {
		if (record.type == PRF_RECORD_CODE) {
			check_code(&record.code);
			codes++;
		} else {
			assert_int_equal(record.type, PRF_RECORD_SOURCE);
			check_source(&record.source);
			sources++;
		}
	}
	assert_int_equal(codes, 1);
	assert_int_equal(sources, 1);
	assert_true(prf_reader_complete(r));
	prf_reader_free(r);
	prf_writer_free(w);
}

static void test_round_trip(void **state)
{
	for (int level = 0; level <= 3; level += 3) {
		struct prf_writer *w;
		struct prf_reader *r;
		struct prf_record record;
		size_t size, samples = 0;
		const uint8_t *bytes = fixture_trace(&w, level, &size);

		fixture_must(prf_reader_new_memory(&r, bytes, size));
		while (fixture_next(r, &record))
			check_record(r, &record, &samples);
		assert_int_equal(samples, FIXTURE_SAMPLES);
		assert_true(prf_reader_complete(r));
		check_definitions(r);
		prf_reader_free(r);
		prf_writer_free(w);
	}
}

static void test_truncation(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	size_t most = 0;

	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *copy = malloc(cut + 1);
		struct found found;

		memcpy(copy, bytes, cut);
		found = read_memory(copy, cut);
		free(copy);
		assert_false(found.complete);
		if (cut < 24) {
			assert_true(found.failed);
			assert_int_equal(found.kind, cut ? ERROR_TRUNCATED : ERROR_NOT_A_TRACE);
			continue;
		}
		assert_false(found.failed);
		assert_true(found.damages <= 1);
		if (found.damages) {
			assert_int_equal(found.damage.kind, ERROR_TRUNCATED);
			assert_int_equal(found.damage.offset + found.damage.skipped, cut);
		}
		/* The longer, the more. */
		assert_true(found.samples >= most);
		most = found.samples;
	}
	assert_int_equal(most, FIXTURE_SAMPLES);
	prf_writer_free(w);
}

static void test_every_byte_flip(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	for (size_t at = 0; at < size; at++) {
		for (unsigned int flip = 1; flip < 256; flip = flip * 2 + 1) {
			struct found found;

			copy[at] ^= (uint8_t)flip;
			found = read_memory(copy, size);
			copy[at] ^= (uint8_t)flip;
			assert_false(found.complete);
			if (at < 8) {
				assert_true(found.failed);
				assert_int_equal(found.kind, ERROR_NOT_A_TRACE);
				continue;
			}
			assert_false(found.failed);
			assert_true(found.damages >= 1);
			assert_int_equal(found.damage.kind, ERROR_CORRUPT);
			/* At most one block is lost. */
			assert_true(found.samples >=
				    FIXTURE_SAMPLES - FIXTURE_SAMPLES / FIXTURE_BLOCKS_OF_SAMPLES);
		}
	}
	free(copy);
	prf_writer_free(w);
}

/* From a file that begins in the middle, and from a pipe, as from memory. */
static void test_files_and_pipes(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	struct found found;
	struct prf_reader *r;
	FILE *file = tmpfile();
	int fds[2];

	assert_non_null(file);
	assert_int_equal(fwrite("before", 1, 6, file), 6);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fflush(file), 0);
	for (int filtered = 0; filtered < 2; filtered++) {
		assert_int_equal(lseek(fileno(file), 6, SEEK_SET), 6);
		fixture_must(prf_reader_new_fd(&r, fileno(file)));
		if (filtered)
			prf_reader_set_time(r, 0, 1005000000);
		found = read_all(r);
		prf_reader_free(r);
		assert_false(found.failed);
		assert_true(found.complete);
		assert_int_equal(found.samples, filtered ? 5 : FIXTURE_SAMPLES);
	}
	fclose(file);

	/* So short a trace fits into a pipe at once. */
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], bytes, size), size);
	close(fds[1]);
	fixture_must(prf_reader_new_fd(&r, fds[0]));
	found = read_all(r);
	prf_reader_free(r);
	close(fds[0]);
	assert_true(found.complete);
	assert_int_equal(found.samples, FIXTURE_SAMPLES);
	prf_writer_free(w);
}

/* Every range gives just the samples in it, with the index and without. */
static void test_times(void **state)
{
	const uint32_t stacks[3] = { 0, 3, 5 };
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);

	for (uint32_t from = 0; from <= FIXTURE_SAMPLES; from += 7) {
		for (uint32_t to = from; to <= FIXTURE_SAMPLES; to += 5) {
			for (size_t cut = 0; cut < 2; cut++) {
				struct prf_reader *r;
				struct found found;

				fixture_must(prf_reader_new_memory(&r, bytes, size - cut));
				prf_reader_set_time(r, fixture_sample(from, stacks).time_ns,
						    fixture_sample(to, stacks).time_ns);
				found = read_all(r);
				assert_int_equal(found.samples, to - from);
				assert_int_equal(found.damages, cut);
				assert_int_equal(found.complete, !cut);
				assert_int_equal(prf_reader_stacks(r), 6);
				prf_reader_free(r);
			}
		}
	}
	prf_writer_free(w);
}

/* Bytes lost or put in between: only the blocks that they hit are gone. */
static void test_lost_and_added_bytes(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	const size_t least = FIXTURE_SAMPLES - FIXTURE_SAMPLES / FIXTURE_BLOCKS_OF_SAMPLES;
	uint8_t *copy = malloc(size + 100);

	assert_non_null(copy);
	for (size_t at = 24; at < size; at += 3) {
		struct found found;

		memcpy(copy, bytes, at);
		memset(copy + at, 0xf5, 100);
		memcpy(copy + at + 100, bytes + at, size - at);
		found = read_memory(copy, size + 100);
		assert_false(found.failed);
		assert_true(found.damages >= 1);
		assert_true(found.samples >= least);
		/* One byte is gone. */
		memcpy(copy + at, bytes + at + 1, size - at - 1);
		found = read_memory(copy, size - 1);
		assert_false(found.failed);
		assert_true(found.damages >= 1);
		assert_true(found.samples >= least);
	}
	free(copy);
	prf_writer_free(w);
}

/*
 * Intact headers, one after the other, each of a large payload that the others lie in: their
 * checksums must not all be computed, or a file of some megabytes would take hours.
 */
static void test_nested_headers(void **state)
{
	const size_t headers = 400, payload = ((size_t)1 << 20) + 7;
	uint8_t *raw = calloc(1, payload), *bytes = calloc(1, 24 + headers * 32 + 2 * payload);
	struct prf_writer *w;
	size_t size;
	const uint8_t *trace = fixture_trace(&w, 0, &size);
	struct payload p = { .type = WIRE_METADATA, .raw.data = raw };
	struct buffer block = { 0 };
	struct found found;

	assert_non_null(raw);
	assert_non_null(bytes);
	p.raw.size = payload;
	fixture_must(block_encode(&block, &p, &(struct block_options){ .level = 0 }));
	memcpy(bytes, trace, 24);
	for (size_t i = 0; i < headers; i++)
		memcpy(bytes + 24 + i * 32, block.data, 32);
	found = read_memory(bytes, 24 + headers * 32 + 2 * payload);
	assert_false(found.failed);
	assert_true(found.damages > 1);
	assert_true(found.damages < headers / 2);
	buffer_release(&block);
	prf_writer_free(w);
	free(bytes);
	free(raw);
}

struct blocks_seen {
	size_t count, samples;
	uint64_t end;
};

static void see_block(const struct prf_block_info *info, void *context)
{
	struct blocks_seen *seen = context;

	assert_int_equal(info->number, seen->count);
	assert_int_equal(info->sequence, seen->count);
	assert_int_equal(info->offset, seen->end);
	seen->end = info->offset + 32 + info->stored_bytes;
	seen->count++;
	seen->samples += strcmp(info->type, "samples") == 0;
}

static void test_blocks_are_reported(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	struct blocks_seen seen = { .end = 24 };
	struct prf_reader *r;
	uint64_t file_bytes, raw_bytes;
	unsigned int major, minor;

	fixture_must(prf_reader_new_memory(&r, bytes, size));
	prf_reader_on_block(r, see_block, &seen);
	read_all(r);
	assert_int_equal(seen.samples, FIXTURE_BLOCKS_OF_SAMPLES);
	assert_int_equal(seen.end, size);
	prf_reader_bytes(r, &file_bytes, &raw_bytes);
	assert_int_equal(file_bytes, size);
	assert_true(raw_bytes > 0);
	prf_reader_version(r, &major, &minor);
	assert_int_equal(major, 1);
	assert_int_equal(minor, 0);
	prf_reader_free(r);
	prf_writer_free(w);
}

/* What a reader finds that follows while the bytes come in pieces of `step`. */
static struct found follow(int from, int to, const uint8_t *bytes, size_t size, size_t step)
{
	struct found found = { 0 };
	struct prf_reader *r;

	fixture_must(prf_reader_new_fd(&r, from));
	prf_reader_follow(r);
	read_on(r, &found);
	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		assert_false(found.complete);
		assert_int_equal(write(to, bytes + at, n), n);
		read_on(r, &found);
		assert_false(found.failed);
	}
	assert_true(prf_reader_ended(r));
	prf_reader_free(r);
	return found;
}

static struct found follow_file(const uint8_t *bytes, size_t size, size_t step)
{
	FILE *file = tmpfile();
	struct found found;
	char path[64];
	int from;

	assert_non_null(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	from = open(path, O_RDONLY);
	assert_true(from >= 0);
	found = follow(from, fileno(file), bytes, size, step);
	close(from);
	fclose(file);
	return found;
}

/* Wherever a piece ends, in a file or in a pipe that is not waited for. */
static void test_growing(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	struct found whole = read_memory(bytes, size), found;

	for (size_t step = 1; step < size; step = step * 3 + 1) {
		int ends[2];

		found = follow_file(bytes, size, step);
		assert_memory_equal(&found, &whole, sizeof(found));
		assert_int_equal(pipe(ends), 0);
		found = follow(ends[0], ends[1], bytes, size, step);
		assert_memory_equal(&found, &whole, sizeof(found));
		close(ends[0]);
		close(ends[1]);
	}
	assert_true(whole.complete);
	prf_writer_free(w);
}

/* Damage is damage in a trace that grows, too, and costs no more than one block. */
static void test_growing_damaged(void **state)
{
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	/* The end block stays whole, so that the end is reached. */
	for (size_t at = 24; at < size - 64; at += 5) {
		struct found found;

		copy[at] ^= 0x55;
		found = follow_file(copy, size, 37);
		copy[at] ^= 0x55;
		assert_false(found.complete);
		assert_true(found.damages >= 1);
		assert_int_equal(found.damage.kind, ERROR_CORRUPT);
		assert_true(found.samples >=
			    FIXTURE_SAMPLES - FIXTURE_SAMPLES / FIXTURE_BLOCKS_OF_SAMPLES);
	}
	free(copy);
	prf_writer_free(w);
}

/* What comes before the first damage, and after, is found as in the whole. */
static void assert_same_records(const struct found *a, const struct found *b)
{
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->losses, b->losses);
	assert_int_equal(a->symbols, b->symbols);
	assert_int_equal(a->names, b->names);
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->sources, b->sources);
	assert_int_equal(a->metadata, b->metadata);
	assert_int_equal(a->statistics, b->statistics);
}

/* The next block is within what a damaged one claims: it is searched for, wherever a piece ends. */
static void test_growing_with_lost_bytes(void **state)
{
	const size_t lost = 9;
	struct prf_writer *w;
	size_t size;
	const uint8_t *bytes = fixture_trace(&w, 3, &size);
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	for (size_t at = 24; at < size - 128; at += 7) {
		struct found whole, found;

		memcpy(copy, bytes, at);
		memcpy(copy + at, bytes + at + lost, size - lost - at);
		whole = read_memory(copy, size - lost);
		for (size_t step = 1; step < 200; step = step * 5 + 1) {
			found = follow_file(copy, size - lost, step);
			assert_same_records(&found, &whole);
		}
	}
	free(copy);
	prf_writer_free(w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_round_trip),	     cmocka_unit_test(test_code_and_sources),
	cmocka_unit_test(test_truncation),	     cmocka_unit_test(test_every_byte_flip),
	cmocka_unit_test(test_files_and_pipes),	     cmocka_unit_test(test_times),
	cmocka_unit_test(test_lost_and_added_bytes), cmocka_unit_test(test_nested_headers),
	cmocka_unit_test(test_blocks_are_reported),  cmocka_unit_test(test_growing),
	cmocka_unit_test(test_growing_damaged),	     cmocka_unit_test(test_growing_with_lost_bytes),
};

UNIT_TESTS(tests);
