/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's own work per sample: addresses to objects, stacks to numbers, encoding. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/suite/suite.h"
#include "bench/suite/corpus.h"
#include "bpf/abi/sample.h"
#include "record/spaces/world.h"
#include "record/trace/resolver.h"

#define SAMPLES 10000

static const struct corpus_options shape = {
	.samples = SAMPLES, .nodes = 2000, .depth = 40, .places = 1000, .threads = 1
};

/* Samples as the ring has them, one after the other, each with its size before it. */
struct drain_state {
	struct corpus corpus;
	struct world world;
	struct event_list events;
	uint8_t *raw;
	size_t raw_size;
	uint64_t samples, bytes;
	bool failed;
};

static void drain_teardown(void *state)
{
	struct drain_state *d = state;

	corpus_release(&d->corpus);
	world_release(&d->world);
	event_list_release(&d->events);
	free(d->raw);
	free(d);
}

/* The first mapping of this program's own file. */
static const struct mapping *own_mapping(const struct drain_state *d)
{
	const struct layout *layout = spaces_layout(d->world.spaces, (uint32_t)getpid());
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;

	while ((m = mappings_next(&layout->mappings, &cursor)) &&
	       strcmp(m->object->definition.path, d->corpus.path) != 0)
		;
	return m;
}

static bool make_raw(struct drain_state *d)
{
	const struct mapping *mapping = own_mapping(d);
	const struct corpus *c = &d->corpus;
	size_t room = (size_t)SAMPLES * (8 + sizeof(struct sample) + 8 * c->options.depth);

	d->raw = mapping ? malloc(room) : NULL;
	for (uint32_t i = 0; d->raw && i < SAMPLES; i++) {
		struct sample *s = (struct sample *)(d->raw + d->raw_size + 8);
		uint64_t size;

		memset(s, 0, sizeof(*s));
		s->time_ns = c->time_ns[i];
		s->weight = 1;
		s->pid = s->tid = (uint32_t)getpid();
		s->cpu = c->cpu[i];
		for (uint32_t node = c->node[i]; node != UINT32_MAX; node = c->parents[node])
			s->frames[s->user_frames++] = mapping->start + c->offsets[c->place[node]] -
						      mapping->offset;
		s->frames[0] |= FRAME_EXACT;
		size = sizeof(*s) + 8 * (size_t)s->user_frames;
		memcpy(d->raw + d->raw_size, &size, 8);
		d->raw_size += 8 + size;
	}
	return d->raw;
}

static struct error *drain_setup(void **state, uint64_t seed)
{
	struct drain_state *d = calloc(1, sizeof(*d));
	struct corpus_options options = shape;
	struct kernel_symbols *kernel = NULL;
	char nothing[2][1] = { "", "" };

	if (!d)
		return error_memory();
	options.seed = seed;
	if (corpus_init(&d->corpus, &options) ||
	    error_ignore(event_list_add(&d->events, "cpu-clock")) ||
	    error_ignore(kernel_symbols_parse(&kernel, nothing[0], nothing[1])) ||
	    error_ignore(world_init(&d->world, false, kernel)) ||
	    error_ignore(world_add_process(&d->world, (uint32_t)getpid())) || !make_raw(d)) {
		drain_teardown(d);
		return error_new(ERROR_FAILED, "the corpus cannot be made");
	}
	*state = d;
	return NULL;
}

/* As the recorder does it for a record of a ring. */
static bool drain_sample(struct resolver *resolver, struct trace_file *trace, const uint8_t *at,
			 uint64_t size)
{
	const struct sample *raw = resolver_check(resolver, at, size);
	struct prf_sample sample;

	return raw && !error_ignore(resolver_resolve(resolver, raw, &sample)) &&
	       !error_ignore(trace_file_sample(trace, &sample));
}

/* A trace of one event, to the writer. */
static bool begin(struct trace_file *trace, struct prf_writer *w)
{
	const struct prf_event event = {
		.kind = PRF_EVENT_ON_CPU, .name = "cpu-clock", .unit = "samples", .frequency = 999
	};

	*trace = (struct trace_file){ .output.fd = -1, .writer = w };
	return !error_ignore(prf_writer_event(w, &event, &trace->events[0]));
}

static bool drain_all(const struct drain_state *d, struct resolver *resolver, struct prf_writer *w)
{
	struct trace_file trace;
	uint64_t size;

	if (!begin(&trace, w))
		return false;
	resolver_begin(resolver, &trace);
	for (size_t at = 0; at < d->raw_size; at += 8 + size) {
		memcpy(&size, d->raw + at, 8);
		if (!drain_sample(resolver, &trace, d->raw + at + 8, size))
			return false;
	}
	return true;
}

