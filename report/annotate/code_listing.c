/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/code_listing.h"

#include "common/limits.h"
#include "common/shortage.h"
#include "report/annotate/code.h"
#include "report/output/fitted.h"
#include "report/merge/label.h"
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
	const struct prf_object *object;
	const char *path; /* where the code is from */
	const struct code *code;
	struct row *rows;	    /* of the code's instructions */
	struct hit_count *runs;	    /* [instruction][run] of what is compared */
	struct hit_change *changes; /* of each instruction; NULL: no runs are compared */
	uint8_t *shown;		    /* enum listing_row */
	int label_columns;	    /* 0: there are none */
	int address_columns;
	struct arena names;
};

static const struct instruction *instruction(const struct code_listing *c, size_t i)
{
	return &c->code->instructions.list[i];
}

/* The instruction that holds an address; SIZE_MAX: none does. */
static size_t holder(const struct code_listing *c, uint64_t address)
{
	size_t low = 0, high = c->code->instructions.count;

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

/* The first of the sorted hits that lies in the code or after it. */
static size_t first_hit(const struct code *code, const struct hit_address *hits, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hits[middle].offset < code->recorded.offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Counts the hits that lie in the code, and marks them as taken: other code does not count them. */
static void take_hits(struct code_listing *c, const struct hit_address *hits, bool *taken, size_t n)
{
	const struct prf_code *code = &c->code->recorded;
	const size_t all = c->hits->run_count;

	for (size_t i = first_hit(c->code, hits, n); i < n && code_holds(c->code, hits[i].offset);
	     i++) {
		size_t at = holder(c, hits[i].offset - code->offset + code->address);

		if (taken[i] || at == SIZE_MAX)
			continue;
		add_count(&c->rows[at].count, &hits[i].count);
		for (size_t run = 0; run < all; run++)
			add_count(&c->runs[at * all + run],
				  &c->hits->address_runs[hits[i].number * all + run]);
		taken[i] = true;
	}
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

	for (size_t i = 0; i < c->code->instructions.count; i++) {
		size_t at = target_row(c, instruction(c, i));

		if (at != SIZE_MAX && at) /* the function itself has a name */
			c->rows[at].label = 1;
	}
	for (size_t i = 0; i < c->code->instructions.count; i++)
		if (c->rows[i].label)
			c->rows[i].label = ++n;
	c->label_columns = n ? snprintf(NULL, 0, "L%" PRIu32 ":", n) : 0;
	c->address_columns = snprintf(NULL, 0, "%" PRIx64,
				      c->code->recorded.address + c->code->recorded.size);
}

/* -------- rows -------- */

/* As the symbols of the report are shown. */
static const char *shown_name(struct code_listing *c, const char *name)
{
	const struct symbolizer_options *symbols = c->listing->options->symbols;

	return symbols->demangle ? demangle(name, symbols->full_names, &c->names) : name;
}

/* "L3 ↑", "puts@plt", "table+0x10", "2004". */
static void add_target(struct code_listing *c, struct buffer *b, size_t i)
{
	const struct instruction *one = instruction(c, i);
	size_t at = target_row(c, one);
	const struct prf_code_symbol *symbol;

	if (at != SIZE_MAX && c->rows[at].label) {
		buffer_printf(b, "L%" PRIu32 " %s", c->rows[at].label, at <= i ? "↑" : "↓");
		return;
	}
	symbol = code_symbol(c->code, one->target);
	if (!symbol) {
		buffer_printf(b, "%" PRIx64, one->target);
		return;
	}
	buffer_text(b, shown_name(c, symbol->name));
	if (symbol->into)
		buffer_printf(b, "+0x%" PRIx64, symbol->into);
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
	listing_count(c->listing, listing_wants(c->listing, count) ? count : NULL,
		      c->changes ? &c->changes[i] : NULL);
	sink_printf(c->listing->sink, "  %*" PRIx64, c->address_columns, one->address);
	if (c->label_columns)
		sink_printf(c->listing->sink, " %-*s", c->label_columns, buffer_string(&b));
	sink_text(c->listing->sink, "  ");
	buffer_clear(&b);
	add_instruction(c, &b, i);
	text.text = buffer_string(&b);
	text.size = buffer_ok(&b) ? b.size : 0;
	listing_text(c->listing, &text, listing_columns(c->listing) + (unsigned int)used);
	sink_char(c->listing->sink, '\n');
	sink_lacks(c->listing->sink, &b);
	buffer_release(&b);
}

/* -------- source lines between them -------- */

/* "; file.c:12  text", and the function where it is an inlined one. False without memory. */
static bool write_place(struct code_listing *c, const struct prf_code_line *place)
{
	struct listing *l = c->listing;
	const struct listing_source *source = listing_source(l, place->file);
	struct listing_text text;
	struct buffer b = { 0 };

	if (!source)
		return false;
	if (place->function[0])
		buffer_printf(&b, "%s ", shown_name(c, place->function));
	buffer_printf(&b, "%s:%" PRIu32, label_base_name(place->file), place->line);
	text.text = listing_line(source, place->line, &text.size);
	if (text.size) {
		buffer_text(&b, "  ");
		/* listing_text() shows that there is more. */
		buffer_append(&b, text.text,
			      text.size < LISTING_LINE_BYTES ? text.size : LISTING_LINE_BYTES);
	}
	text = (struct listing_text){ .text = buffer_string(&b) };
	text.size = buffer_ok(&b) ? b.size : 0;
	listing_count(l, NULL, NULL);
	sink_text(l->sink, "  ; ");
	listing_text(l, &text, listing_columns(l) + 4);
	sink_char(l->sink, '\n');
	sink_lacks(l->sink, &b);
	buffer_release(&b);
	return true;
}

static bool write_rows(struct code_listing *c)
{
	const struct prf_code_line *last = NULL;
	size_t skipped = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < c->code->instructions.count; i++) {
		const struct prf_code_line *line;

		if (c->shown[i] == LISTING_ROW_HIDDEN) {
			skipped++;
			continue;
		}
		if (skipped)
			listing_skip(c->listing, skipped, "instructions");
		skipped = 0;
		line = code_line(c->code, instruction(c, i)->address);
		if (line && line != last)
			ok = write_place(c, line);
		last = line ? line : last;
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
	listing_say(c->listing, "%" PRIx64 " to %" PRIx64 " of %s", c->code->recorded.address,
		    c->code->recorded.address + c->code->recorded.size, c->path);
	listing_heading(c->listing, "address  instruction");
}

static struct error *write_code(struct code_listing *c)
{
	size_t n = c->code->instructions.count;

	c->shown = calloc(n + 1, sizeof(*c->shown));
	if (!c->shown)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		if (listing_wants(c->listing, &c->rows[i].count))
			c->shown[i] = LISTING_ROW_WANTED;
	listing_widen(c->shown, n);
	set_labels(c);
	write_heading(c);
	/* What was short while the file was read has been said: from here on it is names. */
	shortage_take();
	return write_rows(c) && !shortage_take() ? NULL : error_memory();
}

static bool make_rows(struct code_listing *c)
{
	const size_t n = c->code->instructions.count;

	c->rows = calloc(n + 1, sizeof(*c->rows));
	c->runs = calloc(n * c->hits->run_count + 1, sizeof(*c->runs));
	return c->rows && c->runs;
}

/* A function and the hits in it, which are taken; without hits it is not shown. */
static struct error *write_function(struct code_listing *c, const struct hit_address *hits,
				    bool *taken, size_t n)
{
	const size_t count = c->code->instructions.count;
	struct error *error = make_rows(c) ? NULL : error_memory();
	bool any = false;

	if (!error) {
		take_hits(c, hits, taken, n);
		error = hit_changes(&c->changes, c->listing->columns.runs, c->runs, count);
	}
	for (size_t i = 0; !error && !any && i < count; i++)
		any = c->rows[i].count.total_samples;
	if (any)
		error = write_code(c);
	free(c->rows);
	free(c->runs);
	free(c->changes);
	free(c->shown);
	c->rows = NULL;
	c->runs = NULL;
	c->changes = NULL;
	c->shown = NULL;
	return error;
}

static void say_why(struct code_listing *c, const struct error *error)
{
	sink_char(c->listing->sink, '\n');
	listing_say(c->listing, "no instructions: %s: %s", c->object->path, error->text);
}

/* What the trace holds of the object's code. */
static struct error *write_recorded(struct code_listing *c, const struct hit_address *hits,
				    bool *taken, size_t n)
{
	const struct profile *p = c->hits->profile;
	struct error *error = NULL;
	size_t bytes = 0;

	c->path = c->object->path;
	for (size_t i = 0; !error && i < p->code_count; i++) {
		struct code code = { .recorded = *p->codes[i].recorded };
		size_t at = first_hit(&code, hits, n);

		if (p->codes[i].object != hits[0].object || at == n || taken[at] ||
		    !code_holds(&code, hits[at].offset))
			continue;
		if (code.recorded.size > LIMIT_CODE_BYTES - bytes)
			return error_new(ERROR_UNAVAILABLE,
					 "the trace has more code than is disassembled");
		bytes += code.recorded.size;
		error = code_take(&code, p->codes[i].recorded);
		c->code = &code;
		if (!error)
			error = write_function(c, hits, taken, n);
		code_release(&code);
	}
	return error;
}

/* What the file has of the rest. */
static struct error *write_from_file(struct code_listing *c, const struct hit_address *hits,
				     bool *taken, size_t n)
{
	const struct symbolizer_options *symbols = c->listing->options->symbols;
	const struct debug_search search = { symbols->sysroot, symbols->debug_directories };
	uint64_t *offsets = calloc(n, sizeof(*offsets));
	struct code_file file = { 0 };
	struct error *error;
	size_t left = 0;

	if (!offsets)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		if (!taken[i])
			offsets[left++] = hits[i].offset;
	error = left ? code_file_load(&file, &search, c->object, offsets, left) : NULL;
	c->path = file.lookup.main.path;
	for (size_t i = 0; !error && i < file.count; i++) {
		c->code = &file.codes[i];
		error = write_function(c, hits, taken, n);
	}
	if (!error && file.missing)
		say_why(c, file.missing);
	code_file_release(&file);
	free(offsets);
	return error;
}

/* The code of hits that lie in one object. */
static struct error *write_object(struct code_listing *c, const struct hit_address *hits, size_t n)
{
	bool *taken = calloc(n, sizeof(*taken));
	struct error *error;

	if (!taken)
		return error_memory();
	c->object = c->hits->profile->objects[hits[0].object].recorded;
	error = write_recorded(c, hits, taken, n);
	if (!error)
		error = write_from_file(c, hits, taken, n);
	if (error && error->kind == ERROR_UNAVAILABLE) {
		say_why(c, error);
		error_free(error);
		error = NULL;
	}
	free(taken);
	return error;
}

/* Whether both sides of a comparison have hits in an object; else it is the build of one of them.
 */
static bool is_of_both(const struct code_listing *c, const struct hit_address *hits, size_t n)
{
	const struct compared_runs *runs = c->listing->columns.runs;
	const size_t before = runs->sides[CHANGE_BEFORE].count;
	uint64_t samples[2] = { 0 };

	for (size_t i = 0; i < n; i++)
		for (size_t run = 0; run < runs->all; run++)
			samples[run >= before] +=
				c->hits->address_runs[hits[i].number * runs->all + run]
					.total_samples;
	return samples[CHANGE_BEFORE] && samples[CHANGE_NOW];
}

static void say_other_builds(const struct listing *l)
{
	sink_char(l->sink, '\n');
	listing_say(l, "no instructions: those of two builds, or of one side only, are not "
		       "compared; without --diff they are shown");
}

struct error *code_listing_write(struct listing *l, const struct hits *hits)
{
	struct code_listing c = { .listing = l, .hits = hits };
	const struct hit_address *list = hits->addresses;
	struct error *error = NULL;
	bool others = false; /* builds that only one side ran */

	for (size_t first = 0, end; !error && first < hits->address_count; first = end) {
		for (end = first;
		     end < hits->address_count && list[end].object == list[first].object;)
			end++;
		if (l->columns.runs && !is_of_both(&c, list + first, end - first))
			others = true;
		else
			error = write_object(&c, list + first, end - first);
	}
	if (!error && others)
		say_other_builds(l);
	arena_release(&c.names);
	return error;
}
