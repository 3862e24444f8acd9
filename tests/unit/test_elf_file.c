/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/elf_file.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/limits.h"
#include "tests/unit/elf_fixture.h"

/* A file with one PT_LOAD, one PT_NOTE and the sections null, .text, .shstrtab. */
static void build_file(struct buffer *b)
{
	static const char names[] = "\0.text\0.shstrtab";
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = 0x1100,
		.e_phoff = 64,
		.e_shoff = 0x300,
		.e_ehsize = 64,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = 0x100,
		  .p_vaddr = 0x1100,
		  .p_filesz = 0x100,
		  .p_memsz = 0x200 },
		{ .p_type = PT_NOTE, .p_offset = 0x200, .p_filesz = 36 },
	};
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = 0x1100,
		  .sh_offset = 0x100,
		  .sh_size = 0x100,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR },
		{ .sh_name = 7,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x280,
		  .sh_size = sizeof(names) },
	};
	uint8_t id[20] = { 0xab, 0xcd };
	uint32_t note[3] = { 4, sizeof(id), NT_GNU_BUILD_ID };
	uint8_t *at = buffer_extend(b, 0x300 + sizeof(sections));

	memset(at, 0, b->size);
	memcpy(at, &header, sizeof(header));
	memcpy(at + 64, segments, sizeof(segments));
	memcpy(at + 0x200, note, sizeof(note));
	memcpy(at + 0x20c, "GNU", 4);
	memcpy(at + 0x210, id, sizeof(id));
	memcpy(at + 0x280, names, sizeof(names));
	memcpy(at + 0x300, sections, sizeof(sections));
}

static void test_reads(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;
	const struct elf_section *text;
	uint64_t value;
	struct cursor c;

	build_file(&b);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	assert_int_equal(e.type, ET_DYN);
	assert_int_equal(e.machine, EM_X86_64);
	assert_int_equal(e.entry, 0x1100);
	assert_int_equal(e.build_id_size, 20);
	assert_int_equal(e.build_id[1], 0xcd);
	text = elf_file_section(&e, ".text");
	assert_non_null(text);
	c = elf_section_data(&e, text);
	assert_int_equal(cursor_left(&c), 0x100);
	assert_null(elf_file_section(&e, ".data"));
	c = elf_section_data(&e, NULL);
	assert_int_equal(cursor_left(&c), 0);
	assert_true(elf_file_offset_to_address(&e, 0x110, &value));
	assert_int_equal(value, 0x1110);
	assert_true(elf_file_address_to_offset(&e, 0x11ff, &value));
	assert_int_equal(value, 0x1ff);
	assert_false(elf_file_address_to_offset(&e, 0x1200, &value));
	c = elf_file_at(&e, 0x1180);
	assert_int_equal(cursor_left(&c), 0x80);
	c = elf_file_at(&e, 0x5000);
	assert_false(cursor_ok(&c));
	elf_file_release(&e);
	buffer_release(&b);
}

static int open_with(struct buffer *b, size_t at, uint64_t value, size_t size, struct elf_file *e)
{
	buffer_clear(b);
	build_file(b);
	memcpy(b->data + at, &value, size);
	return elf_file_open_memory(e, b->data, b->size);
}

static void test_wrong_headers(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;

	assert_int_equal(open_with(&b, 0, 0, 4, &e), ELF_ERROR_NOT_ELF);
	assert_int_equal(open_with(&b, EI_CLASS, ELFCLASS32, 1, &e), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(open_with(&b, EI_DATA, ELFDATA2MSB, 1, &e), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(elf_file_open_memory(&e, b.data, 40), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(elf_file_open_memory(&e, "", 0), ELF_ERROR_NOT_ELF);
	/* program headers beyond the end */
	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX, 8, &e),
			 ELF_ERROR_CORRUPT);
	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_phnum), 60000, 2, &e),
			 ELF_ERROR_CORRUPT);
	buffer_release(&b);
}

