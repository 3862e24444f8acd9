/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/limits.h"
#include "common/sorted.h"
#include "record/unwind/unwind_arch.h"

/* A CIE's instructions run once; a compiler writes about ten bytes. */
#define CIE_INSTRUCTIONS_MAX 4096
#define REMEMBER_MAX 16

struct cfi_cie {
	uint32_t offset; /* in the section: how FDEs name it */
	uint8_t pointer_encoding;
	bool augmented; /* FDEs carry augmentation data */
	bool usable;
	uint32_t ra_column;
	uint64_t code_factor;
	int64_t data_factor;
	struct cfi_row row; /* before an FDE's own instructions */
};

/* -------- pointers -------- */

static uint64_t read_pointer(const struct cfi *cfi, struct cursor *c, uint8_t encoding)
{
	uint64_t at = cfi->address + cursor_offset(c);
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: value = cursor_u64(c); break;
	case DW_EH_PE_udata2: value = cursor_u16(c); break;
	case DW_EH_PE_udata4: value = cursor_u32(c); break;
	case DW_EH_PE_sdata2: value = (uint64_t)(int16_t)cursor_u16(c); break;
	case DW_EH_PE_sdata4: value = (uint64_t)(int32_t)cursor_u32(c); break;
	case DW_EH_PE_uleb128: value = cursor_uleb(c); break;
	case DW_EH_PE_sleb128: value = (uint64_t)cursor_sleb(c); break;
	default: cursor_fail(c); return 0;
	}
	return (encoding & 0x70) == DW_EH_PE_pcrel ? at + value : value;
}

/*
 * Code addresses are absolute, or relative to the place where they are stored. Linkers write no
 * other encoding.
 */
static bool encoding_known(uint8_t encoding)
{
	return !(encoding & DW_EH_PE_indirect) &&
	       ((encoding & 0x70) == 0 || (encoding & 0x70) == DW_EH_PE_pcrel);
}

/* -------- expressions -------- */

/* The operand of DW_OP_breg0..31 or DW_OP_bregx. */
static bool read_register_operand(struct cursor *c, uint8_t op, uint32_t *reg, int64_t *offset)
{
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*reg = op - DW_OP_breg0;
	else if (op == DW_OP_bregx)
		*reg = (uint32_t)cursor_uleb(c);
	else
		return false;
	*offset = cursor_sleb(c);
	return cursor_ok(c);
}

/*
 * The expression that linkers write for procedure linkage tables, sp + 8 + ((pc & 15) >= n) * 8,
 * always consists of these operations.
 */
static bool read_plt_expression(struct cursor c, struct cfi_row *row)
{
	uint32_t sp, pc;
	int64_t offset, zero;
	const uint8_t *rest;

	if (!read_register_operand(&c, cursor_u8(&c), &sp, &offset) || sp != ARCH_REGISTER_SP ||
	    !read_register_operand(&c, cursor_u8(&c), &pc, &zero) || pc != ARCH_REGISTER_PC || zero)
		return false;
	rest = cursor_bytes(&c, 7);
	if (!rest || cursor_left(&c) || rest[0] != DW_OP_lit15 || rest[1] != DW_OP_and ||
	    rest[2] < DW_OP_lit0 || rest[2] > DW_OP_lit31 || rest[3] != DW_OP_ge ||
	    rest[4] != DW_OP_lit3 || rest[5] != DW_OP_shl || rest[6] != DW_OP_plus)
		return false;
	row->cfa = CFI_CFA_PLT;
	row->reg = sp;
	row->offset = offset;
	row->add = rest[2] - DW_OP_lit0;
	return true;
}

