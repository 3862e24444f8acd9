/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/runtimes/elf_names.h"

#define ENTRIES_MAX 16384 /* of one table; JDK 17 has 1,200 */
#define STRIDE_MAX 256
#define TEXT_PAGE 1024 /* bytes; no name of a type or field is as long */
#define TEXT_PAGES 64
#define TEXT_MAX 128

struct wanted_field {
	const char *type, *field;
	enum hotspot_field to;
	bool optional;
};

static const struct wanted_field wanted_fields[] = {
	{ "CodeCache", "_heaps", CODE_CACHE_HEAPS, true },
	{ "CodeCache", "_heap", CODE_CACHE_HEAP, true },
	{ "AbstractInterpreter", "_code", INTERPRETER_CODE },
	{ "StubRoutines", "_call_stub_return_address", CALL_STUB_RETURN },
	{ "Abstract_VM_Version", "_vm_major_version", VM_MAJOR_VERSION },
	{ "CodeHeap", "_memory", CODE_HEAP_MEMORY },
	{ "CodeHeap", "_segmap", CODE_HEAP_SEGMAP },
	{ "CodeHeap", "_log2_segment_size", CODE_HEAP_SHIFT },
	{ "VirtualSpace", "_low_boundary", VIRTUAL_SPACE_LOW },
	{ "VirtualSpace", "_high_boundary", VIRTUAL_SPACE_HIGH },
	{ "GrowableArrayBase", "_len", ARRAY_LENGTH },
	{ "GenericGrowableArray", "_len", ARRAY_LENGTH }, /* before JDK 15 */
	{ "GrowableArray<int>", "_data", ARRAY_DATA },
	{ "CodeBlob", "_name", BLOB_NAME },
	{ "CodeBlob", "_frame_size", BLOB_FRAME_SIZE },
	{ "CodeBlob", "_frame_complete_offset", BLOB_FRAME_COMPLETE },
	{ "CodeBlob", "_code_begin", BLOB_CODE_BEGIN, true },
	{ "CodeBlob", "_code_offset", BLOB_CODE_OFFSET, true },
	{ "CodeBlob", "_code_end", BLOB_CODE_END, true },
	{ "CodeBlob", "_data_offset", BLOB_DATA_OFFSET, true },
	{ "CodeBlob", "_mutable_data", BLOB_MUTABLE_DATA, true },
	{ "CodeBlob", "_relocation_size", BLOB_RELOCATION_SIZE, true },
	{ "HeapBlock::Header", "_used", BLOCK_USED },
	{ "nmethod", "_method", NMETHOD_METHOD },
	{ "CompiledMethod", "_method", NMETHOD_METHOD },
	{ "nmethod", "_compile_id", NMETHOD_COMPILE_ID },
	{ "nmethod", "_orig_pc_offset", NMETHOD_ORIG_PC },
	{ "nmethod", "_deopt_handler_begin", NMETHOD_DEOPT_HANDLER, true },
	{ "CompiledMethod", "_deopt_handler_begin", NMETHOD_DEOPT_HANDLER, true },
	{ "nmethod", "_deopt_handler_offset", NMETHOD_DEOPT_OFFSET, true },
	{ "nmethod", "_deoptimize_offset", NMETHOD_DEOPT_OFFSET, true },
	{ "nmethod", "_deopt_handler_entry_offset", NMETHOD_DEOPT_ENTRY, true },
	{ "CompiledMethod", "_scopes_data_begin", NMETHOD_SCOPES_DATA, true },
	{ "nmethod", "_scopes_data_begin", NMETHOD_SCOPES_DATA, true },
	{ "nmethod", "_scopes_pcs_offset", NMETHOD_SCOPES_PCS, true },
	{ "nmethod", "_metadata_offset", NMETHOD_METADATA, true },
	{ "nmethod", "_dependencies_offset", NMETHOD_DEPENDENCIES, true },
	{ "nmethod", "_scopes_data_offset", NMETHOD_SCOPES_OFFSET, true },
	{ "nmethod", "_immutable_data", NMETHOD_IMMUTABLE_DATA, true },
	{ "nmethod", "_immutable_data_size", NMETHOD_IMMUTABLE_SIZE, true },
	{ "PcDesc", "_pc_offset", PC_DESC_PC },
	{ "PcDesc", "_scope_decode_offset", PC_DESC_SCOPE },
	{ "StubQueue", "_stub_buffer", STUB_QUEUE_BUFFER },
	{ "StubQueue", "_queue_begin", STUB_QUEUE_BEGIN },
	{ "StubQueue", "_queue_end", STUB_QUEUE_END },
	{ "InterpreterCodelet", "_size", CODELET_SIZE },
	{ "InterpreterCodelet", "_description", CODELET_DESCRIPTION },
	{ "Method", "_constMethod", METHOD_CONST_METHOD },
	{ "ConstMethod", "_constants", CONST_METHOD_CONSTANTS },
	{ "ConstMethod", "_constMethod_size", CONST_METHOD_WORDS },
	{ "ConstMethod", "_flags", CONST_METHOD_FLAGS },
	{ "ConstMethod", "_flags._flags", CONST_METHOD_FLAGS }, /* since JDK 21 */
	{ "ConstMethod", "_code_size", CONST_METHOD_CODE_SIZE },
	{ "ConstMethod", "_name_index", CONST_METHOD_NAME },
	{ "ConstantPool", "_pool_holder", CONSTANTS_HOLDER },
	{ "ConstantPool", "_source_file_name_index", CONSTANTS_SOURCE_FILE, true },
	{ "InstanceKlass", "_source_file_name_index", CLASS_SOURCE_FILE, true },
	{ "Klass", "_name", KLASS_NAME },
	{ "Symbol", "_length", SYMBOL_LENGTH, true },
	{ "Symbol", "_length_and_refcount", SYMBOL_LENGTH_AND_REFCOUNT, true },
	{ "Symbol", "_body", SYMBOL_BODY },
};

