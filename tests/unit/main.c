/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "tests/unit/unit.h"

int main(void)
{
	const struct unit_tests *u = &unit_tests;

	/* What cmocka_run_group_tests() calls, which wants to see the array itself. */
	return _cmocka_run_group_tests(program_invocation_short_name, u->tests, u->count, u->setup,
				       u->teardown);
}
