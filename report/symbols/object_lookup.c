/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/object_lookup.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/buffer.h"
#include "common/shortage.h"
#include "common/sorted.h"

void object_lookup_release(struct object_lookup *l)
{
	debug_split_release(&l->split);
	debug_sections_release(&l->sections);
	debug_sections_release(&l->alternate_sections);
	found_file_release(&l->mini);
	found_file_release(&l->alternate);
	found_file_release(&l->debug);
	found_file_release(&l->main);
	free(l->mini_data);
	free(l->position);
	free(l->addresses);
	free(l->recorded);
	free(l->names);
	free(l->answers);
	free(l->order);
	free(l->runs);
	arena_release(&l->arena);
}

/* -------- step 1 -------- */

/* All processes of a kernel have the same vDSO: ours is read if the build-id is equal. */
static enum symbols_status open_vdso(const struct prf_object *o, struct found_file *f)
{
	enum elf_error error = elf_file_open_vdso(&f->elf);

	if (error == ELF_ERROR_MEMORY)
		shortage_note(ENOMEM);
	if (error)
		return SYMBOLS_NO_FILE;
	f->open = true;
	f->path = shortage_check(strdup("[vdso]"));
	if (o->build_id_size && f->elf.build_id_size == o->build_id_size &&
	    !memcmp(f->elf.build_id, o->build_id, o->build_id_size))
		return SYMBOLS_OK;
	elf_file_release(&f->elf);
	f->open = false;
	return SYMBOLS_DIFFERENT;
}

static bool has_symbol_table(const struct elf_file *e)
{
	const struct elf_section *s = elf_file_section(e, ".symtab");

	return s && s->type != SHT_NOBITS && s->size && !symbol_table_too_large(e);
}

static void open_mini(struct object_lookup *l)
{
	enum elf_error error;
	size_t size;

	l->mini_data = debug_sections_mini(&l->main.elf, &size);
	if (!l->mini_data)
		return;
	error = elf_file_open_memory(&l->mini.elf, l->mini_data, size);
	if (error == ELF_ERROR_MEMORY)
		shortage_note(ENOMEM);
	l->mini.open = !error;
}

static void take_status(struct object_lookup *l)
{
	l->has_symbols = (l->main.open && has_symbol_table(&l->main.elf)) ||
			 (l->debug.open && has_symbol_table(&l->debug.elf)) ||
			 (l->mini.open && has_symbol_table(&l->mini.elf)) || l->symbol_count;
	l->has_dwarf = (l->main.open && debug_sections_present(&l->main.elf, false)) ||
		       (l->debug.open && debug_sections_present(&l->debug.elf, false));
	if (l->status == SYMBOLS_OK && !l->has_symbols && !l->has_dwarf)
		l->status = l->main.open && symbol_table_too_large(&l->main.elf) ? SYMBOLS_TOO_LARGE
										 : SYMBOLS_STRIPPED;
}

/* At its path, else at its copies' paths. If none is right, the status is that of its own. */
static void search_object(struct object_lookup *l)
{
	l->status = debug_search_object(l->search, l->object, &l->main);
	for (size_t i = 0; !l->main.open && i < l->copy_count; i++) {
		struct found_file copy;

		if (debug_search_object(l->search, l->copies[i], &copy) == SYMBOLS_OK) {
			found_file_release(&l->main);
			l->main = copy;
			l->status = SYMBOLS_OK;
		} else {
			found_file_release(&copy);
		}
	}
}

static void open_files(struct object_lookup *l)
{
	const struct prf_object *o = l->object;

	switch (o->kind) {
	case PRF_OBJECT_FILE:
		search_object(l);
		if (!l->main.open)
			break;
		if (!has_symbol_table(&l->main.elf) || !debug_sections_present(&l->main.elf, false))
			debug_search_debug(l->search, o, &l->main, &l->debug);
		if (!has_symbol_table(&l->main.elf) && !l->debug.open)
			open_mini(l);
		break;
	case PRF_OBJECT_VDSO: l->status = open_vdso(o, &l->main); break;
	case PRF_OBJECT_KERNEL:
		if (l->inlines || l->lines)
			debug_search_kernel(l->search, o, &l->debug);
		l->status = l->symbol_count ? SYMBOLS_OK : SYMBOLS_NO_SYMBOLS;
		break;
	default: l->status = l->symbol_count ? SYMBOLS_OK : SYMBOLS_NO_SYMBOLS;
	}
	take_status(l);
}

