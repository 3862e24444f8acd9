/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/resolver.h"
#include "tests/unit/unit.h"

#include "record/events/event.h"
#include "record/symbols/jit.h"

#include "record/system/opener.h"
#include "tests/unit/trace_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Above any number that the kernel gives, so that /proc knows nothing of it. */
#define PID 100000000u
#define KERNEL UINT64_C(0xffffffff81000000)

/* To whoever opens a file: -errno, or 0 and an empty one that claims a size. */
static int answer = -ENOENT;
static uint64_t answers;

int opener_open(const struct opening *what, struct open_file *file)
{
	*file = (struct open_file){ .fd = -1, .status = { .st_ino = 7, .st_size = 4242 } };
	if (!answer)
		file->fd = memfd_create("file", MFD_CLOEXEC);
	return answer;
}

uint64_t opener_answers(void)
{
	return answers;
}

struct fixture {
	char kallsyms[256], modules[1];
	struct objects *objects;
	struct resolver_sources sources;
	struct event_list events;
	struct prf_writer *w;
	struct resolver *r;
	struct trace_file trace;
};

static void map(struct fixture *f, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	const struct side_record record = {
		.type = SIDE_RECORD_MAP,
		.pid = PID,
		.tid = PID,
		.map = { .start = start, .size = end - start, .offset = offset, .inode = 7 },
		.name = path,
	};

	assert_null(spaces_apply(f->sources.spaces, &record));
}

/* An empty trace of one event, which samples go to from now on. */
static void begin_trace(struct fixture *f)
{
	struct prf_event event = { .name = "cpu-clock", .unit = "samples", .frequency = 99 };

	fixture_must(prf_writer_new(&f->w, &(struct prf_writer_options){ .fd = -1 }));
	f->trace = (struct trace_file){ .output.fd = -1, .writer = f->w };
	fixture_must(prf_writer_event(f->w, &event, &f->trace.events[0]));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->kallsyms, sizeof(f->kallsyms),
		 "ffffffff81000000 T _text\nffffffff81001000 T entry\nffffffff81002000 T work\n"
		 "ffffffff81003000 T asm_sysvec_timer\nffffffff81004000 T end\n");
	begin_trace(f);
	fixture_must(event_list_add(&f->events, "cpu-clock"));
	f->objects = objects_new();
	f->sources.spaces = spaces_new(f->objects, true);
	f->sources.tasks = tasks_new();
	f->sources.events = &f->events;
	assert_null(kernel_symbols_parse(&f->sources.kernel, f->kallsyms, f->modules));
	fixture_must(jit_new(&f->sources.jit, &(struct jit_options){ .writer = f->w }));
	f->r = resolver_new(&f->sources);
	assert_non_null(f->r);
	resolver_begin(f->r, &f->trace);
	assert_null(tasks_rename(f->sources.tasks, PID, PID, "prog", 1));
	map(f, 0x400000, 0x500000, 0x1000, "/bin/prog");
	map(f, 0x700000, 0x800000, 0, "/lib/lib.so");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	resolver_free(f->r);
	jit_free(f->sources.jit);
	kernel_symbols_free(f->sources.kernel);
	tasks_free(f->sources.tasks);
	spaces_free(f->sources.spaces);
	objects_free(f->objects);
	event_list_release(&f->events);
	prf_writer_free(f->w);
	free(f);
	return 0;
}

/* A sample with room for 16 frames after it. */
union bytes {
	struct sample sample;
	__u64 words[2 * (sizeof(struct sample) / sizeof(__u64) + 16) + WAKER_FRAMES];
};

static size_t fill(union bytes *b, const uint64_t *user, size_t users, const uint64_t *kernel,
		   size_t kernels)
{
	memset(b, 0, sizeof(*b));
	b->sample = (struct sample){ .time_ns = 10, .weight = 1, .pid = PID, .tid = PID, .cpu = 1 };
	b->sample.user_frames = (__u16)users;
	b->sample.kernel_frames = (__u16)kernels;
	if (!users)
		b->sample.walk_end = WALK_NO_USER_STACK;
	for (size_t i = 0; i < users; i++)
		b->sample.frames[i] = user[i];
	for (size_t i = 0; i < kernels; i++)
		b->sample.frames[users + i] = kernel[i];
	return sizeof(b->sample) + (users + kernels) * sizeof(b->sample.frames[0]);
}

