/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <jansson.h>

#include "common/cursor.h"
#include "profile_fixture.h"
#include "report/page/html.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#define DATA_BEGIN "<script type=\"text/plain\" id=\"data\">"

#define PAYLOAD_MAX ((size_t)1 << 24)

/* The page, and what its data are once decoded. */
struct page {
	struct sink sink;
	const char *text;
	char *data; /* base64 */
	uint8_t *bytes;
	struct cursor payload;
};

static size_t from_base64(const char *text, uint8_t *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(text), n = 0;

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		uint32_t bits = 0;

		for (size_t j = 0; j < 4; j++) {
			const char *digit = strchr(digits, text[i + j]);

			assert_true(digit || (text[i + j] == '=' && i + 4 == length && j > 1));
			bits = bits << 6 | (digit ? (uint32_t)(digit - digits) : 0);
		}
		bytes[n++] = (uint8_t)(bits >> 16);
		bytes[n++] = (uint8_t)(bits >> 8);
		bytes[n++] = (uint8_t)bits;
	}
	return n;
}

static struct page render(const struct profile *p, const struct view_options *o)
{
	struct page page = { 0 };
	const char *begin, *end;
	uint8_t *packed;
	uLongf size;

	sink_init(&page.sink, -1);
	assert_no_error(html_render(p, o, &page.sink));
	assert_no_error(sink_flush(&page.sink));
	page.text = buffer_string(&page.sink.buffer);
	begin = strstr(page.text, DATA_BEGIN);
	assert_non_null(begin);
	begin += strlen(DATA_BEGIN);
	end = strchr(begin, '<');
	page.data = strndup(begin, (size_t)(end - begin));
	packed = malloc(strlen(page.data) + 4);
	size = PAYLOAD_MAX;
	page.bytes = malloc(size);
	assert_int_equal(uncompress(page.bytes, &size, packed, from_base64(page.data, packed)),
			 Z_OK);
	page.payload = cursor_over(page.bytes, size);
	free(packed);
	return page;
}

static void page_release(struct page *page)
{
	sink_release(&page->sink);
	free(page->data);
	free(page->bytes);
}

static json_t *read_head(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	json_t *head = json_loadb((const char *)cursor_bytes(c, size), size, 0, NULL);

	assert_non_null(head);
	return head;
}

static void skip_columns(struct cursor *c, size_t columns)
{
	for (uint64_t n = cursor_uleb(c) * columns; n; n--)
		cursor_uleb(c);
}

static void skip_texts(struct cursor *c)
{
	uint64_t n = cursor_uleb(c), bytes = 0;

	while (n--)
		bytes += cursor_uleb(c);
	cursor_skip(c, bytes);
}

static json_int_t head_number(json_t *head, const char *key)
{
	return json_integer_value(json_object_get(head, key));
}

/* To the end of the data, column by column: what the page's script does. */
static void the_payload_adds_up(void **state)
{
	struct view_options o = { 0 };
	struct page page = render(&fixture, &o);
	struct cursor *c = &page.payload;
	json_t *head = read_head(c);
	uint64_t n, runs, cells = 0, total = 0, slices = 0;

	assert_int_equal(head_number(head, "total"), 21);
	assert_int_equal(head_number(head, "lost"), 9);
	assert_int_equal(head_number(head, "slices"), 2);
	assert_int_equal(json_array_size(json_object_get(head, "threads")), 3);
	assert_int_equal(json_array_size(json_object_get(head, "sources")), 3);
	assert_int_equal(json_array_size(json_object_get(head, "losses")), 1);
	assert_null(json_object_get(head, "diff"));
	skip_texts(c);
	skip_columns(c, 5);
	n = cursor_uleb(c);
	assert_int_equal(n, 10); /* nodes: two commands, main twice, and six below one of them */
	for (; n; n--) {
		cursor_uleb(c);
		cursor_uleb(c);
	}
	runs = cursor_uleb(c);
	assert_int_equal(runs, 5); /* of three threads, of which two have cells in both slices */
	for (uint64_t i = 0; i < runs; i++)
		slices += cursor_uleb(c);
	assert_int_equal(slices, 1);
	for (uint64_t i = 0; i < runs; i++)
		cursor_uleb(c);
	for (uint64_t i = 0; i < runs; i++)
		cells += cursor_uleb(c);
	n = cursor_uleb(c);
	assert_int_equal(n, COUNT(fixture_entries));
	assert_int_equal(cells, n);
	for (uint64_t i = 0; i < n; i++)
		cursor_uleb(c);
	for (uint64_t i = 0; i < n; i++)
		total += cursor_uleb(c);
	assert_int_equal(total, 21);
	assert_int_equal(cursor_uleb(c), 0);
	assert_true(cursor_ok(c));
	assert_int_equal(cursor_uleb(c), 0); /* no function's code was asked for */
	assert_int_equal(cursor_left(c), 0);
	json_decref(head);
	page_release(&page);
}

