/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jit.h"
#include "tests/unit/unit.h"

#include "common/buffer.h"
#include "common/clock.h"
#include "common/limits.h"
#include "record/system/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/trace_fixture.h"

/* The test is its own target: it writes the map of its own pid. */
static uint32_t self;
static char path[64], warned[512];
static struct prf_writer *writer;
static struct jit *jit;
static uint64_t now;
static uint32_t generation; /* of hit_again() */

static unsigned int warnings;
static uint64_t bytes_read; /* of files */

ssize_t __real_mapped_file_read(int fd, void *bytes, size_t size, uint64_t offset);
ssize_t __wrap_mapped_file_read(int fd, void *bytes, size_t size, uint64_t offset);

/* In place of mapped_file_read(). */
ssize_t __wrap_mapped_file_read(int fd, void *bytes, size_t size, uint64_t offset)
{
	ssize_t n = __real_mapped_file_read(fd, bytes, size, offset);

	/* Not what is only compared. */
	if (n > GROWING_FILE_KEPT)
		bytes_read += (uint64_t)n;
	return n;
}

static void note_warning(const char *text, void *context)
{
	warnings++;
	strcpy(warned, text);
}

static int setup(void **state)
{
	const struct prf_writer_options options = { .fd = -1 };
	struct jit_options jit_options = { .warn = note_warning };

	self = (uint32_t)getpid();
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", self);
	unlink(path);
	warned[0] = 0;
	warnings = 0;
	bytes_read = 0;
	now = 1;
	generation = JIT_UNKNOWN;
	if (error_ignore(prf_writer_new(&writer, &options)))
		return -1;
	jit_options.writer = writer;
	return error_ignore(jit_new(&jit, &jit_options)) ? -1 : 0;
}

#define SEVERAL 4

static uint32_t several[SEVERAL]; /* processes; 0: none */

static void end_several(void)
{
	char its[64];

	for (size_t i = 0; i < SEVERAL && several[i]; i++) {
		snprintf(its, sizeof(its), "/tmp/perf-%u.map", several[i]);
		unlink(its);
		kill((pid_t)several[i], SIGKILL);
		waitpid((pid_t)several[i], NULL, 0);
		several[i] = 0;
	}
}

static int teardown(void **state)
{
	end_several();
	jit_free(jit);
	prf_writer_free(writer);
	unlink(path);
	return 0;
}

static void put(const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static uint32_t object_in(uint32_t pid, uint64_t address)
{
	uint32_t object = PRF_NONE;

	assert_null(jit_object(jit, pid, address, &object));
	return object;
}

static uint32_t object_of(uint64_t address)
{
	return object_in(self, address);
}

static void tick(void)
{
	now += 1000000000;
	fixture_must(jit_tick(jit, now));
}

/* "object:start+size=name " for all symbols in the trace. */
static const char *all_symbols(void)
{
	static char text[1024];
	struct prf_reader *reader;
	struct prf_record record;
	size_t used = 0;

	fixture_must(jit_finish(jit, NULL, NULL));
	reader = fixture_read_back(writer);
	text[0] = 0;
	while (fixture_next(reader, &record)) {
		if (record.type != PRF_RECORD_SYMBOLS)
			continue;
		for (size_t i = 0; i < record.symbols.n; i++)
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%u:%llx+%llx=%s ",
				record.symbols.object,
				(unsigned long long)record.symbols.symbols[i].start,
				(unsigned long long)record.symbols.symbols[i].size,
				record.symbols.symbols[i].name);
	}
	prf_reader_free(reader);
	return text;
}

static void only_what_was_hit(void **state)
{
	uint32_t object;

	put("w", "1000 100 one\n2000 100 two\n3000 100 three\n");
	object = object_of(0x2010);
	assert_int_equal(object_of(0x1010), object);
	assert_int_equal(object_of(0x2020), object);
	tick();
	assert_string_equal(all_symbols(), "0:1010+1=one 0:2010+11=two ");
}

static void a_map_that_comes_later_and_grows(void **state)
{
	assert_int_equal(object_of(0x1010), 0);
	tick();
	put("w", "5000 10 other\n10");
	tick();
	put("a", "00 100 one\n");
	tick();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(object_of(0x5001), 1);
	assert_string_equal(all_symbols(), "0:1010+1=one 1:5000+10=other ");
}

