/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/target_blocks.h"
#include "tests/unit/unit.h"

#include <string.h>

#define PAGE 4096

/* Two pages from PAGE on, and half of a third one; each byte is `value`. */
struct memory {
	unsigned int reads;
	int value;
};

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	struct memory *m = context;

	m->reads++;
	if (address < PAGE || address + size > 3 * PAGE + PAGE / 2)
		return false;
	memset(bytes, m->value, size);
	return true;
}

static void test_blocks(void **state)
{
	struct memory m = { 0, 7 };
	const struct target_memory memory = { read_memory, &m };
	struct target_blocks *b = target_blocks_new(&memory);
	struct target_memory cached = target_blocks_memory(b);
	uint8_t bytes[PAGE];
	uint64_t word;

	assert_true(target_read(&cached, PAGE + 100, bytes, 10));
	assert_true(target_read(&cached, PAGE, bytes, PAGE));
	assert_true(target_u64(&cached, 2 * PAGE - 8, &word));
	assert_int_equal(m.reads, 1);
	assert_int_equal(word, 0x0707070707070707);
	/* What lies in two blocks, or in one that is not there as a whole, is read as it is. */
	assert_true(target_u64(&cached, 2 * PAGE - 4, &word));
	assert_int_equal(m.reads, 2);
	assert_true(target_u64(&cached, 3 * PAGE + 8, &word));
	assert_int_equal(m.reads, 4);
	assert_false(target_u64(&cached, 3 * PAGE + PAGE / 2, &word));
	assert_false(target_u64(&cached, 8, &word));
	/* Until it is emptied it does not change. */
	m.value = 9;
	assert_true(target_read(&cached, PAGE + 100, bytes, 1) && bytes[0] == 7);
	target_blocks_empty(b);
	assert_true(target_read(&cached, PAGE + 100, bytes, 1) && bytes[0] == 9);
	target_blocks_free(b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_blocks),
};

UNIT_TESTS(tests);