/* Where the first segment is loaded: prelink changes it in a file, but not in its debug file. */
static uint64_t first_address(const struct elf_file *e)
{
	for (size_t i = 0; i < e->segment_count; i++)
		if (e->segments[i].type == PT_LOAD)
			return e->segments[i].address;
	return 0;
}

/*
 * The kernel has no file that its offsets could be looked up in: they count from its text, which
 * begins at `kernel_text` in the debug file.
 */
static bool to_address(const struct object_lookup *l, uint64_t kernel_text, uint64_t offset,
		       uint64_t *address)
{
	if (l->main.open)
		return elf_file_offset_to_address(&l->main.elf, offset, address);
	*address = kernel_text + offset;
	return l->debug.open && kernel_text;
}

struct placed {
	uint64_t address;
	uint32_t offset;
};

static int by_address(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int place_addresses(struct object_lookup *l)
{
	struct placed *placed = calloc(l->n ? l->n : 1, sizeof(*placed));
	uint64_t kernel_text = 0;
	size_t n = 0;

	l->position = calloc(l->n ? l->n : 1, sizeof(*l->position));
	l->addresses = calloc(l->n ? l->n : 1, sizeof(*l->addresses));
	if (!placed || !l->position || !l->addresses || l->n >= LOOKUP_NOWHERE) {
		free(placed);
		return -1;
	}
	if (l->object->kind == PRF_OBJECT_KERNEL && l->debug.open)
		symbol_table_value(&l->debug.elf, "_text", &kernel_text);
	for (size_t i = 0; i < l->n; i++) {
		l->position[i] = LOOKUP_NOWHERE;
		if (to_address(l, kernel_text, l->offsets[i], &placed[n].address))
			placed[n++].offset = (uint32_t)i;
	}
	qsort(placed, n, sizeof(*placed), by_address);
	for (size_t i = 0; i < n; i++) {
		/* Where segments overlap, two offsets are one address: it is looked up once. */
		if (!l->address_count || l->addresses[l->address_count - 1] != placed[i].address)
			l->addresses[l->address_count++] = placed[i].address;
		l->position[placed[i].offset] = (uint32_t)l->address_count - 1;
	}
	free(placed);
	return 0;
}

int object_lookup_open(struct object_lookup *l)
{
	size_t n = l->n ? l->n : 1;

	open_files(l);
	if (place_addresses(l))
		return -1;
	if (l->main.open && l->debug.open)
		l->bias = first_address(&l->debug.elf) - first_address(&l->main.elf);
	l->recorded = calloc(n, sizeof(*l->recorded));
	l->names = calloc(n, sizeof(*l->names));
	l->answers = calloc(n, sizeof(*l->answers));
	l->order = calloc(n, sizeof(*l->order));
	return l->recorded && l->names && l->answers && l->order ? 0 : -1;
}

bool object_lookup_wants_debug(const struct object_lookup *l)
{
	return l->object->kind == PRF_OBJECT_FILE && l->object->build_id_size && l->main.open &&
	       !l->debug.open && (!l->has_symbols || (!l->has_dwarf && (l->inlines || l->lines)));
}

/* Opens a file from elsewhere, which must have the recorded build-id. */
static bool open_other(const struct object_lookup *l, struct found_file *f, const char *path)
{
	const struct prf_object *o = l->object;

	if (found_file_open(f, NULL, path) && f->elf.build_id_size == o->build_id_size &&
	    !memcmp(f->elf.build_id, o->build_id, o->build_id_size))
		return true;
	found_file_release(f);
	return false;
}

void object_lookup_add_debug(struct object_lookup *l, const char *path)
{
	if (!open_other(l, &l->debug, path))
		return;
	l->bias = first_address(&l->debug.elf) - first_address(&l->main.elf);
	if (l->status == SYMBOLS_STRIPPED || l->status == SYMBOLS_TOO_LARGE)
		l->status = SYMBOLS_OK;
	take_status(l);
}

bool object_lookup_wants_main(const struct object_lookup *l)
{
	return l->object->kind == PRF_OBJECT_FILE && l->object->build_id_size && !l->main.open;
}

int object_lookup_add_main(struct object_lookup *l, const char *path)
{
	/* `main` may hold the path of a file that was refused. */
	found_file_release(&l->main);
	if (!open_other(l, &l->main, path))
		return 0;
	l->status = SYMBOLS_OK;
	if (debug_search_debug(l->search, l->object, &l->main, &l->debug))
		l->bias = first_address(&l->debug.elf) - first_address(&l->main.elf);
	take_status(l);
	free(l->position);
	free(l->addresses);
	l->address_count = 0;
	return place_addresses(l);
}

/* -------- step 2 -------- */

/* The debug file's addresses are the addresses plus the bias. */
static int debug_symbols(struct object_lookup *l, struct symbol_search search)
{
	uint64_t *moved;

	if (!l->bias) {
		symbol_table_find(&l->debug.elf, ".symtab", &search);
		return 0;
	}
	moved = calloc(l->address_count ? l->address_count : 1, sizeof(*moved));
	if (!moved)
		return -1;
	for (size_t i = 0; i < l->address_count; i++)
		moved[i] = l->addresses[i] + l->bias;
	search.addresses = moved;
	symbol_table_find(&l->debug.elf, ".symtab", &search);
	free(moved);
	return 0;
}

int object_lookup_symbols(struct object_lookup *l)
{
	const struct elf_file *e = &l->main.elf;
	const char *base = l->object->kind == PRF_OBJECT_VDSO ? "/vdso"
							      : strrchr(l->object->path, '/');
	const struct symbol_search recorded = { l->offsets, l->n, l->recorded, &l->arena };
	const struct symbol_search search = { l->addresses, l->address_count, l->names, &l->arena };
	int result = 0;

	/*
	 * A name that was found stays, so the best sources come first: .symtab has local functions,
	 * too, where .dynsym has only what others may call; stubs and unwind tables name the rest.
	 */
	symbol_list_find(l->symbols, l->symbol_count, &recorded);
	if (l->main.open)
		symbol_table_find(e, ".symtab", &search);
	/* Not for the kernel, whose symbols the trace has as they were while recording. */
	if (l->debug.open && l->main.open)
		result = debug_symbols(l, search);
	if (l->mini.open)
		symbol_table_find(&l->mini.elf, ".symtab", &search);
	if (!l->main.open)
		return result;
	symbol_table_find(e, ".dynsym", &search);
	if (!l->bias)
		fde_bound(e, &search);
	plt_find(e, &search);
	fde_find(e, base ? base + 1 : l->object->path, &search);
	return result;
}

struct placed_unit {
	uint32_t unit, address;
};

static int by_unit(const void *left, const void *right)
{
	const struct placed_unit *a = left, *b = right;

	return SORTED_BY_TWO(a, b, unit, address);
}

static int make_runs(struct object_lookup *l, const uint32_t *units)
{
	struct placed_unit *placed = calloc(l->address_count, sizeof(*placed));
	size_t n = 0;

	l->runs = calloc(l->address_count, sizeof(*l->runs));
	if (!placed || !l->runs) {
		free(placed);
		return -1;
	}
	for (size_t i = 0; i < l->address_count; i++)
		if (units[i] != DWARF_NO_UNIT)
			placed[n++] = (struct placed_unit){ units[i], (uint32_t)i };
	qsort(placed, n, sizeof(*placed), by_unit);
	for (size_t i = 0; i < n; i++) {
		l->order[i] = placed[i].address;
		if (!i || placed[i].unit != placed[i - 1].unit)
			l->runs[l->run_count++] = (struct unit_run){ .unit = placed[i].unit,
								     .first = (uint32_t)i };
		l->runs[l->run_count - 1].n++;
	}
	free(placed);
	return 0;
}

static int load_alternate(struct object_lookup *l, const struct found_file *from)
{
	if (!debug_search_alternate(l->search, from, &l->alternate))
		return -1;
	if (debug_sections_load(&l->alternate_sections, &l->alternate.elf, &l->alternate.elf,
				false))
		return -1;
	l->sections.dwarf.alternate = &l->alternate_sections.dwarf;
	return 0;
}

int object_lookup_units(struct object_lookup *l)
{
	const struct found_file *from = &l->main;
	uint64_t *moved;
	uint32_t *units;
	int result = -1;

	if (!l->address_count || !(l->inlines || l->lines || !l->has_symbols) || !l->has_dwarf)
		return 0;
	if (!l->main.open || !debug_sections_present(&l->main.elf, false))
		from = &l->debug;
	if (debug_sections_load(&l->sections, &from->elf, &from->elf, false))
		return 0;
	load_alternate(l, from);
	debug_split_init(&l->split, l->search, from->path ? from->path : "");
	l->dwarf_bias = from == &l->main ? 0 : l->bias;
	moved = calloc(l->address_count, sizeof(*moved));
	units = calloc(l->address_count, sizeof(*units));
	if (moved && units) {
		for (size_t i = 0; i < l->address_count; i++)
			moved[i] = l->addresses[i] + l->dwarf_bias;
		dwarf_find_units(&l->sections.dwarf, moved, l->address_count, units);
		result = make_runs(l, units);
	}
	free(moved);
	free(units);
	return result;
}

/* -------- step 3 -------- */

int object_lookup_unit(struct object_lookup *l, size_t run, struct arena *arena)
{
	const struct unit_run *r = &l->runs[run];
	struct dwarf_answer *answers = calloc(r->n, sizeof(*answers));
	uint64_t *addresses = calloc(r->n, sizeof(*addresses));
	const struct dwarf_lookup lookup = { .addresses = addresses,
					     .n = r->n,
					     .inlines = l->inlines,
					     .lines = l->lines,
					     .arena = arena,
					     .split = debug_split_unit,
					     .context = &l->split };
	int result = -1;

	if (!answers || !addresses)
		goto out;
	for (uint32_t i = 0; i < r->n; i++)
		addresses[i] = l->addresses[l->order[r->first + i]] + l->dwarf_bias;
	result = dwarf_lookup_unit(&lookup, &l->sections.dwarf.units[r->unit], answers);
	for (uint32_t i = 0; i < r->n && !result; i++)
		l->answers[l->order[r->first + i]] = answers[i];
out:
	free(answers);
	free(addresses);
	return result;
}

static void hash_file(struct buffer *b, const struct found_file *f)
{
	if (f->path)
		buffer_append(b, f->path, strlen(f->path) + 1);
	buffer_u64(b, f->size);
	buffer_u64(b, f->changed_ns);
}

bool object_lookup_key(const struct object_lookup *l, struct name_cache_key *key)
{
	const struct prf_object *o = l->object;
	struct buffer files = { 0 };
	bool usable;

	if (o->kind != PRF_OBJECT_FILE || !o->build_id_size || !l->main.open || l->symbol_count ||
	    l->split.package_tried)
		return false;
	*key = (struct name_cache_key){ .build_id_size = o->build_id_size };
	memcpy(key->build_id, o->build_id, sizeof(key->build_id));
	key->flags = (uint8_t)(l->inlines | l->lines << 1);
	buffer_append(&files, PROF_VERSION, sizeof(PROF_VERSION));
	hash_file(&files, &l->main);
	hash_file(&files, &l->debug);
	usable = buffer_ok(&files);
	key->identity = usable ? XXH3_64bits(files.data, files.size) : 0;
	buffer_release(&files);
	return usable;
}

bool object_lookup_lacks_alternate(const struct object_lookup *l)
{
	const struct found_file *dwarf = l->debug.open ? &l->debug : &l->main;

	return !l->alternate.open && elf_file_section(&dwarf->elf, ".gnu_debugaltlink");
}

void object_lookup_answer(const struct object_lookup *l, size_t offset, const char **name,
			  const struct dwarf_answer **answer)
{
	uint32_t position = l->position[offset];

	*name = l->recorded[offset].name;
	*answer = NULL;
	if (position == LOOKUP_NOWHERE)
		return;
	if (!*name)
		*name = l->names[position].name;
	if (l->answers[position].n)
		*answer = &l->answers[position];
}
