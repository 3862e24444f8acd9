/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include "common/buffer.h"

/*
 * Text from outside: names of files, functions, threads. Anyone may have chosen them, so what
 * would steer a terminal or mislead the eye is never shown as it is.
 */

/*
 * Length of the valid UTF-8 sequence that text begins with, or 0 when there is none:
 * overlong forms, surrogates and what lies above U+10FFFF are none. Never reads past a NUL.
 */
unsigned int utf8_length(const char *text);

/*
 * How many bytes of the text may be shown as they are. After them stands its end, or one character
 * that is shown in some other way: a control character (C0, DEL, C1), a mark that changes the
 * direction of text, a separator of lines or paragraphs, or a byte that belongs to no valid
 * sequence. utf8_skip() is the length of that one.
 */
size_t utf8_visible(const char *text);
unsigned int utf8_skip(const char *text);

/* The text, with \xHH for each byte of what may not be shown as it is. */
void utf8_escape(struct buffer *b, const char *text);

/* The text, with U+FFFD for each byte that belongs to no valid sequence. */
void utf8_append(struct buffer *b, const char *text);

/* One character; U+FFFD for what no text can hold: NUL, which would end it, and what is none. */
void utf8_append_character(struct buffer *b, uint32_t character);

#endif
