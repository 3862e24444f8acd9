/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/machine_code.h"

#include <elf.h>
#include <string.h>

#include "common/limits.h"
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

/*
 * The function that is called at byte `i`, of the five of a call rel32; without a start where there
 * is none. Bytes within another instruction may look like a call, which leads elsewhere.
 */
static struct code_range callee_at(const uint8_t *code, uint64_t i, const struct cfi *cfi,
				   const struct code_range *function)
{
	struct code_range callee = { 0 };
	uint64_t target;

	if (code[i] != 0xe8)
		return callee;
	target = machine_code_target(code + i + 1, function->start + i + 5);
	callee = function_at(cfi, target);
	return callee.start == target ? callee : (struct code_range){ 0 };
}

struct code_range machine_code_largest_callee(const struct elf_file *e,
					      const struct code_range *function, uint64_t least)
{
	uint64_t size = function->end - function->start;
	const uint8_t *code = bytes_of(e, function);
	struct code_range largest = { 0 };
	struct cfi cfi;

	if (!code || !open_frames(&cfi, e))
		return largest;
	for (uint64_t i = 0; i + 5 <= size; i++) {
		struct code_range callee = callee_at(code, i, &cfi, function);

		if (callee.start && callee.start != function->start &&
		    callee.end - callee.start >= least &&
		    callee.end - callee.start > largest.end - largest.start)
			largest = callee;
	}
	cfi_release(&cfi);
	return largest;
}

struct code_range machine_code_called_before(const struct elf_file *e,
					     const struct code_range *function, const void *bytes,
					     size_t n)
{
	uint64_t size = function->end - function->start;
	const uint8_t *code = bytes_of(e, function);
	struct code_range all = { 0 };
	struct cfi cfi;

	if (!code || !open_frames(&cfi, e))
		return all;
	for (uint64_t i = 0; i + 5 + n <= size; i++) {
		struct code_range callee;

		if (memcmp(code + i + 5, bytes, n) != 0)
			continue;
		callee = callee_at(code, i, &cfi, function);
		if (!callee.start)
			continue;
		if (!all.start || callee.start < all.start)
			all.start = callee.start;
		if (callee.end > all.end)
			all.end = callee.end;
	}
	cfi_release(&cfi);
	return all;
}

/* -------- in all code of a file -------- */

/* What is looked for: an instruction with a 32-bit displacement, and where it leads. */
struct search {
	const struct cfi *cfi;
	uint8_t bytes[8]; /* before the displacement */
	size_t n;
	/* Whether it is one that leads to `target`, from `at`; and which function that says. */
	struct code_range (*found)(const struct search *s, uint64_t at, uint64_t target);
	struct code_range function;
	uint64_t least;
	uint64_t left; /* bytes that are looked at still, of all segments: these may overlap */
};

/* False: there are several. */
static bool search_segment(struct search *s, const struct elf_file *e,
			   const struct elf_segment *segment, struct code_range *only)
{
	struct cursor c = elf_file_at(e, segment->address);
	uint64_t size = segment->file_size < s->left ? segment->file_size : s->left;
	const uint8_t *code = cursor_bytes(&c, size), *at = code;
	const uint8_t *end = code ? code + size : NULL;

	s->left -= size;
	for (; code && (at = memmem(at, (size_t)(end - at), s->bytes, s->n)); at++) {
		uint64_t from = segment->address + (uint64_t)(at - code), next = from + s->n + 4;
		struct code_range one;

		if ((size_t)(end - at) < s->n + 4)
			break;
		one = s->found(s, from, machine_code_target(at + s->n, next));
		if (!one.start)
			continue;
		if (only->start && only->start != one.start)
			return false;
		*only = one;
	}
	return true;
}

static struct code_range search(struct search *s, const struct elf_file *e)
{
	struct code_range only = { 0 };
	struct cfi cfi;

	if (e->machine != EM_X86_64 || !open_frames(&cfi, e))
		return only;
	s->cfi = &cfi;
	s->left = LIMIT_RUNTIME_CODE_BYTES;
	for (size_t i = 0; i < e->load_count; i++)
		if (e->loads[i]->flags & PF_X && !search_segment(s, e, e->loads[i], &only)) {
			only = (struct code_range){ 0 };
			break;
		}
	cfi_release(&cfi);
	return only;
}

static struct code_range large_target(const struct search *s, uint64_t at, uint64_t target)
{
	struct code_range f = function_at(s->cfi, target);

	return f.start == target && f.end - f.start >= s->least ? f : (struct code_range){ 0 };
}

struct code_range machine_code_jumped_to(const struct elf_file *e, const void *bytes, size_t n,
					 uint64_t least)
{
	struct search s = { .found = large_target, .least = least, .n = n + 1 };

	if (s.n > sizeof(s.bytes))
		return (struct code_range){ 0 };
	memcpy(s.bytes, bytes, n);
	s.bytes[n] = 0xe9; /* jmp rel32 */
	return search(&s, e);
}

static struct code_range caller(const struct search *s, uint64_t at, uint64_t target)
{
	return target == s->function.start ? function_at(s->cfi, at) : (struct code_range){ 0 };
}

struct code_range machine_code_only_caller(const struct elf_file *e,
					   const struct code_range *function)
{
	struct search s = { .found = caller, .function = *function, .n = 1 };

	s.bytes[0] = 0xe8; /* call rel32 */
	return search(&s, e);
}
