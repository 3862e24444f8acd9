/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions in a made-up heap of V8: found and copied as in the kernel, and named as recorded. */

#include "record/javascript/v8_names.h"
#include "tests/unit/unit.h"

#include "common/clock.h"

#include <stdio.h>

#include "testdata/v8_heap.h"

struct v8_heap v8_heap;

static struct v8_walk walk;
static int sent_again;
static uint64_t bytes_read;

static bool read_heap(void *context, uint64_t address, void *bytes, size_t size)
{
	bytes_read += size;
	return !v8_heap_read(bytes, size, address);
}

static struct target_memory memory_of(uint32_t pid)
{
	return (struct target_memory){ read_heap, NULL };
}

static struct target_memory no_memory(uint32_t pid)
{
	static const int none = 0;

	return (struct target_memory){ read_heap, (void *)&none };
}

static void again(void *context, uint64_t code, uint64_t position)
{
	sent_again++;
}

static struct v8_names *names_new(void)
{
	struct v8_names *n =
		v8_names_new(&(struct v8_names_options){ .memory = memory_of, .again = again });

	assert_non_null(n);
	sent_again = 0;
	return n;
}

static int empty_heap(void **state)
{
	v8_heap = (struct v8_heap){ 0 };
	return 0;
}

/* Line 3, in a source whose begin is short. */
static const char short_source[] = "'use strict';\n\nfunction named(a) { return a; }\n";

static struct v8_made made(void)
{
	return (struct v8_made){
		.name = v8_new_ascii("named"),
		.inferred = v8_new_object(16, TYPE_ODDBALL),
		.file = v8_new_ascii("/srv/app.js"),
		.source = v8_new_ascii(short_source),
		.start = 29,
		.token = 14,
		.number = 81,
		.literal = 2,
	};
}

/* Of code that has nothing inlined. */
static bool find(const struct v8_names *n, const struct script_frame *frame,
		 struct prf_place *place, bool *complete)
{
	struct prf_place places[V8_PLACES_MAX];
	size_t count = v8_names_find(n, &(struct v8_question){ frame, 0, false }, places, complete);

	assert_true(count <= 1);
	if (count)
		*place = places[0];
	return count != 0;
}

/* What the function is called, as `name (file:line)`. */
static const char *describe(const struct v8_made *m)
{
	static char text[512];
	struct v8_names *n = names_new();
	uint64_t position = v8_heap_name(&walk, v8_new_function(m));
	struct script_frame frame = { walk.code | V8_INTERPRETED, position };
	struct prf_place place;
	bool complete;

	strcpy(text, "nothing");
	if (position) {
		assert_false(find(n, &frame, &place, &complete));
		assert_true(v8_names_add(n, &walk.name, sizeof(walk.name)));
		assert_true(find(n, &frame, &place, &complete));
		assert_true(complete);
		assert_int_equal(place.line, place.start_line);
		snprintf(text, sizeof(text), "%s (%s:%u)", place.function, place.file, place.line);
	}
	v8_names_free(n);
	return text;
}

static void test_a_function_has_name_file_and_line(void **state)
{
	const struct v8_made m = made();

	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	assert_int_equal(walk.name.position, UINT64_C(81) << 32 | 2);
}

static void test_the_name_may_be_inferred_or_missing(void **state)
{
	struct v8_made m = made();

	m.name = v8_new_ascii("");
	m.inferred = v8_new_ascii("object.property");
	assert_string_equal(describe(&m), "object.property (/srv/app.js:3)");
	m.name = 0; /* V8's small integer for no name that all closures share */
	assert_string_equal(describe(&m), "object.property (/srv/app.js:3)");
	m.no_name = true;
	assert_string_equal(describe(&m), "object.property (/srv/app.js:3)");
	m.inferred = v8_new_object(16, TYPE_ODDBALL);
	assert_string_equal(describe(&m), "(anonymous) (/srv/app.js:3)");
}

