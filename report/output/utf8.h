/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_UTF8_H
#define REPORT_OUTPUT_UTF8_H

#include "common/buffer.h"

/*
 * Length of the valid UTF-8 sequence that text begins with, or 0 when there is none:
 * overlong forms, surrogates and what lies above U+10FFFF are none. Never reads past a NUL.
 */
unsigned int utf8_length(const char *text);

/* The text, with U+FFFD for each byte that belongs to no valid sequence. */
void utf8_append(struct buffer *b, const char *text);

#endif