static bool resolve(struct fixture *f, const union bytes *b, size_t size)
{
	const struct sample *raw = resolver_check(f->r, b, size);
	struct prf_sample sample;

	if (!raw)
		return false;
	assert_null(resolver_resolve(f->r, raw, &sample));
	assert_null(trace_file_sample(&f->trace, &sample));
	return true;
}

/* Ends the trace and shows its stacks, one a line: "prog leaf < caller < ...". */
static void check(struct fixture *f, const char *expected)
{
	char text[2048] = "";
	struct prf_reader *r;
	struct prf_record record;

	r = fixture_read_back(f->w);
#define SAY(...) snprintf(text + strlen(text), sizeof(text) - strlen(text), __VA_ARGS__)
	while (fixture_next(r, &record)) {
		if (record.type != PRF_RECORD_SAMPLES)
			continue;
		for (size_t i = 0; i < record.samples.n; i++) {
			uint32_t stack = record.samples.stack[i];

			SAY("%s", prf_reader_task(r, record.samples.task[i])->comm);
			while (stack != PRF_NONE) {
				struct prf_stack s = prf_reader_all_stacks(r)[stack];
				struct prf_frame frame = prf_reader_all_frames(r)[s.frame];

				if (frame.flags & PRF_FRAME_END)
					SAY(" <%s",
					    prf_stack_end_name((enum prf_stack_end)frame.offset));
				else
					SAY(" %s+%llx%s%s",
					    prf_reader_object(r, frame.object)->path,
					    (unsigned long long)frame.offset,
					    frame.flags & PRF_FRAME_EXACT ? "!" : "",
					    frame.flags & PRF_FRAME_GUESSED ? "?" : "");
				stack = s.parent;
			}
			SAY("\n");
		}
	}
	assert_string_equal(text, expected);
	prf_reader_free(r);
}

static void places_are_offsets_in_files(void **state)
{
	static const uint64_t user[] = { 0x700010 | FRAME_EXACT, 0x400020,
					 0x400030 | FRAME_GUESSED };
	static const uint64_t kernel[] = { KERNEL + 0x2010, KERNEL + 0x1010 };
	struct fixture *f = *state;
	union bytes b;

	assert_true(resolve(f, &b, fill(&b, user, 3, kernel, 2)));
	assert_true(resolve(f, &b, fill(&b, NULL, 0, kernel, 2)));
	check(f,
	      "prog [kernel]+2010! [kernel]+1010 /lib/lib.so+10! /bin/prog+1020 /bin/prog+1030?\n"
	      "prog [kernel]+2010! [kernel]+1010\n");
}

static void stacks_say_why_they_end(void **state)
{
	static const uint64_t user[] = { 0x400020 | FRAME_EXACT };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 1, NULL, 0);

	b.sample.walk_end = WALK_BAD_READ;
	assert_true(resolve(f, &b, size));
	b.sample.walk_end = WALK_ROOT;
	assert_true(resolve(f, &b, size));
	size = fill(&b, NULL, 0, NULL, 0);
	b.sample.walk_end = WALK_NO_REGISTERS;
	assert_true(resolve(f, &b, size));
	size = fill(&b, NULL, 0, NULL, 0);
	assert_true(resolve(f, &b, size));
	check(f,
	      "prog /bin/prog+1020! <bad-read\nprog /bin/prog+1020!\nprog <no-registers\nprog\n");
}

static void calls_at_the_end_belong_to_what_ends(void **state)
{
	/* The byte after a mapping is a return address of its last call, but no leaf. */
	static const uint64_t user[] = { 0x800000, 0x800000 | FRAME_EXACT };
	struct fixture *f = *state;
	union bytes b;

	assert_true(resolve(f, &b, fill(&b, user, 1, NULL, 0)));
	assert_true(resolve(f, &b, fill(&b, user + 1, 1, NULL, 0)));
	check(f, "prog /lib/lib.so+100000\nprog [unknown]+800000!\n");
}

