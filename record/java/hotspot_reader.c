/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_reader.h"

#include <string.h>

#include "common/clock.h"
#include "common/limits.h"

bool hotspot_reader_init(struct hotspot_reader *r, const struct hotspot *h, struct shares *shares,
			 uint32_t user)
{
	*r = (struct hotspot_reader){ .h = h, .shares = shares, .user = user };
	r->blocks = target_blocks_new(&h->memory);
	if (r->blocks)
		r->memory = target_blocks_memory(r->blocks);
	return r->blocks != NULL;
}

void hotspot_reader_release(struct hotspot_reader *r)
{
	arena_release(&r->arena);
	target_blocks_free(r->blocks);
	shares_give(r->shares, r->user, r->bytes);
}

void hotspot_reader_as_of(struct hotspot_reader *r, uint64_t sample_ns)
{
	if (sample_ns < r->as_of)
		return;
	hotspot_reader_drop(r);
	r->as_of = clock_now();
}

void hotspot_reader_drop(struct hotspot_reader *r)
{
	target_blocks_empty(r->blocks);
}

uint64_t hotspot_reader_field(const struct hotspot_reader *r, enum hotspot_field name)
{
	return r->h->tables.fields[name];
}

bool hotspot_reader_has(const struct hotspot_reader *r, enum hotspot_field name)
{
	return r->h->tables.fields[name] != HOTSPOT_MISSING;
}

bool hotspot_reader_u64(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint64_t *value)
{
	return hotspot_reader_has(r, name) &&
	       target_u64(&r->memory, object + hotspot_reader_field(r, name), value);
}

bool hotspot_reader_u32(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint32_t *value)
{
	return hotspot_reader_has(r, name) &&
	       target_u32(&r->memory, object + hotspot_reader_field(r, name), value);
}

bool hotspot_reader_u16(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint16_t *value)
{
	return hotspot_reader_has(r, name) &&
	       target_u16(&r->memory, object + hotspot_reader_field(r, name), value);
}

bool hotspot_reader_no_zero(const struct hotspot_reader *r)
{
	return r->h->version >= 20;
}

void *hotspot_reader_take_room(struct hotspot_reader *r, size_t size)
{
	if (r->bytes + size > LIMIT_JAVA_BYTES || !shares_may_take(r->shares, r->user, size))
		return NULL;
	r->bytes += size;
	shares_take(r->shares, r->user, size);
	return arena_take(&r->arena, size);
}

const char *hotspot_reader_keep_text(struct hotspot_reader *r, const char *text)
{
	size_t size = strlen(text);
	char *copy = hotspot_reader_take_room(r, size + 1);

	return copy ? memcpy(copy, text, size + 1) : NULL;
}
