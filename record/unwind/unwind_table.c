/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/array.h"
#include "common/fuzzing.h"
#include "common/limits.h"
#include "record/unwind/code_analysis.h"
#include "record/unwind/code_patterns.h"
#include "record/unwind/exception_return.h"
#include "record/unwind/function_starts.h"
#include "record/unwind/unwind_arch.h"

#define PAGE_BYTES (1U << UNWIND_PAGE_BITS)
/* Less than this between two functions is padding, which never runs. */
#define PADDING_MAX 16
#define FAMILIAR_MAX 64
#define EXCEPTION_RETURN_BYTES 4096 /* in which the way to a handler is looked for */
/* What zlib makes of a byte at most. */
#define ZLIB_RATIO 1032

struct stretch {
	uint64_t start, end;
	int rule;
};

/* Rows repeat themselves: which rule a row became the last time. A fuzzer's files have few. */
#define REMEMBERED_BITS (FUZZING ? 4 : 10)
struct remembered {
	struct cfi_row row;
	int rule; /* 0: none yet, as UNWIND_NONE comes of no row */
};

struct builder {
	struct unwind_table *t;
	const struct elf_file *e;
	size_t max_rows;
	const atomic_bool *stop; /* see struct unwind_source */
	uint64_t next;		 /* everything before has its rows */
	uint64_t fde_end;
	uint64_t row_start; /* of the FDE's last row */
	int64_t row_frame;  /* the offset of its CFA */
	int row_rule;
	struct exception_return leaves; /* of the FDE */
	size_t left;			/* how many of its stretches have their rows */
	size_t searched;		/* places of the file that may have such */
	bool to_handler;		/* the FDE's rows enter the handler of an exception */
	int rule;			/* that holds at `next` */
	uint32_t page;
	int error;
	struct remembered *remembered;	       /* by hashes of REMEMBERED_BITS */
	struct stretch familiar[FAMILIAR_MAX]; /* sorted by start */
	size_t familiar_count, familiar_next;
	struct code_ranges code, gaps;
	uint64_t unknown_bytes;		/* in the gaps */
	struct code_analysis *analysis; /* NULL: not needed yet */
};

_Static_assert(LIMIT_HANDLER_SEARCHES == 256, "as the text says");

const char *unwind_table_error_text(enum unwind_table_error error)
{
	switch (error) {
	case UNWIND_TABLE_OK: return "no error";
	case UNWIND_TABLE_NO_CODE: return "no code for this processor";
	case UNWIND_TABLE_NO_INFO: return "no unwind information";
	case UNWIND_TABLE_TOO_LARGE: return "the table would be too large";
	case UNWIND_TABLE_MEMORY: return "out of memory";
	case UNWIND_TABLE_STOPPED: return "the recording has ended";
	case UNWIND_TABLE_LIMIT:
		return "it may enter handlers of exceptions at more than 256 places";
	}
	return "unknown error";
}

/* -------- rows -------- */

static void append_row(struct builder *b, uint32_t row)
{
	struct unwind_table *t = b->t;

	if (t->row_count >= b->max_rows)
		b->error = UNWIND_TABLE_TOO_LARGE;
	if (b->error)
		return;
	if (!array_reserve(&t->rows, &t->row_capacity, t->row_count + 1)) {
		b->error = UNWIND_TABLE_MEMORY;
		return;
	}
	t->rows[t->row_count++] = row;
	t->pages[b->page].rows++;
}

static void begin_page(struct builder *b, uint32_t page)
{
	b->page = page;
	b->t->pages[page] = (struct table_page){ .first = (uint32_t)b->t->row_count };
}

