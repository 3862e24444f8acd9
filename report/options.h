/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OPTIONS_H
#define REPORT_OPTIONS_H

/* What the command line of prof-report asks for. */

#include "common/options.h"
#include "report/profile/selection.h"
#include "report/merge/shape.h"
#include "report/symbols/symbolizer.h"
#include "report/tables/view.h"

#define DEBUG_DIRECTORIES_MAX 16
#define BASES_MAX 64

enum report_action { REPORT_VIEW, REPORT_INFO, REPORT_DUMP, REPORT_CHECK, REPORT_EMBED };

enum value_choice {
	VALUE_DEFAULT,
	VALUE_SAMPLES,
	VALUE_TIME,
	VALUE_LATENCY,
	VALUE_BYTES,
	VALUE_WEIGHT
};

struct report_options {
	enum report_action action;
	const struct view *view;
	struct view changed_view; /* what `view` points to where other options change it */
	const char *output;	  /* NULL: standard output */
	bool unclear;		  /* the format: without -f, the name of the output says another */
	bool open;		  /* --open: the page is shown in a browser */
	bool live;		  /* --live: the table of a trace that is still written */
	char *bases[BASES_MAX];	  /* --diff, in argv; as many as base_count */
	int base_count;
	double fail_percent; /* --fail-on-regression; below 0: never */
	bool embed_code;     /* --embed=code */
	bool from_folded;    /* the input is folded text */
	bool quiet, verbose, no_pager;
	enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;

	struct selection selection;
	bool wakers;
	enum value_choice value;
	unsigned int dimensions;	      /* asked for beyond what the view needs */
	const char *note_keys[PROFILE_NOTES]; /* of --group-by; owned */
	uint64_t slice_ns;
	bool each_thread;   /* --each-thread */
	const char *joined; /* what of many traces is not told apart; NULL: nothing */
	bool grouped;	    /* --group-by was given: `shown.leading` says it all */
	bool with_pid, with_tid, with_cpu, with_event, with_cgroup;

	struct shape shape;
	struct view_options shown;
	double min_percent;
	struct symbolizer_options symbols;

	/* Set by report_run(). */
	struct report_pager *pager;
	struct browser *browser;
	char *page_path; /* of a page that --open names; owned */

	char **paths; /* in argv */
	int path_count;

	/* Owned. */
	regex_t regexes[5];
	bool compiled[5];
	const char *debug_directories[DEBUG_DIRECTORIES_MAX + 1];
	char why[256];
};

/* Parses; on OPTIONS_OK everything is filled. To be released in all cases. */
enum options_result report_options_parse(struct report_options *o, int argc, char **argv);
void report_options_release(struct report_options *o);

#endif
