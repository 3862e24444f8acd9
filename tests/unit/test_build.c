/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/info.h"
#include "report/merge/build.h"
#include "report/views/folded.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A trace in a file, whose names are all in the trace: a JIT object with the functions
 * "main", "f" and "g", and the kernel with "sys". One stack of each kind.
 */
struct fixture {
	char path[64];
	struct prf_writer *writer;
	FILE *file;
	uint32_t jit, kernel;
	uint32_t on_cpu, off_cpu, task;
	struct trace trace;
	struct tally *tally;
	struct symbolizer *symbolizer;
	struct profile *profile;
	struct selection selection;
	struct shape shape;
};

/* `recent`: so many definitions are known again, for the writer. */
static void begin_with(struct fixture *f, uint32_t recent)
{
	const struct prf_event on_cpu = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 1000, 0 };
	const struct prf_event off_cpu = { PRF_EVENT_OFF_CPU, "off-cpu", "ns", 0, 1 };
	const struct prf_task task = { 1, 1, 1, 1, 0, 0, "c", "", "" };
	const struct prf_object jit = { .kind = PRF_OBJECT_JIT, .path = "[jit]", .root = "" };
	const struct prf_object kernel = { .kind = PRF_OBJECT_KERNEL,
					   .path = "[kernel]",
					   .root = "" };
	const struct prf_symbol functions[] = { { 0x100, 0x100, "main" },
						{ 0x200, 0x100, "f" },
						{ 0x300, 0x100, "g" } };
	const struct prf_symbol sys = { 0x10, 0x10, "sys" };
	struct prf_writer_options options = { .level = 1, .recent = recent };

	*f = (struct fixture){ .file = tmpfile() };
	assert_non_null(f->file);
	options.fd = fileno(f->file);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", options.fd);
	fixture_must(prf_writer_new(&f->writer, &options));
	fixture_must(prf_writer_event(f->writer, &on_cpu, &f->on_cpu));
	fixture_must(prf_writer_event(f->writer, &off_cpu, &f->off_cpu));
	fixture_must(prf_writer_task(f->writer, &task, &f->task));
	fixture_must(prf_writer_object(f->writer, &jit, &f->jit));
	fixture_must(prf_writer_object(f->writer, &kernel, &f->kernel));
	fixture_must(prf_writer_symbols(f->writer, f->jit, functions, 3));
	fixture_must(prf_writer_symbols(f->writer, f->kernel, &sys, 1));
	fixture_must(prf_writer_metadata(f->writer, "host", "box"));
	fixture_must(prf_writer_metadata(f->writer, "start_time", "1970-01-02T00:00:01.250Z"));
	fixture_must(prf_writer_metadata(f->writer, "start_monotonic_ns", "1500"));
}

static void begin(struct fixture *f)
{
	begin_with(f, 0);
}

/* A stack root first: m, f, g are functions, s is the kernel's, ? has no name, ! is cut off. */
static uint32_t stack(struct fixture *f, const char *text)
{
	uint32_t frames[16], n = 0, id;

	for (const char *c = text; *c; c++)
		n++;
	for (uint32_t i = 0; i < n; i++) {
		struct prf_frame frame = { f->jit, 0, 0 };

		switch (text[i]) {
		case 'm': frame.offset = 0x110; break;
		case 'f': frame.offset = 0x210; break;
		case 'g':
			frame.offset = 0x300;
			frame.flags = PRF_FRAME_EXACT;
			break;
		case 's': frame = (struct prf_frame){ f->kernel, PRF_FRAME_KERNEL, 0x18 }; break;
		case '!':
			frame = (struct prf_frame){ PRF_NONE, PRF_FRAME_END, PRF_END_TOO_DEEP };
			break;
		case '.':
			frame = (struct prf_frame){ PRF_NONE, PRF_FRAME_END, PRF_END_NO_TABLE };
			break;
		default: frame.offset = 0x900;
		}
		fixture_must(prf_writer_frame(f->writer, &frame, &frames[n - 1 - i]));
	}
	fixture_must(prf_writer_frames(f->writer, frames, n, &id));
	return id;
}