/* From `address` on, `rule` holds. Addresses never go back. */
static void add_row(struct builder *b, uint64_t address, int rule)
{
	struct unwind_table *t = b->t;
	uint64_t offset = address - t->base;
	uint32_t page = (uint32_t)(offset >> UNWIND_PAGE_BITS), low = offset & (PAGE_BYTES - 1);
	struct table_page *p;

	if (rule < 0)
		b->error = UNWIND_TABLE_MEMORY;
	if (b->error || rule == b->rule || page >= t->page_count)
		return;
	/* The pages up to this one begin with what held before. */
	while (b->page < page) {
		begin_page(b, b->page + 1);
		if (b->rule != UNWIND_NONE && (b->page < page || low))
			append_row(b, (uint32_t)b->rule);
	}
	p = &t->pages[page];
	b->rule = rule;
	if (!p->rows && low)
		append_row(b, UNWIND_NONE);
	if (p->rows && t->rows[t->row_count - 1] >> 16 == low)
		t->rows[t->row_count - 1] = low << 16 | (uint32_t)rule;
	else
		append_row(b, low << 16 | (uint32_t)rule);
}

/* -------- code without unwind information -------- */

static void note_familiar(void *context, uint64_t start, uint64_t end,
			  const struct unwind_rule *rule)
{
	struct builder *b = context;
	struct stretch s = { start, end, rule_set_add(&b->t->rules, rule) };
	size_t at = b->familiar_count;

	if (at == FAMILIAR_MAX || s.rule < 0)
		return;
	for (; at > 0 && b->familiar[at - 1].start > start; at--)
		b->familiar[at] = b->familiar[at - 1];
	b->familiar[at] = s;
	b->familiar_count++;
}

static void take_analysed(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct builder *b = context;

	if (b->error)
		return;
	add_row(b, address, rule ? rule_set_add(&b->t->rules, rule) : UNWIND_NONE);
}

/* Whether the code there does nothing. What is no code is not read: it is not in unknown_bytes. */
static bool is_padding(const struct builder *b, uint64_t start, uint64_t end)
{
	for (size_t i = code_ranges_next(&b->gaps, start);
	     i < b->gaps.n && b->gaps.all[i].start < end; i++) {
		const struct code_range *gap = &b->gaps.all[i];

		if (!code_analysis_is_padding(b->e, start > gap->start ? start : gap->start,
					      end < gap->end ? end : gap->end, b->stop))
			return false;
	}
	return true;
}

/* Code without unwind information: its rules come from the analysis of its instructions. */
static void add_unknown(struct builder *b, uint64_t start, uint64_t end)
{
	if (code_analysis_is_trampoline(b->e, start))
		add_row(b, start - 1, UNWIND_SIGNAL);
	add_row(b, start, UNWIND_NONE);
	if (b->error || end - start < PADDING_MAX || b->unknown_bytes > LIMIT_ANALYSED_BYTES ||
	    is_padding(b, start, end))
		return;
	if (!b->analysis)
		b->analysis = code_analysis_new(b->e, &b->code, &b->gaps, b->stop);
	if (b->analysis)
		code_analysis_run(b->analysis, start, end,
				  (struct code_analysis_listener){ take_analysed, b });
}

/* What lies between `b->next` and `until` has no FDE. */
static void fill_gap(struct builder *b, uint64_t until)
{
	uint64_t at = b->next;

	while (b->familiar_next < b->familiar_count) {
		const struct stretch *s = &b->familiar[b->familiar_next];
		uint64_t end = s->end < until ? s->end : until;

		if (s->start >= until)
			break;
		b->familiar_next++;
		if (s->start < at)
			continue; /* it has an FDE after all */
		if (s->start > at)
			add_unknown(b, at, s->start);
		add_row(b, s->start, s->rule);
		at = end;
	}
	if (until - at >= PADDING_MAX)
		add_unknown(b, at, until);
	b->next = until;
}

/* -------- code with information -------- */

static bool same_saved(const struct cfi_saved *a, const struct cfi_saved *b)
{
	return a->place == b->place && a->offset == b->offset;
}

static bool same_row(const struct cfi_row *a, const struct cfi_row *b)
{
	return a->cfa == b->cfa && a->reg == b->reg && a->offset == b->offset && a->add == b->add &&
	       a->signal == b->signal && same_saved(&a->ra, &b->ra) && same_saved(&a->fp, &b->fp) &&
	       same_saved(&a->base, &b->base);
}

