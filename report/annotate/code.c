/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/code.h"

#include "common/limits.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void code_release(struct code *code)
{
	disassembly_release(&code->instructions);
	*code = (struct code){ 0 };
}

/* The arrays of an object_lookup are its own, those of its caller are not. */
static void release_whole(struct code_file *f)
{
	object_lookup_release(&f->whole);
	f->whole = (struct object_lookup){ 0 };
	free(f->offsets);
	f->offsets = NULL;
}

void code_file_release(struct code_file *f)
{
	release_whole(f);
	object_lookup_release(&f->lookup);
	*f = (struct code_file){ 0 };
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

	if (object_lookup_open(l) || object_lookup_symbols(l) || object_lookup_units(l))
		return error_memory();
	for (size_t i = 0; !error && i < l->run_count; i++)
		if (object_lookup_unit(l, i, &l->arena))
			error = error_memory();
	return error;
}

struct error *code_file_open(struct code_file *f, const struct debug_search *search,
			     const struct prf_object *object, const uint64_t *offsets, size_t n)
{
	struct error *error;

	*f = (struct code_file){ .object = object, .search = *search };
	if (object->kind != PRF_OBJECT_FILE && object->kind != PRF_OBJECT_VDSO)
		return no_code(object);
	f->lookup = (struct object_lookup){
		.object = object, .offsets = offsets, .n = n, .search = &f->search
	};
	error = run_lookup(&f->lookup);
	return error || f->lookup.main.open ? error : no_file(f);
}

bool code_file_address(const struct code_file *f, uint64_t offset, uint64_t *address)
{
	return elf_file_offset_to_address(&f->lookup.main.elf, offset, address);
}

/* -------- a function -------- */

struct error *code_file_function(struct code_file *f, size_t i, struct code *code)
{
	const struct object_lookup *l = &f->lookup;
	uint32_t position = l->position[i];
	const struct symbol_name *symbol;
	struct cursor bytes;

	*code = (struct code){ 0 };
	symbol = position == LOOKUP_NOWHERE ? NULL : &l->names[position];
	/* A debug file with other addresses than the file's own has its symbols elsewhere. */
	if (!symbol || !symbol->name || !symbol->size ||
	    l->addresses[position] - symbol->start >= symbol->size)
		return error_new(ERROR_UNAVAILABLE, "no symbol and no unwind table says where the "
						    "function begins and ends");
	if (symbol->size > LIMIT_FUNCTION_BYTES)
		return error_new(ERROR_UNAVAILABLE,
				 "the function is longer than is disassembled: %" PRIu64 " bytes",
				 symbol->size);
	bytes = elf_file_at(&l->main.elf, symbol->start);
	if (!cursor_ok(&bytes) || cursor_left(&bytes) < symbol->size)
		return error_new(ERROR_UNAVAILABLE, "the function's bytes are not in the file");
	code->name = symbol->name;
	code->address = symbol->start;
	code->size = symbol->size;
	return disassemble(&code->instructions, l->main.elf.machine, code->address, bytes.at,
			   code->size);
}

/* -------- lines and symbols -------- */

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The offsets of all instructions and of what they refer to, sorted, each once. */
static size_t gather_offsets(const struct code_file *f, const struct code *code, uint64_t *offsets)
{
	const struct elf_file *e = &f->lookup.main.elf;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < code->instructions.count; i++) {
		const struct instruction *one = &code->instructions.list[i];

		n += elf_file_address_to_offset(e, one->address, &offsets[n]);
		if (one->refers)
			n += elf_file_address_to_offset(e, one->target, &offsets[n]);
	}
	qsort(offsets, n, sizeof(*offsets), by_number);
	for (size_t i = 0; i < n; i++)
		if (!kept || offsets[kept - 1] != offsets[i])
			offsets[kept++] = offsets[i];
	return kept;
}

struct error *code_file_lines(struct code_file *f, const struct code *code)
{
	release_whole(f);
	f->offsets = calloc(2 * code->instructions.count + 1, sizeof(*f->offsets));
	if (!f->offsets)
		return error_memory();
	f->whole = (struct object_lookup){ .object = f->object,
					   .offsets = f->offsets,
					   .n = gather_offsets(f, code, f->offsets),
					   .search = &f->search,
					   .inlines = true,
					   .lines = true };
	return run_lookup(&f->whole);
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

const struct dwarf_answer *code_file_line(const struct code_file *f, uint64_t address)
{
	size_t at = place_of(f, address);

	return at != LOOKUP_NOWHERE && f->whole.answers[at].n ? &f->whole.answers[at] : NULL;
}

const char *code_file_symbol(const struct code_file *f, uint64_t address, uint64_t *into)
{
	size_t at = place_of(f, address);

	if (at == LOOKUP_NOWHERE || !f->whole.names[at].name)
		return NULL;
	*into = address - f->whole.names[at].start;
	return f->whole.names[at].name;
}