static void sample(struct fixture *f, const char *text, uint32_t event, const char *waker,
		   uint64_t weight)
{
	const struct prf_sample s = { .time_ns = 1000,
				      .task = f->task,
				      .event = event,
				      .stack = *text ? stack(f, text) : PRF_NONE,
				      .waker = waker ? stack(f, waker) : PRF_NONE,
				      .waker_task = weight % 2 ? f->task : PRF_NONE,
				      .weight = weight };

	fixture_must(prf_writer_sample(f->writer, &s));
}

/* One of each of these stacks, on the CPU, up to a NULL. */
static void samples(struct fixture *f, const char *const *stacks)
{
	for (; *stacks; stacks++)
		sample(f, *stacks, f->on_cpu, NULL, 1);
}

#define SAMPLES(f, ...) samples(f, (const char *const[]){ __VA_ARGS__, NULL })

static void build(struct fixture *f, struct build_options *options, bool wakers)
{
	struct tally_options tally = { .dimensions = PROFILE_BY_COMM,
				       .wakers = wakers,
				       .selection = &f->selection };
	struct symbolizer_options symbols = { 0 };
	struct trace_sinks sinks = { .to_ns = UINT64_MAX };

	fixture_must(prf_writer_finish(f->writer));
	fixture_must(tally_new(&f->tally, &tally));
	fixture_must(symbolizer_new(&f->symbolizer, &symbols));
	fixture_must(trace_open(&f->trace, f->path));
	sinks.tally = f->tally;
	sinks.symbolizer = f->symbolizer;
	assert_null(trace_read(&f->trace, &sinks));
	options->tally = f->tally;
	options->traces = &f->trace;
	options->trace_count = 1;
	options->symbolizer = f->symbolizer;
	options->shape = &f->shape;
	options->dimensions = PROFILE_BY_COMM;
	fixture_must(profile_build(&f->profile, options));
}

static void expect(struct fixture *f, const char *text)
{
	struct view_options o = { .leading = { PROFILE_BY_COMM }, .annotate = true };
	struct sink sink;

	if (f->profile->led)
		o.leading[0] = 0;
	sink_init(&sink, -1);
	fixture_must(folded_render(f->profile, &o, &sink));
	assert_string_equal(buffer_string(&sink.buffer), text);
	sink_release(&sink);
}

static void end(struct fixture *f)
{
	profile_free(f->profile);
	tally_free(f->tally);
	symbolizer_free(f->symbolizer);
	trace_close(&f->trace);
	prf_writer_free(f->writer);
	fclose(f->file);
}

static void test_names_and_counts(void **state)
{
	struct build_options options = { 0 };
	struct fixture f;

	begin(&f);
	SAMPLES(&f, "mf", "mf", "mfg", "mfgs", "m?", "!fg", ".f", "");
	sample(&f, "mg", f.off_cpu, NULL, 5000);
	build(&f, &options, false);
	expect(&f, "c 1\n"
		   "c;[incomplete];f_[j] 1\n"
		   "c;[truncated];f_[j];g_[j] 1\n"
		   "c;main_[j];[jit]_[j] 1\n"
		   "c;main_[j];f_[j] 2\n"
		   "c;main_[j];f_[j];g_[j] 1\n"
		   "c;main_[j];f_[j];g_[j];sys_[k] 1\n");
	assert_int_equal(f.profile->samples, 8);
	assert_int_equal(f.profile->trace_count, 1);
	assert_string_equal(f.profile->traces[0].host, "box");
	assert_string_equal(f.profile->traces[0].kernel, "");
	assert_int_equal(f.profile->traces[0].realtime_ns, UINT64_C(86401249999500));
	assert_true(f.profile->traces[0].complete);
	end(&f);
}

/* A trace that was so long that frames and stacks were defined again. */
static void test_stacks_of_several_numbers(void **state)
{
	struct build_options options = { 0 };
	struct prf_writer_totals totals;
	struct fixture f;

	begin_with(&f, 1);
	SAMPLES(&f, "mf", "mfgs", "mg", "mf", "!fg", "mfgs", "mg", "!fg", "mf");
	sample(&f, "mg", f.off_cpu, NULL, 5000);
	prf_writer_totals(f.writer, &totals);
	/* They are eight, of five frames. */
	assert_true(totals.stacks > 12);
	assert_true(totals.frames > 10);
	build(&f, &options, false);
	expect(&f, "c;[truncated];f_[j];g_[j] 2\n"
		   "c;main_[j];f_[j] 3\n"
		   "c;main_[j];f_[j];g_[j];sys_[k] 2\n"
		   "c;main_[j];g_[j] 2\n");
	assert_int_equal(f.profile->samples, 9);
	end(&f);
}

