/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_ARCH_H
#define BPF_STATE_ARCH_H

/*
 * What the kernel half must know about the processor: the order of the registers in the
 * kernel's struct pt_regs (the layout is ABI: asm/ptrace.h), and the layout of a signal frame
 * (asm/sigcontext.h, asm/ucontext.h). record/unwind/unwind_arch.h is its counterpart.
 */

#include "bpf/abi/return_address.h"

#if defined(__TARGET_ARCH_x86)

struct user_registers {
	__u64 r15, r14, r13, r12, fp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 pc, cs, flags, sp, ss;
};

#define REGISTERS_USER(r) ((r)->cs & 3)
/* A process in 32-bit mode: other registers, other tables. */
#define REGISTERS_COMPAT(r) ((r)->cs == 0x23)
#define REGISTERS_LINK(r) 0
#define REGISTERS_BASE(r) ((r)->bx)
#define REGISTERS_PHP(r) ((r)->r15) /* the instruction that its loop is at */
#define REGISTERS_HANDLER(r) 0

/* A system call, and its first argument. */
#define SYSCALL_NUMBER(r) ((r)->orig_ax)
#define SYSCALL_FIRST(r) ((r)->di)
#define SYSCALL_FUTEX 202

/* rt_sigframe at the restorer: sp points to the ucontext. rbp 120, rsp 160, rip 168. */
#define SIGNAL_READ 120
#define SIGNAL_WORDS 7
#define SIGNAL_FP 0
#define SIGNAL_BASE 1 /* rbx 128 */
#define SIGNAL_SP 5
#define SIGNAL_PC 6

#define USER_ADDRESS_BITS 47

/*
 * glibc's struct pthread, from the thread pointer on: the vector of its modules' storage,
 * specific_1stblock and specific.
 */
#define THREAD_POINTER(task) ((task)->thread.fsbase)
#define THREAD_MODULES 8
#define THREAD_KEYS_FIRST 0x310
#define THREAD_KEYS 0x510

static inline int is_signal_return(__u64 code)
{
	/* mov $15,%rax; syscall: 48 c7 c0 0f 00 00 00 0f 05 */
	return code == 0x0f0000000fc0c748ULL;
}

#elif defined(__TARGET_ARCH_arm64)

struct user_registers {
	__u64 x[29];
	__u64 fp, link, sp, pc, pstate;
};

#define REGISTERS_USER(r) (((r)->pstate & 0xf) == 0)
#define REGISTERS_COMPAT(r) ((r)->pstate & 0x10)
#define REGISTERS_LINK(r) ((r)->link)
#define REGISTERS_BASE(r) 0
#define REGISTERS_PHP(r) ((r)->x[28])
/* Where libgcc's unwinder leaves: not 0 if it enters a handler. */
#define REGISTERS_HANDLER(r) ((r)->x[4])

/* A system call, and its first argument. */
#define SYSCALL_NUMBER(r) ((r)->x[8])
#define SYSCALL_FIRST(r) ((r)->x[0])
#define SYSCALL_FUTEX 98

/*
 * rt_sigframe: siginfo (128 bytes), then the ucontext, whose sigcontext begins 176 bytes in:
 * fault_address, regs[31], sp, pc. x29 is at 128 + 176 + 8 + 29 * 8 = 544.
 */
#define SIGNAL_READ 544
#define SIGNAL_WORDS 4
#define SIGNAL_FP 0
#define SIGNAL_BASE 1 /* not used */
#define SIGNAL_LINK 1 /* x30: the caller of an interrupted leaf that has no frame */
#define SIGNAL_SP 2
#define SIGNAL_PC 3

#define USER_ADDRESS_BITS 52

/*
 * glibc's struct pthread ends at the thread pointer, where the vector of its modules' storage is:
 * specific_1stblock and specific.
 */
#define THREAD_POINTER(task) ((task)->thread.uw.tp_value)
#define THREAD_MODULES 0
#define THREAD_KEYS_FIRST (-1856 + 272)
#define THREAD_KEYS (-1856 + 272 + 512)

static inline int is_signal_return(__u64 code)
{
	/* mov x8, #139; svc #0 */
	return code == 0xd4000001d2801168ULL;
}

#else
#error "unwinding is not written for this processor"
#endif

#endif
