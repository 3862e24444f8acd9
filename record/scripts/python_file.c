/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_file.h"

#include <elf.h>
#include <string.h>

#include "bpf/abi/script.h"
#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"

#define VERSION(minor) (0x0300u | (minor))

enum symbol {
	RUNTIME,
	LOOP,
	LOOP_COLD,
	CODE_TYPE,
	GET_STATE,
	NEW_CODE,
	HAS_THREADS,
	EXACT_VERSION, /* 3.11 on */
	SINCE_3_8,
	SINCE_3_9,
	SINCE_3_10,
	SYMBOLS
};

static const char *const symbol_names[SYMBOLS] = {
	[RUNTIME] = "_PyRuntime",
	[LOOP] = "_PyEval_EvalFrameDefault",
	[LOOP_COLD] = "_PyEval_EvalFrameDefault.cold",
	[CODE_TYPE] = "PyCode_Type",
	[GET_STATE] = "PyGILState_GetThisThreadState",
	[NEW_CODE] = "_PyCode_New",
	[HAS_THREADS] = "PyEval_ThreadsInitialized",
	[EXACT_VERSION] = "Py_Version",
	[SINCE_3_8] = "PyCode_NewWithPosOnlyArgs",
	[SINCE_3_9] = "PyFrame_GetCode",
	[SINCE_3_10] = "Py_NewRef",
};

/* What is known of a version: the layout of its frames, and of all else where it does not say. */
struct layout {
	unsigned int version;
	uint16_t key; /* in _PyRuntime */
	uint16_t thread_frame;
	uint8_t holder_frame, frame_bytes, frame_code, frame_back, frame_position, frame_entry;
	enum python_position position;
	enum python_entry entry;
	uint16_t file, name, table, line; /* in a code object */
	uint16_t code_version, bytecode;
	uint8_t text_ascii, text_others;
	uint16_t lock; /* in _PyRuntime; from 3.12 on its address, in the interpreter */
	uint16_t thread_interpreter, interpreter_id; /* 3.12 on */
};

static const struct layout layouts[] = {
	{ VERSION(8), 1396, 24, PYTHON_NONE, 112, 32, 24, 104, 0, PYTHON_POSITION_BYTES,
	  PYTHON_ENTRY_EACH, 104, 112, 120, 40, 0, 0, 48, 72 },
	{ VERSION(9), 588, 24, PYTHON_NONE, 112, 32, 24, 104, 0, PYTHON_POSITION_BYTES,
	  PYTHON_ENTRY_EACH, 104, 112, 120, 40, 0, 0, 48, 72 },
	{ VERSION(10), 588, 24, PYTHON_NONE, 104, 32, 24, 96, 0, PYTHON_POSITION_UNITS,
	  PYTHON_ENTRY_EACH, 104, 112, 120, 40, 0, 0, 48, 72 },
	{ VERSION(11), 596, 56, 8, 72, 32, 48, 56, 68, PYTHON_POSITION_POINTER, PYTHON_ENTRY_FLAG,
	  112, 128, 136, 72, 0, 184, 48, 72 },
	{ VERSION(12), 1548, 56, 0, 72, 0, 8, 56, 70, PYTHON_POSITION_POINTER, PYTHON_ENTRY_SHIM,
	  112, 128, 136, 68, 92, 192, 40, 56 },
	{ VERSION(13), 2164, 72, PYTHON_NONE, 72, 0, 8, 56, 70, PYTHON_POSITION_POINTER,
	  PYTHON_ENTRY_SHIM, 112, 128, 136, 68, 92, 200, 40, 56 },
	{ VERSION(14), 2340, 72, PYTHON_NONE, 80, 0, 8, 56, 74, PYTHON_POSITION_POINTER,
	  PYTHON_ENTRY_SHIM, 112, 128, 136, 68, 92, 208, 40, 56 },
};

/* By the minor version: struct layout's `lock`. */
static const uint16_t locks[] = {
	[8] = 1152, [9] = 352, [10] = 352, [11] = 360, [12] = 384, [13] = 16, [14] = 16
};
/* 3.12; later ones say it. */
#define THREAD_INTERPRETER 16
#define INTERPRETER_ID 8
#define INTERPRETERS 56 /* in _PyRuntime: how many there were */

