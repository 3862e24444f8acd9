/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/ruby_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"

#define VERSION(minor) (0x0300u | (minor))

enum symbol {
	VERSION_TEXT,
	ERROR_INFO,
	LOOP,
	LOOP_COLD,
	CORE_COLD,
	SYMBOL_TEXT,
	MACHINE,
	COLLECTIONS,
	STATISTICS,
	SYMBOLS
};

static const char *const symbol_names[SYMBOLS] = {
	[VERSION_TEXT] = "ruby_version",
	[ERROR_INFO] = "rb_errinfo",
	[LOOP] = "rb_vm_exec",
	[LOOP_COLD] = "rb_vm_exec.cold",
	[CORE_COLD] = "vm_exec_core.cold",
	[SYMBOL_TEXT] = "rb_id2str",
	[MACHINE] = "ruby_current_vm_ptr",
	[COLLECTIONS] = "rb_gc_count",
	[STATISTICS] = "rb_gc_stat",
};

/* What is known of a version: the layout of its frames and of the bodies of its code. */
struct layout {
	unsigned int version;
	uint8_t frame_bytes, body_lines, line_bytes, first_line_shift;
	enum ruby_text text;
	bool counts_by_size; /* of freed objects */
};

static const struct layout layouts[] = {
	{ VERSION(0), 56, 120, 8, 1, RUBY_TEXT_FLAGS, false },
	{ VERSION(1), 64, 120, 12, 1, RUBY_TEXT_FLAGS, false },
	{ VERSION(2), 64, 112, 12, 0, RUBY_TEXT_LENGTH, false },
	{ VERSION(3), 56, 112, 12, 0, RUBY_TEXT_LENGTH, true },
};

bool ruby_file_is_one(const struct elf_file *e)
{
	return elf_names_has(e, "ruby_version") && elf_names_has(e, "ruby_run_node");
}

/* "3.1.7" */
static const struct layout *find_layout(const struct elf_file *e, const struct elf_name *text)
{
	struct cursor c = elf_file_at(e, text->address);
	const uint8_t *digits = cursor_bytes(&c, 4);

	for (size_t i = 0; digits && i < sizeof(layouts) / sizeof(*layouts); i++)
		if (digits[0] == '0' + (layouts[i].version >> 8) && digits[1] == '.' &&
		    digits[2] == '0' + (layouts[i].version & 0xff) && digits[3] == '.')
			return &layouts[i];
	return NULL;
}

/*
 * Where a thread's execution context is: two words that say whose thread-local storage, and where
 * in it. rb_errinfo() asks for it first:
 *
 *     data16 lea words(%rip),%rdi; call __tls_get_addr	66 48 8d 3d
 */
static uint64_t find_storage(const struct elf_file *e, const struct elf_name *asks)
{
	struct cursor c = elf_file_at(e, asks->address);
	const uint8_t *code = asks->size < 128 ? cursor_bytes(&c, asks->size) : NULL;
	uint64_t words, addend;

	for (uint64_t i = 0; e->machine == EM_X86_64 && code && i + 8 <= asks->size; i++) {
		if (code[i] != 0x66 || code[i + 1] != 0x48 || code[i + 2] != 0x8d ||
		    code[i + 3] != 0x3d)
			continue;
		words = machine_code_target(code + i + 4, asks->address + i + 8);
		/* Where the dynamic linker puts the number of the file's thread-local storage. */
		return elf_file_relocation(e, words, R_X86_64_DTPMOD64, &addend) ? words : 0;
	}
	return 0;
}

/*
 * The table of symbols, by rb_id2str(), which compares with the last operator and goes on to a
 * function that reads the last symbol's number and the array, the third word of the table:
 *
 *     cmp $number,%rdi; ...; jmp lookup	48 81 ff ... e9
 *     cmp %edi,disp(%rip) or the reverse	39 3d, 3b 3d
 *     mov disp(%rip),%rdi			48 8b 3d
 */
