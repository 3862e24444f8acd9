/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/function_starts.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/limits.h"
#include "common/sorted.h"
#include "record/unwind/x86_instruction.h"

#define CALL 0xe8
#define LEA 0x8d
#define REX_W 0x48
#define RIP_RELATIVE 5
/* Instructions that are read from a wrong place soon agree with the right ones again. */
#define BYTES_TO_AGREE 64

static void add(struct function_starts *s, const struct code_source *from, uint64_t address,
		const char *name)
{
	if (code_ranges_have(from->gaps, address) && s->n < LIMIT_FUNCTION_STARTS &&
	    array_reserve(&s->all, &s->capacity, s->n + 1))
		s->all[s->n++] = (struct function_start){ address, name };
}

static void add_symbols(struct function_starts *s, const struct code_source *from)
{
	uint64_t address;

	/* Without symbols there are the calls. */
	if (error_ignore(elf_symbols_read(&s->symbols, from->file)))
		return;
	for (size_t i = 0; i < s->symbols.n; i++)
		if (elf_file_offset_to_address(from->file, s->symbols.symbols[i].start, &address))
			add(s, from, address, s->symbols.symbols[i].name);
}

static void add_go(struct function_starts *s, const struct code_source *from)
{
	struct go_function f;

	for (size_t i = 0; i < from->go->count && go_functions_get(from->go, i, &f); i++)
		add(s, from, f.start, f.name);
}

/* Bytes that are being searched for calls. */
struct code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	size_t read; /* an instruction begins here */
};

/* Whether an instruction begins at the offset; offsets never go back. */
static bool is_instruction(struct code *c, size_t at)
{
	if (at > BYTES_TO_AGREE && c->read < at - BYTES_TO_AGREE)
		c->read = at - BYTES_TO_AGREE;
	while (c->read < at) {
		uint8_t size = x86_instruction_at(c->bytes + c->read, c->size - c->read).size;

		c->read += size ? size : 1;
	}
	return c->read == at;
}

/* Whether the address lies in code of which only the calls may say where functions begin. */
static bool needs_calls(const struct code_source *from, uint64_t address)
{
	return code_ranges_have(from->gaps, address) &&
	       (!from->go || go_functions_at(from->go, address) == from->go->count);
}

static int32_t distance_at(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

/* Most calls are of functions with unwind information: they need not be decoded. */
static void add_calls(struct function_starts *s, const struct code_source *from, struct code c)
{
	const uint8_t *at = c.bytes, *end = c.bytes + c.size;

	while (end - at >= 5 && (at = memchr(at, CALL, (size_t)(end - at) - 4)) &&
	       !code_source_is_stopped(from->stop)) {
		size_t offset = (size_t)(at - c.bytes);
		uint64_t target = c.address + offset + 5 + (uint64_t)(int64_t)distance_at(at + 1);

		if (needs_calls(from, target) && is_instruction(&c, offset))
			add(s, from, target, "");
		at++;
	}
}

/* Whether no instruction leads on to the one at the offset: a function may begin there. */
static bool is_after_end(const struct code *c, size_t offset)
{
	size_t at = offset > BYTES_TO_AGREE ? offset - BYTES_TO_AGREE : 0;
	uint8_t effect = X86_OTHER;

	while (at < offset) {
		struct x86_instruction i = x86_instruction_at(c->bytes + at, c->size - at);

		effect = i.size ? i.effect : X86_OTHER;
		at += i.size ? i.size : 1;
	}
	return at == offset &&
	       (effect == X86_RETURN || effect == X86_JUMP || effect == X86_JUMP_FAR ||
		effect == X86_STOP || effect == X86_PADDING);
}

/*
 * Functions that are only called by pointer, as those that threads begin with:
 * lea distance(%rip),register
 */
static void add_pointers(struct function_starts *s, const struct code_source *from, struct code c)
{
	const uint8_t *at = c.bytes + 1, *end = c.bytes + c.size;

	while (end - at >= 6 && (at = memchr(at, LEA, (size_t)(end - at) - 5)) &&
	       !code_source_is_stopped(from->stop)) {
		size_t lea = (size_t)(at - c.bytes) - 1;
		uint64_t target = c.address + lea + 7 + (uint64_t)(int64_t)distance_at(at + 2);

		if ((at[-1] & 0xfb) == REX_W && (at[1] & 0xc7) == RIP_RELATIVE &&
		    target - c.address < c.size && needs_calls(from, target) &&
		    is_instruction(&c, lea) && is_after_end(&c, (size_t)(target - c.address)))
			add(s, from, target, "");
		at++;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct function_start *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Those with a name first. */
	return !*x->name - !*y->name;
}

static void sort(struct function_starts *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), by_address);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->all[n - 1].address != s->all[i].address)
			s->all[n++] = s->all[i];
	s->n = n;
}

void function_starts_find(struct function_starts *s, const struct code_source *from)
{
	const struct elf_file *e = from->file;

	uint64_t left = LIMIT_SEARCHED_BYTES;

	*s = (struct function_starts){ 0 };
	add_symbols(s, from);
	if (from->go)
		add_go(s, from);
	if (e->entry)
		add(s, from, e->entry, "");
	for (size_t i = 0; i < from->code->n; i++) {
		const struct code_range *range = &from->code->all[i];
		struct cursor c = elf_file_at(e, range->start);
		size_t size = cursor_left(&c);

		if (size > range->end - range->start)
			size = range->end - range->start;
		if (size > left)
			size = left;
		if (!size)
			continue;
		left -= size;
		add_calls(s, from, (struct code){ c.at, size, range->start, 0 });
		add_pointers(s, from, (struct code){ c.at, size, range->start, 0 });
	}
	sort(s);
}

void function_starts_release(struct function_starts *s)
{
	elf_symbols_release(&s->symbols);
	free(s->all);
	*s = (struct function_starts){ 0 };
}

size_t function_starts_next(const struct function_starts *s, uint64_t address)
{
	const struct sorted_key by = SORTED_BY(struct function_start, address);

	return address ? sorted_up_to(s->all, s->n, by, address - 1) : 0;
}