bool python_file_is_one(const struct elf_file *e)
{
	return elf_names_has(e, "_PyRuntime") && elf_names_has(e, "_PyEval_EvalFrameDefault");
}

static uint64_t word_at(const struct elf_file *e, uint64_t address)
{
	struct cursor c = elf_file_at(e, address);

	return cursor_u64(&c);
}

static unsigned int find_version(const struct elf_file *e, const struct elf_name *s)
{
	if (s[EXACT_VERSION].address)
		return (unsigned int)(word_at(e, s[EXACT_VERSION].address) >> 16 & 0xffff);
	if (s[SINCE_3_10].address)
		return VERSION(10);
	if (s[SINCE_3_9].address)
		return VERSION(9);
	return s[SINCE_3_8].address ? VERSION(8) : 0;
}

/* -------- the interpreter's own tables -------- */

/*
 * A pointer in data. Position-independent files have it in a relocation that puts base + addend
 * there; linkers sort those by place.
 */
static uint64_t pointer_at(const struct elf_file *e, uint64_t address)
{
	struct cursor all = elf_section_data(e, elf_file_section(e, ".rela.dyn")), c;
	size_t low = 0, high = cursor_left(&all) / 24;
	uint64_t place, kind, addend;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		c = all;
		cursor_seek(&c, middle * 24);
		place = cursor_u64(&c);
		kind = cursor_u64(&c);
		addend = cursor_u64(&c);
		/* R_X86_64_RELATIVE and R_AARCH64_RELATIVE; all others are sorted after them. */
		if (place == address && (kind == 8 || kind == 1027))
			return addend;
		if (place < address && (kind == 8 || kind == 1027))
			low = middle + 1;
		else
			high = middle;
	}
	return word_at(e, address);
}

/* PyTypeObject.tp_members -> PyMemberDef { name, type, offset, flags, doc }. */
#define TYPE_MEMBERS 240
#define MEMBER_SIZE 40
#define MEMBER_OFFSET 16
#define MEMBERS_MAX 64
#define MEMBER_NAME_MAX 64

static void read_member(struct layout *l, const char *name, uint64_t offset)
{
	const struct {
		const char *name;
		uint16_t *offset;
	} known[] = {
		{ "co_filename", &l->file },	{ "co_qualname", &l->name },
		{ "co_linetable", &l->table },	{ "co_lnotab", &l->table },
		{ "co_firstlineno", &l->line },
	};

	/* co_name stands for the qualified name where there is none. */
	if (!strcmp(name, "co_name") && l->version < VERSION(11) && offset < 512)
		l->name = (uint16_t)offset;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name) && offset < 512)
			*known[i].offset = (uint16_t)offset;
}

static void read_members(struct layout *l, const struct elf_file *e, uint64_t type)
{
	uint64_t member = pointer_at(e, type + TYPE_MEMBERS);

	for (int i = 0; member && i < MEMBERS_MAX; i++, member += MEMBER_SIZE) {
		struct cursor name = elf_file_at(e, pointer_at(e, member));
		struct cursor offset = elf_file_at(e, member + MEMBER_OFFSET);
		const char *text = cursor_short_string(&name, MEMBER_NAME_MAX);
		uint64_t value = cursor_u64(&offset);

		if (!text || !cursor_ok(&offset))
			return;
		read_member(l, text, value);
	}
}

/*
 * _Py_DebugOffsets, after "xdebugpy": words that say the version, whether it is free-threaded, and
 * then the size and members of the runtime, an interpreter, a thread, a frame and a code object.
 * Versions have more or fewer members of some; here is at which word what is used begins.
 * Free-threaded builds have other frames.
 */
#define OFFSET_WORDS 49
#define OFFSET_INTERPRETER_ID 7

struct offset_words {
	unsigned int version;
	uint8_t lock, thread, frame, code;
};

static const struct offset_words offset_words[] = {
	{ VERSION(13), 14, 19, 28, 34 },
	{ VERSION(14), 15, 22, 31, 39 },
};

