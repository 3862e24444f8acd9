/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_patterns.h"

#include <string.h>

#include "record/unwind/unwind_arch.h"

/* The entry point's code is short. Its rule ends where the next known code begins. */
#define ENTRY_SIZE 64

#if defined(__x86_64__)
static void plt(const struct elf_file *e, const struct elf_section *s, code_pattern_function *found,
		void *context)
{
	struct unwind_rule rule;

	/* Only .plt pushes: the first entry jumps on with two words on the stack. */
	if (strcmp(s->name, ".plt") != 0) {
		rule = unwind_rule_at_entry(8);
		found(context, s->address, s->address + s->size, &rule);
		return;
	}
	if (s->size <= ARCH_PLT_ENTRY)
		return;
	rule = unwind_rule_plt(16, 6);
	found(context, s->address, s->address + ARCH_PLT_ENTRY, &rule);
	rule = unwind_rule_plt(8, 11);
	found(context, s->address + ARCH_PLT_ENTRY, s->address + s->size, &rule);
}

/* The size of an endbr64 at the beginning of the code: functions have one if built with CET. */
static size_t endbr_size(const struct cursor *c)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return cursor_left(c) >= sizeof(endbr) && !memcmp(c->at, endbr, sizeof(endbr))
		       ? sizeof(endbr)
		       : 0;
}

/* crti.o and crtn.o: [endbr64] sub $8,%rsp ... add $8,%rsp; ret */
static void init_or_fini(const struct elf_file *e, const struct elf_section *s,
			 code_pattern_function *found, void *context)
{
	static const uint8_t enter[] = { 0x48, 0x83, 0xec, 0x08 };
	static const uint8_t leave[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	struct cursor c = elf_section_data(e, s);
	size_t size = cursor_left(&c), at = endbr_size(&c);
	struct unwind_rule outside = unwind_rule_at_entry(8), inside = unwind_rule_at_entry(16);

	if (size < at + sizeof(enter) + sizeof(leave) ||
	    memcmp(c.at + at, enter, sizeof(enter)) != 0 ||
	    memcmp(c.at + size - sizeof(leave), leave, sizeof(leave)) != 0)
		return;
	found(context, s->address, s->address + at + sizeof(enter), &outside);
	found(context, s->address + at + sizeof(enter), s->address + size - 1, &inside);
	found(context, s->address + size - 1, s->address + size, &outside);
}

/* glibc's __start_context: [endbr64] mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi */
bool code_begins_stack(const struct elf_file *e, uint64_t address, uint64_t size)
{
	static const uint8_t begin[] = {
		0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff
	};
	struct cursor c;
	size_t at;

	if (size < sizeof(begin) || size > 64)
		return false;
	c = elf_file_at(e, address);
	at = endbr_size(&c);
	return cursor_left(&c) >= at + sizeof(begin) &&
	       memcmp(c.at + at, begin, sizeof(begin)) == 0;
}
#else
/* glibc's __startcontext: [bti or nop] mov x0,x19; cbnz x0,setcontext; b exit */
bool code_begins_stack(const struct elf_file *e, uint64_t address, uint64_t size)
{
	struct cursor c;

	if (size != 12 && size != 16)
		return false;
	c = elf_file_at(e, address);
	if (size == 16 && (cursor_u32(&c) & 0xfffff01f) != 0xd503201f)
		return false;
	return cursor_u32(&c) == 0xaa1303e0 && (cursor_u32(&c) & 0xff00001f) == 0xb5000000 &&
	       cursor_u32(&c) >> 26 == 5;
}

/*
 * A linkage table of arm64 does not touch the stack before it jumps, but for its first entry, which
 * calls the dynamic linker: [bti c] stp x16,x30,[sp,#-16]!
 */
static void plt(const struct elf_file *e, const struct elf_section *s, code_pattern_function *found,
		void *context)
{
	static const uint32_t push = 0xa9bf7bf0;
	struct unwind_rule outside = unwind_rule_at_entry(0), inside = unwind_rule_at_entry(16);
	uint64_t at = s->address, pushed = at + 4, end = at + s->size;
	struct cursor c = elf_section_data(e, s);
	bool pushes = cursor_u32(&c) == push;

	if (!pushes) {
		pushes = cursor_u32(&c) == push;
		pushed += 4;
	}
	if (pushes && s->size >= 2 * ARCH_PLT_ENTRY) {
		found(context, at, pushed, &outside);
		at += 2 * ARCH_PLT_ENTRY;
		found(context, pushed, at, &inside);
	}
	found(context, at, end, &outside);
}

static void init_or_fini(const struct elf_file *e, const struct elf_section *s,
			 code_pattern_function *found, void *context)
{
}
#endif

void code_patterns_each(const struct elf_file *e, code_pattern_function *found, void *context)
{
	static const struct unwind_rule end = { .kind = UNWIND_END };

	for (size_t i = 0; i < e->section_count; i++) {
		const struct elf_section *s = &e->sections[i];

		if (s->type != SHT_PROGBITS || !(s->flags & SHF_EXECINSTR) || !s->size ||
		    s->address + s->size < s->address)
			continue;
		if (strncmp(s->name, ".plt", 4) == 0)
			plt(e, s, found, context);
		else if (strcmp(s->name, ".init") == 0 || strcmp(s->name, ".fini") == 0)
			init_or_fini(e, s, found, context);
	}
	/* On x86-64 the code itself says where it ends (code_analysis.h). */
	if (e->machine != EM_X86_64 && e->entry && e->entry + ENTRY_SIZE > e->entry)
		found(context, e->entry, e->entry + ENTRY_SIZE, &end);
}
