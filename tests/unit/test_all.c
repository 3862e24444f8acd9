/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/results/commands.h"
#include "tests/unit/unit.h"

/* The command runs its own program for each part, which is this one: it fails as the test wants. */
__attribute__((constructor)) static void be_part(int argc, char **argv)
{
	const char *failing = getenv("FAILING");

	if (argc > 1)
		_exit(failing && !strcmp(argv[1], failing) ? 1 : 0);
}

static enum verdict all_with_failing(const char *part)
{
	const struct settings settings = { .seed = 1 };

	setenv("FAILING", part, 1);
	return all_command(&settings);
}

static void test_failures(void **state)
{
	char folder[] = "/tmp/test_all.XXXXXX", tool[64];
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(tool, sizeof(tool), "%s/valgrind", folder);
	setenv("PATH", folder, 1);
	assert_int_equal(all_with_failing("nothing"), VERDICT_FINE);
	assert_int_equal(all_with_failing("kernel"), VERDICT_ERROR);
	assert_int_equal(all_with_failing("heap"), VERDICT_ERROR);
	assert_int_equal(all_with_failing("peers"), VERDICT_ERROR);
	/* Without valgrind there is nothing that could count instructions. */
	assert_int_equal(all_with_failing("instr"), VERDICT_FINE);
	f = fopen(tool, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(chmod(tool, 0755), 0);
	assert_int_equal(all_with_failing("instr"), VERDICT_ERROR);
	unlink(tool);
	rmdir(folder);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_failures),
};

UNIT_TESTS(tests);
