/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/code.h"

#include "common/array.h"
#include "common/limits.h"
#include "common/shortage.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void code_release(struct code *code)
{
	disassembly_release(&code->instructions);
	free(code->lines);
	free(code->symbols);
	*code = (struct code){ 0 };
}

void code_file_release(struct code_file *f)
{
	for (size_t i = 0; i < f->count; i++)
		code_release(&f->codes[i]);
	free(f->codes);
	error_free(f->missing);
	object_lookup_release(&f->whole);
	object_lookup_release(&f->lookup);
	free(f->offsets);
	*f = (struct code_file){ 0 };
}

/* Keeps the first reason why something is missing. Any other error is returned. */
static struct error *note_missing(struct code_file *f, struct error *error)
{
	if (!error || error->kind != ERROR_UNAVAILABLE)
		return error;
	if (f->missing)
		error_free(error);
	else
		f->missing = error;
	return NULL;
}

/* -------- opening -------- */

static struct error *no_code(const struct prf_object *object)
{
	switch (object->kind) {
	case PRF_OBJECT_KERNEL:
	case PRF_OBJECT_MODULE:
	case PRF_OBJECT_BPF:
		return error_new(ERROR_UNAVAILABLE, "code of the kernel lies in no file that could "
						    "be read here");
	case PRF_OBJECT_JIT:
	case PRF_OBJECT_ANONYMOUS:
		return error_new(ERROR_UNAVAILABLE, "a compiler made this code at run time, and a "
						    "trace does not hold it");
	case PRF_OBJECT_SCRIPT:
		return error_new(ERROR_UNAVAILABLE, "a script has no instructions of its own");
	default: return error_new(ERROR_UNAVAILABLE, "no file is known to hold this code");
	}
}

static struct error *no_file(const struct code_file *f)
{
	switch (f->lookup.status) {
	case SYMBOLS_DIFFERENT:
		return error_new(ERROR_UNAVAILABLE,
				 "the file there is not the recorded one (%s); --sysroot=DIR says "
				 "where that is",
				 f->object->build_id_size ? "its build-id differs"
							  : "its size or time differs");
	case SYMBOLS_UNREADABLE: return error_new(ERROR_UNAVAILABLE, "the file cannot be read");
	case SYMBOLS_TOO_LARGE:
		return error_new(ERROR_UNAVAILABLE, "the file has more headers than are read");
	default:
		return error_new(ERROR_UNAVAILABLE, "the file is not here; --sysroot=DIR says "
						    "where it is");
	}
}

static struct error *run_lookup(struct object_lookup *l)
{
	struct error *error = NULL;
	int os_error;

	shortage_take();
	if (object_lookup_open(l) || object_lookup_symbols(l) || object_lookup_units(l))
		return error_memory();
	for (size_t i = 0; !error && i < l->run_count; i++)
		if (object_lookup_unit(l, i, &l->arena))
			error = error_memory();
	os_error = shortage_take();
	return error || !os_error ? error
				  : error_new(ERROR_UNAVAILABLE, "%s while the file was read",
					      shortage_text(os_error));
}

static struct error *open_object(struct code_file *f, const uint64_t *offsets, size_t n)
{
	struct error *error;

	if (f->object->kind != PRF_OBJECT_FILE && f->object->kind != PRF_OBJECT_VDSO)
		return no_code(f->object);
	f->lookup = (struct object_lookup){
		.object = f->object, .offsets = offsets, .n = n, .search = &f->search
	};
	error = run_lookup(&f->lookup);
	/* Lines and names may be missing, but there is code. */
	if (error && f->lookup.main.open)
		return note_missing(f, error);
	return error || f->lookup.main.open ? error : no_file(f);
}

/* -------- functions -------- */

bool code_holds(const struct code *code, uint64_t offset)
{
	return offset - code->recorded.offset < code->recorded.size;
}

