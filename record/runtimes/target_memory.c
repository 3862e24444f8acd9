/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/target_memory.h"

#include <stdlib.h>
#include <string.h>

#include "record/system/process_reader.h"

static bool read_process(void *context, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = { bytes, size }, there = { (void *)(uintptr_t)address, size };

	return process_reader_memory((uint32_t)(uintptr_t)context, &here, &there, 1);
}

struct target_memory target_memory_of(uint32_t pid)
{
	return (struct target_memory){ read_process, (void *)(uintptr_t)pid };
}

/* -------- pieces -------- */

#define PAGE UINT64_C(4096)
#define GATHERED (16 << 10) /* bytes */

/*
 * What one system call reads. Most of its time goes to finding the pages, one after the other: so
 * pieces of one page are read as one, with what is between, and taken out of that afterwards.
 */
struct reading {
	struct iovec here[TARGET_PIECES_MAX], there[TARGET_PIECES_MAX];
	size_t count, size;
	const struct target_piece *sorted[TARGET_PIECES_MAX];
	const uint8_t *taken[TARGET_PIECES_MAX]; /* from where; NULL: it is where it is to go */
	uint8_t gathered[GATHERED];
	size_t used;
};

static int by_address(const void *a, const void *b)
{
	const struct target_piece *x = *(const struct target_piece *const *)a;
	const struct target_piece *y = *(const struct target_piece *const *)b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void add_read(struct reading *r, void *to, uint64_t address, size_t size)
{
	r->here[r->count] = (struct iovec){ to, size };
	r->there[r->count++] = (struct iovec){ (void *)(uintptr_t)address, size };
	r->size += size;
}

/* How many pieces from the `i`th on lie in the page of that one, and where the last one ends. */
static size_t pieces_of_page(const struct reading *r, size_t i, size_t n, uint64_t *end)
{
	uint64_t start = r->sorted[i]->address, limit = (start / PAGE + 1) * PAGE;
	size_t count = 0;

	*end = start + r->sorted[i]->size;
	for (; i < n; i++, count++) {
		uint64_t its = r->sorted[i]->address + r->sorted[i]->size;

		if (count && (r->sorted[i]->address >= limit || its > limit || *end > limit))
			break;
		if (its > *end)
			*end = its;
	}
	return count;
}

static void plan(struct reading *r, size_t n)
{
	uint64_t end;
	size_t count;

	for (size_t i = 0; i < n; i += count) {
		uint64_t start = r->sorted[i]->address;

		count = pieces_of_page(r, i, n, &end);
		if (count == 1 || end - start > GATHERED - r->used) {
			count = 1;
			r->taken[i] = NULL;
			add_read(r, r->sorted[i]->to, start, r->sorted[i]->size);
			continue;
		}
		add_read(r, r->gathered + r->used, start, end - start);
		for (size_t j = i; j < i + count; j++)
			r->taken[j] = r->gathered + r->used + (r->sorted[j]->address - start);
		r->used += end - start;
	}
}

static bool read_pieces(uint32_t pid, const struct target_piece *pieces, size_t n)
{
	struct reading r;

	r.count = r.size = r.used = 0;
	for (size_t i = 0; i < n; i++)
		r.sorted[i] = &pieces[i];
	qsort(r.sorted, n, sizeof(*r.sorted), by_address);
	plan(&r, n);
	if (!process_reader_memory(pid, r.here, r.there, r.count))
		return false;
	for (size_t i = 0; i < n; i++)
		if (r.taken[i])
			memcpy(r.sorted[i]->to, r.taken[i], r.sorted[i]->size);
	return true;
}

bool target_read_all(const struct target_memory *m, const struct target_piece *pieces, size_t n)
{
	if (m->read == read_process && n <= TARGET_PIECES_MAX)
		return read_pieces((uint32_t)(uintptr_t)m->context, pieces, n);
	for (size_t i = 0; i < n; i++)
		if (!target_read(m, pieces[i].address, pieces[i].to, pieces[i].size))
			return false;
	return true;
}

/* -------- numbers and texts -------- */

static bool read_number(const struct target_memory *m, uint64_t address, void *value, size_t size)
{
	if (target_read(m, address, value, size))
		return true;
	memset(value, 0, size);
	return false;
}

bool target_u8(const struct target_memory *m, uint64_t address, uint8_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u16(const struct target_memory *m, uint64_t address, uint16_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u32(const struct target_memory *m, uint64_t address, uint32_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_u64(const struct target_memory *m, uint64_t address, uint64_t *value)
{
	return read_number(m, address, value, sizeof(*value));
}

bool target_text(const struct target_memory *m, uint64_t address, char *text, size_t size)
{
	size_t n = 0;

	/* By pieces that end with a page: the next page may not be there. */
	while (n < size) {
		size_t piece = 4096 - ((address + n) & 4095);

		if (piece > size - n)
			piece = size - n;
		if (!target_read(m, address + n, text + n, piece))
			break;
		if (memchr(text + n, 0, piece))
			return true;
		n += piece;
	}
	text[0] = 0;
	return false;
}