/* As the resolver does for each sample. */
static uint32_t hit(uint64_t time_ns, uint64_t address)
{
	jit_set_sample(jit, self, time_ns);
	return object_of(address);
}

/* The same, as the resolver does it: what it knows of the generation it does not ask for again. */
static uint32_t hit_again(uint64_t time_ns, uint64_t address)
{
	static uint32_t object;

	if (jit_set_sample(jit, self, time_ns) != generation || generation == JIT_UNKNOWN)
		object = object_of(address);
	generation = jit_generation(jit);
	return object;
}

static void a_place_that_is_used_again(void **state)
{
	uint64_t first, second;

	put("w", "1000 100 one\n2000 100 two\n");
	object_of(0x9000); /* the map is read */
	tick();
	first = clock_now();
	usleep(20000); /* the clock of files ticks that slowly */
	put("a", "1080 100 uno\n");
	tick();
	second = clock_now();
	/* Samples of the time before come later than the line. */
	assert_int_equal(hit(first, 0x1010), 1);
	assert_int_equal(hit(second, 0x1010), 2); /* gone, and nothing new is known there */
	assert_int_equal(hit(first, 0x1090), 1);
	assert_int_equal(hit(second, 0x1090), 3);
	assert_int_equal(hit(second, 0x2010), 1);
	assert_string_equal(all_symbols(), "1:1000+100=one 1:2000+100=two 3:1080+100=uno ");
}

/* Both lines are read after the hit. The second one is not older than the file's time. */
static void the_hit_before_the_change(void **state)
{
	put("w", "1000 100 one\n");
	assert_int_equal(hit(clock_now(), 0x1010), 0);
	usleep(20000);
	put("a", "1000 100 uno\n");
	tick();
	assert_string_equal(all_symbols(), "0:1010+1=one ");
}

/* It may have been of either: both lines were written at once. */
static void the_hit_between_two_lines(void **state)
{
	put("w", "1000 100 one\n1000 100 uno\n");
	assert_int_equal(hit(clock_now(), 0x1010), 0);
	tick();
	assert_string_equal(all_symbols(), "");
}

/* Nothing is withheld because of what happened before the first sample of a place. */
static void owners_before_the_first_hit(void **state)
{
	put("w", "1000 100 one\n1000 100 two\n1000 100 three\n");
	object_of(0x9000);
	tick();
	assert_int_equal(hit(clock_now(), 0x1010), 1);
	assert_string_equal(all_symbols(), "1:1000+100=three ");
}

static void exit_passes_on_and_forgets(void **state)
{
	put("w", "1000 100 one\n");
	assert_int_equal(object_of(0x1010), 0);
	jit_exit(jit, self, UINT64_MAX);
	jit_exit(jit, self, UINT64_MAX);
	put("w", "1000 100 next program\n");
	assert_string_equal(all_symbols(), "0:1010+1=one ");
}

/* Samples from before come later. */
static void the_next_program_has_the_same_number(void **state)
{
	put("w", "1000 100 one\n");
	assert_int_equal(hit(clock_now(), 0x1010), 0);
	assert_int_equal(hit(clock_now(), 0x2010), 0);
	jit_foresee_exec(jit, self);
	put("a", "2000 100 next\n");
	tick();
	hit(clock_now(), 0x2020);
	jit_exit(jit, self, UINT64_MAX);
	assert_string_equal(all_symbols(), "0:1010+1=one ");
}

static void the_next_program_has_a_map_and_this_one_none(void **state)
{
	assert_int_equal(hit(clock_now(), 0x1010), 0);
	jit_foresee_exec(jit, self);
	put("w", "1000 100 next\n");
	tick();
	jit_exit(jit, self, UINT64_MAX);
	assert_string_equal(all_symbols(), "");
}

/* A process with a map, that has ended and was waited for when this comes back. */
static uint32_t foresee_short_life(uint64_t time_ns)
{
	uint32_t pid;
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	pid = (uint32_t)fork();
	if (!pid)
		_exit(read(go[0], &byte, 1) != 1);
	jit_foresee(jit, pid, time_ns, NULL);
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	put("w", "1000 100 one\n");
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid((pid_t)pid, NULL, 0), (pid_t)pid);
	jit_foresee_exit(jit, pid);
	assert_int_equal(unlink(path), 0);
	close(go[0]);
	close(go[1]);
	return pid;
}

