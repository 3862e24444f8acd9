/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/code_listing.h"

#include "report/annotate/code.h"
#include "report/output/fitted.h"
#include "report/profile/label.h"
#include "report/symbols/demangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An instruction as it is shown. */
struct row {
	struct hit_count count;
	uint32_t label; /* 0: no jump goes here */
};

struct code_listing {
	struct listing *listing;
	const struct hits *hits;
	struct code_file file;
	struct code code;
	struct row *rows;  /* of the code's instructions */
	uint8_t *shown;	   /* enum listing_row */
	int label_columns; /* 0: there are none */
	int address_columns;
	struct arena names;
};

static const struct instruction *instruction(const struct code_listing *c, size_t i)
{
	return &c->code.instructions.list[i];
}

/* The instruction that holds an address; SIZE_MAX: none does. */
static size_t holder(const struct code_listing *c, uint64_t address)
{
	size_t low = 0, high = c->code.instructions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (instruction(c, middle)->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - instruction(c, low - 1)->address >= instruction(c, low - 1)->size)
		return SIZE_MAX;
	return low - 1;
}

/* -------- hits and labels -------- */

static void add_count(struct hit_count *to, const struct hit_count *from)
{
	to->self_samples += from->self_samples;
	to->total_samples += from->total_samples;
	to->self += from->self;
	to->total += from->total;
}

/* Counts the hits from `first` on that lie in the code; the number of the first that does not. */
static size_t take_hits(struct code_listing *c, size_t first)
{
	const struct hits *h = c->hits;
	size_t i = first;

	for (; i < h->address_count && h->addresses[i].object == h->addresses[first].object; i++) {
		uint64_t address;
		size_t at = code_file_address(&c->file, h->addresses[i].offset, &address)
				    ? holder(c, address)
				    : SIZE_MAX;

		if (at == SIZE_MAX)
			break;
		add_count(&c->rows[at].count, &h->addresses[i].count);
	}
	return i;
}

/* Where a jump within the function goes; SIZE_MAX: it leaves it, or is none. */
static size_t target_row(const struct code_listing *c, const struct instruction *one)
{
	size_t at = one->jumps && one->refers ? holder(c, one->target) : SIZE_MAX;

	return at != SIZE_MAX && instruction(c, at)->address == one->target ? at : SIZE_MAX;
}

static void set_labels(struct code_listing *c)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->code.instructions.count; i++) {
		size_t at = target_row(c, instruction(c, i));

		if (at != SIZE_MAX && at) /* the function itself has a name */
			c->rows[at].label = 1;
	}
	for (size_t i = 0; i < c->code.instructions.count; i++)
		if (c->rows[i].label)
			c->rows[i].label = ++n;
	c->label_columns = n ? snprintf(NULL, 0, "L%" PRIu32 ":", n) : 0;
	c->address_columns = snprintf(NULL, 0, "%" PRIx64, c->code.address + c->code.size);
}

/* -------- rows -------- */

/* "L3 ↑", "puts@plt", "table+0x10", "2004". */
static void add_target(struct code_listing *c, struct buffer *b, size_t i)
{
	const struct instruction *one = instruction(c, i);
	size_t at = target_row(c, one);
	uint64_t into = 0;
	const char *name;

	if (at != SIZE_MAX && c->rows[at].label) {
		buffer_printf(b, "L%" PRIu32 " %s", c->rows[at].label, at <= i ? "↑" : "↓");
		return;
	}
	name = code_file_symbol(&c->file, one->target, &into);
	if (!name) {
		buffer_printf(b, "%" PRIx64, one->target);
		return;
	}
	buffer_text(b, demangle(name, c->listing->options->symbols->full_names, &c->names));
	if (into)
		buffer_printf(b, "+0x%" PRIx64, into);
}

/* Its text with what it refers to; comments stand right after it. */
static void add_instruction(struct code_listing *c, struct buffer *b, size_t i)
{
	for (const char *at = instruction(c, i)->text; *at; at++) {
		size_t blanks = strspn(at, " ");

		if (blanks > 2 && at[blanks] == '#')
			at += blanks - 2;
		if (*at == INSTRUCTION_ADDRESS)
			add_target(c, b, i);
		else
			buffer_u8(b, (uint8_t)*at);
	}
}

static void write_instruction(struct code_listing *c, size_t i)
{
	const struct instruction *one = instruction(c, i);
	const struct hit_count *count = &c->rows[i].count;
	struct listing_text text = { .indent = 0 };
	struct buffer b = { 0 };
	int used = 2 + c->address_columns + (c->label_columns ? 1 + c->label_columns : 0) + 2;

	if (c->rows[i].label)
		buffer_printf(&b, "L%" PRIu32 ":", c->rows[i].label);
	listing_count(c->listing, listing_wants(c->listing, count) ? count : NULL);
	sink_printf(c->listing->sink, "  %*" PRIx64, c->address_columns, one->address);
	if (c->label_columns)
		sink_printf(c->listing->sink, " %-*s", c->label_columns, buffer_string(&b));
	sink_text(c->listing->sink, "  ");
	buffer_clear(&b);
	add_instruction(c, &b, i);
	text.text = buffer_string(&b);
	text.size = b.size;
	listing_text(c->listing, &text, listing_columns(c->listing) + (unsigned int)used);
	sink_char(c->listing->sink, '\n');
	buffer_release(&b);
}

/* -------- source lines between them -------- */

