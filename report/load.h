/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H

/*
 * From the command line to a profile: opens the traces, reads, tallies, looks names up. Problems
 * are reported to the user as messages; the functions return false when a problem was fatal.
 */

#include "report/options.h"
#include "report/merge/build.h"

struct loaded {
	struct trace *traces;
	size_t trace_count;
	struct joined joined; /* of several traces */
	struct tally *tally;
	struct symbolizer *symbolizer;
	struct profile *profile;
	bool read_errors; /* some trace could not be read to its end */
};

/* Opens the traces; `two_passes`: they will be read twice. To be released in any case. */
bool loaded_open(struct loaded *l, char *const *paths, size_t n, bool two_passes);
void loaded_release(struct loaded *l);

/* What was opened is folded text: makes traces of it. */
bool loaded_unfold(struct loaded *l);

/*
 * The first step of loaded_read(), for who reads by other means: makes the tally and, with the
 * option, the symbolizer.
 */
bool loaded_begin(struct loaded *l, const struct report_options *o, bool symbols);

/* Makes an empty tally that counts what the options ask for. */
bool loaded_tally(struct tally **tally, const struct report_options *o);

/* Reads all samples into the tally and, with the option, symbols into the symbolizer. */
bool loaded_read(struct loaded *l, const struct report_options *o, bool symbols);

/*
 * Whether some trace, of `now` or of what it is compared with (NULL: nothing), has each of the
 * notes that --group-by asks for.
 */
bool loaded_have_notes(const struct loaded *now, const struct loaded *base,
		       const struct report_options *o);

/* Builds the profile that the options ask for from what was read. */
bool loaded_build(struct loaded *l, const struct report_options *o);

/* Reads and builds the profile that the options ask for. */
bool loaded_profile(struct loaded *l, const struct report_options *o);

/* Hands the samples to the view one by one; after loaded_profile() with two passes. */
bool loaded_stream(struct loaded *l, const struct report_options *o, struct sink *s);

/* Says why a trace cannot be read. */
void trace_say_error(const struct trace *t, const struct error *error);

/*
 * Says what is wrong or missing in the traces that were read, apart from names that no file has.
 */
void loaded_warn_of_traces(const struct loaded *l, const struct report_options *o);
/* The same, and which names are missing. */
void loaded_warn(const struct loaded *l, const struct report_options *o);

#endif
