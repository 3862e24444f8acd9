/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf_file.h"
#include "report/symbols/symbolizer.h"
#include "tests/unit/unit.h"

/* Ends the error, which must be about an argument. */
static bool is_argument(struct error *error)
{
	bool is = error && error->kind == ERROR_ARGUMENT;

	error_free(error);
	return is;
}

static struct symbolizer *new_symbolizer(unsigned int jobs)
{
	const struct symbolizer_options options = {
		.inlines = true,
		.lines = true,
		.demangle = true,
		.jobs = jobs,
	};
	struct symbolizer *s;

	assert_null(symbolizer_new(&s, &options));
	return s;
}

/* The file of this program. */
static void own_path(char path[4096])
{
	ssize_t size = readlink("/proc/self/exe", path, 4095);

	assert_true(size > 0);
	path[size] = 0;
}

static void expect_status(const struct symbolizer *s, uint32_t object, enum symbols_status status)
{
	struct symbols_found found;

	symbolizer_found(s, object, &found);
	assert_int_equal(found.status, status);
}

static uint32_t add_object(struct symbolizer *s, enum prf_object_kind kind, const char *path)
{
	const struct prf_object object = { .kind = kind, .path = path, .root = "" };
	uint32_t id;

	assert_null(symbolizer_add_object(s, &object, &id));
	return id;
}

static uint32_t ask(struct symbolizer *s, uint32_t object, uint64_t offset, bool exact)
{
	uint32_t query;

	assert_null(symbolizer_add_query(s, object, offset, exact, &query));
	return query;
}

static const char *name_of(const struct symbolizer *s, uint32_t query)
{
	size_t n;
	const struct symbolizer_place *places = symbolizer_places(s, query, &n);

	return n ? places[n - 1].name : NULL;
}

static const struct prf_symbol jit_symbols[] = {
	{ 0x3000, 0x10, "third" },
	{ 0x1000, 0x100, "first" },
	{ 0x1100, 0, "_ZN6second3runEv" },
};

static void recorded_symbols(void **state)
{
	struct symbolizer *s = new_symbolizer(1);
	uint32_t jit = add_object(s, PRF_OBJECT_JIT, "[jit]");
	uint32_t kernel = add_object(s, PRF_OBJECT_KERNEL, "[kernel]");
	uint32_t inside, edge, call, unsized, behind, before, none;
	struct symbols_found found;

	assert_null(symbolizer_add_symbols(s, jit, jit_symbols, 3));
	inside = ask(s, jit, 0x1001, true);
	edge = ask(s, jit, 0x1100, true);
	/* The call is the last instruction of the first function. */
	call = ask(s, jit, 0x1100, false);
	unsized = ask(s, jit, 0x2fff, true);
	behind = ask(s, jit, 0x3010, true);
	before = ask(s, jit, 0xfff, true);
	none = ask(s, kernel, 5, true);
	assert_null(symbolizer_run(s));
	assert_string_equal(name_of(s, inside), "first");
	assert_string_equal(name_of(s, edge), "second::run");
	assert_string_equal(name_of(s, call), "first");
	assert_string_equal(name_of(s, unsized), "second::run");
	assert_null(name_of(s, behind));
	assert_null(name_of(s, before));
	assert_null(name_of(s, none));
	symbolizer_found(s, jit, &found);
	assert_int_equal(found.status, SYMBOLS_OK);
	assert_int_equal(found.queries, 6);
	assert_int_equal(found.named, 4);
	expect_status(s, kernel, SYMBOLS_NO_SYMBOLS);
	symbolizer_free(s);
}

