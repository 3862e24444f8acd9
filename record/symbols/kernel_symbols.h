/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_KERNEL_SYMBOLS_H
#define RECORD_SYMBOLS_KERNEL_SYMBOLS_H

/*
 * Names of kernel code. The kernel and its modules are at other addresses after each boot,
 * so names must be taken while recording: all are read once from /proc/kallsyms, and those
 * that samples hit are written to the trace.
 */

#include "common/error.h"
#include "format/prf.h"

struct kernel_symbols;

/* Reads what the kernel shows now. */
struct error *kernel_symbols_new(struct kernel_symbols **symbols);
void kernel_symbols_free(struct kernel_symbols *k);

/* From text in the formats of /proc/kallsyms and /proc/modules, which must stay and is changed. */
struct error *kernel_symbols_parse(struct kernel_symbols **symbols, char *kallsyms, char *modules);

/* True when all addresses read as zero: kptr_restrict, or no cap_syslog. */
bool kernel_symbols_hidden(const struct kernel_symbols *k);

/* Code that appeared (a BPF program) or went. */
struct error *kernel_symbols_add(struct kernel_symbols *k, uint64_t start, uint32_t size,
				 const char *name);
void kernel_symbols_remove(struct kernel_symbols *k, uint64_t start);

/* Grows with each of those two: what was found by address before may be wrong since. */
uint32_t kernel_symbols_generation(const struct kernel_symbols *k);

/* Completes a frame, which has its flags, by its address; the trace will get its name. */
struct error *kernel_symbols_frame(struct kernel_symbols *k, struct prf_writer *w, uint64_t address,
				   struct prf_frame *frame);

/* Code that only runs because a BPF program is attached there, as its way in: or that program. */
bool kernel_symbols_is_plumbing(struct kernel_symbols *k, uint64_t address);

/* The way into an interrupt: what lies below it on the stack has nothing to do with it. */
bool kernel_symbols_is_interrupt(struct kernel_symbols *k, uint64_t address);

/* Writes the names that frames have needed since the last time. */
struct error *kernel_symbols_write(struct kernel_symbols *k, struct prf_writer *w);

/* Another trace begins: it has no names yet. */
void kernel_symbols_forget_written(struct kernel_symbols *k);

#endif
