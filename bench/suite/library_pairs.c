/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/suite/library_pairs.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/elf_file.h"
#include "common/words.h"
#include "record/unwind/cfi.h"
#include "report/dwarf/debug_sections.h"
#include "report/symbols/debug_search.h"
#include "report/symbols/debug_split.h"
#include "report/symbols/symbolizer.h"

static bool open_ours(struct elf_file *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !elf_file_open(e, fd);

	if (fd >= 0)
		close(fd);
	return good;
}

/* As libdw opens files itself: a private mapping. */
static Elf *open_theirs(const char *path, int *fd)
{
	elf_version(EV_CURRENT);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return elf_begin(*fd, ELF_C_READ_MMAP_PRIVATE, NULL);
}

static void close_theirs(Elf *elf, int fd)
{
	elf_end(elf);
	close(fd);
}

/* -------- headers -------- */

static uint64_t add_header(uint64_t sum, const char *name, uint64_t offset, uint64_t size)
{
	return XXH3_64bits(name, strlen(name)) + 3 * sum + offset + 5 * size;
}

static void headers_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	struct elf_file e;

	if (!open_ours(&e, path))
		return;
	for (size_t i = 0; i < e.segment_count; i++)
		a->value = add_header(a->value, "", e.segments[i].offset,
				      e.segments[i].memory_size);
	for (size_t i = 1; i < e.section_count; i++)
		a->value = add_header(a->value, e.sections[i].name, e.sections[i].offset,
				      e.sections[i].size);
	elf_file_release(&e);
}

static void headers_theirs(const struct library_files *f, const char *path,
			   struct library_answer *a)
{
	int fd;
	Elf *elf = open_theirs(path, &fd);
	size_t segments = 0, names = 0;
	Elf_Scn *section = NULL;

	elf_getphdrnum(elf, &segments);
	elf_getshdrstrndx(elf, &names);
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr h;

		gelf_getphdr(elf, (int)i, &h);
		a->value = add_header(a->value, "", h.p_offset, h.p_memsz);
	}
	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		GElf_Shdr h;

		gelf_getshdr(section, &h);
		name = elf_strptr(elf, names, h.sh_name);
		a->value = add_header(a->value, name ? name : "", h.sh_offset, h.sh_size);
	}
	close_theirs(elf, fd);
}

static void build_id_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	struct elf_file e;

	if (!open_ours(&e, path))
		return;
	a->value = XXH3_64bits(e.build_id, e.build_id_size);
	elf_file_release(&e);
}

static void build_id_theirs(const struct library_files *f, const char *path,
			    struct library_answer *a)
{
	const void *id;
	int fd;
	Elf *elf = open_theirs(path, &fd);
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	if (size > 0)
		a->value = XXH3_64bits(id, (size_t)size);
	close_theirs(elf, fd);
}

/* -------- sections of DWARF -------- */

static bool load_ours(struct debug_sections *s, struct elf_file *e, const char *path)
{
	if (!open_ours(e, path))
		return false;
	if (!debug_sections_load(s, e, e, false))
		return true;
	elf_file_release(e);
	return false;
}

static void unpack_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	struct debug_sections s;
	struct elf_file e;

	if (!load_ours(&s, &e, path))
		return;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		a->value += s.dwarf.section[i].size;
	debug_sections_release(&s);
	elf_file_release(&e);
}

/* The same sections only: .debug_loc* are large, and of no use here. */
static bool is_read(const char *name)
{
	return words_have(dwarf_section_names, DWARF_SECTIONS, name);
}

static void unpack_theirs(const struct library_files *f, const char *path, struct library_answer *a)
{
	int fd;
	Elf *elf = open_theirs(path, &fd);
	Elf_Scn *section = NULL;
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		const char *name;
		Elf_Data *data;
		GElf_Shdr h;

		gelf_getshdr(section, &h);
		name = elf_strptr(elf, names, h.sh_name);
		if (!name || !is_read(name))
			continue;
		if ((h.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0) {
			a->value = 0;
			break;
		}
		data = elf_rawdata(section, NULL);
		a->value += data ? data->d_size : 0;
	}
	close_theirs(elf, fd);
}

static void units_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	struct debug_sections s;
	struct elf_file e;

	if (!load_ours(&s, &e, path))
		return;
	a->value = s.dwarf.unit_count;
	debug_sections_release(&s);
	elf_file_release(&e);
}