static void test_section_table_may_be_missing(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;

	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_shoff), 0x10000, 8, &e), ELF_OK);
	assert_int_equal(e.section_count, 0);
	assert_int_equal(e.build_id_size, 20);
	elf_file_release(&e);
	/* a section beyond the end has no bytes */
	assert_int_equal(
		open_with(&b, 0x300 + 64 + offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8, &e),
		ELF_OK);
	assert_int_equal(e.sections[1].size, 0);
	elf_file_release(&e);
	/* so has a segment */
	assert_int_equal(open_with(&b, 64 + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX, 8, &e),
			 ELF_OK);
	assert_int_equal(e.segments[0].file_size, 0);
	elf_file_release(&e);
	/* names without an end stay empty */
	assert_int_equal(open_with(&b, 0x300 + 128 + offsetof(Elf64_Shdr, sh_size), 3, 8, &e),
			 ELF_OK);
	assert_string_equal(e.sections[1].name, "");
	elf_file_release(&e);
	buffer_release(&b);
}

static void test_own_binary(void **state)
{
	struct elf_file e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	close(fd);
	assert_non_null(elf_file_section(&e, ".text"));
	assert_non_null(elf_file_section(&e, ".eh_frame"));
	elf_file_release(&e);
}

/* A file that is cut short under the reader reads as zeros from there. */
static void test_file_cut_short(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("cut", MFD_CLOEXEC);
	struct mapped_file f;
	char byte = 7;

	assert_int_equal(ftruncate(fd, page * 4), 0);
	assert_int_equal(pwrite(fd, &byte, 1, 0), 1);
	assert_int_equal(pwrite(fd, &byte, 1, page * 3), 1);
	assert_int_equal(mapped_file_open(&f, fd), 0);
	assert_int_equal(ftruncate(fd, page), 0);
	assert_int_equal(f.data[0], 7);
	assert_int_equal(((volatile const uint8_t *)f.data)[page * 3], 0);
	mapped_file_release(&f);
	close(fd);
}

/* A part that crosses pages, up to the end of the file, and nothing behind it. */
static void test_part_of_a_file(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("part", MFD_CLOEXEC), ends[2];
	char bytes[16] = "";

	assert_int_equal(pwrite(fd, "0123456789", 10, (off_t)page * 2 - 5), 10);
	assert_int_equal(mapped_file_read(fd, bytes, 4, page * 2 - 2), 4);
	assert_string_equal(bytes, "3456");
	assert_int_equal(mapped_file_read(fd, bytes, sizeof(bytes), page * 2 + 2), 3);
	assert_memory_equal(bytes, "789", 3);
	assert_int_equal(mapped_file_read(fd, bytes, sizeof(bytes), page * 2 + 5), 0);
	assert_int_equal(mapped_file_read(fd, bytes, sizeof(bytes), UINT64_MAX), 0);
	assert_int_equal(mapped_file_read(fd, bytes, 0, 0), 0);
	close(fd);
	assert_int_equal(mapped_file_read(fd, bytes, 1, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(mapped_file_read(ends[0], bytes, 1, 0), 0);
	close(ends[0]);
	close(ends[1]);
}

/* -------- limits -------- */

#define HUGE_FILE (UINT64_C(2) << 40) /* on disk a few pages: the rest is a hole */

/* The file of build_file(), as long as `size`, with `value` written at `at`. */
static int make_sparse(uint64_t size, size_t at, uint64_t value, size_t bytes)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	struct buffer b = { 0 };

	build_file(&b);
	memcpy(b.data + at, &value, bytes);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, b.data, b.size, 0), (ssize_t)b.size);
	buffer_release(&b);
	return fd;
}

static void put(int fd, size_t at, uint64_t value, size_t bytes)
{
	assert_int_equal(pwrite(fd, &value, bytes, (off_t)at), (ssize_t)bytes);
}

static void test_notes_of_terabytes(void **state)
{
	const size_t size_at = 64 + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_filesz);
	const size_t offset_at = 64 + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset);
	int fd = make_sparse(HUGE_FILE, size_at, HUGE_FILE - 0x200, 8);
	struct elf_file e;

	/* The build-id comes first, and is found. */
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(e.build_id_size, 20);
	elf_file_release(&e);
	/* Nothing but zeros: given up after LIMIT_NOTE_BYTES of them. */
	put(fd, offset_at, 0x10000, 8);
	put(fd, size_at, HUGE_FILE - 0x10000, 8);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(e.build_id_size, 0);
	elf_file_release(&e);
	close(fd);
}

