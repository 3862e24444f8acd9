/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/side_record.h"
#include "record/system/proc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the kernel reports about mappings: as a record of the side band, and as text of /proc. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct side_record record;
	struct proc_mapping m;
	char *text = malloc(size + 1), *rest = text;

	if (side_record_read(&record, data, size)) {
		/* The name must end within the bytes. */
		volatile size_t length = strlen(record.name);

		(void)length;
		if (record.map.build_id_size > PRF_BUILD_ID_MAX && record.type == SIDE_RECORD_MAP)
			__builtin_trap();
	}
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	while ((rest = proc_next_mapping(rest, &m)))
		if (m.end <= m.start || strlen(m.path) > size)
			__builtin_trap();
	free(text);
	return 0;
}
