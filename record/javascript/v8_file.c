/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_file.h"

#include <elf.h>
#include <string.h>

#include "record/runtimes/elf_names.h"
#include "record/javascript/v8_builtins.h"

/* Values that differ between versions. Those before FIRST_TYPE are distances. */
enum value {
	FP_CONTEXT,
	FP_FUNCTION,
	FP_BYTECODES,
	FUNCTION_SHARED,
	SHARED_SCRIPT,
	SHARED_SCRIPT_NEW,
	SHARED_FLAGS,
	SHARED_SCOPE,
	SHARED_TOKEN,
	SCRIPT_SOURCE,
	SCRIPT_NAME,
	SCRIPT_LINE_ENDS,
	SCOPE_FIRST,
	SHARED_TYPE,
	SCRIPT_TYPE,
	SCOPE_TYPE,
	/* Those that follow may be missing. */
	OPTIONAL,
	CODE_START = OPTIONAL,
	CODE_LENGTH,
	CODE_KIND,
	CODE_DATA,
	CODE_TABLE,
	KIND_BASELINE,
	DATA_COUNT,
	DATA_LITERALS,
	DATA_NUMBER,
	DATA_PLACES,
	VALUES
};

static const char *const value_names[VALUES] = {
	[FP_CONTEXT] = "v8dbg_off_fp_context",
	[FP_FUNCTION] = "v8dbg_off_fp_function",
	[FP_BYTECODES] = "v8dbg_off_fp_bytecode_array",
	[FUNCTION_SHARED] = "v8dbg_class_JSFunction__shared__*",
	[SHARED_SCRIPT] = "v8dbg_class_SharedFunctionInfo__script_or_debug_info__*",
	[SHARED_SCRIPT_NEW] = "v8dbg_class_SharedFunctionInfo__script__*",
	[SHARED_FLAGS] = "v8dbg_class_SharedFunctionInfo__flags__*",
	[SHARED_SCOPE] = "v8dbg_class_SharedFunctionInfo__name_or_scope_info__*",
	[SHARED_TOKEN] = "v8dbg_class_SharedFunctionInfo__raw_function_token_offset__*",
	[SCRIPT_SOURCE] = "v8dbg_class_Script__source__*",
	[SCRIPT_NAME] = "v8dbg_class_Script__name__*",
	[SCRIPT_LINE_ENDS] = "v8dbg_class_Script__line_ends__*",
	[SCOPE_FIRST] = "v8dbg_scopeinfo_idx_first_vars",
	[SHARED_TYPE] = "v8dbg_type_SharedFunctionInfo__*",
	[SCRIPT_TYPE] = "v8dbg_type_Script__*",
	[SCOPE_TYPE] = "v8dbg_type_ScopeInfo__*",
	[CODE_START] = "v8dbg_class_Code__instruction_start__Address",
	[CODE_LENGTH] = "v8dbg_class_Code__instruction_size__int",
	[CODE_KIND] = "v8dbg_class_Code__flags__uint32_t",
	[CODE_DATA] = "v8dbg_class_Code__deoptimization_data__FixedArray",
	[CODE_TABLE] = "v8dbg_class_Code__source_position_table__ByteArray",
	[KIND_BASELINE] = "v8dbg_CodeKindBaseline",
	[DATA_COUNT] = "v8dbg_DeoptimizationDataInlinedFunctionCountIndex",
	[DATA_LITERALS] = "v8dbg_DeoptimizationDataLiteralArrayIndex",
	[DATA_NUMBER] = "v8dbg_DeoptimizationDataOptimizationIdIndex",
	[DATA_PLACES] = "v8dbg_DeoptimizationDataInliningPositionsIndex",
};