static void units_theirs(const struct library_files *f, const char *path, struct library_answer *a)
{
	int fd;
	Elf *elf = open_theirs(path, &fd);
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, NULL, NULL))
		a->value++;
	dwarf_end(dwarf);
	close_theirs(elf, fd);
}

/* -------- other files -------- */

static uint64_t hash_path(const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;
	uint64_t hash = real ? XXH3_64bits(real, strlen(real)) : 0;

	free(real);
	return hash;
}

static void search_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	char directory[128];
	const char *const directories[] = { directory, NULL };
	const struct debug_search search = { .directories = directories };
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = path, .root = "" };
	struct found_file main = { 0 }, debug = { 0 };

	snprintf(directory, sizeof(directory), "%s/debug", f->folder);
	if (!found_file_open(&main, NULL, path))
		return;
	memcpy(object.build_id, main.elf.build_id, main.elf.build_id_size);
	object.build_id_size = main.elf.build_id_size;
	if (debug_search_debug(&search, &object, &main, &debug))
		a->value = hash_path(debug.path);
	found_file_release(&debug);
	found_file_release(&main);
}

static void search_theirs(const struct library_files *f, const char *path, struct library_answer *a)
{
	char directory[160], *directories = directory, *debug = NULL;
	const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
					   .section_address = dwfl_offline_section_address,
					   .debuginfo_path = &directories };
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	GElf_Addr bias;
	const char *link;
	GElf_Word checksum = 0;
	int fd = -1;
	Elf *elf;

	snprintf(directory, sizeof(directory), ":.debug:%s/debug", f->folder);
	module = dwfl_report_offline(dwfl, "", path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	elf = dwfl_module_getelf(module, &bias);
	link = dwelf_elf_gnu_debuglink(elf, &checksum);
	fd = dwfl_standard_find_debuginfo(module, NULL, "", 0, path, link, checksum, &debug);
	if (fd >= 0) {
		a->value = hash_path(debug);
		close(fd);
	}
	free(debug);
	dwfl_end(dwfl);
}

static void split_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	const struct debug_search search = { 0 };
	struct debug_split split;
	struct debug_sections s;
	struct elf_file e;

	if (!open_ours(&e, path))
		return;
	if (!debug_sections_load(&s, &e, &e, false)) {
		debug_split_init(&split, &search, path);
		for (size_t i = 0; i < s.dwarf.unit_count; i++)
			if (dwarf_unit_prepare(&s.dwarf.units[i]))
				a->value += debug_split_unit(&s.dwarf.units[i], &split) != NULL;
		debug_split_release(&split);
		debug_sections_release(&s);
	}
	elf_file_release(&e);
}

static void split_theirs(const struct library_files *f, const char *path, struct library_answer *a)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	Dwarf_Die split;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, NULL, &split))
		a->value += split.addr != NULL;
	dwarf_end(dwarf);
	close(fd);
}

static void alternate_ours(const struct library_files *f, const char *path,
			   struct library_answer *a)
{
	const struct debug_search search = { 0 };
	struct found_file main = { 0 }, alternate = { 0 };
	struct debug_sections s;

	if (found_file_open(&main, NULL, path) &&
	    debug_search_alternate(&search, &main, &alternate) &&
	    !debug_sections_load(&s, &alternate.elf, &alternate.elf, false)) {
		a->value = s.dwarf.unit_count;
		debug_sections_release(&s);
	}
	found_file_release(&alternate);
	found_file_release(&main);
}

static void alternate_theirs(const struct library_files *f, const char *path,
			     struct library_answer *a)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ), *alternate = dwarf_getalt(dwarf);
	Dwarf_CU *unit = NULL;

	while (alternate && !dwarf_get_units(alternate, unit, &unit, NULL, NULL, NULL, NULL))
		a->value++;
	dwarf_end(dwarf);
	close(fd);
}

/* -------- call frame information -------- */

/* Of each address: where the CFA is, when that is a register and an offset. */
struct frames {
	const struct library_files *files;
	struct library_answer *answer;
	size_t next;
	uint64_t end;
	uint32_t held; /* by the row before */
	uint64_t rows;
};

static void hold_until(struct frames *f, uint64_t address)
{
	while (f->next < LIBRARY_PLACES && f->files->addresses[f->next] < address)
		f->answer->places[f->next++] = f->held;
}

static void take_row(void *context, uint64_t address, const struct cfi_row *row)
{
	struct frames *f = context;

	hold_until(f, address);
	f->held = row->cfa == CFI_CFA_REGISTER ? row->reg << 24 | ((uint32_t)row->offset & 0xffffff)
					       : 0;
	f->rows++;
}

