/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SUITE_LIBRARY_PAIRS_H
#define BENCH_SUITE_LIBRARY_PAIRS_H

/* The same question put to our code and to libelf or libdw. */

#include "bench/suite/library_files.h"

/* What came out: a number that must be equal, and for look-ups an answer for each address. */
struct library_answer {
	uint64_t value; /* 0: it cannot be done */
	uint32_t places[LIBRARY_PLACES];
};

typedef void library_function(const struct library_files *f, const char *path,
			      struct library_answer *answer);

struct library_pair {
	const char *name;
	enum library_file file;
	library_function *ours, *library;
	bool by_place;	      /* the answers are `places` */
	bool in_report;	      /* prof-report does it, on the way to names in this file */
	const char *decision; /* what follows from it, and why */
};

extern const struct library_pair library_pairs[];
extern const size_t library_pairs_count;

#endif
