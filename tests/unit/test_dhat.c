/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "bench/measure/dhat.h"
#include "tests/unit/unit.h"

static void test_counts_and_sites(void **state)
{
	struct dhat d = { 0 };

	assert_null(dhat_parse(
		&d, "{\"dhatFileVersion\": 2, \"pps\": ["
		    "{\"tb\": 100, \"tbk\": 2, \"gb\": 5, \"gbk\": 1, \"eb\": 0, \"ebk\": 0, "
		    "\"fs\": [1, 2, 4]},"
		    "{\"tb\": 7, \"tbk\": 1, \"gb\": 7, \"gbk\": 1, \"eb\": 7, \"ebk\": 1, "
		    "\"fs\": [1, 3, 99, -1, 4]},"
		    "{\"tb\": 1, \"tbk\": 1, \"gb\": 0, \"gbk\": 0, \"eb\": 0, \"ebk\": 0, "
		    "\"fs\": [\"text\"]}],"
		    "\"ftbl\": [5, \"0x48: malloc (vg_replace_malloc.c:381)\", "
		    "\"0x10: make_node (tree.c:7)\", \"0x11: std::map<int, char (*)(int)>::add "
		    "(m.h:3)\", "
		    "\"0x12: main (tree.c:70)\"]}"));
	assert_true(d.counts.total_bytes == 108 && d.counts.total_blocks == 4);
	assert_true(d.counts.peak_bytes == 12 && d.counts.peak_blocks == 2);
	assert_true(d.counts.end_bytes == 7 && d.counts.end_blocks == 1);
	/* The one with the most at the peak is first; what is no frame is left out. */
	assert_int_equal(d.site_count, 3);
	assert_true(d.sites[0].counts.peak_bytes == 7);
	assert_string_equal(d.sites[0].stack, "std::map<int, char (*)(int)>::add < main");
	assert_string_equal(d.sites[1].stack, "make_node < main");
	assert_string_equal(d.sites[2].stack, "[unknown]");
	dhat_release(&d);
}

static void test_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[1]",
		"{\"pps\": 1}",
		"{\"pps\": [",
		"{\"pps\": [1]}",
		"{\"pps\": [{\"tb\": 1, \"tbk\": 1, \"gb\": 1, \"gbk\": 1, \"eb\": 1}]}",
		("{\"pps\": [{\"tb\": 1, \"tbk\": 1, \"gb\": 1, \"gbk\": 1, \"eb\": 1, "
		 "\"ebk\": null}]}"),
	};
	struct dhat d = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *error = dhat_parse(&d, bad[i]);

		assert_non_null(error);
		assert_int_equal(error->kind, ERROR_CORRUPT);
		error_free(error);
		assert_int_equal(d.site_count, 0);
	}
	assert_null(dhat_parse(&d, "{\"pps\": []}"));
	assert_true(d.counts.total_bytes == 0);
	dhat_release(&d);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_counts_and_sites),
	cmocka_unit_test(test_what_is_none),
};

UNIT_TESTS(tests);