static bool same_line(const struct dwarf_place *a, const struct dwarf_place *b)
{
	return a && b && a->line == b->line && !strcmp(a->file, b->file) &&
	       !strcmp(a->function, b->function);
}

/* "; file.c:12  text", and the function where it is an inlined one. False without memory. */
static bool write_place(struct code_listing *c, const struct dwarf_place *place, bool inlined)
{
	struct listing *l = c->listing;
	const struct listing_source *source = listing_source(l, place->file);
	bool full = l->options->symbols->full_names;
	struct listing_text text;
	struct buffer b = { 0 };

	if (!source)
		return false;
	if (inlined)
		buffer_printf(&b, "%s ", demangle(place->function, full, &c->names));
	buffer_printf(&b, "%s:%" PRIu32, label_base_name(place->file), place->line);
	text.text = listing_line(source, place->line, &text.size);
	if (text.size) {
		buffer_text(&b, "  ");
		buffer_append(&b, text.text, text.size);
	}
	text = (struct listing_text){ .text = buffer_string(&b), .size = b.size };
	listing_count(l, NULL);
	sink_text(l->sink, "  ; ");
	listing_text(l, &text, listing_columns(l) + 4);
	sink_char(l->sink, '\n');
	buffer_release(&b);
	return true;
}

static bool write_rows(struct code_listing *c)
{
	const struct dwarf_place *last = NULL;
	size_t skipped = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < c->code.instructions.count; i++) {
		const struct dwarf_answer *answer;

		if (c->shown[i] == LISTING_ROW_HIDDEN) {
			skipped++;
			continue;
		}
		if (skipped)
			listing_skip(c->listing, skipped, "instructions");
		skipped = 0;
		answer = code_file_line(&c->file, instruction(c, i)->address);
		if (answer && answer->places[0].file[0] && answer->places[0].line &&
		    !same_line(&answer->places[0], last)) {
			last = &answer->places[0];
			ok = write_place(c, last, answer->n > 1);
		}
		write_instruction(c, i);
	}
	if (skipped)
		listing_skip(c->listing, skipped, "instructions");
	return ok;
}

/* -------- functions -------- */

static void write_heading(struct code_listing *c)
{
	sink_char(c->listing->sink, '\n');
	listing_say(c->listing, "%" PRIx64 " to %" PRIx64 " of %s", c->code.address,
		    c->code.address + c->code.size, c->file.lookup.main.path);
	listing_heading(c->listing, "address  instruction");
}

static struct error *write_code(struct code_listing *c)
{
	size_t n = c->code.instructions.count;

	c->shown = calloc(n + 1, sizeof(*c->shown));
	if (!c->shown)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		if (listing_wants(c->listing, &c->rows[i].count))
			c->shown[i] = LISTING_ROW_WANTED;
	listing_widen(c->shown, n);
	set_labels(c);
	write_heading(c);
	return write_rows(c) ? NULL : error_memory();
}

/* The function around hit `*next`, which becomes the first hit after it. */
static struct error *write_function(struct code_listing *c, size_t first, size_t *next)
{
	struct error *error = code_file_function(&c->file, *next - first, &c->code);

	if (error)
		return error;
	c->rows = calloc(c->code.instructions.count + 1, sizeof(*c->rows));
	if (!c->rows)
		return error_memory();
	*next = take_hits(c, *next);
	error = code_file_lines(&c->file, &c->code);
	return error ? error : write_code(c);
}

static void release_code(struct code_listing *c)
{
	code_release(&c->code);
	free(c->rows);
	free(c->shown);
	c->rows = NULL;
	c->shown = NULL;
}

static void say_why(struct code_listing *c, uint32_t object, const struct error *error)
{
	sink_char(c->listing->sink, '\n');
	listing_say(c->listing, "no instructions: %s: %s",
		    c->hits->profile->objects[object].recorded->path, error->text);
}

/* The code of hits `first` up to `end`, which lie in one object. */
static struct error *write_object(struct code_listing *c, size_t first, size_t end)
{
	const struct symbolizer_options *symbols = c->listing->options->symbols;
	const struct debug_search search = { symbols->sysroot, symbols->debug_directories };
	const struct hit_address *hits = c->hits->addresses;
	uint64_t *offsets = calloc(end - first, sizeof(*offsets));
	struct error *error;

	if (!offsets)
		return error_memory();
	for (size_t i = first; i < end; i++)
		offsets[i - first] = hits[i].offset;
	error = code_file_open(&c->file, &search,
			       c->hits->profile->objects[hits[first].object].recorded, offsets,
			       end - first);
	for (size_t next = first; !error && next < end;) {
		size_t at = next;

		error = write_function(c, first, &next);
		release_code(c);
		/* An address that no instruction holds would be asked for again and again. */
		next = next > at ? next : at + 1;
	}
	if (error && error->kind == ERROR_UNAVAILABLE) {
		say_why(c, hits[first].object, error);
		error_free(error);
		error = NULL;
	}
	code_file_release(&c->file);
	free(offsets);
	return error;
}

struct error *code_listing_write(struct listing *l, const struct hits *hits)
{
	struct code_listing c = { .listing = l, .hits = hits };
	struct error *error = NULL;

	for (size_t first = 0, end; !error && first < hits->address_count; first = end) {
		for (end = first; end < hits->address_count &&
				  hits->addresses[end].object == hits->addresses[first].object;)
			end++;
		error = write_object(&c, first, end);
	}
	arena_release(&c.names);
	return error;
}
