/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwind_table.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "common/limits.h"
#include "record/unwind/code_patterns.h"
#include "record/unwind/unwind_arch.h"

#define RETURN_COLUMN (ARCH_MACHINE == EM_X86_64 ? 16 : 30)

/* What libdw says of a pc, in our terms. False: it has nothing there. */
static bool ask_libdw(Dwarf_CFI *cfi, uint64_t pc, struct cfi_row *row)
{
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	size_t n;

	*row = (struct cfi_row){ .cfa = CFI_CFA_OTHER };
	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	dwarf_frame_info(frame, NULL, NULL, &row->signal);
	if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1 && ops[0].atom >= DW_OP_breg0 &&
	    ops[0].atom <= DW_OP_breg31) {
		row->cfa = CFI_CFA_REGISTER;
		row->reg = ops[0].atom - DW_OP_breg0;
		row->offset = (int64_t)ops[0].number;
	} else if (n == 1 && ops[0].atom == DW_OP_bregx) {
		row->cfa = CFI_CFA_REGISTER;
		row->reg = (uint32_t)ops[0].number;
		row->offset = (int64_t)ops[0].number2;
	}
	row->ra.place = CFI_OTHER;
	if (!dwarf_frame_register(frame, RETURN_COLUMN, memory, &ops, &n)) {
		if (n == 0 && ops == memory)
			row->ra.place = CFI_UNDEFINED;
		else if (n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
			 ops[1].atom == DW_OP_plus_uconst)
			row->ra = (struct cfi_saved){ CFI_AT_CFA, (int64_t)ops[1].number };
	}
	free(frame);
	return true;
}

static bool agrees(const struct unwind_rule *rule, const struct cfi_row *libdw)
{
	int kind;

	if (rule->kind == UNWIND_CONTEXT || rule->kind == UNWIND_SP_OR_HANDLER)
		return true; /* where it is wrong; other tests see to it */
	if (libdw->signal)
		return rule->kind == UNWIND_SIGNAL;
	if (libdw->ra.place == CFI_UNDEFINED)
		return rule->kind == UNWIND_END;
	if (libdw->cfa != CFI_CFA_REGISTER)
		return rule->kind != UNWIND_CFA_SP && rule->kind != UNWIND_CFA_FP;
	kind = libdw->reg == ARCH_REGISTER_SP	? UNWIND_CFA_SP
	       : libdw->reg == ARCH_REGISTER_FP ? UNWIND_CFA_FP
						: -1;
	if (kind < 0)
		return true; /* hand-written code; other tests see to it */
	if (libdw->ra.place != CFI_AT_CFA)
		return rule->kind == UNWIND_UNSUPPORTED || rule->flags == UNWIND_RA_FROM_REGISTER ||
		       (ARCH_LINK_REGISTER && rule->ra_word == UNWIND_IN_REGISTER);
	if (ARCH_LINK_REGISTER && libdw->ra.offset == 8) /* not the caller's words, but pushed */
		return rule->kind == kind && rule->cfa_offset == libdw->offset + 16 &&
		       rule->read_offset + 8 * rule->ra_word == -8;
	return rule->kind == kind && rule->cfa_offset == libdw->offset &&
	       rule->read_offset + 8 * rule->ra_word == libdw->ra.offset;
}

/* The rule that holds at a link-time address, found as the kernel half does. */
static const struct unwind_rule *find_rule(const struct unwind_table *t, uint64_t address)
{
	uint64_t offset = address - t->base;
	uint32_t key = (uint32_t)(offset & ((1u << UNWIND_PAGE_BITS) - 1)) << 16 | 0xffff;
	const uint32_t *rows;
	uint32_t n;

	if (offset >> UNWIND_PAGE_BITS >= t->page_count ||
	    !t->pages[offset >> UNWIND_PAGE_BITS].rows)
		return &t->rules.rules[UNWIND_NONE];
	rows = t->rows + t->pages[offset >> UNWIND_PAGE_BITS].first;
	for (n = t->pages[offset >> UNWIND_PAGE_BITS].rows; n > 1; n -= n / 2)
		if (rows[n / 2] <= key)
			rows += n / 2;
	return &t->rules.rules[*rows & 0xffff];
}

