/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an ELF file says of the files that it needs: as it is asked for, each time the same. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/elf_needs.h"
#include "tests/fuzz/elf_input.h"

#define ENOUGH 256

struct seen {
	size_t count;
	uint64_t sum; /* of kinds and texts, in their order */
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static bool take(void *context, enum elf_need need, const char *text)
{
	struct seen *seen = context;

	check(need <= ELF_NEED_LIBRARY && strlen(text) < PATH_MAX);
	seen->sum = seen->sum * 31 + need;
	for (; *text; text++)
		seen->sum = seen->sum * 31 + (uint8_t)*text;
	return ++seen->count < ENOUGH;
}

static bool take_one(void *context, enum elf_need need, const char *text)
{
	(*(size_t *)context)++;
	return false;
}

static void read_needs(const struct elf_file *file)
{
	struct seen first = { 0 }, second = { 0 };
	size_t one = 0;

	elf_needs_each(file, take, &first);
	check(first.count <= ENOUGH);
	elf_needs_each(file, take, &second);
	check(first.count == second.count && first.sum == second.sum);
	elf_needs_each(file, take_one, &one);
	check(one == (first.count > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elf_input(data, size, read_needs);
	return 0;
}
