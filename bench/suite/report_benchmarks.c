/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a trace to folded stacks, stage by stage and as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/measure/cold_file.h"
#include "bench/suite/suite.h"
#include "bench/suite/corpus.h"
#include "common/elf_file.h"
#include "report/load.h"
#include "report/symbols/symbol_table.h"

enum stage {
	STAGE_READ,   /* every record of the trace, once */
	STAGE_TALLY,  /* the same, added up */
	STAGE_INDEX,  /* finding and opening an ELF file, and going through its tables for one place
		       */
	STAGE_LOOKUP, /* many places in the tables of an open file */
	STAGE_SYMBOLS, /* index and lookup, and with inlines DWARF */
	STAGE_RENDER,
	STAGE_WHOLE,
};

struct kind {
	uint32_t samples;
	enum stage stage;
	bool cold;		/* no page of the trace or of the ELF file is in memory */
	const char *options[4]; /* of prof-report */
};

struct report_state {
	const struct kind *kind;
	struct corpus corpus;
	char path[64], object[64]; /* of the trace; of a copy of this program */
	struct elf_file elf;	   /* open for STAGE_LOOKUP */
	uint64_t *addresses;	   /* sorted */
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
	elf_file_release(&r->elf);
	free(r->addresses);
	if (*r->object)
		unlink(r->object);
	if (*r->path)
		unlink(r->path);
	free(r);
}

/* What is to be cold lies on a disk: /tmp may not. */
static int open_temporary(const struct report_state *r, char *path)
{
	strcpy(path, r->kind->cold ? "/var/tmp/prof-bench.XXXXXX" : "/tmp/prof-bench.XXXXXX");
	return mkstemp(path);
}

/* The pages of a running program cannot be dropped, those of a copy can. */
static bool copy_self(struct report_state *r)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = open_temporary(r, r->object);
	struct stat info;
	bool good = from >= 0 && to >= 0 && !fstat(from, &info);

	while (good && info.st_size > 0) {
		ssize_t n = sendfile(to, from, NULL, (size_t)info.st_size);

		good = n > 0;
		info.st_size -= n;
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return good;
}

static bool write_corpus(struct report_state *r)
{
	uint8_t *bytes = NULL;
	bool good = !corpus_trace(&r->corpus, 3, &bytes, &r->size);
	int fd;

	fd = open_temporary(r, r->path);
	good = good && fd >= 0 && write(fd, bytes, r->size) == (ssize_t)r->size;
	if (fd >= 0)
		close(fd);
	free(bytes);
	return good;
}

static bool make_corpus(struct report_state *r, uint64_t seed)
{
	struct corpus_options shape = { .seed = seed,
					.samples = r->kind->samples,
					.nodes = 5000,
					.depth = 40,
					.places = 2000,
					.threads = 4 };

	if (r->kind->cold && !copy_self(r))
		return false;
	shape.object = r->kind->cold ? r->object : NULL;
	return !corpus_init(&r->corpus, &shape) && write_corpus(r);
}

