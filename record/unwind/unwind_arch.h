/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWIND_ARCH_H
#define RECORD_UNWIND_UNWIND_ARCH_H

/*
 * What the table builder must know about the processor: DWARF register numbers, and code
 * whose shape says how to unwind it although its file does not. bpf/state/arch.h is the
 * counterpart in the kernel half. Files of other processors get no tables.
 */

#include <elf.h>
#include <stdint.h>

#if defined(__x86_64__)
/* System V ABI, AMD64 supplement, figure 3.36 */
#define ARCH_MACHINE EM_X86_64
#define ARCH_REGISTER_SP 7
#define ARCH_REGISTER_FP 6
#define ARCH_REGISTER_BASE 3 /* rbx: another one that code uses to find its frame */
#define ARCH_REGISTER_PC 16  /* as DW_OP_breg16 in the PLT's expressions */
#define ARCH_LINK_REGISTER 0 /* return addresses are always on the stack */
#define ARCH_PLT_ENTRY 16

/* Where bpf/state/arch.h's struct user_registers has the DWARF register, in words. */
static inline int arch_register_word(unsigned int dwarf)
{
	static const signed char words[16] = {
		10, 12, 11, 5, 13, 14, 4, -1, 9, 8, 7, 6, 3, 2, 1, 0
	};

	return dwarf < 16 ? words[dwarf] : -1;
}
#elif defined(__aarch64__)
/* DWARF for the Arm 64-bit Architecture, "DWARF register names" */
#define ARCH_MACHINE EM_AARCH64
#define ARCH_REGISTER_SP 31
#define ARCH_REGISTER_FP 29
#define ARCH_REGISTER_BASE 254 /* none */
#define ARCH_REGISTER_PC 255   /* has no number */
#define ARCH_LINK_REGISTER 1
#define ARCH_PLT_ENTRY 16

/* The kernel half keeps only x29, x30, sp and pc. */
static inline int arch_register_word(unsigned int dwarf)
{
	return -1;
}
#else
#error "unwinding is not written for this processor"
#endif

#endif