static int rule_of_row(struct builder *b, const struct cfi_row *row)
{
	uint64_t key = (uint64_t)row->offset + (uint64_t)row->fp.offset * 41 +
		       (uint64_t)row->base.offset * 1009 + row->reg * 8191;
	struct remembered *r =
		&b->remembered[(key * 0x9e3779b97f4a7c15ULL) >> (64 - REMEMBERED_BITS)];

	if (!r->rule || !same_row(&r->row, row)) {
		struct unwind_rule rule = unwind_rule_from_row(row);

		r->row = *row;
		r->rule = rule_set_add(&b->t->rules, &rule);
	}
	return r->rule;
}

/* The code around `address` may leave its frame for that of an exception's handler. */
static void find_exception_return(struct builder *b, uint64_t address)
{
	uint64_t start = address - b->row_start > EXCEPTION_RETURN_BYTES
				 ? address - EXCEPTION_RETURN_BYTES
				 : b->row_start;
	uint64_t size = b->fde_end - start;
	struct exception_code code = { b->e->machine, elf_file_at(b->e, start), start, address,
				       b->row_frame };
	struct exception_return r;

	if (size > 2 * EXCEPTION_RETURN_BYTES)
		size = 2 * EXCEPTION_RETURN_BYTES;
	if (cursor_left(&code.code) > size)
		code.code.end = code.code.at + size;
	if (!exception_return_is_likely(&code))
		return;
	if (b->searched++ == LIMIT_HANDLER_SEARCHES)
		b->error = UNWIND_TABLE_LIMIT;
	if (b->error || !exception_return_find(&r, &code))
		return;
	b->leaves = r;
	b->left = 0;
	b->to_handler = r.rows_enter;
}

/* What of that begins before `until`. */
static void add_exception_return(struct builder *b, uint64_t until)
{
	for (; b->left < b->leaves.count; b->left++) {
		const struct exception_stretch *s = &b->leaves.stretches[b->left];

		if (s->start >= until)
			return;
		add_row(b, s->start, rule_set_add(&b->t->rules, &s->rule));
		if (s->end < until)
			add_row(b, s->end, b->row_rule);
	}
}

/*
 * _dl_runtime_resolve on arm64: what was pushed before it began is known from its second
 * instruction on (see unwind_rule_from_row()). Until then the caller is in the link register.
 */
static bool is_after_pushed_words(const struct builder *b, const struct cfi_row *row)
{
	return ARCH_LINK_REGISTER && !b->row_frame && row->cfa == CFI_CFA_REGISTER &&
	       row->reg == ARCH_REGISTER_SP && !row->offset && row->ra.place == CFI_AT_CFA &&
	       row->ra.offset == 8;
}

static void take_row(void *context, uint64_t address, const struct cfi_row *row)
{
	struct builder *b = context;
	struct unwind_rule rule;

	if (code_source_is_stopped(b->stop))
		b->error = UNWIND_TABLE_STOPPED;
	if (address >= b->fde_end || b->error)
		return;
	if (address < b->next)
		address = b->next; /* FDEs overlap: the first one counts */
	if (b->row_start >= b->next && address > b->row_start &&
	    exception_return_is_end(b->e->machine, row, b->row_frame))
		find_exception_return(b, address);
	else if (row->cfa == CFI_CFA_REGISTER && row->reg == ARCH_REGISTER_FP)
		b->to_handler = false;
	add_exception_return(b, address);
	if (b->row_start >= b->next && address > b->row_start && is_after_pushed_words(b, row)) {
		rule = unwind_rule_at_entry(16);
		add_row(b, b->row_start, rule_set_add(&b->t->rules, &rule));
	}
	if (b->to_handler) {
		rule = unwind_rule_from_row(row);
		rule.flags |= UNWIND_TO_HANDLER;
		b->row_rule = rule_set_add(&b->t->rules, &rule);
	} else {
		b->row_rule = rule_of_row(b, row);
	}
	b->row_start = address;
	b->row_frame = row->offset;
	add_row(b, address, b->row_rule);
}

