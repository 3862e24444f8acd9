/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_UNWIND_H
#define BPF_ABI_UNWIND_H

/*
 * The unwind tables, as prof-record fills them and the kernel half reads them.
 *
 *   process (by tgid)  ->  a run of segments, sorted by address
 *   segment            ->  pages: one per 64 KiB of the file's text
 *   page               ->  rows in a slab, sorted by pc
 *   row (4 bytes)      ->  a rule: how to get from a frame to its caller
 *
 * A row is `low 16 bits of the pc << 16 | number of the rule` and holds up to the next row.
 * The first row of each page has pc 0: it carries over what held at the end of the page
 * before. A page's rows lie in one slab. Rules are shared by all files.
 *
 * Whatever the kernel half can reach is complete: rows are written before their page, pages
 * before the segments that refer to them, segments before the process that refers to them. What
 * is no longer referred to is not reused for a second.
 */

#include <linux/types.h>

#define UNWIND_PAGE_BITS 16
#define UNWIND_SLAB_ROWS 65536 /* 256 KiB */
#define UNWIND_MAX_SLABS 4096  /* 1 GiB */
#define UNWIND_MAX_PAGES 262144
#define UNWIND_MAX_RULES 32768
#define UNWIND_MAX_SEGMENTS 131072 /* of all processes, and those that rest */
#define UNWIND_MAX_RUN 8192	   /* segments of one process */
#define UNWIND_MAX_PROCESSES 16384

/* How user stacks are walked. */
enum unwind_by { UNWIND_BY_TABLES, UNWIND_BY_FRAME_POINTER, UNWIND_BY_NOTHING };

/* The kind of a rule. Rules 0 to 2 are the same for every file: their number is their kind. */
enum unwind_kind {
	UNWIND_NONE = 0,	/* no table for this code: try the frame pointer */
	UNWIND_END = 1,		/* the root: this code was not called */
	UNWIND_UNSUPPORTED = 2, /* the table has an expression that no rule can state */
	UNWIND_SIGNAL = 3,	/* a signal frame: the interrupted registers lie on the stack */
	UNWIND_CFA_SP = 4,	/* CFA = sp + cfa_offset */
	UNWIND_CFA_FP = 5,	/* CFA = fp + cfa_offset */
	UNWIND_DEREF_SP = 6,	/* CFA = *(sp + cfa_offset) + add */
	UNWIND_DEREF_FP = 7,	/* CFA = *(fp + cfa_offset) + add */
	UNWIND_PLT = 8,		/* CFA = sp + cfa_offset, and 8 more if (pc & 15) >= add */
	UNWIND_CFA_BASE = 9,	/* CFA = base register (x86: rbx) + cfa_offset */
	UNWIND_CFA_REGISTER =
		10, /* CFA = register `add` + cfa_offset; the interrupted frame only */
	/*
	 * Go called C: at sp + add lies the goroutine, and in that, one word in, the end of its
	 * stack; CFA = that end - *(sp + cfa_offset) + 8
	 */
	UNWIND_GO_STACK = 11,
	/*
	 * libgcc has found the handler of an exception: at fp + cfa_offset lie the stack pointer
	 * and the pc that it is entered with, at fp + fp_far a pointer to its frame pointer.
	 */
	UNWIND_CONTEXT = 12,
	/*
	 * As UNWIND_CFA_SP, unless x4 is not 0 or UNWIND_TO_HANDLER is set: then the code enters a
	 * handler, whose address is in register add >> 5, and sp + cfa_offset + register add & 31
	 * is its stack pointer. The interrupted frame only. arm64.
	 */
	UNWIND_SP_OR_HANDLER = 13,
};

#define UNWIND_IN_REGISTER 255

#define UNWIND_LOST 254

