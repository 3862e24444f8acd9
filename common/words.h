/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_WORDS_H
#define COMMON_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether the text is one of `n` words. */
static inline bool words_have(const char *const *words, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], text))
			return true;
	return false;
}

#endif
