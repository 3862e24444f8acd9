/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_FIELDS_H
#define FORMAT_FIELDS_H

/*
 * What records are made of, beside the integers of buffer.h and cursor.h (prf.5, "Conventions"
 * and "Definitions"): text, and records with their size before them.
 */

#include "common/buffer.h"
#include "common/cursor.h"

/* The text's bytes and a NUL; cursor_string() reads it. NULL counts as "". */
void text_encode(struct buffer *out, const char *text);

/* A uleb that must fit into 32 bits; else the cursor fails. */
uint32_t u32_decode(struct cursor *c);

/* A record's size and its bytes. */
void record_encode(struct buffer *out, const struct buffer *record);

/* A cursor over the next record; false when it is longer than what is left. */
bool record_decode(struct cursor *c, struct cursor *record);

#endif
