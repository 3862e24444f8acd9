/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format/fields.h"
#include "format/records.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#define DEFINED 3 /* objects or frames */

/* A payload of one record: the record of `type` with the text of all its fields. */
static void encode(uint32_t type, struct buffer *record)
{
	const struct prf_loss loss = { 5, 9, 1, PRF_LOSS_RING_FULL, 17 };
	const struct prf_symbol symbols[2] = { { 0x90, 0x20, "a" }, { 0xb0, 0, "b" } };
	const struct prf_place places[2] = { { "in", "a.c", 10, 5 }, { "out", "", 0, 0 } };

	const struct prf_code_line lines[2] = { { 0x1000, "in", "a.c", 10 },
						{ 0x1001, "", "", 0 } };
	const struct prf_code_symbol refers[1] = { { 0x2000, 3, "table" } };
	const struct prf_code code = { .object = 2,
				       .offset = 0x100,
				       .address = 0x1000,
				       .machine = 62,
				       .name = "work",
				       .bytes = (const uint8_t *)"\x90\0\xc3",
				       .size = 3,
				       .lines = lines,
				       .line_count = 2,
				       .symbols = refers,
				       .symbol_count = 1 };
	static const char *const text[2] = { "int x;", "" };
	const struct prf_source source = { "a.c", 10, text, 2 };

	switch (type) {
	case WIRE_CODE: code_encode(record, &code); break;
	case WIRE_SOURCES: source_encode(record, &source); break;
	case WIRE_LOSSES: loss_encode(record, &loss); break;
	case WIRE_SYMBOLS: symbols_encode(record, 2, symbols, 2); break;
	case WIRE_NAMES: names_encode(record, 2, places, 2); break;
	case WIRE_METADATA: metadata_encode(record, "host", "box"); break;
	default: statistic_encode(record, "fired", 300);
	}
}

static struct error *decode(uint32_t type, const struct buffer *record)
{
	struct records records = { 0 };
	struct buffer payload = { 0 };
	struct prf_record found;
	struct error *error;
	struct tables t;

	tables_init(&t);
	t.lost_allowed = 100;
	if (type == WIRE_SYMBOLS || type == WIRE_NAMES || type == WIRE_CODE)
		buffer_uleb(&payload, DEFINED);
	record_encode(&payload, record);
	error = records_decode(&records, type, &t, cursor_over(payload.data, payload.size));
	if (!error)
		error = records_next(&records, &t, &found);
	/* After a broken record nothing is taken. */
	assert_false(records_left(&records));
	records_release(&records);
	tables_release(&t);
	buffer_release(&payload);
	return error;
}

static void test_each_beginning_is_refused(void **state)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = { { WIRE_LOSSES, "losses" },	 { WIRE_SYMBOLS, "symbols" },
		      { WIRE_NAMES, "names" },		 { WIRE_METADATA, "metadata" },
		      { WIRE_STATISTICS, "statistics" }, { WIRE_CODE, "code" },
		      { WIRE_SOURCES, "sources" } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const uint32_t type = types[i].type;
		struct buffer record = { 0 };
		char begins[64];
		size_t size;

		encode(type, &record);
		assert_no_error(decode(type, &record));
		size = record.size;
		snprintf(begins, sizeof(begins), "record 0 of %s: it ", types[i].name);
		for (record.size = 0; record.size < size; record.size++) {
			struct error *error = decode(type, &record);

			assert_non_null(error);
			assert_memory_equal(error->text, begins, strlen(begins));
			assert_error_kind(error, ERROR_CORRUPT);
		}
		buffer_text(&record, "a field of a later version");
		assert_no_error(decode(type, &record));
		buffer_release(&record);
	}
}

static void refused(uint32_t type, const struct buffer *record, const char *text)
{
	assert_error(decode(type, record), ERROR_CORRUPT, text);
}

/* A good record of which one byte is changed. */
static void refused_with(uint32_t type, size_t at, uint8_t byte, const char *text)
{
	struct buffer record = { 0 };

	encode(type, &record);
	record.data[at] = byte;
	refused(type, &record, text);
	buffer_release(&record);
}

/* The bytes `before`, a number, and the bytes `after`. */
struct around {
	const char *before;
	size_t before_size;
	uint64_t number;
	const char *after;
	size_t after_size;
};

static void refused_around(uint32_t type, const struct around *a, const char *text)
{
	struct buffer record = { 0 };

	buffer_append(&record, a->before, a->before_size);
	buffer_uleb(&record, a->number);
	buffer_append(&record, a->after, a->after_size);
	refused(type, &record, text);
	buffer_release(&record);
}