/* Every row of the file, at its first byte and in its middle, against libdw. */
static void compare_with_libdw(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t compared = 0, wrong = 0;
	struct unwind_table t;
	struct elf_file e;
	Dwarf_CFI *cfi;
	Elf *elf;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (uint32_t page = 0; page < t.page_count; page++) {
		for (uint32_t i = 0; i < t.pages[page].rows; i++) {
			uint64_t pc = t.base + ((uint64_t)page << UNWIND_PAGE_BITS) +
				      (t.rows[t.pages[page].first + i] >> 16);
			const struct unwind_rule *rule = find_rule(&t, pc);
			struct cfi_row row;

			/* All of the entry point is outermost, from its first instruction on. */
			if (rule->kind == UNWIND_NONE || pc == e.entry || !ask_libdw(cfi, pc, &row))
				continue;
			compared++;
			if (!agrees(rule, &row) && wrong++ < 5)
				fprintf(stderr,
					"%s: 0x%llx: rule kind %d offset %d; libdw reg %u offset "
					"%lld\n",
					path, (unsigned long long)pc, rule->kind, rule->cfa_offset,
					row.reg, (long long)row.offset);
		}
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	unwind_table_release(&t);
	elf_file_release(&e);
	assert_true(compared > 100);
	assert_int_equal(wrong, 0);
}

static void test_own_binary_against_libdw(void **state)
{
	compare_with_libdw("/proc/self/exe");
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	if (strstr(info->dlpi_name, "/libc.so"))
		snprintf(context, PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

static void test_libc_against_libdw(void **state)
{
	char path[PATH_MAX] = "";

	dl_iterate_phdr(find_libc, path);
	if (!*path)
		skip();
	compare_with_libdw(path);
}

static void __attribute__((noinline)) some_function(void)
{
	__asm__ volatile("");
}

static int own_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	*(uint64_t *)context = info->dlpi_addr;
	return 1; /* the program comes first */
}

/* Opens this program's file; returns by how much its addresses are moved in memory. */
static uint64_t open_own(struct elf_file *e)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t bias = 0;

	dl_iterate_phdr(own_bias, &bias);
	assert_int_equal(elf_file_open(e, fd), ELF_OK);
	close(fd);
	return bias;
}

static void test_finds_a_function(void **state)
{
	struct unwind_table t;
	struct elf_file e;
	uint64_t bias = open_own(&e);

	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	elf_file_release(&e);
	assert_int_equal(find_rule(&t, (uintptr_t)some_function - bias)->kind, UNWIND_CFA_SP);
	assert_int_equal(find_rule(&t, UINT64_MAX)->kind, UNWIND_NONE);
	unwind_table_release(&t);
}

static void test_limit_of_rows(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table t;
	struct elf_file e;

	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	close(fd);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 10 }),
		UNWIND_TABLE_TOO_LARGE);
	assert_null(t.rows);
	assert_true(t.segment_count > 0);
	unwind_table_release(&t);
	elf_file_release(&e);
}

/* Code without unwind information, three gigabytes of it, while nobody wants the table any more. */
static void test_stopped(void **state)
{
	const uint64_t size = UINT64_C(3) << 30;
	const Elf64_Phdr code = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = size
	};
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_machine = ARCH_MACHINE,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(code),
		.e_phnum = 1,
		.e_ehsize = sizeof(header),
	};
	int fd = memfd_create("code", MFD_CLOEXEC);
	atomic_bool stop = true;
	struct unwind_table t;
	struct elf_file e;

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &code, sizeof(code), sizeof(header)), sizeof(code));
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	close(fd);
	assert_int_equal(unwind_table_build(&t, &(struct unwind_source){ .file = &e,
									 .max_rows = SIZE_MAX,
									 .stop = &stop }),
			 UNWIND_TABLE_STOPPED);
	assert_null(t.rows);
	unwind_table_release(&t);
	elf_file_release(&e);
}

/* It has far more rows: that it ends before them shows that it does not read on. */
static void test_stopped_among_rows(void **state)
{
	atomic_bool stop = true;
	struct unwind_table t;
	struct elf_file e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	close(fd);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 200 }),
		UNWIND_TABLE_TOO_LARGE);
	assert_int_equal(
		unwind_table_build(
			&t, &(struct unwind_source){ .file = &e, .max_rows = 200, .stop = &stop }),
		UNWIND_TABLE_STOPPED);
	elf_file_release(&e);
}