/* Whatever comes first in the trace, and however qsort() sorts what is equal. */
static void symbols_at_one_start(void **state)
{
	static const struct prf_symbol symbols[] = {
		{ 0x1000, 0x10, "__name" }, { 0x1000, 0x10, "name" },  { 0x1000, 0, "zero" },
		{ 0x2000, 0x20, "large" },  { 0x2000, 0x10, "small" },
	};
	const size_t n = sizeof(symbols) / sizeof(*symbols);

	for (int backwards = 0; backwards < 2; backwards++) {
		struct symbolizer *s = new_symbolizer(1);
		uint32_t jit = add_object(s, PRF_OBJECT_JIT, "[jit]"), first, second;

		for (size_t i = 0; i < n; i++)
			assert_null(symbolizer_add_symbols(s, jit,
							   &symbols[backwards ? n - 1 - i : i], 1));
		first = ask(s, jit, 0x1008, true);
		second = ask(s, jit, 0x2018, true);
		assert_null(symbolizer_run(s));
		assert_string_equal(name_of(s, first), "name");
		assert_string_equal(name_of(s, second), "large");
		symbolizer_free(s);
	}
}

static void embedded_names(void **state)
{
	const struct prf_place places[] = {
		{ "_ZN1a5innerEv", "a.h", 3, 1 },
		{ "outer", "a.c", 10, 7 },
	};
	struct symbolizer *s = new_symbolizer(3);
	uint32_t object = add_object(s, PRF_OBJECT_FILE, "/no/such/file");
	uint32_t query = ask(s, object, 0x10, false), other = ask(s, object, 0x10, false);
	const struct symbolizer_place *got;
	size_t n;

	assert_null(symbolizer_add_names(s, query, places, 2));
	assert_true(is_argument(symbolizer_add_names(s, 77, places, 2)));
	assert_null(symbolizer_run(s));
	got = symbolizer_places(s, query, &n);
	assert_int_equal(n, 2);
	assert_string_equal(got[0].name, "a::inner");
	assert_string_equal(got[0].function, "_ZN1a5innerEv");
	assert_string_equal(got[0].file, "a.h");
	assert_int_equal(got[0].line, 3);
	assert_string_equal(got[1].name, "outer");
	assert_int_equal(got[1].start_line, 7);
	assert_null(name_of(s, other));
	expect_status(s, object, SYMBOLS_NO_FILE);
	symbolizer_free(s);
}

static void wrong_numbers(void **state)
{
	struct symbolizer *s = new_symbolizer(1);
	uint32_t query;
	size_t n;

	assert_true(is_argument(symbolizer_add_query(s, 0, 0, true, &query)));
	assert_true(is_argument(symbolizer_add_symbols(s, 0, jit_symbols, 1)));
	assert_null(symbolizer_run(s));
	assert_null(symbolizer_places(s, 0, &n));
	assert_int_equal(n, 0);
	symbolizer_free(s);
	symbolizer_free(NULL);
}

/* This program itself, and files that are not what was recorded. */
static void files(void **state)
{
	char path[4096];
	struct prf_object wrong = {
		.kind = PRF_OBJECT_FILE, .root = "", .build_id = { 1, 2, 3 }, .build_id_size = 20
	};
	struct symbolizer *s = new_symbolizer(2);
	uint32_t own, other, text, wrong_query;
	struct symbols_found found;

	own_path(path);
	wrong.path = path;
	own = add_object(s, PRF_OBJECT_FILE, path);
	assert_null(symbolizer_add_object(s, &wrong, &other));
	text = add_object(s, PRF_OBJECT_FILE, "/proc/self/maps");
	wrong_query = ask(s, other, 0x1000, true);
	ask(s, own, 0x1000, true);
	ask(s, text, 0x1000, true);
	assert_null(symbolizer_run(s));
	symbolizer_found(s, own, &found);
	assert_int_equal(found.status, SYMBOLS_OK);
	assert_string_equal(found.path, path);
	expect_status(s, other, SYMBOLS_DIFFERENT);
	assert_null(name_of(s, wrong_query));
	expect_status(s, text, SYMBOLS_UNREADABLE);
	symbolizer_free(s);
}

