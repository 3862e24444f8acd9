/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_LISTING_H
#define REPORT_ANNOTATE_LISTING_H

/* What listings of source and of instructions have in common: counts before each row. */

#include "report/annotate/hit_changes.h"
#include "report/annotate/source_file.h"
#include "report/difference/change_columns.h"
#include "report/tables/view.h"

#define LISTING_AROUND 3 /* rows that are shown before and after one with hits */
#define LISTING_FILES_MAX 256
#define LISTING_LINE_BYTES 4096 /* of a source line; the rest of a longer one is not shown */

/* A source file that was asked for. */
struct listing_source {
	char *path; /* as recorded; a copy, for the code that names it does not stay */
	struct source_file file;
	struct error *error; /* why there is none */
};

struct listing {
	const struct profile *profile;
	const struct view_options *options;
	struct sink *sink;
	struct change_columns columns;	 /* without runs: nothing is compared */
	struct listing_source **sources; /* each stays where it is */
	struct listing_source too_many;	 /* in the place of those above LISTING_FILES_MAX */
	size_t source_count, source_capacity;
	size_t embedded_lines; /* of all sources that come from traces */
};

void listing_release(struct listing *l);

/* A source file, read when it is asked for first; NULL without memory. Stays until the release. */
const struct listing_source *listing_source(struct listing *l, const char *path);

/* A remark: "# ", and the words in as many lines as the terminal needs. */
void listing_say(const struct listing *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The columns' names, and `rest` after them. */
void listing_heading(const struct listing *l, const char *rest);

/*
 * The columns; blank where nothing was counted. NULL: all are blank. `change` is shown where runs
 * are compared.
 */
void listing_count(const struct listing *l, const struct hit_count *count,
		   const struct hit_change *change);

/* How many columns listing_count() takes. */
unsigned int listing_columns(const struct listing *l);

/* Whether --min shows a row with this count. */
bool listing_wants(const struct listing *l, const struct hit_count *count);

/* What becomes of a row. Those near to a wanted one are shown as well. */
enum listing_row { LISTING_ROW_HIDDEN, LISTING_ROW_NEAR, LISTING_ROW_WANTED };
void listing_widen(uint8_t *rows, size_t n);

/* In the place of `n` rows that are not shown. */
void listing_skip(const struct listing *l, size_t n, const char *what);

/*
 * Text after `used` columns up to the right edge, without its first `indent` columns and with its
 * tabs as spaces. No line ends after it.
 */
struct listing_text {
	const char *text;
	size_t size;
	unsigned int indent;
};
void listing_text(const struct listing *l, const struct listing_text *text, unsigned int used);

/* A line of a source without the blanks before it; "" and 0: there is none, or it is empty. */
const char *listing_line(const struct listing_source *source, uint32_t line, size_t *size);

/* At which column a line's text begins; UINT_MAX: it is empty. */
unsigned int listing_indent(const char *text, size_t size);

/* Percent of all that the profile counts. */
double listing_percent(const struct listing *l, uint64_t value);

#endif
