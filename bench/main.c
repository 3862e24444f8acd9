/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/results/commands.h"

int main(int argc, char **argv)
{
	return settings_main(commands, commands_count, argc, argv);
}
