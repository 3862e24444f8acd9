/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/debug_sections.h"

#include <elf.h>
#include <errno.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "common/limits.h"
#include "common/shortage.h"

/*
 * Slightly more than zlib's largest possible ratio. zstd could exceed it, but on debug information
 * it does not come near it.
 */
#define RATIO_MAX 1100

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static bool unpack_zlib(struct cursor *c, void *to, size_t size)
{
	struct libdeflate_decompressor *d = shortage_check(libdeflate_alloc_decompressor());
	size_t made = 0;
	bool good;

	if (!d)
		return false;
	good = libdeflate_zlib_decompress(d, c->at, cursor_left(c), to, size, &made) ==
		       LIBDEFLATE_SUCCESS &&
	       made == size;
	libdeflate_free_decompressor(d);
	return good;
}

static bool unpack_zstd(struct cursor *c, void *to, size_t size)
{
	size_t made = ZSTD_decompress(to, size, c->at, cursor_left(c));

	if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation)
		shortage_note(ENOMEM);
	return made == size;
}

static uint64_t big_endian(struct cursor *c)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | cursor_u8(c);
	return value;
}

/*
 * Unpacks a section: gABI's Elf64_Chdr and what follows it, or with `old` "ZLIB" and the size.
 * `room`: bytes that may still be taken. NULL when it is damaged, or claims more than is possible
 * or wanted.
 */
static void *unpack(struct cursor c, bool old, uint64_t room, size_t *size)
{
	uint32_t kind = ELFCOMPRESS_ZLIB;
	uint64_t claimed;
	void *to;

	if (old) {
		const uint8_t *magic = cursor_bytes(&c, 4);

		if (!magic || memcmp(magic, "ZLIB", 4))
			return NULL;
		claimed = big_endian(&c);
	} else {
		kind = cursor_u32(&c);
		cursor_u32(&c);
		claimed = cursor_u64(&c);
		cursor_u64(&c);
	}
	if (!cursor_ok(&c) || claimed / RATIO_MAX > cursor_left(&c) || claimed > room)
		return NULL;
	to = shortage_check(malloc(claimed ? claimed : 1));
	if (!to)
		return NULL;
	if (kind == ELFCOMPRESS_ZLIB ? !unpack_zlib(&c, to, claimed)
				     : kind != ELFCOMPRESS_ZSTD || !unpack_zstd(&c, to, claimed)) {
		free(to);
		return NULL;
	}
	*size = claimed;
	return to;
}

/* ".debug_x", or ".zdebug_x", GNU's older way; ".dwo" follows in split files, but for the index. */
static const struct elf_section *find_section(const struct elf_file *e, enum dwarf_section section,
					      bool split, bool *old)
{
	char name[64];
	const char *base = dwarf_section_names[section];
	const char *suffix = split && section != DEBUG_CU_INDEX ? ".dwo" : "";
	const struct elf_section *found;

	snprintf(name, sizeof(name), "%s%s", base, suffix);
	found = elf_file_section(e, name);
	*old = false;
	if (found && found->type != SHT_NOBITS)
		return found;
	snprintf(name, sizeof(name), ".z%s%s", base + 1, suffix);
	*old = true;
	return elf_file_section(e, name);
}

bool debug_sections_present(const struct elf_file *e, bool split)
{
	bool old;
	const struct elf_section *info = find_section(e, DEBUG_INFO, split, &old);

	return info && info->type != SHT_NOBITS && info->size;
}

static void load_section(struct debug_sections *s, const struct elf_file *e,
			 enum dwarf_section which, bool split)
{
	struct dwarf_bytes *bytes = &s->dwarf.section[which];
	bool old;
	const struct elf_section *section = find_section(e, which, split, &old);
	struct cursor c = elf_section_data(e, section);

	if (!section || !cursor_left(&c) || cursor_left(&c) > LIMIT_DEBUG_BYTES)
		return;
	if (!old && !(section->flags & SHF_COMPRESSED)) {
		bytes->data = c.at;
		bytes->size = cursor_left(&c);
		return;
	}
	s->unpacked[which] = unpack(c, old, LIMIT_UNPACKED_BYTES - s->unpacked_bytes, &bytes->size);
	bytes->data = s->unpacked[which];
	s->unpacked_bytes += bytes->size;
}

/*
 * From the lowest to the highest address of executable segments. Linkers drop functions but keep
 * their DWARF, relocated to address 0 or near it; so DWARF for addresses outside of this range is
 * ignored.
 */
static void find_code(struct dwarf *d, const struct elf_file *code)
{
	d->code_low = UINT64_MAX;
	d->code_high = 0;
	for (size_t i = 0; i < code->segment_count; i++) {
		const struct elf_segment *segment = &code->segments[i];

		if (segment->type != PT_LOAD || !(segment->flags & PF_X))
			continue;
		if (segment->address < d->code_low)
			d->code_low = segment->address;
		if (segment->address + segment->memory_size > d->code_high)
			d->code_high = segment->address + segment->memory_size;
	}
}

int debug_sections_load(struct debug_sections *s, const struct elf_file *e,
			const struct elf_file *code, bool split)
{
	*s = (struct debug_sections){ .dwarf.split = split };
	if (!debug_sections_present(e, split))
		return -1;
	for (enum dwarf_section i = 0; i < DWARF_SECTIONS; i++)
		load_section(s, e, i, split);
	find_code(&s->dwarf, code);
	if (!s->dwarf.section[DEBUG_INFO].size || dwarf_index(&s->dwarf)) {
		debug_sections_release(s);
		return -1;
	}
	return 0;
}

void debug_sections_release(struct debug_sections *s)
{
	dwarf_release(&s->dwarf);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		free(s->unpacked[i]);
	*s = (struct debug_sections){ 0 };
}

uint8_t *debug_sections_mini(const struct elf_file *e, size_t *size)
{
	struct cursor c = elf_section_data(e, elf_file_section(e, ".gnu_debugdata"));
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *data = NULL;
	size_t capacity = 0;
	lzma_ret status;

	if (!cursor_left(&c))
		return NULL;
	status = lzma_stream_decoder(&stream, LIMIT_MINI_MEMORY, 0);
	stream.next_in = c.at;
	stream.avail_in = cursor_left(&c);
	while (status == LZMA_OK && capacity < LIMIT_MINI_BYTES) {
		size_t made = capacity - stream.avail_out;
		uint8_t *grown;

		capacity = capacity ? 2 * capacity : 1 << 16;
		grown = shortage_check(realloc(data, capacity));
		if (!grown)
			break;
		data = grown;
		stream.next_out = data + made;
		stream.avail_out = capacity - made;
		status = lzma_code(&stream, LZMA_FINISH);
	}
	*size = capacity - stream.avail_out;
	lzma_end(&stream);
	if (status == LZMA_STREAM_END)
		return data;
	if (status == LZMA_MEM_ERROR)
		shortage_note(ENOMEM);
	free(data);
	return NULL;
}
