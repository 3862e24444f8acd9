/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/images/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PACKED_MAX (1 << 20)
#define UNPACKED_MAX (64 << 20)
#define FILE_MAX (UINT64_C(1) << 30)
#define LIST_MAX 65536
#define RULES_FIRST 3 /* the rules that all files have, see bpf/abi/unwind.h */

const struct image_mapping *image_find(const struct image *i, uint64_t address)
{
	for (size_t n = 0; n < i->mapping_count; n++)
		if (address >= i->mappings[n].start && address < i->mappings[n].end)
			return &i->mappings[n];
	return NULL;
}

static bool read_blocks(void *context, uint64_t address, void *to, size_t size)
{
	struct image *i = context;
	uint8_t *bytes = to;

	i->reads++;
	while (size) {
		uint64_t number = address / IMAGE_BLOCK, at = address % IMAGE_BLOCK;
		const uint64_t *block = map_get(&i->blocks, &number, sizeof(number));
		size_t n = IMAGE_BLOCK - at < size ? IMAGE_BLOCK - at : size;

		if (!block)
			return false;
		memcpy(bytes, i->content[*block] + at, n);
		bytes += n;
		address += n;
		size -= n;
	}
	return true;
}

/* -------- unwind tables of the rules -------- */

/* One page for what a mapping has of 64 KiB, and one segment for each page. */
static void add_page(struct image *i, uint64_t pc)
{
	const struct image_mapping *m = image_find(i, pc);
	uint64_t start = pc & ~UINT64_C(0xffff), end = start + (1 << UNWIND_PAGE_BITS);
	uint32_t n = i->tables.page_count++;

	i->segments[n] = (struct unwind_segment){ .base = start, .first_page = n, .pages = 1 };
	i->segments[n].start = m && m->start > start ? m->start : start;
	i->segments[n].end = m && m->end < end ? m->end : end;
	i->tables.segment_count = i->tables.page_count;
}

static void add_row(struct image *i, uint32_t *rows, uint64_t pc, uint32_t rule)
{
	struct unwind_page *page = &i->pages[i->tables.page_count - 1];
	uint32_t row = (uint32_t)(pc & 0xffff) << 16 | rule;

	if (!page->rows)
		page->first = *rows;
	else if (i->rows[*rows - 1] >> 16 == row >> 16)
		--*rows, --page->rows;
	i->rows[(*rows)++] = row;
	page->rows++;
}

/* Each rule holds at its pc only; elsewhere there is none. */
static void place_rules(struct image *i, const uint64_t *pcs, size_t count)
{
	uint32_t rows = 0;

	for (uint32_t n = 0; n < count; n++) {
		const struct unwind_segment *last = &i->segments[i->tables.page_count - 1];

		if (!n || pcs[n] - last->start >= last->end - last->start) {
			add_page(i, pcs[n]);
			add_row(i, &rows, 0, 0);
		}
		/* Where there is no table, its number says so. */
		add_row(i, &rows, pcs[n],
			i->rules[RULES_FIRST + n].kind == UNWIND_NONE ? 0 : RULES_FIRST + n);
		if ((pcs[n] & 0xffff) != 0xffff)
			add_row(i, &rows, pcs[n] + 1, 0);
	}
	i->slab = i->rows;
	i->tables.segments = i->segments;
	i->tables.pages = i->pages;
	i->tables.rules = i->rules;
	i->tables.rule_count = RULES_FIRST + (uint32_t)count;
	i->tables.slabs = &i->slab;
	i->tables.slab_count = 1;
	i->tables.process = (struct unwind_process){ .count = i->tables.segment_count, .id = 1 };
}

static bool parse_rules(struct image *i, struct cursor *c)
{
	uint64_t count = cursor_u64(c), *pcs;

	if (count > LIST_MAX / 4)
		return false;
	pcs = calloc(count + 1, sizeof(*pcs));
	i->rules = calloc(count + RULES_FIRST, sizeof(*i->rules));
	i->segments = calloc(count + 1, sizeof(*i->segments));
	i->pages = calloc(count + 1, sizeof(*i->pages));
	i->rows = calloc(UNWIND_SLAB_ROWS, sizeof(*i->rows)); /* all of it can be indexed */
	for (uint64_t n = 0; n < count; n++) {
		const uint8_t *rule;

		pcs[n] = cursor_u64(c);
		rule = cursor_bytes(c, sizeof(*i->rules));
		if (rule)
			memcpy(&i->rules[RULES_FIRST + n], rule, sizeof(*i->rules));
	}
	for (uint8_t n = 0; n < RULES_FIRST; n++)
		i->rules[n].kind = n;
	if (cursor_ok(c))
		place_rules(i, pcs, count);
	free(pcs);
	return cursor_ok(c);
}

/* -------- the file -------- */