/* The caller's frame pointer lies at CFA + fp_far, or at our frame pointer + fp_far. */
#define UNWIND_FP_FROM_CFA 1
#define UNWIND_FP_FROM_FP 2
/* The return address is in register `add`; the interrupted frame only. */
#define UNWIND_RA_FROM_REGISTER 4
/* UNWIND_END: the code is entered by a return to its first byte, not by a call. */
#define UNWIND_AT_START 8
/* The caller's frame lies on another stack, at a higher or a lower address. */
#define UNWIND_OTHER_STACK 16
/* What the code returns to is no call's next instruction, but an exception's handler. */
#define UNWIND_TO_HANDLER 32

/*
 * The saved registers are read at once: `words` 8-byte words at CFA + read_offset. ra_word,
 * fp_word and base_word are the indexes of the return address, the caller's frame pointer and
 * the caller's base register among them, or UNWIND_IN_REGISTER: the return address is in the link
 * register (arm64); the caller's frame pointer is the current one, unless `flags` say otherwise;
 * the caller's base register is the current one. base_word may be UNWIND_LOST, too.
 */
struct unwind_rule {
	__u8 kind;
	__u8 words;
	__u8 ra_word;
	__u8 fp_word;
	__s32 cfa_offset;
	__s16 read_offset;
	__s16 add;
	__s16 fp_far;
	__u8 flags;
	__u8 base_word;
};

struct unwind_page {
	__u32 first; /* row within the slab */
	__u16 slab;
	__u16 rows; /* 0: no table */
};

struct unwind_segment {
	__u64 start, end; /* addresses in the process */
	__u64 base;	  /* the address of the first page's first byte; 64 KiB steps from there */
	__u32 first_page;
	__u32 pages; /* 0: code without a table; its frame pointers may be tried */
};

/* As `pages`: the file's table is not there, and guessing would be wrong. */
#define UNWIND_PAGES_MISSING 0xffffffffU
#define UNWIND_PAGES_WAITING 0xfffffffeU /* it is being made */

/*
 * A process's run. `id` is new with every change of its segments. `execs` is counted up by
 * the kernel half when the process execs, which also empties the run, so that what the
 * recorder knew of the program before is not published for the new one.
 */
struct unwind_process {
	__u32 first, count;
	__u32 id;
	__u32 execs;
	__u64 mm; /* the kernel half's: which address space it is; 0: not seen yet */
};

/*
 * Files with tables, by device (as the kernel writes it: major << 20 | minor) and inode. The
 * kernel half can walk through a mapping of such a file before the recorder has learned of the
 * mapping.
 */
struct unwind_file_key {
	__u64 device, inode;
};

struct unwind_file {
	struct {
		__u64 offset, size; /* of the segment in the file */
		__u64 delta;	    /* from file offsets to bytes from the first page's start */
	} segments[4];
	__u32 count;
	__u32 first_page, pages;
	__u32 reserved;
};

#define UNWIND_MAX_FILES 8192
#define UNWIND_FRESH_SEGMENTS 16 /* powers of two */
#define UNWIND_FRESH_SLOTS 2048

/* A mapping that the kernel half found itself. Used where the published run has no segment. */
struct unwind_fresh_segment {
	struct unwind_segment segment;
	__u64 mm; /* the address space that it is in; 0: none, or it is being written */
	__u32 tgid;
	__u32 reserved;
};

/* The newest ones of all processes with the same tgid, modulo UNWIND_FRESH_SLOTS. */
struct unwind_fresh {
	__u64 next; /* where the next one goes, modulo UNWIND_FRESH_SEGMENTS */
	struct unwind_fresh_segment segments[UNWIND_FRESH_SEGMENTS];
};

_Static_assert(sizeof(struct unwind_rule) == 16, "part of the ABI between the halves");
_Static_assert(sizeof(struct unwind_page) == 8, "part of the ABI between the halves");
_Static_assert(sizeof(struct unwind_segment) == 32, "part of the ABI between the halves");
_Static_assert(sizeof(struct unwind_file_key) == 16, "part of the ABI between the halves");
_Static_assert(sizeof(struct unwind_file) == 112, "part of the ABI between the halves");
_Static_assert(sizeof(struct unwind_process) == 24, "part of the ABI between the halves");

#endif