static void take_offsets(struct layout *l, const struct offset_words *at, const uint64_t *word)
{
	const uint64_t *thread = word + at->thread, *frame = word + at->frame,
		       *code = word + at->code;

	l->lock = (uint16_t)word[at->lock];
	l->interpreter_id = (uint16_t)word[OFFSET_INTERPRETER_ID];
	l->thread_interpreter = (uint16_t)thread[3];
	l->thread_frame = (uint16_t)thread[4];
	l->frame_back = (uint8_t)frame[1];
	l->frame_code = (uint8_t)frame[2];
	l->frame_position = (uint8_t)frame[3];
	l->frame_entry = (uint8_t)frame[5];
	l->file = (uint16_t)code[1];
	l->name = (uint16_t)code[3];
	l->table = (uint16_t)code[4];
	l->line = (uint16_t)code[5];
	l->bytecode = (uint16_t)code[9];
}

static bool read_offsets(struct layout *l, const struct elf_file *e, uint64_t runtime)
{
	const struct offset_words *at = offset_words;
	struct cursor c = elf_file_at(e, runtime);
	const uint8_t *magic = cursor_bytes(&c, 8);
	uint64_t word[OFFSET_WORDS];

	if (!magic || memcmp(magic, "xdebugpy", 8) != 0)
		return true;
	for (size_t i = 1; i < OFFSET_WORDS; i++)
		word[i] = cursor_u64(&c);
	while (at->version != l->version)
		if (++at == offset_words + sizeof(offset_words) / sizeof(*offset_words))
			return false;
	if (!cursor_ok(&c) || word[1] >> 16 != l->version || word[2] ||
	    word[at->lock] > UINT16_MAX || word[OFFSET_INTERPRETER_ID] > UINT16_MAX)
		return false;
	for (size_t i = at->thread; i < at->code + 10u; i++)
		if (word[i] > 4096)
			return false;
	take_offsets(l, at, word);
	return true;
}

/* -------- what the code says -------- */

/*
 * The address of the key's number, by the function that asks for the thread's state. It takes the
 * address of a Py_tss_t in _PyRuntime, whose second int the number is, or reads that at once:
 *
 *     lea disp(%rax),%rdi or %rbx	48 8d b8 or 98
 *     mov $address,%edi		bf
 *     mov disp(%rip),%edi		8b 3d
 */
static uint64_t key_by_code(const struct elf_file *e, const struct elf_name *s)
{
	uint64_t size = s[GET_STATE].size, runtime = s[RUNTIME].address, key;
	struct cursor c = elf_file_at(e, s[GET_STATE].address);
	const uint8_t *code;

	if (e->machine != EM_X86_64 || size < 16 || size > 128)
		return 0;
	code = cursor_bytes(&c, size);
	for (uint64_t i = 0; code && i + 7 <= size; i++) {
		if (code[i] == 0x48 && code[i + 1] == 0x8d &&
		    (code[i + 2] == 0xb8 || code[i + 2] == 0x98))
			key = runtime + machine_code_u32(code + i + 3) + 4;
		else if (code[i] == 0xbf)
			key = machine_code_u32(code + i + 1) + UINT64_C(4);
		else if (code[i] == 0x8b && code[i + 1] == 0x3d)
			key = machine_code_target(code + i + 2, s[GET_STATE].address + i + 6);
		else
			continue;
		if (key >= runtime && key < runtime + s[RUNTIME].size)
			return key;
	}
	return 0;
}

/*
 * The interpreter lock, which is in _PyRuntime before 3.12. PyEval_ThreadsInitialized() reads the
 * third word of it:
 *
 *     mov disp(%rax),%eax	8b 80
 *     mov disp(%rip),%eax	8b 05
 *
 * 0: it is not where this version is known to have it.
 */
static uint64_t lock_of(const struct elf_file *e, const struct elf_name *s, const struct layout *l)
{
	uint64_t size = s[HAS_THREADS].size, place = 0;
	struct cursor c = elf_file_at(e, s[HAS_THREADS].address);
	const uint8_t *code = size < 64 ? cursor_bytes(&c, size) : NULL;

	for (uint64_t i = 0; code && i + 6 <= size && !place; i++) {
		if (code[i] == 0x8b && code[i + 1] == 0x80)
			place = machine_code_u32(code + i + 2);
		else if (code[i] == 0x8b && code[i + 1] == 0x05 && (!i || code[i - 1] != 0x48))
			place = machine_code_target(code + i + 2, s[HAS_THREADS].address + i + 6) -
				s[RUNTIME].address;
	}
	if (e->machine == EM_X86_64 && place != l->lock + UINT64_C(16))
		return 0;
	return s[RUNTIME].address + l->lock;
}