static void ended_before_its_samples_come(void **state)
{
	uint32_t pid = foresee_short_life(5);

	jit_begin(jit, pid, 5);
	assert_int_equal(object_in(pid, 0x1010), 0);
	jit_exit(jit, pid, 6);
	assert_string_equal(all_symbols(), "0:1010+1=one ");
}

static void foreseen_for_a_later_program(void **state)
{
	uint32_t pid = foresee_short_life(5);

	jit_begin(jit, pid, 4);
	assert_int_equal(object_in(pid, 0x1010), 0);
	jit_exit(jit, pid, 4);
	jit_begin(jit, pid, 5);
	assert_int_equal(object_in(pid, 0x1020), 1);
	jit_exit(jit, pid, 6);
	assert_string_equal(all_symbols(), "1:1020+1=one ");
}

static void somebody_elses_map(void **state)
{
	if (geteuid())
		skip();
	put("w", "1000 100 evil\n");
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(object_of(0x1010), 0);
	tick();
	assert_non_null(strstr(warned, "another user"));
	assert_string_equal(all_symbols(), "");
}

static void a_link_instead_of_a_map(void **state)
{
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(object_of(0x1010), 0);
	assert_non_null(strstr(warned, "not a plain file"));
}

static void left_behind_by_an_older_process(void **state)
{
	const struct timespec times[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };

	put("w", "1000 100 stale\n");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(object_of(0x1010), 0);
	tick();
	assert_string_equal(all_symbols(), "");
}

/* Code of a jitdump that came at a time. */
struct loaded {
	uint64_t time_ns, address, size;
	const char *name;
	size_t bytes; /* of it that are in the record */
};

/* Appends records to the jitdump, the first ones with its header. */
static void put_dump(const char *mode, const struct loaded *all, size_t n)
{
	struct buffer b = { 0 };
	FILE *f = fopen(path, mode);

	if (*mode == 'w') {
		buffer_u32(&b, 0x4a695444);
		buffer_u32(&b, 1);
		buffer_u32(&b, 40);
		memset(buffer_extend(&b, 28), 0, 28);
	}
	for (size_t i = 0; i < n; i++) {
		const size_t size = strlen(all[i].name) + 1;

		buffer_u32(&b, 0);
		buffer_u32(&b, (uint32_t)(16 + 40 + size + all[i].bytes));
		buffer_u64(&b, all[i].time_ns);
		memset(buffer_extend(&b, 16), 0, 16);
		buffer_u64(&b, all[i].address);
		buffer_u64(&b, all[i].size);
		buffer_u64(&b, all[i].time_ns);
		buffer_append(&b, all[i].name, size);
		if (all[i].bytes)
			memset(buffer_extend(&b, all[i].bytes), 0xcc, all[i].bytes);
	}
	assert_true(buffer_ok(&b));
	assert_non_null(f);
	assert_int_equal(fwrite(b.data, 1, b.size, f), b.size);
	assert_int_equal(fclose(f), 0);
	buffer_release(&b);
}

#define PUT_DUMP(mode, ...)                                                                        \
	put_dump(mode, (const struct loaded[]){ __VA_ARGS__ },                                     \
		 sizeof((const struct loaded[]){ __VA_ARGS__ }) / sizeof(struct loaded))

/* What the first one said is of the past, and what the second one says is not. */
static void a_dump_that_is_written_anew(void **state)
{
	uint64_t first = clock_now(), second = first + 1;

	object_of(0x9010); /* the map is looked for, and not there */
	PUT_DUMP("w", { first, 0x1000, 0x100, "one whose name is longer", 0 });
	jit_dump(jit, self, path);
	assert_int_equal(hit(first, 0x1010), 1);
	tick();
	PUT_DUMP("w", { second, 0x2000, 0x100, "two", 0 });
	tick();
	assert_int_equal(hit(clock_now(), 0x2010), 2);
	assert_int_equal(hit(second, 0x2020), 3);
	assert_int_equal(hit(clock_now(), 0x1010), 2);
	assert_string_equal(all_symbols(), "1:1010+1=one whose name is longer 2:2010+1=two ");
}

