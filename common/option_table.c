/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/option_table.h"

/* What every program has, after the entries of its own table. */
static const struct option_entry common_table[] = {
	{ .name = NULL, .help = "Help" },
	{ 'h', "help", NULL, "print this help", NULL },
	{ 0, "version", NULL, "print the version", NULL },
	{ 0, "completion", "[=SHELL]",
	  "print the completion script for bash (default), zsh or fish", NULL, "bash zsh fish" },
	{ .help = NULL },
};

bool option_is_common(const struct option_entry *e)
{
	return e >= common_table && e < common_table + sizeof(common_table) / sizeof(*common_table);
}

bool option_is_optional(const struct option_entry *e)
{
	return e->argument && e->argument[0] == '[';
}

const struct option_entry *options_entry(const struct options *o, size_t n)
{
	size_t own = 0;

	while (o->table[own].help)
		own++;
	if (n < own)
		return &o->table[n];
	n -= own;
	return n < sizeof(common_table) / sizeof(*common_table) - 1 ? &common_table[n] : NULL;
}
