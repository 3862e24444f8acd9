/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SETUP_H
#define RECORD_SETUP_H

#include "record/recording.h"

/*
 * Opens all that a recording needs, in the order in which it must be there, up to the trace
 * file. 0, or the program's exit status after telling the user what is wrong.
 */
int session_set_up(struct session *s);

#endif
