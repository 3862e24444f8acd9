/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/stem.h"

#include "report/symbols/demangle.h"
#include "report/tables/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* shorten_name() calls itself for nested brackets: longer names are compared as they are. */
#define STEM_BYTES_MAX 8192

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
	const char *last;
	size_t size = 0;

	shorten_name(to, name, path_style);
	last = strrchr(to, '>');
	for (const char *at = to; *at; at++) {
		const char *close = NULL;

		if (*at == '<' && last && at < last && begins_arguments(to, size, at))
			close = strchr(at, '>');
		if (close)
			at = close;
		else
			to[size++] = *at;
	}
	to[size] = 0;
}

/* Of an ELF symbol. Runtimes have names with "@", too, and more after it than a version. */
static void cut_version(char *stem)
{
	char *at = strchr(stem, '@');

	if (at && at != stem && !strpbrk(at, ":/ "))
		*at = 0;
}

/* To be freed; NULL without memory. */
static char *stem_of(const char *name, bool mangled)
{
	char *sure = strndup(name, strlen(name) - row_guess_length(name));
	bool shorter = mangled && sure && strlen(sure) <= STEM_BYTES_MAX;
	char *stem = shorter ? malloc(strlen(sure) + 1) : NULL;

	if (stem) {
		stem_of_mangled(stem, sure);
		free(sure);
	} else {
		stem = sure;
	}
	if (stem)
		cut_version(stem);
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