/* Counts and distances of code that its bytes do not justify. */
static void test_wrong_code(void **state)
{
	refused_with(WIRE_CODE, 0, DEFINED, "record 0 of code: its object is 3, but 3 are defined");
	refused_with(WIRE_CODE, 1, 100, "record 0 of code: it has 100 entries in 38 bytes");
	refused_with(WIRE_CODE, 2, 100, "record 0 of code: it has 100 symbols in 37 bytes");
	refused_around(WIRE_CODE,
		       &(struct around){ "\2\2\0\0\0\0f\0\0\1\0\0\0", 13, UINT64_MAX, "\0\0\0", 3 },
		       "record 0 of code: it does not hold all fields");
	refused_with(WIRE_SOURCES, 5, 100, "record 0 of sources: it has 100 lines in 8 bytes");
}

static void test_one_wrong_field(void **state)
{
	refused_with(WIRE_SYMBOLS, 0, DEFINED,
		     "record 0 of symbols: its object is 3, but 3 are defined");
	refused_with(WIRE_SYMBOLS, 1, 5, "record 0 of symbols: it has 5 entries in 9 bytes");
	refused_around(WIRE_SYMBOLS, &(struct around){ "\2\2\1\1a", 6, UINT64_MAX, "\1b", 3 },
		       "record 0 of symbols: it has a symbol that starts beyond 2^64");
	refused_with(WIRE_NAMES, 0, DEFINED,
		     "record 0 of names: its frame is 3, but 3 are defined");
	refused_around(WIRE_NAMES,
		       &(struct around){ "\2\1f\0c", 6, (uint64_t)UINT32_MAX + 1, "", 1 },
		       "record 0 of names: it does not hold all fields");
}

static void test_reasons_that_are_not_known(void **state)
{
	static const struct {
		uint64_t written;
		enum prf_loss_reason read;
	} reasons[] = { { 4, PRF_LOSS_NESTED },
			{ 5, PRF_LOSS_OTHER },
			{ 6, PRF_LOSS_SKIPPED },
			{ PRF_LOSS_COUNT, PRF_LOSS_OTHER },
			{ UINT64_MAX, PRF_LOSS_OTHER } };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct buffer record = { 0 }, payload = { 0 };
		struct records records = { 0 };
		struct prf_record found;
		struct tables t;

		tables_init(&t);
		buffer_uleb(&record, reasons[i].written);
		buffer_append(&record, "\1\5\4\21", 4);
		record_encode(&payload, &record);
		assert_no_error(records_decode(&records, WIRE_LOSSES, &t,
					       cursor_over(payload.data, payload.size)));
		assert_no_error(records_next(&records, &t, &found));
		assert_int_equal(found.loss.reason, reasons[i].read);
		assert_int_equal(found.loss.count, 17);
		records_release(&records);
		tables_release(&t);
		buffer_release(&record);
		buffer_release(&payload);
	}
}

static void test_counts(void **state)
{
	struct records records = { 0 };
	struct tables t;

	tables_init(&t);
	t.lost_allowed = 100;
	assert_error(records_decode(&records, WIRE_NAMES, &t, cursor_over(NULL, 0)), ERROR_CORRUPT,
		     "the number of objects or frames is missing");
	assert_error(records_decode(&records, WIRE_NAMES, &t, cursor_over("\x65", 1)),
		     ERROR_CORRUPT,
		     "101 frames are missing, more than so short a trace could have");
	assert_no_error(records_decode(&records, WIRE_METADATA, &t, cursor_over("\x65", 1)));
	tables_release(&t);
}

/* Of two records the second is too long: the first was handed out, the error counts. */
static void test_later_records(void **state)
{
	struct buffer record = { 0 }, payload = { 0 };
	struct records records = { 0 };
	struct prf_record found;
	struct tables t;

	tables_init(&t);
	encode(WIRE_STATISTICS, &record);
	record_encode(&payload, &record);
	buffer_uleb(&payload, 9);
	assert_no_error(records_decode(&records, WIRE_STATISTICS, &t,
				       cursor_over(payload.data, payload.size)));
	assert_no_error(records_next(&records, &t, &found));
	assert_int_equal(found.statistic.value, 300);
	assert_error(records_next(&records, &t, &found), ERROR_CORRUPT,
		     "record 1 of statistics: it is longer than the block");
	assert_false(records_left(&records));
	tables_release(&t);
	buffer_release(&record);
	buffer_release(&payload);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_each_beginning_is_refused),
	cmocka_unit_test(test_wrong_code),
	cmocka_unit_test(test_one_wrong_field),
	cmocka_unit_test(test_reasons_that_are_not_known),
	cmocka_unit_test(test_counts),
	cmocka_unit_test(test_later_records),
};

UNIT_TESTS(tests);
