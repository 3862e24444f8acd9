/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Records of the kernel half whose every byte a target chose: lengths, widths, tables. The input
 * is one record, and its first byte the place in the code that is asked for.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script_frame frame = { 0 };
	struct script_name *record = calloc(1, sizeof(*record));
	struct script_names *names = script_names_new(&(struct script_names_options){ 0 });
	struct prf_writer *w = NULL;
	uint32_t id;
	bool settled;

	if (!record || !names ||
	    error_ignore(prf_writer_new(&w, &(struct prf_writer_options){ .fd = -1 })))
		abort();
	script_names_set_writer(names, w);
	if (size && size - 1 <= sizeof(*record)) {
		memcpy(record, data + 1, size - 1);
		script_names_add(names, record, size - 1);
		frame.code = record->code & SCRIPT_CODE;
		frame.position = (record->cookie & ~SCRIPT_POSITION) | data[0];
		error_free(script_names_frame(names, &frame, &id, &settled));
	}
	script_names_free(names);
	prf_writer_free(w);
	free(record);
	return 0;
}
