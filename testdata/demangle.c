/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Demangles one name a line as prof-report does; with -s, the short form. */
#include <stdio.h>
#include <string.h>

#include "report/symbols/demangle.h"

int main(int argc, char **argv)
{
	bool whole = argc < 2 || strcmp(argv[1], "-s");
	struct arena arena = { 0 };
	static char line[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		puts(demangle(line, whole, &arena));
	}
	arena_release(&arena);
	return 0;
}
