/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "report/dwarf/dwarf_constants.h"
#include "report/dwarf/dwarf_lookup.h"
#include "tests/unit/unit.h"

/* What the DIEs below are made of. */
enum { UNIT = 1, FUNCTION, INLINED, NAME_ONLY, REFERENCE };

struct writer {
	struct buffer info, abbrev, line;
	size_t length_at;
};

static void attribute(struct buffer *b, unsigned int name, unsigned int form)
{
	buffer_uleb(b, name);
	buffer_uleb(b, form);
}

static void abbrev(struct buffer *b, unsigned int code, unsigned int tag, bool children)
{
	buffer_uleb(b, code);
	buffer_uleb(b, tag);
	buffer_u8(b, children);
}

static void write_abbrevs(struct buffer *b)
{
	abbrev(b, UNIT, DW_TAG_COMPILE_UNIT, true);
	attribute(b, DW_AT_LOW_PC, DW_FORM_ADDR);
	attribute(b, DW_AT_HIGH_PC, DW_FORM_DATA4);
	attribute(b, DW_AT_STMT_LIST, DW_FORM_SEC_OFFSET);
	attribute(b, DW_AT_COMP_DIR, DW_FORM_STRING);
	attribute(b, 0, 0);
	abbrev(b, FUNCTION, DW_TAG_SUBPROGRAM, true);
	attribute(b, DW_AT_NAME, DW_FORM_STRING);
	attribute(b, DW_AT_LOW_PC, DW_FORM_ADDR);
	attribute(b, DW_AT_HIGH_PC, DW_FORM_DATA4);
	attribute(b, DW_AT_DECL_LINE, DW_FORM_DATA1);
	attribute(b, 0, 0);
	abbrev(b, INLINED, DW_TAG_INLINED_SUBROUTINE, true);
	attribute(b, DW_AT_ABSTRACT_ORIGIN, DW_FORM_REF4);
	attribute(b, DW_AT_LOW_PC, DW_FORM_ADDR);
	attribute(b, DW_AT_HIGH_PC, DW_FORM_DATA4);
	attribute(b, DW_AT_CALL_FILE, DW_FORM_DATA1);
	attribute(b, DW_AT_CALL_LINE, DW_FORM_DATA1);
	attribute(b, 0, 0);
	abbrev(b, NAME_ONLY, DW_TAG_SUBPROGRAM, false);
	attribute(b, DW_AT_NAME, DW_FORM_STRING);
	attribute(b, 0, 0);
	abbrev(b, REFERENCE, DW_TAG_SUBPROGRAM, false);
	attribute(b, DW_AT_ABSTRACT_ORIGIN, DW_FORM_REF4);
	attribute(b, 0, 0);
	buffer_u8(b, 0);
}

static void text(struct buffer *b, const char *s)
{
	buffer_append(b, s, strlen(s) + 1);
}

static void begin_unit(struct writer *w, uint64_t low, uint32_t size)
{
	struct buffer *b = &w->info;

	w->length_at = b->size;
	buffer_u32(b, 0);
	buffer_u16(b, 4);
	buffer_u32(b, 0);
	buffer_u8(b, 8);
	buffer_u8(b, UNIT);
	buffer_u64(b, low);
	buffer_u32(b, size);
	buffer_u32(b, 0);
	text(b, "/src");
}

static void end_unit(struct writer *w)
{
	uint32_t length;

	buffer_u8(&w->info, 0);
	length = (uint32_t)(w->info.size - w->length_at - 4);
	for (int i = 0; i < 4; i++)
		w->info.data[w->length_at + (size_t)i] = (uint8_t)(length >> 8 * i);
}

/* The offset in its unit that the next DIE will have. */
static uint32_t here(const struct writer *w)
{
	return (uint32_t)(w->info.size - w->length_at);
}

static void function(struct writer *w, const char *name, uint64_t low, uint32_t size)
{
	buffer_u8(&w->info, FUNCTION);
	text(&w->info, name);
	buffer_u64(&w->info, low);
	buffer_u32(&w->info, size);
	buffer_u8(&w->info, 9);
}

static void inlined(struct writer *w, uint32_t origin, uint64_t low, uint32_t size, uint8_t line)
{
	buffer_u8(&w->info, INLINED);
	buffer_u32(&w->info, origin);
	buffer_u64(&w->info, low);
	buffer_u32(&w->info, size);
	buffer_u8(&w->info, 1);
	buffer_u8(&w->info, line);
}

