/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/shortage.h"
#include "report/dwarf/dwarf_constants.h"
#include "common/sorted.h"

#define PATH_BYTES_MAX 8192

void line_table_release(struct line_table *t)
{
	free(t->directories);
	free(t->files);
	*t = (struct line_table){ 0 };
}

/* -------- header -------- */

static int add_directory(struct line_table *t, const char *name)
{
	if (!array_reserve(&t->directories, &t->directory_capacity, t->directory_count + 1)) {
		shortage_note(ENOMEM);
		return -1;
	}
	t->directories[t->directory_count++] = name;
	return 0;
}

static int add_file(struct line_table *t, const char *name, uint64_t directory)
{
	if (!array_reserve(&t->files, &t->file_capacity, t->file_count + 1)) {
		shortage_note(ENOMEM);
		return -1;
	}
	t->files[t->file_count++] = (struct line_file){ .name = name, .directory = directory };
	return 0;
}

/* Version 2 to 4 (DWARF 4, 6.2.4): two lists, each ended by an empty name. Files count from 1. */
static int read_old_entries(struct line_table *t, struct cursor *c)
{
	const char *name;

	if (add_directory(t, t->unit->comp_dir) || add_file(t, "", 0))
		return -1;
	while ((name = cursor_string(c)) && *name)
		if (add_directory(t, name))
			return -1;
	while ((name = cursor_string(c)) && *name) {
		uint64_t directory = cursor_uleb(c);

		cursor_uleb(c);
		cursor_uleb(c);
		if (add_file(t, name, directory))
			return -1;
	}
	return cursor_ok(c) ? 0 : -1;
}

#define FORMATS_MAX 16

struct entry_format {
	uint64_t content, form;
};

static const char *read_text(struct cursor *c, uint64_t form, const struct dwarf_unit *u,
			     const struct form_sizes *sizes)
{
	enum dwarf_section section = form == DW_FORM_LINE_STRP ? DEBUG_LINE_STR : DEBUG_STR;
	const char *text;

	if (form == DW_FORM_LINE_STRP || form == DW_FORM_STRP)
		return dwarf_section_text(u->dwarf, section,
					  sizes->offset == 8 ? cursor_u64(c) : cursor_u32(c));
	if (form != DW_FORM_STRING) {
		form_skip(c, form, sizes);
		return "";
	}
	text = cursor_string(c);
	return text ? text : "";
}

static uint64_t read_index(struct cursor *c, uint64_t form, const struct form_sizes *sizes)
{
	switch (form) {
	case DW_FORM_UDATA: return cursor_uleb(c);
	case DW_FORM_DATA1: return cursor_u8(c);
	case DW_FORM_DATA2: return cursor_u16(c);
	case DW_FORM_DATA4: return cursor_u32(c);
	default: form_skip(c, form, sizes); return 0;
	}
}

/* Version 5 (6.2.4.1): the forms of an entry's fields, and then the entries. Files count from 0. */
static int read_entries(struct line_table *t, struct cursor *c, const struct form_sizes *sizes,
			bool directories)
{
	struct entry_format formats[FORMATS_MAX];
	uint8_t n = cursor_u8(c);
	uint64_t count;

	if (n > FORMATS_MAX)
		return -1;
	for (uint8_t i = 0; i < n; i++) {
		formats[i].content = cursor_uleb(c);
		formats[i].form = cursor_uleb(c);
	}
	count = cursor_uleb(c);
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *start = c->at;
		const char *name = "";
		uint64_t directory = 0;

		for (uint8_t f = 0; f < n; f++) {
			if (formats[f].content == DW_LNCT_PATH)
				name = read_text(c, formats[f].form, t->unit, sizes);
			else if (formats[f].content == DW_LNCT_DIRECTORY_INDEX)
				directory = read_index(c, formats[f].form, sizes);
			else
				form_skip(c, formats[f].form, sizes);
		}
		/* Entries of no bytes could be claimed without end. */
		if (!cursor_ok(c) || c->at == start)
			return -1;
		if (directories ? add_directory(t, name) : add_file(t, name, directory))
			return -1;
	}
	return cursor_ok(c) ? 0 : -1;
}

