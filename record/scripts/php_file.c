/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"

#include <elf.h>

#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"

enum symbol { LOOP, LOOP_COLD, GLOBALS, FILE_NAME, BEGIN, RUN_C, EXTEND, FRAMELESS, SYMBOLS };

static const char *const symbol_names[SYMBOLS] = {
	[LOOP] = "execute_ex",
	[LOOP_COLD] = "execute_ex.cold",
	[GLOBALS] = "executor_globals",
	[FILE_NAME] = "zend_get_executed_filename_ex",
	[BEGIN] = "zend_init_code_execute_data",
	[RUN_C] = "execute_internal",
	[EXTEND] = "zend_load_extension_handle",
	[FRAMELESS] = "zend_flf_functions",
};

/*
 * Versions, by the number that extensions have to be built for (ZEND_EXTENSION_API_NO), and where
 * they have the fields of a function (struct _zend_op_array, struct _zend_internal_function). The
 * code has to say the same of all but `last`, which is right before `code`.
 */
static const struct layout {
	uint32_t version;
	uint8_t last, code, file, handler;
} layouts[] = {
	{ 420210902, 68, 72, 144, 56 },	 /* 8.1 */
	{ 420220829, 80, 88, 152, 72 },	 /* 8.2 */
	{ 420230831, 76, 80, 144, 72 },	 /* 8.3 */
	{ 420240924, 96, 104, 168, 88 }, /* 8.4 */
};

#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))

bool php_file_is_one(const struct elf_file *e)
{
	return elf_names_has(e, "zend_get_executed_filename_ex") && elf_names_has(e, "execute_ex");
}

#define FUNCTION_MAX 4096     /* bytes; those that are asked are shorter */
#define LOOP_MAX (1ULL << 20) /* ... and the loop, or what runs its instructions */

/* NULL: it is not there. */
static const uint8_t *code_of(const struct elf_file *e, const struct elf_name *function)
{
	struct cursor c = elf_file_at(e, function->address);

	if (function->size >= FUNCTION_MAX)
		return NULL;
	return cursor_bytes(&c, function->size);
}

/* zend_load_extension_handle() compares an extension's version with this one's. NULL: not known. */
static const struct layout *find_layout(const struct elf_file *e, const struct elf_name *extend)
{
	const uint8_t *code = code_of(e, extend);

	for (uint64_t i = 0; code && i + 4 <= extend->size; i++)
		for (size_t n = 0; n < LAYOUTS; n++)
			if (machine_code_u32(code + i) == layouts[n].version)
				return &layouts[n];
	return NULL;
}

/*
 * zend_get_executed_filename_ex() goes from the globals to the latest frame, from frames to their
 * functions, and from the first one in PHP to its file:
 *
 *     mov current(%reg),%reg	48 8b, 80 to bf, disp32
 *     mov 0x18(%reg),%reg	48 8b, 40 to 7f, 18
 *     mov file(%reg),%reg	48 8b, 80 to bf, disp32
 */
#define FUNCTION_OF_FRAME 0x18

/* Fills in both offsets; 0: not found. */
static void find_offsets(const struct elf_file *e, const struct elf_name *asks, uint32_t *current,
			 uint32_t *file)
{
	const uint8_t *code = code_of(e, asks);
	bool frame = false;

	*current = *file = 0;
	for (uint64_t i = 0; code && i + 7 <= asks->size && !*file; i++) {
		uint8_t kind = code[i + 2] >> 6;

		if (code[i] != 0x48 || code[i + 1] != 0x8b || (code[i + 2] & 7) == 4)
			continue;
		if (kind == 1 && code[i + 3] == FUNCTION_OF_FRAME)
			frame = true;
		else if (kind == 2)
			*(frame ? file : current) = machine_code_u32(code + i + 3);
	}
}

/*
 * zend_init_code_execute_data() asks a function first where its instructions are; 0: not found.
 *
 *     mov code(%reg),%reg	48 8b, 40 to 7f, disp8
 */
static uint8_t find_code(const struct elf_file *e, const struct elf_name *begin)
{
	const uint8_t *code = code_of(e, begin);

	for (uint64_t i = 0; code && i + 4 <= begin->size; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] >> 6 == 1 &&
		    (code[i + 2] & 7) != 4)
			return code[i + 3];
	return 0;
}

/*
 * execute_internal() ends in what a function in C runs; 0: not found.
 *
 *     jmp *handler(%reg)	ff, 60 to 67, disp8
 */
static uint8_t find_handler(const struct elf_file *e, const struct elf_name *runs)
{
	const uint8_t *code = code_of(e, runs);

	for (uint64_t i = 0; code && i + 3 <= runs->size; i++)
		if (code[i] == 0xff && (code[i + 1] & 0xf8) == 0x60)
			return code[i + 2];
	return 0;
}

