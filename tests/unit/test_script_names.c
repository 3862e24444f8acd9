/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_names.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/scripts/python_file.h"
#include "tests/unit/trace_fixture.h"

#define COOKIE(n) ((uint64_t)(n) << SCRIPT_POSITION_BITS)

struct fixture {
	struct script_names *names;
	struct prf_writer *w;
	const char *in_process; /* what can be read later; NULL: nothing */
	unsigned int reads, forgotten;
	uint32_t ended; /* a process */
};

static size_t read_later(void *context, const struct script_name *name, struct script_text *text,
			 void *to, size_t most)
{
	struct fixture *f = context;
	size_t size = f->in_process ? strlen(f->in_process) : 0;

	f->reads++;
	if (!size || text != &name->name)
		return 0;
	text->width = 1;
	text->bytes = (uint32_t)size;
	memcpy(to, f->in_process, size < most ? size : most);
	return size < most ? size : most;
}

static void forgot(void *context)
{
	struct fixture *f = context;

	f->forgotten++;
}

static bool lives(void *context, uint32_t pid)
{
	const struct fixture *f = context;

	return pid != f->ended;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_null(prf_writer_new(&f->w, &(struct prf_writer_options){ .fd = -1 }));
	f->names = script_names_new(&(struct script_names_options){
		.read = read_later, .forgot = forgot, .lives = lives, .context = f });
	script_names_set_writer(f->names, f->w);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	script_names_free(f->names);
	prf_writer_free(f->w);
	free(f);
	return 0;
}

/* Where the bytes of a text begin in its record. */
static uint8_t *bytes_of(struct script_name *r, const struct script_text *t)
{
	size_t at = t > &r->name ? r->name.captured : 0;

	return r->bytes + at + (t > &r->file ? r->file.captured : 0);
}

/* In place of the text that is there: those after it are moved. */
static void set_text(struct script_name *r, struct script_text *t, const void *bytes, size_t size,
		     uint8_t width)
{
	uint8_t *to = bytes_of(r, t), *end = r->bytes + sizeof(r->bytes);
	size_t was = t->captured;

	memmove(to + size, to + was, (size_t)(end - to) - (size > was ? size : was));
	*t = (struct script_text){ .data = 1, .bytes = (uint32_t)size, .width = width };
	t->captured = (uint16_t)size;
	memcpy(to, bytes, size);
}

/* A record of a function of "f.py" whose second code unit has the line after its first. */
static struct script_name record(uint64_t code, uint64_t cookie, const char *name)
{
	static const uint8_t table[] = { 2, 0, 2, 1 };
	struct script_name r = { .code = code, .cookie = COOKIE(cookie), .line = 10 };

	r.table_kind = PYTHON_TABLE_LINES;
	set_text(&r, &r.name, name, strlen(name), 1);
	set_text(&r, &r.file, "f.py", 4, 1);
	set_text(&r, &r.table, table, sizeof(table), 1);
	return r;
}

static bool add(struct fixture *f, const struct script_name *r)
{
	return script_names_add(f->names, r,
				sizeof(*r) - SCRIPT_TEXTS_BYTES + r->name.captured +
					r->file.captured + r->table.captured);
}

static uint32_t frame(struct fixture *f, uint64_t code, uint64_t cookie, uint32_t unit,
		      bool expected)
{
	struct script_frame frame = { code | SCRIPT_ENTRY, COOKIE(cookie) | unit };
	bool settled;
	uint32_t id;

	assert_null(script_names_frame(f->names, &frame, &id, &settled));
	assert_int_equal(settled, expected);
	return id;
}

/* What the trace calls its frames: "object function file:line@start", one a line, in order. */
static void check(struct fixture *f, const char *expected)
{
	char text[1024] = "";
	struct prf_reader *r;
	struct prf_record record;
	struct error *error = NULL;

	r = fixture_read_back(f->w);
	while (!(error = prf_reader_next(r, &record)) && record.type != PRF_RECORD_END) {
		const struct prf_place *place;

		if (record.type != PRF_RECORD_NAMES)
			continue;
		place = record.names.places;
		assert_int_equal(record.names.n, 1);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u %s %s %s:%u@%u\n",
			 record.names.frame,
			 prf_reader_object(r, prf_reader_all_frames(r)[record.names.frame].object)
				 ->path,
			 place->function, place->file, place->line, place->start_line);
	}
	assert_null(error);
	assert_string_equal(text, expected);
	prf_reader_free(r);
}

