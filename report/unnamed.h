/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_UNNAMED_H
#define REPORT_UNNAMED_H

/* The objects whose code has no names, and what the user can do about it. */

#include "report/profile/profile.h"
#include "report/symbols/symbolizer.h"

struct unnamed {
	uint32_t object;
	uint64_t samples; /* whose leaf lies in unnamed code of it */
};

/*
 * The objects whose unnamed code holds samples, those with the most first; to be freed. NULL
 * without memory.
 */
struct unnamed *unnamed_objects(const struct profile *p, size_t *n);

/* "no file", "build-id differs", ... */
const char *unnamed_reason(const struct profile_object *object);

/* What would help. */
const char *unnamed_remedy(const struct profile_object *object);

/* After the names were looked up: says, as a warning or an error, if memory or the like was short.
 */
void unnamed_say_shortage(const struct symbolizer *s,
			  void (*say)(const char *format, ...)
				  __attribute__((format(printf, 1, 2))));

#endif
