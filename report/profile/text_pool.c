/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/text_pool.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

void text_pool_release(struct text_pool *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->texts[i]);
	free(p->texts);
	map_release(&p->ids);
	*p = (struct text_pool){ 0 };
}

uint32_t text_pool_add(struct text_pool *p, const char *text)
{
	size_t length = strlen(text);
	const uint64_t *known = map_get(&p->ids, text, length);
	uint64_t *id;
	char *copy;

	if (known)
		return (uint32_t)*known;
	if (!array_reserve(&p->texts, &p->capacity, p->count + 1))
		return UINT32_MAX;
	copy = malloc(length + 1);
	id = copy ? map_put(&p->ids, text, length, NULL) : NULL;
	if (!id) {
		free(copy);
		return UINT32_MAX;
	}
	memcpy(copy, text, length + 1);
	*id = p->count;
	p->texts[p->count] = copy;
	return (uint32_t)p->count++;
}

const char *text_pool_get(const struct text_pool *p, uint32_t id)
{
	return id < p->count ? p->texts[id] : "";
}

const char *text_pool_keep(struct text_pool *p, const char *text)
{
	uint32_t id = text_pool_add(p, text);

	return id == UINT32_MAX ? NULL : p->texts[id];
}