static void test_variables_come_before_the_name(void **state)
{
	static const uint32_t counts[] = { 1, 74, 75, 200 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct v8_made m;

		empty_heap(NULL);
		m = made();
		m.variables = counts[i];
		assert_string_equal(describe(&m), "named (/srv/app.js:3)");
		m.saved_class = true;
		assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	}
}

static void test_positions_may_come_first(void **state)
{
	struct v8_made m;

	v8_heap.newer = true;
	m = made();
	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	m.variables = 5;
	m.saved_class = true;
	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
}

static void test_lines_before_the_source_count(void **state)
{
	struct v8_made m = made();

	m.lines_before = 100;
	assert_string_equal(describe(&m), "named (/srv/app.js:103)");
	m.token = 0xffff; /* too far before: the parameters' line */
	assert_string_equal(describe(&m), "named (/srv/app.js:103)");
	m.token = 30; /* before the source */
	assert_string_equal(describe(&m), "named (/srv/app.js:103)");
}

static void test_what_has_no_file_is_anonymous(void **state)
{
	struct v8_made m = made();

	m.file = v8_new_object(16, TYPE_ODDBALL);
	assert_string_equal(describe(&m), "named (<anonymous>:3)");
	m.source = m.file;
	assert_string_equal(describe(&m), "named (<anonymous>:0)");
}

/* -------- strings -------- */

static uint64_t leads_to(uint64_t other, uint16_t type, uint64_t second)
{
	uint64_t text = v8_new_object(32, type);

	v8_put(text, 8, UINT64_C(5) << 32);
	v8_put(text, 16, other);
	v8_put(text, 24, second);
	return text;
}

static void test_strings_of_all_kinds(void **state)
{
	static const uint16_t wide[] = { 'n', 0xe9, 0xd83d, 0xde00, 0xdc00 };
	struct v8_made m = made();
	uint64_t chain;

	m.name = leads_to(m.name, TYPE_TEXT | V8_THIN, 0);
	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	m.name = leads_to(m.name, TYPE_TEXT | V8_CONS, v8_new_ascii(""));
	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	m.name = leads_to(v8_new_ascii("unnamed?"), TYPE_TEXT | V8_SLICED, v8_small(2));
	assert_string_equal(describe(&m), "named (/srv/app.js:3)");
	/* Its characters are outside of the heap. */
	chain = v8_new_ascii("outer");
	m.name = leads_to(0, TYPE_TEXT | V8_EXTERNAL, chain - V8_TAG + 16);
	assert_string_equal(describe(&m), "outer (/srv/app.js:3)");
	m.name = v8_new_text(wide, 5, TYPE_WIDE_TEXT);
	assert_string_equal(describe(&m), "n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd (/srv/app.js:3)");
	m.name = v8_new_text("caf\xe9\x00", 5, TYPE_TEXT);
	assert_string_equal(describe(&m), "caf\xc3\xa9\xef\xbf\xbd (/srv/app.js:3)");
}

static void test_strings_that_are_no_text(void **state)
{
	struct v8_made m = made();
	uint64_t loop;

	/* In two pieces; without the address of its characters; endless. */
	m.name = leads_to(m.name, TYPE_TEXT | V8_CONS, v8_new_ascii("x"));
	assert_string_equal(describe(&m), "(anonymous) (/srv/app.js:3)");
	m.name = leads_to(0, TYPE_TEXT | V8_EXTERNAL | V8_UNCACHED, m.file);
	assert_string_equal(describe(&m), "(anonymous) (/srv/app.js:3)");
	loop = leads_to(0, TYPE_TEXT | V8_THIN, 0);
	v8_put(loop, 16, loop);
	m.name = loop;
	assert_string_equal(describe(&m), "(anonymous) (/srv/app.js:3)");
}

static void test_a_long_name_is_cut(void **state)
{
	char longer[1001], expected[256];
	struct v8_made m = made();

	memset(longer, 'x', 1000);
	longer[1000] = 0;
	m.name = v8_new_ascii(longer);
	snprintf(expected, sizeof(expected), "%.*s... (/srv/app.js:3)", V8_NAME_BYTES, longer);
	assert_string_equal(describe(&m), expected);
}

