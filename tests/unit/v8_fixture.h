/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_V8_FIXTURE_H
#define TESTS_UNIT_V8_FIXTURE_H

/* A made-up program with V8, as far as it is looked at: symbols for debuggers, and the interpreter.
 */

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/elf_fixture.h"

/* As in node 20. */
static const struct v8_constant {
	const char *name;
	int32_t value;
} v8_constants[] = {
	{ "v8dbg_off_fp_context", -8 },
	{ "v8dbg_off_fp_function", -16 },
	{ "v8dbg_off_fp_bytecode_array", -32 },
	{ "v8dbg_class_JSFunction__shared__SharedFunctionInfo", 24 },
	{ "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject", 32 },
	{ "v8dbg_class_SharedFunctionInfo__flags__int32_t", 48 },
	{ "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object", 16 },
	{ "v8dbg_class_SharedFunctionInfo__raw_function_token_offset__int16_t", 44 },
	{ "v8dbg_class_Script__source__Object", 8 },
	{ "v8dbg_class_Script__name__Object", 16 },
	{ "v8dbg_class_Script__line_ends__Object", 56 },
	{ "v8dbg_scopeinfo_idx_first_vars", 3 },
	{ "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 262 },
	{ "v8dbg_type_Script__SCRIPT_TYPE", 167 },
	{ "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", 261 },
	{ "v8dbg_class_Code__deoptimization_data__FixedArray", 16 },
	{ "v8dbg_class_Code__source_position_table__ByteArray", 24 },
	{ "v8dbg_CodeKindBaseline", 10 },
	{ "v8dbg_DeoptimizationDataInlinedFunctionCountIndex", 1 },
	{ "v8dbg_DeoptimizationDataLiteralArrayIndex", 2 },
	{ "v8dbg_DeoptimizationDataOptimizationIdIndex", 5 },
	{ "v8dbg_DeoptimizationDataInliningPositionsIndex", 7 },
	{ "v8dbg_HeapObjectTag", 1 },
	{ "v8dbg_SmiTag", 0 },
	{ "v8dbg_SmiShiftSize", 31 },
	{ "v8dbg_TaggedSize", 8 },
	{ "v8dbg_class_Map__instance_type__uint16_t", 12 },
	{ "v8dbg_IsNotStringMask", ~0x7f },
	{ "v8dbg_StringRepresentationMask", 7 },
	{ "v8dbg_StringEncodingMask", 8 },
	{ "v8dbg_OneByteStringTag", 8 },
	{ "v8dbg_SeqStringTag", 0 },
	{ "v8dbg_ConsStringTag", 1 },
	{ "v8dbg_ExternalStringTag", 2 },
	{ "v8dbg_SlicedStringTag", 3 },
	{ "v8dbg_ThinStringTag", 5 },
	{ "v8dbg_class_String__length__int32_t", 12 },
	{ "v8dbg_class_SeqOneByteString__chars__char", 16 },
	{ "v8dbg_class_SeqTwoByteString__chars__char", 16 },
	{ "v8dbg_class_ConsString__first__String", 16 },
	{ "v8dbg_class_ConsString__second__String", 24 },
	{ "v8dbg_class_ThinString__actual__String", 16 },
	{ "v8dbg_class_SlicedString__parent__String", 16 },
	{ "v8dbg_class_SlicedString__offset__SMI", 24 },
	{ "v8dbg_class_ExternalString__resource__Object", 16 },
};

#define V8_CONSTANTS (sizeof(v8_constants) / sizeof(*v8_constants))
#define V8_SYMBOLS (1 + V8_CONSTANTS + 1) /* none, those, the interpreter's entry */

/* Addresses are offsets in it. */
struct v8_image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[V8_SYMBOLS];
	char names[V8_SYMBOLS][80];
	char section_names[48];
	int32_t constants[V8_CONSTANTS];
	uint8_t entry[64];
};

#define V8_AT(member) offsetof(struct v8_image, member)
static inline void v8_image_build(struct v8_image *i)
{
	*i = (struct v8_image){
		FIXTURE_HEADERS(struct v8_image, "\0.symtab"),
		.sections = { FIXTURE_SECTIONS(struct v8_image),
			      FIXTURE_SECTION(struct v8_image, 27, SHT_SYMTAB, symbols, 2) },
	};
	for (size_t k = 0; k < V8_CONSTANTS; k++) {
		i->constants[k] = v8_constants[k].value;
		FIXTURE_SYMBOL(i, 1 + k, v8_constants[k].name, V8_AT(constants) + 4 * k, 4);
	}
	FIXTURE_SYMBOL(i, 1 + V8_CONSTANTS, "Builtins_InterpreterEntryTrampoline", V8_AT(entry),
		       sizeof(i->entry));
	memcpy(i->entry + 8, "\x55\x48\x89\xe5\x56\x57", 6);
}

#endif
