/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACES_H
#define RECORD_TRACES_H

/* The files of a recording, one after the other: how each begins and ends. */

#include "record/recording.h"

/*
 * Opens the first file, which keeps its content until traces_begin(). 0, or the exit status after
 * printing the error.
 */
int traces_open(struct session *s);
int traces_begin(struct session *s);

/*
 * Forgets files that nobody will map again, once their names are written: see vanished_let_go(). To
 * be called every 10 s.
 */
struct error *traces_let_go(struct session *s, uint64_t now_ns);

/* Ends the current file; `last`: no more samples will come. */
struct error *traces_finish(struct session *s, uint64_t now_ns, bool last);

/* Ends work on the current file, after traces_finish(): it is closed, or waits for names. */
struct error *traces_close(struct session *s) ERROR_CHECKED;

/* Takes the names that were found for files before the current one, and removes those too old. */
void traces_take_names(struct session *s, uint64_t now_ns);

/* When the next file is due by time; UINT64_MAX: there is no such limit. */
uint64_t traces_due_ns(const struct session *s);

/*
 * Switches to a new file when one is due, when `signal` requests it, or when this one holds nearly
 * what a trace can. 0, or the exit status after printing the error.
 */
int traces_switch(struct session *s, uint64_t now_ns, int signal);

/* True when the recording has reached --max-size, or nearly what a trace can hold. */
bool traces_full(const struct session *s);

/* Sums over all files. */
void traces_totals(const struct session *s, struct prf_writer_totals *totals);

#endif
