/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_PLANE_BOUNDS_H
#define FORMAT_PLANE_BOUNDS_H

/*
 * Where the planes of a payload's columns begin and end. zstd has one table of byte frequencies for
 * each of its own blocks; the planes differ so much that each wants its own. A reader needs
 * to know nothing of this.
 */

#include <stddef.h>
#include <stdint.h>

#define PLANE_BOUNDS_MAX 128

/* Ascending offsets, each above 0 and below `size`; how many. 0 for payloads without columns. */
size_t plane_bounds_find(uint16_t type, const uint8_t *raw, size_t size,
			 size_t plane_bounds[PLANE_BOUNDS_MAX]);

#endif