static void test_times_of_waits(void **state)
{
	struct build_options options = { .value = PROFILE_TIME };
	struct fixture f;

	begin(&f);
	f.selection.on_cpu = f.selection.off_cpu = true;
	sample(&f, "mf", f.on_cpu, NULL, 1);
	sample(&f, "mf", f.off_cpu, NULL, 2500000);
	build(&f, &options, false);
	/* A sample at 1000 Hz is 1000 us. */
	expect(&f, "c;main_[j];f_[j] 3500\n");
	assert_string_equal(f.profile->unit, "us");
	end(&f);
}

/* Of two events it is known only of skipped ticks whose they are. */
static void test_time_of_lost_samples(void **state)
{
	const struct prf_loss losses[] = { { 1000, 1000, 0, PRF_LOSS_SKIPPED, 3 },
					   { 1000, 1000, 0, PRF_LOSS_RING_FULL, 7 } };
	struct build_options options = { .value = PROFILE_TIME };
	struct fixture f;

	begin(&f);
	SAMPLES(&f, "mf", "m");
	sample(&f, "mf", f.off_cpu, NULL, 2500000);
	for (size_t i = 0; i < 2; i++)
		fixture_must(prf_writer_loss(f.writer, &losses[i]));
	build(&f, &options, false);
	expect(&f, "c;main_[j] 2500\nc;main_[j];f_[j] 2500\n");
	assert_int_equal(f.profile->events[0].interval_ns, 1000000);
	end(&f);
}

static void test_wakers(void **state)
{
	struct build_options options = { .value = PROFILE_TIME };
	struct fixture f;

	begin(&f);
	f.selection.off_cpu = true;
	sample(&f, "ms", f.off_cpu, "mfg", 1000000);
	sample(&f, "ms", f.off_cpu, NULL, 2000000);
	sample(&f, "ms", f.off_cpu, "mf", 3000001); /* by a task that is known */
	build(&f, &options, true);
	expect(&f, "c;main_[j];sys_[k] 2000\n"
		   "c;main_[j];sys_[k];--;f_[w];main_[w];c_[w] 3000\n"
		   "c;main_[j];sys_[k];--;g_[w];f_[w];main_[w] 1000\n");
	end(&f);
}

/* Reads the trace and adds it to what is joined. */
static void join(struct fixture *f, struct trace *t, struct joined *joined, struct fixture *all)
{
	struct trace_sinks sinks = { .tally = all->tally,
				     .symbolizer = all->symbolizer,
				     .objects = &joined->objects,
				     .to_ns = UINT64_MAX };

	fixture_must(prf_writer_finish(f->writer));
	fixture_must(trace_open(t, f->path));
	assert_null(trace_read(t, &sinks));
	fixture_must(joined_add(joined, t, all->tally));
	assert_null(t->reader);
	assert_true(t->complete);
}

/* The first trace lost as many samples as it has, the second none. */
static void build_lossy(struct fixture *f, unsigned int dimensions)
{
	const struct prf_loss loss = { 1000, 1000, 0, PRF_LOSS_SKIPPED, 2 };
	struct fixture g;
	struct trace traces[2];
	struct joined joined = { 0 };
	struct tally_options tally = { .dimensions = dimensions, .selection = &f->selection };
	struct symbolizer_options symbols = { 0 };
	const char *const keys[PROFILE_NOTES] = { "host" };
	struct build_options options = { .value = PROFILE_TIME,
					 .dimensions = dimensions,
					 .note_keys = keys,
					 .traces = traces,
					 .trace_count = 2,
					 .joined = &joined,
					 .shape = &f->shape };

	begin(f);
	begin(&g);
	SAMPLES(f, "m", "m");
	fixture_must(prf_writer_loss(f->writer, &loss));
	SAMPLES(&g, "mf", "mf");
	fixture_must(tally_new(&f->tally, &tally));
	fixture_must(symbolizer_new(&f->symbolizer, &symbols));
	join(f, &traces[0], &joined, f);
	join(&g, &traces[1], &joined, f);
	options.tally = f->tally;
	options.symbolizer = f->symbolizer;
	fixture_must(profile_build(&f->profile, &options));
	trace_close(&traces[1]);
	f->trace = traces[0];
	joined_release(&joined);
	prf_writer_free(g.writer);
	fclose(g.file);
}

