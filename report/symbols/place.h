/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_PLACE_H
#define REPORT_SYMBOLS_PLACE_H

/* The answer to one lookup, and how well a whole object could be looked up. */

#include <stdint.h>

struct symbolizer_place {
	const char *function; /* as in the symbol table: mangled; "" when not known */
	const char *name;     /* as it is to be shown; "" when not known */
	const char *file;     /* "" when not known */
	uint32_t line;	      /* 0: not known */
	uint32_t start_line;  /* where the function is declared; 0: not known */
};

enum symbols_status {
	SYMBOLS_OK = 0,	    /* a symbol table or debug information was found */
	SYMBOLS_STRIPPED,   /* the file has no symbol table, only its dynamic symbols (or none) */
	SYMBOLS_NO_FILE,    /* there is no such file */
	SYMBOLS_DIFFERENT,  /* the file there has another build-id, or is another file */
	SYMBOLS_UNREADABLE, /* no permission, or not an ELF file that can be read */
	SYMBOLS_TOO_LARGE,  /* more headers or symbols than are read: common/limits.h */
	SYMBOLS_SHORT,	    /* something was left out for want of memory and the like */
	SYMBOLS_NOT_LOOKED, /* no query needed it: all names were embedded, or there were none */
	SYMBOLS_NO_SYMBOLS, /* kernel, JIT and the like: the trace holds no symbols for it */
};

/* "no file", "build-id differs", ... */
const char *symbols_status_text(enum symbols_status status);

#endif
