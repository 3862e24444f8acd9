/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jitdump.h"
#include "tests/unit/unit.h"

#include "common/buffer.h"
#include "common/limits.h"

#include <stdlib.h>
#include <string.h>

static const struct write_times times;

static void header(struct buffer *b)
{
	buffer_u32(b, 0x4a695444);
	buffer_u32(b, 1);
	buffer_u32(b, 40);
	buffer_u32(b, 62); /* x86-64 */
	buffer_u32(b, 0);
	buffer_u32(b, 4242);
	buffer_u64(b, 1000);
	buffer_u64(b, 0);
}

static void load(struct buffer *b, uint64_t address, uint32_t size, uint64_t index,
		 const char *name)
{
	buffer_u32(b, 0);
	buffer_u32(b, 16 + 40 + (uint32_t)strlen(name) + 1 + size);
	buffer_u64(b, 2000);
	buffer_u32(b, 4242);
	buffer_u32(b, 4242);
	buffer_u64(b, address);
	buffer_u64(b, address);
	buffer_u64(b, size);
	buffer_u64(b, index);
	buffer_append(b, name, strlen(name) + 1);
	memset(buffer_extend(b, size), 0xcc, size);
}

static void move(struct buffer *b, uint64_t from, uint64_t to, uint32_t size, uint64_t index)
{
	buffer_u32(b, 1);
	buffer_u32(b, 16 + 48);
	buffer_u64(b, 3000);
	buffer_u32(b, 4242);
	buffer_u32(b, 4242);
	buffer_u64(b, to);
	buffer_u64(b, from);
	buffer_u64(b, to);
	buffer_u64(b, size);
	buffer_u64(b, index);
}

static void other(struct buffer *b, uint32_t kind, uint32_t size)
{
	buffer_u32(b, kind);
	buffer_u32(b, 16 + size);
	buffer_u64(b, 2500);
	memset(buffer_extend(b, size), 0, size);
}

static void trace(struct buffer *b)
{
	header(b);
	load(b, 0x1000, 100, 1, "one");
	other(b, 2, 5000);
	load(b, 0x2000, 3000, 2, "two");
	move(b, 0x2000, 0x8000, 3000, 2);
	load(b, 0x9000, 100, 3, "gone");
	/* Of what it does not say. */
	move(b, 0x2000, 0x9000, 3000, 77);
	other(b, 3, 0);
	assert_true(buffer_ok(b));
}

/* What was at an address at a time. */
static const char *at(const struct code_map *map, uint64_t address, uint64_t time_ns)
{
	uint32_t symbol;

	if (code_map_find(map, address, time_ns, &symbol) != CODE_KNOWN)
		return "none";
	return code_map_name(map, &map->symbols[symbol]);
}

static void check(struct code_map *map)
{
	assert_int_equal(map->n, 5);
	assert_string_equal(at(map, 0x1063, 2000), "one");
	assert_string_equal(at(map, 0x1064, 2000), "none");
	assert_string_equal(at(map, 0x2000, 2000), "two");
	assert_string_equal(at(map, 0x2000, 1999), "none");
	assert_string_equal(at(map, 0x8bb7, 3000), "two");
	assert_string_equal(at(map, 0x8bb7, 2999), "none");
	assert_string_equal(at(map, 0x9000, 2999), "gone");
	assert_string_equal(at(map, 0x9000, 3001), "none");
}

/* Of a dump that arrives in pieces of `step` bytes. */
static void parse_in_steps(const struct buffer *b, size_t step)
{
	struct code_map map = { 0 };
	struct jitdump dump = { 0 };
	size_t done = 0;

	for (size_t have = 0; have <= b->size; have += step)
		done += jitdump_parse(&dump, &map, &times, b->data + done, have - done);
	done += jitdump_parse(&dump, &map, &times, b->data + done, b->size - done);
	assert_int_equal(done, b->size);
	check(&map);
	jitdump_release(&dump);
	code_map_release(&map);
}

