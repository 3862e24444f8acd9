/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_EMBED_CODE_H
#define REPORT_EMBED_CODE_H

/*
 * Puts the code of all functions that a trace has frames of, and the lines of their sources, into a
 * copy of it: what -f annotate needs where neither the recorded files nor the sources are.
 */

#include "format/prf.h"
#include "report/annotate/source_file.h"
#include "report/symbols/debug_search.h"
#include "report/symbols/symbolizer.h"

/* The copy, after all names were looked up. */
struct embedding {
	const struct prf_reader *reader;
	struct prf_writer *writer;
	const struct symbolizer *symbolizer;
	const uint32_t *objects; /* the number in the copy of each of the trace's */
	const uint32_t *queries; /* the symbolizer's of each of the trace's frames, or PRF_NONE */
	struct debug_search search;
	struct source_search sources;
};

struct embedded_code {
	size_t functions, sources;
	size_t changed;	       /* sources that were left out: newer than the program */
	size_t unread;	       /* sources that are there, but could not be read */
	struct error *missing; /* why some code is not there; NULL: all is, or it lies in no file */
};

/* Functions in files only. The caller frees `missing`. */
struct error *embed_code(const struct embedding *e, struct embedded_code *result) ERROR_CHECKED;

#endif
