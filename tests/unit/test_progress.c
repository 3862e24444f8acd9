/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/progress.h"
#include "tests/unit/terminal.h"

#define HOUR_NS UINT64_C(3600000000000)

static void parts_are_shown(void **state)
{
	struct progress_parts p;
	struct terminal t;

	terminal_open(&t);
	progress_first_ns = 0;
	progress_parts_init(&p);
	progress_parts_show(&p, "files", 1, 4);
	terminal_expect(&t, "finding names: files, 1 of 4");
	progress_parts_show(&p, "tables", 2, 8);
	terminal_expect(&t, "finding names: tables, 2 of 8");
	t.size = 0;
	memset(t.text, 0, sizeof(t.text));
	progress_parts_end(&p);
	terminal_expect(&t, "\r\033[K");
	terminal_close(&t);
}

/* What is done at once leaves nothing on the terminal, and neither does what is to be quiet. */
static void short_work_is_silent(void **state)
{
	struct progress_parts p;
	struct terminal t;

	terminal_open(&t);
	progress_first_ns = HOUR_NS;
	progress_parts_init(&p);
	for (int i = 0; i < 3; i++) {
		progress_parts_show(&p, "files", 0, 4);
		progress_parts_end(&p);
	}
	progress_parts_end(&p);
	progress_silence();
	progress_parts_init(&p);
	progress_parts_show(&p, "files", 0, 4);
	assert_false(p.runs);
	progress_parts_end(&p);
	assert_int_equal(write(STDERR_FILENO, ".", 1), 1);
	terminal_expect(&t, ".");
	terminal_close(&t);
	assert_string_equal(t.text, ".");
}

/* What is counted needs no file, and a pass that is added goes on where the one before ended. */
static void counts_are_shown(void **state)
{
	struct progress p;
	struct terminal t;

	terminal_open(&t);
	progress_first_ns = 0;
	progress_begin(&p, "looking");
	p.size = 200;
	p.read = 100;
	progress_show(&p, 20);
	terminal_expect(&t, "looking: 60 %, 0 s left");
	progress_end(&p);
	terminal_expect(&t, "\r\033[K");
	terminal_close(&t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(counts_are_shown),
	cmocka_unit_test(parts_are_shown),
	cmocka_unit_test(short_work_is_silent),
};

UNIT_TESTS(tests);
