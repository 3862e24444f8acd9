/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_builtins.h"

#include <elf.h>
#include <string.h>

#include "common/limits.h"
#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"

#define ENTRY_MAX 4096
#define ALIGNMENT 64 /* of each builtin; int3 before */
#define INT3 0xcc

enum { ENTRY, CODE, CODE_SIZE, NAMES };

static const char *const names[NAMES] = {
	[ENTRY] = "Builtins_InterpreterEntryTrampoline",
	[CODE] = "_ZN2v88internal23DefaultEmbeddedBlobCodeEv",
	[CODE_SIZE] = "_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv",
};

/* -------- what the functions return -------- */

static uint64_t load(const struct elf_file *e, uint64_t address, int size)
{
	struct cursor c = elf_file_at(e, address);
	uint64_t value = size == 4 ? cursor_u32(&c) : cursor_u64(&c);

	return cursor_ok(&c) ? value : 0;
}

/* A pointer as it is once the file is loaded: position-independent files have it elsewhere. */
static uint64_t load_pointer(const struct elf_file *e, uint64_t address)
{
	uint64_t value;

	if (elf_file_relocation(e, address, R_X86_64_RELATIVE, &value))
		return value;
	return load(e, address, 8);
}

/*
 * The number that the function returns: mov $N,%eax; ret, or from a variable of `size` bytes, mov
 * V(%rip),%eax; ret, or lea V(%rip),%rax; mov (%rax),%rax or %eax; ret. 0: it is another one.
 */
static uint64_t returned(const struct elf_file *e, uint64_t function, int size)
{
	struct cursor c = elf_file_at(e, function);
	const uint8_t *code = cursor_bytes(&c, 11);
	uint64_t variable = 0;

	if (!function || !code)
		return 0;
	if (code[0] == 0xb8 && code[5] == 0xc3)
		return machine_code_u32(code + 1);
	if (code[0] == 0x8b && code[1] == 0x05 && code[6] == 0xc3)
		variable = machine_code_target(code + 2, function + 6);
	if (!memcmp(code, "\x48\x8d\x05", 3) &&
	    (!memcmp(code + 7, "\x48\x8b\x00\xc3", 4) || !memcmp(code + 7, "\x8b\x00\xc3", 3)))
		variable = machine_code_target(code + 3, function + 7);
	if (!variable)
		return 0;
	return size == 4 ? load(e, variable, 4) : load_pointer(e, variable);
}

/* -------- the interpreter's entry -------- */

/*
 * push %rbp; mov %rsp,%rbp; push %rsi; push %rdi; push %rax; then a field of the bytecodes, which
 * are in r12, becomes 0.
 */
static bool is_entry(const uint8_t *code)
{
	static const char frame[] = "\x55\x48\x89\xe5\x56\x57\x50", node_18[] = "\x41\xc7\x44\x24",
			  node_20[] = "\x66\x41\xc7\x44\x24";

	return !memcmp(code, frame, 7) &&
	       (!memcmp(code + 7, node_18, 4) || !memcmp(code + 7, node_20, 5));
}

static bool is_begin(const uint8_t *code, size_t at)
{
	return at % ALIGNMENT == 0 && (!at || code[at - 1] == INT3);
}

/* The first one: another one that is for profilers may follow. */
static bool find_entry(struct v8_builtins *b, const struct elf_file *e)
{
	struct cursor c = elf_file_at(e, b->address);
	const uint8_t *code = cursor_bytes(&c, b->size);
	size_t start = 0, end;

	for (size_t i = 0; code && i + 12 <= b->size; i++) {
		if (is_begin(code, i))
			start = i;
		if (!is_entry(code + i))
			continue;
		for (end = i; end < b->size && !is_begin(code, end); end++)
			;
		b->entry = b->address + start;
		b->entry_size = end - start;
		return true;
	}
	return false;
}

bool v8_builtins_find(struct v8_builtins *b, const struct elf_file *e)
{
	struct elf_name found[NAMES], all = { .name = "Builtins_" };

	for (size_t i = 0; i < NAMES; i++)
		found[i].name = names[i];
	elf_names_find(e, found, NAMES);
	elf_names_span(e, &all);
	*b = (struct v8_builtins){ all.address, all.size, found[ENTRY].address, found[ENTRY].size };
	if (!b->entry) {
		b->address = returned(e, found[CODE].address, 8);
		b->size = returned(e, found[CODE_SIZE].address, 4);
		if (!b->address || b->size > LIMIT_RUNTIME_CODE_BYTES || !find_entry(b, e))
			return false;
	}
	return b->entry_size && b->entry_size <= ENTRY_MAX && b->size <= LIMIT_RUNTIME_CODE_BYTES &&
	       b->entry >= b->address && b->entry + b->entry_size <= b->address + b->size;
}
