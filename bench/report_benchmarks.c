/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a trace to folded stacks, stage by stage and as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/corpus.h"
#include "bench/registry.h"
#include "report/load.h"

enum stage { STAGE_TALLY, STAGE_SYMBOLS, STAGE_RENDER, STAGE_WHOLE };

struct kind {
	uint32_t samples;
	enum stage stage;
	const char *options[4]; /* of prof-report */
};

struct report_state {
	const struct kind *kind;
	struct corpus corpus;
	char path[64];
	struct report_options options;
	struct loaded loaded; /* what rendering starts from */
	uint64_t counted;     /* samples, or named places, or bytes */
	uint64_t expected;
	size_t size;
	bool failed;
};

static void report_teardown(void *state)
{
	struct report_state *r = state;

	loaded_release(&r->loaded);
	report_options_release(&r->options);
	corpus_release(&r->corpus);
	unlink(r->path);
	free(r);
}

static bool write_corpus(struct report_state *r)
{
	uint8_t *bytes = NULL;
	bool good = !corpus_trace(&r->corpus, 3, &bytes, &r->size);
	int fd;

	strcpy(r->path, "/tmp/prof-bench.XXXXXX");
	fd = mkstemp(r->path);
	good = good && fd >= 0 && write(fd, bytes, r->size) == (ssize_t)r->size;
	if (fd >= 0)
		close(fd);
	free(bytes);
	return good;
}

static enum benchmark_status report_setup(void **state, uint64_t seed,
					  struct benchmark_problem *problem)
{
	const struct kind *kind = *state;
	struct corpus_options shape = { .seed = seed, .samples = kind->samples, .nodes = 5000,
					.depth = 40, .places = 2000, .threads = 4 };
	struct report_state *r = calloc(1, sizeof(*r));
	char *arguments[8] = { (char *)"prof-report", (char *)"-q", (char *)"--no-cache" };
	int n = 3;

	if (!r)
		return benchmark_problem(problem, BENCHMARK_FAILED, "no memory");
	r->kind = kind;
	if (corpus_init(&r->corpus, &shape) || !write_corpus(r)) {
		report_teardown(r);
		return benchmark_problem(problem, BENCHMARK_FAILED, "the corpus cannot be made");
	}
	for (size_t i = 0; i < 4 && kind->options[i]; i++)
		arguments[n++] = (char *)kind->options[i];
	arguments[n++] = r->path;
	if (report_options_parse(&r->options, n, arguments) != OPTIONS_OK ||
	    (kind->stage == STAGE_RENDER &&
	     !(loaded_open(&r->loaded, r->options.paths, 1, false) &&
	       loaded_profile(&r->loaded, &r->options)))) {
		report_teardown(r);
		return benchmark_problem(problem, BENCHMARK_FAILED, "the trace is not read");
	}
	*state = r;
	return BENCHMARK_OK;
}

/* -------- the stages -------- */

static bool tally_once(struct report_state *r)
{
	struct loaded loaded = { 0 };
	bool good = loaded_open(&loaded, r->options.paths, 1, false) &&
		    loaded_read(&loaded, &r->options, false);

	r->counted = 0;
	if (good) {
		size_t n;
		const struct tally_cell *cells = tally_cells(loaded.tally, &n);

		for (size_t i = 0; i < n; i++)
			r->counted += cells[i].samples;
	}
	r->expected = r->kind->samples;
	loaded_release(&loaded);
	return good;
}

/* All places of the corpus, in this program's own file. */
static bool symbols_once(struct report_state *r)
{
	const struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = r->corpus.path, .root = "" };
	struct symbolizer *s = NULL;
	uint32_t number, query;
	bool good = !symbolizer_new(&s, &r->options.symbols) &&
		    !symbolizer_add_object(s, &object, &number);

	for (uint32_t i = 0; good && i < r->corpus.options.places; i++)
		good = !symbolizer_add_query(s, number, r->corpus.offsets[i], false, &query);
	good = good && !symbolizer_run(s);
	r->counted = 0;
	for (uint32_t i = 0; good && i < r->corpus.options.places; i++) {
		size_t n;

		symbolizer_places(s, i, &n);
		r->counted += n > 0;
	}
	/* Some places lie in padding and in start-up code that has no symbol. */
	r->expected = r->corpus.options.places - r->corpus.options.places / 20;
	if (r->counted >= r->expected)
		r->expected = r->counted;
	symbolizer_free(s);
	return good;
}

static bool render(struct report_state *r, const struct loaded *loaded)
{
	struct sink sink;
	bool good;

	sink_init(&sink, -1);
	good = !r->options.view->render(loaded->profile, &r->options.shown, &sink) && !sink.error;
	r->counted = sink.buffer.size;
	if (!r->expected)
		r->expected = r->counted;
	if (!r->counted)
		good = false;
	sink_release(&sink);
	return good;
}

static bool whole_once(struct report_state *r)
{
	struct loaded loaded = { 0 };
	bool good = loaded_open(&loaded, r->options.paths, 1, false) &&
		    loaded_profile(&loaded, &r->options) && render(r, &loaded);

	loaded_release(&loaded);
	return good;
}

static void report_run_stage(void *state, uint64_t iterations)
{
	struct report_state *r = state;

	while (iterations-- && !r->failed) {
		switch (r->kind->stage) {
		case STAGE_TALLY:
			r->failed = !tally_once(r);
			break;
		case STAGE_SYMBOLS:
			r->failed = !symbols_once(r);
			break;
		case STAGE_RENDER:
			r->failed = !render(r, &r->loaded);
			break;
		case STAGE_WHOLE:
			r->failed = !whole_once(r);
			break;
		}
	}
}

static enum benchmark_status report_check(void *state, struct benchmark_problem *problem)
{
	const struct report_state *r = state;

	if (r->failed || r->counted != r->expected)
		return benchmark_problem(problem, BENCHMARK_FAILED, "gave %llu, not %llu",
					 (unsigned long long)r->counted,
					 (unsigned long long)r->expected);
	return BENCHMARK_OK;
}

static void report_size(void *state, uint64_t *units, uint64_t *bytes)
{
	const struct report_state *r = state;

	*bytes = 0;
	*units = r->kind->stage == STAGE_SYMBOLS ? r->corpus.options.places : r->kind->samples;
}

#define REPORT(title, what, count, of, ...)                                                        \
	{                                                                                          \
		.name = "report/" title, .unit = of, .setup = report_setup,                        \
		.run = report_run_stage, .check = report_check, .size = report_size,               \
		.teardown = report_teardown,                                                       \
		.argument = &(const struct kind){ count, what, { __VA_ARGS__ } }                   \
	}

static const struct benchmark table[] = {
	REPORT("tally", STAGE_TALLY, 1000000, "samples/s", NULL),
	REPORT("symbols", STAGE_SYMBOLS, 1000, "places/s", "--no-inlines"),
	REPORT("inlines", STAGE_SYMBOLS, 1000, "places/s", NULL),
	REPORT("folded", STAGE_RENDER, 10000, "samples/s", NULL),
	REPORT("html", STAGE_RENDER, 10000, "samples/s", "-fhtml"),
	REPORT("pprof", STAGE_RENDER, 10000, "samples/s", "-fpprof"),
	REPORT("whole-1e4", STAGE_WHOLE, 10000, "samples/s", NULL),
	REPORT("whole-1e5", STAGE_WHOLE, 100000, "samples/s", NULL),
	REPORT("whole-1e6", STAGE_WHOLE, 1000000, "samples/s", NULL),
};

const struct benchmark_table report_benchmarks = { table, sizeof(table) / sizeof(*table) };
