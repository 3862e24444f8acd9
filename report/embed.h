/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_EMBED_H
#define REPORT_EMBED_H

/*
 * Portable traces: a copy of a trace that holds the names of all its frames, so that it can be
 * reported where the recorded files are not. One pass, from a file or a pipe; the names follow the
 * samples.
 */

#include "format/prf.h"
#include "report/embed_code.h"
#include "report/output/progress.h"
#include "report/symbols/symbolizer.h"

struct embed_options {
	const struct symbolizer_options *symbols; /* where files are looked for */
	bool code;				  /* also code and lines of sources */
	const char *source_directory;		  /* for these; NULL: none */
	struct progress *progress;		  /* of the reading, and begun; NULL: none */
};

struct embed_result {
	size_t frames, named; /* in all; and those that got a name */
	bool complete;	      /* the trace was; else the copy lacks its end block as well */
	uint64_t damages;     /* places where bytes were skipped: the copy lacks what was there */
	bool interrupted;     /* by Ctrl-C: the copy is not whole */
	bool read_failed;     /* the error is of reading, not of writing */
	bool had_code;	      /* the trace has code already, which was kept as it is */
	struct embedded_code code;
};

/*
 * Copies from one descriptor to another. Inlined calls and lines are always taken. The caller frees
 * result->code.missing.
 */
struct error *embed_names(int from, int to, const struct embed_options *options,
			  struct embed_result *result) ERROR_CHECKED;

#endif