static void equal_code_is_one_function(void **state)
{
	struct fixture *f = *state;
	struct script_name one = record(0x1000, 1, "work"), same = record(0x2000, 2, "work");

	assert_true(add(f, &one));
	assert_true(add(f, &same));
	assert_int_equal(script_names_count(f->names), 1);
	assert_int_equal(frame(f, 0x1000, 1, 0, true), 0);
	assert_int_equal(frame(f, 0x2000, 2, 0, true), 0);
	assert_int_equal(frame(f, 0x2000, 2, 1, true), 1);
	check(f, "0 f.py work f.py:10@10\n1 f.py work f.py:11@10\n");
}

static void code_at_the_place_of_other_code_is_other_code(void **state)
{
	struct fixture *f = *state;
	struct script_name old = record(0x1000, 1, "old"), new = record(0x1000, 2, "new");

	assert_true(add(f, &old));
	assert_int_equal(frame(f, 0x1000, 1, 0, true), 0);
	/* Its names have not come. */
	assert_int_equal(frame(f, 0x1000, 2, 0, false), 1);
	assert_int_equal(script_names_nameless(f->names), 1);
	assert_true(add(f, &new));
	assert_int_equal(script_names_nameless(f->names), 0);
	assert_int_equal(frame(f, 0x1000, 2, 0, true), 2);
	assert_int_equal(frame(f, 0x1000, 1, 0, true), 0);
	check(f, "0 f.py old f.py:10@10\n1 [script] new f.py:10@10\n2 f.py new f.py:10@10\n");
}

/* Records with names arrive where nothing can fail: the next frame reports what the writer said. */
static void names_that_cannot_be_written(void **state)
{
	struct script_frame again = { 0x1000, COOKIE(1) };
	struct script_name late = record(0x1000, 1, "late");
	struct fixture *f = *state;
	struct prf_writer *broken;
	struct error *error;
	bool settled;
	uint32_t id;
	int ends[2];

	broken = fixture_piped(ends);
	script_names_set_writer(f->names, broken);
	for (uint32_t unit = 0; unit < 100; unit++)
		frame(f, 0x1000, 1, unit, false);
	close(ends[0]);
	assert_true(add(f, &late));
	error = script_names_frame(f->names, &again, &id, &settled);
	assert_true(error_is(error, EPIPE));
	error_free(error);
	script_names_set_writer(f->names, f->w);
	prf_writer_free(broken);
	close(ends[1]);
}

static void what_never_comes_has_no_name(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(frame(f, 0x1000, 1, 5, false), 0);
	assert_int_equal(frame(f, 0x1000, 1, 5, false), 0);
	assert_int_equal(frame(f, 0x1000, 1, 6, false), 1);
	assert_int_equal(frame(f, 0x1000, 0, 6, false), 2);
	check(f, "");
}

/* Ruby's texts are bytes, and its frames say their line themselves. */
static void utf8_is_checked_and_lines_need_no_table(void **state)
{
	static const char text[] = "caf\xc3\xa9 \xff\0b \xe4\xb8";
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "");

	set_text(&r, &r.name, text, sizeof(text) - 1, SCRIPT_UTF8);
	set_text(&r, &r.table, "", 0, 0);
	r.table_kind = SCRIPT_POSITION_IS_LINE;
	assert_true(add(f, &r));
	assert_int_equal(frame(f, 0x1000, 1, 77, true), 0);
	check(f, "0 f.py caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd"
		 "b \xef\xbf\xbd\xef\xbf\xbd f.py:77@10\n");
	/* There is no table, and of a method in C no file, that could be read from the process. */
	set_text(&r, &r.file, "", 0, 0);
	r.file.data = r.table.data = 0;
	assert_true(add(f, &r));
	assert_int_equal(f->reads, 0);
}

