/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/hotplug.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/error_check.h"

struct machine {
	struct cpus cpus;
	struct hotplug hotplug;
	char text[64];
	uint64_t enabled_ns[8];
	bool fails;
};

static bool note(uint32_t cpu, enum hotplug_change change, void *context)
{
	struct machine *m = context;

	sprintf(m->text + strlen(m->text), "%c%d ", change == HOTPLUG_WENT ? '-' : '+', (int)cpu);
	return change == HOTPLUG_CAME_BACK && !m->fails;
}

static uint64_t enabled_ns(uint32_t cpu, void *context)
{
	return ((struct machine *)context)->enabled_ns[cpu];
}

static void begin(struct machine *m, const char *cpus)
{
	*m = (struct machine){ .hotplug.cpus = &m->cpus };
	assert_no_error(cpus_parse(&m->cpus, cpus));
}

static void end(struct machine *m)
{
	hotplug_release(&m->hotplug);
	cpus_release(&m->cpus);
}

static void look(struct machine *m, const char *online, const char *expected)
{
	const struct hotplug_events events = { enabled_ns, note, m };
	struct cpus now = { 0 };

	m->text[0] = '\0';
	assert_no_error(cpus_parse(&now, online));
	assert_no_error(hotplug_look(&m->hotplug, &now, &events));
	assert_string_equal(m->text, expected);
	cpus_release(&now);
}

static void test_changes_are_told_once(void **state)
{
	struct machine m;

	begin(&m, "0-2,5");
	for (size_t i = 0; i < sizeof(m.enabled_ns) / sizeof(m.enabled_ns[0]); i++)
		m.enabled_ns[i] = HOTPLUG_NOT_KNOWN;
	look(&m, "0-2,5", "");
	look(&m, "0,2", "-1 -5 ");
	look(&m, "0,2,7", "");
	look(&m, "0-1,5", "+1 -2 +5 ");
	look(&m, "0-5", "+2 ");
	end(&m);
}

/* It is always online when it is looked at, but its events are dead. */
static void test_a_short_absence_is_noticed(void **state)
{
	struct machine m;

	begin(&m, "0-1");
	m.enabled_ns[0] = 10;
	/* It went before its events were enabled. */
	look(&m, "0-1", "-1 +1 ");
	m.enabled_ns[0] = 20;
	m.enabled_ns[1] = 20;
	look(&m, "0-1", "");
	m.enabled_ns[0] = 30;
	m.enabled_ns[1] = 40;
	look(&m, "0-1", "");
	m.enabled_ns[0] = 50;
	look(&m, "0-1", "-1 +1 ");
	/* The new event happens to have been enabled as long as the old one. */
	m.enabled_ns[0] = 60;
	look(&m, "0-1", "");
	m.enabled_ns[0] = 70;
	m.enabled_ns[1] = 50;
	look(&m, "0-1", "");
	/* No new event can be opened: that is said once, until the CPU goes again. */
	m.fails = true;
	m.enabled_ns[1] = 80;
	look(&m, "0-1", "-0 +0 ");
	m.enabled_ns[1] = 90;
	look(&m, "0-1", "");
	m.enabled_ns[1] = 100;
	look(&m, "1", "-0 ");
	m.fails = false;
	m.enabled_ns[1] = 110;
	look(&m, "0-1", "+0 ");
	m.enabled_ns[0] = 10;
	m.enabled_ns[1] = 120;
	look(&m, "0-1", "");
	m.enabled_ns[1] = 130;
	look(&m, "0-1", "-0 +0 ");
	end(&m);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_changes_are_told_once),
	cmocka_unit_test(test_a_short_absence_is_noticed),
};

UNIT_TESTS(tests);
