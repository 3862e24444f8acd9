/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"

#include <elf.h>
#include <string.h>

#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"

enum symbol { LOOP, LOOP_COLD, GLOBALS, FILE_NAME, SYMBOLS };

static const char *const symbol_names[SYMBOLS] = {
	[LOOP] = "execute_ex",
	[LOOP_COLD] = "execute_ex.cold",
	[GLOBALS] = "executor_globals",
	[FILE_NAME] = "zend_get_executed_filename_ex",
};

/* Where the fields of a function are (struct _zend_op_array). */
static const struct layout {
	char version[5];
	uint8_t last, code, file;
} layouts[] = {
	{ "8.2.", 80, 88, 152 },
};

bool php_file_is_one(const struct elf_file *e)
{
	return elf_names_has(e, "zend_get_executed_filename_ex") && elf_names_has(e, "execute_ex");
}

/* "8.2.", which follows this text among the constants. */
static const char VERSION_AFTER[] = "X-Powered-By: PHP/";

#define VERSION_BYTES 4
#define CONSTANTS_MAX (64u << 20) /* bytes of a file in which it is looked for */

/* NULL: it is not there. */
static const uint8_t *find_version(const struct elf_file *e)
{
	const size_t length = strlen(VERSION_AFTER);
	size_t left = CONSTANTS_MAX;

	for (size_t i = 0; i < e->load_count; i++) {
		struct cursor c = elf_file_at(e, e->loads[i]->address);
		size_t size = cursor_left(&c) < left ? cursor_left(&c) : left;
		const uint8_t *bytes = cursor_bytes(&c, size);
		const uint8_t *at = bytes ? memmem(bytes, size, VERSION_AFTER, length) : NULL;

		if (at && size - (size_t)(at - bytes) >= length + VERSION_BYTES)
			return at + length;
		left -= size;
	}
	return NULL;
}

static const struct layout *find_layout(const struct elf_file *e)
{
	const uint8_t *version = find_version(e);

	for (size_t i = 0; version && i < sizeof(layouts) / sizeof(*layouts); i++)
		if (!memcmp(version, layouts[i].version, VERSION_BYTES))
			return &layouts[i];
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
	struct cursor c = elf_file_at(e, asks->address);
	const uint8_t *code = asks->size < 256 ? cursor_bytes(&c, asks->size) : NULL;
	bool frame = false;

	*current = *file = 0;
	for (uint64_t i = 0; e->machine == EM_X86_64 && code && i + 7 <= asks->size && !*file;
	     i++) {
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

const char *php_file_read(struct php_process *p, const struct elf_file *e)
{
	struct elf_name symbols[SYMBOLS];
	const struct layout *layout;
	uint32_t current, file;

	*p = (struct php_process){ 0 };
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i].name = symbol_names[i];
	elf_names_find(e, symbols, SYMBOLS);
	if (!symbols[GLOBALS].address)
		return "it is built for threads";
	layout = find_layout(e);
	if (!layout)
		return "a version of PHP that is not known";
	find_offsets(e, &symbols[FILE_NAME], &current, &file);
	if (!current || current % 8 || current >= symbols[GLOBALS].size || file != layout->file)
		return "its structures are not as they are in its version";
	p->current = symbols[GLOBALS].address + current;
	find_loop(p, e, symbols);
	p->function_last = layout->last;
	p->function_code = layout->code;
	p->function_file = layout->file;
	return NULL;
}