static bool in_code(const struct unwind_table *t, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < t->segment_count; i++)
		if (start >= t->segments[i].address &&
		    end - t->segments[i].address <= t->segments[i].size)
			return true;
	return false;
}

/*
 * Where a file's unwind information is. Both sections may be used: the start files that a program
 * is linked with have .eh_frame even if its own code has only .debug_frame.
 */
struct information {
	struct cfi eh_frame, debug_frame;
	void *unpacked; /* the bytes of .debug_frame, where they are compressed */
};

/* A return address is looked up one byte before it. */
static void add_stack_start(struct builder *b, const struct cfi_fde *fde)
{
	static const struct unwind_rule start = { .kind = UNWIND_END, .flags = UNWIND_AT_START };

	if (fde->start - 1 > b->next)
		fill_gap(b, fde->start - 1);
	add_row(b, b->next > fde->start - 1 ? b->next : fde->start - 1,
		rule_set_add(&b->t->rules, &start));
	b->next = cfi_fde_end(fde);
}

static void note_undefined(void *context, uint64_t address, const struct cfi_row *row)
{
	*(bool *)context |= row->ra.place == CFI_UNDEFINED;
}

/*
 * The entry point, if its FDE says anywhere that nothing called it. On arm64 glibc says so from the
 * second instruction on.
 */
static bool is_outermost(const struct builder *b, const struct cfi *cfi, const struct cfi_fde *fde)
{
	bool undefined = false;

	if (fde->start == b->e->entry)
		cfi_run(cfi, fde, note_undefined, &undefined);
	return undefined;
}

static void add_fde(struct builder *b, const struct cfi *cfi, const struct cfi_fde *fde)
{
	static const struct unwind_rule end = { .kind = UNWIND_END };

	if (!in_code(b->t, fde->start, cfi_fde_end(fde)) || cfi_fde_end(fde) <= b->next)
		return;
	if (code_begins_stack(b->e, fde->start, fde->length)) {
		add_stack_start(b, fde);
		return;
	}
	if (fde->start > b->next)
		fill_gap(b, fde->start);
	b->fde_end = cfi_fde_end(fde);
	b->row_start = fde->start;
	b->row_frame = 0;
	b->leaves.count = b->left = 0;
	b->to_handler = false;
	if (is_outermost(b, cfi, fde))
		add_row(b, b->next > fde->start ? b->next : fde->start,
			rule_set_add(&b->t->rules, &end));
	else
		cfi_run(cfi, fde, take_row, b);
	add_exception_return(b, b->fde_end);
	b->next = cfi_fde_end(fde);
}

/* All FDEs in order of start. Code that both sections describe gets its rules from .eh_frame. */
struct fdes {
	const struct cfi *eh, *debug;
	size_t i, j;
};

/* The next one; NULL: that was all. `*cfi` is where it is from. */
static const struct cfi_fde *next_fde(struct fdes *f, const struct cfi **cfi)
{
	const struct cfi_fde *eh = f->i < f->eh->fde_count ? &f->eh->fdes[f->i] : NULL;
	const struct cfi_fde *debug = f->j < f->debug->fde_count ? &f->debug->fdes[f->j] : NULL;

	if (eh && (!debug || eh->start <= debug->start)) {
		f->i++;
		*cfi = f->eh;
		return eh;
	}
	f->j += debug != NULL;
	*cfi = f->debug;
	return debug;
}

static void add_fdes(struct builder *b, const struct information *info)
{
	struct fdes fdes = { &info->eh_frame, &info->debug_frame, 0, 0 };
	const struct cfi_fde *fde;
	const struct cfi *cfi;

	while (!b->error && (fde = next_fde(&fdes, &cfi)))
		add_fde(b, cfi, fde);
}