/* What bpf/runtimes/v8_name.bpf.h takes for granted. */
static const struct {
	const char *name;
	int32_t value;
} expected[] = {
	{ "v8dbg_HeapObjectTag", 1 },
	{ "v8dbg_SmiTag", 0 },
	{ "v8dbg_SmiShiftSize", 31 },
	{ "v8dbg_TaggedSize", 8 }, /* pointers are not compressed */
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

#define EXPECTED (sizeof(expected) / sizeof(*expected))

bool v8_file_is_one(const struct elf_file *e)
{
	return e->machine == EM_X86_64 && (elf_names_has(e, value_names[FP_FUNCTION]) ||
					   elf_names_has(e, "_ZN2v87Isolate10GetCurrentEv"));
}

/* The constant at the symbol. Those that are 0 lie in memory that the file does not hold. */
static int32_t constant(const struct elf_file *e, const struct elf_name *symbol)
{
	struct cursor c = elf_file_at(e, symbol->address);
	int32_t value = (int32_t)cursor_u32(&c);

	return cursor_ok(&c) ? value : 0;
}

static bool is_as_expected(const struct elf_file *e, const struct elf_name *symbols)
{
	for (size_t i = 0; i < EXPECTED; i++)
		if (!symbols[i].address || constant(e, &symbols[i]) != expected[i].value)
			return false;
	return true;
}

/* Where in the interpreter's entry the frame begins: push %rbp; mov %rsp,%rbp; push; push. */
static bool find_frame(struct v8_process *p, struct cursor c)
{
	static const uint8_t begin[2][6] = { { 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57 },
					     { 0x55, 0x48, 0x8b, 0xec, 0x56, 0x57 } };
	const uint8_t *code = cursor_bytes(&c, p->entry_size);

	for (uint32_t i = 0; code && i + sizeof(begin[0]) <= p->entry_size; i++) {
		p->entry_frame = i;
		if (!memcmp(code + i, begin[0], 6) || !memcmp(code + i, begin[1], 6))
			return true;
	}
	return false;
}

static const char *place_code(struct v8_file *f, const struct elf_file *e)
{
	struct v8_process *p = &f->process;
	struct v8_builtins b;

	if (!v8_builtins_find(&b, e) || !elf_file_address_to_offset(e, b.address, &f->code_offset))
		return "it has no symbols of its builtins, and they are not found otherwise";
	p->builtins_size = (uint32_t)b.size;
	p->entry = (uint32_t)(b.entry - b.address);
	p->entry_size = (uint32_t)b.entry_size;
	return find_frame(p, elf_file_at(e, b.entry))
		       ? NULL
		       : "its interpreter is of a kind that is not known";
}

/* Words below the frame pointer: the step reads five of them. */
static bool is_frame_slot(int64_t value)
{
	return value <= -8 && value >= -40 && value % 8 == 0;
}

static bool is_field(int64_t value)
{
	return value >= 8 && value <= 128;
}

/* Among those that are read at once. */
static bool is_script_field(int64_t value)
{
	return value >= 8 && value <= 8 * V8_SCRIPT_WORDS && value % 8 == 0;
}

static const char *place_fields(struct v8_file *f, const int64_t *v)
{
	int64_t script = v[SHARED_SCRIPT] ? v[SHARED_SCRIPT] : v[SHARED_SCRIPT_NEW];
	/* The function's number in its script follows the flags, as the script's own the lines. */
	int64_t literal = v[SHARED_FLAGS] + 4 - script;

	for (int i = FP_CONTEXT; i <= FP_BYTECODES; i++)
		if (!is_frame_slot(v[i]))
			return "its frames are laid out in a way that is not known";
	if (!is_field(v[FUNCTION_SHARED]) || !is_field(script) || !is_field(v[SHARED_SCOPE]) ||
	    !is_field(v[SHARED_TOKEN]) || !is_script_field(v[SCRIPT_SOURCE]) ||
	    !is_script_field(v[SCRIPT_NAME] + 8) || !is_script_field(v[SCRIPT_LINE_ENDS] + 8) ||
	    literal < 8 || literal > 8 * (V8_SHARED_WORDS - 1) || literal % 4 ||
	    (v[SCOPE_FIRST] != 3 && v[SCOPE_FIRST] != 5))
		return "its objects are laid out in a way that is not known";
	f->process.context = (uint16_t)-v[FP_CONTEXT];
	f->process.function = (uint16_t)-v[FP_FUNCTION];
	f->process.bytecodes = (uint16_t)-v[FP_BYTECODES];
	f->process.shared = (uint16_t)v[FUNCTION_SHARED];
	f->process.script = (uint16_t)script;
	f->process.literal = (uint16_t)literal;
	f->process.script_number = (uint16_t)(v[SCRIPT_LINE_ENDS] + 8);
	f->process.shared_type = (uint16_t)v[SHARED_TYPE];
	f->process.script_type = (uint16_t)v[SCRIPT_TYPE];
	f->process.scope_type = (uint16_t)v[SCOPE_TYPE];
	f->process.scope = (uint16_t)v[SHARED_SCOPE];
	f->process.token = (uint16_t)v[SHARED_TOKEN];
	f->process.source = (uint16_t)v[SCRIPT_SOURCE];
	f->process.name = (uint16_t)v[SCRIPT_NAME];
	f->process.scope_head = (uint16_t)v[SCOPE_FIRST];
	return NULL;
}

/*
 * Code, as node 20, and as node 22 and 24 have it. Of node 20 there are symbols for two fields
 * only. Where it is otherwise, the kernel half finds no code around an address.
 */
static void place_made_code(struct v8_process *p, const int64_t *v)
{
	bool is_20 = v[CODE_DATA] == 16 && v[CODE_TABLE] == 24 && !v[CODE_START] && !v[CODE_LENGTH];
	bool is_22 = v[CODE_START] == 40 && !v[CODE_DATA] && v[CODE_LENGTH] == v[CODE_KIND] + 4;

	if ((!is_20 && !is_22) || (is_22 && v[CODE_KIND] != 48 && v[CODE_KIND] != 52) ||
	    v[KIND_BASELINE] <= 0 || v[KIND_BASELINE] >= V8_KIND_MASK || v[DATA_COUNT] != 1 ||
	    v[DATA_LITERALS] != v[DATA_NUMBER] - 3 || v[DATA_PLACES] != v[DATA_NUMBER] + 2 ||
	    v[DATA_LITERALS] <= 1 || v[DATA_PLACES] > 16)
		return;
	p->made = is_20 ? 8 : 24;
	p->start = 40;
	p->kind = is_20 ? 48 : (uint16_t)v[CODE_KIND];
	p->length = is_20 ? 56 : (uint16_t)v[CODE_LENGTH];
	p->optimization = is_20 ? 16 : 8;
	p->optimized = (uint16_t)(v[KIND_BASELINE] + 1);
	p->optimization_index = (uint16_t)v[DATA_NUMBER];
}

const char *v8_file_read(struct v8_file *f, const struct elf_file *e)
{
	struct elf_name names[VALUES + EXPECTED];
	int64_t values[VALUES]; /* of 32 bits, so that no sum of them overflows */
	const char *problem;

	*f = (struct v8_file){ 0 };
	for (size_t i = 0; i < VALUES; i++)
		names[i].name = value_names[i];
	for (size_t i = 0; i < EXPECTED; i++)
		names[VALUES + i].name = expected[i].name;
	elf_names_find(e, names, VALUES + EXPECTED);
	for (size_t i = 0; i < VALUES; i++) {
		if (!names[i].address && i != SHARED_SCRIPT && i != SHARED_SCRIPT_NEW &&
		    i < OPTIONAL)
			return "it has not the symbols for debuggers (v8dbg_...)";
		values[i] = names[i].address ? constant(e, &names[i]) : 0;
	}
	if (!is_as_expected(e, names + VALUES))
		return "its objects are laid out in a way that is not known";
	problem = place_fields(f, values);
	if (!problem)
		place_made_code(&f->process, values);
	return problem ? problem : place_code(f, e);
}