static void frames_ours(const struct library_files *files, const char *path,
			struct library_answer *a)
{
	struct frames f = { .files = files, .answer = a };
	const struct elf_section *s;
	struct elf_file e;
	struct cfi cfi = { 0 };

	if (!open_ours(&e, path))
		return;
	s = elf_file_section(&e, ".eh_frame");
	if (s && !cfi_open(&cfi, elf_section_data(&e, s), s->address, false))
		for (size_t i = 0; i < cfi.fde_count; i++) {
			hold_until(&f, cfi.fdes[i].start);
			cfi_run(&cfi, &cfi.fdes[i], take_row, &f);
			hold_until(&f, cfi_fde_end(&cfi.fdes[i]));
			f.held = 0;
		}
	hold_until(&f, UINT64_MAX);
	a->value = f.rows;
	cfi_release(&cfi);
	elf_file_release(&e);
}

/* libdw has no list of FDEs in order: those of ours say where there is code with rows. */
static void walk_theirs(Dwarf_CFI *theirs, const struct cfi_fde *fde, struct frames *f)
{
	uint64_t address = fde->start;
	Dwarf_Addr start, end = 0;

	while (address < cfi_fde_end(fde)) {
		Dwarf_Frame *frame;
		Dwarf_Op *operations;
		size_t n = 0;
		bool signal;

		if (dwarf_cfi_addrframe(theirs, address, &frame))
			break;
		hold_until(f, address);
		dwarf_frame_info(frame, &start, &end, &signal);
		dwarf_frame_cfa(frame, &operations, &n);
		f->held = n == 1 && operations->atom == DW_OP_bregx
				  ? (uint32_t)operations->number << 24 |
					    ((uint32_t)operations->number2 & 0xffffff)
				  : 0;
		free(frame);
		f->rows++;
		if (end <= address)
			break;
		address = end;
	}
	hold_until(f, cfi_fde_end(fde));
	f->held = 0;
}

static void frames_theirs(const struct library_files *files, const char *path,
			  struct library_answer *a)
{
	struct frames f = { .files = files, .answer = a };
	int fd;
	Elf *elf = open_theirs(path, &fd);
	Dwarf_CFI *theirs = dwarf_getcfi_elf(elf);
	const struct elf_section *s;
	struct elf_file e;
	struct cfi cfi = { 0 };

	if (open_ours(&e, path)) {
		s = elf_file_section(&e, ".eh_frame");
		if (theirs && s && !cfi_open(&cfi, elf_section_data(&e, s), s->address, false))
			for (size_t i = 0; i < cfi.fde_count; i++) {
				hold_until(&f, cfi.fdes[i].start);
				walk_theirs(theirs, &cfi.fdes[i], &f);
			}
		cfi_release(&cfi);
		elf_file_release(&e);
	}
	hold_until(&f, UINT64_MAX);
	a->value = f.rows;
	dwarf_cfi_end(theirs);
	close_theirs(elf, fd);
}

/* -------- look-ups -------- */

/* How many functions an address lies in, and its line; 0 where there is no DWARF. */
static uint32_t pack(size_t depth, uint32_t line)
{
	return line ? (uint32_t)depth << 24 | (line & 0xffffff) : 0;
}

static void places_ours(const struct library_files *f, const char *path, struct library_answer *a)
{
	const struct symbolizer_options options = { .inlines = true, .lines = true, .jobs = 1 };
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = path, .root = "" };
	uint32_t id, queries[LIBRARY_PLACES];
	struct symbolizer *s = NULL;
	struct elf_file e;
	bool good;

	if (!open_ours(&e, path))
		return;
	memcpy(object.build_id, e.build_id, e.build_id_size);
	object.build_id_size = e.build_id_size;
	good = !error_ignore(symbolizer_new(&s, &options)) &&
	       !error_ignore(symbolizer_add_object(s, &object, &id));
	for (size_t i = 0; good && i < LIBRARY_PLACES; i++) {
		uint64_t offset = 0;

		elf_file_address_to_offset(&e, f->addresses[i], &offset);
		good = !error_ignore(symbolizer_add_query(s, id, offset, true, &queries[i]));
	}
	elf_file_release(&e);
	good = good && !error_ignore(symbolizer_run(s));
	for (size_t i = 0; good && i < LIBRARY_PLACES; i++) {
		size_t n;
		const struct symbolizer_place *places = symbolizer_places(s, queries[i], &n);

		a->places[i] = n ? pack(n, places[0].line) : 0;
		a->value++;
	}
	symbolizer_free(s);
}