static void what_is_remembered_ends_with_the_layout(void **state)
{
	static const uint64_t user[] = { 0x400020 | FRAME_EXACT };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 1, NULL, 0);

	assert_true(resolve(f, &b, size));
	map(f, 0x400000, 0x500000, 0, "/bin/other");
	assert_true(resolve(f, &b, size));
	assert_null(spaces_apply(f->sources.spaces, &(struct side_record){ .type = SIDE_RECORD_EXEC,
									   .pid = PID,
									   .tid = PID,
									   .name = "prog" }));
	assert_true(resolve(f, &b, size));
	check(f, "prog /bin/prog+1020!\nprog /bin/other+20!\nprog [unknown]+400020!\n");
}

/* A layout keeps its id while made code is added to it. */
static void more_made_code_is_where_nothing_was(void **state)
{
	static const uint64_t user[] = { 0xa00010 | FRAME_EXACT, 0x900020, 0x400030 };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 3, NULL, 0);

	map(f, 0x900000, 0xa00000, 0, "//anon");
	assert_true(resolve(f, &b, size));
	assert_true(resolve(f, &b, size));
	map(f, 0x900000, 0xb00000, 0, "//anon");
	assert_true(resolve(f, &b, size));
	check(f, "prog [unknown]+a00010! [jit]+900020 /bin/prog+1030\n"
		 "prog [unknown]+a00010! [jit]+900020 /bin/prog+1030\n"
		 "prog [jit]+a00010! [jit]+900020 /bin/prog+1030\n");
}

static void another_trace_begins_anew(void **state)
{
	static const uint64_t user[] = { 0x700010 | FRAME_EXACT, 0x400020 };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 2, NULL, 0);

	assert_true(resolve(f, &b, size));
	prf_writer_free(f->w);
	begin_trace(f);
	resolver_begin(f->r, &f->trace);
	tasks_forget_ids(f->sources.tasks);
	jit_set_writer(f->sources.jit, f->w);
	assert_true(resolve(f, &b, size));
	check(f, "prog /lib/lib.so+10! /bin/prog+1020\n");
}

/*
 * Each part of what a stack depends on counts by itself: here the state of the names of made code
 * and the end of the walk change at the same time, by the same bits.
 */
static void a_known_stack_is_of_its_end_and_its_names(void **state)
{
	static const uint64_t user[] = { 0x900010 | FRAME_EXACT };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 1, NULL, 0);
	uint32_t first, second = 0, object;

	map(f, 0x900000, 0xa00000, 0, "//anon");
	b.sample.walk_end = WALK_FRAME_POINTER;
	assert_int_equal(jit_set_sample(f->sources.jit, PID, b.sample.time_ns), JIT_UNKNOWN);
	fixture_must(jit_object(f->sources.jit, PID, 0x900010, &object));
	do {
		jit_set_writer(f->sources.jit, f->w);
		first = jit_set_sample(f->sources.jit, PID, b.sample.time_ns);
	} while (first & 1);
	assert_true(resolve(f, &b, size));
	for (int i = 0; i < 4; i++) {
		jit_set_writer(f->sources.jit, f->w);
		second = jit_set_sample(f->sources.jit, PID, b.sample.time_ns);
		if ((first ^ second) == (WALK_FRAME_POINTER ^ WALK_NO_MAPPING))
			break;
	}
	assert_int_equal(first ^ second, WALK_FRAME_POINTER ^ WALK_NO_MAPPING);
	b.sample.walk_end = WALK_NO_MAPPING;
	assert_true(resolve(f, &b, size));
	check(f, "prog [jit]+900010! <frame-pointer\nprog [jit]+900010! <no-mapping\n");
}

/* Puts a waker's kernel frames after those of fill(). */
static size_t add_waker(union bytes *b, size_t size, uint32_t tid, const uint64_t *waker, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->words[size / sizeof(__u64) + i] = waker[i];
	b->sample.waker_frames = (__u8)n;
	b->sample.waker_pid = PID;
	b->sample.waker_tid = tid;
	return size + n * sizeof(b->sample.frames[0]);
}

/* As check(), of wakers. */
static void check_wakers(struct fixture *f, const char *expected)
{
	char text[1024] = "";
	struct prf_record record;
	struct prf_reader *r;

	r = fixture_read_back(f->w);
	while (fixture_next(r, &record)) {
		if (record.type != PRF_RECORD_SAMPLES)
			continue;
		for (size_t i = 0; i < record.samples.n; i++) {
			uint32_t stack = record.samples.waker[i],
				 task = record.samples.waker_task[i];

			SAY("%s", task == PRF_NONE ? "-" : prf_reader_task(r, task)->comm);
			for (; stack != PRF_NONE; stack = prf_reader_all_stacks(r)[stack].parent)
				SAY(" %llx", (unsigned long long)prf_reader_all_frames(
						     r)[prf_reader_all_stacks(r)[stack].frame]
						     .offset);
			SAY("\n");
		}
	}
	assert_string_equal(text, expected);
	prf_reader_free(r);
}