static void find_symbols(struct ruby_process *p, const struct elf_file *e,
			 const struct elf_name *to_text)
{
	uint64_t size = to_text->size, lookup = 0, limit = 0;
	struct cursor c = elf_file_at(e, to_text->address);
	const uint8_t *code = size < 128 ? cursor_bytes(&c, size) : NULL;

	for (uint64_t i = 0; code && i + 7 <= size; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x81 && code[i + 2] == 0xff)
			p->last_operator = (uint16_t)machine_code_u32(code + i + 3);
	if (code && size > 5 && code[size - 5] == 0xe9)
		lookup = machine_code_target(code + size - 4, to_text->address + size);
	c = elf_file_at(e, lookup);
	size = 128;
	code = lookup ? cursor_bytes(&c, size) : NULL;
	for (uint64_t i = 0; code && i + 7 <= size && !p->symbols; i++) {
		/* Any register. */
		if ((code[i] & 0xfd) == 0x39 && (code[i + 1] & 0xc7) == 0x05)
			limit = machine_code_target(code + i + 2, lookup + i + 6);
		else if (limit && code[i] == 0x48 && code[i + 1] == 0x8b &&
			 (code[i + 2] & 0xc7) == 0x05 &&
			 machine_code_target(code + i + 3, lookup + i + 7) == limit + 16)
			p->symbols = limit;
	}
}

/*
 * Since 3.3 the collector counts freed objects for each size that they may have. rb_gc_stat() goes
 * on to a function that subtracts these counts from those of allocated ones, the word before each:
 *
 *     sub disp(%reg),%reg		48 to 4f 2b, 40 to 7f disp8 or 80 to bf disp32
 *
 * The smallest offset is that of the smallest size, which code has.
 */
#define SIZES 5
#define STATISTICS_MAX 8192 /* bytes of that function that are read */

/* The offset if there is such an instruction, whose size is then in `bytes`; 0: another one. */
static uint32_t subtracted(const uint8_t *code, size_t *bytes)
{
	if ((code[0] & 0xf8) != 0x48 || code[1] != 0x2b || (code[2] & 7) == 4)
		return 0;
	*bytes = code[2] >> 6 == 1 ? 4 : 7;
	if (code[2] >> 6 == 1)
		return code[3] & 0x7f;
	return code[2] >> 6 == 2 ? machine_code_u32(code + 3) : 0;
}

