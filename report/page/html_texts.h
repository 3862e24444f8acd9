/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_TEXTS_H
#define REPORT_PAGE_HTML_TEXTS_H

/* The texts of a page: each is there once, and the rest of the page has its number. */

#include "common/buffer.h"
#include "common/map.h"

/* Starts as { 0 }. */
struct html_texts {
	struct map numbers;
	struct buffer bytes, lengths;
	bool failed; /* no memory: html_texts_put() passes it on */
};

void html_texts_release(struct html_texts *t);

/* The number of a text; of a very long one, the page has the beginning. */
uint64_t html_text_number(struct html_texts *t, const char *text);

/* Writes all that have a number: their count, the length of each, all bytes. */
void html_texts_put(const struct html_texts *t, struct buffer *out);

#endif
