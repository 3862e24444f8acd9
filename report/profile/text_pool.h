/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_TEXT_POOL_H
#define REPORT_PROFILE_TEXT_POOL_H

/* Strings, each kept once and numbered from 0. Starts as { 0 }. */

#include "common/map.h"

struct text_pool {
	struct map ids;
	char **texts;
	size_t count, capacity;
};

void text_pool_release(struct text_pool *p);

/* The number of a string, which is copied; PRF_NONE (UINT32_MAX) without memory. */
uint32_t text_pool_add(struct text_pool *p, const char *text);

/* The string; stays until text_pool_release(). */
const char *text_pool_get(const struct text_pool *p, uint32_t id);

/* The pool's copy of a string; NULL without memory. */
const char *text_pool_keep(struct text_pool *p, const char *text);

#endif