/* The functions around a DIE, itself included; the names are asked for, as a report would. */
static size_t count_functions(Dwarf_Die *innermost)
{
	Dwarf_Die *parents = NULL;
	int n = dwarf_getscopes_die(innermost, &parents);
	size_t found = 0;

	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&parents[i]);
		Dwarf_Attribute attribute;
		Dwarf_Word line = 0;
		const char *name;

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		name = dwarf_formstring(
			dwarf_attr_integrate(&parents[i], DW_AT_linkage_name, &attribute));
		if (!name)
			name = dwarf_formstring(
				dwarf_attr_integrate(&parents[i], DW_AT_name, &attribute));
		dwarf_formudata(dwarf_attr(&parents[i], DW_AT_call_line, &attribute), &line);
		found += name != NULL || line != 0;
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(parents);
	return found;
}

static uint32_t place_theirs(Dwarf *dwarf, uint64_t address)
{
	Dwarf_Die unit, *scopes = NULL;
	Dwarf_Line *line;
	size_t depth = 0;
	int number = 0, n;

	if (!dwarf_addrdie(dwarf, address, &unit))
		return 0;
	n = dwarf_getscopes(&unit, address, &scopes);
	if (n > 0)
		depth = count_functions(&scopes[0]);
	free(scopes);
	line = dwarf_getsrc_die(&unit, address);
	if (line)
		dwarf_lineno(line, &number);
	return pack(depth ? depth : 1, (uint32_t)number);
}

static void places_theirs(const struct library_files *f, const char *path, struct library_answer *a)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);

	for (size_t i = 0; dwarf && i < LIBRARY_PLACES; i++) {
		a->places[i] = place_theirs(dwarf, f->addresses[i]);
		a->value++;
	}
	dwarf_end(dwarf);
	close(fd);
}

#define ALSO_LIMITED "root directories, no pipes, no network"

const struct library_pair library_pairs[] = {
	{ "ELF headers, section names", FILE_PLAIN, headers_ours, headers_theirs, .in_report = true,
	  .decision = "libelf, on a copy of the headers" },
	{ "... 70,000 sections", FILE_SECTIONS, headers_ours, headers_theirs,
	  .decision = "the same" },
	{ "... 5,000 names without an end", FILE_ENDLESS, headers_ours, headers_theirs,
	  .decision = "names by us: elf_strptr() has no limit" },
	{ "build-id", FILE_PLAIN, build_id_ours, build_id_theirs, .in_report = true,
	  .decision = "ours: libdw reads notes without limit" },
	{ "sections of DWARF, unit headers", FILE_PLAIN, units_ours, units_theirs,
	  .in_report = true, .decision = "ours: safe from SIGBUS" },
	{ "... in zlib", FILE_ZLIB, unpack_ours, unpack_theirs, .in_report = true,
	  .decision = "ours: bounded; the mapping stays read-only" },
	{ "... in zstd", FILE_ZSTD, unpack_ours, unpack_theirs, .in_report = true,
	  .decision = "ours: libelf can since 0.189" },
	{ "debug file by .gnu_debuglink", FILE_LINK, search_ours, search_theirs, .in_report = true,
	  .decision = "ours: " ALSO_LIMITED },
	{ "debug file by build-id", FILE_STRIPPED, search_ours, search_theirs, .in_report = true,
	  .decision = "ours: " ALSO_LIMITED },
	{ "split DWARF, .dwo", FILE_DWO, split_ours, split_theirs, .in_report = true,
	  .decision = "ours: --sysroot, no pipes, safe from SIGBUS" },
	{ "split DWARF, .dwp", FILE_DWP, split_ours, split_theirs, .in_report = true,
	  .decision = "ours: libdw can since 0.191" },
	{ "alternate file of dwz", FILE_DWZ, alternate_ours, alternate_theirs, .in_report = true,
	  .decision = "ours: --sysroot, no pipes, safe from SIGBUS" },
	{ "all rows of .eh_frame", FILE_PLAIN, frames_ours, frames_theirs, .by_place = true,
	  .decision = "ours: speed (prof-record)" },
	{ "2,000 places: inlined calls, lines", FILE_PLAIN, places_ours, places_theirs,
	  .by_place = true, .in_report = true, .decision = "ours: speed" },
};

const size_t library_pairs_count = sizeof(library_pairs) / sizeof(*library_pairs);
