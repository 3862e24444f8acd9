/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

/* One recording from beginning to end. */

struct settings;

/* Records as set, and prints how it went. Returns the program's exit status. */
int session_run(struct settings *settings);

#endif