static void test_too_many_headers(void **state)
{
	int fd = make_sparse(HUGE_FILE, offsetof(Elf64_Ehdr, e_phnum), PN_XNUM, 2);
	struct elf_file e;

	/* The counts that do not fit into the ELF header: sh_info and sh_size. */
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_info), 20000000, 4);
	assert_int_equal(elf_file_open(&e, fd), ELF_ERROR_LIMIT);
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_info), LIMIT_SEGMENTS, 4);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(e.segment_count, LIMIT_SEGMENTS);
	assert_int_equal(e.load_count, 1);
	elf_file_release(&e);
	put(fd, offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_size), LIMIT_SECTIONS + 1, 8);
	assert_int_equal(elf_file_open(&e, fd), ELF_ERROR_LIMIT);
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_size), LIMIT_SECTIONS, 8);
	put(fd, offsetof(Elf64_Ehdr, e_shstrndx), SHN_XINDEX, 2);
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_link), 2, 4);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(e.section_count, LIMIT_SECTIONS);
	assert_non_null(elf_file_section(&e, ".shstrtab"));
	elf_file_release(&e);
	close(fd);
}

/*
 * Counts and places near the ends of their types. Cut to 32 bits, or as counts of bytes modulo
 * 2^64, some of them are those that the file has.
 */
static void test_counts_at_the_ends(void **state)
{
	const size_t shnum = offsetof(Elf64_Ehdr, e_shnum), phnum = offsetof(Elf64_Ehdr, e_phnum);
	const size_t info = 0x300 + offsetof(Elf64_Shdr, sh_info);
	const size_t count = 0x300 + offsetof(Elf64_Shdr, sh_size);
	static const uint64_t counts[] = { UINT64_MAX,
					   UINT64_MAX - 1,
					   (UINT64_C(1) << 32) + 3,
					   (UINT64_C(1) << 58) + 3,
					   (UINT64_C(1) << 63) + 3,
					   UINT32_MAX,
					   UINT64_C(1) << 32 };
	struct buffer b = { 0 };
	struct elf_file e;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		build_file(&b);
		memset(b.data + shnum, 0, 2);
		memcpy(b.data + count, &counts[i], 8);
		assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_ERROR_LIMIT);
		buffer_clear(&b);
	}
	for (uint32_t n = UINT32_MAX; n > UINT32_MAX - 3; n--) {
		build_file(&b);
		memset(b.data + phnum, 0xff, 2);
		memcpy(b.data + info, &n, 4);
		assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_ERROR_CORRUPT);
		buffer_clear(&b);
	}
	/* 0 is a count, too. */
	build_file(&b);
	memset(b.data + phnum, 0xff, 2);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	assert_int_equal(e.segment_count, 0);
	elf_file_release(&e);
	buffer_release(&b);
}

/* With their sizes they go beyond 2^64, to the beginning of the file or into it. */
static void test_tables_at_the_end_of_addresses(void **state)
{
	const uint64_t sections = 3 * sizeof(Elf64_Shdr), segments = 2 * sizeof(Elf64_Phdr);
	const uint64_t before[] = {
		1, 63, 64, sections - 1, sections, segments - 1, segments, 4096
	};
	struct buffer b = { 0 };
	struct elf_file e;

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_shoff), -before[i], 8, &e),
				 ELF_OK);
		assert_int_equal(e.section_count, 0);
		assert_int_equal(e.build_id_size, 20);
		elf_file_release(&e);
		assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_phoff), -before[i], 8, &e),
				 ELF_ERROR_CORRUPT);
		/* A section, and a segment, which have no bytes then. */
		assert_int_equal(
			open_with(&b, 0x340 + offsetof(Elf64_Shdr, sh_offset), -before[i], 8, &e),
			ELF_OK);
		assert_int_equal(e.sections[1].size, 0);
		elf_file_release(&e);
		assert_int_equal(
			open_with(&b, 64 + offsetof(Elf64_Phdr, p_offset), -before[i], 8, &e),
			ELF_OK);
		assert_int_equal(e.segments[0].file_size, 0);
		assert_int_equal(e.load_count, 0);
		elf_file_release(&e);
	}
	/* Addresses that end above 2^64. */
	assert_int_equal(open_with(&b, 64 + offsetof(Elf64_Phdr, p_vaddr), -UINT64_C(0x10), 8, &e),
			 ELF_OK);
	assert_true(elf_file_address_to_offset(&e, UINT64_MAX, &(uint64_t){ 0 }));
	assert_false(elf_file_address_to_offset(&e, 0x10, &(uint64_t){ 0 }));
	elf_file_release(&e);
	buffer_release(&b);
}