/* Numbers of code that is there already: they are limited as symbols are. */
static void numbers_without_end(void **state)
{
	struct jitdump dump = { 0 };
	struct code_map map = { 0 };
	struct buffer b = { 0 };
	uint64_t index = 0;

	header(&b);
	assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	while (index < LIMIT_JIT_FUNCTIONS + 1000) {
		b.size = 0;
		for (int i = 0; i < 1000; i++)
			load(&b, 0x1000, 1, index++, "one");
		assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	}
	assert_int_equal(map.n, 1);
	assert_int_equal(dump.names.count, LIMIT_JIT_FUNCTIONS);
	/* What is known of those that fit stays so. */
	b.size = 0;
	move(&b, 0x1000, 0x5000, 1, 7);
	move(&b, 0x1000, 0x6000, 1, index - 1);
	assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	assert_string_equal(at(&map, 0x5000, 4000), "one");
	assert_string_equal(at(&map, 0x6000, 4000), "none");
	jitdump_release(&dump);
	code_map_release(&map);
	buffer_release(&b);
}

/* However the bytes arrive, at once or piece by piece, the symbols are the same. */
static void at_once_and_piece_by_piece(void **state)
{
	struct buffer b = { 0 };

	trace(&b);
	parse_in_steps(&b, b.size + 1);
	for (size_t step = 1; step < 200; step += 13)
		parse_in_steps(&b, step);
	buffer_release(&b);
}

static void not_a_dump(void **state)
{
	struct code_map map = { 0 };
	struct jitdump dump = { 0 };
	uint8_t bytes[64] = { 'D', 'T', 'i', 'X' };

	assert_int_equal(jitdump_parse(&dump, &map, &times, bytes, sizeof(bytes)), sizeof(bytes));
	assert_true(dump.broken);
	jitdump_release(&dump);
}

static void record_without_size(void **state)
{
	struct code_map map = { 0 };
	struct jitdump dump = { 0 };
	struct buffer b = { 0 };

	header(&b);
	for (int i = 0; i < 4; i++)
		buffer_u32(&b, 0);
	assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	assert_true(dump.broken);
	/* Or all that comes later would be kept for ever. */
	assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	jitdump_release(&dump);
	buffer_release(&b);
}

/* A time after the record was seen is not used: then the time of the bytes counts. */
static void times_that_cannot_be(void **state)
{
	struct write_times looked = { 0 };
	struct code_map map = { 0 };
	struct jitdump dump = { 0 };
	struct buffer b = { 0 };

	header(&b);
	load(&b, 0x1000, 100, 1, "one");
	write_times_add(&looked,
			(struct write_look){ .begin_ns = 1000, .end_ns = 1010, .size = 1 });
	write_times_add(&looked,
			(struct write_look){ .begin_ns = 1490, .end_ns = 1500, .size = b.size });
	jitdump_parse(&dump, &map, &looked, b.data, b.size);
	assert_int_equal(map.symbols[0].piece.after, 1000);
	assert_int_equal(map.symbols[0].piece.by, 1500);
	assert_false(map.symbols[0].piece.exact);
	assert_int_equal(dump.time_ns, 0);
	write_times_release(&looked);
	jitdump_release(&dump);
	code_map_release(&map);
	buffer_release(&b);
}

/* They take memory like the names of all processes. */
static void numbers_of_all_processes(void **state)
{
	struct shares shares = { .limit = LIMIT_JIT_BYTES };
	struct code_map map = { .shares = &shares };
	struct jitdump dump = { 0 };
	struct buffer b = { 0 };

	shares_take(&shares, 0, LIMIT_JIT_BYTES - 20000);
	header(&b);
	for (uint64_t index = 0; index < 1000; index++)
		load(&b, 0x1000, 1, index, "one");
	assert_int_equal(jitdump_parse(&dump, &map, &times, b.data, b.size), b.size);
	assert_in_range(dump.names.count, 50, 10000 / 40);
	assert_true(map.crowded);
	jitdump_release(&dump);
	code_map_release(&map);
	assert_int_equal(shares.taken, LIMIT_JIT_BYTES - 20000);
	shares_release(&shares);
	buffer_release(&b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers_of_all_processes),   cmocka_unit_test(numbers_without_end),
	cmocka_unit_test(at_once_and_piece_by_piece), cmocka_unit_test(not_a_dump),
	cmocka_unit_test(record_without_size),	      cmocka_unit_test(times_that_cannot_be),
};

UNIT_TESTS(tests);