/* What the recorder could not open, and has no build-id, may be anything by now. */
static void unidentified(void **state)
{
	char path[4096];
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = path, .root = "" };
	struct symbolizer *s = new_symbolizer(1);
	uint32_t deleted, replaced, same;
	struct stat status;

	own_path(path);
	assert_int_equal(stat(path, &status), 0);
	object.inode = status.st_ino;
	assert_null(symbolizer_add_object(s, &object, &same));
	object.inode++;
	assert_null(symbolizer_add_object(s, &object, &replaced));
	object.inode = 0;
	object.deleted = true;
	assert_null(symbolizer_add_object(s, &object, &deleted));
	ask(s, same, 0x1000, true);
	ask(s, replaced, 0x1000, true);
	ask(s, deleted, 0x1000, true);
	assert_null(symbolizer_run(s));
	expect_status(s, same, SYMBOLS_OK);
	expect_status(s, replaced, SYMBOLS_DIFFERENT);
	expect_status(s, deleted, SYMBOLS_DIFFERENT);
	symbolizer_free(s);
}

/* Where a file cannot be opened for want of descriptors that is known, and later forgotten. */
static void short_of_descriptors(void **state)
{
	char own[4096];
	struct symbolizer_shortage lacks;
	struct symbolizer *s = new_symbolizer(1);
	struct rlimit before, none;
	uint32_t file, jit;

	own_path(own);
	jit = add_object(s, PRF_OBJECT_JIT, "[jit]");
	file = add_object(s, PRF_OBJECT_FILE, own);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	for (int i = 0; i < 2; i++) {
		ask(s, jit, 0x1000, true);
		ask(s, file, 0x1000, true);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, i ? &before : &none), 0);
		assert_null(symbolizer_run(s));
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		symbolizer_shortage(s, &lacks);
		assert_int_equal(lacks.os_error, i ? 0 : EMFILE);
		assert_string_equal(lacks.path, i ? "" : own);
		assert_int_equal(lacks.objects, !i);
		expect_status(s, file, i ? SYMBOLS_OK : SYMBOLS_SHORT);
		symbolizer_forget(s);
	}
	symbolizer_free(s);
}

/* What was asked and found goes; symbols that were added stay, and others can be added. */
static void asked_again(void **state)
{
	const struct prf_symbol later = { 0x4000, 0x10, "later" };
	const struct prf_place place = { "embedded", "", 0, 0 };
	struct symbolizer *s = new_symbolizer(2);
	uint32_t jit = add_object(s, PRF_OBJECT_JIT, "[jit]");
	uint32_t file = add_object(s, PRF_OBJECT_FILE, "/no/such/file");
	struct symbols_found found;

	assert_null(symbolizer_add_symbols(s, jit, jit_symbols, 3));
	for (int i = 0; i < 3; i++) {
		uint32_t first = ask(s, jit, 0x1001, true), second = ask(s, jit, 0x4001, true);
		uint32_t third = ask(s, file, 0x10, true);

		assert_int_equal(first, 0);
		if (i == 1)
			assert_null(symbolizer_add_names(s, third, &place, 1));
		assert_null(symbolizer_run(s));
		assert_string_equal(name_of(s, first), "first");
		if (i)
			assert_string_equal(name_of(s, second), "later");
		else
			assert_null(name_of(s, second));
		assert_true((name_of(s, third) != NULL) == (i == 1));
		symbolizer_found(s, jit, &found);
		assert_int_equal(found.queries, 2);
		expect_status(s, file, i == 1 ? SYMBOLS_NOT_LOOKED : SYMBOLS_NO_FILE);
		symbolizer_forget(s);
		assert_null(name_of(s, first));
		if (!i)
			assert_null(symbolizer_add_symbols(s, jit, &later, 1));
	}
	symbolizer_free(s);
}

