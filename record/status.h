/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_STATUS_H
#define RECORD_STATUS_H

#include "record/recording.h"

/* Sampling begins: says what the user may want to know. */
void status_begin(const struct session *s);

/* Updates the status line, if standard error is a terminal. */
void status_show(const struct session *s, uint64_t now_ns);

/* Clears that line, and prints a summary. */
void status_end(const struct session *s);

#endif