/* Names of sections at the end of their table, after it, and in a table that is none. */
static void test_names_at_the_ends(void **state)
{
	const size_t size = sizeof("\0.text\0.shstrtab");
	const uint64_t places[] = { size - 1, size, size + 1, UINT32_MAX, UINT32_MAX - 1 };
	struct buffer b = { 0 };
	struct elf_file e;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		assert_int_equal(open_with(&b, 0x340, places[i], 4, &e), ELF_OK);
		assert_string_equal(e.sections[1].name, "");
		assert_string_equal(e.sections[2].name, ".shstrtab");
		elf_file_release(&e);
	}
	/* Its last letter is the last byte of the table, and of what is there. */
	assert_int_equal(open_with(&b, 0x380 + offsetof(Elf64_Shdr, sh_size), size - 2, 8, &e),
			 ELF_OK);
	assert_string_equal(e.sections[1].name, ".text");
	assert_string_equal(e.sections[2].name, "");
	elf_file_release(&e);
	for (uint64_t i = 0; i < 3; i++) {
		open_with(&b, offsetof(Elf64_Ehdr, e_shstrndx), SHN_XINDEX, 2, &e);
		elf_file_release(&e);
		memcpy(b.data + 0x300 + offsetof(Elf64_Shdr, sh_link),
		       &(uint32_t){ i ? UINT32_MAX - (uint32_t)i : 3 }, 4);
		assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
		assert_string_equal(e.sections[1].name, "");
		elf_file_release(&e);
	}
	buffer_release(&b);
}

/*
 * Segments in any order: the one that has an address or offset is found by bisection. Where they
 * overlap in the file, it is the one that begins last.
 */
static void test_many_segments(void **state)
{
	enum { N = 1000, FIRST = 0x10000 };
	int fd = make_sparse(FIRST + N * sizeof(Elf64_Phdr), offsetof(Elf64_Ehdr, e_phnum), N, 2);
	struct elf_file e;
	uint64_t offset, address;

	put(fd, offsetof(Elf64_Ehdr, e_phoff), FIRST, 8);
	for (uint64_t i = 0; i < N; i++) {
		const Elf64_Phdr h = { .p_type = PT_LOAD,
				       .p_offset = i,
				       .p_vaddr = (N - i) * 0x1000,
				       .p_filesz = 0x800 };

		assert_int_equal(pwrite(fd, &h, sizeof(h), (off_t)(FIRST + i * sizeof(h))),
				 sizeof(h));
	}
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	for (uint64_t i = 0; i < N; i++) {
		assert_true(elf_file_address_to_offset(&e, (N - i) * 0x1000 + 0x7ff, &offset));
		assert_int_equal(offset, i + 0x7ff);
		assert_false(elf_file_address_to_offset(&e, (N - i) * 0x1000 + 0x800, &offset));
		assert_true(elf_file_offset_to_address(&e, i, &address));
		assert_int_equal(address, (N - i) * 0x1000);
	}
	assert_true(elf_file_offset_to_address(&e, N - 1 + 0x7ff, &address));
	assert_false(elf_file_offset_to_address(&e, N - 1 + 0x800, &address));
	assert_false(elf_file_address_to_offset(&e, 0xfff, &offset));
	elf_file_release(&e);
	close(fd);
}

/* -------- files that change -------- */

/* A text up to the end of the file, whose NUL is written over, ends all the same. */
static void test_zeros_after_the_file(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct mapped_file f;

	assert_int_equal(ftruncate(fd, page), 0);
	put(fd, (size_t)page - 8, UINT64_C(0x6161616161616161), 8);
	assert_int_equal(mapped_file_open(&f, fd), 0);
	assert_int_equal(strlen((const char *)f.data + page - 8), 8);
	mapped_file_release(&f);
	close(fd);
}

struct writing {
	int fd;
	atomic_bool end;
};