/* The store of the new count at code + i, where an instruction ends that made it in %eax. */
static bool read_store(struct python_process *p, const uint8_t *code, uint64_t i, uint64_t address)
{
	uint8_t high = code[i] == 0x41; /* of registers 8 to 15 */
	const uint8_t *store = code + i + high;
	uint8_t base = store[1] & 7;

	if (store[0] != 0x89 || store[1] & 0x38 || base == 4)
		return false;
	p->counter = PYTHON_COUNTER_ADDRESS;
	if (store[1] >> 6 == 2) {
		p->counter = PYTHON_COUNTER_INTERPRETER;
		p->created = machine_code_u32(store + 2);
		return true;
	}
	if (store[1] >> 6 == 0 && base == 5) {
		p->created = machine_code_target(store + 2, address + i + 6);
		return !high;
	}
	/* lea disp(%rip) has put the address into the register. */
	for (uint64_t j = i - 1; store[1] >> 6 == 0 && j >= i - 48; j--) {
		if (code[j] != (high ? 0x4c : 0x48) || code[j + 1] != 0x8d ||
		    code[j + 2] != (base << 3 | 5))
			continue;
		p->created = machine_code_target(code + j + 3, address + j + 7);
		return true;
	}
	return false;
}

/*
 * How many code objects were made, by the function that makes them. It counts with
 *
 *     test %eax,%eax; je ...; add $1,%eax	85 c0 74 .. 83 c0 01
 *
 * and a store to the interpreter (3.13) or to a variable (3.12).
 */
static void find_counter(struct python_process *p, const struct elf_file *e,
			 const struct elf_name *new_code)
{
	uint64_t size = new_code->size < 1 << 14 ? new_code->size : 0;
	struct cursor c = elf_file_at(e, new_code->address);
	const uint8_t *code = cursor_bytes(&c, size);

	if (e->machine != EM_X86_64 || !code)
		return;
	for (uint64_t i = 48; i + 14 <= size; i++)
		if (code[i] == 0x85 && code[i + 1] == 0xc0 && code[i + 2] == 0x74 &&
		    code[i + 4] == 0x83 && code[i + 5] == 0xc0 && code[i + 6] == 1 &&
		    read_store(p, code, i + 7, new_code->address))
			return;
	p->counter = PYTHON_COUNTER_NONE;
}

/* -------- all of it together -------- */

static bool is_word(const struct python_process *p, uint64_t offset, unsigned int align)
{
	return offset >= p->code_start && offset % align == 0 &&
	       offset - p->code_start + align <= PYTHON_CODE_BYTES;
}

/* The part of a code object that is read, and what stands where in it. */
static const char *place_code(struct python_process *p, const struct layout *l)
{
	const uint16_t words[] = { l->file, l->name, l->table, l->line };
	uint16_t first = l->line, last = 0;

	for (size_t i = 0; i < 4; i++) {
		first = words[i] < first ? words[i] : first;
		last = words[i] > last ? words[i] : last;
	}
	p->code_start = first & ~7;
	if (!is_word(p, l->file, 8) || !is_word(p, l->name, 8) || !is_word(p, l->table, 8) ||
	    !is_word(p, l->line, 4))
		return "its code objects are laid out in a way that is not known";
	p->code_bytes = (uint8_t)((last & ~7) + 8 - p->code_start);
	p->code_file = (uint8_t)(l->file - p->code_start);
	p->code_name = (uint8_t)(l->name - p->code_start);
	p->code_table = (uint8_t)(l->table - p->code_start);
	p->code_line = (uint8_t)(l->line - p->code_start);
	p->version = PYTHON_NONE;
	if (l->code_version && is_word(p, l->code_version, 4))
		p->version = (uint8_t)(l->code_version - p->code_start);
	p->cookie[0] = p->code_name;
	p->cookie[1] = p->code_table;
	p->cookie[2] = p->code_line;
	p->cookie[3] = p->version == PYTHON_NONE ? p->code_file : p->version;
	return NULL;
}