static void a_waker_is_a_task_or_an_interrupt(void **state)
{
	static const uint64_t user[] = { 0x400020 | FRAME_EXACT };
	static const uint64_t task[] = { KERNEL + 0x2010, KERNEL + 0x1010 };
	static const uint64_t interrupt[] = { KERNEL + 0x2020, KERNEL + 0x3010, KERNEL + 0x1010 };
	struct fixture *f = *state;
	union bytes b;
	size_t size;

	assert_null(tasks_rename(f->sources.tasks, PID, PID + 1, "waker", 1));
	size = fill(&b, user, 1, task, 1);
	assert_true(resolve(f, &b, add_waker(&b, size, PID + 1, task, 2)));
	size = fill(&b, user, 1, task, 1);
	assert_true(resolve(f, &b, add_waker(&b, size, PID + 1, interrupt, 3)));
	size = fill(&b, user, 1, task, 1);
	assert_true(resolve(f, &b, add_waker(&b, size, 0, task, 2)));
	assert_true(resolve(f, &b, fill(&b, user, 1, task, 1)));
	check_wakers(f, "waker 2010 1010\n- 2020 3010\n- 2010 1010\n-\n");
}

/* An interrupt may be below the end. */
static void frames_of_a_runtime_lie_before_the_waker(void **state)
{
	static const uint64_t kernel[] = { KERNEL + 0x1010 }, task[] = { KERNEL + 0x2010 };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, NULL, 0, kernel, 1);

	b.sample.script_frames = 2;
	b.words[size / sizeof(__u64)] = KERNEL + 0x3010;
	size += 2 * sizeof(struct script_frame);
	size = add_waker(&b, size, PID, task, 1);
	assert_true(resolve(f, &b, size));
	/* All that the counts promise must be there, and no more. */
	assert_false(resolve(f, &b, size - sizeof(struct script_frame)));
	b.sample.script_frames = 1;
	assert_false(resolve(f, &b, size));
	b.sample.script_frames = MAX_SCRIPT_FRAMES + 1;
	assert_false(resolve(f, &b, size));
	check_wakers(f, "prog 2010\n");
}

/* Puts what is in `giver` after all frames. */
static size_t add_giver(union bytes *b, size_t size, const union bytes *giver, size_t giver_size)
{
	memcpy((char *)b + size, giver, giver_size);
	b->sample.giver_bytes = (__u32)giver_size;
	return size + giver_size;
}

static void a_waker_has_its_user_stack(void **state)
{
	static const uint64_t user[] = { 0x400020 | FRAME_EXACT }, own[] = { 0x700010, 0x400020 };
	static const uint64_t task[] = { KERNEL + 0x2010 };
	static const uint64_t interrupt[] = { KERNEL + 0x3010, KERNEL + 0x1010 };
	struct fixture *f = *state;
	union bytes b, giver;
	size_t size, all, giver_size = fill(&giver, own, 2, NULL, 0);

	size = add_waker(&b, fill(&b, user, 1, task, 1), PID, task, 1);
	all = add_giver(&b, size, &giver, giver_size);
	assert_true(resolve(f, &b, all));
	/* The sample ends where it says, and is of one thread's user stack. */
	assert_false(resolve(f, &b, all - 8));
	b.sample.giver_bytes -= 8;
	assert_false(resolve(f, &b, all - 8));
	add_giver(&b, size, &giver, giver_size);
	((struct sample *)(b.words + size / 8))->giver_bytes = 8;
	assert_false(resolve(f, &b, all));
	giver_size = fill(&giver, own, 1, task, 1);
	assert_false(resolve(f, &b, add_giver(&b, size, &giver, giver_size)));
	/* An interrupt is not its doing. */
	size = add_waker(&b, fill(&b, user, 1, task, 1), PID, interrupt, 2);
	giver_size = fill(&giver, own, 2, NULL, 0);
	assert_true(resolve(f, &b, add_giver(&b, size, &giver, giver_size)));
	/* What it had mapped when it was walked is gone. */
	assert_null(spaces_apply(f->sources.spaces, &(struct side_record){ .type = SIDE_RECORD_EXEC,
									   .pid = PID,
									   .tid = PID,
									   .time_ns = 2000 }));
	size = add_waker(&b, fill(&b, user, 1, task, 1), PID, task, 1);
	giver.sample.time_ns = 1999;
	assert_true(resolve(f, &b, add_giver(&b, size, &giver, giver_size)));
	check_wakers(f, "prog 2010 10 1020\n- 3010\nprog 2010\n");
}