static const struct {
	const char *name;
	enum hotspot_type to;
} wanted_sizes[] = {
	{ "HeapBlock", SIZE_HEAP_BLOCK },
	{ "ConstMethod", SIZE_CONST_METHOD },
	{ "ConstantPool", SIZE_CONSTANTS },
	{ "PcDesc", SIZE_PC_DESC },
};

/* -------- the exported symbols -------- */

enum exported {
	STRUCTS,
	STRUCTS_TYPE,
	STRUCTS_FIELD,
	STRUCTS_TYPE_TEXT,
	STRUCTS_STATIC,
	STRUCTS_OFFSET,
	STRUCTS_ADDRESS,
	STRUCTS_STRIDE,
	TYPES,
	TYPES_NAME,
	TYPES_SIZE,
	TYPES_STRIDE,
	EXPORTED
};

_Static_assert(EXPORTED == HOTSPOT_EXPORTS, "one address for each");

static const char *const exported_names[EXPORTED] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCTS_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCTS_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCTS_TYPE_TEXT] = "gHotSpotVMStructEntryTypeStringOffset",
	[STRUCTS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[STRUCTS_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCTS_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[STRUCTS_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[TYPES] = "gHotSpotVMTypes",
	[TYPES_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPES_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[TYPES_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

bool hotspot_tables_find(struct hotspot_exports *exports, const struct elf_file *libjvm)
{
	struct elf_name names[EXPORTED];
	bool all = true;

	for (size_t i = 0; i < EXPORTED; i++)
		names[i].name = exported_names[i];
	elf_names_find(libjvm, names, EXPORTED);
	for (size_t i = 0; i < EXPORTED; i++) {
		exports->addresses[i] = names[i].address;
		all &= names[i].address != 0;
	}
	return all;
}

/* -------- the tables -------- */

/*
 * Copies of the memory pages with the tables' texts, which lie close together and are compared many
 * times.
 */
struct text_page {
	uint64_t address;
	bool read;
	char bytes[TEXT_PAGE];
};

struct reading {
	struct hotspot_tables *tables;
	const struct target_memory *memory;
	uint64_t bias;
	uint64_t values[EXPORTED];
	uint64_t unwanted;	 /* where the name of a type is of which no field is wanted */
	struct text_page *pages; /* TEXT_PAGES of them */
	char texts[TEXT_PAGE];	 /* the last one that crosses the end of a page */
};

/* NULL: it cannot be read. */
static const char *page_at(struct reading *r, uint64_t address)
{
	struct text_page *page = &r->pages[address / TEXT_PAGE % TEXT_PAGES];

	if (!page->read || page->address != address) {
		page->address = address;
		page->read = target_read(r->memory, address, page->bytes, TEXT_PAGE);
	}
	return page->read ? page->bytes : NULL;
}

/* "" when there is none. Valid until the next call. */
static const char *text_at(struct reading *r, uint64_t address)
{
	uint64_t at = address % TEXT_PAGE;
	const char *page = address ? page_at(r, address - at) : NULL;
	size_t n = TEXT_PAGE - at;

	if (!page)
		return "";
	if (memchr(page + at, 0, n))
		return page + at;
	memcpy(r->texts, page + at, n);
	page = page_at(r, address - at + TEXT_PAGE);
	if (!page || !memchr(page, 0, TEXT_PAGE - n))
		return "";
	memcpy(r->texts + n, page, TEXT_PAGE - n);
	return r->texts;
}

static uint64_t word_at(const uint8_t *entry, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static bool is_wanted(const char *type)
{
	for (size_t i = 0; i < sizeof(wanted_fields) / sizeof(*wanted_fields); i++)
		if (!strcmp(type, wanted_fields[i].type))
			return true;
	return false;
}

/* The fields of a type follow each other, and all have the same text for its name. */
static void take_field(struct reading *r, const uint8_t *entry)
{
	char type[TEXT_MAX], field[TEXT_MAX];
	bool is_static = (uint32_t)word_at(entry, r->values[STRUCTS_STATIC]);
	uint64_t value = word_at(entry, r->values[is_static ? STRUCTS_ADDRESS : STRUCTS_OFFSET]);
	uint64_t type_at = word_at(entry, r->values[STRUCTS_TYPE]);

	if (type_at == r->unwanted)
		return;
	snprintf(type, sizeof(type), "%s", text_at(r, type_at));
	if (!is_wanted(type)) {
		r->unwanted = type_at;
		return;
	}
	snprintf(field, sizeof(field), "%s", text_at(r, word_at(entry, r->values[STRUCTS_FIELD])));
	for (size_t i = 0; i < sizeof(wanted_fields) / sizeof(*wanted_fields); i++) {
		const struct wanted_field *w = &wanted_fields[i];

		if (strcmp(type, w->type) || strcmp(field, w->field) ||
		    is_static != (w->to < CODE_HEAP_MEMORY))
			continue;
		/* No structure is larger than that; an address that is not relocated is 0. */
		if (is_static ? !value : value > 4096)
			continue;
		r->tables->fields[w->to] = value;
		if (w->to == BLOB_FRAME_COMPLETE)
			r->tables->short_frame_complete =
				!strcmp(text_at(r, word_at(entry, r->values[STRUCTS_TYPE_TEXT])),
					"int16_t");
	}
}

static void take_size(struct reading *r, const uint8_t *entry)
{
	const char *name = text_at(r, word_at(entry, r->values[TYPES_NAME]));

	for (size_t i = 0; i < sizeof(wanted_sizes) / sizeof(*wanted_sizes); i++)
		if (!strcmp(name, wanted_sizes[i].name))
			r->tables->sizes[wanted_sizes[i].to] = word_at(entry,
								       r->values[TYPES_SIZE]);
}

/* An exported table: which symbols say where it is, and how its entries look. */
struct exported_table {
	enum exported start, name, stride;
	void (*take)(struct reading *r, const uint8_t *entry);
};

static const struct exported_table fields = { STRUCTS, STRUCTS_TYPE, STRUCTS_STRIDE, take_field };
static const struct exported_table types = { TYPES, TYPES_NAME, TYPES_STRIDE, take_size };

/* Up to the entry without a name. False: the table cannot be read, or does not end. */
static bool read_table(struct reading *r, const struct exported_table *t)
{
	uint64_t size = r->values[t->stride], start = r->values[t->start];
	uint8_t entries[64 * STRIDE_MAX], *entry;

	for (size_t n = 0; n < ENTRIES_MAX; n++) {
		/* Many at once; the last ones, before the end of the mapping, one by one. */
		if (n % 64 == 0 && !target_read(r->memory, start + n * size, entries, 64 * size)) {
			for (size_t i = 0; i < 64; i++)
				if (!target_read(r->memory, start + (n + i) * size,
						 entries + i * size, size))
					memset(entries + i * size, 0, size);
		}
		entry = entries + n % 64 * size;
		if (!word_at(entry, r->values[t->name]))
			return n > 0;
		t->take(r, entry);
	}
	return false;
}

/* Whether strides and offsets are consistent: all words of an entry lie within it. */
static bool are_sound(const struct reading *r)
{
	static const enum exported of_structs[] = { STRUCTS_TYPE,   STRUCTS_FIELD,
						    STRUCTS_STATIC, STRUCTS_TYPE_TEXT,
						    STRUCTS_OFFSET, STRUCTS_ADDRESS };
	bool sound = r->values[STRUCTS_STRIDE] >= 8 && r->values[STRUCTS_STRIDE] <= STRIDE_MAX &&
		     r->values[TYPES_STRIDE] >= 8 && r->values[TYPES_STRIDE] <= STRIDE_MAX;

	for (size_t i = 0; i < sizeof(of_structs) / sizeof(*of_structs) && sound; i++)
		sound = r->values[of_structs[i]] <= r->values[STRUCTS_STRIDE] - 8;
	return sound && r->values[TYPES_NAME] <= r->values[TYPES_STRIDE] - 8 &&
	       r->values[TYPES_SIZE] <= r->values[TYPES_STRIDE] - 8;
}

static const char *find_missing(const struct hotspot_tables *t)
{
	for (size_t i = 0; i < sizeof(wanted_fields) / sizeof(*wanted_fields); i++)
		if (!wanted_fields[i].optional && t->fields[wanted_fields[i].to] == HOTSPOT_MISSING)
			return wanted_fields[i].field;
	for (size_t i = 0; i < HOTSPOT_TYPES; i++)
		if (t->sizes[i] == HOTSPOT_MISSING || t->sizes[i] > 4096)
			return wanted_sizes[i].name;
	return NULL;
}

const char *hotspot_field_name(enum hotspot_field field)
{
	for (size_t i = 0; i < sizeof(wanted_fields) / sizeof(*wanted_fields); i++)
		if (wanted_fields[i].to == field)
			return wanted_fields[i].field;
	return NULL;
}

static const char *read_all(struct reading *r, const struct hotspot_exports *exports)
{
	for (unsigned int i = 0; i < EXPORTED; i++)
		if (!target_u64(r->memory, exports->addresses[i] + r->bias, &r->values[i]))
			return "its tables cannot be read";
	if (!are_sound(r) || !read_table(r, &fields) || !read_table(r, &types))
		return "its tables make no sense";
	r->tables->missing = find_missing(r->tables);
	return r->tables->missing ? "its tables lack a field" : NULL;
}

const char *hotspot_tables_read(struct hotspot_tables *t, const struct target_memory *memory,
				const struct hotspot_exports *exports, uint64_t bias)
{
	struct reading r = { .tables = t, .memory = memory, .bias = bias };
	const char *why = "there is no memory";

	memset(t, 0xff, sizeof(*t));
	t->short_frame_complete = false;
	t->missing = NULL;
	r.pages = calloc(TEXT_PAGES, sizeof(*r.pages));
	if (r.pages)
		why = read_all(&r, exports);
	free(r.pages);
	return why;
}
