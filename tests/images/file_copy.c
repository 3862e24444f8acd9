/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/images/file_copy.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/runtimes/elf_names.h"
#include "record/runtimes/machine_code.h"
#include "record/unwind/cfi.h"
#include "tests/images/image.h"

#define PAGE 4096
#define SYMBOLS_MAX 256

void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "make_image: %s\n", what);
	exit(1);
}

/* -------- symbols that are asked for -------- */

static struct elf_name asked[SYMBOLS_MAX];
static size_t asked_count;

void __real_elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n);
void __real_elf_names_span(const struct elf_file *e, struct elf_name *name);
bool __real_elf_names_has(const struct elf_file *e, const char *name);
void __wrap_elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n);
void __wrap_elf_names_span(const struct elf_file *e, struct elf_name *name);
bool __wrap_elf_names_has(const struct elf_file *e, const char *name);

static void note_name(const struct elf_name *name)
{
	for (size_t i = 0; i < asked_count; i++)
		if (!strcmp(asked[i].name, name->name))
			return;
	must(asked_count < SYMBOLS_MAX, "too many symbols");
	if (name->address)
		asked[asked_count++] = *name;
}

void __wrap_elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n)
{
	__real_elf_names_find(e, names, n);
	for (size_t i = 0; i < n; i++)
		note_name(&names[i]);
}

void __wrap_elf_names_span(const struct elf_file *e, struct elf_name *name)
{
	__real_elf_names_span(e, name);
	note_name(name);
}

bool __wrap_elf_names_has(const struct elf_file *e, const char *name)
{
	struct elf_name found = { .name = name };
	bool has = __real_elf_names_has(e, name);

	if (has)
		__real_elf_names_find(e, &found, 1);
	note_name(&found);
	return has;
}

/* -------- the runtime's file -------- */

static uint8_t *copy;
static size_t copy_size; /* of the mapping of the copy */
static bool *touched;	 /* pages of it */