/* That the code of the second one has no older one in its place says nothing of the first one. */
static void a_map_that_is_written_anew(void **state)
{
	uint32_t object;
	uint64_t first;

	put("w", "1000 100 one\n3000 100 three\n");
	object_of(0x9000);
	tick();
	first = clock_now();
	put("w", "1000 100 two\n");
	tick();
	tick();
	object = hit(first, 0x1010);
	assert_int_not_equal(hit(clock_now(), 0x1010), object);
	assert_int_equal(hit(first, 0x1020), object);
	assert_string_equal(all_symbols(), "2:1000+100=two ");
}

/* More than is read at once: the lines that are left may be of the same places. */
static void a_map_that_is_read_in_parts(void **state)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("1000 100 one\n", f);
	for (int i = 0; i < 8 << 20; i++)
		putc('\n', f);
	fputs("1000 100 two\n", f);
	assert_int_equal(fclose(f), 0);
	object_of(0x9000);
	tick();
	hit(clock_now(), 0x1010);
	tick();
	assert_string_equal(all_symbols(), "1:1010+1=two ");
}

/* Processes that do nothing, each with the map at `path` as its own. */
static void begin_several(void)
{
	char its[64];

	for (size_t i = 0; i < SEVERAL; i++) {
		several[i] = (uint32_t)fork();
		while (!several[i])
			pause();
		snprintf(its, sizeof(its), "/tmp/perf-%u.map", several[i]);
		unlink(its);
		assert_int_equal(link(path, its), 0);
		jit_set_sample(jit, several[i], now);
		object_in(several[i], 0x9000);
	}
}

/* Their maps have this text, and a gigabyte of zeros. */
static void begin_several_large(const char *text)
{
	put("w", text);
	assert_int_equal(truncate(path, 1 << 30), 0);
	begin_several();
}

static uint64_t read_since(uint64_t *before)
{
	uint64_t n = bytes_read - *before;

	*before = bytes_read;
	return n;
}

/* In a round, between two, and at the end: of all processes together. */
static void files_larger_than_is_read(void **state)
{
	uint64_t before;

	begin_several_large("1000 100 one\n");
	before = bytes_read;
	for (int round = 0; round < 3; round++) {
		tick();
		assert_in_range(read_since(&before), LIMIT_JIT_ROUND_BYTES / 2,
				LIMIT_JIT_ROUND_BYTES);
	}
	for (size_t i = 0; i < SEVERAL - 1; i++) {
		if (i)
			jit_exit(jit, several[i], UINT64_MAX);
		else
			jit_foresee_exec(jit, several[i]);
	}
	assert_in_range(read_since(&before), LIMIT_JIT_END_BYTES / 2, LIMIT_JIT_END_BYTES);
	/* Also of one process the rest is left. */
	fixture_must(jit_finish(jit, NULL, NULL));
	assert_in_range(read_since(&before), LIMIT_JIT_END_BYTES / 4, LIMIT_JIT_END_BYTES / 2);
}

static unsigned int asked;

static bool goes_on_twice(void *context, uint64_t spent_ns)
{
	assert_ptr_equal(context, &asked);
	return asked++ < 2;
}

/* Once that is asked for nothing further is read, of any process. */
static void files_of_a_recording_that_is_to_end(void **state)
{
	uint64_t before;

	begin_several_large("1000 100 one\n");
	before = bytes_read;
	fixture_must(jit_finish(jit, goes_on_twice, &asked));
	/* Each what it gets in a round, and one of them a piece more. */
	assert_in_range(read_since(&before), LIMIT_JIT_ROUND_BYTES / 2,
			LIMIT_JIT_ROUND_BYTES + (1 << 20));
	assert_int_equal(warnings, 1);
	assert_string_equal(warned, "processes whose maps of made code were not read to the end, "
				    "as the recorder ends: 4");
	/* Another file of the series has the rest. */
	fixture_must(jit_finish(jit, NULL, NULL));
	assert_in_range(read_since(&before), LIMIT_JIT_END_BYTES / 2, LIMIT_JIT_END_BYTES);
}

/* No process takes what is read from all others. */
static void small_files_beside_large_ones(void **state)
{
	begin_several_large("");
	assert_int_equal(unlink(path), 0);
	put("w", "1000 100 one\n");
	assert_int_equal(hit(now, 0x1010), SEVERAL);
	tick();
	/* It is read whole, beside those that never are. */
	assert_string_equal(all_symbols(), "4:1010+1=one ");
}

