/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/cursor.h"
#include "profile_fixture.h"
#include "report/views/pprof.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

/* One field of a message: a number, or bytes. */
struct field {
	unsigned int number;
	uint64_t value;
	struct cursor bytes;
};

static bool next_field(struct cursor *c, struct field *f)
{
	uint64_t tag;

	if (!cursor_left(c))
		return false;
	tag = cursor_uleb(c);
	f->number = (unsigned int)(tag >> 3);
	f->value = 0;
	f->bytes = cursor_over(NULL, 0);
	if ((tag & 7) == 2) {
		uint64_t size = cursor_uleb(c);

		f->bytes = cursor_over(cursor_bytes(c, size), size);
	} else {
		assert_int_equal(tag & 7, 0);
		f->value = cursor_uleb(c);
	}
	assert_true(cursor_ok(c));
	return true;
}

/* The n-th field of that number; false when there are fewer. */
static bool find_field(struct cursor message, unsigned int number, size_t n, struct field *f)
{
	while (next_field(&message, f))
		if (f->number == number && !n--)
			return true;
	return false;
}

static uint64_t number(struct cursor message, unsigned int field)
{
	struct field f;

	return find_field(message, field, 0, &f) ? f.value : 0;
}

static struct cursor message(struct cursor outer, unsigned int field, size_t n)
{
	struct field f;

	assert_true(find_field(outer, field, n, &f));
	return f.bytes;
}

static size_t count(struct cursor outer, unsigned int field)
{
	struct field f;
	size_t n = 0;

	while (find_field(outer, field, n, &f))
		n++;
	return n;
}

/* The text of a number in the string table. */
static void string_is(struct cursor profile, uint64_t id, const char *expected)
{
	struct cursor text = message(profile, 6, id);

	assert_int_equal(cursor_left(&text), strlen(expected));
	assert_memory_equal(text.at, expected, strlen(expected));
}

static struct cursor by_id(struct cursor profile, unsigned int field, uint64_t id)
{
	for (size_t i = 0;; i++) {
		struct cursor m = message(profile, field, i);

		if (number(m, 1) == id)
			return m;
	}
}

struct rendered {
	uint8_t *bytes;
	struct cursor profile;
};

static struct rendered render(const struct profile *p)
{
	struct view_options o = { 0 };
	struct rendered r = { malloc(1 << 20), { 0 } };
	z_stream z = { .avail_out = 1 << 20, .next_out = r.bytes };
	struct sink s;

	sink_init(&s, -1);
	assert_no_error(pprof_render(p, &o, &s));
	assert_no_error(sink_flush(&s));
	assert_int_equal(s.buffer.data[0], 0x1f);
	assert_int_equal(s.buffer.data[1], 0x8b);
	z.next_in = s.buffer.data;
	z.avail_in = (uInt)s.buffer.size;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	r.profile = cursor_over(r.bytes, z.total_out);
	inflateEnd(&z);
	sink_release(&s);
	return r;
}

static void values_add_up(void **state)
{
	struct rendered r = render(&fixture);
	uint64_t samples = 0, time = 0;

	string_is(r.profile, 0, "");
	assert_int_equal(count(r.profile, 1), 2);
	string_is(r.profile, number(message(r.profile, 1, 0), 1), "samples");
	string_is(r.profile, number(message(r.profile, 1, 1), 1), "cpu");
	string_is(r.profile, number(message(r.profile, 1, 1), 2), "nanoseconds");
	assert_int_equal(number(r.profile, 9), 1700000000000000000);
	assert_int_equal(number(r.profile, 10), 200000000);
	assert_int_equal(number(r.profile, 12), 1000000);
	for (size_t i = 0; i < count(r.profile, 2); i++) {
		struct cursor values = message(message(r.profile, 2, i), 2, 0);

		samples += cursor_uleb(&values);
		time += cursor_uleb(&values);
		assert_int_equal(cursor_left(&values), 0);
	}
	assert_int_equal(samples, 21);
	assert_int_equal(time, 21000000);
	free(r.bytes);
}

/* What else the trace has events of says nothing of the samples that are shown. */
static void values_are_those_of_the_samples_events(void **state)
{
	const struct profile_event events[] = {
		fixture_events[0],
		{ .kind = PRF_EVENT_OFF_CPU, .name = "off-cpu", .unit = "ns" },
	};
	struct profile_group waits[COUNT(fixture_groups)];
	struct profile p = fixture;
	struct rendered r;

	p.events = events;
	p.event_count = 2;
	r = render(&p);
	assert_int_equal(count(r.profile, 1), 2);
	string_is(r.profile, number(message(r.profile, 1, 1), 1), "cpu");
	free(r.bytes);

	memcpy(waits, fixture_groups, sizeof(waits));
	for (size_t i = 0; i < COUNT(waits); i++)
		waits[i].event = 1;
	p.groups = waits;
	p.value = PROFILE_TIME;
	r = render(&p);
	assert_int_equal(count(r.profile, 1), 2);
	string_is(r.profile, number(message(r.profile, 1, 1), 1), "off_cpu");
	/* No period, which would be that of the samples that are not here. */
	assert_int_equal(count(r.profile, 11), 0);
	assert_int_equal(count(r.profile, 12), 0);
	free(r.bytes);
}

