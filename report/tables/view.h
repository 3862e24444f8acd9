/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_VIEW_H
#define REPORT_TABLES_VIEW_H

/*
 * What a format of `prof-report -f` is: its name, what its profile must keep apart, and the
 * function that writes it. report/view_registry.c has the table of all formats.
 */

#include "report/output/sink.h"
#include "report/profile/profile.h"
#include "report/symbols/symbolizer.h"

#include <regex.h>

struct row;
struct view_options;

/* Functions, as rows of a table, and where the listing of each is to be written. */
struct view_listings {
	const struct row *rows;
	struct sink *texts; /* collect in memory */
	size_t count;
};

#define VIEW_LEADING_MAX 16 /* all that --group-by takes, and the 0 that ends them */

/* How to show it; what a view does not know it ignores. */
struct view_options {
	bool annotate;	/* folded: _[k] _[i] _[j] _[s] _[w] */
	bool addresses; /* folded: [libfoo.so.1 <offset>] */
	bool lines;	/* name with file:line */
	bool modules;	/* name with the object's name */
	/*
	 * Frames before the stack in text formats: each a mask of enum profile_dimension that
	 * makes one frame ("comm", "comm-PID/TID", "cpu-3"), ended by 0.
	 */
	unsigned int leading[VIEW_LEADING_MAX];
	bool csv, json; /* top */
	bool by_total;	/* top: most total first, not most self */
	bool colour;
	unsigned int limit; /* rows of top, functions of annotate; 0: none was given */
	const char *by;	    /* top: "function", "object", "line", "thread", "comm" */
	/* top: callers and callees of these; annotate: these themselves; NULL: none */
	const regex_t *function;
	const char *function_text;    /* as given */
	const char *source_directory; /* annotate: where sources are; NULL: as recorded */
	const struct symbolizer_options
		*symbols;	     /* annotate: where files are; set by report_run() */
	const struct profile *base;  /* --diff: what to compare with; NULL: none */
	size_t base_runs;	     /* --diff, of a view that joins runs; 0: none */
	bool normalize;		     /* --diff: scale the base to the same total */
	unsigned int width;	     /* columns of the terminal; 0: no terminal */
	bool safe_colours;	     /* --diff: colours that colour-blind people tell apart */
	const char *title;	     /* NULL: the view's own */
	unsigned int code_functions; /* html: of so many, the page has the listings */
	/* Makes them: report/annotate, which views do not know; set by report_run(). */
	struct error *(*listings)(const struct profile *p, const struct view_options *o,
				  const struct view_listings *listings);
};

/* A sample as it was recorded. */
struct view_sample {
	uint64_t time_ns;
	uint64_t weight;
	const struct prf_task *task;
	const struct profile_event *event;
	uint32_t trace; /* index into profile.traces */
	uint32_t cpu;
	uint32_t parallelism; /* see struct parallel_sample; 0: not known */
	uint32_t node;	      /* PRF_NONE: no frames */
	void *stream;	      /* what begin() made; NULL without one */
	/* What frame() made of profile.frames[i]: bytes text_at[i] up to text_at[i + 1]. */
	const uint8_t *texts;
	const size_t *text_at;
};

struct view {
	const char *name;
	unsigned int dimensions; /* enum profile_dimension: the least it needs */
	unsigned int detail;	 /* enum profile_detail */
	uint32_t max_slices;	 /* slices get longer rather than more */
	bool binary;		 /* for other programs: not for terminals */
	const char *suffix;	 /* of files that hold it: the format where none is named */
	bool can_diff;
	bool joins_runs; /* --diff: it wants one profile, whose first traces are the runs before */
	bool table; /* for databases: of all events where none is asked for, perhaps without rows */
	bool code;  /* shows code and sources that the trace holds */
	bool led;   /* leading frames are in its profile, if any are asked for */
	bool paged; /* for people: a pager on terminals */
	/* Mostly ERROR_MEMORY. Failed writes are left to sink_flush(). */
	struct error *(*render)(const struct profile *p, const struct view_options *o,
				struct sink *s);
	/*
	 * Instead of render(): writes one sample after the other, trace by trace, in order of time.
	 * Frames have a text that is made once, by frame(); a view that makes its own has none.
	 */
	void (*frame)(const struct profile *p, const struct profile_frame *frame,
		      struct sink *text);
	void (*sample)(const struct profile *p, const struct view_options *o,
		       const struct view_sample *sample, struct sink *s);
	/*
	 * Around all samples, where there is something to keep between them: begin() makes it,
	 * end() writes what is left and releases it.
	 */
	struct error *(*begin)(const struct profile *p, const struct view_options *o,
			       struct sink *s, void **stream);
	struct error *(*end)(void *stream);
};

#endif