static uint32_t named(struct writer *w, const char *name)
{
	uint32_t at = here(w);

	buffer_u8(&w->info, NAME_ONLY);
	text(&w->info, name);
	return at;
}

static void set_address(struct buffer *b, uint64_t address)
{
	buffer_u8(b, 0);
	buffer_u8(b, 9);
	buffer_u8(b, DW_LNE_SET_ADDRESS);
	buffer_u64(b, address);
}

static void end_sequence(struct buffer *b)
{
	buffer_u8(b, 0);
	buffer_u8(b, 1);
	buffer_u8(b, DW_LNE_END_SEQUENCE);
}

/* A row `advance` bytes on. */
static void row(struct buffer *b, uint64_t advance, int64_t lines)
{
	buffer_u8(b, DW_LNS_ADVANCE_PC);
	buffer_uleb(b, advance);
	buffer_u8(b, DW_LNS_ADVANCE_LINE);
	buffer_sleb(b, lines);
	buffer_u8(b, DW_LNS_COPY);
}

/* From 0x1000: line 10 for 0x10 bytes, line 20 for 0x10, line 15 for 0x20. */
static void write_lines(struct buffer *b)
{
	static const uint8_t lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct buffer rest = { 0 }, header = { 0 };

	buffer_u8(&header, 1); /* bytes of an instruction */
	buffer_u8(&header, 1); /* operations of one */
	buffer_u8(&header, 1); /* default_is_stmt */
	buffer_u8(&header, (uint8_t)-5);
	buffer_u8(&header, 14);
	buffer_u8(&header, 13);
	buffer_append(&header, lengths, sizeof(lengths));
	text(&header, "include");
	buffer_u8(&header, 0);
	text(&header, "main.c");
	buffer_append(&header, "\0\0\0", 3);
	text(&header, "inner.h");
	buffer_append(&header, "\1\0\0", 3);
	buffer_u8(&header, 0);
	buffer_u16(&rest, 4);
	buffer_u32(&rest, (uint32_t)header.size);
	buffer_append(&rest, header.data, header.size);
	/* What the linker dropped: it must not name what lies at the same addresses. */
	set_address(&rest, 0);
	row(&rest, 0, 776);
	row(&rest, 0x4000, 1);
	end_sequence(&rest);
	set_address(&rest, 0x1000);
	row(&rest, 0, 9);
	buffer_u8(&rest, DW_LNS_SET_FILE);
	buffer_u8(&rest, 2);
	row(&rest, 0x10, 10);
	row(&rest, 0x10, -5);
	buffer_u8(&rest, DW_LNS_ADVANCE_PC);
	buffer_uleb(&rest, 0x20);
	end_sequence(&rest);
	buffer_u32(b, (uint32_t)rest.size);
	buffer_append(b, rest.data, rest.size);
	buffer_release(&rest);
	buffer_release(&header);
}

static void writer_start(struct writer *w)
{
	*w = (struct writer){ 0 };
	write_abbrevs(&w->abbrev);
	write_lines(&w->line);
}

static void writer_release(struct writer *w)
{
	buffer_release(&w->info);
	buffer_release(&w->abbrev);
	buffer_release(&w->line);
}

static void open_dwarf(struct dwarf *d, const struct writer *w, size_t info_size)
{
	*d = (struct dwarf){ .code_low = 0x1000, .code_high = 0x10000000 };
	d->section[DEBUG_INFO] = (struct dwarf_bytes){ w->info.data, info_size };
	d->section[DEBUG_ABBREV] = (struct dwarf_bytes){ w->abbrev.data, w->abbrev.size };
	d->section[DEBUG_LINE] = (struct dwarf_bytes){ w->line.data, w->line.size };
	assert_int_equal(dwarf_index(d), 0);
}

/* Looks addresses up that are all in the first unit. */
static void look_up(struct dwarf *d, const uint64_t *addresses, size_t n, struct arena *arena,
		    struct dwarf_answer *answers)
{
	const struct dwarf_lookup lookup = {
		.addresses = addresses, .n = n, .inlines = true, .lines = true, .arena = arena
	};

	assert_true(d->unit_count > 0);
	assert_int_equal(dwarf_lookup_unit(&lookup, &d->units[0], answers), 0);
}

static void is_place(const struct dwarf_place *p, const char *name, const char *file, uint32_t line)
{
	assert_string_equal(p->function, name);
	assert_string_equal(p->file, file);
	assert_int_equal(p->line, line);
}

