/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/disassembler.h"

#include "common/array.h"
#include "common/buffer.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

void disassembly_release(struct disassembly *d)
{
	arena_release(&d->texts);
	free(d->list);
	*d = (struct disassembly){ 0 };
}

#ifdef PROF_DISASSEMBLER

/* bfd.h wants to be included after a config.h of autoconf. */
#define PACKAGE "prof"
#define PACKAGE_VERSION PROF_VERSION
#include <dis-asm.h>

/*
 * All that the decoders of x86 need of libbfd is this function for messages of broken assertions,
 * after which they abort. With a definition here libbfd, which is larger than all of prof-report,
 * is not linked; where it is, its own counts.
 */
__attribute__((weak)) void _bfd_error_handler(const char *format, ...)
{
}

/* One instruction under construction. */
struct decoding {
	struct buffer text;
	bool refers;
	uint64_t target;
};

static int add_text(void *context, const char *format, ...)
{
	struct decoding *one = context;
	size_t before = one->text.size;
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&one->text, format, arguments);
	va_end(arguments);
	return (int)(one->text.size - before);
}

static int add_styled(void *context, enum disassembler_style style, const char *format, ...)
{
	struct decoding *one = context;
	size_t before = one->text.size;
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&one->text, format, arguments);
	va_end(arguments);
	return (int)(one->text.size - before);
}

/* Of several addresses in one instruction the first is kept apart; none is known to have more. */
static void add_address(bfd_vma address, struct disassemble_info *info)
{
	struct decoding *one = info->stream;

	if (one->refers) {
		buffer_printf(&one->text, "%llx", (unsigned long long)address);
		return;
	}
	one->refers = true;
	one->target = address;
	buffer_u8(&one->text, INSTRUCTION_ADDRESS);
}

/* An instruction that goes on after the end of the code: the caller makes bytes of it. */
static void end_of_code(int status, bfd_vma address, struct disassemble_info *info)
{
}

static bool set_machine(struct disassemble_info *info, uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		info->arch = bfd_arch_i386;
		info->mach = bfd_mach_x86_64;
		break;
	case EM_AARCH64: info->arch = bfd_arch_aarch64; break;
	default: return false;
	}
	info->endian = info->endian_code = BFD_ENDIAN_LITTLE;
	return true;
}

/* Blanks at the end, which pad mnemonics without operands, go. NULL without memory. */
static const char *finish_text(struct decoding *one, struct arena *texts)
{
	const char *text;

	while (one->text.size && one->text.data[one->text.size - 1] == ' ')
		one->text.size--;
	text = buffer_string(&one->text);
	return buffer_ok(&one->text) ? arena_text(texts, text, one->text.size) : NULL;
}

static bool is_jump(const struct disassemble_info *info)
{
	return info->insn_info_valid &&
	       (info->insn_type == dis_branch || info->insn_type == dis_condbranch ||
		info->insn_type == dis_jsr || info->insn_type == dis_condjsr);
}

static struct error *add_instruction(struct disassembly *d, disassembler_ftype decode,
				     struct disassemble_info *info, uint64_t at)
{
	struct decoding *one = info->stream;
	size_t left = info->buffer_length - (at - info->buffer_vma);
	struct instruction *added;
	int size;

	if (!array_reserve(&d->list, &d->capacity, d->count + 1))
		return error_memory();
	buffer_clear(&one->text);
	one->refers = false;
	info->insn_info_valid = 0;
	size = decode(at, info);
	if (size <= 0 || (size_t)size > left) {
		size = 1;
		one->refers = false;
		info->insn_info_valid = 0;
		buffer_clear(&one->text);
		buffer_printf(&one->text, ".byte 0x%02x", info->buffer[at - info->buffer_vma]);
	}
	added = &d->list[d->count];
	*added = (struct instruction){ .address = at,
				       .size = (uint32_t)size,
				       .refers = one->refers,
				       .jumps = is_jump(info),
				       .target = one->target,
				       .text = finish_text(one, &d->texts) };
	if (!added->text)
		return error_memory();
	d->count++;
	return NULL;
}

struct error *disassemble(struct disassembly *d, uint16_t machine, uint64_t address,
			  const uint8_t *code, size_t size)
{
	struct decoding one = { .text = { 0 } };
	struct disassemble_info info;
	disassembler_ftype decode = NULL;
	struct error *error = NULL;

	init_disassemble_info(&info, &one, add_text, add_styled);
	if (set_machine(&info, machine)) {
		disassemble_init_for_target(&info);
		decode = disassembler(info.arch, 0, info.mach, NULL);
	}
	if (!decode)
		return error_new(ERROR_UNAVAILABLE,
				 "the libopcodes of this build does not know machine %u of ELF",
				 machine);
	info.buffer = (bfd_byte *)(uintptr_t)code;
	info.buffer_vma = address;
	info.buffer_length = size;
	info.print_address_func = add_address;
	info.memory_error_func = end_of_code;
	for (uint64_t at = address; !error && at - address < size;) {
		error = add_instruction(d, decode, &info, at);
		if (!error)
			at += d->list[d->count - 1].size;
	}
	disassemble_free_target(&info);
	buffer_release(&one.text);
	return error;
}

#else

struct error *disassemble(struct disassembly *d, uint16_t machine, uint64_t address,
			  const uint8_t *code, size_t size)
{
	return error_new(ERROR_UNAVAILABLE,
			 "this program was built without libopcodes (binutils-dev, "
			 "binutils-devel)");
}

#endif