/* To read many short lines takes more time than their bytes do. */
static void lines_shorter_than_names_are(void **state)
{
	FILE *f = fopen(path, "w");
	uint64_t before;

	assert_non_null(f);
	for (int i = 0; i < 1 << 20; i++)
		fprintf(f, "%x 1 a\n", 0x10000 + i);
	assert_int_equal(fclose(f), 0);
	object_of(0x9000);
	before = bytes_read;
	tick();
	assert_in_range(read_since(&before), LIMIT_JIT_ROUND_BYTES / 64, LIMIT_JIT_ROUND_BYTES / 8);
}

/* Names of a thousand characters, 60 MiB in each map, and many short ones. */
static void more_names_than_fit(void **state)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (int i = 0; i < 60000; i++)
		fprintf(f, "%x 10 %01000d\n", 0x10000 + 16 * i, i);
	for (int i = 60000; i < 600000; i++)
		fprintf(f, "%x 10 a\n", 0x10000 + 16 * i);
	assert_int_equal(fclose(f), 0);
	begin_several();
	for (int round = 0; round < 60; round++)
		tick();
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warned, " of 512 MiB"));
	/* Those of a process that ends make room. */
	for (size_t i = 0; i < SEVERAL; i++)
		jit_exit(jit, several[i], UINT64_MAX);
	put("w", "1000 100 one\n");
	hit(now, 0x1010);
	assert_string_equal(all_symbols(), "4:1010+1=one ");
}

/* Compilers hold records back: those of a place's owners come after all of its samples. */
static void by_the_times_of_the_dump(void **state)
{
	PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "one", 0 });
	jit_dump(jit, self, path);
	tick();
	/* In one stretch of 50 ms each, the third one with both owners. */
	assert_int_equal(hit(1010000000, 0x1010), 0);
	assert_int_equal(hit(1020000000, 0x1010), 0);
	assert_int_equal(hit(2010000000, 0x1010), 1);
	assert_int_equal(hit(2990000000, 0x1010), 2);
	assert_int_equal(hit(3010000000, 0x1010), 2);
	assert_int_equal(hit(3020000000, 0x1020), 2);
	PUT_DUMP("a", { 2000000000, 0x1000, 0x100, "two", 0 },
		 { 3000000000, 0x1000, 0x100, "three", 0 });
	tick();
	assert_string_equal(all_symbols(), "0:1010+1=one 1:1010+1=two 2:1020+1=three ");
}

/* More changes between two samples than are kept: what is known of the place is right all the same.
 */
static void more_changes_than_are_kept(void **state)
{
	const uint64_t n = 10000;
	struct loaded *all = calloc(n, sizeof(*all));
	uint32_t known;

	assert_non_null(all);
	PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "first", 0 });
	jit_dump(jit, self, path);
	tick();
	hit_again(1010000000, 0x1010);
	for (uint64_t i = 0; i < n; i++)
		all[i] = (struct loaded){ 2000000000 + 1000 * i, 0x1000, 0x100,
					  i % 2 ? "odd" : "even", 0 };
	put_dump("a", all, n);
	free(all);
	PUT_DUMP("a", { 3000000000, 0x9000, 0x100, "end", 0 });
	tick();
	for (uint64_t i = 0; i < n; i += 500) {
		known = hit_again(2000000000 + 1000 * i + 10, 0x1010);
		assert_int_equal(object_of(0x1010), known);
	}
	known = hit_again(2500000000, 0x1010);
	assert_int_equal(object_of(0x1010), known);
}

/* Until then nothing is known, also where the file was not looked at yet. */
static void hits_before_the_first_record(void **state)
{
	put_dump("w", NULL, 0);
	jit_dump(jit, self, path);
	assert_int_equal(hit_again(1010000000, 0x1010), 0);
	tick();
	assert_int_equal(hit_again(2010000000, 0x1010), 1);
	PUT_DUMP("a", { 1000000000, 0x1000, 0x100, "one", 0 },
		 { 2000000000, 0x1000, 0x100, "two", 0 });
	tick();
	assert_string_equal(all_symbols(), "0:1010+1=one 1:1010+1=two ");
}

