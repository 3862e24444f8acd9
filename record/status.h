/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_STATUS_H
#define RECORD_STATUS_H

#include "record/recording.h"

/* On a terminal: one line that is written over and over. */
void status_show(const struct session *s, uint64_t now_ns);

/* Clears that line, and says how it went. */
void status_end(const struct session *s);

#endif