static void test_file_without_code(void **state)
{
	static const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_machine = ARCH_MACHINE,
	};
	struct unwind_table t;
	struct elf_file e;

	assert_int_equal(elf_file_open_memory(&e, &header, sizeof(header)), ELF_OK);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_NO_CODE);
	unwind_table_release(&t);
	elf_file_release(&e);
}

/* A file of one segment of code, which begins with its headers; all else is a hole. */
static int build_of_hole(uint64_t code_bytes)
{
	const struct {
		Elf64_Ehdr header;
		Elf64_Phdr code;
	} head = { { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		     .e_type = ET_DYN,
		     .e_machine = EM_X86_64,
		     .e_version = EV_CURRENT,
		     .e_phoff = sizeof(Elf64_Ehdr),
		     .e_phentsize = sizeof(Elf64_Phdr),
		     .e_phnum = 1 },
		   { .p_type = PT_LOAD,
		     .p_flags = PF_R | PF_X,
		     .p_filesz = code_bytes,
		     .p_memsz = code_bytes } };
	int fd = memfd_create("hole", MFD_CLOEXEC), status;
	struct unwind_table t;
	struct elf_file e;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
	assert_int_equal(ftruncate(fd, (off_t)code_bytes), 0);
	assert_int_equal(elf_file_open(&e, fd), 0);
	status = unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 1 << 20 });
	unwind_table_release(&t);
	elf_file_release(&e);
	close(fd);
	return status;
}

static void test_holes_are_not_analysed(void **state)
{
#ifndef __x86_64__
	skip(); /* code is analysed on x86-64 only */
#endif
	assert_int_equal(build_of_hole(1 << 20), UNWIND_TABLE_OK);
	assert_int_equal(build_of_hole(LIMIT_ANALYSED_BYTES + 4096), UNWIND_TABLE_NO_INFO);
}

/*
 * A segment of code that is a hole, where a section says that only some bytes of it are code: the
 * others are not read. A page that is read is one that the file has from then on.
 */
static void test_only_code_is_read(void **state)
{
	const struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[2];
	} head = { { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		     .e_type = ET_DYN,
		     .e_machine = ARCH_MACHINE,
		     .e_version = EV_CURRENT,
		     .e_phoff = offsetof(typeof(head), segment),
		     .e_phentsize = sizeof(Elf64_Phdr),
		     .e_phnum = 1,
		     .e_shoff = offsetof(typeof(head), sections),
		     .e_shentsize = sizeof(Elf64_Shdr),
		     .e_shnum = 2 },
		   { .p_type = PT_LOAD,
		     .p_flags = PF_R | PF_X,
		     .p_offset = 4096,
		     .p_filesz = 64 << 20,
		     .p_memsz = 64 << 20 },
		   { { 0 },
		     { .sh_type = SHT_PROGBITS,
		       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		       .sh_addr = 4096,
		       .sh_offset = 8192,
		       .sh_size = 64 } } };
	int fd = memfd_create("hole", MFD_CLOEXEC);
	struct unwind_table t;
	struct elf_file e;
	struct stat now;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
	assert_int_equal(ftruncate(fd, 65 << 20), 0);
	assert_int_equal(elf_file_open(&e, fd), 0);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 1 << 20 }),
		UNWIND_TABLE_NO_INFO);
	assert_int_equal(fstat(fd, &now), 0);
	assert_true(now.st_blocks * 512 < 8 << 20);
	unwind_table_release(&t);
	elf_file_release(&e);
	close(fd);
}

#define FAR (256u << 20)

/*
 * One function of FAR bytes, all of them a hole, whose last rule is that of an exception's way to
 * its handler. The search for the instructions before it must not go through all of them: a page
 * that is read is one that the file has from then on.
 */
static void test_search_for_a_handler_ends(void **state)
{
	static const uint8_t frames[] = {
		20,   0, 0,    0,    0,	   0,	 0, 0, 1, 0, 1, 0x78, 16, /* CIE: code by 1, data by
									     -8, rip */
		0x0c, 7, 8,    0x90, 1,	   0,	 0, 0, 0, 0, 0, /* CFA rsp + 8, rip there */
		28,   0, 0,    0,    28,   0,	 0, 0,		/* FDE of that CIE */
		0,    0, 0x10, 0,    0,	   0,	 0, 0, 0, 0, 0, 0x10, 0,  0,
		0,    0,			       /* from 1 MiB, FAR bytes */
		4,    0, 0,    0xff, 0x0f, 0x0c, 2, 8, /* 64 KiB before its end: CFA rcx + 8 */
	};
	const struct fixture_section sections[] = { { ".eh_frame", SHF_ALLOC, frames,
						      sizeof(frames), SHT_PROGBITS } };
	const Elf64_Phdr code = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_offset = 1 << 20,
				  .p_vaddr = 1 << 20,
				  .p_filesz = FAR,
				  .p_memsz = FAR };
	int fd = memfd_create("far", MFD_CLOEXEC);
	struct buffer b = { 0 };
	struct unwind_table t;
	struct elf_file e;
	struct stat now;