/* A small trace can have more frames in its stacks than a profile holds, which lists all of them.
 */
static void frames_have_a_limit(void **state)
{
	const size_t depth = 1 << 20, stacks = 1025;
	struct profile_entry *entries = calloc(stacks, sizeof(*entries));
	struct profile_node *nodes = calloc(depth, sizeof(*nodes));
	struct profile p = fixture;
	struct error *error;
	struct sink s;

	for (uint32_t i = 0; i < depth; i++)
		nodes[i] = (struct profile_node){ i ? i - 1 : PRF_NONE, FRAME_MAIN, i + 1 };
	for (size_t i = 0; i < stacks; i++)
		entries[i] = (struct profile_entry){ 0, 0, (uint32_t)depth - 1, 1, 1 };
	p.nodes = nodes;
	p.node_count = depth;
	p.entries = entries;
	p.entry_count = stacks;
	sink_init(&s, -1);
	error = pprof_render(&p, &(struct view_options){ 0 }, &s);
	assert_non_null(error);
	assert_int_equal(error->kind, ERROR_LIMIT);
	assert_int_equal(s.buffer.size, 0);
	error_free(error);
	sink_release(&s);
	free(entries);
	free(nodes);
}

/* Servers make the name of a metric of type and unit: no dashes, colons or slashes. */
static void types_are_identifiers(void **state)
{
	static const struct profile_event events[] = {
		{ .kind = PRF_EVENT_OFF_CPU, .name = "uprobe:/lib/libc.so.6:free", .unit = "a b" },
	};
	struct profile p = fixture;
	struct rendered r;

	p.events = events;
	p.event_count = 1;
	p.value = PROFILE_WEIGHT;
	p.unit = "a b";
	r = render(&p);
	string_is(r.profile, number(message(r.profile, 1, 1), 1), "uprobe__lib_libc_so_6_free");
	string_is(r.profile, number(message(r.profile, 1, 1), 2), "a_b");
	free(r.bytes);
}

static void inlined_functions_are_lines_of_one_location(void **state)
{
	static const char *const names[] = { "leaf", "middle", "main" };
	static const unsigned int lines[] = { 3, 7, 12 };
	struct rendered r = render(&fixture);
	struct cursor locations = message(message(r.profile, 2, 1), 1, 0), location;

	location = by_id(r.profile, 4, cursor_uleb(&locations));
	assert_int_equal(cursor_left(&locations), 0);
	assert_int_equal(number(location, 3), 0x1010);
	assert_int_equal(count(location, 4), 3);
	for (size_t i = 0; i < 3; i++) {
		struct cursor line = message(location, 4, i);
		struct cursor function = by_id(r.profile, 5, number(line, 1));

		string_is(r.profile, number(function, 2), names[i]);
		assert_int_equal(number(line, 2), lines[i]);
	}
	free(r.bytes);
}

static void mappings_have_their_build_id(void **state)
{
	struct rendered r = render(&fixture);
	struct cursor mapping = message(r.profile, 3, 0);

	assert_int_equal(count(r.profile, 3), 2);
	string_is(r.profile, number(mapping, 5), "/usr/bin/server");
	string_is(r.profile, number(mapping, 6), "abcdef0102030405060708090a0b0c0d0e0f1011");
	assert_true(number(mapping, 3) > 0x4000);
	assert_int_equal(number(mapping, 7), 1);
	free(r.bytes);
}

/* The fixture with other stacks. */
static struct profile with_stacks(const struct profile_node *nodes, size_t node_count,
				  const struct profile_entry *entries, size_t entry_count)
{
	struct profile p = fixture;

	p.nodes = nodes;
	p.node_count = node_count;
	p.entries = entries;
	p.entry_count = entry_count;
	return p;
}

