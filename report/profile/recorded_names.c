/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/recorded_names.h"

#include "common/array.h"

#include <stdlib.h>

struct error *recorded_names_add(struct recorded_names *r, uint32_t frame,
				 const struct prf_place *places, size_t n)
{
	/* Every stack goes through all of them, for each of its frames. */
	if (!n || n > RECORDED_PLACES_MAX)
		return NULL;
	if (!array_reserve(&r->list, &r->capacity, r->count + 1) ||
	    !array_reserve(&r->places, &r->place_capacity, r->place_count + n))
		return error_memory();
	for (size_t i = 0; i < n; i++) {
		struct prf_place *place = &r->places[r->place_count + i];

		*place = places[i];
		place->function = text_pool_keep(&r->texts, places[i].function);
		place->file = text_pool_keep(&r->texts, places[i].file);
		if (!place->function || !place->file)
			return error_memory();
	}
	r->list[r->count++] = (struct recorded_name){ frame, (uint32_t)r->place_count,
						      (uint32_t)n };
	r->place_count += n;
	return NULL;
}

void recorded_names_release(struct recorded_names *r)
{
	free(r->list);
	free(r->places);
	text_pool_release(&r->texts);
	*r = (struct recorded_names){ 0 };
}
