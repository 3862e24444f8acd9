/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/go_functions.h"

#include "common/limits.h"

/* The first word of a table says which version of Go wrote it. */
#define GO_1_16 0xfffffffa
#define GO_1_18 0xfffffff0
#define GO_1_20 0xfffffff1
#define ALIGNMENT 32
#define NAME_MAX_BYTES 512
#define FUNCTION_MOVES_SP 2 /* funcFlag_SPWRITE */

static bool is_header(struct cursor c)
{
	uint32_t magic = cursor_u32(&c);

	return (magic == GO_1_16 || magic == GO_1_18 || magic == GO_1_20) && cursor_u16(&c) == 0 &&
	       cursor_u8(&c) <= 4 && cursor_u8(&c) == 8;
}

/* Its own section; or, where C's linker made a program that can lie anywhere, among other data. */
static struct cursor find_table(const struct elf_file *e, uint64_t *address)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab",
					     ".data.rel.ro" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct elf_section *s = elf_file_section(e, names[i]);
		struct cursor c = elf_section_data(e, s);

		for (size_t at = 0; at < LIMIT_ANALYSED_BYTES && cursor_left(&c) >= ALIGNMENT;
		     at += ALIGNMENT) {
			if (is_header(c)) {
				*address = s->address + at;
				return cursor_over(c.at, cursor_left(&c));
			}
			cursor_skip(&c, ALIGNMENT);
		}
	}
	return cursor_over(NULL, 0);
}

static struct cursor part(struct cursor table, uint64_t offset)
{
	cursor_seek(&table, offset);
	return cursor_over(table.at, cursor_left(&table));
}

bool go_functions_open(struct go_functions *g, const struct elf_file *e)
{
	uint64_t address = 0, offset[5];
	struct cursor table = find_table(e, &address), c = table;
	uint32_t magic = cursor_u32(&c);

	*g = (struct go_functions){ .word = magic == GO_1_16 ? 8 : 4,
				    .has_line = magic == GO_1_20 };
	cursor_skip(&c, 4);
	g->count = cursor_u64(&c);
	cursor_skip(&c, 8); /* number of files */
	if (magic != GO_1_16) {
		g->text = cursor_u64(&c);
		/* A program that can lie anywhere has it from the dynamic linker. */
		elf_file_relocation(e, address + 24, 0, &g->text);
	}
	for (size_t i = 0; i < 5; i++) /* names, units, files, values, functions */
		offset[i] = cursor_u64(&c);
	if (!cursor_ok(&c))
		return false;
	g->names = part(table, offset[0]);
	g->values = part(table, offset[3]);
	g->functions = part(table, offset[4]);
	/* The last one is followed by the address where it ends. */
	if (g->count > LIMIT_FUNCTION_STARTS || !g->count ||
	    cursor_left(&g->functions) < (2 * g->count + 1) * g->word)
		return false;
	return true;
}

static uint64_t field(const struct go_functions *g, size_t number)
{
	struct cursor c = g->functions;

	cursor_skip(&c, number * g->word);
	return g->word == 4 ? cursor_u32(&c) : cursor_u64(&c);
}

static const char *name_at(const struct go_functions *g, uint32_t offset)
{
	struct cursor c = g->names;
	const char *name;

	cursor_seek(&c, offset);
	name = cursor_short_string(&c, NAME_MAX_BYTES);
	return name ? name : "";
}

bool go_functions_get(const struct go_functions *g, size_t number, struct go_function *f)
{
	struct cursor c = g->functions;

	*f = (struct go_function){ .start = g->text + field(g, 2 * number),
				   .end = g->text + field(g, 2 * number + 2) };
	cursor_seek(&c, field(g, 2 * number + 1));
	cursor_skip(&c, g->word); /* its start again */
	f->name = name_at(g, cursor_u32(&c));
	cursor_skip(&c, 8); /* size of arguments, where it runs deferred calls */
	f->frames = cursor_u32(&c);
	cursor_skip(&c, 16); /* files, lines, number of tables, unit */
	cursor_skip(&c, g->has_line ? 4 : 0);
	cursor_skip(&c, 1); /* which special function it is */
	f->moves_sp = cursor_u8(&c) & FUNCTION_MOVES_SP;
	return cursor_ok(&c) && f->start < f->end;
}

size_t go_functions_at(const struct go_functions *g, uint64_t address)
{
	size_t low = 0, high = g->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->text + field(g, 2 * middle + 2) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->count && g->text + field(g, 2 * low) <= address ? low : g->count;
}

/* A change of the size, twice its amount or of its complement, and for how many bytes it holds. */
bool go_frame_next(struct go_frame *frame)
{
	uint64_t change = cursor_uleb(&frame->values), bytes;

	if (!change)
		return false; /* the end */
	bytes = cursor_uleb(&frame->values);
	/* Each step goes on in the code, so that there are not more steps than bytes. */
	if (!cursor_ok(&frame->values) || !bytes || bytes > UINT32_MAX || change > UINT32_MAX)
		return false;
	frame->size += change & 1 ? ~(int64_t)(change >> 1) : (int64_t)(change >> 1);
	frame->end += bytes;
	return frame->end >= bytes && frame->size >= 0 && frame->size <= INT32_MAX / 2;
}

bool go_frame_first(const struct go_functions *g, const struct go_function *f,
		    struct go_frame *frame)
{
	*frame = (struct go_frame){ .values = g->values, .end = f->start, .size = -1 };
	cursor_seek(&frame->values, f->frames);
	return f->frames && go_frame_next(frame);
}