#ifndef __x86_64__
	skip();
#endif
	fixture_elf(&b, sections, 1);
	((Elf64_Ehdr *)b.data)->e_phoff = b.size;
	((Elf64_Ehdr *)b.data)->e_phnum = 1;
	buffer_append(&b, &code, sizeof(code));
	assert_int_equal(write(fd, b.data, b.size), b.size);
	assert_int_equal(ftruncate(fd, FAR + (2 << 20)), 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 1 << 20 }),
		UNWIND_TABLE_OK);
	assert_int_equal(find_rule(&t, 1 << 20)->kind, UNWIND_CFA_SP);
	assert_int_equal(find_rule(&t, FAR + (1 << 20) - 1)->kind, UNWIND_CFA_REGISTER);
	assert_int_equal(fstat(fd, &now), 0);
	assert_true(now.st_blocks * 512 < 1 << 20);
	unwind_table_release(&t);
	elf_file_release(&e);
	buffer_release(&b);
	close(fd);
}

/* .eh_frame of a function whose rows say `n` times that the handler of an exception is entered. */
static void add_handlers(struct buffer *frames, uint64_t start, uint64_t length, size_t n)
{
	const bool x86 = ARCH_MACHINE == EM_X86_64;
	/* Code by 1, data by -8; a large frame, in which the return address comes first. */
	const uint8_t cie[24] = { [0] = 20,
				  [8] = 1,
				  [10] = 1,
				  [11] = 0x78,
				  [12] = x86 ? 16 : 30,
				  [13] = 0x0c,
				  [14] = x86 ? 7 : 31,
				  [15] = 0x80,
				  [16] = 0x10,
				  [17] = x86 ? 0x90 : 0,
				  [18] = x86 };
	/* Four bytes on, the row of the end; after four more one with a large frame again. */
	const uint8_t once[] = { 0x44, 0x0c,	     x86 ? 2 : 31, x86 ? 8 : 0, 0x44,
				 0x0c, x86 ? 7 : 31, 0x80,	   0x10 };
	const uint32_t fde[] = { (uint32_t)(20 + n * sizeof(once)), 28 };
	const uint64_t range[] = { start, length };

	buffer_append(frames, cie, sizeof(cie));
	buffer_append(frames, fde, sizeof(fde));
	buffer_append(frames, range, sizeof(range));
	for (size_t i = 0; i < n; i++)
		buffer_append(frames, once, sizeof(once));
}

/* Of a file with such a function, whose instructions do not contradict. */
static int build_of_handlers(size_t n)
{
	static const uint32_t code[] = { 0xd65f03c0, 0x8b2463ff }; /* ret; add sp,sp,x4 */
	const uint64_t place = 1 << 16, length = 8 * n + 16;
	const Elf64_Phdr segment = { .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = place,
				     .p_vaddr = place,
				     .p_filesz = length,
				     .p_memsz = length };
	struct buffer frames = { 0 }, b = { 0 };
	struct fixture_section section = { .name = ".eh_frame", .flags = SHF_ALLOC };
	struct unwind_table t;
	struct elf_file e;
	int status;

	add_handlers(&frames, place, length, n);
	section.data = frames.data;
	section.size = frames.size;
	fixture_elf(&b, &section, 1);
	((Elf64_Ehdr *)b.data)->e_machine = ARCH_MACHINE;
	((Elf64_Ehdr *)b.data)->e_phoff = b.size;
	((Elf64_Ehdr *)b.data)->e_phnum = 1;
	buffer_append(&b, &segment, sizeof(segment));
	assert_true(b.size <= place);
	while (b.size < place)
		buffer_append(&b, "", 1);
	for (uint64_t at = 0; at < length; at += sizeof(code))
		buffer_append(&b, code, sizeof(code));
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	status = unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = 1 << 20 });
	unwind_table_release(&t);
	elf_file_release(&e);
	buffer_release(&b);
	buffer_release(&frames);
	return status;
}

