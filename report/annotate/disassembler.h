/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_DISASSEMBLER_H
#define REPORT_ANNOTATE_DISASSEMBLER_H

/*
 * Machine code as text, by libopcodes of binutils where the build found it (.ci/disassembler). The
 * code may be any bytes: what is no instruction becomes "(bad)" or ".byte", and no byte outside of
 * what was given is read.
 */

#include "common/arena.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the text of an instruction: here the address that it refers to is to be written. */
#define INSTRUCTION_ADDRESS '\1'

struct instruction {
	uint64_t address;
	uint32_t size; /* in bytes */
	bool jumps;    /* a jump or a call, to `target` if refers */
	bool refers;   /* the text has an INSTRUCTION_ADDRESS */
	uint64_t target;
	const char *text;
};

/* In order of address. Starts as { 0 }. */
struct disassembly {
	struct instruction *list;
	size_t count, capacity;
	struct arena texts;
};

/*
 * Adds the instructions of `code`, which lies at `address`; `machine` is an EM_* of <elf.h>.
 * ERROR_UNAVAILABLE: this build has no disassembler, or none for that machine.
 */
struct error *disassemble(struct disassembly *d, uint16_t machine, uint64_t address,
			  const uint8_t *code, size_t size) ERROR_CHECKED;
void disassembly_release(struct disassembly *d);

#endif