/* -------- lines -------- */

/* A source of many lines, of one or two bytes a character; the function is in the last one. */
static struct v8_made made_long(bool wide, uint32_t lines)
{
	static uint16_t source[8192];
	uint8_t narrow[8192];
	struct v8_made m = made();
	uint32_t n = 0;

	for (uint32_t i = 1; i < lines; i++) {
		for (int k = 0; k < 10; k++)
			source[n++] = 'a';
		if (i % 3 == 0)
			source[n++] = '\r';
		source[n++] = i % 3 == 1 && wide ? 0x2028 : i % 3 == 2 ? '\r' : '\n';
	}
	m.start = n + 14;
	for (const char *c = "function named() { }"; *c; c++)
		source[n++] = (uint16_t)*c;
	for (uint32_t i = 0; i < n; i++)
		narrow[i] = (uint8_t)source[i];
	m.source = wide ? v8_new_text(source, n, TYPE_WIDE_TEXT)
			: v8_new_text(narrow, n, TYPE_TEXT);
	return m;
}

static void test_the_line_in_a_long_source(void **state)
{
	struct v8_made m = made_long(false, 200);

	assert_string_equal(describe(&m), "named (/srv/app.js:200)");
	assert_true(walk.name.from > 0);
	empty_heap(NULL);
	m = made_long(true, 200);
	assert_string_equal(describe(&m), "named (/srv/app.js:200)");
}

/* The collector has used the source's memory again, before it was read. */
static void test_a_source_that_is_another_one_gives_no_line(void **state)
{
	const struct v8_made m = made_long(false, 200);
	uint64_t position = v8_heap_name(&walk, v8_new_function(&m));
	struct script_frame frame = { walk.code, position };
	struct v8_names *n = names_new();
	struct prf_place place;
	bool complete;

	assert_true(position != 0);
	memset(v8_heap.bytes + (walk.name.source.address - V8_HEAP_BASE), '\n',
	       walk.name.source.length);
	assert_true(v8_names_add(n, &walk.name, sizeof(walk.name)));
	assert_true(find(n, &frame, &place, &complete));
	assert_string_equal(place.function, "named");
	assert_int_equal(place.line, 0);
	v8_names_free(n);
}

/* The kernel half cannot read what is not paged in: it is asked again, a few times. */
static void test_a_source_that_was_not_there_is_asked_for_again(void **state)
{
	const struct v8_made m = made_long(false, 200);
	uint64_t position = v8_heap_name(&walk, v8_new_function(&m));
	struct script_frame frame = { walk.code, position };
	struct v8_names *n = names_new();
	struct v8_name without = walk.name;
	struct prf_place place;
	bool complete;

	without.source.captured = 0;
	for (int i = 1; i <= 2; i++) {
		assert_true(v8_names_add(n, &without, sizeof(without)));
		assert_true(find(n, &frame, &place, &complete));
		assert_false(complete);
		assert_int_equal(place.line, 0);
		assert_int_equal(sent_again, i);
	}
	assert_true(v8_names_add(n, &walk.name, sizeof(walk.name)));
	assert_true(find(n, &frame, &place, &complete));
	assert_true(complete);
	assert_int_equal(place.line, 200);
	v8_names_free(n);
	n = names_new();
	for (int i = 0; i < 10; i++)
		assert_true(v8_names_add(n, &without, sizeof(without)));
	assert_true(find(n, &frame, &place, &complete));
	assert_true(complete);
	assert_true(sent_again < 10);
	v8_names_free(n);
}

static bool read_endless(void *context, uint64_t address, void *bytes, size_t size)
{
	bytes_read += size;
	memset(bytes, 'x', size);
	return true;
}

static struct target_memory endless(uint32_t pid)
{
	return (struct target_memory){ read_endless, NULL };
}

