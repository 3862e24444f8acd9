/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "common/limits.h"
#include "report/annotate/code_listing.h"
#include "report/annotate/listing.h"
#include "report/annotate/source_listing.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_widen(void **state)
{
	uint8_t rows[12] = { 0 };
	static const uint8_t expected[12] = { 2, 1, 1, 1, 0, 1, 1, 1, 2, 2, 1, 1 };

	rows[0] = rows[8] = rows[9] = LISTING_ROW_WANTED;
	listing_widen(rows, 12);
	assert_memory_equal(rows, expected, sizeof(rows));
	listing_widen(rows, 0);
}

static void test_indent(void **state)
{
	assert_int_equal(listing_indent("x", 1), 0);
	assert_int_equal(listing_indent("\tx", 2), 4);
	assert_int_equal(listing_indent("  \tx", 4), 4);
	assert_int_equal(listing_indent(" \t", 2), UINT_MAX);
	assert_int_equal(listing_indent("", 0), UINT_MAX);
}

struct printed {
	struct view_options options;
	struct profile profile;
	struct sink sink;
	struct listing listing;
};

static void begin(struct printed *p, unsigned int width)
{
	memset(p, 0, sizeof(*p));
	sink_init(&p->sink, -1);
	p->options.width = width;
	p->profile.total = 200;
	p->profile.min_percent = -1;
	p->listing = (struct listing){ .profile = &p->profile,
				       .options = &p->options,
				       .sink = &p->sink };
}

static void is(struct printed *p, const char *expected)
{
	assert_string_equal(buffer_string(&p->sink.buffer), expected);
	sink_release(&p->sink);
}

static void is_text(const char *text, size_t size, unsigned int indent, const char *expected)
{
	struct printed p;

	begin(&p, 60);
	listing_text(&p.listing, &(struct listing_text){ text, size, indent }, 35);
	is(&p, expected);
}

static void test_text(void **state)
{
	is_text("\t\tx\ty", 5, 4, "    x   y");
	is_text("ab", 2, 0, "ab");
	is_text("a\0b\x1b", 4, 0, "a?b?");
	is_text("123456789 123456789 123456789", 29, 0, "123456789 123456789 1234…");
}

static void test_long_line(void **state)
{
	char line[2 * LISTING_LINE_BYTES];
	struct printed p;
	size_t n;

	memset(line, 'x', sizeof(line));
	begin(&p, 0);
	listing_text(&p.listing, &(struct listing_text){ line, sizeof(line), 0 }, 0);
	n = strlen(buffer_string(&p.sink.buffer));
	assert_int_equal(n, LISTING_LINE_BYTES + strlen("…"));
	assert_string_equal(buffer_string(&p.sink.buffer) + LISTING_LINE_BYTES, "…");
	sink_release(&p.sink);
}

static void test_say(void **state)
{
	struct printed p;

	begin(&p, 30);
	listing_say(&p.listing, "%s words that need %d lines", "some", 2);
	is(&p, "# some words that need 2 lines\n");
	begin(&p, 29);
	listing_say(&p.listing, "%s words that need %d lines", "some", 2);
	is(&p, "# some words that need 2\n#   lines\n");
	begin(&p, 0);
	listing_say(&p.listing, "never\nmore");
	is(&p, "# never?more\n");
}

static void test_count(void **state)
{
	const struct hit_count count = { 3, 100, 3, 100 }, none = { 0 };
	struct printed p;

	begin(&p, 0);
	listing_count(&p.listing, &count, NULL);
	is(&p, "  1.50       3    50.00     100");
	assert_int_equal(listing_columns(&p.listing), 31);
	begin(&p, 80);
	listing_count(&p.listing, &count, NULL);
	is(&p, "  1.50       3    50.00");
	assert_int_equal(listing_columns(&p.listing), 23);
	assert_true(listing_wants(&p.listing, &count));
	assert_false(listing_wants(&p.listing, &none));
	assert_false(listing_wants(&p.listing, NULL));
	p.profile.min_percent = 50.1;
	assert_false(listing_wants(&p.listing, &count));
	p.profile.min_percent = 0;
	assert_true(listing_wants(&p.listing, NULL));
}

static void test_large_counts(void **state)
{
	const struct hit_count count = { 3, 12345678901, 3, 12345678901 };
	struct printed p;

	begin(&p, 0);
	p.profile.samples = p.profile.total = 12345678901;
	listing_heading(&p.listing, "rest");
	listing_count(&p.listing, &count, NULL);
	is(&p, "self %     samples  total %     samples  rest\n"
	       "  0.00           3   100.00 12345678901");
	assert_int_equal(listing_columns(&p.listing), 39);
	begin(&p, 0);
	p.profile.samples = p.profile.total = 12345678901;
	listing_count(&p.listing, NULL, NULL);
	assert_int_equal(p.sink.buffer.size, 39);
	sink_release(&p.sink);
}