static void test_limit_of_handlers(void **state)
{
	assert_int_equal(build_of_handlers(LIMIT_HANDLER_SEARCHES), UNWIND_TABLE_OK);
	assert_int_equal(build_of_handlers(LIMIT_HANDLER_SEARCHES + 1), UNWIND_TABLE_LIMIT);
}

/* As glibc's entry point on arm64: only its second instruction says that nothing called it. */
#ifdef __x86_64__
#define RETURN_ADDRESS "rip"
#else
#define RETURN_ADDRESS "x30"
#endif
__asm__(".pushsection .text\n"
	".type begins, %function\n"
	"begins: .cfi_startproc\n"
	"	nop\n"
	"	.cfi_undefined " RETURN_ADDRESS "\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size begins, .-begins\n"
	".popsection\n");
void begins(void);

static int kind_of_begins(bool is_entry)
{
	struct unwind_table t;
	struct elf_file e;
	uint64_t bias = open_own(&e);
	int kind;

	if (is_entry)
		e.entry = (uintptr_t)begins - bias;
	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	elf_file_release(&e);
	kind = find_rule(&t, (uintptr_t)begins - bias)->kind;
	assert_int_equal(
		find_rule(&t, (uintptr_t)begins - bias + (ARCH_MACHINE == EM_X86_64 ? 1 : 4))->kind,
		UNWIND_END);
	unwind_table_release(&t);
	return kind;
}

static void test_entry_is_outermost(void **state)
{
	assert_int_equal(kind_of_begins(true), UNWIND_END);
	assert_int_equal(kind_of_begins(false), UNWIND_CFA_SP);
}

/*
 * The instructions by which libgcc enters an exception's handler (test_exception_return). Addresses
 * of local symbols would be those of their section on arm64 (binutils 2.40).
 */
__asm__(".globl throws_before, throws_copies, throws_copied, throws_leaves, throws_after");
#ifdef __x86_64__
__asm__(".pushsection .text\n"
	"throws: .cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp,-16\n"
	"	mov %rsp,%rbp\n"
	"	.cfi_def_cfa_register rbp\n"
	"throws_before: nop\n"
	"throws_copies: call throws\n"
	"	mov -0x98(%rbp),%rsi\n"
	"	mov -0xa0(%rbp),%rdi\n"
	"throws_copied: mov 0(%rbp),%rbp\n"
	"	.cfi_def_cfa rcx,8\n"
	"throws_leaves: mov %rcx,%rsp\n"
	"	.cfi_def_cfa rbp,16\n"
	"throws_after: ret\n"
	"	.cfi_endproc\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	"throws: .cfi_startproc\n"
	"	sub sp,sp,#2128\n"
	"	.cfi_def_cfa_offset 2128\n"
	"	stp x29,x30,[sp]\n"
	"	.cfi_offset 29,-2128\n"
	"	.cfi_offset 30,-2120\n"
	"	mov x29,sp\n"
	"throws_before: nop\n"
	"	ldp x29,x30,[sp]\n"
	"	add sp,sp,#2128\n"
	"	.cfi_remember_state\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa_offset 0\n"
	"throws_leaves: add sp,sp,x4\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"	nop\n"
	"throws_copies: bl throws\n"
	"	ldr x0,[sp,#1952]\n"
	"	ldr x1,[sp,#1960]\n"
	"	str x1,[x29,#8]\n"
	"throws_copied: b throws_before + 4\n"
	"throws_after: ret\n"
	"	.cfi_endproc\n"
	".popsection\n");
#endif
void throws_before(void), throws_copies(void), throws_copied(void), throws_leaves(void),
	throws_after(void);

