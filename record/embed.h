/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

/*
 * prof-record --embed: when the trace is complete, the prof-report next to this program writes a
 * copy with all names in it, which replaces the trace. The recorder itself resolves no symbols. If
 * the copy fails, the trace stays as it was recorded.
 */

/* 0, or -1 after printing the error and the command that embeds the names later. */
int embed_names_into(const char *path);

#endif