uint8_t *file_copy_read(int fd, size_t *file_size)
{
	struct stat status;
	size_t size = 0;
	ssize_t n;

	must(!fstat(fd, &status), "the runtime's file cannot be read");
	copy_size = ((size_t)status.st_size / PAGE + 16) * PAGE; /* and room for symbols */
	copy = mmap(NULL, copy_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(copy != MAP_FAILED, "no memory");
	while ((n = pread(fd, copy + size, (size_t)status.st_size - size, (off_t)size)) > 0)
		size += (size_t)n;
	must(size == (size_t)status.st_size, "the runtime's file cannot be read");
	*file_size = size;
	return copy;
}

static Elf64_Shdr *section_header(const struct elf_file *e, const struct elf_section *section)
{
	return (Elf64_Shdr *)(copy + ((Elf64_Ehdr *)copy)->e_shoff) + (section - e->sections);
}

static void move_section(const struct elf_file *e, const struct elf_section *s, uint64_t offset,
			 uint64_t size)
{
	if (!s)
		return;
	section_header(e, s)->sh_offset = offset;
	section_header(e, s)->sh_size = size;
}

static void move_symbols(const struct elf_file *e, const char *name, const uint64_t place[4])
{
	const struct elf_section *s = elf_file_section(e, name);

	if (!s)
		return;
	move_section(e, s, place[0], place[1]);
	move_section(e, &e->sections[s->link], place[2], place[3]);
}

/* Has the file's symbol tables hold only what was asked for. Its new size. */
static size_t keep_asked_symbols(size_t size)
{
	Elf64_Sym *symbols;
	struct elf_file e;
	uint64_t place[4] = { (size + 15) / 16 * 16, (asked_count + 1) * sizeof(*symbols) };
	char *text;

	must(!elf_file_open_memory(&e, copy, size), "the runtime's file is no ELF file");
	symbols = (Elf64_Sym *)(copy + place[0]);
	place[2] = place[0] + place[1];
	text = (char *)copy + place[2];
	place[3] = 1;
	for (size_t i = 0; i < asked_count; i++) {
		must(place[2] + place[3] + 256 < copy_size, "too many symbols");
		symbols[i + 1] = (Elf64_Sym){ .st_name = (Elf64_Word)place[3],
					      .st_shndx = 1,
					      .st_value = asked[i].address,
					      .st_size = asked[i].size };
		strcpy(text + place[3], asked[i].name);
		text[place[3] + strcspn(text + place[3], "*")] = 0;
		place[3] += strlen(asked[i].name) + 1;
	}
	move_symbols(&e, ".dynsym", place);
	move_symbols(&e, ".symtab", place);
	move_section(&e, elf_file_section(&e, ".gnu.hash"), place[0], 0);
	elf_file_release(&e);
	return place[2] + place[3];
}

/* Only which functions there are is asked for: what their rows say is replaced by DW_CFA_nop. */
static void blank_rows(size_t size)
{
	const struct elf_section *section;
	struct elf_file e;
	struct cfi cfi;

	must(!elf_file_open_memory(&e, copy, size), "the runtime's file is no ELF file");
	section = elf_file_section(&e, ".eh_frame");
	if (section && !cfi_open(&cfi, elf_section_data(&e, section), section->address, false)) {
		for (size_t i = 0; i < cfi.fde_count; i++)
			memset(copy + section->offset + cfi.fdes[i].at, 0, cfi.fdes[i].size);
		cfi_release(&cfi);
	}
	elf_file_release(&e);
}

static void touch(int number, siginfo_t *info, void *context)
{
	size_t at = (size_t)((uint8_t *)info->si_addr - copy);

	if (at >= copy_size || touched[at / PAGE])
		_exit(139);
	touched[at / PAGE] = true;
	mprotect(copy + at / PAGE * PAGE, PAGE, PROT_READ);
}

size_t file_copy_watch(size_t size)
{
	struct sigaction action = { .sa_sigaction = touch, .sa_flags = SA_SIGINFO };

	size = keep_asked_symbols(size);
	blank_rows(size);
	touched = calloc(copy_size / PAGE, sizeof(*touched));
	must(touched && !sigaction(SIGSEGV, &action, NULL) && !mprotect(copy, copy_size, PROT_NONE),
	     "the file cannot be watched");
	return size;
}

void file_copy_unwatch(void)
{
	signal(SIGSEGV, SIG_DFL);
	mprotect(copy, copy_size, PROT_READ);
}

/* -------- code that is searched for what leads to a place -------- */

struct code_range __real_machine_code_jumped_to(const struct elf_file *e, const void *bytes,
						size_t n, uint64_t least);
struct code_range __real_machine_code_only_caller(const struct elf_file *e,
						  const struct code_range *function);
struct code_range __wrap_machine_code_jumped_to(const struct elf_file *e, const void *bytes,
						size_t n, uint64_t least);
struct code_range __wrap_machine_code_only_caller(const struct elf_file *e,
						  const struct code_range *function);

/* All of it may be read, and no page is noted, until keep_jumps(). */
static void show(void)
{
	if (touched)
		mprotect(copy, copy_size, PROT_READ);
}

/* Keeps the instructions that begin so and lead there, and all else only as far as it was touched.
 */
static void keep_jumps(const struct elf_file *e, const char *bytes, uint64_t to)
{
	size_t n = strlen(bytes);

	if (!touched)
		return;
	for (size_t i = 0; i + n + 4 <= e->size; i++) {
		uint64_t address;

		if (memcmp(copy + i, bytes, n) != 0 ||
		    !elf_file_offset_to_address(e, i + n + 4, &address) ||
		    machine_code_target(copy + i + n, address) != to)
			continue;
		touched[i / PAGE] = touched[(i + n + 3) / PAGE] = true;
	}
	for (size_t page = 0; page < copy_size / PAGE; page++)
		if (!touched[page])
			mprotect(copy + page * PAGE, PAGE, PROT_NONE);
}

struct code_range __wrap_machine_code_jumped_to(const struct elf_file *e, const void *bytes,
						size_t n, uint64_t least)
{
	struct code_range found;
	char jump[8] = "";

	show();
	found = __real_machine_code_jumped_to(e, bytes, n, least);
	memcpy(jump, bytes, n);
	jump[n] = '\xe9';
	keep_jumps(e, jump, found.start);
	return found;
}

struct code_range __wrap_machine_code_only_caller(const struct elf_file *e,
						  const struct code_range *function)
{
	struct code_range found;

	show();
	found = __real_machine_code_only_caller(e, function);
	keep_jumps(e, "\xe8", function->start);
	return found;
}

void file_copy_write(struct buffer *raw, size_t size)
{
	static const uint8_t zeros[IMAGE_BLOCK];
	struct buffer blocks = { 0 };
	uint64_t count = 0;

	for (uint64_t n = 0; n <= size / IMAGE_BLOCK; n++) {
		const uint8_t *bytes = copy + n * IMAGE_BLOCK;

		if (!touched[n * IMAGE_BLOCK / PAGE] || !memcmp(bytes, zeros, IMAGE_BLOCK))
			continue;
		buffer_u64(&blocks, n);
		buffer_append(&blocks, bytes, IMAGE_BLOCK);
		count++;
	}
	buffer_u64(raw, size);
	buffer_u64(raw, count);
	buffer_append(raw, blocks.data, blocks.size);
	buffer_release(&blocks);
}
