/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/hotplug.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/error_check.h"

static void note(uint32_t cpu, enum hotplug_change change, void *context)
{
	char *text = context;

	sprintf(text + strlen(text), "%c%d ", change == HOTPLUG_WENT ? '-' : '+', (int)cpu);
}

static void look(struct hotplug *h, const char *online, const char *expected)
{
	struct cpus now = { 0 };
	char text[64] = "";

	assert_no_error(cpus_parse(&now, online));
	assert_no_error(hotplug_look(h, &now, note, text));
	assert_string_equal(text, expected);
	cpus_release(&now);
}

static void test_changes_are_told_once(void **state)
{
	struct cpus cpus = { 0 };
	struct hotplug h = { .cpus = &cpus };

	assert_no_error(cpus_parse(&cpus, "0-2,5"));
	look(&h, "0-2,5", "");
	look(&h, "0,2", "-1 -5 ");
	look(&h, "0,2,7", "");
	look(&h, "0-1,5", "+1 -2 +5 ");
	look(&h, "0-5", "+2 ");
	hotplug_release(&h);
	cpus_release(&cpus);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_changes_are_told_once),
};

UNIT_TESTS(tests);
