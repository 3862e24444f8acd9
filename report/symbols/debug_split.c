/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/debug_split.h"

#include <stdlib.h>
#include <string.h>

#include "common/shortage.h"
#include "report/dwarf/dwarf_constants.h"

#define COLUMNS_MAX 16

void debug_split_init(struct debug_split *s, const struct debug_search *search,
		      const char *main_path)
{
	*s = (struct debug_split){ .search = search, .main_path = main_path };
	pthread_mutex_init(&s->lock, NULL);
}

static void free_file(void *file)
{
	struct split_file *f = file;

	if (!f)
		return;
	debug_sections_release(&f->sections);
	found_file_release(&f->file);
	free(f);
}

void debug_split_release(struct debug_split *s)
{
	if (!s->search)
		return;
	map_release_values(&s->files, free_file);
	free_file(s->package);
	pthread_mutex_destroy(&s->lock);
	*s = (struct debug_split){ 0 };
}

/* Opens a .dwo or .dwp file. It has no segments: code is where the skeleton's file has it. */
static struct split_file *open_split(const char *root, const char *path,
				     const struct dwarf_unit *skeleton)
{
	struct split_file *f = shortage_check(calloc(1, sizeof(*f)));

	if (!f)
		return NULL;
	if (!found_file_open(&f->file, root, path) ||
	    debug_sections_load(&f->sections, &f->file.elf, &f->file.elf, true)) {
		free_file(f);
		return NULL;
	}
	f->sections.dwarf.code_low = skeleton->dwarf->code_low;
	f->sections.dwarf.code_high = skeleton->dwarf->code_high;
	return f;
}

/* Makes the unit the split one of this skeleton, ready to be read. NULL: damaged, or another's. */
static struct dwarf_unit *tie(struct dwarf_unit *u, const struct dwarf_unit *skeleton)
{
	/* It may be in use by the threads that look into another one's code. */
	if (u->skeleton && u->skeleton != skeleton)
		return NULL;
	u->skeleton = (struct dwarf_unit *)skeleton;
	return dwarf_unit_prepare(u) && u->id == skeleton->id ? u : NULL;
}

/* -------- .dwo -------- */

static struct dwarf_unit *unit_in_file(struct split_file *f, const struct dwarf_unit *skeleton)
{
	for (size_t i = 0; i < f->sections.dwarf.unit_count; i++) {
		struct dwarf_unit *u = &f->sections.dwarf.units[i], bases;
		struct die die;

		if (u->type == DW_UT_TYPE || u->type == DW_UT_SPLIT_TYPE)
			continue;
		/* Of the skeletons that name this file, one with another id does not get it. */
		if (!u->skeleton && (!dwarf_unit_peek(u, &bases, &die) || bases.id != skeleton->id))
			return NULL;
		return tie(u, skeleton);
	}
	return NULL;
}

/* Many skeletons may name one file, and what is no file. */
static struct split_file *open_once(struct debug_split *s, const char *root, const char *path,
				    const struct dwarf_unit *skeleton)
{
	bool added;
	/* With its NUL where it lies below the root: that is another file. */
	uint64_t *file =
		shortage_check(map_put(&s->files, path, strlen(path) + (root != NULL), &added));

	if (file && added)
		*file = (uintptr_t)open_split(root, path, skeleton);
	return file ? (struct split_file *)(uintptr_t)*file : NULL;
}

/* By its recorded path; else in the main file's folder, for programs that were moved. */
static struct split_file *open_dwo(struct debug_split *s, const struct dwarf_unit *skeleton)
{
	const char *name = skeleton->dwo_name, *base = strrchr(name, '/');
	const char *slash = strrchr(s->main_path, '/');
	struct split_file *f;
	char *path = *name == '/' ? debug_search_path("%s", name)
				  : debug_search_path("%s/%s", skeleton->comp_dir, name);

	if (!path)
		return NULL;
	f = open_once(s, s->search->sysroot, path, skeleton);
	free(path);
	if (f || !slash)
		return f;
	base = base ? base + 1 : name;
	path = debug_search_path("%.*s/%s", (int)(slash - s->main_path), s->main_path, base);
	if (!path)
		return NULL;
	f = open_once(s, NULL, path, skeleton);
	free(path);
	return f;
}

/* -------- .dwp -------- */

