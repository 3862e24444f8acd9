/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

/*
 * prof-record --embed: when the trace is written, the prof-report beside this program copies
 * it with all names in it, and the copy takes its place. The recorder knows nothing of
 * symbols; should it fail, the trace stays as it was recorded.
 */

/* 0, or -1 after printing what went wrong and the command that does it later. */
int embed_names_into(const char *path);

#endif