/* What is lost of one trace is charged to the others only where they are one. */
static void test_lost_time_of_traces(void **state)
{
	struct fixture f;

	build_lossy(&f, PROFILE_BY_COMM);
	expect(&f, "c;main_[j] 3000\nc;main_[j];f_[j] 3000\n");
	assert_int_equal(f.profile->groups[0].ns_per_sample, 1500000);
	end(&f);

	build_lossy(&f, PROFILE_BY_COMM | PROFILE_BY_TRACE);
	expect(&f, "c;main_[j] 4000\nc;main_[j];f_[j] 2000\n");
	assert_int_equal(f.profile->groups[0].ns_per_sample, 2000000);
	assert_int_equal(f.profile->groups[1].ns_per_sample, 1000000);
	end(&f);

	/* Both traces note the same, and are one group all the same. */
	build_lossy(&f, PROFILE_BY_COMM | PROFILE_BY_NOTE);
	expect(&f, "c;main_[j] 4000\nc;main_[j];f_[j] 2000\n");
	assert_int_equal(f.profile->group_count, 1);
	assert_int_equal(f.profile->groups[0].ns_per_sample, 0);
	end(&f);
}

/* Code of a JIT compiler is that of one trace; its functions have one name all the same. */
static void test_traces_joined(void **state)
{
	struct fixture f, g;
	struct trace traces[2];
	struct joined joined = { 0 };
	struct tally_options tally = { .dimensions = PROFILE_BY_COMM,
				       .wakers = true,
				       .selection = &f.selection };
	struct symbolizer_options symbols = { 0 };
	struct build_options options = {
		.traces = traces, .trace_count = 2, .joined = &joined, .dimensions = PROFILE_BY_COMM
	};
	const struct prf_place place = { "embedded", "", 0, 0 };

	begin(&f);
	begin(&g);
	f.selection.on_cpu = f.selection.off_cpu = true;
	SAMPLES(&f, "mf", "mfg", "m?", "");
	/* The same stack under other numbers. */
	SAMPLES(&g, "ms", "mfg", "mf", "");
	sample(&g, "ms", g.off_cpu, "mf", 3);
	fixture_must(prf_writer_names(g.writer, 1, &place, 1));
	fixture_must(tally_new(&f.tally, &tally));
	fixture_must(symbolizer_new(&f.symbolizer, &symbols));
	join(&f, &traces[0], &joined, &f);
	join(&g, &traces[1], &joined, &f);
	options.tally = f.tally;
	options.symbolizer = f.symbolizer;
	options.shape = &f.shape;
	fixture_must(profile_build(&f.profile, &options));
	expect(&f, "c 2\n"
		   "c;main_[j];[jit]_[j] 1\n"
		   "c;main_[j];embedded_[k] 1\n"
		   "c;main_[j];embedded_[k];--;f_[w];main_[w];c_[w] 1\n"
		   "c;main_[j];f_[j] 2\n"
		   "c;main_[j];f_[j];g_[j] 2\n");
	assert_int_equal(f.profile->trace_count, 2);
	assert_int_equal(f.profile->samples, 9);
	trace_close(&traces[1]);
	f.trace = traces[0];
	end(&f);
	joined_release(&joined);
	prf_writer_free(g.writer);
	fclose(g.file);
}

static void test_delimiter_and_recursion(void **state)
{
	struct build_options options = { 0 };
	struct fixture f;

	begin(&f);
	f.shape.delimiter = true;
	f.shape.collapse_recursion = true;
	SAMPLES(&f, "mfffs", "s");
	build(&f, &options, false);
	expect(&f, "c;main_[j];f_[j];-;sys_[k] 1\nc;sys_[k] 1\n");
	end(&f);
}

static void test_why_stacks_end(void **state)
{
	struct build_options options = { 0 };
	struct user_stacks user;
	struct fixture f;

	begin(&f);
	SAMPLES(&f, "mf", "mfs", "!f", ".s");
	/* "s": a kernel thread, without a user stack */
	SAMPLES(&f, "s", "");
	build(&f, &options, false);
	fixture_must(user_stacks_count(&user, f.tally, &f.trace));
	assert_int_equal(user.samples[PRF_END_ROOT], 2);
	assert_int_equal(user.samples[PRF_END_TOO_DEEP], 1);
	assert_int_equal(user.samples[PRF_END_NO_TABLE], 1);
	assert_int_equal(user.other, 0);
	end(&f);
}

