/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/perf_map.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const struct write_times unseen;
static const struct perf_map_source nothing = { .times = &unseen };

static const char *name_at(struct code_map *map, uint64_t address)
{
	uint32_t symbol;

	if (code_map_find(map, address, 1, &symbol) != CODE_KNOWN)
		return "none";
	return code_map_name(map, &map->symbols[symbol]);
}

static size_t parse(struct code_map *map, const char *text)
{
	return perf_map_parse(map, &nothing, text, strlen(text));
}

static void lines(void **state)
{
	struct code_map map = { 0 };
	const char *text =
		"7f0010 20 LazyCompile:*f /a b.js:1\n0x8000 0x10 py::g:<x.py>\n9000 10 cut";

	assert_int_equal(parse(&map, text), strlen(text) - strlen("9000 10 cut"));
	assert_string_equal(name_at(&map, 0x7f0020), "LazyCompile:*f /a b.js:1");
	assert_string_equal(name_at(&map, 0x8000), "py::g:<x.py>");
	assert_string_equal(name_at(&map, 0x9000), "none");
	code_map_release(&map);
}

static void nonsense_is_passed_over(void **state)
{
	struct code_map map = { 0 };

	parse(&map, "\n \nxyz\n10\n10 \n10 20\n 10 20 a\n10 zz a\n10  20 a\n"
		    "123456789abcdef01 10 a\n10 123456789abcdef01 a\n0 10 a\n10 0 a\n0x 10 a\n");
	assert_int_equal(map.n, 0);
	parse(&map, "40 4 windows\r\n");
	assert_string_equal(name_at(&map, 0x40), "windows");
	/* It has no name, and is there. */
	parse(&map, "40 4 \n");
	assert_string_equal(name_at(&map, 0x40), "none");
	code_map_release(&map);
}

static void endless_line_does_not_stay(void **state)
{
	struct code_map map = { 0 };
	size_t size = 1 << 20;
	char *text = malloc(size);

	assert_non_null(text);
	memset(text, 'a', size);
	assert_int_equal(perf_map_parse(&map, &nothing, text, size), size);
	assert_int_equal(perf_map_parse(&map, &nothing, text, 100), 0);
	text[size - 1] = '\n';
	memcpy(text, "10 20 ", 6);
	assert_int_equal(perf_map_parse(&map, &nothing, text, size), size);
	assert_int_equal(strlen(name_at(&map, 0x10)), CODE_MAP_MAX_NAME);
	free(text);
	code_map_release(&map);
}

/* Each line's code came when the line was written. */
static void times_of_lines(void **state)
{
	const char *text = "1000 10 one\n2000 10 two\n3000 10 three\n";
	struct write_times times = { 0 };
	const struct perf_map_source source = { .times = &times, .offset = 100 };
	struct code_map map = { 0 };

	write_times_add(&times, (struct write_look){ .begin_ns = 8, .end_ns = 10, .size = 100 });
	write_times_add(&times, (struct write_look){ .begin_ns = 18, .end_ns = 20, .size = 112 });
	write_times_add(&times, (struct write_look){ .begin_ns = 28, .end_ns = 30, .size = 138 });
	perf_map_parse(&map, &source, text, strlen(text));
	assert_int_equal(map.n, 3);
	assert_int_equal(map.symbols[0].piece.after, 8);
	assert_int_equal(map.symbols[0].piece.by, 20);
	assert_int_equal(map.symbols[1].piece.after, 18);
	assert_int_equal(map.symbols[1].piece.by, 30);
	assert_int_equal(map.symbols[2].piece.by, 30);
	write_times_release(&times);
	code_map_release(&map);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lines),
	cmocka_unit_test(nonsense_is_passed_over),
	cmocka_unit_test(endless_line_does_not_stay),
	cmocka_unit_test(times_of_lines),
};

UNIT_TESTS(tests);