/* Counts and places of tables, now as they are and now absurd ones. */
static void *write_headers(void *context)
{
	struct writing *w = context;

	while (!atomic_load(&w->end)) {
		put(w->fd, 0x300 + offsetof(Elf64_Shdr, sh_size), UINT64_C(1) << 40, 8);
		put(w->fd, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 64, 8);
		put(w->fd, offsetof(Elf64_Ehdr, e_shnum), 0, 2);
		put(w->fd, offsetof(Elf64_Ehdr, e_shoff), 0x2fff, 8);
		assert_int_equal(ftruncate(w->fd, 0x100), 0);
		assert_int_equal(ftruncate(w->fd, 0x10000), 0);
		put(w->fd, offsetof(Elf64_Ehdr, e_shoff), 0x300, 8);
		put(w->fd, offsetof(Elf64_Ehdr, e_phoff), 64, 8);
		put(w->fd, offsetof(Elf64_Ehdr, e_shnum), 3, 2);
	}
	return NULL;
}

static void test_headers_written_over(void **state)
{
	struct writing w = { .fd = make_sparse(0x10000, 0, 0x464c457f, 4) };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, write_headers, &w), 0);
	for (int i = 0; i < 2000; i++) {
		struct elf_file e;

		if (elf_file_open(&e, w.fd))
			continue;
		assert_true(e.section_count <= LIMIT_SECTIONS);
		assert_null(elf_file_section(&e, ".none"));
		elf_file_release(&e);
	}
	atomic_store(&w.end, true);
	pthread_join(thread, NULL);
	close(w.fd);
}

/* -------- why libelf does not open the file itself -------- */

/* Runs `work` in a child: the signal that ended it, else 0; *kilobytes: its memory. */
static int signal_of(void (*work)(int fd), int fd, long *kilobytes)
{
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		work(fd);
		_exit(0);
	}
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	*kilobytes = usage.ru_maxrss;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void cut_while_mapped(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Data *data = elf_rawdata(elf_getscn(elf, 1), NULL);

	if (!ftruncate(fd, 0))
		_exit(*(volatile char *)data->d_buf);
}

static void read_section_whole(int fd)
{
	elf_rawdata(elf_getscn(elf_begin(fd, ELF_C_READ, NULL), 1), NULL);
}

static void open_by_us(int fd)
{
	struct elf_file e;

	elf_file_open(&e, fd);
}

static void open_in_memory(int fd)
{
	struct mapped_file f;

	if (!mapped_file_open(&f, fd))
		elf_memory((char *)(uintptr_t)f.data, f.size);
}

/*
 * What elf_file.h says of libelf, shown by trying it: its mapping ends the program
 * when the file is cut, its reads take what a hole claims to be, and it takes memory for every
 * section that is claimed.
 */
static void test_libelf_alone(void **state)
{
	const size_t size_at = 0x300 + 64 + offsetof(Elf64_Shdr, sh_size);
	const uint64_t hole = 256 << 20;
	long base, kilobytes;
	int fd = make_sparse(0x1000, 0, 0x464c457f, 4);

	elf_version(EV_CURRENT);
	assert_int_equal(signal_of(cut_while_mapped, fd, &kilobytes), SIGBUS);
	close(fd);

	fd = make_sparse(hole + 0x1000, size_at, hole, 8);
	assert_int_equal(signal_of(open_by_us, fd, &base), 0);
	assert_int_equal(signal_of(read_section_whole, fd, &kilobytes), 0);
	assert_true(kilobytes > base + (long)(hole >> 11));
	close(fd);

	fd = make_sparse(hole + 0x1000, offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	put(fd, 0x300 + offsetof(Elf64_Shdr, sh_size), hole / sizeof(Elf64_Shdr), 8);
	assert_int_equal(signal_of(open_by_us, fd, &base), 0);
	assert_int_equal(signal_of(open_in_memory, fd, &kilobytes), 0);
	assert_true(kilobytes > base + (long)(hole >> 11));
	close(fd);
}

/* More files than are mapped are copied, but no more of them all than the limit. */
static void test_copies(void **state)
{
	static struct mapped_file mapped[LIMIT_MAPPED_FILES];
	struct mapped_file first, second;
	int fd = memfd_create("copied", MFD_CLOEXEC);

	assert_int_equal(write(fd, "x", 1), 1);
	for (size_t i = 0; i < LIMIT_MAPPED_FILES; i++) {
		assert_int_equal(mapped_file_open(&mapped[i], fd), 0);
		assert_true(mapped[i].slot >= 0);
	}
	assert_int_equal(ftruncate(fd, LIMIT_COPIED_BYTES / 2 + 1), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mapped_file_open(&first, fd), 0);
		assert_int_equal(first.slot, -1);
		assert_int_equal(first.data[0], 'x');
		errno = 0;
		assert_int_equal(mapped_file_open(&second, fd), -1);
		assert_int_equal(errno, EFBIG);
		mapped_file_release(&second);
		/* What is released makes room. */
		mapped_file_release(&first);
	}
	for (size_t i = 0; i < LIMIT_MAPPED_FILES; i++)
		mapped_file_release(&mapped[i]);
	close(fd);
}

