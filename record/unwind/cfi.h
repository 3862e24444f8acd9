/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_CFI_H
#define RECORD_UNWIND_CFI_H

/*
 * Call frame information: which code has it (FDEs), and for each pc how the caller's registers are
 * found (rows). Reads .eh_frame and .debug_frame. All lengths and offsets are checked, and the work
 * is linear in the size of the section. libdw finds the rows of one pc at a time, and takes 12
 * times as long for all (bench/README.md).
 *
 * Layout: DWARF 5 section 6.4, and the Linux Standard Base, "Exception Frames".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"

enum cfi_error {
	CFI_OK = 0,
	CFI_ERROR_CORRUPT = -1, /* what was read before it can be used */
	CFI_ERROR_MEMORY = -2,
};

/* How the canonical frame address is computed. */
enum cfi_cfa {
	CFI_CFA_REGISTER, /* register + offset */
	CFI_CFA_DEREF,	  /* *(register + offset) + add */
	CFI_CFA_PLT,	  /* sp + offset, and 8 more where (pc & 15) >= add */
	CFI_CFA_OTHER,	  /* an expression of another shape */
};

/* How a register of the caller is found. */
enum cfi_place {
	CFI_UNSAID, /* no rule: by the ABI, callee-saved ones are unchanged */
	CFI_SAME,
	CFI_UNDEFINED, /* gone; for the return address: there is no caller */
	CFI_AT_CFA,    /* saved at CFA + offset */
	CFI_AT_FP,     /* saved at frame pointer + offset */
	CFI_REGISTER,  /* in the register of DWARF number `offset` */
	CFI_OTHER,
};

struct cfi_saved {
	enum cfi_place place;
	int64_t offset;
};

struct cfi_row {
	enum cfi_cfa cfa;
	uint32_t reg; /* DWARF number */
	int64_t offset, add;
	struct cfi_saved ra, fp, base; /* base: ARCH_REGISTER_BASE */
	bool signal; /* a signal frame: the pc is where the code was interrupted */
};

/* Code with unwind information, as link-time addresses. The other fields are cfi.c's. */
struct cfi_fde {
	uint64_t start;
	uint32_t length; /* bytes of code */
	uint32_t cie;
	uint32_t at, size; /* its instructions in the section */
};

static inline uint64_t cfi_fde_end(const struct cfi_fde *fde)
{
	return fde->start + fde->length;
}

struct cfi_cie;

struct cfi {
	struct cursor section;
	uint64_t address; /* of the section, for pc-relative pointers */
	bool debug_frame;
	struct cfi_cie *cies;
	size_t cie_count, cie_capacity;
	struct cfi_fde *fdes; /* sorted by start */
	size_t fde_count, fde_capacity;
};

/*
 * Lists the FDEs of a section. With CFI_ERROR_CORRUPT, those before the damage are there.
 * The section's bytes must stay.
 */
int cfi_open(struct cfi *cfi, struct cursor section, uint64_t address, bool debug_frame);
void cfi_release(struct cfi *cfi);

/*
 * Calls `row` for each row of an FDE, in order of `address`, the first one at its start;
 * each holds up to the next. Stops at the first instruction that makes no sense.
 */
typedef void cfi_row_function(void *context, uint64_t address, const struct cfi_row *row);
int cfi_run(const struct cfi *cfi, const struct cfi_fde *fde, cfi_row_function *row, void *context);

#endif
