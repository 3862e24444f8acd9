/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_KERNEL_SYMBOLS_H
#define RECORD_SYMBOLS_KERNEL_SYMBOLS_H

/*
 * Names of kernel code. The kernel and its modules are at other addresses after each boot,
 * so names must be taken while recording. The kernel is asked for those that samples hit, and they
 * are written to the trace. Where it cannot be asked, all are read once from /proc/kallsyms.
 */

#include "common/error.h"
#include "format/prf.h"

struct kernel_symbols;

/* Those of the running kernel. */
struct error *kernel_symbols_new(struct kernel_symbols **symbols);
void kernel_symbols_free(struct kernel_symbols *k);

/* From text in the formats of /proc/kallsyms and /proc/modules, which is changed. */
struct error *kernel_symbols_parse(struct kernel_symbols **symbols, char *kallsyms, char *modules);

/* True when all addresses read as zero: kptr_restrict, or no cap_syslog. */
bool kernel_symbols_hidden(const struct kernel_symbols *k);

/* Code was added (a BPF program) or removed. */
struct error *kernel_symbols_add(struct kernel_symbols *k, uint64_t start, uint32_t size,
				 const char *name);
void kernel_symbols_remove(struct kernel_symbols *k, uint64_t start);

/*
 * Changes with each call of the two functions above: results of earlier lookups may be wrong then.
 */
uint32_t kernel_symbols_generation(const struct kernel_symbols *k);

/*
 * Sets object and offset of a frame, whose flags are set, from its address. Its name will be
 * written to the trace.
 */
struct error *kernel_symbols_frame(struct kernel_symbols *k, struct prf_writer *w, uint64_t address,
				   struct prf_frame *frame);

/* Whether the address is in a BPF program, or in kernel code that only runs to call one. */
bool kernel_symbols_is_plumbing(struct kernel_symbols *k, uint64_t address);

/*
 * Whether the address is in the entry code of an interrupt: frames below it on the stack have
 * nothing to do with it.
 */
bool kernel_symbols_is_interrupt(struct kernel_symbols *k, uint64_t address);

/* Writes the names of the frames since the last call. */
struct error *kernel_symbols_write(struct kernel_symbols *k, struct prf_writer *w);

/* To be called when another trace begins: no names are in it. */
void kernel_symbols_forget_written(struct kernel_symbols *k);

#endif