struct error *code_take(struct code *code, const struct prf_code *recorded)
{
	*code = (struct code){ .recorded = *recorded };
	if (recorded->size > LIMIT_FUNCTION_BYTES)
		return error_new(ERROR_UNAVAILABLE,
				 "the function is longer than is disassembled: %zu bytes",
				 recorded->size);
	return disassemble(&code->instructions, (uint16_t)recorded->machine, recorded->address,
			   recorded->bytes, recorded->size);
}

/* The function around the i-th offset, as the file has it. */
static struct error *find_function(const struct code_file *f, size_t i, struct prf_code *found)
{
	const struct object_lookup *l = &f->lookup;
	uint32_t position = l->position[i];
	const struct symbol_name *symbol = position == LOOKUP_NOWHERE ? NULL : &l->names[position];
	struct cursor bytes;
	uint64_t offset;

	/* A debug file with other addresses than the file's own has its symbols elsewhere. */
	if (!symbol || !symbol->name || !symbol->size ||
	    l->addresses[position] - symbol->start >= symbol->size ||
	    !elf_file_address_to_offset(&l->main.elf, symbol->start, &offset))
		return error_new(ERROR_UNAVAILABLE, "no symbol and no unwind table says where the "
						    "function begins and ends");
	bytes = elf_file_at(&l->main.elf, symbol->start);
	if (!cursor_ok(&bytes) || cursor_left(&bytes) < symbol->size)
		return error_new(ERROR_UNAVAILABLE, "the function's bytes are not in the file");
	*found = (struct prf_code){ .offset = offset,
				    .address = symbol->start,
				    .machine = l->main.elf.machine,
				    .name = symbol->name,
				    .bytes = bytes.at,
				    .size = symbol->size };
	return NULL;
}

/* Adds the function around the i-th offset, unless the last one holds it. */
static struct error *add_function(struct code_file *f, size_t i)
{
	struct prf_code found = { 0 };
	struct error *error;

	if (f->count && code_holds(&f->codes[f->count - 1], f->lookup.offsets[i]))
		return NULL;
	error = find_function(f, i, &found);
	if (error)
		return error;
	if (found.size > LIMIT_CODE_BYTES - f->bytes)
		return error_new(ERROR_UNAVAILABLE, "it has more code than is disassembled");
	if (!array_reserve(&f->codes, &f->capacity, f->count + 1))
		return error_memory();
	error = code_take(&f->codes[f->count], &found);
	if (error) {
		code_release(&f->codes[f->count]);
		return error;
	}
	f->bytes += found.size;
	f->count++;
	return NULL;
}

/* -------- lines and symbols -------- */

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static size_t count_instructions(const struct code_file *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		n += f->codes[i].instructions.count;
	return n;
}

/* The offsets of all instructions and of what they refer to, sorted, each once. */
static size_t gather_offsets(struct code_file *f)
{
	const struct elf_file *e = &f->lookup.main.elf;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < f->codes[i].instructions.count; k++) {
			const struct instruction *one = &f->codes[i].instructions.list[k];

			n += elf_file_address_to_offset(e, one->address, &f->offsets[n]);
			if (one->refers)
				n += elf_file_address_to_offset(e, one->target, &f->offsets[n]);
		}
	qsort(f->offsets, n, sizeof(*f->offsets), by_number);
	for (size_t i = 0; i < n; i++)
		if (!kept || f->offsets[kept - 1] != f->offsets[i])
			f->offsets[kept++] = f->offsets[i];
	return kept;
}

/* Where an address stands in `whole`; LOOKUP_NOWHERE: it was not asked for. */
static size_t place_of(const struct code_file *f, uint64_t address)
{
	const uint64_t *found = NULL;

	if (f->whole.address_count)
		found = bsearch(&address, f->whole.addresses, f->whole.address_count,
				sizeof(address), by_number);
	return found ? (size_t)(found - f->whole.addresses) : LOOKUP_NOWHERE;
}

