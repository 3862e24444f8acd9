/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * DWARF sections: units, DIEs, ranges, inlined calls and line tables. The input is a byte for
 * each section that says how much of the rest it gets (in 255ths), then the sections.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/dwarf/dwarf_lookup.h"

#define ADDRESSES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Copies, so that a read beyond a section's end is detected. */
static void take_sections(struct dwarf *d, void **copies, const uint8_t *data, size_t size)
{
	size_t at = DWARF_SECTIONS, rest = size - at;

	for (int i = 0; i < DWARF_SECTIONS; i++) {
		size_t part = rest * data[i] / 255;

		if (part > size - at)
			part = size - at;
		copies[i] = malloc(part ? part : 1);
		if (!copies[i])
			continue;
		memcpy(copies[i], data + at, part);
		d->section[i].data = copies[i];
		d->section[i].size = part;
		at += part;
	}
}

static void look_up(struct dwarf *d, const uint64_t *addresses)
{
	uint32_t units[ADDRESSES];

	dwarf_find_units(d, addresses, ADDRESSES, units);
	for (size_t i = 0; i < d->unit_count; i++) {
		struct dwarf_answer answers[ADDRESSES];
		struct arena arena = { 0 };
		const struct dwarf_lookup lookup = { .addresses = addresses,
						     .n = ADDRESSES,
						     .inlines = true,
						     .lines = true,
						     .arena = &arena };

		/* All addresses in every unit, whatever it says about itself. */
		dwarf_lookup_unit(&lookup, &d->units[i], answers);
		arena_release(&arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf d = { .code_low = 0, .code_high = UINT64_MAX };
	void *copies[DWARF_SECTIONS] = { 0 };
	uint64_t addresses[ADDRESSES];

	if (size < DWARF_SECTIONS)
		return 0;
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i < ADDRESSES / 2 ? i * 16 : 0x1000 + i * 64;
	take_sections(&d, copies, data, size);
	d.alternate = &d;
	if (!dwarf_index(&d))
		look_up(&d, addresses);
	dwarf_release(&d);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		free(copies[i]);
	return 0;
}