static int compare_offsets(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* The first of as many equal distances; 0: there are none. */
static uint32_t first_of_sizes(uint32_t *offsets)
{
	qsort(offsets, SIZES, sizeof(*offsets), compare_offsets);
	for (size_t i = 2; i < SIZES; i++)
		if (offsets[i] - offsets[i - 1] != offsets[1] - offsets[0])
			return 0;
	return offsets[1] - offsets[0] < 64 ? 0 : offsets[0];
}

static uint32_t find_freed_of_sizes(const struct elf_file *e, const struct elf_name *statistics)
{
	const struct code_range asks = { statistics->address,
					 statistics->address + statistics->size };
	const struct code_range counts = machine_code_largest_callee(e, &asks, 1024);
	uint64_t size = counts.end - counts.start;
	struct cursor c = elf_file_at(e, counts.start);
	uint32_t offsets[SIZES], n = 0, freed = 0;
	const uint8_t *code;

	if (size > STATISTICS_MAX)
		size = STATISTICS_MAX;
	code = counts.start ? cursor_bytes(&c, size) : NULL;
	for (size_t i = 0, bytes = 1; code && i + 8 <= size && !freed; i += bytes) {
		bytes = 1;
		offsets[n] = subtracted(code + i, &bytes);
		n = offsets[n] ? n + 1 : 0;
		if (!n)
			bytes = 1;
		else if (n == SIZES) {
			freed = first_of_sizes(offsets);
			n = 0;
		}
	}
	return freed;
}

/*
 * The collector's counts, by rb_gc_count(), which ends with
 *
 *     mov disp(%rax),%rax; mov disp(%rax),%rax; ret	48 8b 80, 48 8b 80, c3
 *
 * and where `machine` is hidden, before that
 *
 *     lea machine(%rip),%rax; mov (%rax),%rax		48 8d 05, 48 8b 00
 *
 * Before 3.3 the word after the one that it returns counts freed objects.
 */
#define ENDS 15
#define BEGINS 10

static void find_collections(struct ruby_process *p, const struct elf_file *e,
			     const struct elf_name *s, bool by_sizes)
{
	uint64_t size = s[COLLECTIONS].size, machine = s[MACHINE].address;
	struct cursor c = elf_file_at(e, s[COLLECTIONS].address);
	const uint8_t *code = size >= ENDS && size < 128 ? cursor_bytes(&c, size) : NULL;
	const uint8_t *end = code ? code + size - ENDS : NULL;
	uint32_t collector, collections, freed;

	if (!end || memcmp(end, "\x48\x8b\x80", 3) != 0 ||
	    memcmp(end + 7, "\x48\x8b\x80", 3) != 0 || end[14] != 0xc3)
		return;
	if (!machine && size >= ENDS + BEGINS && !memcmp(end - 10, "\x48\x8d\x05", 3) &&
	    !memcmp(end - 3, "\x48\x8b\x00", 3))
		machine = machine_code_target(end - 7, s[COLLECTIONS].address + size - ENDS - 3);
	collector = machine_code_u32(end + 3);
	collections = machine_code_u32(end + 10);
	freed = by_sizes ? find_freed_of_sizes(e, &s[STATISTICS]) : collections + 8;
	if (!machine || !freed || collector > UINT16_MAX || collections > UINT16_MAX - 8 ||
	    freed > UINT16_MAX)
		return;
	p->machine = machine;
	p->collector = (uint16_t)collector;
	p->collections = (uint16_t)collections;
	p->freed = (uint16_t)freed;
}

/*
 * The loop is a function of its own, larger than its only caller, unless the compiler has put it
 * into that.
 */
#define CORE_LEAST 8192

/*
 * Where rb_vm_exec() is hidden, as since 3.3: vm_exec_core() is what
 * rb_vm_get_insns_address_table() calls without a thread, and nobody else calls it.
 *
 *     xor %edi,%edi; jmp vm_exec_core		31 ff e9
 */
static void find_hidden_loop(struct elf_name *loop, const struct elf_file *e)
{
	struct code_range core, caller;

	if (loop->address)
		return;
	core = machine_code_jumped_to(e, "\x31\xff", 2, CORE_LEAST);
	caller = core.start ? machine_code_only_caller(e, &core) : core;
	loop->address = caller.start;
	loop->size = caller.end - caller.start;
}

static void find_loop(struct ruby_process *p, const struct elf_file *e, const struct elf_name *s)
{
	const struct code_range loop = { s[LOOP].address, s[LOOP].address + s[LOOP].size };
	const struct code_range core = machine_code_largest_callee(e, &loop, CORE_LEAST);
	struct code_range cold = machine_code_cold(e, &loop, &s[LOOP_COLD]);

	machine_code_put_ranges(p->evaluation, &loop, &cold);
	if (!core.start || core.end - core.start <= loop.end - loop.start)
		return;
	cold = machine_code_cold(e, &core, &s[CORE_COLD]);
	machine_code_put_ranges(p->core, &core, &cold);
}

const char *ruby_file_read(struct ruby_process *p, const struct elf_file *e)
{
	struct elf_name symbols[SYMBOLS];
	const struct layout *layout;

	*p = (struct ruby_process){ 0 };
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i].name = symbol_names[i];
	elf_names_find(e, symbols, SYMBOLS);
	layout = find_layout(e, &symbols[VERSION_TEXT]);
	if (!layout)
		return "a version of Ruby that is not known";
	p->storage = find_storage(e, &symbols[ERROR_INFO]);
	find_symbols(p, e, &symbols[SYMBOL_TEXT]);
	if (!p->storage)
		return "the state of its threads is not where it is looked for";
	find_hidden_loop(&symbols[LOOP], e);
	if (!symbols[LOOP].address || !p->symbols)
		return "it hides its symbols";
	find_loop(p, e, symbols);
	find_collections(p, e, symbols, layout->counts_by_size);
	p->frame_bytes = layout->frame_bytes;
	p->body_lines = layout->body_lines;
	p->line_bytes = layout->line_bytes;
	p->first_line_shift = layout->first_line_shift;
	p->text = (uint8_t)layout->text;
	return NULL;
}
