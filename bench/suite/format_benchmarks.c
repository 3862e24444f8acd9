/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace file: writing samples and reading them back. */
#include <stdlib.h>

#include "bench/suite/suite.h"
#include "bench/suite/corpus.h"
#include "format/prf.h"

#define SAMPLES 100000

static const struct corpus_options shape = {
	.samples = SAMPLES, .nodes = 5000, .depth = 40, .places = 2000, .threads = 4
};

struct format_state {
	struct corpus corpus;
	int level;
	uint8_t *trace; /* what decoding reads, and encoding must give */
	size_t size;
	size_t written;		  /* by the last encoding */
	uint64_t samples, weight; /* read by the last decoding */
	uint64_t raw_bytes;
	bool complete, failed;
};

static void format_teardown(void *state)
{
	struct format_state *f = state;

	corpus_release(&f->corpus);
	free(f->trace);
	free(f);
}

static struct error *format_setup(void **state, uint64_t seed)
{
	struct corpus_options options = shape;
	struct format_state *f = calloc(1, sizeof(*f));

	if (!f)
		return error_memory();
	options.seed = seed;
	f->level = *state ? *(const int *)*state : 3;
	if (corpus_init(&f->corpus, &options) ||
	    corpus_trace(&f->corpus, f->level, &f->trace, &f->size)) {
		format_teardown(f);
		return error_new(ERROR_FAILED, "the corpus cannot be made");
	}
	*state = f;
	return NULL;
}

/* -------- encoding -------- */

static void encode_run(void *state, uint64_t iterations)
{
	struct format_state *f = state;
	const struct prf_writer_options options = { .fd = -1, .level = f->level };

	while (iterations--) {
		struct prf_writer *w;

		f->written = 0;
		if (error_ignore(prf_writer_new(&w, &options)))
			return;
		if (!corpus_write(&f->corpus, w) && !error_ignore(prf_writer_finish(w)))
			prf_writer_memory(w, &f->written);
		prf_writer_free(w);
	}
}

static struct error *encode_check(void *state)
{
	const struct format_state *f = state;

	/* Blocks may be sealed elsewhere by time; the sizes differ by next to nothing then. */
	if (f->written < f->size - f->size / 50 || f->written > f->size + f->size / 50)
		return error_new(ERROR_FAILED, "the trace has %zu bytes, not about %zu", f->written,
				 f->size);
	return NULL;
}

static int encode_measures(void *state, const char *name, struct results *results)
{
	const struct format_state *f = state;

	return results_value(results, name, "bytes-per-sample", (double)f->written / SAMPLES) |
	       results_value(results, name, "file-size", (double)f->written);
}

static void encode_size(void *state, uint64_t *units, uint64_t *bytes)
{
	*units = SAMPLES;
	*bytes = ((struct format_state *)state)->written;
}

/* -------- decoding -------- */

static void decode_run(void *state, uint64_t iterations)
{
	struct format_state *f = state;

	while (iterations--) {
		struct prf_reader *reader;
		struct prf_record record;
		struct error *error;
		uint64_t unused;

		f->samples = f->weight = 0;
		if (error_ignore(prf_reader_new_memory(&reader, f->trace, f->size)))
			return;
		while (!(error = prf_reader_next(reader, &record)) &&
		       record.type != PRF_RECORD_END) {
			if (record.type != PRF_RECORD_SAMPLES)
				continue;
			f->samples += record.samples.n;
			for (size_t i = 0; i < record.samples.n; i++)
				f->weight += record.samples.weight[i];
		}
		f->failed = error_ignore(error);
		f->complete = prf_reader_complete(reader);
		prf_reader_bytes(reader, &unused, &f->raw_bytes);
		prf_reader_free(reader);
	}
}

static struct error *decode_check(void *state)
{
	const struct format_state *f = state;

	if (f->failed || !f->complete || f->samples != SAMPLES || f->weight != SAMPLES)
		return error_new(ERROR_FAILED, "%llu of %d samples were read",
				 (unsigned long long)f->samples, SAMPLES);
	return NULL;
}

static void decode_size(void *state, uint64_t *units, uint64_t *bytes)
{
	*units = SAMPLES;
	*bytes = ((struct format_state *)state)->raw_bytes;
}

static const int stored = 0;

#define ENCODE                                                                                     \
	{                                                                                          \
		format_setup, encode_run, encode_check, format_teardown, encode_size,              \
			encode_measures                                                            \
	}
#define DECODE                                                                                     \
	{                                                                                          \
		format_setup, decode_run, decode_check, format_teardown, decode_size               \
	}

static const struct benchmark table[] = {
	{ "format/encode", "samples/s", ENCODE },
	{ "format/encode-stored", "samples/s", ENCODE, .argument = &stored },
	{ "format/decode", "samples/s", DECODE },
	{ "format/decode-stored", "samples/s", DECODE, .argument = &stored },
};

const struct benchmark_table format_benchmarks = { table, sizeof(table) / sizeof(*table) };
