/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where functions begin and end, by the unwind table: the last resort for code without symbols, and
 * for symbols without a size.
 * .eh_frame_hdr holds a sorted table of (start, FDE), LSB "Exception Frames" 10.6.2; the FDE
 * has the function's length.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "common/shortage.h"
#include "report/symbols/symbol_table.h"

#define ENCODING_DATA_REL_SDATA4 0x3b
#define ENCODING_PC_REL_SDATA4 0x1b
#define ENCODING_UDATA4 0x03
#define NAME_BYTES_MAX 256
#define AUGMENTATION_BYTES_MAX 16 /* "zPLRSB" and a NUL, with room */

struct fde_table {
	const struct elf_file *file;
	uint64_t address; /* of .eh_frame_hdr */
	struct cursor entries;
	uint64_t count;
};

static bool table_open(struct fde_table *t, const struct elf_file *e)
{
	struct cursor c = { .failed = true };

	*t = (struct fde_table){ .file = e };
	for (size_t i = 0; i < e->segment_count; i++) {
		if (e->segments[i].type != PT_GNU_EH_FRAME)
			continue;
		t->address = e->segments[i].address;
		c = elf_file_at(e, t->address);
	}
	if (cursor_u8(&c) != 1)
		return false;
	/* All linkers write these encodings. */
	if (cursor_u8(&c) != ENCODING_PC_REL_SDATA4 || cursor_u8(&c) != ENCODING_UDATA4 ||
	    cursor_u8(&c) != ENCODING_DATA_REL_SDATA4)
		return false;
	cursor_u32(&c);
	t->count = cursor_u32(&c);
	if (t->count > cursor_left(&c) / 8)
		t->count = cursor_left(&c) / 8;
	t->entries = cursor_over(c.at, t->count * 8);
	return cursor_ok(&c) && t->count;
}

static uint64_t relative(uint64_t base, uint32_t offset)
{
	return base + (uint64_t)(int64_t)(int32_t)offset;
}

static uint64_t entry_start(const struct fde_table *t, uint64_t i, uint64_t *fde)
{
	struct cursor c = t->entries;
	uint64_t start;

	cursor_seek(&c, i * 8);
	start = relative(t->address, cursor_u32(&c));
	*fde = relative(t->address, cursor_u32(&c));
	return start;
}

/* How long the code of an FDE is; 0 for encodings that linkers do not write. */
static uint64_t fde_size(const struct elf_file *e, uint64_t fde)
{
	struct cursor c = elf_file_at(e, fde), cie;
	uint32_t length = cursor_u32(&c), back = cursor_u32(&c);
	const char *augmentation;
	uint32_t range;

	cursor_u32(&c);
	range = cursor_u32(&c);
	cie = elf_file_at(e, fde + 4 - back);
	cursor_u32(&cie);
	cursor_u32(&cie);
	cursor_u8(&cie);
	augmentation = cursor_short_string(&cie, AUGMENTATION_BYTES_MAX);
	if (!cursor_ok(&c) || !augmentation || length == UINT32_MAX)
		return 0;
	/* With "zR", "zPLR" or "zRS" the pointer encoding is pc-relative, of 4 bytes. */
	return *augmentation == 'z' && strchr(augmentation, 'R') ? range : 0;
}

/* The last entry that begins at or before the address; false when there is none. */
static bool find_entry(const struct fde_table *t, uint64_t address, uint64_t *start, uint64_t *fde)
{
	uint64_t low = 0, high = t->count;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (entry_start(t, middle, fde) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		*start = entry_start(t, low - 1, fde);
	return low;
}

/* Whether a function begins or ends after `start` and not after the address. */
static bool is_beyond(const struct fde_table *t, uint64_t start, uint64_t address)
{
	uint64_t first, fde;

	if (!find_entry(t, address, &first, &fde))
		return false;
	if (first > start)
		return true;
	return start - first < fde_size(t->file, fde) && address - first >= fde_size(t->file, fde);
}

void fde_bound(const struct elf_file *e, const struct symbol_search *search)
{
	struct fde_table t;

	if (!table_open(&t, e))
		return;
	for (size_t i = 0; i < search->n; i++) {
		struct symbol_name *name = &search->names[i];

		if (name->name && !name->size && is_beyond(&t, name->start, search->addresses[i]))
			*name = (struct symbol_name){ 0 };
	}
}

void fde_find(const struct elf_file *e, const char *file, const struct symbol_search *search)
{
	struct fde_table t;

	if (!table_open(&t, e))
		return;
	for (size_t i = 0; i < search->n; i++) {
		uint64_t address = search->addresses[i], fde, start, size;
		char text[NAME_BYTES_MAX];
		int length;

		if (search->names[i].name || !find_entry(&t, address, &start, &fde))
			continue;
		size = fde_size(e, fde);
		if (address - start >= size)
			continue;
		length = snprintf(text, sizeof(text), "[%s+0x%llx]", file,
				  (unsigned long long)start);
		if (length < (int)sizeof(text))
			search->names[i] = (struct symbol_name){
				shortage_check(arena_text(search->arena, text, (size_t)length)),
				start, size
			};
	}
}
