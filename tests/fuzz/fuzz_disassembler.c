/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as instructions of each machine that is known: all are shown, none beyond is read. */

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/annotate/disassembler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct disassembly *d, uint64_t address, size_t size)
{
	uint64_t next = address;

	for (size_t i = 0; i < d->count; i++) {
		if (d->list[i].address != next || !d->list[i].size || !d->list[i].text)
			abort();
		if (!strchr(d->list[i].text, INSTRUCTION_ADDRESS) != !d->list[i].refers)
			abort();
		next += d->list[i].size;
	}
	if (next - address != size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	/* Also at the end of the address space, where an address after the code is 0. */
	const uint64_t addresses[] = { 0x1000, -(uint64_t)size };

	for (size_t i = 0; i < 4; i++) {
		struct disassembly d = { 0 };
		struct error *error = disassemble(&d, machines[i % 2], addresses[i / 2], data,
						  size);

		if (!error)
			check(&d, addresses[i / 2], size);
		error_free(error);
		disassembly_release(&d);
	}
	return 0;
}