/* The line of an instruction, if it is not that of the one before it. */
static void add_line(const struct code_file *f, struct code *code, uint64_t address)
{
	struct prf_code *to = &code->recorded;
	const struct prf_code_line *last = to->line_count ? &code->lines[to->line_count - 1] : NULL;
	struct prf_code_line line = { .address = address, .function = "", .file = "" };
	size_t at = place_of(f, address);

	if (at != LOOKUP_NOWHERE && f->whole.answers[at].n) {
		const struct dwarf_answer *answer = &f->whole.answers[at];

		line.function = answer->n > 1 ? answer->places[0].function : "";
		line.file = answer->places[0].file;
		line.line = answer->places[0].line;
	}
	if (!last || last->line != line.line || strcmp(last->file, line.file) ||
	    strcmp(last->function, line.function))
		code->lines[to->line_count++] = line;
}

static int by_address(const void *left, const void *right)
{
	const struct prf_code_symbol *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void add_symbol(const struct code_file *f, struct code *code, uint64_t target)
{
	size_t at = place_of(f, target);

	if (at != LOOKUP_NOWHERE && f->whole.names[at].name)
		code->symbols[code->recorded.symbol_count++] = (struct prf_code_symbol){
			target, target - f->whole.names[at].start, f->whole.names[at].name
		};
}

/* Each symbol once, without those of jumps within the function. */
static void finish_symbols(struct code *code)
{
	struct prf_code *to = &code->recorded;
	size_t kept = 0;

	qsort(code->symbols, to->symbol_count, sizeof(*code->symbols), by_address);
	for (size_t i = 0; i < to->symbol_count; i++) {
		uint64_t address = code->symbols[i].address;

		if (address - to->address - 1 < to->size - 1 ||
		    (kept && code->symbols[kept - 1].address == address))
			continue;
		code->symbols[kept++] = code->symbols[i];
	}
	to->symbol_count = kept;
}

static struct error *describe(const struct code_file *f, struct code *code)
{
	size_t n = code->instructions.count;

	code->lines = calloc(n + 1, sizeof(*code->lines));
	code->symbols = calloc(n + 1, sizeof(*code->symbols));
	if (!code->lines || !code->symbols)
		return error_memory();
	for (size_t i = 0; i < n; i++) {
		const struct instruction *one = &code->instructions.list[i];

		add_line(f, code, one->address);
		if (one->refers)
			add_symbol(f, code, one->target);
	}
	finish_symbols(code);
	code->recorded.lines = code->lines;
	code->recorded.symbols = code->symbols;
	return NULL;
}

static struct error *describe_all(struct code_file *f)
{
	struct error *error;

	f->offsets = calloc(2 * count_instructions(f) + 1, sizeof(*f->offsets));
	if (!f->offsets)
		return error_memory();
	f->whole = (struct object_lookup){ .object = f->object,
					   .offsets = f->offsets,
					   .n = gather_offsets(f),
					   .search = &f->search,
					   .inlines = true,
					   .lines = true };
	error = note_missing(f, run_lookup(&f->whole));
	for (size_t i = 0; !error && i < f->count; i++)
		error = describe(f, &f->codes[i]);
	return error;
}

struct error *code_file_load(struct code_file *f, const struct debug_search *search,
			     const struct prf_object *object, const uint64_t *offsets, size_t n)
{
	struct error *error;

	*f = (struct code_file){ .object = object, .search = *search };
	error = note_missing(f, open_object(f, offsets, n));
	if (error || !f->lookup.main.open)
		return error;
	for (size_t i = 0; !error && i < n; i++)
		error = note_missing(f, add_function(f, i));
	return error || !f->count ? error : describe_all(f);
}

const struct prf_code_line *code_line(const struct code *code, uint64_t address)
{
	const struct prf_code *of = &code->recorded;
	size_t low = 0, high = of->line_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (of->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && of->lines[low - 1].line ? &of->lines[low - 1] : NULL;
}

const struct prf_code_symbol *code_symbol(const struct code *code, uint64_t address)
{
	const struct prf_code_symbol key = { .address = address };

	if (!code->recorded.symbol_count)
		return NULL;
	return bsearch(&key, code->recorded.symbols, code->recorded.symbol_count, sizeof(key),
		       by_address);
}