/* Its code is older than the dump. Only the first hit of a generation is noted. */
static void hits_before_the_dump(void **state)
{
	assert_int_equal(hit_again(1010000000, 0x1010), 0);
	assert_int_equal(hit_again(2010000000, 0x1010), 0);
	PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "one", 0 },
		 { 2000000000, 0x1000, 0x100, "two", 0 });
	jit_dump(jit, self, path);
	tick();
	assert_string_equal(all_symbols(), "");
}

static void a_hit_that_comes_late(void **state)
{
	assert_int_equal(hit_again(2010000000, 0x1010), 0);
	assert_int_equal(hit_again(1010000000, 0x1010), 0);
	PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "one", 0 },
		 { 2000000000, 0x1000, 0x100, "two", 0 }, { 3000000000, 0x9000, 0x100, "end", 0 });
	jit_dump(jit, self, path);
	tick();
	assert_string_equal(all_symbols(), "");
}

/* What was named before is not named again by what lies around it. */
static void hits_of_one_stretch_are_named_in_parts(void **state)
{
	PUT_DUMP("w", { 1000000000, 0x9000, 0x100, "other", 0 });
	jit_dump(jit, self, path);
	tick();
	assert_int_equal(hit(1010000000, 0x1084), 0);
	assert_int_equal(hit(1030000000, 0x1010), 0);
	assert_int_equal(hit(1030000000, 0x10f0), 0);
	PUT_DUMP("a", { 1005000000, 0x1080, 0x10, "small", 0 },
		 { 1020000000, 0x9000, 0x100, "another", 0 });
	tick();
	PUT_DUMP("a", { 1025000000, 0x1000, 0x100, "large", 0 },
		 { 1040000000, 0x9000, 0x100, "other", 0 });
	tick();
	assert_string_equal(all_symbols(), "0:1084+1=small 0:1010+1=large 0:10f0+1=large ");
}

/* Of a million addresses it is noted when they were hit; others have no name. */
static void more_hits_than_are_noted(void **state)
{
	put_dump("w", NULL, 0);
	jit_dump(jit, self, path);
	assert_int_equal(hit(1010000000, 0x1010), 0);
	for (uint64_t i = 1; i < 1 << 20; i++)
		object_of(0x100000 + i);
	assert_int_equal(hit(1030000000, 0x1010), 0);
	assert_int_not_equal(hit(1030000000, 0x1020), 0);
	PUT_DUMP("a", { 1000000000, 0x1000, 0x100, "one", 0 },
		 { 1020000000, 0x1000, 0x100, "two", 0 }, { 1040000000, 0x9000, 0x100, "end", 0 });
	tick();
	assert_string_equal(all_symbols(), "");
}

/*
 * The last record is cut, or the file ends where a buffer does: there may be more, at places that
 * were used again before.
 */
static void records_that_were_never_written(void **state)
{
	for (int cut = 0; cut < 3; cut++) {
		struct loaded last = { 2000000000, 0x2000, 0x100, "last", 0 };

		if (cut == 2) /* the header, and the records with their texts */
			last.bytes = 4096 - 40 - 3 * 56 - sizeof("one") - sizeof("old") -
				     sizeof("last");
		PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "one", 0 },
			 { 1000000000, 0x2000, 0x100, "old", 0 }, last);
		if (cut == 1)
			put("a", "a part");
		jit_dump(jit, self, path);
		tick();
		hit(1010000000, 0x1010);
		hit(2010000000, 0x1010);
		hit(2010000000, 0x2010);
		jit_exit(jit, self, UINT64_MAX);
	}
	assert_string_equal(all_symbols(),
			    "0:1000+100=one 1:1010+1=one 1:2010+1=last "
			    "2:1000+100=one 3:1010+1=one 4:1000+100=one 5:1010+1=one ");
}

/* What a compiler that has nothing to do any more made keeps its names, in few objects. */
static void long_after_the_last_record(void **state)
{
	uint32_t last = 0, named = 0;

	PUT_DUMP("w", { 1000000000, 0x1000, 0x100, "one", 0 });
	put("a", "a part");
	jit_dump(jit, self, path);
	tick();
	for (uint64_t second = 2; second <= 100; second++)
		last = hit(second * 1000000000, 0x1010);
	assert_in_range(last, 10, 40);
	for (const char *at = all_symbols(); (at = strstr(at, ":1010+1=one ")); at++)
		named++;
	assert_int_equal(named, last + 1);
}

