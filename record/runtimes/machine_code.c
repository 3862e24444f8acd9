/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/machine_code.h"

#include <elf.h>

#include "common/sorted.h"
#include "record/unwind/cfi.h"

#define FUNCTION_MAX (1u << 20) /* bytes; of a larger one nothing is read */

uint32_t machine_code_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

uint64_t machine_code_target(const uint8_t *bytes, uint64_t next)
{
	return next + (uint64_t)(int64_t)(int32_t)machine_code_u32(bytes);
}

/* NULL when the function cannot be read. */
static const uint8_t *bytes_of(const struct elf_file *e, const struct code_range *function)
{
	struct cursor c = elf_file_at(e, function->start);

	if (e->machine != EM_X86_64 || function->end - function->start > FUNCTION_MAX)
		return NULL;
	return cursor_bytes(&c, function->end - function->start);
}

static bool open_frames(struct cfi *cfi, const struct elf_file *e)
{
	const struct elf_section *section = elf_file_section(e, ".eh_frame");

	if (!section)
		return false;
	if (!cfi_open(cfi, elf_section_data(e, section), section->address, false))
		return true;
	cfi_release(cfi); /* of damaged information, the part before the damage is there */
	return false;
}

/* The unwind information's function that holds an address. */
static struct code_range function_at(const struct cfi *cfi, uint64_t address)
{
	size_t n = sorted_up_to(cfi->fdes, cfi->fde_count, SORTED_BY(struct cfi_fde, start),
				address);
	const struct cfi_fde *fde = n ? &cfi->fdes[n - 1] : NULL;

	if (!fde || address >= cfi_fde_end(fde))
		return (struct code_range){ 0 };
	return (struct code_range){ fde->start, cfi_fde_end(fde) };
}

/*
 * The function that two conditional jumps in a row lead into, of those that leave this one. It may
 * be larger than what is left of the function itself.
 */
static struct code_range follow_jumps(const uint8_t *code, const struct cfi *cfi,
				      const struct code_range *function)
{
	uint64_t size = function->end - function->start, target;
	struct code_range before = { 0 };

	for (uint64_t i = 0; i + 6 <= size; i++) {
		struct code_range cold;

		/* jcc rel32 */
		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80)
			continue;
		target = machine_code_target(code + i + 2, function->start + i + 6);
		if (target - function->start < size)
			continue;
		/* Bytes within another instruction may look like a jump: to somewhere else. */
		cold = function_at(cfi, target);
		if (!cold.start || cold.start == target)
			continue;
		if (cold.start == before.start)
			return cold;
		before = cold;
	}
	return (struct code_range){ 0 };
}

void machine_code_put_ranges(__u64 to[4], const struct code_range *function,
			     const struct code_range *cold)
{
	to[0] = function->start;
	to[1] = function->end;
	to[2] = cold->start;
	to[3] = cold->end;
}

struct code_range machine_code_cold(const struct elf_file *e, const struct code_range *function,
				    const struct elf_name *cold)
{
	const uint8_t *code = bytes_of(e, function);
	struct code_range found = { 0 };
	struct cfi cfi;

	if (cold->address)
		return (struct code_range){ cold->address, cold->address + cold->size };
	if (!code || !open_frames(&cfi, e))
		return found;
	found = follow_jumps(code, &cfi, function);
	cfi_release(&cfi);
	return found;
}

struct code_range machine_code_largest_callee(const struct elf_file *e,
					      const struct code_range *function, uint64_t least)
{
	uint64_t size = function->end - function->start, target;
	const uint8_t *code = bytes_of(e, function);
	struct code_range largest = { 0 }, callee;
	struct cfi cfi;

	if (!code || !open_frames(&cfi, e))
		return largest;
	for (uint64_t i = 0; i + 5 <= size; i++) {
		/* call rel32 */
		if (code[i] != 0xe8)
			continue;
		target = machine_code_target(code + i + 1, function->start + i + 5);
		callee = function_at(&cfi, target);
		if (callee.start && callee.start == target && target != function->start &&
		    callee.end - callee.start >= least &&
		    callee.end - callee.start > largest.end - largest.start)
			largest = callee;
	}
	cfi_release(&cfi);
	return largest;
}