static void a_waker_whose_stack_was_cut_off_has_no_name(void **state)
{
	static const uint64_t user[] = { 0x400020 | FRAME_EXACT };
	struct fixture *f = *state;
	uint64_t waker[WAKER_FRAMES];
	char expected[1024] = "-";
	union bytes b;
	size_t size;

	assert_null(tasks_rename(f->sources.tasks, PID, PID + 1, "waker", 1));
	for (size_t i = 0; i < WAKER_FRAMES; i++) {
		waker[i] = KERNEL + 0x2010;
		strcat(expected, " 2010");
	}
	size = fill(&b, user, 1, NULL, 0);
	assert_true(resolve(f, &b, add_waker(&b, size, PID + 1, waker, WAKER_FRAMES)));
	strcat(expected, "\n");
	check_wakers(f, expected);
}

static void nonsense_is_refused(void **state)
{
	static const uint64_t user[] = { 0x700010, 0x400020 };
	struct fixture *f = *state;
	union bytes b;
	size_t size = fill(&b, user, 2, NULL, 0);

	for (size_t cut = 0; cut < size; cut++)
		assert_false(resolve(f, &b, cut));
	assert_false(resolve(f, &b, size + 8));
	b.sample.user_frames = MAX_USER_FRAMES + 1;
	assert_false(resolve(f, &b, size));
	size = fill(&b, user, 2, NULL, 0);
	b.sample.event = 1;
	assert_false(resolve(f, &b, size));
	check(f, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
/* Its frames were known before. */
static void a_file_that_answers_late_is_complete_from_then_on(void **state)
{
	const uint64_t user[] = { 0x900010 | FRAME_EXACT };
	struct fixture *f = *state;
	uint64_t sizes[3] = { 0 };
	struct prf_record record;
	struct prf_reader *r;
	union bytes b;
	size_t size = fill(&b, user, 1, NULL, 0), n = 0;

	map(f, 0x900000, 0xa00000, 0, "/late/file");
	answer = -EAGAIN;
	assert_true(resolve(f, &b, size) && resolve(f, &b, size));
	answer = 0;
	answers++;
	assert_true(resolve(f, &b, size));
	answer = -ENOENT;
	r = fixture_read_back(f->w);
	while (fixture_next(r, &record))
		for (size_t i = 0; record.type == PRF_RECORD_SAMPLES && i < record.samples.n; i++) {
			struct prf_stack s = prf_reader_all_stacks(r)[record.samples.stack[i]];
			uint32_t object = prf_reader_all_frames(r)[s.frame].object;

			assert_string_equal(prf_reader_object(r, object)->path, "/late/file");
			assert_true(n < 3);
			sizes[n++] = prf_reader_object(r, object)->size;
		}
	prf_reader_free(r);
	assert_int_equal(n, 3);
	assert_int_equal(sizes[0], 0);
	assert_int_equal(sizes[1], 0);
	assert_int_equal(sizes[2], 4242);
}

static const struct CMUnitTest tests[] = {
	TEST(places_are_offsets_in_files),
	TEST(stacks_say_why_they_end),
	TEST(calls_at_the_end_belong_to_what_ends),
	TEST(what_is_remembered_ends_with_the_layout),
	TEST(more_made_code_is_where_nothing_was),
	TEST(another_trace_begins_anew),
	TEST(a_known_stack_is_of_its_end_and_its_names),
	TEST(a_waker_is_a_task_or_an_interrupt),
	TEST(frames_of_a_runtime_lie_before_the_waker),
	TEST(a_waker_has_its_user_stack),
	TEST(a_waker_whose_stack_was_cut_off_has_no_name),
	TEST(nonsense_is_refused),
	TEST(a_file_that_answers_late_is_complete_from_then_on),
};

UNIT_TESTS(tests);
