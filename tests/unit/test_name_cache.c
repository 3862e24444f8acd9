/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "report/symbols/name_cache.h"
#include "tests/unit/unit.h"

static char folder[] = "/tmp/prof-cache.XXXXXX";

static const struct name_cache_key key = {
	.build_id = { 0xab, 0xcd },
	.build_id_size = 2,
	.flags = 3,
	.identity = 7,
};

static const struct symbolizer_place places[] = {
	{ .function = "inner", .file = "a.h", .line = 3, .start_line = 1 },
	{ .function = "outer", .file = "a.c", .line = 30, .start_line = 20 },
	{ .function = "", .file = "", .line = 0, .start_line = 0 },
};

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void is_answer(const struct name_cache *c, uint64_t offset, uint32_t first, uint32_t n)
{
	uint32_t found = name_cache_find(c, offset);

	assert_int_not_equal(found, UINT32_MAX);
	assert_int_equal(name_cache_places(c, found), n);
	for (uint32_t i = 0; i < n; i++) {
		struct symbolizer_place place = name_cache_place(c, found, i);

		assert_string_equal(place.function, places[first + i].function);
		assert_string_equal(place.file, places[first + i].file);
		assert_int_equal(place.line, places[first + i].line);
		assert_int_equal(place.start_line, places[first + i].start_line);
	}
}

static void stored_and_merged(void **state)
{
	const struct name_cache_answer first[] = { { 0x10, places, 2 }, { 0x30, NULL, 0 } };
	const struct name_cache_answer second[] = { { 0x20, places + 1, 1 },
						    { 0x30, places, 1 },
						    { 0x40, places + 2, 1 } };
	struct name_cache_key other = key;
	struct name_cache c, none;

	assert_false(name_cache_open(&c, &key));
	name_cache_store(&key, NULL, first, 2);
	assert_true(name_cache_open(&c, &key));
	is_answer(&c, 0x10, 0, 2);
	is_answer(&c, 0x30, 0, 0);
	assert_int_equal(name_cache_find(&c, 0x20), UINT32_MAX);
	assert_int_equal(name_cache_find(&c, 0x31), UINT32_MAX);
	name_cache_store(&key, &c, second, 3);
	name_cache_release(&c);
	assert_true(name_cache_open(&c, &key));
	assert_int_equal(c.offset_count, 4);
	is_answer(&c, 0x10, 0, 2);
	is_answer(&c, 0x20, 1, 1);
	is_answer(&c, 0x30, 0, 1);
	is_answer(&c, 0x40, 2, 1);
	name_cache_release(&c);
	/* Other files, other options. */
	other.identity = 8;
	assert_false(name_cache_open(&none, &other));
	other = key;
	other.flags = 1;
	assert_false(name_cache_open(&none, &other));
	name_cache_trim();
	assert_true(name_cache_open(&c, &key));
	name_cache_release(&c);
}

static void damaged(void **state)
{
	const struct name_cache_answer answers[] = { { 0x10, places, 2 } };
	char path[256];
	uint8_t data[1024];
	struct name_cache c;
	size_t size;
	FILE *f;

	name_cache_store(&key, NULL, answers, 1);
	snprintf(path, sizeof(path), "%s/prof/abcd-03", folder);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_true(size > 48 && size < sizeof(data));
	c = (struct name_cache){ 0 };
	assert_true(name_cache_open_memory(&c, &key, data, size));
	for (size_t i = 0; i < size; i++) {
		data[i] ^= 0x20;
		c = (struct name_cache){ 0 };
		/* Four bytes before the checksum mean nothing, but count for it. */
		assert_false(name_cache_open_memory(&c, &key, data, size));
		data[i] ^= 0x20;
	}
	for (size_t i = 0; i < size; i++) {
		c = (struct name_cache){ 0 };
		assert_false(name_cache_open_memory(&c, &key, data, i));
	}
}

/* What was used last stays. */
static void trimmed(void **state)
{
	const struct name_cache_answer answers[] = { { 0x10, places, 2 } };
	char path[256];
	struct name_cache c;
	struct stat st;

	for (int i = 0; i < 3; i++) {
		const struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
		FILE *f;

		snprintf(path, sizeof(path), "%s/prof/big%d", folder, i);
		f = fopen(path, "wb");
		assert_non_null(f);
		/* Holes take no room. */
		assert_int_equal(ftruncate(fileno(f), (off_t)100 << 20), 0);
		assert_int_equal(futimens(fileno(f), times), 0);
		fclose(f);
	}
	name_cache_store(&key, NULL, answers, 1);
	name_cache_trim();
	assert_true(name_cache_open(&c, &key));
	name_cache_release(&c);
	assert_int_equal(stat(path, &st), 0);
	snprintf(path, sizeof(path), "%s/prof/big0", folder);
	assert_int_not_equal(stat(path, &st), 0);
}

/* What another user may have written has any names in it. */
static void of_others(void **state)
{
	const struct name_cache_answer answer = { 0x10, places, 2 };
	struct name_cache c;
	char path[128];

	name_cache_store(&key, NULL, &answer, 1);
	snprintf(path, sizeof(path), "%s/prof/abcd-03", folder);
	assert_true(name_cache_open(&c, &key));
	name_cache_release(&c);
	assert_int_equal(chmod(path, 0622), 0);
	assert_false(name_cache_open(&c, &key));
	assert_int_equal(chmod(path, 0600), 0);
	if (geteuid())
		skip();
	assert_int_equal(chown(path, 1234, 1234), 0);
	assert_false(name_cache_open(&c, &key));
	unlink(path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(stored_and_merged),
	cmocka_unit_test(damaged),
	cmocka_unit_test(of_others),
	cmocka_unit_test(trimmed),
};

UNIT_TESTS(tests, .setup = set_up, .teardown = tear_down);