static int read_header(struct line_table *t, struct cursor *c)
{
	struct form_sizes sizes = t->unit->sizes;
	uint64_t length = cursor_u32(c), header;
	struct cursor unit;

	sizes.offset = 4;
	if (length == UINT32_MAX) {
		length = cursor_u64(c);
		sizes.offset = 8;
	}
	if (length > cursor_left(c) || !cursor_ok(c))
		return -1;
	unit = cursor_over(c->at, length);
	t->version = cursor_u16(&unit);
	if (t->version < 2 || t->version > 5)
		return -1;
	if (t->version >= 5) {
		sizes.address = cursor_u8(&unit);
		cursor_u8(&unit);
	}
	header = sizes.offset == 8 ? cursor_u64(&unit) : cursor_u32(&unit);
	if (header > cursor_left(&unit))
		return -1;
	t->program = unit;
	cursor_skip(&t->program, header);
	t->instruction_length = cursor_u8(&unit);
	if (t->version >= 4)
		cursor_u8(&unit);
	t->default_is_stmt = cursor_u8(&unit);
	t->line_base = (int8_t)cursor_u8(&unit);
	t->line_range = cursor_u8(&unit);
	t->opcode_base = cursor_u8(&unit);
	for (unsigned int i = 1; i < t->opcode_base; i++)
		t->opcode_lengths[i] = cursor_u8(&unit);
	if (!cursor_ok(&unit) || !t->line_range || !t->opcode_base)
		return -1;
	if (t->version < 5)
		return read_old_entries(t, &unit);
	return read_entries(t, &unit, &sizes, true) || read_entries(t, &unit, &sizes, false) ? -1
											     : 0;
}

int line_table_open(struct line_table *t, const struct dwarf_unit *u)
{
	struct cursor c = dwarf_cursor(u->dwarf, DEBUG_LINE);

	*t = (struct line_table){ .unit = u };
	cursor_seek(&c, u->stmt_list);
	if (u->stmt_list == UINT64_MAX || !cursor_ok(&c) || !dwarf_spend(u->dwarf, 0) ||
	    read_header(t, &c)) {
		line_table_release(t);
		return -1;
	}
	dwarf_spend(u->dwarf, cursor_offset(&t->program));
	return 0;
}

/* -------- program -------- */

struct line_machine {
	const struct line_table *table;
	const uint64_t *addresses;
	size_t n;
	struct line_row *rows;

	uint64_t address;
	uint64_t file;
	uint64_t line;

	enum { SEQUENCE_NEW, SEQUENCE_OPEN, SEQUENCE_DROPPED } sequence;
	uint64_t previous; /* the address of the row before */
	uint32_t previous_file, previous_line;
	size_t next; /* the first address of interest that is not below it */
};

static void start_sequence(struct line_machine *m)
{
	m->address = 0;
	m->file = 1;
	m->line = 1;
	m->sequence = SEQUENCE_NEW;
}

/*
 * A row is valid up to the next one of its sequence (6.2.5): the addresses from the row before up
 * to this row belong to the row before.
 */
static void add_row(struct line_machine *m)
{
	struct dwarf *d = m->table->unit->dwarf;
	size_t first = m->next;

	if (m->sequence == SEQUENCE_DROPPED)
		return;
	/* The linker dropped the function: its code would be at address 0. */
	if (m->sequence == SEQUENCE_NEW &&
	    (m->address < d->code_low || m->address >= d->code_high)) {
		m->sequence = SEQUENCE_DROPPED;
		return;
	}
	if (m->sequence == SEQUENCE_OPEN && m->address >= m->previous) {
		for (; m->next < m->n && m->addresses[m->next] < m->address; m->next++) {
			struct line_row *row = &m->rows[m->next];

			if (!row->found)
				*row = (struct line_row){ m->previous_file, m->previous_line, 1 };
		}
		/* Sequences that overlap visit the same addresses again and again. */
		if (m->next != first && !dwarf_spend(d, m->next - first))
			m->n = 0;
	} else {
		m->next = sorted_first(m->addresses, m->n, m->address);
	}
	m->sequence = SEQUENCE_OPEN;
	m->previous = m->address;
	m->previous_file = m->file < UINT32_MAX ? (uint32_t)m->file : 0;
	m->previous_line = m->line < UINT32_MAX ? (uint32_t)m->line : 0;
}