static void test_not_a_regular_file(void **state)
{
	struct elf_file e;
	int fd = open("/", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_file_open(&e, fd), ELF_ERROR_IO);
	assert_int_equal(elf_file_open(&e, -1), ELF_ERROR_IO);
	close(fd);
}

static void test_relocations(void **state)
{
	const Elf64_Rela list[] = {
		{ 0x2000, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1100 },
		{ 0x2008, ELF64_R_INFO(3, R_X86_64_GLOB_DAT), 5 },
		{ 0x2008, ELF64_R_INFO(0, R_X86_64_DTPMOD64), 7 },
	};
	const struct fixture_section with = { ".rela.dyn", SHF_ALLOC, list, sizeof(list),
					      SHT_RELA };
	struct buffer b = { 0 };
	struct elf_file e;
	uint64_t addend = 1;

	fixture_elf(&b, &with, 1);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	assert_true(elf_file_relocation(&e, 0x2000, 0, &addend));
	assert_int_equal(addend, 0x1100);
	assert_true(elf_file_relocation(&e, 0x2008, R_X86_64_DTPMOD64, &addend));
	assert_int_equal(addend, 7);
	assert_false(elf_file_relocation(&e, 0x2000, R_X86_64_DTPMOD64, &addend));
	assert_false(elf_file_relocation(&e, 0x2010, 0, &addend));
	assert_int_equal(addend, 7);
	elf_file_release(&e);
	buffer_release(&b);
}

/* A hole of terabytes stands for relocations: given up after LIMIT_SYMBOLS of them. */
static void test_relocations_of_terabytes(void **state)
{
	const struct fixture_section hole = { ".rela.dyn", SHF_ALLOC, NULL, HUGE_FILE - (1 << 20),
					      SHT_RELA };
	int fd = memfd_create("relocations", MFD_CLOEXEC);
	struct buffer b = { 0 };
	struct elf_file e;
	struct stat now;
	uint64_t addend;

	fixture_elf(&b, &hole, 1);
	assert_int_equal(write(fd, b.data, b.size), b.size);
	assert_int_equal(ftruncate(fd, HUGE_FILE), 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_false(elf_file_relocation(&e, 0x2000, 0, &addend));
	assert_int_equal(fstat(fd, &now), 0);
	assert_true((size_t)now.st_blocks * 512 < LIMIT_SYMBOLS * sizeof(Elf64_Rela) + (8 << 20));
	elf_file_release(&e);
	buffer_release(&b);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_reads),
	cmocka_unit_test(test_wrong_headers),
	cmocka_unit_test(test_section_table_may_be_missing),
	cmocka_unit_test(test_own_binary),
	cmocka_unit_test(test_file_cut_short),
	cmocka_unit_test(test_part_of_a_file),
	cmocka_unit_test(test_not_a_regular_file),
	cmocka_unit_test(test_copies),
	cmocka_unit_test(test_notes_of_terabytes),
	cmocka_unit_test(test_relocations),
	cmocka_unit_test(test_relocations_of_terabytes),
	cmocka_unit_test(test_too_many_headers),
	cmocka_unit_test(test_counts_at_the_ends),
	cmocka_unit_test(test_tables_at_the_end_of_addresses),
	cmocka_unit_test(test_names_at_the_ends),
	cmocka_unit_test(test_many_segments),
	cmocka_unit_test(test_zeros_after_the_file),
	cmocka_unit_test(test_headers_written_over),
	cmocka_unit_test(test_libelf_alone),
};

UNIT_TESTS(tests);
