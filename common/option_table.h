/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_OPTION_TABLE_H
#define COMMON_OPTION_TABLE_H

/*
 * The options of a program as a table, which parsing, --help and completion read.
 *
 * An `argument` in brackets, "[=MIN]", is optional and can only be given with "=".
 * The table ends with an entry whose `help` is NULL; an entry with neither letter nor name
 * is a heading. --help, --version and --completion need no entry.
 */

#include <stdbool.h>
#include <stddef.h>

/* What an option does where it needs no function of its own. */
enum option_effect {
	OPTION_TAKES = 0, /* it has one: take() */
	OPTION_SETS,	  /* a bool becomes true */
	OPTION_CLEARS,	  /* a bool becomes false */
	OPTION_KEEPS,	  /* a const char * becomes the argument */
};

struct option_entry {
	char letter;	      /* 0: none */
	const char *name;     /* long name without "--", or NULL */
	const char *argument; /* "FILE", "[=MIN]", or NULL: takes none */
	const char *help;     /* one sentence, no full stop */
	/*
	 * Takes the argument (NULL when there is none) into the program's own settings.
	 * Returns NULL, or why it is wrong: static text or text that lives as long as `context`;
	 * option_no_memory if that is the reason.
	 */
	const char *(*take)(void *context, const char *argument);
	/*
	 * What completion offers for the argument: words with blanks between them, "$ COMMAND" of
	 * the shell that prints a word per line ("WORD", or "WORD<tab>WHAT IT IS"; $trace is the
	 * trace on the command line), or one of VALUES_*. NULL: nothing.
	 */
	const char *values;
	/* In place of take(), by one of the macros below: what happens to which field of `context`.
	 */
	enum option_effect effect;
	size_t field;
};

/* `.field` does not compile for a member of another size. */
#define OPTION_FIELD(type, member, field_type)                                                     \
	(offsetof(type, member) *                                                                  \
	 sizeof(char[sizeof(((type *)0)->member) == sizeof(field_type) ? 1 : -1]))
#define OPTION_SETS(type, member) .effect = OPTION_SETS, .field = OPTION_FIELD(type, member, bool)
#define OPTION_CLEARS(type, member)                                                                \
	.effect = OPTION_CLEARS, .field = OPTION_FIELD(type, member, bool)
#define OPTION_KEEPS(type, member)                                                                 \
	.effect = OPTION_KEEPS, .field = OPTION_FIELD(type, member, const char *)

extern const char option_no_memory[];

#define VALUES_FILES "files"
#define VALUES_FOLDERS "folders"

/* An option of other tools that this program does not have, without its "-", and what to do here.
 */
struct option_habit {
	const char *typed, *instead;
};

struct options {
	const char *program;  /* "prof-record" */
	const char *synopsis; /* "[OPTIONS] [-- COMMAND [ARG...]]" */
	const char *summary;  /* one sentence with its full stop */
	const struct option_entry *table;
	void *context; /* for take(), or the struct that has the fields */
	/* True: the first argument that is no option begins the command, as after "--". */
	bool command_follows;
	const char *values; /* likewise, of arguments that belong to no option; NULL: files */
	const struct option_habit *habits; /* ends with { NULL }; NULL: none */
};

/* The n-th entry of the table and of what every program has; NULL after the last. */
const struct option_entry *options_entry(const struct options *o, size_t n);

/* Whether the argument may be left out. */
bool option_is_optional(const struct option_entry *e);

/* Whether it is one of those that every program has. */
bool option_is_common(const struct option_entry *e);

#endif