/* Each of its functions has a source of its own, of 31 MiB. */
static void test_a_process_cannot_have_all_its_memory_read(void **state)
{
	struct v8_names *n = v8_names_new(&(struct v8_names_options){ .memory = endless });
	struct v8_name name = {
		.start = 1 << 20,
		.from = 1 << 20,
		.source = { .address = 4096, .length = 31 << 20, .captured = 8, .width = 1 },
	};
	uint64_t begin_ns = clock_now(), ms;

	bytes_read = 0;
	memset(name.source_bytes, 'x', 8);
	for (uint64_t i = 1; i <= 40; i++) {
		name.position = i << 32;
		assert_true(v8_names_add(n, &name, sizeof(name)));
	}
	ms = (clock_now() - begin_ns) / 1000000 + 1;
	assert_true(bytes_read >= 31 << 20);
	/* With the beginnings of pieces and of sources, which are read twice. */
	assert_true(bytes_read <= (UINT64_C(257) << 20) + ms * (32 << 10));
	v8_names_free(n);
}

/* Each optimized code of a script has functions of its own, but their lines are those of one
 * source. */
static void test_a_source_is_read_once_for_all_code(void **state)
{
	const struct v8_made m = made_long(false, 200);
	uint64_t position = v8_heap_name(&walk, v8_new_function(&m));
	struct v8_names *n = names_new();
	struct v8_name name = walk.name;
	struct prf_place place;
	bool complete;

	assert_true(v8_names_add(n, &name, sizeof(name)));
	bytes_read = 0;
	name.code = (name.code ^ 0x1000) | V8_OPTIMIZED;
	assert_true(v8_names_add(n, &name, sizeof(name)));
	assert_int_equal(bytes_read, 0);
	assert_true(find(n, &(struct script_frame){ name.code & ~V8_NAME, position }, &place,
			 &complete));
	assert_int_equal(place.line, 200);
	v8_names_free(n);
}

/* -------- inlined functions -------- */

#define INSTRUCTIONS 0x7000

/* Of `outer`: the function `inner` is inlined from the instructions' begin to their end. */
static struct v8_compilation compilation_of(const struct v8_name *outer,
					    const struct v8_name *inner)
{
	static const uint8_t entry[] = { 0, 0x80, 0x80, 0x80, 0x80, 0x10 }; /* at 0, in call 0 */
	struct v8_compilation c = {
		.code = outer->code,
		.position = outer->position,
		.instructions = INSTRUCTIONS,
		.size = 0x100,
		.inner = { { inner->code & ~V8_NAME, inner->position } },
		.inner_count = 1,
		.places_size = 16,
		.positions_size = sizeof(entry),
	};

	memcpy(c.positions, entry, sizeof(entry));
	return c;
}

static struct v8_name named(const char *text, uint32_t literal)
{
	struct v8_made m = made();

	m.name = v8_new_ascii(text);
	m.literal = literal;
	assert_true(v8_heap_name(&walk, v8_new_function(&m)) != 0);
	return walk.name;
}

static size_t find_inlined(const struct v8_names *n, const struct v8_name *outer, bool *complete)
{
	const struct script_frame frame = { outer->code & ~V8_NAME, outer->position };
	struct prf_place places[V8_PLACES_MAX];
	size_t count = v8_names_find(n, &(struct v8_question){ &frame, INSTRUCTIONS + 8, true },
				     places, complete);

	assert_true(count > 0);
	assert_string_equal(places[0].function, count > 1 ? "inner" : "outer");
	assert_string_equal(places[count - 1].function, "outer");
	return count;
}

/* There was no room for its record: it is sent again with the function that it is inlined in. */
static void test_an_inlined_function_that_is_missing_may_come(void **state)
{
	struct v8_name outer = named("outer", 2), inner = named("inner", 3);
	struct v8_names *n = names_new();
	struct v8_compilation c;
	bool complete;

	outer.code |= V8_OPTIMIZED;
	c = compilation_of(&outer, &inner);
	assert_true(v8_names_add(n, &c, sizeof(c)));
	assert_true(v8_names_add(n, &outer, sizeof(outer)));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(find_inlined(n, &outer, &complete), 1);
		assert_false(complete);
		assert_int_equal(sent_again, 1);
	}
	assert_true(v8_names_add(n, &inner, sizeof(inner)));
	assert_int_equal(find_inlined(n, &outer, &complete), 2);
	assert_true(complete);
	v8_names_free(n);
}

