/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_scopes.h"

#include <string.h>

#define LINES_MAX 65536 /* bytecodes of a method, and so entries of its table */

uint32_t hotspot_number(struct cursor *c, bool no_zero)
{
	const unsigned int excluded = no_zero ? 1 : 0, low = 192 - excluded;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < 5; i++) {
		uint32_t byte = cursor_u8(c);

		sum += (byte - excluded) << (6 * i);
		if (byte < low + excluded)
			break;
	}
	return cursor_ok(c) ? sum : 0;
}

static int32_t signed_number(struct cursor *c, bool no_zero)
{
	uint32_t value = hotspot_number(c, no_zero);

	return (int32_t)(value >> 1 ^ -(value & 1));
}

bool hotspot_scope_at(const uint8_t *data, size_t size, bool no_zero, uint32_t offset,
		      struct hotspot_scope *scope)
{
	struct cursor c = cursor_over(data, size);

	if (!offset || offset >= size)
		return false;
	cursor_seek(&c, offset);
	scope->sender = hotspot_number(&c, no_zero);
	scope->method = hotspot_number(&c, no_zero);
	scope->bci = (int32_t)hotspot_number(&c, no_zero) - 1;
	return cursor_ok(&c);
}

static int32_t pc_of(const struct hotspot_pcs *pcs, size_t i)
{
	int32_t pc;

	memcpy(&pc, pcs->data + i * pcs->stride + pcs->pc, sizeof(pc));
	return pc;
}

uint32_t hotspot_pcs_find(const struct hotspot_pcs *pcs, uint32_t offset)
{
	size_t low = 0, high = pcs->count;
	uint32_t scope;

	/* They are sorted; those at both ends are guards. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pc_of(pcs, middle) < (int32_t)offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low + 1 >= pcs->count)
		return 0;
	memcpy(&scope, pcs->data + low * pcs->stride + pcs->scope, sizeof(scope));
	return scope;
}

uint32_t hotspot_line_at(struct cursor table, bool no_zero, uint32_t bci, uint32_t *first)
{
	int64_t at = 0, line = 0, best_at = -1;
	uint32_t best = 0;

	*first = 0;
	for (unsigned int n = 0; n < LINES_MAX; n++) {
		uint8_t next = cursor_u8(&table);

		if (!next || !cursor_ok(&table))
			break;
		if (next == 0xff) {
			at += signed_number(&table, no_zero);
			line += signed_number(&table, no_zero);
		} else {
			at += next >> 3;
			line += next & 7;
		}
		if (!cursor_ok(&table) || line <= 0 || line > INT32_MAX || at < 0 ||
		    at > UINT16_MAX)
			continue;
		if (!*first || line < *first)
			*first = (uint32_t)line;
		if (at <= bci && at >= best_at) {
			best_at = at;
			best = (uint32_t)line;
		}
	}
	return best;
}