static void names_do_not_reach_the_markup(void **state)
{
	struct view_options o = { .title = "<script>@script@</script>" };
	struct page page = render(&fixture, &o);
	const char *rest = strstr(page.text, page.data) + strlen(page.data);
	size_t scripts = 0;

	assert_null(strstr(page.text, "alert(1)"));
	assert_null(strstr(page.text, "a;b x 5"));
	assert_null(strstr(page.text, "</title>.prf"));
	assert_null(strstr(page.text, "@data@"));
	for (const char *at = page.text; (at = strstr(at, "<script")); at++)
		scripts++;
	assert_int_equal(scripts, 2);
	/* Nothing in the page's own scripts ends them early. */
	assert_non_null(strstr(rest, "</script>\n</body>"));
	page_release(&page);
}

static void the_page_asks_for_nothing(void **state)
{
	struct view_options o = { 0 };
	struct page page = render(&fixture, &o);

	assert_null(strstr(page.text, "http://"));
	assert_null(strstr(page.text, "https://"));
	assert_null(strstr(page.text, "src="));
	assert_null(strstr(page.text, "href="));
	assert_null(strstr(page.text, "@import"));
	assert_null(strstr(page.text, "innerHTML"));
	assert_non_null(strstr(page.text, "default-src 'none'"));
	page_release(&page);
}

/* What changed by call: nodes of the tree, in order. */
static void read_calls(struct cursor *c, uint64_t nodes)
{
	uint64_t n = cursor_uleb(c), node = 0;

	assert_true(n > 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t step = cursor_uleb(c);

		assert_true(step > 0);
		node += step;
	}
	assert_true(node <= nodes);
	for (uint64_t i = 0; i < n; i++)
		cursor_uleb(c);
	cursor_skip(c, 5 * 4 * n);
}

/* What changed by function and by call; returns the number of functions that have a row. */
static uint64_t read_changes(struct cursor *c, uint64_t functions, uint64_t nodes)
{
	json_t *head = read_head(c);
	uint64_t rows, with_row = 0;

	assert_non_null(json_object_get(head, "totals"));
	json_decref(head);
	rows = cursor_uleb(c);
	assert_true(rows > 0);
	for (uint64_t i = 0; i < 4 * rows; i++)
		cursor_uleb(c);
	cursor_skip(c, 2 * 5 * 4 * rows);
	for (uint64_t i = 0; i < functions; i++) {
		uint64_t row = cursor_uleb(c);

		assert_true(row <= 2 * rows);
		with_row += row > 0;
	}
	assert_true(with_row >= rows);
	read_calls(c, nodes);
	return with_row;
}

static void a_comparison_has_its_base(void **state)
{
	static const struct profile_entry before[] = {
		{ 1, 0, NODE_LEAF, 3, 3 },
		{ 1, 1, NODE_LEAF, 1, 1 },
		{ 2, 0, NODE_SCRIPT, 8, 8 },
	};
	struct profile base = fixture;
	struct view_options o = { .base = &base, .normalize = true };
	struct page page;
	json_t *head, *diff;
	struct cursor *c, ahead;
	uint64_t n, functions, nodes;

	base.entries = before;
	base.entry_count = 3;
	page = render(&fixture, &o);
	c = &page.payload;
	head = read_head(c);
	diff = json_object_get(head, "diff");
	assert_true(json_is_true(json_object_get(diff, "normalize")));
	assert_true(json_is_false(json_object_get(diff, "safe")));
	skip_texts(c);
	ahead = *c;
	functions = cursor_uleb(&ahead);
	skip_columns(c, 5);
	ahead = *c;
	nodes = cursor_uleb(&ahead);
	skip_columns(c, 2);
	skip_columns(c, 3);
	skip_columns(c, 2);
	n = cursor_uleb(c);
	assert_int_equal(n, 2); /* the leaf's two slices are one */
	assert_true(cursor_uleb(c) < cursor_uleb(c));
	assert_int_equal(cursor_uleb(c) + cursor_uleb(c), 12);
	/* As it is, and by shares; commands are functions without a row. */
	n = read_changes(c, functions, nodes);
	assert_true(n < functions);
	assert_int_equal(read_changes(c, functions, nodes), n);
	assert_true(cursor_ok(c));
	assert_int_equal(cursor_uleb(c), 0); /* no function's code was asked for */
	assert_int_equal(cursor_left(c), 0);
	json_decref(head);
	page_release(&page);
}