/* The code between `start` and `end`, which no FDE covers. */
static void add_gap(struct builder *b, uint64_t start, uint64_t end)
{
	for (size_t i = code_ranges_next(&b->code, start);
	     i < b->code.n && b->code.all[i].start < end; i++) {
		const struct code_range *code = &b->code.all[i];
		uint64_t from = start > code->start ? start : code->start;
		uint64_t to = end < code->end ? end : code->end;

		if (to <= from || to - from < PADDING_MAX)
			continue;
		b->unknown_bytes += to - from;
		if (!code_ranges_add(&b->gaps, from, to))
			b->error = UNWIND_TABLE_MEMORY;
	}
}

static void find_gaps(struct builder *b, const struct information *info, uint64_t end)
{
	struct fdes fdes = { &info->eh_frame, &info->debug_frame, 0, 0 };
	uint64_t at = b->t->base;
	const struct cfi_fde *fde;
	const struct cfi *cfi;

	while (!b->error && (fde = next_fde(&fdes, &cfi))) {
		if (fde->start > at)
			add_gap(b, at, fde->start < end ? fde->start : end);
		if (cfi_fde_end(fde) > at)
			at = cfi_fde_end(fde);
	}
	add_gap(b, at, end);
}

/* -------- the file -------- */

static int find_segments(struct unwind_table *t, const struct elf_file *e)
{
	uint64_t low = UINT64_MAX, high = 0;

	if (e->machine != ARCH_MACHINE)
		return UNWIND_TABLE_NO_CODE;
	for (size_t i = 0; i < e->segment_count && t->segment_count < TABLE_SEGMENTS_MAX; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type != PT_LOAD || !(s->flags & PF_X) || !s->file_size ||
		    s->address + s->file_size < s->address)
			continue;
		t->segments[t->segment_count++] = (struct table_segment){ s->offset, s->address,
									  s->file_size };
		low = s->address < low ? s->address : low;
		high = s->address + s->file_size > high ? s->address + s->file_size : high;
	}
	if (!t->segment_count)
		return UNWIND_TABLE_NO_CODE;
	t->base = low & ~(uint64_t)(PAGE_BYTES - 1);
	if ((high - t->base) >> UNWIND_PAGE_BITS >= LIMIT_TABLE_PAGES)
		return UNWIND_TABLE_TOO_LARGE;
	t->page_count = (uint32_t)((high - t->base - 1) >> UNWIND_PAGE_BITS) + 1;
	t->pages = calloc(t->page_count, sizeof(*t->pages));
	return t->pages ? UNWIND_TABLE_OK : UNWIND_TABLE_MEMORY;
}

/* A file without section headers still names its .eh_frame_hdr, which names .eh_frame. */
static struct cursor find_by_header(const struct elf_file *e, uint64_t *address)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];
		struct cursor c;

		if (s->type != PT_GNU_EH_FRAME)
			continue;
		c = elf_file_at(e, s->address);
		/* version 1, and a pc-relative 4-byte pointer: what all linkers write */
		if (cursor_u8(&c) != 1 || cursor_u8(&c) != 0x1b)
			continue;
		cursor_skip(&c, 2);
		*address = s->address + 4 + (uint64_t)(int32_t)cursor_u32(&c);
		if (cursor_ok(&c))
			return elf_file_at(e, *address);
	}
	return cursor_over(NULL, 0);
}

static int open_eh_frame(struct information *info, const struct elf_file *e)
{
	const struct elf_section *s = elf_file_section(e, ".eh_frame");
	struct cursor data = elf_section_data(e, s);
	uint64_t address = s ? s->address : 0;

	if (!cursor_left(&data) || (s->flags & SHF_COMPRESSED))
		data = find_by_header(e, &address);
	return cursor_left(&data) && cursor_ok(&data)
		       ? cfi_open(&info->eh_frame, data, address, false)
		       : CFI_OK;
}

/* The content of a section compressed with zlib; empty if it is not. */
static struct cursor unpack(struct information *info, struct cursor packed)
{
	uint32_t type = cursor_u32(&packed);
	uint64_t size;
	uLongf length;