static void test_way_to_a_handler(void **state)
{
	struct unwind_table t;
	struct elf_file e;
	uint64_t bias = open_own(&e);
	int usual = ARCH_MACHINE == EM_X86_64 ? UNWIND_CFA_FP : UNWIND_CFA_SP;

	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	elf_file_release(&e);
	assert_int_equal(find_rule(&t, (uintptr_t)throws_before - bias)->kind, usual);
	assert_int_equal(find_rule(&t, (uintptr_t)throws_copies - 1 - bias)->kind, usual);
	assert_int_equal(find_rule(&t, (uintptr_t)throws_copies - bias)->kind, UNWIND_CONTEXT);
	assert_int_equal(find_rule(&t, (uintptr_t)throws_copied - bias)->kind, UNWIND_CONTEXT);
	if (ARCH_MACHINE == EM_X86_64) {
		assert_int_equal(find_rule(&t, (uintptr_t)throws_leaves - bias)->flags,
				 UNWIND_TO_HANDLER);
	} else {
		assert_int_equal(find_rule(&t, (uintptr_t)throws_before + 4 - bias)->kind,
				 UNWIND_SP_OR_HANDLER);
		assert_int_equal(find_rule(&t, (uintptr_t)throws_leaves - bias)->kind,
				 UNWIND_SP_OR_HANDLER);
		assert_int_equal(find_rule(&t, (uintptr_t)throws_leaves + 4 - bias)->flags,
				 UNWIND_TO_HANDLER);
	}
	assert_int_equal(find_rule(&t, (uintptr_t)throws_after - bias)->kind, usual);
	assert_int_equal(find_rule(&t, (uintptr_t)throws_after - bias)->flags, 0);
	unwind_table_release(&t);
}

#ifdef __aarch64__
/* As _dl_runtime_resolve, which the first entry of a linkage table has pushed two words for. */
__asm__(".pushsection .text\n"
	".globl resolves, resolves_pushed\n"
	"resolves: .cfi_startproc\n"
	"	nop\n"
	"	.cfi_offset 30,8\n"
	"resolves_pushed: nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".popsection\n");
void resolves(void), resolves_pushed(void);

static void test_pushed_by_the_linkage_table(void **state)
{
	const struct elf_section *plt;
	const struct unwind_rule *rule;
	struct unwind_table t;
	struct elf_file e;
	uint64_t bias = open_own(&e), address;

	assert_int_equal(
		unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	rule = find_rule(&t, (uintptr_t)resolves - bias);
	assert_int_equal(rule->cfa_offset, 16);
	assert_int_equal(rule->ra_word, UNWIND_IN_REGISTER);
	rule = find_rule(&t, (uintptr_t)resolves_pushed - bias);
	assert_int_equal(rule->cfa_offset, 16);
	assert_int_equal(rule->read_offset + 8 * rule->ra_word, -8);
	/* In the table itself; that of a program with BTI begins with one more instruction. */
	plt = elf_file_section(&e, ".plt");
	assert_non_null(plt);
	address = plt->address;
	elf_file_release(&e);
	assert_int_equal(find_rule(&t, address)->kind, UNWIND_CFA_SP);
	assert_int_equal(find_rule(&t, address)->cfa_offset, 0);
	assert_int_equal(find_rule(&t, address + 8)->cfa_offset, 16);
	assert_int_equal(find_rule(&t, address + 31)->cfa_offset, 16);
	assert_int_equal(find_rule(&t, address + 32)->cfa_offset, 0);
	assert_int_equal(find_rule(&t, address + 8)->ra_word, UNWIND_IN_REGISTER);
	unwind_table_release(&t);
}
#endif

/* Whether glibc's __start_context is known when it begins with these bytes. */
static bool begins_stack(const void *bytes, size_t size)
{
#ifdef __x86_64__
	static const uint8_t start_context[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
						 0x24, 0x48, 0x85, 0xff, 0x74, 0x08 };
#else
	static const uint32_t start_context[] = { 0xaa1303e0, 0xb5fff9c0, 0x17fff552 };
#endif
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t code[32];
	} file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_machine = ARCH_MACHINE,
			    .e_phoff = sizeof(file.header),
			    .e_phentsize = sizeof(file.segment),
			    .e_phnum = 1,
			    .e_ehsize = sizeof(file.header) },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_vaddr = 0x1000,
			     .p_offset = offsetof(typeof(file), code),
			     .p_filesz = size + sizeof(start_context),
			     .p_memsz = size + sizeof(start_context) },
	};
	struct elf_file e;
	bool begins;

	memcpy(file.code, bytes, size);
	memcpy(file.code + size, start_context, sizeof(start_context));
	assert_int_equal(elf_file_open_memory(&e, &file, sizeof(file)), ELF_OK);
	begins = code_begins_stack(&e, 0x1000, size + sizeof(start_context));
	elf_file_release(&e);
	return begins;
}

