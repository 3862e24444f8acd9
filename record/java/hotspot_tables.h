/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_TABLES_H
#define RECORD_JAVA_HOTSPOT_TABLES_H

/*
 * What libjvm.so says about itself: it exports tables of the fields, sizes and constants of its
 * own structures, for debuggers (hotspot/share/runtime/vmStructs.hpp). So no version of it needs
 * to be known here; where a field is missing, it is not understood and the reason says so.
 *
 * All of it is read from the process; only where the tables are is looked up in the file.
 */

#include "common/elf_file.h"
#include "record/runtimes/target_memory.h"

enum hotspot_field {
	/* Static fields: their addresses. */
	CODE_CACHE_HEAPS,
	CODE_CACHE_HEAP, /* before JDK 9, in its place */
	INTERPRETER_CODE,
	CALL_STUB_RETURN,
	VM_MAJOR_VERSION,
	/* The others: offsets. */
	CODE_HEAP_MEMORY,
	CODE_HEAP_SEGMAP,
	CODE_HEAP_SHIFT,
	VIRTUAL_SPACE_LOW,
	VIRTUAL_SPACE_HIGH,
	ARRAY_LENGTH,
	ARRAY_DATA,
	BLOB_NAME,
	BLOB_FRAME_SIZE,
	BLOB_FRAME_COMPLETE,
	BLOB_CODE_BEGIN,
	BLOB_CODE_OFFSET, /* in JDK 8 and since 23, in its place */
	BLOB_CODE_END,
	BLOB_DATA_OFFSET,
	BLOB_MUTABLE_DATA,
	BLOB_RELOCATION_SIZE,
	BLOCK_USED, /* of the header before each block */
	NMETHOD_METHOD,
	NMETHOD_COMPILE_ID,
	NMETHOD_ORIG_PC,
	NMETHOD_DEOPT_HANDLER,
	NMETHOD_DEOPT_OFFSET, /* in JDK 8 and 23 to 25, in its place */
	NMETHOD_DEOPT_ENTRY,  /* since JDK 26, in its place */
	NMETHOD_SCOPES_DATA,
	NMETHOD_SCOPES_PCS,
	NMETHOD_METADATA,
	NMETHOD_DEPENDENCIES,
	NMETHOD_SCOPES_OFFSET,	/* JDK 8: from the nmethod; since 23: in the immutable data */
	NMETHOD_IMMUTABLE_DATA, /* since JDK 23 */
	NMETHOD_IMMUTABLE_SIZE,
	PC_DESC_PC,
	PC_DESC_SCOPE,
	STUB_QUEUE_BUFFER,
	STUB_QUEUE_BEGIN,
	STUB_QUEUE_END,
	CODELET_SIZE,
	CODELET_DESCRIPTION,
	METHOD_CONST_METHOD,
	CONST_METHOD_CONSTANTS,
	CONST_METHOD_WORDS, /* its size */
	CONST_METHOD_FLAGS,
	CONST_METHOD_CODE_SIZE,
	CONST_METHOD_NAME,
	CONSTANTS_HOLDER,
	CONSTANTS_SOURCE_FILE,
	CLASS_SOURCE_FILE, /* before JDK 12, in its place */
	KLASS_NAME,
	SYMBOL_LENGTH,
	SYMBOL_LENGTH_AND_REFCOUNT, /* before JDK 13, in its place */
	SYMBOL_BODY,
	HOTSPOT_FIELDS
};

enum hotspot_type {
	SIZE_HEAP_BLOCK,
	SIZE_CONST_METHOD,
	SIZE_CONSTANTS,
	SIZE_PC_DESC,
	HOTSPOT_TYPES
};

#define HOTSPOT_MISSING UINT64_MAX

struct hotspot_tables {
	uint64_t fields[HOTSPOT_FIELDS]; /* HOTSPOT_MISSING: not there */
	uint64_t sizes[HOTSPOT_TYPES];
	bool short_frame_complete; /* it is an int16_t */
	const char *missing;	   /* a field that is missing or not understood, or NULL */
};

/* The symbols that lead to the tables: their link-time addresses, in an order of our own. */
#define HOTSPOT_EXPORTS 12

struct hotspot_exports {
	uint64_t addresses[HOTSPOT_EXPORTS];
};

/* False: the file does not export all of them. */
bool hotspot_tables_find(struct hotspot_exports *exports, const struct elf_file *libjvm);

/*
 * Reads the tables. NULL, or why that failed: static text. While libjvm.so is being loaded its
 * tables are not relocated yet, so a failure may be temporary.
 */
const char *hotspot_tables_read(struct hotspot_tables *t, const struct target_memory *memory,
				const struct hotspot_exports *exports, uint64_t bias);

/* How newer versions of the machine name it: static text. */
const char *hotspot_field_name(enum hotspot_field field);

#endif