static void parse_registers(struct image *i, struct cursor *c)
{
	for (size_t n = 0; n < KERNEL_REGISTERS; n++)
		i->thread.registers[n] = cursor_u64(c);
}

static bool parse_thread(struct image *i, struct cursor *c)
{
	if (cursor_u64(c) != IMAGE_MAGIC)
		return false;
	parse_registers(i, c);
	i->thread.pointer = cursor_u64(c);
	i->thread.pid = cursor_u32(c);
	i->thread.tid = cursor_u32(c);
	return cursor_ok(c);
}

static bool parse_mappings(struct image *i, struct cursor *c)
{
	i->runtime = cursor_u64(c);
	i->mapping_count = cursor_u64(c);
	if (i->mapping_count > LIST_MAX || i->runtime >= i->mapping_count)
		return false;
	i->mappings = calloc(i->mapping_count, sizeof(*i->mappings));
	for (size_t n = 0; n < i->mapping_count; n++) {
		i->mappings[n].start = cursor_u64(c);
		i->mappings[n].end = cursor_u64(c);
		i->mappings[n].offset = cursor_u64(c);
		i->mappings[n].path = cursor_string(c);
	}
	return cursor_ok(c);
}

static bool parse_file(struct image *i, struct cursor *c)
{
	i->file_size = cursor_u64(c);
	if (i->file_size > FILE_MAX)
		return false;
	i->file = calloc(1, i->file_size + IMAGE_BLOCK);
	for (uint64_t n = cursor_u64(c); n && cursor_ok(c); n--) {
		uint64_t number = cursor_u64(c);
		const uint8_t *bytes = cursor_bytes(c, IMAGE_BLOCK);

		if (!bytes || number > i->file_size / IMAGE_BLOCK)
			return false;
		i->content[i->content_count] = i->file + number * IMAGE_BLOCK;
		memcpy(i->content[i->content_count++], bytes, IMAGE_BLOCK);
	}
	i->file_blocks = i->content_count;
	return cursor_ok(c);
}

static bool parse_memory(struct image *i, struct cursor *c)
{
	for (uint64_t n = cursor_u64(c); n && cursor_ok(c); n--) {
		uint64_t number = cursor_u64(c);
		const uint8_t *bytes = cursor_bytes(c, IMAGE_BLOCK);
		uint64_t *value = map_put(&i->blocks, &number, sizeof(number), NULL);

		if (!bytes || !value)
			return false;
		*value = i->content_count;
		i->content[i->content_count++] = i->bytes + (bytes - i->bytes);
	}
	i->memory = (struct target_memory){ read_blocks, i };
	i->moment_count = cursor_u64(c);
	i->moments = *c;
	return cursor_ok(c);
}

bool image_next(struct image *i)
{
	struct cursor *c = &i->moments;

	if (!i->moment_count)
		return false;
	i->moment_count--;
	parse_registers(i, c);
	for (uint64_t n = cursor_u64(c); n && cursor_ok(c); n--) {
		uint64_t number = cursor_u64(c);
		const uint8_t *bytes = cursor_bytes(c, IMAGE_BLOCK);
		const uint64_t *block = map_get(&i->blocks, &number, sizeof(number));

		if (bytes && block)
			memcpy(i->content[*block], bytes, IMAGE_BLOCK);
	}
	return cursor_ok(c);
}

static bool parse(struct image *i)
{
	struct cursor c = cursor_over(i->bytes, i->size);

	i->content = calloc(i->size / IMAGE_BLOCK + 1, sizeof(*i->content));
	return i->content && parse_thread(i, &c) && parse_mappings(i, &c) && parse_rules(i, &c) &&
	       parse_file(i, &c) && parse_memory(i, &c);
}

static bool unpack(struct image *i, const char *path)
{
	uint8_t *packed = malloc(PACKED_MAX);
	FILE *file = fopen(path, "rb");
	size_t n = file ? fread(packed, 1, PACKED_MAX, file) : 0;
	unsigned long long size = ZSTD_getFrameContentSize(packed, n);

	if (file)
		fclose(file);
	if (n && size <= UNPACKED_MAX) {
		i->size = size;
		i->bytes = malloc(size);
	}
	if (i->bytes && ZSTD_decompress(i->bytes, size, packed, n) != size)
		i->size = 0;
	free(packed);
	return i->size > 0;
}

bool image_open(struct image *i, const char *path)
{
	*i = (struct image){ 0 };
	if (unpack(i, path) && parse(i))
		return true;
	image_release(i);
	return false;
}

void image_release(struct image *i)
{
	map_release(&i->blocks);
	free(i->content);
	free(i->mappings);
	free(i->segments);
	free(i->pages);
	free(i->rules);
	free(i->rows);
	free(i->file);
	free(i->bytes);
	*i = (struct image){ 0 };
}
