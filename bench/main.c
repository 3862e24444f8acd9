/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/commands.h"
#include "bench/suite/suite.h"
#include "common/hash_seed.h"

int main(int argc, char **argv)
{
	hash_seed_fix(1); /* counts and times repeat */
	return settings_main(
		&(const struct command_table){ commands, commands_count, suite_tables }, argc,
		argv);
}
