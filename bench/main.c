/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/commands.h"
#include "bench/suite/suite.h"

int main(int argc, char **argv)
{
	return settings_main(
		&(const struct command_table){ commands, commands_count, suite_tables }, argc,
		argv);
}