static void test_an_inlined_function_without_a_line_may_get_one(void **state)
{
	struct v8_name outer = named("outer", 2), inner = named("inner", 3), without = inner;
	struct v8_names *n = names_new();
	struct v8_compilation c;
	bool complete;

	outer.code |= V8_OPTIMIZED;
	without.source.captured = 0;
	c = compilation_of(&outer, &inner);
	assert_true(v8_names_add(n, &without, sizeof(without)));
	assert_true(v8_names_add(n, &c, sizeof(c)));
	assert_true(v8_names_add(n, &outer, sizeof(outer)));
	assert_int_equal(find_inlined(n, &outer, &complete), 2);
	assert_false(complete);
	assert_true(v8_names_add(n, &inner, sizeof(inner)));
	assert_int_equal(find_inlined(n, &outer, &complete), 2);
	assert_true(complete);
	v8_names_free(n);
}

static void test_an_inlined_function_that_never_comes(void **state)
{
	struct v8_name outer = named("outer", 2), inner = named("inner", 3);
	struct v8_names *n = names_new();
	struct v8_compilation c;
	bool complete = false;

	outer.code |= V8_OPTIMIZED;
	c = compilation_of(&outer, &inner);
	for (int i = 0; i < 10; i++) {
		assert_true(v8_names_add(n, &c, sizeof(c)));
		assert_true(v8_names_add(n, &outer, sizeof(outer)));
		assert_int_equal(find_inlined(n, &outer, &complete), 1);
	}
	assert_true(complete);
	assert_true(sent_again < 10);
	/* Nor one that the kernel half could not identify. */
	outer.code ^= 0x1000;
	c = compilation_of(&outer, &inner);
	c.inner[0].position = 0;
	assert_true(v8_names_add(n, &c, sizeof(c)));
	assert_true(v8_names_add(n, &outer, sizeof(outer)));
	assert_int_equal(find_inlined(n, &outer, &complete), 1);
	assert_true(complete);
	v8_names_free(n);
}

/* The same instructions elsewhere are other code: an address says where in which of them it is. */
static void test_code_that_was_moved_is_other_code(void **state)
{
	struct v8_compiled c = { .optimization = 3, .start = INSTRUCTIONS };
	uint64_t code = v8_optimized_code(0x1000, &c);

	assert_int_equal(code & ~V8_SCRIPT, V8_OPTIMIZED);
	assert_int_equal(v8_optimized_code(0x1000, &c), code);
	c.start += 0x1000;
	assert_int_not_equal(v8_optimized_code(0x1000, &c), code);
}

/* -------- what is no function, and hostile records -------- */

static int times_forgotten;

static void forgot(void *context)
{
	times_forgotten++;
}

/* Of functions that never get names. */
static void test_compilations_are_bounded(void **state)
{
	struct v8_names *n =
		v8_names_new(&(struct v8_names_options){ .memory = memory_of, .forgot = forgot });
	const struct v8_name none = { 0 };
	struct v8_compilation c = compilation_of(&none, &none);

	times_forgotten = 0;
	memset(c.positions, 0, sizeof(c.positions));
	c.positions_size = sizeof(c.positions);
	for (uint64_t i = 1; i <= 16384; i++) {
		c.code = i << 8 | V8_OPTIMIZED | V8_NAME;
		assert_true(v8_names_add(n, &c, sizeof(c)));
	}
	/* Of 8 KiB each, 64 MiB are kept. */
	assert_in_range(times_forgotten, 1, 4);
	v8_names_free(n);
}

/* Each search for the code around an address fails. */
static void test_searches_are_bounded(void **state)
{
	struct v8_walk v = { .process = v8_heap_layout };
	struct v8_compiled c = { 0 };
	int searches = 0;

	do
		v.search = V8_HEAP_BASE + V8_HEAP_SIZE / 2;
	while (!v8_search_code(&v, &c) && ++searches < 100000);
	assert_int_equal(searches, V8_SEARCHES_MAX);
}