/* The times of its records are of no use: when they were written is. */
static void records_without_times(void **state)
{
	PUT_DUMP("w", { 0, 0x1000, 0x100, "one", 0 });
	put("a", "a part");
	jit_dump(jit, self, path);
	tick();
	hit(clock_now(), 0x1010);
	assert_string_equal(all_symbols(), "0:1000+100=one ");
}

static void names_of_dumps(void **state)
{
	assert_true(jit_is_dump("/tmp/.debug/jit/x/jit-4242.dump"));
	assert_true(jit_is_dump("jit-1.dump"));
	assert_false(jit_is_dump("/tmp/jit-.dump"));
	assert_false(jit_is_dump("/tmp/jit-12a.dump"));
	assert_false(jit_is_dump("/tmp/git-12.dump"));
	assert_false(jit_is_dump("/tmp/jit-12.dump.gz"));
	assert_false(jit_is_dump(""));
}

/* A reader of the trace that has gone, say, is no lack of memory. */
static void write_errors_are_reported_as_such(void **state)
{
	struct error *error = NULL;
	struct prf_writer *w;
	struct jit *other;
	int ends[2];

	w = fixture_piped(ends);
	close(ends[0]);
	fixture_must(jit_new(&other, &(struct jit_options){ .writer = w }));
	for (uint32_t i = 0; i < 100 && !error; i++) {
		uint32_t object;

		jit_set_sample(other, self + i, 1);
		error = jit_object(other, self + i, 0x1000, &object);
	}
	assert_true(error_is(error, EPIPE));
	error_free(error);
	jit_free(other);
	prf_writer_free(w);
	close(ends[1]);
}

/* Names are written where nothing can fail, as at the end of a process: the next tick reports it.
 */
static void names_that_cannot_be_written(void **state)
{
	struct error *error = NULL;
	struct prf_writer *w;
	uint32_t object;
	int ends[2];

	w = fixture_piped(ends);
	put("w", "1000 100 f\n");
	tick();
	jit_set_writer(jit, w);
	jit_set_sample(jit, self, now);
	fixture_must(jit_object(jit, self, 0x1000, &object));
	close(ends[0]);
	jit_exit(jit, self, UINT64_MAX);
	for (int i = 0; i < 100 && !error; i++)
		error = jit_tick(jit, ++now);
	assert_true(error_is(error, EPIPE));
	error_free(error);
	assert_null(jit_tick(jit, ++now));
	jit_set_writer(jit, writer);
	prf_writer_free(w);
	close(ends[1]);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
static const struct CMUnitTest tests[] = {
	EACH(only_what_was_hit),
	EACH(write_errors_are_reported_as_such),
	EACH(names_that_cannot_be_written),
	EACH(a_map_that_comes_later_and_grows),
	EACH(a_place_that_is_used_again),
	EACH(the_hit_before_the_change),
	EACH(the_hit_between_two_lines),
	EACH(owners_before_the_first_hit),
	EACH(by_the_times_of_the_dump),
	EACH(more_changes_than_are_kept),
	EACH(hits_before_the_first_record),
	EACH(hits_before_the_dump),
	EACH(a_hit_that_comes_late),
	EACH(hits_of_one_stretch_are_named_in_parts),
	EACH(more_hits_than_are_noted),
	EACH(records_that_were_never_written),
	EACH(long_after_the_last_record),
	EACH(records_without_times),
	EACH(a_map_that_is_written_anew),
	EACH(a_map_that_is_read_in_parts),
	EACH(files_larger_than_is_read),
	EACH(files_of_a_recording_that_is_to_end),
	EACH(small_files_beside_large_ones),
	EACH(lines_shorter_than_names_are),
	EACH(more_names_than_fit),
	EACH(exit_passes_on_and_forgets),
	EACH(somebody_elses_map),
	EACH(a_link_instead_of_a_map),
	EACH(left_behind_by_an_older_process),
	EACH(a_dump_that_is_written_anew),
	EACH(the_next_program_has_the_same_number),
	EACH(the_next_program_has_a_map_and_this_one_none),
	EACH(ended_before_its_samples_come),
	EACH(foreseen_for_a_later_program),
	cmocka_unit_test(names_of_dumps),
};

UNIT_TESTS(tests);