static void test_hostile_unit(void **state)
{
	struct printed p;

	begin(&p, 0);
	p.profile.value = PROFILE_WEIGHT;
	p.profile.unit = "\x1b[2J\x07\n";
	listing_heading(&p.listing, "rest");
	is(&p, "self %  ?[2J??  total %  ?[2J??  rest\n");
}

/* Of a hundred files more than are read, each of which is not there. */
static void test_sources(void **state)
{
	const struct symbolizer_options symbols = { 0 };
	char paths[LISTING_FILES_MAX + 100][32];
	const struct listing_source *kept[LISTING_FILES_MAX + 100];
	const size_t n = sizeof(paths) / sizeof(*paths);
	struct printed p;

	begin(&p, 0);
	p.options.symbols = &symbols;
	for (size_t i = 0; i < n; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/nonexistent/%zu.c", i);
		kept[i] = listing_source(&p.listing, paths[i]);
	}
	for (size_t i = 0; i < LISTING_FILES_MAX; i++) {
		assert_ptr_equal(listing_source(&p.listing, paths[i]), kept[i]);
		/* A copy: who asked may be gone when others ask. */
		assert_string_equal(kept[i]->path, paths[i]);
		assert_ptr_not_equal(kept[i]->path, paths[i]);
		assert_int_equal(kept[i]->error->kind, ERROR_SYSTEM);
	}
	for (size_t i = LISTING_FILES_MAX; i < n; i++)
		assert_int_equal(kept[i]->error->kind, ERROR_LIMIT);
	assert_int_equal(p.listing.source_count, LISTING_FILES_MAX);
	listing_release(&p.listing);
	sink_release(&p.sink);
}

/* One that does not fit into what is shown of a trace takes nothing from those that do. */
static void test_embedded_sources(void **state)
{
	static const char *const lines[] = { "int f(void);" };
	const struct prf_source sources[] = {
		{ .path = "/large.c",
		  .first_line = LIMIT_SOURCE_LINES - 10,
		  .n = 1,
		  .lines = lines },
		{ .path = "/other.c", .first_line = 11, .n = 1, .lines = lines },
		{ .path = "/small.c", .first_line = 10, .n = 1, .lines = lines },
	};
	const struct symbolizer_options symbols = { 0 };
	const struct listing_source *one;
	const char *line;
	struct printed p;
	size_t size;

	begin(&p, 0);
	p.options.symbols = &symbols;
	p.profile.sources = sources;
	p.profile.source_count = 3;
	assert_null(listing_source(&p.listing, "/large.c")->error);
	assert_int_equal(listing_source(&p.listing, "/other.c")->error->kind, ERROR_LIMIT);
	one = listing_source(&p.listing, "/small.c");
	assert_null(one->error);
	line = source_file_line(&one->file, 10, &size);
	assert_int_equal(size, strlen(lines[0]));
	assert_memory_equal(line, lines[0], size);
	listing_release(&p.listing);
	sink_release(&p.sink);
}

#define INLINED_FILES 20

/* A function of two lines into which code of many files is inlined. */
static void fill_many_files(struct small_profile *s, char (*files)[32])
{
	struct profile_frame f = {
		.name = "f", .linkage_name = "", .file = "/none/f.c", .line = 5
	};

	small_begin(s);
	small_group(s, "x", 1, 1);
	for (size_t i = 0; i < INLINED_FILES; i++) {
		struct profile_frame frame = f;
		uint32_t node;

		snprintf(files[i], sizeof(*files), "/none/%zu.h", i);
		f.line = i < 17 ? 5 : 6;
		node = node_tree_add(&s->tree, PRF_NONE, frame_table_add(&s->frames, &f));
		frame.name = "g";
		frame.file = files[i];
		frame.inlined = true;
		node = node_tree_add(&s->tree, node, frame_table_add(&s->frames, &frame));
		s->entries[s->profile.entry_count++] =
			(struct profile_entry){ .node = node, .samples = 1, .value = 1 };
	}
	s->profile.samples = s->profile.total = INLINED_FILES;
}

/* The source of the function stays while those of what is inlined are read. */
static void test_many_files(void **state)
{
	const struct symbolizer_options symbols = { 0 };
	const struct view_options options = { .symbols = &symbols };
	char files[INLINED_FILES][32];
	bool is_function[2 * INLINED_FILES];
	struct small_profile s;
	struct hits h;
	struct sink sink;
	struct listing l = { .options = &options, .sink = &sink };
	size_t arrows = 0;

	fill_many_files(&s, files);
	l.profile = small_finish(&s);
	for (size_t i = 0; i < l.profile->frame_count; i++)
		is_function[i] = !strcmp(l.profile->frames[i].name, "f");
	sink_init(&sink, -1);
	assert_no_error(hits_count(&h, l.profile, is_function, 0));
	assert_no_error(source_listing_write(&l, &h));
	for (const char *at = buffer_string(&sink.buffer); (at = strstr(at, "↳ g (")); at++)
		arrows++;
	assert_int_equal(arrows, INLINED_FILES);
	listing_release(&l);
	/* Files of rows that are not shown are not read. */
	s.profile.min_percent = 10;
	assert_no_error(source_listing_write(&l, &h));
	assert_int_equal(l.source_count, 1);
	listing_release(&l);
	sink_release(&sink);
	hits_release(&h);
	small_end(&s);
}