static void drain_run(void *state, uint64_t iterations)
{
	struct drain_state *d = state;
	const struct prf_writer_options options = { .fd = -1, .level = 3 };
	struct resolver_sources sources = { .spaces = d->world.spaces,
					    .tasks = d->world.tasks,
					    .kernel = d->world.kernel,
					    .events = &d->events };

	while (iterations-- && !d->failed) {
		struct resolver *resolver = NULL;
		struct prf_writer *w = NULL;
		struct prf_writer_totals totals = { 0 };
		struct jit *jit = NULL;

		tasks_forget_ids(d->world.tasks);
		d->failed = error_ignore(prf_writer_new(&w, &options)) ||
			    error_ignore(jit_new(&jit, &(struct jit_options){ .writer = w }));
		sources.jit = jit;
		resolver = d->failed ? NULL : resolver_new(&sources);
		d->failed = !resolver || !drain_all(d, resolver, w) ||
			    error_ignore(prf_writer_finish(w));
		if (!d->failed)
			prf_writer_totals(w, &totals);
		d->samples = totals.samples;
		d->bytes = totals.file_bytes;
		resolver_free(resolver);
		jit_free(jit);
		prf_writer_free(w);
	}
}

/* -------- one sample after the other -------- */

/*
 * The same with one sample an iteration, and one resolver and writer for all of them. `drain/known`
 * has seen all of their stacks before.
 */
struct one_state {
	struct drain_state *drain;
	struct resolver *resolver;
	struct trace_file trace;
	struct jit *jit;
	size_t at;
	uint64_t expected;
	int null_fd;
	bool failed;
};

static void one_teardown(void *state)
{
	struct one_state *o = state;

	resolver_free(o->resolver);
	jit_free(o->jit);
	prf_writer_free(o->trace.writer);
	if (o->null_fd >= 0)
		close(o->null_fd);
	if (o->drain)
		drain_teardown(o->drain);
	free(o);
}

static bool one_begin(struct one_state *o)
{
	const struct prf_writer_options options = { .fd = open("/dev/null", O_WRONLY | O_CLOEXEC),
						    .level = 3 };
	struct drain_state *d = o->drain;
	struct resolver_sources sources = { .spaces = d->world.spaces,
					    .tasks = d->world.tasks,
					    .kernel = d->world.kernel,
					    .events = &d->events };
	struct prf_writer *w = NULL;

	o->null_fd = options.fd;
	if (options.fd < 0 || error_ignore(prf_writer_new(&w, &options)) || !begin(&o->trace, w) ||
	    error_ignore(jit_new(&o->jit, &(struct jit_options){ .writer = w })))
		return false;
	sources.jit = o->jit;
	o->resolver = resolver_new(&sources);
	if (o->resolver)
		resolver_begin(o->resolver, &o->trace);
	return o->resolver;
}

static struct error *one_setup(void **state, uint64_t seed)
{
	struct one_state *o = calloc(1, sizeof(*o));
	struct error *error;
	void *drain = NULL;

	if (!o)
		return error_memory();
	o->null_fd = -1;
	error = drain_setup(&drain, seed);
	o->drain = drain;
	if (!error && !one_begin(o))
		error = error_new(ERROR_FAILED, "cannot begin a trace");
	if (error)
		one_teardown(o);
	else
		*state = o;
	return error;
}

static void one_run(void *state, uint64_t iterations)
{
	struct one_state *o = state;
	struct drain_state *d = o->drain;

	while (iterations-- && !o->failed) {
		uint64_t size;

		memcpy(&size, d->raw + o->at, 8);
		o->failed = !drain_sample(o->resolver, &o->trace, d->raw + o->at + 8, size);
		o->at += 8 + size;
		if (o->at == d->raw_size)
			o->at = 0;
		o->expected++;
	}
}

static struct error *known_setup(void **state, uint64_t seed)
{
	struct error *error = one_setup(state, seed);

	if (!error)
		one_run(*state, SAMPLES);
	return error;
}

static struct error *one_check(void *state)
{
	const struct one_state *o = state;
	struct prf_writer_totals totals;

	prf_writer_totals(o->trace.writer, &totals);
	if (o->failed || totals.samples != o->expected)
		return error_new(ERROR_FAILED, "%llu of %llu samples came out",
				 (unsigned long long)totals.samples,
				 (unsigned long long)o->expected);
	return NULL;
}

static struct error *drain_check(void *state)
{
	const struct drain_state *d = state;

	if (d->failed || d->samples != SAMPLES)
		return error_new(ERROR_FAILED, "%llu of %d samples came out",
				 (unsigned long long)d->samples, SAMPLES);
	return NULL;
}

static void drain_size(void *state, uint64_t *units, uint64_t *bytes)
{
	*units = SAMPLES;
	*bytes = ((struct drain_state *)state)->raw_size;
}

static const struct benchmark table[] = {
	{ "drain/resolve",
	  "samples/s",
	  { drain_setup, drain_run, drain_check, drain_teardown, drain_size } },
	{ "drain/one", NULL, { one_setup, one_run, one_check, one_teardown } },
	{ "drain/known", NULL, { known_setup, one_run, one_check, one_teardown } },
};

const struct benchmark_table drain_benchmarks = { table, sizeof(table) / sizeof(*table) };