/* Fills in where the latest frame is. False: the code is not of a version with that layout. */
static bool check(struct php_process *p, const struct elf_file *e, const struct elf_name *symbols,
		  const struct layout *layout)
{
	uint32_t current, file;

	find_offsets(e, &symbols[FILE_NAME], &current, &file);
	p->current = symbols[GLOBALS].address + current;
	return current && current % 8 == 0 && current < symbols[GLOBALS].size &&
	       file == layout->file && find_code(e, &symbols[BEGIN]) == layout->code &&
	       find_handler(e, &symbols[RUN_C]) == layout->handler;
}

/*
 * The loop runs some instructions itself, and calls functions for the others:
 *
 *     call handler; jmp *(%r15)	e8, 41 ff 27
 */
static void find_loop(struct php_process *p, const struct elf_file *e, const struct elf_name *s)
{
	const struct code_range loop = { s[LOOP].address, s[LOOP].address + s[LOOP].size };
	const struct code_range cold = machine_code_cold(e, &loop, &s[LOOP_COLD]);
	const struct code_range handlers = machine_code_called_before(e, &loop, "\x41\xff\x27", 3);

	machine_code_put_ranges(p->evaluation, &loop, &cold);
	p->handlers[0] = handlers.start;
	p->handlers[1] = handlers.end;
}

/*
 * An instruction that calls a function without a frame has the function's number at 0x14:
 *
 *     mov 0x14(%r15),%number		41 or 45, 8b, 47 to 7f, 14
 *     call *(%functions,%number,8)	ff 14, c0 to ff; with 42 or 43 before it from %r8 on
 */
#define NUMBER_BYTES 4
#define CALL_BYTES 3
#define CALL_MAX 32 /* bytes from one to the other */

/* The register that the number is read to at `code`; -1: none is. */
static int number_at(const uint8_t *code)
{
	if ((code[0] & 0xfb) != 0x41 || code[1] != 0x8b || (code[2] & 0xc7) != 0x47 ||
	    code[3] != 0x14)
		return -1;
	return (code[0] & 4) << 1 | (code[2] >> 3 & 7);
}

static bool calls_number(const uint8_t *code, int number)
{
	return code[0] == 0xff && code[1] == 0x14 && code[2] >> 6 == 3 &&
	       (code[2] >> 3 & 7) == (number & 7) && (number < 8 || (code[-1] & 0xfa) == 0x42);
}

/* Adds those of that range to p->frameless_calls, of which there are *n. */
static void find_frameless_calls(struct php_process *p, const struct elf_file *e,
				 const __u64 range[2], size_t *n)
{
	struct cursor c = elf_file_at(e, range[0]);
	uint64_t size = range[1] - range[0], j;
	const uint8_t *code = size < LOOP_MAX ? cursor_bytes(&c, size) : NULL;

	for (uint64_t i = 0; code && i + CALL_MAX + CALL_BYTES <= size; i++) {
		int number = number_at(code + i);

		if (number < 0)
			continue;
		for (j = i + NUMBER_BYTES; j < i + CALL_MAX && !calls_number(code + j, number);)
			j++;
		if (j < i + CALL_MAX && *n < PHP_FRAMELESS_CALLS)
			p->frameless_calls[(*n)++] =
				(__s32)(range[0] + j + CALL_BYTES - p->frameless);
	}
}

static void find_frameless(struct php_process *p, const struct elf_file *e,
			   const struct elf_name *functions)
{
	size_t n = 0;

	p->frameless = functions->address;
	if (!p->frameless)
		return;
	find_frameless_calls(p, e, p->evaluation, &n);
	find_frameless_calls(p, e, p->handlers, &n);
}

const char *php_file_read(struct php_process *p, const struct elf_file *e)
{
	struct elf_name symbols[SYMBOLS];
	const struct layout *layout;

	*p = (struct php_process){ 0 };
	if (e->machine != EM_X86_64)
		return "PHP is known on x86-64 only";
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i].name = symbol_names[i];
	elf_names_find(e, symbols, SYMBOLS);
	if (!symbols[GLOBALS].address)
		return "it is built for threads";
	layout = find_layout(e, &symbols[EXTEND]);
	if (!layout)
		return "a version of PHP that is not known";
	if (!check(p, e, symbols, layout))
		return "its structures are not as they are in its version";
	find_loop(p, e, symbols);
	find_frameless(p, e, &symbols[FRAMELESS]);
	p->function_last = layout->last;
	p->function_code = layout->code;
	p->function_file = layout->file;
	p->function_handler = layout->handler;
	return NULL;
}
