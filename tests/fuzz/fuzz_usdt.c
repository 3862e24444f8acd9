/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/usdt.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *check(const char *provider, const char *name, struct event_place place,
			   void *context)
{
	size_t size = *(const size_t *)context;

	if (place.offset >= size || place.semaphore >= size || strlen(provider) > size ||
	    strlen(name) > size)
		__builtin_trap();
	return NULL;
}

/* Whatever the notes say, places and counters lie within the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file file;

	if (elf_file_open_memory(&file, data, size))
		return 0;
	error_ignore(usdt_each(&file, check, &size));
	elf_file_release(&file);
	return 0;
}