static const char *place_frame(struct python_process *p, const struct layout *l)
{
	if (l->frame_code % 8 || l->frame_back % 8 || l->frame_position % 4 ||
	    l->frame_code >= l->frame_bytes || l->frame_back >= l->frame_bytes ||
	    l->frame_position >= l->frame_bytes || l->frame_entry >= l->frame_bytes ||
	    l->thread_frame % 8 || l->thread_frame >= PYTHON_STATE_BYTES ||
	    l->thread_interpreter % 8 || l->thread_interpreter >= PYTHON_STATE_BYTES)
		return "its frames are laid out in a way that is not known";
	p->thread_frame = l->thread_frame;
	/* In _PyRuntime.gilstate, whose last member the key is. */
	if (l->version < VERSION(12)) {
		p->current = l->version == VERSION(8) ? 28 : 20;
		p->thread_id = l->version == VERSION(11) ? 152 : 176;
	}
	/* A place in the interpreter is of use only where the thread's state leads to it. */
	p->thread_interpreter = (uint8_t)l->thread_interpreter;
	p->interpreter_id = l->interpreter_id;
	if (p->counter == PYTHON_COUNTER_INTERPRETER && !l->thread_interpreter)
		p->counter = PYTHON_COUNTER_NONE;
	p->holder_frame = l->holder_frame;
	p->frame_bytes = l->frame_bytes;
	/* Before 3.11 frames are objects, each in a place of its own. */
	p->window = l->version >= VERSION(11) ? SCRIPT_WINDOW_BYTES : l->frame_bytes;
	p->frame_code = l->frame_code;
	p->frame_back = l->frame_back;
	p->frame_position = l->frame_position;
	p->frame_entry = l->frame_entry;
	p->position = (uint8_t)l->position;
	p->entry = (uint8_t)l->entry;
	p->owner = 3; /* FRAME_OWNED_BY_CSTACK */
	p->code_bytecode = l->bytecode;
	p->text_ascii = l->text_ascii;
	p->text_others = l->text_others;
	p->table = l->version >= VERSION(11)   ? PYTHON_TABLE_LOCATIONS
		   : l->version == VERSION(10) ? PYTHON_TABLE_LINES
					       : PYTHON_TABLE_LNOTAB;
	return NULL;
}

static const char *place_symbols(struct python_process *p, const struct elf_file *e,
				 const struct elf_name *s, const struct layout *l)
{
	const struct code_range loop = { s[LOOP].address, s[LOOP].address + s[LOOP].size };
	const struct code_range cold = machine_code_cold(e, &loop, &s[LOOP_COLD]);

	if (!s[CODE_TYPE].address)
		return "it hides its symbols";
	p->key = key_by_code(e, s);
	if (!p->key)
		p->key = s[RUNTIME].address + l->key;
	if (p->counter == PYTHON_COUNTER_ADDRESS)
		p->interpreters = s[RUNTIME].address + INTERPRETERS;
	p->code_type = s[CODE_TYPE].address;
	p->lock = l->thread_interpreter ? l->lock : lock_of(e, s, l);
	machine_code_put_ranges(p->evaluation, &loop, &cold);
	return NULL;
}

const char *python_file_read(struct python_file *p, const struct elf_file *e)
{
	struct elf_name symbols[SYMBOLS];
	struct layout layout = { 0 };
	const char *problem;

	*p = (struct python_file){ 0 };
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i].name = symbol_names[i];
	elf_names_find(e, symbols, SYMBOLS);
	p->version = find_version(e, symbols);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == p->version)
			layout = layouts[i];
	if (!layout.version)
		return "a version of CPython that is not known";
	layout.lock = locks[layout.version & 0xff];
	if (layout.version >= VERSION(12)) {
		layout.thread_interpreter = THREAD_INTERPRETER;
		layout.interpreter_id = INTERPRETER_ID;
	}
	read_members(&layout, e, symbols[CODE_TYPE].address);
	if (!read_offsets(&layout, e, symbols[RUNTIME].address))
		return "a build of CPython that is not known";
	if (layout.code_version)
		find_counter(&p->process, e, &symbols[NEW_CODE]);
	problem = place_frame(&p->process, &layout);
	if (!problem)
		problem = place_code(&p->process, &layout);
	return problem ? problem : place_symbols(&p->process, e, symbols, &layout);
}