static void read_cfa_expression(struct cursor c, struct cfi_row *row)
{
	struct cursor whole = c;
	uint32_t reg = 0;
	int64_t offset = 0, add = 0;
	uint8_t op;

	row->cfa = CFI_CFA_OTHER;
	if (!read_register_operand(&c, cursor_u8(&c), &reg, &offset))
		return;
	if (!cursor_left(&c)) {
		*row = (struct cfi_row){ CFI_CFA_REGISTER, reg,	    offset,    0,
					 row->ra,	   row->fp, row->base, row->signal };
		return;
	}
	op = cursor_u8(&c);
	if (op != DW_OP_deref) {
		read_plt_expression(whole, row);
		return;
	}
	if (cursor_left(&c)) {
		op = cursor_u8(&c);
		if (op == DW_OP_plus_uconst) {
			add = (int64_t)cursor_uleb(&c);
		} else if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
			add = op - DW_OP_lit0;
			if (cursor_u8(&c) != DW_OP_plus)
				return;
		} else {
			return;
		}
	}
	if (!cursor_ok(&c) || cursor_left(&c))
		return;
	*row = (struct cfi_row){ CFI_CFA_DEREF, reg,	 offset,    add,
				 row->ra,	row->fp, row->base, row->signal };
}

/*
 * A register that is saved where an expression says. Only "frame pointer + offset" is known, which
 * functions have that align their stack.
 */
static struct cfi_saved read_place_expression(struct cursor c)
{
	uint32_t reg;
	int64_t offset;

	if (read_register_operand(&c, cursor_u8(&c), &reg, &offset) && !cursor_left(&c) &&
	    reg == ARCH_REGISTER_FP)
		return (struct cfi_saved){ CFI_AT_FP, offset };
	return (struct cfi_saved){ CFI_OTHER, 0 };
}

static struct cursor read_block(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	const uint8_t *bytes = cursor_bytes(c, size);

	return cursor_over(bytes, bytes ? size : 0);
}

/* -------- instructions -------- */

struct machine {
	const struct cfi *cfi;
	const struct cfi_cie *cie;
	struct cfi_row row;
	struct cfi_row remembered[REMEMBER_MAX];
	unsigned int depth;
	uint64_t address, end;
	bool changed; /* since the row that was last passed to the caller */
	cfi_row_function *emit;
	void *context;
};

/* Only three registers matter to the walk. NULL for the others. */
static struct cfi_saved *saved_register(struct machine *m, uint64_t reg)
{
	struct cfi_saved *saved = reg == m->cie->ra_column    ? &m->row.ra
				  : reg == ARCH_REGISTER_FP   ? &m->row.fp
				  : reg == ARCH_REGISTER_BASE ? &m->row.base
							      : NULL;

	m->changed = m->changed || saved;
	return saved;
}

static void set_saved(struct machine *m, uint64_t reg, enum cfi_place place, int64_t offset)
{
	struct cfi_saved *saved = saved_register(m, reg);

	if (saved)
		*saved = (struct cfi_saved){ place, offset };
}

static void restore_saved(struct machine *m, uint64_t reg)
{
	struct cfi_saved *saved = saved_register(m, reg);

	if (saved == &m->row.ra)
		*saved = m->cie->row.ra;
	else if (saved)
		*saved = saved == &m->row.fp ? m->cie->row.fp : m->cie->row.base;
}

static int64_t scaled(const struct machine *m, uint64_t value)
{
	return (int64_t)(value * (uint64_t)m->cie->data_factor);
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row.cfa = CFI_CFA_REGISTER;
	m->row.reg = reg < UINT32_MAX ? (uint32_t)reg : UINT32_MAX;
	m->row.offset = offset;
	m->changed = true;
}

/* Passes on the row that held up to `address`. False: the FDE ends before it. */
static bool advance_to(struct machine *m, uint64_t address)
{
	if (address < m->address || !m->emit)
		return false;
	if (address > m->address) {
		if (m->changed)
			m->emit(m->context, m->address, &m->row);
		m->changed = false;
	}
	m->address = address;
	return address < m->end;
}

static bool remember(struct machine *m)
{
	if (m->depth == REMEMBER_MAX)
		return false;
	m->remembered[m->depth++] = m->row;
	return true;
}

static bool recall(struct machine *m)
{
	if (!m->depth)
		return false;
	m->row = m->remembered[--m->depth];
	m->changed = true;
	return true;
}