static void test_begins_stack(void **state)
{
	assert_true(begins_stack("", 0));
#ifdef __x86_64__
	assert_true(begins_stack("\xf3\x0f\x1e\xfa", 4));
	assert_false(begins_stack("\x90", 1));
#else
	assert_true(begins_stack("\x1f\x20\x03\xd5", 4));
	assert_true(begins_stack("\x5f\x24\x03\xd5", 4));
	assert_false(begins_stack("\xe0\x03\x13\xaa", 4));
	assert_false(begins_stack("\x1f\x20\x03\xd5\x1f\x20\x03\xd5", 8));
#endif
}

#ifdef __x86_64__
/* Two segments of code; the second one begins with a signal trampoline, or after such a byte. */
static void build_with_trampoline(struct unwind_table *t, uint8_t before)
{
	static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		uint8_t code[0x10020];
	} file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_machine = ARCH_MACHINE,
			    .e_phoff = sizeof(file.header),
			    .e_phentsize = sizeof(file.segments[0]),
			    .e_entry = 0x20000, /* so that it counts as a function's start */
			    .e_phnum = 2,
			    .e_ehsize = sizeof(file.header) },
	};
	struct elf_file e;

	for (size_t i = 0; i < 2; i++)
		file.segments[i] =
			(Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_vaddr = i ? 0x20000 : 0x10000,
				      .p_offset = offsetof(typeof(file), code) + 0x10000 * i,
				      .p_filesz = i ? 0x20 : 0x10000,
				      .p_memsz = i ? 0x20 : 0x10000 };
	memset(file.code, 0x90, sizeof(file.code));
	file.code[0] = 0x55; /* push %rbp */
	file.code[0xffff] = before;
	memcpy(file.code + 0x10000, trampoline, sizeof(trampoline));
	assert_int_equal(elf_file_open_memory(&e, &file, sizeof(file)), ELF_OK);
	assert_int_equal(
		unwind_table_build(t, &(struct unwind_source){ .file = &e, .max_rows = SIZE_MAX }),
		UNWIND_TABLE_OK);
	elf_file_release(&e);
}

static void assert_rows_ascend(const struct unwind_table *t)
{
	for (uint32_t i = 0; i < t->page_count; i++)
		for (uint32_t k = 1; k < t->pages[i].rows; k++)
			assert_true(t->rows[t->pages[i].first + k] >> 16 >
				    t->rows[t->pages[i].first + k - 1] >> 16);
}

/* The rule for what returns to it holds one byte before, which here lies in another page. */
static void test_trampoline_at_an_edge(void **state)
{
	struct unwind_table t;

	build_with_trampoline(&t, 0x90);
	assert_rows_ascend(&t);
	assert_int_equal(find_rule(&t, 0x1ffff)->kind, UNWIND_SIGNAL);
	assert_int_equal(find_rule(&t, 0x20000)->kind, UNWIND_SIGNAL);
	assert_int_not_equal(find_rule(&t, 0x1fffe)->kind, UNWIND_SIGNAL);
	unwind_table_release(&t);
	/* There is a function's return: who is interrupted there is in no signal frame. */
	build_with_trampoline(&t, 0xc3);
	assert_rows_ascend(&t);
	assert_int_equal(find_rule(&t, 0x1ffff)->kind, UNWIND_CFA_SP);
	assert_int_equal(find_rule(&t, 0x20000)->kind, UNWIND_SIGNAL);
	unwind_table_release(&t);
}

/* Ubuntu's glibc is built with CET, so that its functions begin with an endbr64. */
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_own_binary_against_libdw),
	cmocka_unit_test(test_libc_against_libdw),
	cmocka_unit_test(test_finds_a_function),
	cmocka_unit_test(test_limit_of_rows),
	cmocka_unit_test(test_stopped),
	cmocka_unit_test(test_stopped_among_rows),
	cmocka_unit_test(test_file_without_code),
	cmocka_unit_test(test_holes_are_not_analysed),
	cmocka_unit_test(test_only_code_is_read),
	cmocka_unit_test(test_search_for_a_handler_ends),
	cmocka_unit_test(test_limit_of_handlers),
	cmocka_unit_test(test_entry_is_outermost),
	cmocka_unit_test(test_way_to_a_handler),
#ifdef __aarch64__
	cmocka_unit_test(test_pushed_by_the_linkage_table),
#endif
#ifdef __x86_64__
	cmocka_unit_test(test_trampoline_at_an_edge),
#endif
	cmocka_unit_test(test_begins_stack),
};

UNIT_TESTS(tests);