/* The head of a page of one thread, whose samples are in three groups. */
static json_t *head_of_groups(struct profile *p, const struct profile_group groups[3],
			      const struct view_options *o)
{
	static const struct profile_entry entries[] = { { 0, 0, NODE_MAIN, 1, 1 },
							{ 1, 0, NODE_MAIN, 1, 1 },
							{ 2, 0, NODE_MAIN, 1, 1 } };
	static const struct profile_part parts[] = { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } };
	struct page page;
	json_t *head;

	p->groups = groups;
	p->group_count = COUNT(parts);
	p->entries = entries;
	p->entry_count = COUNT(entries);
	p->parts = parts;
	p->part_count = COUNT(parts);
	page = render(p, o);
	head = read_head(&page.payload);
	assert_int_equal(json_array_size(json_object_get(head, "threads")), 1);
	page_release(&page);
	return head;
}

static void each_state_is_a_source(void **state)
{
	static const struct profile_event events[] = {
		{ .kind = PRF_EVENT_ON_CPU, .name = "cpu-clock", .unit = "samples" },
		{ .kind = PRF_EVENT_OFF_CPU, .name = "off-cpu", .unit = "ns" },
		{ .kind = PRF_EVENT_PREEMPTED, .name = "preempted", .unit = "ns" },
	};
	struct profile_group groups[3] = { fixture_groups[1], fixture_groups[1],
					   fixture_groups[1] };
	struct profile p = fixture;
	struct view_options o = { 0 };
	json_t *head, *sources;

	groups[1].event = 1;
	groups[2].event = 2;
	p.events = events;
	p.event_count = COUNT(events);
	head = head_of_groups(&p, groups, &o);
	sources = json_object_get(head, "sources");
	assert_int_equal(json_array_size(sources), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(json_integer_value(json_array_get(json_array_get(sources, i), 1)),
				 i);
	json_decref(head);
}

/* How many threads ran tells sources apart, where it is known; `diff`: not in a comparison. */
static void check_running(unsigned int dimensions, bool diff, size_t count, int first, int last)
{
	struct profile_group groups[3] = { fixture_groups[1], fixture_groups[1],
					   fixture_groups[1] };
	struct profile p = fixture;
	struct view_options o = { .base = diff ? &fixture : NULL };
	json_t *head, *sources;

	groups[0].parallelism = 1;
	groups[1].parallelism = groups[2].parallelism = 8;
	p.dimensions = dimensions;
	head = head_of_groups(&p, groups, &o);
	sources = json_object_get(head, "sources");
	assert_int_equal(json_array_size(sources), count);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(sources, 0), 2)), first);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(sources, count - 1), 2)),
			 last);
	json_decref(head);
}

static void how_many_ran_is_a_source(void **state)
{
	check_running(PROFILE_BY_PARALLELISM, false, 2, 1, 8);
	check_running(0, false, 1, 0, 0);
	check_running(PROFILE_BY_PARALLELISM, true, 1, 0, 0);
}

static void an_empty_profile_is_a_page(void **state)
{
	struct view_options o = { 0 };
	struct page page = render(&fixture_empty, &o);
	json_t *head = read_head(&page.payload);

	assert_int_equal(head_number(head, "total"), 0);
	json_decref(head);
	page_release(&page);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_payload_adds_up),
	cmocka_unit_test(names_do_not_reach_the_markup),
	cmocka_unit_test(the_page_asks_for_nothing),
	cmocka_unit_test(a_comparison_has_its_base),
	cmocka_unit_test(each_state_is_a_source),
	cmocka_unit_test(how_many_ran_is_a_source),
	cmocka_unit_test(an_empty_profile_is_a_page),
};

UNIT_TESTS(tests);