static bool parse_options(struct report_state *r)
{
	char *arguments[8] = { (char *)"prof-report", (char *)"-q", (char *)"--no-cache" };
	int n = 3;

	for (size_t i = 0; i < 4 && r->kind->options[i]; i++)
		arguments[n++] = (char *)r->kind->options[i];
	arguments[n++] = r->path;
	return report_options_parse(&r->options, n, arguments) == OPTIONS_OK;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Link-time addresses of the places, sorted, and the file that they are in. */
static bool open_object(struct report_state *r)
{
	uint32_t n = r->corpus.options.places;
	const struct elf_section *text;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !elf_file_open(&r->elf, fd);

	if (fd >= 0)
		close(fd);
	text = good ? elf_file_section(&r->elf, ".text") : NULL;
	r->addresses = calloc(n, sizeof(*r->addresses));
	if (!text || !r->addresses)
		return false;
	for (uint32_t i = 0; i < n; i++)
		r->addresses[i] = r->corpus.offsets[i] - text->offset + text->address;
	qsort(r->addresses, n, sizeof(*r->addresses), compare_addresses);
	return true;
}

static bool prepare_stage(struct report_state *r)
{
	if (r->kind->stage == STAGE_LOOKUP)
		return open_object(r);
	return r->kind->stage != STAGE_RENDER ||
	       (loaded_open(&r->loaded, r->options.paths, 1, false) &&
		loaded_profile(&r->loaded, &r->options));
}

static struct error *report_setup(void **state, uint64_t seed)
{
	const struct kind *kind = *state;
	struct report_state *r = calloc(1, sizeof(*r));
	struct error *error = NULL;

	if (!r)
		return error_memory();
	r->kind = kind;
	if (!make_corpus(r, seed))
		error = error_new(ERROR_FAILED, "the corpus cannot be made");
	else if (!parse_options(r) || !prepare_stage(r))
		error = error_new(ERROR_FAILED, "the trace is not read");
	else if (kind->cold && !(cold_file(r->path) && cold_file(r->object)))
		error = error_new(ERROR_UNAVAILABLE, "files in /var/tmp stay in memory");
	if (error)
		report_teardown(r);
	else
		*state = r;
	return error;
}

/* -------- the stages -------- */

static bool read_once(struct report_state *r)
{
	struct prf_record record;
	struct prf_reader *reader = NULL;
	int fd = open(r->path, O_RDONLY | O_CLOEXEC);
	struct error *error = fd < 0 ? error_system(errno, "%s", r->path)
				     : prf_reader_new_fd(&reader, fd);

	r->counted = 0;
	r->expected = r->kind->samples;
	while (!error && !(error = prf_reader_next(reader, &record)) &&
	       record.type != PRF_RECORD_END) {
		if (record.type == PRF_RECORD_SAMPLES)
			r->counted += record.samples.n;
	}
	prf_reader_free(reader);
	if (fd >= 0)
		close(fd);
	return !error_ignore(error);
}

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

/* Some places lie in padding and in start-up code that has no symbol. */
static void expect_most(struct report_state *r, uint32_t places)
{
	r->expected = places - places / 20;
	if (r->counted >= r->expected)
		r->expected = r->counted;
}

static bool lookup_once(struct report_state *r)
{
	uint32_t n = r->corpus.options.places;
	struct symbol_name *names = calloc(n, sizeof(*names));
	struct arena arena = { 0 };
	const struct symbol_search search = { r->addresses, n, names, &arena };
	bool good = names && symbol_table_find(&r->elf, ".symtab", &search);

	r->counted = 0;
	for (uint32_t i = 0; good && i < n; i++)
		r->counted += names[i].name != NULL;
	expect_most(r, n);
	arena_release(&arena);
	free(names);
	return good;
}

/* The first `n` places of the corpus, in this program's own file. */
static bool symbols_once(struct report_state *r, uint32_t n)
{
	const struct prf_object object = { .kind = PRF_OBJECT_FILE,
					   .path = r->corpus.path,
					   .root = "" };
	struct symbolizer *s = NULL;
	uint32_t number, query;
	bool good = !error_ignore(symbolizer_new(&s, &r->options.symbols)) &&
		    !error_ignore(symbolizer_add_object(s, &object, &number));

	for (uint32_t i = 0; good && i < n; i++)
		good = !error_ignore(
			symbolizer_add_query(s, number, r->corpus.offsets[i], false, &query));
	good = good && !error_ignore(symbolizer_run(s));
	r->counted = 0;
	for (uint32_t i = 0; good && i < n; i++) {
		size_t count;

		symbolizer_places(s, i, &count);
		r->counted += count > 0;
	}
	expect_most(r, n);
	symbolizer_free(s);
	return good;
}

static bool render(struct report_state *r, const struct loaded *loaded)
{
	struct sink sink;
	bool good;

	sink_init(&sink, -1);
	good = !error_ignore(r->options.view->render(loaded->profile, &r->options.shown, &sink)) &&
	       !sink.error;
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
	bool good = (!r->kind->cold || (cold_file(r->path) && cold_file(r->object))) &&
		    loaded_open(&loaded, r->options.paths, 1, false) &&
		    loaded_profile(&loaded, &r->options) && render(r, &loaded);

	loaded_release(&loaded);
	return good;
}

static void report_run_stage(void *state, uint64_t iterations)
{
	struct report_state *r = state;

	while (iterations-- && !r->failed) {
		switch (r->kind->stage) {
		case STAGE_READ: r->failed = !read_once(r); break;
		case STAGE_INDEX: r->failed = !symbols_once(r, 1); break;
		case STAGE_LOOKUP: r->failed = !lookup_once(r); break;
		case STAGE_TALLY: r->failed = !tally_once(r); break;
		case STAGE_SYMBOLS: r->failed = !symbols_once(r, r->corpus.options.places); break;
		case STAGE_RENDER: r->failed = !render(r, &r->loaded); break;
		case STAGE_WHOLE: r->failed = !whole_once(r); break;
		}
	}
}

static struct error *report_check(void *state)
{
	const struct report_state *r = state;

	if (r->failed || r->counted != r->expected)
		return error_new(ERROR_FAILED, "gave %llu, not %llu",
				 (unsigned long long)r->counted, (unsigned long long)r->expected);
	return NULL;
}

static void report_size(void *state, uint64_t *units, uint64_t *bytes)
{
	const struct report_state *r = state;

	*bytes = 0;
	*units = r->kind->stage == STAGE_INDEX ? 0
		 : r->kind->stage == STAGE_LOOKUP || r->kind->stage == STAGE_SYMBOLS
			 ? r->corpus.options.places
			 : r->kind->samples;
}

#define REPORT(title, long, chill, what, count, of, ...)                                           \
	{                                                                                          \
		.name = "report/" title, .unit = of, .setup = report_setup,                        \
		.run = report_run_stage, .check = report_check, .size = report_size,               \
		.teardown = report_teardown, .extra = long, .argument = &(const struct kind)       \
		{                                                                                  \
			count, what, chill,                                                        \
			{                                                                          \
				__VA_ARGS__                                                        \
			}                                                                          \
		}                                                                                  \
	}
#define STAGE(title, ...) REPORT(title, false, false, __VA_ARGS__)
#define WHOLE(title, count) REPORT(title, false, false, STAGE_WHOLE, count, "samples/s", NULL)
#define EXTRA(title, count) REPORT(title, true, false, STAGE_WHOLE, count, "samples/s", NULL)
#define COLD(title, long, count) REPORT(title, long, true, STAGE_WHOLE, count, "samples/s", NULL)

static const struct benchmark table[] = {
	STAGE("read", STAGE_READ, 1000000, "samples/s", NULL),
	STAGE("tally", STAGE_TALLY, 1000000, "samples/s", NULL),
	STAGE("index", STAGE_INDEX, 1000, NULL, "--no-inlines"),
	STAGE("lookup", STAGE_LOOKUP, 1000, "places/s", NULL),
	STAGE("symbols", STAGE_SYMBOLS, 1000, "places/s", "--no-inlines"),
	STAGE("inlines", STAGE_SYMBOLS, 1000, "places/s", NULL),
	STAGE("folded", STAGE_RENDER, 10000, "samples/s", NULL),
	STAGE("html", STAGE_RENDER, 10000, "samples/s", "-fhtml"),
	STAGE("pprof", STAGE_RENDER, 10000, "samples/s", "-fpprof"),
	WHOLE("whole-1e4", 10000),
	WHOLE("whole-1e5", 100000),
	WHOLE("whole-1e6", 1000000),
	EXTRA("whole-1e7", 10000000),
	COLD("cold-1e4", false, 10000),
	COLD("cold-1e5", true, 100000),
	COLD("cold-1e6", true, 1000000),
	COLD("cold-1e7", true, 10000000),
};

const struct benchmark_table report_benchmarks = { table, sizeof(table) / sizeof(*table) };