	cursor_skip(&packed, 4);
	size = cursor_u64(&packed);
	cursor_skip(&packed, 8);
	if (!cursor_ok(&packed) || type != ELFCOMPRESS_ZLIB || size > LIMIT_UNPACKED_FRAME_BYTES ||
	    size > (uint64_t)cursor_left(&packed) * ZLIB_RATIO)
		return cursor_over(NULL, 0);
	length = size;
	info->unpacked = malloc(size + 1);
	if (!info->unpacked ||
	    uncompress(info->unpacked, &length, packed.at, cursor_left(&packed)) != Z_OK)
		return cursor_over(NULL, 0);
	return cursor_over(info->unpacked, length);
}

static int open_debug_frame(struct information *info, const struct unwind_source *source)
{
	const struct elf_file *e = source->file;
	const struct elf_section *s = elf_file_section(e, ".debug_frame");
	struct cursor data;

	if (!s && source->debug) {
		e = source->debug;
		s = elf_file_section(e, ".debug_frame");
	}
	data = elf_section_data(e, s);

	/* Go's compiler marks no ends of stacks and no signal frames, but keeps frame pointers. */
	if (!s || elf_file_section(source->file, ".gopclntab") ||
	    elf_file_section(source->file, ".data.rel.ro.gopclntab"))
		return CFI_OK;
	if (s->flags & SHF_COMPRESSED)
		data = unpack(info, data);
	return cursor_left(&data) ? cfi_open(&info->debug_frame, data, s->address, true) : CFI_OK;
}

static int open_information(struct information *info, const struct unwind_source *source)
{
	if (open_eh_frame(info, source->file) == CFI_ERROR_MEMORY ||
	    open_debug_frame(info, source) == CFI_ERROR_MEMORY)
		return UNWIND_TABLE_MEMORY;
	return UNWIND_TABLE_OK;
}

static int build_rows(struct builder *b, const struct information *info)
{
	uint64_t end = b->t->base + (uint64_t)b->t->page_count * PAGE_BYTES;

	b->next = b->t->base;
	b->remembered = calloc(1 << REMEMBERED_BITS, sizeof(*b->remembered));
	if (!b->remembered)
		return UNWIND_TABLE_MEMORY;
	code_patterns_each(b->e, note_familiar, b);
	if (!code_ranges_of_file(&b->code, b->e))
		b->error = UNWIND_TABLE_MEMORY;
	find_gaps(b, info, end);
	begin_page(b, 0);
	add_fdes(b, info);
	free(b->remembered);
	if (!b->error && b->next < end)
		fill_gap(b, end);
	code_analysis_free(b->analysis);
	code_ranges_release(&b->gaps);
	code_ranges_release(&b->code);
	/* The last rule holds up to the end of the last page. */
	while (!b->error && b->rule != UNWIND_NONE && b->page + 1 < b->t->page_count) {
		begin_page(b, b->page + 1);
		append_row(b, (uint32_t)b->rule);
	}
	/* Half a table would lead to wrong callers. */
	if (!b->error && b->stop && atomic_load(b->stop))
		return UNWIND_TABLE_STOPPED;
	if (!b->error && !b->t->row_count)
		return UNWIND_TABLE_NO_INFO;
	return b->error;
}

int unwind_table_build(struct unwind_table *t, const struct unwind_source *source)
{
	struct builder b = { .t = t,
			     .e = source->file,
			     .max_rows = source->max_rows,
			     .stop = source->stop,
			     .rule = UNWIND_NONE };
	struct information info = { 0 };
	struct unwind_table found;
	int error;

	*t = (struct unwind_table){ .rules.limit = LIMIT_FILE_RULES };
	error = find_segments(t, source->file);
	if (!error)
		error = open_information(&info, source);
	if (!error)
		error = build_rows(&b, &info);
	cfi_release(&info.eh_frame);
	cfi_release(&info.debug_frame);
	free(info.unpacked);
	if (!error)
		return 0;
	found = *t;
	unwind_table_release(t);
	memcpy(t->segments, found.segments, sizeof(t->segments));
	t->segment_count = found.segment_count;
	return error;
}

void unwind_table_release(struct unwind_table *t)
{
	free(t->pages);
	free(t->rows);
	rule_set_release(&t->rules);
	*t = (struct unwind_table){ 0 };
}