/* The command as a frame of the profile: the stacks are those of folded, which puts it first. */
static void test_leading_frames(void **state)
{
	static const unsigned int leading[] = { PROFILE_BY_COMM, PROFILE_BY_COMM | PROFILE_BY_PID,
						0 };
	struct build_options options = { .leading = leading };
	char text[128];
	struct fixture f;

	begin(&f);
	SAMPLES(&f, "mfg", "mf", "mfg", "");
	build(&f, &options, false);
	assert_true(f.profile->led);
	assert_int_equal(f.profile->node_count, 5);
	for (uint32_t i = 0; i < f.profile->node_count; i++) {
		const struct profile_node *node = &f.profile->nodes[i];
		const struct profile_frame *frame = &f.profile->frames[node->frame];

		assert_true(node->parent == PRF_NONE || node->parent < i);
		assert_int_equal(frame->kind == PROFILE_FRAME_GROUP, node->depth <= 2);
	}
	for (size_t i = 0; i < f.profile->entry_count; i++)
		assert_true(f.profile->nodes[f.profile->entries[i].node].depth >= 2);
	snprintf(text, sizeof(text),
		 "c;c-%1$u 1\nc;c-%1$u;main_[j];f_[j] 1\n"
		 "c;c-%1$u;main_[j];f_[j];g_[j] 2\n",
		 f.profile->groups[0].pid);
	expect(&f, text);
	end(&f);
}

static void test_addresses_tell_apart(void **state)
{
	struct build_options options = { .detail = PROFILE_BY_ADDRESS };
	struct fixture f;
	bool kept;

	begin(&f);
	SAMPLES(&f, "mf", "m");
	build(&f, &options, false);
	for (size_t i = 0; i < f.profile->frame_count; i++)
		assert_true(f.profile->frames[i].offset == 0x110 ||
			    f.profile->frames[i].offset == 0x210);
	assert_int_equal(f.profile->frame_count, 2);
	assert_int_equal(profile_node_of(f.profile, PRF_NONE, &kept), PRF_NONE);
	assert_true(kept);
	end(&f);
}

/* Two frames: the function `leaf` at one place, and its caller at another. */
static void expect_offsets(const struct fixture *f, const char *leaf, uint64_t at, uint64_t caller)
{
	assert_int_equal(f->profile->frame_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(f->profile->frames[i].offset,
				 strcmp(f->profile->frames[i].name, leaf) ? caller : at);
}

/* A return address belongs to the instruction after the call; the pc of a leaf is its own. */
static void test_addresses_inside_calls(void **state)
{
	struct build_options options = { .detail = PROFILE_BY_ADDRESS | PROFILE_INSIDE_CALL };
	struct fixture f;

	begin(&f);
	sample(&f, "mg", f.on_cpu, NULL, 1);
	build(&f, &options, false);
	expect_offsets(&f, "g", 0x300, 0x10f);
	end(&f);
}

static void test_lowest_addresses(void **state)
{
	struct build_options options = { .detail = PROFILE_LOWEST_ADDRESS };
	struct fixture f;

	begin(&f);
	SAMPLES(&f, "mf", "m");
	build(&f, &options, false);
	expect_offsets(&f, "f", 0x210, 0x110);
	end(&f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names_and_counts),
	cmocka_unit_test(test_stacks_of_several_numbers),
	cmocka_unit_test(test_times_of_waits),
	cmocka_unit_test(test_time_of_lost_samples),
	cmocka_unit_test(test_lost_time_of_traces),
	cmocka_unit_test(test_wakers),
	cmocka_unit_test(test_traces_joined),
	cmocka_unit_test(test_delimiter_and_recursion),
	cmocka_unit_test(test_why_stacks_end),
	cmocka_unit_test(test_leading_frames),
	cmocka_unit_test(test_addresses_tell_apart),
	cmocka_unit_test(test_addresses_inside_calls),
	cmocka_unit_test(test_lowest_addresses),
};

UNIT_TESTS(tests);
