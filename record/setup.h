/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SETUP_H
#define RECORD_SETUP_H

#include "record/recording.h"

/*
 * Opens everything that a recording needs, up to the trace file, each part after those that it
 * depends on. 0, or the program's exit status after printing the error.
 */
int session_set_up(struct session *s);

#endif
