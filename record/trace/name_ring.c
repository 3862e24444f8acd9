/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/name_ring.h"

#include <string.h>

#include "bpf/abi/v8.h"
#include "record/javascript/javascript.h"
#include "record/scripts/scripts.h"

static void add(const struct name_ring *r, const void *data, uint32_t size)
{
	uint64_t code = 0;

	if (size >= sizeof(code))
		memcpy(&code, data, sizeof(code));
	if (code & V8_NAME)
		javascript_add_name(r->javascript, data, size);
	else
		script_names_add(scripts_names(r->scripts), data, size);
}

void name_ring_read(const struct name_ring *r)
{
	const void *data;
	uint32_t size;

	while ((data = ring_peek(r->ring, &size))) {
		add(r, data, size);
		ring_next(r->ring);
	}
}