/* Saved in a way that is not followed. */
static bool set_other(struct machine *m, uint64_t reg)
{
	set_saved(m, reg, CFI_OTHER, 0);
	return true;
}

/* Register rules (DWARF 5 section 6.4.2.3). False: the rows end here. */
static bool run_register_rule(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = cursor_uleb(c);
		set_saved(m, reg, CFI_AT_CFA, scaled(m, cursor_uleb(c)));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = cursor_uleb(c);
		set_saved(m, reg, CFI_AT_CFA, scaled(m, (uint64_t)cursor_sleb(c)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = cursor_uleb(c);
		set_saved(m, reg, CFI_AT_CFA, -scaled(m, cursor_uleb(c)));
		return true;
	case DW_CFA_restore_extended: restore_saved(m, cursor_uleb(c)); return true;
	case DW_CFA_undefined: set_saved(m, cursor_uleb(c), CFI_UNDEFINED, 0); return true;
	case DW_CFA_same_value: set_saved(m, cursor_uleb(c), CFI_SAME, 0); return true;
	case DW_CFA_register:
		reg = cursor_uleb(c);
		set_saved(m, reg, CFI_REGISTER, (int64_t)cursor_uleb(c));
		return true;
	case DW_CFA_val_offset:
		reg = cursor_uleb(c);
		cursor_uleb(c);
		return set_other(m, reg);
	case DW_CFA_val_offset_sf:
		reg = cursor_uleb(c);
		cursor_sleb(c);
		return set_other(m, reg);
	case DW_CFA_expression: {
		struct cfi_saved saved;

		reg = cursor_uleb(c);
		saved = read_place_expression(read_block(c));
		set_saved(m, reg, saved.place, saved.offset);
		return true;
	}
	case DW_CFA_val_expression:
		reg = cursor_uleb(c);
		read_block(c);
		return set_other(m, reg);
	default: return false;
	}
}

/* CFA definitions (DWARF 5 section 6.4.2.2), or register rules. */
static bool run_cfa_definition(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		set_cfa(m, reg, (int64_t)cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		set_cfa(m, reg, scaled(m, (uint64_t)cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_register: set_cfa(m, cursor_uleb(c), m->row.offset); return true;
	case DW_CFA_def_cfa_offset: set_cfa(m, m->row.reg, (int64_t)cursor_uleb(c)); return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->row.reg, scaled(m, (uint64_t)cursor_sleb(c)));
		return true;
	case DW_CFA_def_cfa_expression:
		m->changed = true;
		read_cfa_expression(read_block(c), &m->row);
		return true;
	default: return run_register_rule(m, c, op);
	}
}

/* The instructions whose opcode takes the whole byte. False: the rows end here. */
static bool run_extended(struct machine *m, struct cursor *c, uint8_t op)
{
	uint64_t factor = m->cie->code_factor;

	switch (op) {
	case DW_CFA_nop: return true;
	case DW_CFA_set_loc:
		return advance_to(m, read_pointer(m->cfi, c, m->cie->pointer_encoding)) &&
		       cursor_ok(c);
	case DW_CFA_advance_loc1: return advance_to(m, m->address + cursor_u8(c) * factor);
	case DW_CFA_advance_loc2: return advance_to(m, m->address + cursor_u16(c) * factor);
	case DW_CFA_advance_loc4: return advance_to(m, m->address + cursor_u32(c) * factor);
	case DW_CFA_remember_state: return remember(m);
	case DW_CFA_restore_state: return recall(m);
	case DW_CFA_GNU_window_save: return true; /* arm64: return addresses are (not) signed */
	case DW_CFA_GNU_args_size: cursor_uleb(c); return true;
	default: return run_cfa_definition(m, c, op);
	}
}

static bool run_instruction(struct machine *m, struct cursor *c)
{
	uint8_t op = cursor_u8(c);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc: return advance_to(m, m->address + low * m->cie->code_factor);
	case DW_CFA_offset: set_saved(m, low, CFI_AT_CFA, scaled(m, cursor_uleb(c))); return true;
	case DW_CFA_restore: restore_saved(m, low); return true;
	default: return run_extended(m, c, op);
	}
}

static bool run_instructions(struct machine *m, struct cursor c)
{
	while (cursor_left(&c)) {
		if (!run_instruction(m, &c))
			return false;
		if (!cursor_ok(&c))
			return false;
	}
	return true;
}

int cfi_run(const struct cfi *cfi, const struct cfi_fde *fde, cfi_row_function *emit, void *context)
{
	const struct cfi_cie *cie = &cfi->cies[fde->cie];
	struct machine m;
	struct cursor c = cursor_over(cfi->section.start, fde->at + (size_t)fde->size);
	bool whole;

	m.cfi = cfi;
	m.cie = cie;
	m.row = cie->row;
	m.depth = 0;
	m.address = fde->start;
	m.end = cfi_fde_end(fde);
	m.changed = true;
	m.emit = emit;
	m.context = context;
	cursor_seek(&c, fde->at); /* from the section's start: pointers are relative to it */
	whole = run_instructions(&m, c);
	if (m.address < m.end && m.changed)
		emit(context, m.address, &m.row);
	return whole || m.address >= m.end ? CFI_OK : CFI_ERROR_CORRUPT;
}

/* -------- CIEs and FDEs -------- */

/* "zPLR" and the data after it. False: FDEs of this CIE cannot be read. */
static bool read_augmentation(const struct cfi *cfi, struct cursor *c, const char *text,
			      struct cfi_cie *cie)
{
	struct cursor data;
	uint64_t size;

	if (!*text)
		return true;
	if (*text != 'z')
		return false;
	cie->augmented = true;
	size = cursor_uleb(c);
	data = *c;
	cursor_skip(c, size);
	for (text++; *text; text++) {
		uint8_t encoding;

		switch (*text) {
		case 'R': cie->pointer_encoding = cursor_u8(&data); break;
		case 'L': cursor_u8(&data); break;
		case 'P':
			encoding = cursor_u8(&data);
			read_pointer(cfi, &data, encoding);
			break;
		case 'S': cie->row.signal = true; break;
		case 'B': break;      /* arm64: return addresses are signed with the B key */
		default: return true; /* the augmentation's size says where the rest begins */
		}
	}
	return cursor_ok(&data);
}

static void read_cie(const struct cfi *cfi, struct cursor c, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(&c);
	const char *augmentation = cursor_string(&c);
	struct machine m = { .cfi = cfi, .cie = cie };

	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return;
	if (version == 4 && (cursor_u8(&c) != 8 || cursor_u8(&c) != 0))
		return; /* address size, segment selector size */
	cie->code_factor = cursor_uleb(&c);
	cie->data_factor = cursor_sleb(&c);
	cie->ra_column = version == 1 ? cursor_u8(&c) : (uint32_t)cursor_uleb(&c);
	cie->pointer_encoding = DW_EH_PE_absptr;
	if (!read_augmentation(cfi, &c, augmentation, cie) || !cursor_ok(&c) ||
	    !encoding_known(cie->pointer_encoding) || cursor_left(&c) > CIE_INSTRUCTIONS_MAX)
		return;
	m.row = (struct cfi_row){ .cfa = CFI_CFA_OTHER, .signal = cie->row.signal };
	cie->usable = run_instructions(&m, c);
	cie->row = m.row;
}

static int add_cie(struct cfi *cfi, struct cursor c, uint32_t offset)
{
	if (cfi->cie_count == LIMIT_CIES)
		return CFI_ERROR_CORRUPT;
	if (!array_reserve(&cfi->cies, &cfi->cie_capacity, cfi->cie_count + 1))
		return CFI_ERROR_MEMORY;
	cfi->cies[cfi->cie_count] = (struct cfi_cie){ .offset = offset };
	read_cie(cfi, c, &cfi->cies[cfi->cie_count++]);
	return CFI_OK;
}

/* CIEs stand before their FDEs, mostly right before. */
static const struct cfi_cie *find_cie(const struct cfi *cfi, uint64_t offset)
{
	size_t n = cfi->cie_count;

	if (n && cfi->cies[n - 1].offset != offset)
		n = sorted_up_to(cfi->cies, n, SORTED_BY(struct cfi_cie, offset), offset);
	return n && cfi->cies[n - 1].offset == offset ? &cfi->cies[n - 1] : NULL;
}

static int add_fde(struct cfi *cfi, struct cursor c, uint64_t cie_offset)
{
	const struct cfi_cie *cie = find_cie(cfi, cie_offset);
	uint64_t start, size;

	if (!cie || !cie->usable)
		return CFI_OK;
	start = read_pointer(cfi, &c, cie->pointer_encoding);
	size = read_pointer(cfi, &c, cie->pointer_encoding & 0x0f);
	if (cie->augmented)
		cursor_skip(&c, cursor_uleb(&c));
	/*
	 * FDEs of sections that the linker has dropped have size 0 or address 0. No function is 4
	 * GiB large.
	 */
	if (!cursor_ok(&c) || !size || !start || start + size < start || size > UINT32_MAX)
		return CFI_OK;
	if (cfi->fde_count == LIMIT_FDES)
		return CFI_ERROR_CORRUPT;
	if (!array_reserve(&cfi->fdes, &cfi->fde_capacity, cfi->fde_count + 1))
		return CFI_ERROR_MEMORY;
	cfi->fdes[cfi->fde_count++] = (struct cfi_fde){
		.start = start,
		.length = (uint32_t)size,
		.cie = (uint32_t)(cie - cfi->cies),
		.at = (uint32_t)cursor_offset(&c),
		.size = (uint32_t)cursor_left(&c),
	};
	return CFI_OK;
}

/* One CIE or FDE. 1: go on; 0: the end. */
static int read_entry(struct cfi *cfi, struct cursor *c)
{
	uint32_t offset = (uint32_t)cursor_offset(c);
	uint64_t size = cursor_u32(c), id, id_at, cie_id;
	struct cursor entry;
	bool wide = size == 0xffffffff;
	int error;

	if (!size && !cfi->debug_frame)
		return 0;
	if (wide)
		size = cursor_u64(c);
	if (!cursor_ok(c) || size > cursor_left(c))
		return CFI_ERROR_CORRUPT;
	entry = *c;
	entry.end = entry.at + size;
	cursor_skip(c, size);
	id_at = cursor_offset(&entry);
	wide = wide && cfi->debug_frame; /* .eh_frame always has 4 bytes here */
	id = wide ? cursor_u64(&entry) : cursor_u32(&entry);
	cie_id = !cfi->debug_frame ? 0 : wide ? UINT64_MAX : UINT32_MAX;
	if (!cursor_ok(&entry))
		return 1;
	if (id == cie_id)
		error = add_cie(cfi, entry, offset);
	else
		error = add_fde(cfi, entry, cfi->debug_frame ? id : id_at - id);
	return error ? error : 1;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Linkers leave FDEs almost in order: a merge sort (glibc's qsort) is quick then. */
static void sort_fdes(struct cfi *cfi)
{
	for (size_t i = 1; i < cfi->fde_count; i++) {
		if (cfi->fdes[i].start < cfi->fdes[i - 1].start) {
			qsort(cfi->fdes, cfi->fde_count, sizeof(*cfi->fdes), by_start);
			return;
		}
	}
}

int cfi_open(struct cfi *cfi, struct cursor section, uint64_t address, bool debug_frame)
{
	int result = 1;

	*cfi = (struct cfi){ .section = section, .address = address, .debug_frame = debug_frame };
	if (cursor_left(&section) >= UINT32_MAX)
		return CFI_ERROR_CORRUPT;
	while (result > 0 && cursor_left(&section) >= 4)
		result = read_entry(cfi, &section);
	sort_fdes(cfi);
	return result < 0 ? result : CFI_OK;
}

void cfi_release(struct cfi *cfi)
{
	free(cfi->cies);
	free(cfi->fdes);
	*cfi = (struct cfi){ 0 };
}
