/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/array.h"

#include <stdlib.h>

#define SMALLEST 16

bool array_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
	void **items = array, *grown;
	size_t more = *capacity ? *capacity * 2 : SMALLEST;

	if (more < wanted)
		more = wanted;
	grown = reallocarray(*items, more, size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = more;
	return true;
}