static void extended(struct line_machine *m, struct cursor *c)
{
	uint64_t length = cursor_uleb(c);
	struct cursor op;

	if (!length || length > cursor_left(c)) {
		cursor_fail(c);
		return;
	}
	op = cursor_over(c->at, length);
	cursor_skip(c, length);
	switch (cursor_u8(&op)) {
	case DW_LNE_END_SEQUENCE:
		add_row(m);
		start_sequence(m);
		break;
	case DW_LNE_SET_ADDRESS:
		m->address = length == 9 ? cursor_u64(&op) : length == 5 ? cursor_u32(&op) : 0;
		break;
	default: break;
	}
}

static void standard(struct line_machine *m, struct cursor *c, uint8_t opcode)
{
	const struct line_table *t = m->table;

	switch (opcode) {
	case DW_LNS_COPY: add_row(m); break;
	case DW_LNS_ADVANCE_PC: m->address += cursor_uleb(c) * t->instruction_length; break;
	case DW_LNS_ADVANCE_LINE: m->line += (uint64_t)cursor_sleb(c); break;
	case DW_LNS_SET_FILE: m->file = cursor_uleb(c); break;
	case DW_LNS_CONST_ADD_PC:
		m->address += (uint64_t)((255 - t->opcode_base) / t->line_range) *
			      t->instruction_length;
		break;
	case DW_LNS_FIXED_ADVANCE_PC: m->address += cursor_u16(c); break;
	default:
		for (uint8_t i = 0; i < t->opcode_lengths[opcode]; i++)
			cursor_uleb(c);
	}
}

void line_table_find(struct line_table *t, const uint64_t *addresses, size_t n,
		     struct line_row *rows)
{
	struct line_machine m = { .table = t, .addresses = addresses, .n = n, .rows = rows };
	struct cursor c = t->program;

	if (!n || !dwarf_spend(t->unit->dwarf, cursor_left(&c)))
		return;
	start_sequence(&m);
	while (cursor_left(&c)) {
		uint8_t opcode = cursor_u8(&c);

		if (opcode >= t->opcode_base) {
			unsigned int adjusted = opcode - t->opcode_base;

			m.address += (uint64_t)(adjusted / t->line_range) * t->instruction_length;
			m.line +=
				(uint64_t)(int64_t)(t->line_base + (int)(adjusted % t->line_range));
			add_row(&m);
		} else if (opcode) {
			standard(&m, &c, opcode);
		} else {
			extended(&m, &c);
		}
	}
}

/* -------- paths -------- */

static void append(char *path, const char *part)
{
	size_t length = strlen(path), size = strlen(part);

	if (*part == '/')
		length = 0;
	else if (length && path[length - 1] != '/' && length + 1 < PATH_BYTES_MAX)
		path[length++] = '/';
	if (length + size >= PATH_BYTES_MAX)
		size = PATH_BYTES_MAX - 1 - length;
	memcpy(path + length, part, size);
	path[length + size] = 0;
}

static char *compose(const struct line_table *t, const struct line_file *f, struct arena *arena)
{
	char path[PATH_BYTES_MAX];

	path[0] = 0;
	append(path, t->unit->comp_dir);
	if (f->directory < t->directory_count && *t->directories[f->directory])
		append(path, t->directories[f->directory]);
	append(path, f->name);
	return shortage_check(arena_text(arena, path, strlen(path)));
}

const char *line_table_path(struct line_table *t, uint64_t file, struct arena *arena)
{
	struct line_file *f;

	if (file >= t->file_count || (t->version < 5 && !file))
		return "";
	f = &t->files[file];
	if (!f->path)
		f->path = compose(t, f, arena);
	return f->path ? f->path : "";
}
