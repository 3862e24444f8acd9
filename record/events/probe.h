/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_PROBE_H
#define RECORD_EVENTS_PROBE_H

/* Probes of functions and places, as they are written on the command line. */

#include "common/error.h"
#include "record/events/event_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_form {
	const char *word, *rest; /* "uprobe:", "FILE:SYMBOL[+OFFSET]" */
	enum event_source source;
	bool at_return;	    /* when the function returns */
	const char *device; /* the kernel's PMU */
};

/* All of them; the last entry has the word NULL. */
extern const struct probe_form probe_forms[];

struct probe {
	const struct probe_form *form; /* NULL: none */
	char *file, *provider, *symbol;
	uint64_t symbol_offset; /* "+0x10" after the symbol */
};

/*
 * Parses one of these forms; FILE may hold colons, SYMBOL may hold "::". Text that begins like none
 * of them is no error, and has no form. To be released even after an error.
 */
struct error *probe_parse(struct probe *probe, const char *text);
void probe_release(struct probe *probe);

#endif