/* PHP's functions have a class or none, and its files have no name. */
static void a_function_may_have_a_class(void **state)
{
	static const char nameless[] = "class@anonymous\0/f.php:3$0";
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "run");

	r.table_kind = SCRIPT_POSITION_IS_LINE;
	set_text(&r, &r.table, "Space\\Thing", 11, SCRIPT_UTF8);
	r.table.address = 1;
	assert_true(add(f, &r));
	assert_int_equal(frame(f, 0x1000, 1, 7, true), 0);
	r.code = 0x2000;
	set_text(&r, &r.table, nameless, sizeof(nameless) - 1, SCRIPT_UTF8);
	r.table.address = 1;
	assert_true(add(f, &r));
	assert_int_equal(frame(f, 0x2000, 1, 8, true), 1);
	/* Without the name of its class, it has none. */
	r.code = 0x3000;
	set_text(&r, &r.table, "", 0, SCRIPT_UTF8);
	r.table.address = 1;
	assert_false(add(f, &r));
	set_text(&r, &r.name, "", 0, 0);
	r.name.data = 0;
	r.table.address = r.table.data = 0;
	assert_true(add(f, &r));
	assert_int_equal(frame(f, 0x3000, 1, 9, true), 2);
	check(f, "0 f.py Space\\Thing::run f.py:7@10\n"
		 "1 f.py class@anonymous::run f.py:8@10\n"
		 "2 f.py {main} f.py:9@10\n");
}

static void what_is_cut_ends_with_a_whole_character(void **state)
{
	static const char text[] = "caf\xc3\xa9 \xff cut \xe4\xb8";
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "");

	set_text(&r, &r.name, text, sizeof(text) - 1, SCRIPT_UTF8);
	r.name.bytes++;
	assert_true(add(f, &r));
	assert_int_equal(frame(f, 0x1000, 1, 0, true), 0);
	check(f, "0 f.py caf\xc3\xa9 \xef\xbf\xbd cut ... f.py:10@10\n");
}

static void text_of_any_width_becomes_utf8(void **state)
{
	static const uint8_t latin[] = { 'a', 0xe9 };
	static const uint16_t wide[] = { 'b', 0x4e2d, 0xd800, 0 };
	static const uint32_t widest[] = { 'c', 0x1f600, 0xffffffff };
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "");

	set_text(&r, &r.name, latin, sizeof(latin), 1);
	assert_true(add(f, &r));
	frame(f, 0x1000, 1, 0, true);
	r.code = 0x2000;
	set_text(&r, &r.name, wide, sizeof(wide), 2);
	assert_true(add(f, &r));
	frame(f, 0x2000, 1, 0, true);
	r.code = 0x3000;
	set_text(&r, &r.name, widest, sizeof(widest), 4);
	assert_true(add(f, &r));
	frame(f, 0x3000, 1, 0, true);
	check(f, "0 f.py a\xc3\xa9 f.py:10@10\n"
		 "1 f.py b\xe4\xb8\xad\xef\xbf\xbd\xef\xbf\xbd f.py:10@10\n"
		 "2 f.py c\xf0\x9f\x98\x80\xef\xbf\xbd f.py:10@10\n");
}

static void the_rest_is_read_from_the_process(void **state)
{
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "lon");

	/* Not all of it came, and the process is gone: it is seen to be cut off. */
	r.name.bytes = 9;
	assert_true(add(f, &r));
	frame(f, 0x1000, 1, 0, true);
	/* Nothing came, but the process is there. */
	f->in_process = "long_name";
	r.code = 0x2000;
	set_text(&r, &r.name, "", 0, 0);
	r.name = (struct script_text){ .address = 5 };
	assert_true(add(f, &r));
	frame(f, 0x2000, 1, 0, true);
	/* Nothing came, and nothing is there. */
	f->in_process = NULL;
	r.code = 0x3000;
	assert_false(add(f, &r));
	frame(f, 0x3000, 1, 0, false);
	check(f, "0 f.py lon... f.py:10@10\n1 f.py long_name f.py:10@10\n");
}

static void nonsense_is_refused(void **state)
{
	struct fixture *f = *state;
	struct script_name r = record(0x1000, 1, "f");
	size_t head = sizeof(r) - SCRIPT_TEXTS_BYTES, whole = head + 1 + 4 + 4;

	/* Records that are cut, or have more than they say, or say more than they have. */
	assert_false(script_names_add(f->names, &r, head - 1));
	assert_false(script_names_add(f->names, &r, whole - 1));
	assert_false(script_names_add(f->names, &r, whole + 8));
	r.name.captured = UINT16_MAX;
	assert_false(script_names_add(f->names, &r, whole));
	assert_false(script_names_add(f->names, &r, sizeof(r)));
	r = record(0x1000, 1, "f");
	r.name.width = 3;
	assert_false(add(f, &r));
	assert_int_equal(script_names_count(f->names), 0);
	check(f, "");
}

