/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A made-up program with V8, as far as it is looked at: symbols for debuggers, and the interpreter.
 */

#include "record/javascript/v8_file.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As in node 20. */
static const struct constant {
	const char *name;
	int32_t value;
} node_20[] = {
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

#define CONSTANTS (sizeof(node_20) / sizeof(*node_20))
#define SYMBOLS (1 + CONSTANTS + 1) /* none, those, the interpreter's entry */

/* Addresses are offsets in it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[SYMBOLS];
	char names[SYMBOLS][80];
	char section_names[48];
	int32_t constants[CONSTANTS];
	uint8_t entry[64];
};

#define AT(member) offsetof(struct image, member)
static void build(struct image *i)
{
	*i = (struct image){
		FIXTURE_HEADERS(struct image, "\0.symtab"),
		.sections = { FIXTURE_SECTIONS(struct image),
			      FIXTURE_SECTION(struct image, 27, SHT_SYMTAB, symbols, 2) },
	};
	for (size_t k = 0; k < CONSTANTS; k++) {
		i->constants[k] = node_20[k].value;
		FIXTURE_SYMBOL(i, 1 + k, node_20[k].name, AT(constants) + 4 * k, 4);
	}
	FIXTURE_SYMBOL(i, 1 + CONSTANTS, "Builtins_InterpreterEntryTrampoline", AT(entry),
		       sizeof(i->entry));
	memcpy(i->entry + 8, "\x55\x48\x89\xe5\x56\x57", 6);
}

static void set(struct image *i, const char *name, int32_t value)
{
	for (size_t k = 0; k < CONSTANTS; k++) {
		if (strcmp(node_20[k].name, name))
			continue;
		i->constants[k] = value;
		return;
	}
	fail_msg("there is no %s", name);
}

static const char *read_file(struct v8_file *f, const struct image *i)
{
	struct elf_file e;
	const char *problem;

	assert_int_equal(elf_file_open_memory(&e, i, sizeof(*i)), ELF_OK);
	assert_true(v8_file_is_one(&e));
	problem = v8_file_read(f, &e);
	elf_file_release(&e);
	return problem;
}

static void test_places_are_those_of_the_file(void **state)
{
	struct v8_file f;
	struct image i;

	build(&i);
	assert_null(read_file(&f, &i));
	assert_int_equal(f.code_offset, AT(entry));
	assert_int_equal(f.process.entry_size, sizeof(i.entry));
	assert_int_equal(f.process.entry_frame, 8);
	assert_int_equal(f.process.function, 16);
	assert_int_equal(f.process.literal, 20);
	assert_int_equal(f.process.script_number, 64);
	assert_int_equal(f.process.made, 8);
	assert_int_equal(f.process.optimized, 11);
	assert_int_equal(f.process.optimization_index, 5);
}

/* Each of them alone: it is refused, or is a type's number, or what is inlined is not known. */
static void test_constants_that_are_too_large(void **state)
{
	static const int32_t values[] = { INT32_MAX, INT32_MAX - 3, INT32_MIN, INT32_MIN + 3 };
	struct v8_file f;
	struct image i;

	for (size_t k = 0; k < CONSTANTS; k++) {
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
			build(&i);
			i.constants[k] = values[v];
			assert_true(read_file(&f, &i) || strstr(node_20[k].name, "_type_") ||
				    !f.process.made);
		}
	}
}

/* Numbers that follow each other beyond the largest one. */
static void test_constants_whose_sums_overflow(void **state)
{
	struct v8_file f;
	struct image i;

	build(&i);
	set(&i, "v8dbg_DeoptimizationDataOptimizationIdIndex", INT32_MIN);
	set(&i, "v8dbg_DeoptimizationDataLiteralArrayIndex", INT32_MAX - 2);
	set(&i, "v8dbg_DeoptimizationDataInliningPositionsIndex", INT32_MIN + 2);
	assert_null(read_file(&f, &i));
	assert_int_equal(f.process.made, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_places_are_those_of_the_file),
	cmocka_unit_test(test_constants_that_are_too_large),
	cmocka_unit_test(test_constants_whose_sums_overflow),
};

UNIT_TESTS(tests);
