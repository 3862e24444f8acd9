/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/options.h"
#include "report/view_registry.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Parses "a b c"; the text must stay as long as the options. */
static enum options_result parse(struct report_options *o, char *text)
{
	char *argv[32] = { (char *)"prof-report" };
	int argc = 1;

	for (char *one = strtok(text, " "); one; one = strtok(NULL, " "))
		argv[argc++] = one;
	return report_options_parse(o, argc, argv);
}

static void test_nothing(void **state)
{
	char text[] = "";
	struct report_options o;

	assert_int_equal(parse(&o, text), OPTIONS_OK);
	assert_int_equal(o.action, REPORT_VIEW);
	assert_string_equal(o.view->name, "folded");
	assert_int_equal(o.dimensions, PROFILE_BY_COMM);
	assert_int_equal(o.shown.leading[0], PROFILE_BY_COMM);
	assert_int_equal(o.shown.leading[1], 0);
	assert_true(o.symbols.inlines);
	assert_true(o.symbols.demangle);
	assert_false(o.symbols.debuginfod);
	assert_int_equal(o.path_count, 0);
	report_options_release(&o);
}

static void test_leading_frames(void **state)
{
	char text[] = "--tid --cpu --event --cgroup a.prf b.prf";
	struct report_options o;

	assert_int_equal(parse(&o, text), OPTIONS_OK);
	assert_int_equal(o.shown.leading[0], PROFILE_BY_EVENT);
	assert_int_equal(o.shown.leading[1], PROFILE_BY_CGROUP);
	assert_int_equal(o.shown.leading[2], PROFILE_BY_CPU);
	assert_int_equal(o.shown.leading[3], PROFILE_BY_THREAD);
	assert_int_equal(o.shown.leading[4], 0);
	assert_int_equal(o.path_count, 2);
	assert_string_equal(o.paths[1], "b.prf");
	report_options_release(&o);
}

static void test_filters_are_no_frames(void **state)
{
	char text[] = "--pid=7,9 --cpu=0-3 --event=cycles --cgroup=/x* --comm a,b";
	struct report_options o;

	assert_int_equal(parse(&o, text), OPTIONS_OK);
	assert_int_equal(o.dimensions, PROFILE_BY_COMM);
	assert_true(number_set_has(&o.selection.pids, 9));
	assert_false(number_set_has(&o.selection.pids, 8));
	assert_false(number_set_has(&o.selection.cpus, 4));
	assert_int_equal(o.selection.comms.count, 2);
	assert_int_equal(o.selection.events.count, 1);
	report_options_release(&o);
}

static void test_groups(void **state)
{
	char text[] = "--pid --group-by time:100ms,object,comm";
	struct report_options o;

	assert_int_equal(parse(&o, text), OPTIONS_OK);
	assert_int_equal(o.slice_ns, 100000000);
	assert_int_equal(o.shown.leading[0], PROFILE_BY_TIME);
	assert_int_equal(o.shown.leading[1], PROFILE_BY_OBJECT);
	assert_int_equal(o.shown.leading[2], PROFILE_BY_COMM);
	assert_int_equal(o.shown.leading[3], 0);
	assert_int_equal(o.dimensions, PROFILE_BY_TIME | PROFILE_BY_OBJECT | PROFILE_BY_COMM);
	report_options_release(&o);
}

static void test_tables(void **state)
{
	char text[] = "-f top --by line --limit 7 --min 2.5%";
	struct report_options o;

	assert_int_equal(parse(&o, text), OPTIONS_OK);
	assert_string_equal(o.view->name, "top");
	assert_true(o.symbols.lines);
	assert_int_equal(o.shown.limit, 7);
	assert_true(o.min_percent == 2.5);
	report_options_release(&o);
}

static void test_every_format_has_a_name(void **state)
{
	for (size_t i = 0; view_at(i); i++) {
		const struct view *v = view_at(i);

		assert_ptr_equal(view_find(v->name), v);
		assert_true(!v->render != !v->sample);
		/* A view of samples has texts of frames, made for it or by it. */
		assert_true(v->frame || v->begin || !v->sample);
		assert_true(v->sample || (!v->frame && !v->begin));
		assert_true(!v->begin == !v->end);
	}
	assert_null(view_find("nonsense"));
	assert_null(view_find(""));
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = {
		"-f nonsense",	    "--value much", "--pid=x",	   "--group-by time:0",
		"--group-by comm,", "--focus [",    "--by nobody", "--group-by comm,comm",
		"--color=perhaps",  "-j 0",	    "--limit x",   "--max-depth -1",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct report_options o;
		char text[64];

		strcpy(text, wrong[i]);
		if (parse(&o, text) != OPTIONS_WRONG)
			fail_msg("accepted: %s", wrong[i]);
		report_options_release(&o);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nothing),
	cmocka_unit_test(test_leading_frames),
	cmocka_unit_test(test_filters_are_no_frames),
	cmocka_unit_test(test_groups),
	cmocka_unit_test(test_tables),
	cmocka_unit_test(test_every_format_has_a_name),
	cmocka_unit_test(test_wrong),
};

UNIT_TESTS(tests);
