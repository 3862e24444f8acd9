/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/block.h"
#include "format/header.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

struct made {
	struct buffer bytes;
	struct block_header header;
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

static void make(struct made *m, int level, uint16_t type, const void *raw, size_t size)
{
	struct payload p = { .type = type };

	*m = (struct made){ .compress = ZSTD_createCCtx() };
	buffer_append(&p.raw, raw, size);
	assert_no_error(block_encode(
		&m->bytes, &p, &(struct block_options){ m->compress, level, .sequence = 77 }));
	payload_release(&p);
	assert_true(block_header_decode(m->bytes.data, &m->header));
	assert_int_equal(m->bytes.size, WIRE_BLOCK_HEADER_SIZE + m->header.stored_size);
}

static void release(struct made *m)
{
	buffer_release(&m->bytes);
	ZSTD_freeCCtx(m->compress);
	ZSTD_freeDCtx(m->decompress);
}

static void test_round_trip(void **state)
{
	char text[4000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)("abcdefgh"[i % 8] + i / 500);
	for (int level = 0; level < 4; level++) {
		struct made m;
		struct buffer room = { 0 };
		const uint8_t *raw, *stored;

		make(&m, level, WIRE_OBJECTS, text, sizeof(text));
		stored = m.bytes.data + WIRE_BLOCK_HEADER_SIZE;
		assert_int_equal(m.header.sequence, 77);
		assert_int_equal(m.header.type, WIRE_OBJECTS);
		assert_int_equal(m.header.flags, level ? WIRE_FLAG_ZSTD : 0);
		assert_no_error(block_header_check(&m.header));
		assert_true(block_payload_intact(&m.header, stored));
		assert_no_error(block_decompress(&m.header, &m.decompress, stored, &room, &raw));
		assert_memory_equal(raw, text, sizeof(text));
		/* Made for payloads that need it only. */
		assert_true(!m.decompress == !level);
		buffer_release(&room);
		release(&m);
	}
}

/* What compresses better than the format allows is stored as it is, and so can be read. */
static void test_ratio(void **state)
{
	static const uint8_t zeros[100000];
	struct made m;

	make(&m, 3, WIRE_STACKS, zeros, sizeof(zeros));
	assert_int_equal(m.header.flags, 0);
	assert_no_error(block_header_check(&m.header));
	m.header.flags = WIRE_FLAG_ZSTD;
	m.header.stored_size = 20;
	assert_error(block_header_check(&m.header), ERROR_CORRUPT,
		     "20 stored bytes claim to expand to 100000");
	release(&m);
}

static void test_header_rules(void **state)
{
	struct block_header good = { .type = WIRE_TASKS, .stored_size = 5, .raw_size = 5 },
			    h = good;

	assert_no_error(block_header_check(&h));
	h.raw_size = 6;
	assert_error(block_header_check(&h), ERROR_CORRUPT,
		     "stored size 5 differs from raw size 6 without compression");
	h = good, h.stored_size = h.raw_size = UINT32_MAX;
	assert_error(block_header_check(&h), ERROR_CORRUPT,
		     "stored size 4294967295 or raw size 4294967295 is above the limit");
	h = good, h.stored_size = h.raw_size = WIRE_RAW_MAX;
	assert_no_error(block_header_check(&h));
	h = good, h.flags = 0x8000;
	assert_no_error(block_header_check(&h));
	h = good, h.flags = 0x0004;
	assert_error(block_header_check(&h), ERROR_UNSUPPORTED,
		     "block flags 0x4, which this version does not know");
	for (unsigned int bit = 2; bit < 8; bit++) {
		h = good, h.flags = (uint16_t)(1 << bit);
		assert_error_kind(block_header_check(&h), ERROR_UNSUPPORTED);
	}
}

static void test_flips(void **state)
{
	struct made m;
	struct block_header h;

	make(&m, 0, WIRE_TASKS, "payload", 7);
	for (size_t i = 0; i < WIRE_BLOCK_HEADER_SIZE; i++) {
		m.bytes.data[i] ^= 1;
		assert_false(block_header_decode(m.bytes.data, &h));
		m.bytes.data[i] ^= 1;
	}
	m.bytes.data[WIRE_BLOCK_HEADER_SIZE + 3] ^= 0x80;
	assert_false(block_payload_intact(&m.header, m.bytes.data + WIRE_BLOCK_HEADER_SIZE));
	release(&m);
}

static void test_file_header(void **state)
{
	uint8_t bytes[WIRE_HEADER_SIZE];
	unsigned int major, minor;

	header_encode(bytes);
	assert_no_error(header_decode(bytes, sizeof(bytes), &major, &minor));
	assert_int_equal(major, PRF_VERSION_MAJOR);
	assert_int_equal(minor, PRF_VERSION_MINOR);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 4;
		assert_error_kind(header_decode(bytes, sizeof(bytes), &major, &minor),
				  i < WIRE_MAGIC_SIZE ? ERROR_NOT_A_TRACE : ERROR_CORRUPT);
		bytes[i] ^= 4;
	}
	for (size_t size = 0; size < sizeof(bytes); size++)
		assert_error_kind(header_decode(bytes, size, &major, &minor),
				  size ? ERROR_TRUNCATED : ERROR_NOT_A_TRACE);
}

static void test_type_names(void **state)
{
	for (uint32_t type = 1; type < WIRE_TYPES; type++)
		assert_string_not_equal(block_type_name(type), "unknown");
	assert_string_equal(block_type_name(0), "unknown");
	assert_string_equal(block_type_name(WIRE_TYPES), "unknown");
	assert_string_equal(block_type_name(UINT32_MAX), "unknown");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_ratio),
	cmocka_unit_test(test_header_rules), cmocka_unit_test(test_flips),
	cmocka_unit_test(test_file_header),  cmocka_unit_test(test_type_names),
};

UNIT_TESTS(tests);