static void write_known(struct writer *w)
{
	uint32_t outer, inner;

	writer_start(w);
	begin_unit(w, 0x1000, 0x100);
	inner = named(w, "inner");
	outer = named(w, "outer");
	function(w, "real", 0x1000, 0x40);
	inlined(w, outer, 0x1010, 0x20, 33);
	inlined(w, inner, 0x1010, 0x10, 44);
	buffer_u8(&w->info, 0);
	buffer_u8(&w->info, 0);
	buffer_u8(&w->info, 0);
	function(w, "other", 0x1040, 0x40);
	buffer_u8(&w->info, 0);
	end_unit(w);
}

static void inlined_calls_and_lines(void **state)
{
	const uint64_t addresses[] = {
		0xfff, 0x1000, 0x1010, 0x101f, 0x1020, 0x103f, 0x1040, 0x1080
	};
	struct dwarf_answer a[8];
	struct arena arena = { 0 };
	struct writer w;
	struct dwarf d;
	uint32_t units[8];

	write_known(&w);
	open_dwarf(&d, &w, w.info.size);
	dwarf_find_units(&d, addresses, 8, units);
	assert_int_equal(units[0], DWARF_NO_UNIT);
	assert_int_equal(units[1], 0);
	look_up(&d, addresses, 8, &arena, a);
	assert_int_equal(a[0].n, 0);
	assert_int_equal(a[1].n, 1);
	is_place(&a[1].places[0], "real", "/src/main.c", 10);
	assert_int_equal(a[1].places[0].start_line, 9);
	for (int i = 2; i <= 3; i++) {
		assert_int_equal(a[i].n, 3);
		is_place(&a[i].places[0], "inner", "/src/include/inner.h", 20);
		is_place(&a[i].places[1], "outer", "/src/main.c", 44);
		is_place(&a[i].places[2], "real", "/src/main.c", 33);
	}
	assert_int_equal(a[4].n, 2);
	is_place(&a[4].places[0], "outer", "/src/include/inner.h", 15);
	is_place(&a[5].places[0], "real", "/src/include/inner.h", 15);
	/* The line table has nothing for it. */
	assert_int_equal(a[6].n, 1);
	assert_string_equal(a[6].places[0].function, "other");
	assert_int_equal(a[6].places[0].line, 0);
	assert_int_equal(a[7].n, 0);
	arena_release(&arena);
	dwarf_release(&d);
	writer_release(&w);
}

/* One unit, and what is known of a place in it. */
struct fixture {
	struct writer w;
	struct dwarf d;
	struct arena arena;
	struct dwarf_answer answer;
};

static void begin_one(struct fixture *f)
{
	f->arena = (struct arena){ 0 };
	writer_start(&f->w);
	begin_unit(&f->w, 0x1000, 0x100);
}

static void ask_one(struct fixture *f)
{
	const uint64_t address = 0x1004;

	end_unit(&f->w);
	open_dwarf(&f->d, &f->w, f->w.info.size);
	look_up(&f->d, &address, 1, &f->arena, &f->answer);
}

static void end(struct fixture *f)
{
	arena_release(&f->arena);
	dwarf_release(&f->d);
	writer_release(&f->w);
}

/* A name that refers to a name that refers to the first. */
static void cycle(void **state)
{
	struct fixture f;
	uint32_t at;

	begin_one(&f);
	at = here(&f.w);
	buffer_u8(&f.w.info, REFERENCE);
	buffer_u32(&f.w.info, at + 5);
	buffer_u8(&f.w.info, REFERENCE);
	buffer_u32(&f.w.info, at);
	function(&f.w, "real", 0x1000, 0x40);
	inlined(&f.w, at, 0x1000, 0x20, 33);
	buffer_u8(&f.w.info, 0);
	buffer_u8(&f.w.info, 0);
	ask_one(&f);
	assert_int_equal(f.answer.n, 2);
	assert_string_equal(f.answer.places[0].function, "");
	assert_string_equal(f.answer.places[1].function, "real");
	end(&f);
}

static void deep_nesting(void **state)
{
	struct fixture f;
	uint32_t name;

	begin_one(&f);
	name = named(&f.w, "again");
	function(&f.w, "real", 0x1000, 0x40);
	for (int i = 0; i < 100000; i++)
		inlined(&f.w, name, 0x1000, 0x20, 33);
	ask_one(&f);
	assert_true(f.answer.n > 100 && f.answer.n < 10000);
	assert_string_equal(f.answer.places[f.answer.n - 1].function, "real");
	end(&f);
}