static void test_what_is_no_function_has_no_name(void **state)
{
	const struct v8_made m = made();
	uint64_t function = v8_new_function(&m), shared = 0, map = 0;

	assert_true(v8_heap_name(&walk, function) != 0);
	assert_int_equal(v8_heap_name(&walk, 1), 0);
	assert_int_equal(v8_heap_name(&walk, m.name), 0);
	/* The SharedFunctionInfo's memory is something else's now. */
	v8_heap_read(&shared, 8, function - V8_TAG + 24);
	v8_heap_read(&map, 8, shared - V8_TAG);
	v8_put(map, 8, (uint64_t)TYPE_SCOPE << 32);
	assert_int_equal(v8_heap_name(&walk, function), 0);
}

/* What comes after it cannot be read. */
static void test_a_function_may_be_the_last_object(void **state)
{
	const struct v8_made m = made();
	uint64_t function = v8_new_function(&m), shared = 0, words[7] = { 0 };
	const uint64_t last = V8_HEAP_BASE + V8_HEAP_SIZE - sizeof(words);

	v8_heap_read(&shared, 8, function - V8_TAG + 24);
	v8_heap_read(words, sizeof(words), shared - V8_TAG);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		v8_put(last + V8_TAG, 8 * i, words[i]);
	v8_put(function, 24, last + V8_TAG);
	assert_true(v8_heap_name(&walk, function) != 0);
	assert_int_equal(walk.name.name.captured, strlen("named"));
}

/* As with NODE_V8_COVERAGE, or a breakpoint. */
static void test_a_function_may_be_debugged(void **state)
{
	const struct v8_made m = made();
	uint64_t function = v8_new_function(&m), shared = 0, script = 0, position, code;
	uint64_t debugged = v8_new_object(72, TYPE_ODDBALL);

	position = v8_heap_name(&walk, function);
	code = walk.code;
	v8_heap_read(&shared, 8, function - V8_TAG + 24);
	v8_heap_read(&script, 8, shared - V8_TAG + 32);
	v8_put(debugged, 24, script);
	v8_put(debugged, 64, shared); /* where a script has its number */
	v8_put(shared, 32, debugged);
	assert_int_equal(v8_heap_name(&walk, function), position);
	assert_int_equal(walk.code, code);
	assert_int_equal(walk.name.name.captured, strlen("named"));
	assert_int_equal(walk.name.file.captured, strlen("/srv/app.js"));
}

static void test_functions_are_told_apart_by_their_numbers(void **state)
{
	struct v8_made m = made();
	struct v8_names *n = names_new();
	struct script_frame frame;
	struct prf_place place;
	bool complete;

	for (uint32_t i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "function_%u", i);
		m.name = v8_new_ascii(name);
		m.number = 81 + i / 2;
		m.literal = i % 2;
		assert_true(v8_heap_name(&walk, v8_new_function(&m)) != 0);
		assert_true(v8_names_add(n, &walk.name, sizeof(walk.name)));
	}
	frame = (struct script_frame){ walk.code, UINT64_C(81) << 32 | 1 };
	assert_true(find(n, &frame, &place, &complete));
	assert_string_equal(place.function, "function_1");
	/* Another thread's, and one that nobody has sent. */
	frame.code += 4;
	assert_false(find(n, &frame, &place, &complete));
	frame = (struct script_frame){ walk.code, UINT64_C(82) << 32 | 1 };
	assert_false(find(n, &frame, &place, &complete));
	v8_names_free(n);
}

/* The hash of the function's script, once it is at that place. */
static uint64_t script_at(uint64_t place, const struct v8_made *m)
{
	uint64_t function;

	v8_heap.used = place;
	function = v8_new_function(m);
	assert_int_equal(v8_heap_name(&walk, function), UINT64_C(81) << 32 | 2);
	return walk.code;
}