/* The same file at two places, one of which is gone, is one file. */
static void copies(void **state)
{
	char path[4096];
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .root = "" };
	struct symbolizer *s = new_symbolizer(2);
	struct symbols_found found;
	struct elf_file elf;
	uint32_t gone, there, first, second;
	uint64_t offset = 0;
	int fd;

	own_path(path);
	fd = open(path, O_RDONLY);
	assert_int_equal(elf_file_open(&elf, fd), 0);
	close(fd);
	if (!elf.build_id_size || !elf_file_address_to_offset(&elf, elf.entry, &offset)) {
		elf_file_release(&elf);
		symbolizer_free(s);
		skip();
	}
	memcpy(object.build_id, elf.build_id, sizeof(object.build_id));
	object.build_id_size = elf.build_id_size;
	elf_file_release(&elf);
	object.path = "/no/such/file";
	assert_null(symbolizer_add_object(s, &object, &gone));
	object.path = path;
	assert_null(symbolizer_add_object(s, &object, &there));
	first = ask(s, gone, offset, true);
	second = ask(s, there, offset, true);
	assert_null(symbolizer_run(s));
	assert_string_equal(name_of(s, first), "_start");
	assert_string_equal(name_of(s, second), "_start");
	symbolizer_found(s, gone, &found);
	assert_int_equal(found.status, SYMBOLS_OK);
	assert_int_equal(found.queries, 1);
	assert_int_equal(found.named, 1);
	symbolizer_free(s);
}

/* A trace of half a megabyte can define a million. (A sanitizer's allocator counts nothing.) */
static void unused_objects_are_small(void **state)
{
	struct symbolizer *s = new_symbolizer(1);
	size_t before = mallinfo2().uordblks;

	for (int i = 0; i < 1000; i++)
		add_object(s, PRF_OBJECT_FILE, "");
	assert_true(mallinfo2().uordblks < before + 512 * 1000);
	assert_null(symbolizer_run(s));
	assert_true(mallinfo2().uordblks < before + 512 * 1000);
	symbolizer_free(s);
}

/* What was said of a step: its name, and the most parts that were done. */
struct said {
	const char *what[8];
	size_t all[8], most[8], count;
	size_t ends;
};

static void note_step(const char *what, size_t done, size_t all, void *context)
{
	struct said *said = context;
	size_t step = said->count - 1;

	if (!what) {
		said->ends++;
	} else if (!done) {
		assert_true(said->count < 8);
		said->what[said->count] = what;
		said->all[said->count++] = all;
	} else if (done > said->most[step]) {
		said->most[step] = done;
	}
}

/* Each step says how far it is, up to its end. */
static void steps(void **state)
{
	struct said said = { .count = 0 };
	const struct symbolizer_options options = {
		.lines = true, .jobs = 1, .step = note_step, .progress_context = &said
	};
	struct symbolizer *s;
	char path[4096];

	own_path(path);
	assert_null(symbolizer_new(&s, &options));
	ask(s, add_object(s, PRF_OBJECT_FILE, path), 0x1000, true);
	assert_null(symbolizer_run(s));
	assert_int_equal(said.count, 3);
	assert_string_equal(said.what[0], "files");
	assert_int_equal(said.all[0], 1);
	assert_string_equal(said.what[1], "tables");
	for (size_t i = 0; i < said.count; i++)
		assert_int_equal(said.most[i], said.all[i]);
	assert_int_equal(said.ends, 2);
	symbolizer_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(recorded_symbols),
	cmocka_unit_test(embedded_names),
	cmocka_unit_test(wrong_numbers),
	cmocka_unit_test(files),
	cmocka_unit_test(short_of_descriptors),
	cmocka_unit_test(asked_again),
	cmocka_unit_test(unidentified),
	cmocka_unit_test(copies),
	cmocka_unit_test(symbols_at_one_start),
	cmocka_unit_test(unused_objects_are_small),
	cmocka_unit_test(steps),
};

UNIT_TESTS(tests);