/* Two calls side by side that claim the same code, and functions that overlap. */
static void overlaps(void **state)
{
	struct fixture f;
	uint32_t one, two;

	begin_one(&f);
	one = named(&f.w, "one");
	two = named(&f.w, "two");
	function(&f.w, "real", 0x1000, 0x40);
	inlined(&f.w, one, 0x1000, 0x20, 33);
	buffer_u8(&f.w.info, 0);
	inlined(&f.w, two, 0x1000, 0x20, 34);
	buffer_u8(&f.w.info, 0);
	buffer_u8(&f.w.info, 0);
	function(&f.w, "folded", 0x1000, 0x40);
	buffer_u8(&f.w.info, 0);
	ask_one(&f);
	assert_int_equal(f.answer.n, 2);
	assert_string_equal(f.answer.places[0].function, "two");
	assert_string_equal(f.answer.places[1].function, "real");
	end(&f);
}

/* Code that was dropped stands at address 0 and above. */
static void dropped_code(void **state)
{
	const uint64_t addresses[] = { 0x1000, 0x2000 };
	struct writer w;
	struct dwarf d;
	uint32_t units[2];

	writer_start(&w);
	begin_unit(&w, 0, 0x4000);
	function(&w, "dropped", 0, 0x4000);
	buffer_u8(&w.info, 0);
	end_unit(&w);
	begin_unit(&w, 0x1000, 0x10);
	end_unit(&w);
	open_dwarf(&d, &w, w.info.size);
	assert_int_equal(d.unit_count, 2);
	dwarf_find_units(&d, addresses, 2, units);
	assert_int_equal(units[0], 1);
	assert_int_equal(units[1], DWARF_NO_UNIT);
	dwarf_release(&d);
	writer_release(&w);
}

/* Each byte cut off and each byte changed: no crash, no endless loop. */
static void damage(void **state)
{
	const uint64_t addresses[] = { 0x1000, 0x1018, 0x1050 };
	struct dwarf_answer a[3];
	struct writer w;
	struct dwarf d;

	write_known(&w);
	for (size_t size = 0; size < w.info.size; size++) {
		open_dwarf(&d, &w, size);
		assert_int_equal(d.unit_count, 0);
		dwarf_release(&d);
	}
	for (size_t i = 0; i < w.info.size + w.abbrev.size + w.line.size; i++) {
		size_t in_abbrev = i - w.info.size, in_line = in_abbrev - w.abbrev.size;
		uint8_t *byte = i < w.info.size		    ? &w.info.data[i]
				: in_abbrev < w.abbrev.size ? &w.abbrev.data[in_abbrev]
							    : &w.line.data[in_line];
		struct arena arena = { 0 };

		*byte ^= 0xff;
		open_dwarf(&d, &w, w.info.size);
		if (d.unit_count)
			look_up(&d, addresses, 3, &arena, a);
		*byte ^= 0xff;
		arena_release(&arena);
		dwarf_release(&d);
	}
	writer_release(&w);
}

/* Many units that all have the same long table of abbreviations and lines: paid once. */
static void repeated_work_is_bounded(void **state)
{
	const uint64_t addresses[] = { 0x1000 };
	struct writer w;
	struct dwarf d;
	uint32_t units[1];

	writer_start(&w);
	for (unsigned int code = 100; code < 60000; code++) {
		w.abbrev.size--;
		abbrev(&w.abbrev, code, DW_TAG_SUBPROGRAM, false);
		attribute(&w.abbrev, 0, 0);
		buffer_u8(&w.abbrev, 0);
	}
	for (int i = 0; i < 20000; i++) {
		size_t at = w.info.size + 6;

		begin_unit(&w, 0x1000 + (uint64_t)i * 0x10, 0x10);
		end_unit(&w);
		/* A unit whose own DIE is described nowhere in the table. */
		w.info.data[at + 5] = 0x60;
	}
	open_dwarf(&d, &w, w.info.size);
	assert_int_equal(d.unit_count, 20000);
	dwarf_find_units(&d, addresses, 1, units);
	assert_false(dwarf_spend(&d, 0));
	dwarf_release(&d);
	writer_release(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(inlined_calls_and_lines),
	cmocka_unit_test(cycle),
	cmocka_unit_test(deep_nesting),
	cmocka_unit_test(overlaps),
	cmocka_unit_test(dropped_code),
	cmocka_unit_test(damage),
	cmocka_unit_test(repeated_work_is_bounded),
};

UNIT_TESTS(tests);