/* Where the parts of a unit lie in the package (DWARF 5, 7.3.5.3; GNU's version 2 for DWARF 4). */
struct package_row {
	struct dwarf_part info, abbrev, str_offsets, rnglists;
};

static void take_part(struct package_row *row, uint32_t section, uint64_t value, bool size)
{
	struct dwarf_part *part = section == DW_SECT_INFO	   ? &row->info
				  : section == DW_SECT_ABBREV	   ? &row->abbrev
				  : section == DW_SECT_STR_OFFSETS ? &row->str_offsets
				  : section == DW_SECT_RNGLISTS	   ? &row->rnglists
								   : NULL;

	if (part && size)
		part->size = value;
	else if (part)
		part->offset = value;
}

/* The row of an id, by the hash table (7.3.5.3: open addressing, double hashing); 0: not there. */
static uint32_t find_row(struct cursor hashes, uint32_t slots, uint64_t id)
{
	uint32_t mask = slots - 1, i = (uint32_t)id & mask,
		 step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t tries = 0; tries < slots; tries++, i = (i + step) & mask) {
		struct cursor c = hashes;
		uint64_t found;

		cursor_seek(&c, (uint64_t)i * 8);
		found = cursor_u64(&c);
		if (!cursor_ok(&c))
			return 0;
		if (found == id) {
			cursor_seek(&c, (uint64_t)slots * 8 + (uint64_t)i * 4);
			return cursor_u32(&c);
		}
		if (!found)
			return 0;
	}
	return 0;
}

static bool read_row(const struct dwarf *d, uint64_t id, struct package_row *row)
{
	struct cursor c = dwarf_cursor(d, DEBUG_CU_INDEX), table;
	uint32_t version = cursor_u32(&c), columns = cursor_u32(&c), units = cursor_u32(&c);
	uint32_t slots = cursor_u32(&c), number, sections[COLUMNS_MAX];

	*row = (struct package_row){ 0 };
	if (!cursor_ok(&c) || (version != 2 && (version & 0xffff) != 5) || columns > COLUMNS_MAX ||
	    !slots || slots & (slots - 1))
		return false;
	number = find_row(cursor_over(c.at, cursor_left(&c)), slots, id);
	if (!number || number > units)
		return false;
	cursor_skip(&c, (uint64_t)slots * 12);
	table = cursor_over(c.at, cursor_left(&c));
	for (uint32_t i = 0; i < columns; i++)
		sections[i] = cursor_u32(&table);
	for (int size = 0; size < 2; size++) {
		uint64_t first = size ? (uint64_t)units + number : number;

		cursor_seek(&table, first * columns * 4);
		for (uint32_t i = 0; i < columns; i++)
			take_part(row, sections[i], cursor_u32(&table), size);
	}
	return cursor_ok(&table) && cursor_ok(&c);
}

static struct dwarf_unit *unit_in_package(struct split_file *package,
					  const struct dwarf_unit *skeleton)
{
	struct dwarf *d = &package->sections.dwarf;
	struct package_row row;
	struct dwarf_unit *u;

	if (!read_row(d, skeleton->id, &row))
		return NULL;
	u = dwarf_unit_at(d, row.info.offset);
	if (!u || u->offset != row.info.offset)
		return NULL;
	/* Once: the offsets in the unit count from the start of its part of the section. */
	if (!u->skeleton) {
		u->abbrev_offset += row.abbrev.offset;
		u->str_offsets_base = row.str_offsets.offset;
		u->rnglists_base = row.rnglists.offset;
	}
	return tie(u, skeleton);
}

static struct split_file *open_package(const struct debug_split *s,
				       const struct dwarf_unit *skeleton)
{
	char *path = debug_search_path("%s.dwp", s->main_path);
	struct split_file *f = path ? open_split(NULL, path, skeleton) : NULL;

	free(path);
	return f;
}

struct dwarf_unit *debug_split_unit(const struct dwarf_unit *skeleton, void *context)
{
	struct debug_split *s = context;
	struct dwarf_unit *u = NULL;
	struct split_file *f;

	pthread_mutex_lock(&s->lock);
	if (!s->package_tried) {
		s->package_tried = true;
		s->package = open_package(s, skeleton);
	}
	if (s->package)
		u = unit_in_package(s->package, skeleton);
	if (!u) {
		f = open_dwo(s, skeleton);
		u = f ? unit_in_file(f, skeleton) : NULL;
	}
	pthread_mutex_unlock(&s->lock);
	return u;
}
