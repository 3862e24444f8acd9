/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/stem.h"

#include "report/symbols/demangle.h"
#include "report/tables/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Whether "<", after `size` bytes of a name, begins template arguments. */
static bool begins_arguments(const char *name, size_t size, const char *bracket)
{
	/* "<impl X for Y>" says whose method it is. */
	if (!size || !strncmp(bracket, "<impl ", 6))
		return false;
	if (size >= 8 && !memcmp(name + size - 8, "operator", 8))
		return false;
	return name[size - 1] == ':' || name[size - 1] == '_' ||
	       isalnum((unsigned char)name[size - 1]);
}

/* A mangled name without template arguments and function arguments. */
static void stem_of_mangled(char *to, const char *name)
{
	/* Parentheses in a Rust name are types. */
	bool path_style = name[0] == '<' || strstr(name, "::<") || strstr(name, "<impl ");
	size_t size = 0;

	shorten_name(to, name, path_style);
	for (const char *at = to; *at; at++) {
		const char *close = NULL;

		if (*at == '<' && begins_arguments(to, size, at))
			close = strchr(at, '>');
		if (close)
			at = close;
		else
			to[size++] = *at;
	}
	to[size] = 0;
}

/* To be freed; NULL without memory. */
static char *stem_of(const char *name, bool mangled)
{
	char *sure = strndup(name, strlen(name) - row_guess_length(name));
	char *stem = mangled && sure ? malloc(strlen(sure) + 1) : NULL;

	if (stem) {
		stem_of_mangled(stem, sure);
		free(sure);
	} else {
		stem = sure;
	}
	if (stem)
		stem[strcspn(stem, "@")] = 0;
	return stem;
}

bool stems_agree(const char *was, const char *is, bool mangled)
{
	char *a, *b;
	bool agree;

	if (row_guess_length(was) != row_guess_length(is))
		return false;
	a = stem_of(was, mangled);
	b = stem_of(is, mangled);
	/* Without memory nothing is known, as where names differ. */
	agree = a && b && !strcmp(a, b);
	free(a);
	free(b);
	return agree;
}