/* pprof calls the first mapping the program. */
static void the_program_is_the_first_mapping(void **state)
{
	static const struct prf_object recorded[] = {
		{ .kind = PRF_OBJECT_KERNEL, .path = "[kernel]", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/lib/libc.so.6", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/bin/sh", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/usr/bin/server", .root = "" },
	};
	static const struct profile_object objects[] = {
		{ &recorded[0], "[kernel]", "ok" },
		{ &recorded[1], "libc.so.6", "ok" },
		{ &recorded[2], "sh", "ok" },
		{ &recorded[3], "server", "ok" },
	};
	static const struct profile_frame frames[] = {
		FRAME("clone", "", "", 1, .offset = 0x100),
		FRAME("serve", "", "", 3, .offset = 0x200),
		FRAME("run", "", "", 2, .offset = 0x300),
		FRAME("write", "", "", 0, .offset = 0x400),
	};
	static const struct profile_node nodes[] = {
		{ PRF_NONE, 0, 1 }, { 0, 1, 2 }, { 1, 3, 3 }, { PRF_NONE, 2, 1 }
	};
	static const struct profile_entry entries[] = { { 0, 0, 0, 9, 9 },
							{ 0, 0, 2, 3, 3 },
							{ 0, 0, 3, 2, 2 } };
	struct profile p = with_stacks(nodes, 4, entries, 3);
	struct rendered r;

	p.objects = objects;
	p.object_count = 4;
	p.frames = frames;
	p.frame_count = 4;
	r = render(&p);
	assert_int_equal(count(r.profile, 3), 4);
	string_is(r.profile, number(message(r.profile, 3, 0), 5), "/usr/bin/server");
	string_is(r.profile, number(message(r.profile, 3, 1), 5), "[kernel]");
	free(r.bytes);
}

/* Parca refuses a profile whose mappings are not numbered in their order. */
static void mappings_are_numbered_without_gaps(void **state)
{
	static const struct prf_object recorded[] = {
		{ .kind = PRF_OBJECT_FILE, .path = "/lib/unused.so", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/lib/libc.so.6", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/bin/sh", .root = "" },
	};
	static const struct profile_object objects[] = {
		{ &recorded[0], "unused.so", "ok" },
		{ &recorded[1], "libc.so.6", "ok" },
		{ &recorded[2], "sh", "ok" },
	};
	static const struct profile_frame frames[] = {
		FRAME("run", "", "", 2, .offset = 0x300),
		FRAME("write", "", "", 1, .offset = 0x400),
	};
	static const struct profile_node nodes[] = { { PRF_NONE, 0, 1 }, { 0, 1, 2 } };
	static const struct profile_entry entries[] = { { 0, 0, 1, 9, 9 } };
	struct profile p = with_stacks(nodes, 2, entries, 1);
	struct rendered r;

	p.objects = objects;
	p.object_count = 3;
	p.frames = frames;
	p.frame_count = 2;
	r = render(&p);
	assert_int_equal(count(r.profile, 3), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(number(message(r.profile, 3, i), 1), i + 1);
	/* The leaf's location is the first one, and libc.so.6 is the second mapping. */
	assert_int_equal(number(message(r.profile, 4, 0), 2), 2);
	assert_int_equal(number(message(r.profile, 4, 1), 2), 1);
	free(r.bytes);
}

static void labels_say_whose_sample_it_is(void **state)
{
	struct rendered r = render(&fixture);
	struct cursor sample = message(r.profile, 2, 0);

	assert_int_equal(count(sample, 3), 3);
	string_is(r.profile, number(message(sample, 3, 0), 1), "comm");
	string_is(r.profile, number(message(sample, 3, 0), 2), "</script>");
	string_is(r.profile, number(message(sample, 3, 1), 1), "pid");
	assert_int_equal(number(message(sample, 3, 1), 3), 200);
	free(r.bytes);
}

static void names_become_valid_text(void **state)
{
	struct rendered r = render(&fixture);
	bool found = false;

	for (size_t i = 0; i < count(r.profile, 6); i++) {
		struct cursor text = message(r.profile, 6, i);

		found |= cursor_left(&text) > 4 && !memcmp(text.at, "a;b ", 4);
		assert_null(memchr(text.at, 0xff, cursor_left(&text)));
	}
	assert_true(found);
	free(r.bytes);
}

/* A location must not run into the function below when a stack ends with inlined frames. */
static void inlined_frames_without_a_function_end_at_the_root(void **state)
{
	static const struct profile_node nodes[] = { { PRF_NONE, FRAME_MIDDLE, 1 },
						     { 0, FRAME_LEAF, 2 } };
	static const struct profile_entry entries[] = { { 0, 0, 1, 1, 1 } };
	struct profile p = with_stacks(nodes, 2, entries, 1);
	struct rendered r = render(&p);

	assert_int_equal(count(r.profile, 4), 1);
	assert_int_equal(count(message(r.profile, 4, 0), 4), 2);
	free(r.bytes);
}

static void an_empty_profile_is_a_profile(void **state)
{
	struct rendered r = render(&fixture_empty);

	assert_int_equal(count(r.profile, 2), 0);
	assert_int_equal(count(r.profile, 1), 1);
	free(r.bytes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(values_add_up),
	cmocka_unit_test(values_are_those_of_the_samples_events),
	cmocka_unit_test(frames_have_a_limit),
	cmocka_unit_test(types_are_identifiers),
	cmocka_unit_test(inlined_functions_are_lines_of_one_location),
	cmocka_unit_test(mappings_have_their_build_id),
	cmocka_unit_test(the_program_is_the_first_mapping),
	cmocka_unit_test(mappings_are_numbered_without_gaps),
	cmocka_unit_test(labels_say_whose_sample_it_is),
	cmocka_unit_test(names_become_valid_text),
	cmocka_unit_test(inlined_frames_without_a_function_end_at_the_root),
	cmocka_unit_test(an_empty_profile_is_a_profile),
};

UNIT_TESTS(tests);