static void waits_for_the_lock_are_one_frame(void **state)
{
	struct fixture *f = *state;
	uint32_t id, again;

	assert_null(script_names_waiting(f->names, &id));
	assert_null(script_names_waiting(f->names, &again));
	assert_int_equal(id, again);
	check(f, "0 [waiting for the GIL] [waiting for the GIL] :0@0\n");
}

/* One program that is started again and again has its code at other addresses each time. */
static void equal_code_is_not_known_for_ever(void **state)
{
	struct fixture *f = *state;
	const unsigned int codes = 200000;

	for (unsigned int i = 1; i <= codes; i++) {
		const struct script_name r = record(i * UINT64_C(0x1000), 1, "f");

		assert_true(add(f, &r));
	}
	assert_int_equal(f->forgotten, 0);
	assert_int_equal(script_names_count(f->names), 1);
	frame(f, 0x1000, 1, 0, true);
	for (unsigned int i = 1; i <= codes + 1; i++) {
		const struct script_name r = record(i * UINT64_C(0x1000), 2, "f");

		assert_true(add(f, &r));
		assert_int_equal(f->forgotten, 1 + i / (codes + 1));
	}
	frame(f, 0x1000, 1, 0, false);
}

/* Neither are the lines of one code, which may claim to have many. */
static void lines_are_not_known_for_ever(void **state)
{
	struct fixture *f = *state;
	const uint32_t known = 40000, more = 60000;
	struct script_name r = record(0x1000, 1, "f");
	uint32_t first, second;

	r.table_kind = SCRIPT_POSITION_IS_LINE;
	assert_true(add(f, &r));
	first = frame(f, 0x1000, 1, 1, true);
	for (uint32_t line = 2; line < known; line++)
		frame(f, 0x1000, 1, line, true);
	assert_int_equal(frame(f, 0x1000, 1, 1, true), first);
	for (uint32_t line = known; line < known + more; line++)
		frame(f, 0x1000, 1, line, true);
	second = frame(f, 0x1000, 1, 1, true);
	assert_int_not_equal(second, first);
	assert_int_equal(frame(f, 0x1000, 1, 1, true), second);
}

static void codes_of_ended_processes_are_forgotten_by_the_second_look(void **state)
{
	struct fixture *f = *state;
	struct script_name one = record(0x1000, 1, "work"), same = record(0x2000, 2, "work");
	struct script_name again = record(0x3000, 3, "again");

	one.pid = 1;
	same.pid = again.pid = 2;
	assert_true(add(f, &one));
	assert_true(add(f, &same));
	f->ended = 2;
	script_names_let_go(f->names);
	assert_int_equal(script_names_identities(f->names), 2);
	/* Another process has its number since. */
	f->ended = 0;
	script_names_let_go(f->names);
	assert_int_equal(script_names_identities(f->names), 2);
	f->ended = 2;
	script_names_let_go(f->names);
	assert_true(add(f, &again));
	assert_int_equal(script_names_identities(f->names), 3);
	script_names_let_go(f->names);
	assert_int_equal(script_names_identities(f->names), 1);
	assert_int_equal(frame(f, 0x1000, 1, 0, true), 0);
	frame(f, 0x2000, 2, 0, false);
	check(f, "0 f.py work f.py:10@10\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(equal_code_is_one_function),
	TEST(code_at_the_place_of_other_code_is_other_code),
	TEST(names_that_cannot_be_written),
	TEST(what_never_comes_has_no_name),
	TEST(utf8_is_checked_and_lines_need_no_table),
	TEST(a_function_may_have_a_class),
	TEST(what_is_cut_ends_with_a_whole_character),
	TEST(text_of_any_width_becomes_utf8),
	TEST(the_rest_is_read_from_the_process),
	TEST(nonsense_is_refused),
	TEST(waits_for_the_lock_are_one_frame),
	TEST(equal_code_is_not_known_for_ever),
	TEST(lines_are_not_known_for_ever),
	TEST(codes_of_ended_processes_are_forgotten_by_the_second_look),
};

UNIT_TESTS(tests);