/* One isolate has ended, and the next one has its script with the same number at the same place. */
static void test_scripts_are_told_apart_by_what_they_are(void **state)
{
	struct v8_made m = made();
	uint64_t place, code;

	v8_heap.used = 0x1000;
	place = 0x2000;
	code = script_at(place, &m);
	assert_int_equal(script_at(place + 0x1000, &m), code); /* it was moved */
	m.source = v8_new_ascii("'use strict';\n\n\nfunction named(a) { return a; }\n");
	assert_int_not_equal(script_at(place, &m), code);
	m = made();
	m.file = v8_new_ascii("/srv/application.js");
	assert_int_not_equal(script_at(place, &m), code);
	m = made();
	v8_put(m.source, 8, (uint64_t)strlen(short_source) << 32 | 0xabce); /* its hash */
	assert_int_not_equal(script_at(place, &m), code);
}

static void test_records_that_lie(void **state)
{
	const struct v8_made m = made();
	struct v8_names *n = v8_names_new(&(struct v8_names_options){ .memory = no_memory });
	struct v8_name name;

	assert_true(v8_heap_name(&walk, v8_new_function(&m)) != 0);
	assert_false(v8_names_add(n, &walk.name, sizeof(walk.name) - 1));
	name = walk.name;
	name.name.captured = V8_NAME_BYTES + 1;
	assert_false(v8_names_add(n, &name, sizeof(name)));
	name = walk.name;
	name.source.width = 3;
	assert_false(v8_names_add(n, &name, sizeof(name)));
	name = walk.name;
	name.start = UINT32_MAX;
	name.source.length = UINT32_MAX;
	assert_true(v8_names_add(n, &name, sizeof(name)));
	v8_names_free(n);
	v8_names_free(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(test_a_function_has_name_file_and_line, empty_heap),
	cmocka_unit_test_setup(test_the_name_may_be_inferred_or_missing, empty_heap),
	cmocka_unit_test_setup(test_variables_come_before_the_name, empty_heap),
	cmocka_unit_test_setup(test_positions_may_come_first, empty_heap),
	cmocka_unit_test_setup(test_lines_before_the_source_count, empty_heap),
	cmocka_unit_test_setup(test_what_has_no_file_is_anonymous, empty_heap),
	cmocka_unit_test_setup(test_strings_of_all_kinds, empty_heap),
	cmocka_unit_test_setup(test_strings_that_are_no_text, empty_heap),
	cmocka_unit_test_setup(test_a_long_name_is_cut, empty_heap),
	cmocka_unit_test_setup(test_the_line_in_a_long_source, empty_heap),
	cmocka_unit_test_setup(test_a_source_that_is_another_one_gives_no_line, empty_heap),
	cmocka_unit_test_setup(test_a_source_that_was_not_there_is_asked_for_again, empty_heap),
	cmocka_unit_test(test_a_process_cannot_have_all_its_memory_read),
	cmocka_unit_test_setup(test_a_source_is_read_once_for_all_code, empty_heap),
	cmocka_unit_test_setup(test_an_inlined_function_that_is_missing_may_come, empty_heap),
	cmocka_unit_test_setup(test_an_inlined_function_without_a_line_may_get_one, empty_heap),
	cmocka_unit_test_setup(test_an_inlined_function_that_never_comes, empty_heap),
	cmocka_unit_test(test_code_that_was_moved_is_other_code),
	cmocka_unit_test(test_compilations_are_bounded),
	cmocka_unit_test_setup(test_searches_are_bounded, empty_heap),
	cmocka_unit_test_setup(test_what_is_no_function_has_no_name, empty_heap),
	cmocka_unit_test_setup(test_a_function_may_be_the_last_object, empty_heap),
	cmocka_unit_test_setup(test_a_function_may_be_debugged, empty_heap),
	cmocka_unit_test_setup(test_functions_are_told_apart_by_their_numbers, empty_heap),
	cmocka_unit_test_setup(test_scripts_are_told_apart_by_what_they_are, empty_heap),
	cmocka_unit_test_setup(test_records_that_lie, empty_heap),
};

UNIT_TESTS(tests);