/* A function that has its own lines in more files than are shown: as often in one stack. */
static void test_many_own_files(void **state)
{
	const struct symbolizer_options symbols = { 0 };
	const struct view_options options = { .symbols = &symbols };
	char files[LISTING_FILES_MAX + 1][32];
	bool is_function[LISTING_FILES_MAX + 1];
	uint32_t node = PRF_NONE;
	struct small_profile s;
	struct hits h;

	for (size_t n = LISTING_FILES_MAX; n <= LISTING_FILES_MAX + 1; n++) {
		struct sink sink;
		struct listing l = { .options = &options, .sink = &sink };

		small_begin(&s);
		small_group(&s, "x", 1, 1);
		node = PRF_NONE;
		for (size_t i = 0; i < n; i++) {
			struct profile_frame f = { .name = "f", .linkage_name = "", .line = 1 };

			snprintf(files[i], sizeof(*files), "/none/%zu.c", i);
			f.file = files[i];
			is_function[i] = true;
			node = node_tree_add(&s.tree, node, frame_table_add(&s.frames, &f));
		}
		s.entries[s.profile.entry_count++] =
			(struct profile_entry){ .node = node, .samples = 1, .value = 1 };
		s.profile.samples = s.profile.total = 1;
		l.profile = small_finish(&s);
		sink_init(&sink, -1);
		assert_no_error(hits_count(&h, l.profile, is_function, 0));
		assert_no_error(source_listing_write(&l, &h));
		assert_int_equal(l.source_count, LISTING_FILES_MAX);
		assert_int_equal(!!strstr(buffer_string(&sink.buffer),
					  "# it has lines in more files, which are not shown\n"),
				 n > LISTING_FILES_MAX);
		listing_release(&l);
		sink_release(&sink);
		hits_release(&h);
		small_end(&s);
	}
}

#ifdef PROF_DISASSEMBLER
#define MANY_CODES (LIMIT_CODE_BYTES / LIMIT_FUNCTION_BYTES + 1)

/* Code of a trace with a hit in each function; the last one is above the limit. */
static void test_much_code(void **state)
{
	static const uint8_t nop[] = { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	const struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = "/none/x", .root = "" };
	const struct profile_object shown = { &object, "x", "" };
	uint8_t *bytes = malloc(LIMIT_FUNCTION_BYTES);
	struct prf_code recorded[MANY_CODES];
	struct profile_code codes[MANY_CODES];
	struct hit_address hits[MANY_CODES];
	struct hits h = { .addresses = hits, .address_count = MANY_CODES };
	const struct symbolizer_options symbols = { 0 };
	struct printed p;

	assert_non_null(bytes);
	for (size_t i = 0; i < LIMIT_FUNCTION_BYTES; i++)
		bytes[i] = nop[i % sizeof(nop)];
	begin(&p, 0);
	for (size_t i = 0; i < MANY_CODES; i++) {
		recorded[i] = (struct prf_code){ .offset = i * LIMIT_FUNCTION_BYTES,
						 .address = i * LIMIT_FUNCTION_BYTES,
						 .machine = EM_X86_64,
						 .name = "f",
						 .bytes = bytes,
						 .size = LIMIT_FUNCTION_BYTES };
		codes[i] = (struct profile_code){ .recorded = &recorded[i] };
		hits[i] = (struct hit_address){ .offset = recorded[i].offset,
						.count = { 1, 1, 1, 1 } };
	}
	p.profile.objects = &shown;
	p.profile.object_count = 1;
	p.profile.codes = codes;
	p.profile.code_count = MANY_CODES;
	p.options.symbols = &symbols;
	h.profile = &p.profile;
	assert_no_error(code_listing_write(&p.listing, &h));
	assert_non_null(strstr(buffer_string(&p.sink.buffer),
			       "/none/x: the trace has more code than is disassembled"));
	assert_non_null(strstr(buffer_string(&p.sink.buffer), "# 700000 to 800000 of /none/x"));
	assert_null(strstr(buffer_string(&p.sink.buffer), "# 800000 to"));
	sink_release(&p.sink);
	free(bytes);
}
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_widen),	       cmocka_unit_test(test_indent),
	cmocka_unit_test(test_text),	       cmocka_unit_test(test_say),
	cmocka_unit_test(test_count),	       cmocka_unit_test(test_long_line),
	cmocka_unit_test(test_large_counts),   cmocka_unit_test(test_hostile_unit),
	cmocka_unit_test(test_sources),	       cmocka_unit_test(test_many_files),
	cmocka_unit_test(test_many_own_files), cmocka_unit_test(test_embedded_sources),
#ifdef PROF_DISASSEMBLER
	cmocka_unit_test(test_much_code),
#endif
};

UNIT_TESTS(tests);
