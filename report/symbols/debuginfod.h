/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_DEBUGINFOD_H
#define REPORT_SYMBOLS_DEBUGINFOD_H

/*
 * Debug files from the servers in $DEBUGINFOD_URLS, by libdebuginfod, which is loaded only
 * when this is called: without it nothing here can reach the network. Servers get ten
 * seconds to answer unless $DEBUGINFOD_TIMEOUT says otherwise.
 */

#include "format/prf.h"

struct debuginfod;

/*
 * NULL: the library is not installed, or there are no servers. `progress` (may be NULL) is as
 * in struct symbolizer_options.
 */
struct debuginfod *debuginfod_new(bool (*progress)(const char *what, void *context), void *context);
void debuginfod_free(struct debuginfod *d);

/* The path of the object's debug file, or of the object itself; to be freed, or NULL. */
char *debuginfod_debug_file(struct debuginfod *d, const struct prf_object *object);
char *debuginfod_executable(struct debuginfod *d, const struct prf_object *object);

/* Why debuginfod_new() would give NULL; NULL when it would not. */
const char *debuginfod_missing(void);

#endif
