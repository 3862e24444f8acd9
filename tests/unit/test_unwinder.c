/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/unwinder_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "bpf/abi/unwind.h"
#include "common/elf_file.h"
#include "common/limits.h"
#include "record/unwind/unwind_arch.h"
#include "tests/unit/elf_fixture.h"

static struct unwind_process process_of(struct fixture *f, uint32_t pid)
{
	struct unwind_process process = { 0 };

	bpf_map_lookup_elem(f->maps.processes, &pid, &process);
	return process;
}

static const struct unwind_segment *segment_of(struct fixture *f, uint32_t pid, uint64_t address)
{
	struct unwind_process process = process_of(f, pid);

	for (uint32_t i = 0; i < process.count; i++) {
		const struct unwind_segment *s = &f->segments[process.first + i];

		if (i > 0)
			assert_true(s->start >= s[-1].end);
		if (address >= s->start && address < s->end)
			return s;
	}
	return NULL;
}

static void test_own_process(void **state)
{
	struct fixture *f = *state;
	const struct unwind_segment *s;
	struct unwinder_totals totals;
	uint64_t page;
	uint32_t self;

	start(f, 0);
	self = map_self(f);
	s = segment_of(f, self, (uintptr_t)test_own_process);
	assert_non_null(s);
	assert_int_equal(s->start,
			 spaces_find(f->spaces, self, (uintptr_t)test_own_process)->start);
	page = ((uintptr_t)test_own_process - s->base) >> UNWIND_PAGE_BITS;
	assert_true(page < s->pages);
	assert_true(f->pages[s->first_page + page].rows > 0);
	unwinder_totals(f->unwinder, &totals);
	assert_true(totals.files >= 2); /* we, and the C library */
	assert_true(totals.rows > 0);
	assert_true(totals.table_bytes > 0);
	assert_int_equal(totals.refused, 0);
}

/* From the file, whatever is in memory. */
static void test_code_of_files(void **state)
{
	uint64_t code, address = (uintptr_t)test_own_process;
	struct fixture *f = *state;
	struct mapping other;
	uint32_t self;

	start(f, 0);
	self = map_self(f);
	assert_true(unwinder_read_code(f->unwinder, spaces_find(f->spaces, self, address), address,
				       &code, sizeof(code)));
	assert_memory_equal(&code, (const void *)(uintptr_t)address, sizeof(code));
	/* Again, and across pages of 4096. */
	for (address |= 4088; address % 4096; address++) {
		assert_true(unwinder_read_code(f->unwinder, spaces_find(f->spaces, self, address),
					       address, &code, sizeof(code)));
		assert_memory_equal(&code, (const void *)(uintptr_t)address, sizeof(code));
	}
	/* Not in the file; a file that could not be opened; none. */
	other = *spaces_find(f->spaces, self, address);
	other.offset = INT64_MAX / 2;
	assert_false(unwinder_read_code(f->unwinder, &other, address, &code, sizeof(code)));
	map(f, 7, 0x10000, 0x11000, "/no/such/file", 1);
	map(f, 7, 0x20000, 0x21000, "", 0);
	for (address = 0x10000; address <= 0x20000; address += 0x10000)
		assert_false(unwinder_read_code(f->unwinder, spaces_find(f->spaces, 7, address),
						address, &code, sizeof(code)));
}

static void test_fork_exec_exit(void **state)
{
	struct fixture *f = *state;
	struct unwind_process mine, child;
	uint32_t self, pid;

	start(f, 0);
	self = map_self(f);
	pid = self + 1;
	apply(f, (struct side_record){ .type = SIDE_RECORD_FORK, .pid = pid, .parent_pid = self });
	unwinder_flush(f->unwinder);
	mine = process_of(f, self);
	child = process_of(f, pid);
	assert_true(mine.count > 0);
	assert_int_equal(child.count, mine.count);
	apply(f, (struct side_record){ .type = SIDE_RECORD_EXEC, .pid = pid });
	unwinder_flush(f->unwinder);
	/* The kernel half has not seen that exec, so for a while it is not trusted. */
	child = process_of(f, pid);
	child.execs = 1;
	assert_int_equal(bpf_map_update_elem(f->maps.processes, &pid, &child, BPF_ANY), 0);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, pid).count, 0);
	spaces_end(f->spaces, pid, 9);
	spaces_remove(f->spaces, pid);
	assert_int_not_equal(bpf_map_lookup_elem(f->maps.processes, &pid, &child), 0);
	assert_non_null(segment_of(f, self, (uintptr_t)test_fork_exec_exit));
}

static void test_mappings_replace_each_other(void **state)
{
	struct fixture *f = *state;

	start(f, 0);
	map(f, 7, 0x10000, 0x20000, "", 0);
	map(f, 7, 0x14000, 0x16000, "/no/such/file", 0);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, 7).count, 3);
	assert_int_equal(segment_of(f, 7, 0x13fff)->end, 0x14000);
	assert_int_equal(segment_of(f, 7, 0x15000)->start, 0x14000);
	assert_int_equal(segment_of(f, 7, 0x16000)->end, 0x20000);
	assert_int_equal(segment_of(f, 7, 0x16000)->pages, 0);
}

/* What is published is bounded; the mappings of files are not left out for those of none. */
static void test_more_mappings_than_a_run_holds(void **state)
{
	const uint64_t step = 0x2000, above = 0x10000 + step * (UNWIND_MAX_RUN + 10);
	struct fixture *f = *state;

	start(f, 0);
	for (uint64_t i = 0; i < UNWIND_MAX_RUN + 10; i++)
		map(f, 7, 0x10000 + i * step, 0x11000 + i * step, "", 0);
	map(f, 7, above, above + step, "/no/such/file", 1);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_true(process_of(f, 7).count <= UNWIND_MAX_RUN);
	assert_non_null(segment_of(f, 7, above));
}

static void test_file_that_is_not_there(void **state)
{
	struct fixture *f = *state;

	start(f, 0);
	map(f, 0x7ffffff0, 0x10000, 0x20000, "/no/such/file", 1);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(segment_of(f, 0x7ffffff0, 0x10000)->pages, UNWIND_PAGES_MISSING);
	assert_true(*f->problem);
}

/* A file with the right name and another build-id is not used. */
static void test_replaced_file(void **state)
{
	struct fixture *f = *state;
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(size > 0);
	path[size] = 0;
	start(f, 0);
	map(f, 0x7ffffff0, 0x10000, 0x20000, path, 1);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(segment_of(f, 0x7ffffff0, 0x10000)->pages, UNWIND_PAGES_MISSING);
	assert_string_equal(f->problem, "another file has its name now");
}

static void test_prepared_program(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals totals;

	start(f, 0);
	unwinder_prepare(f->unwinder, "/proc/self/exe");
	unwinder_prepare(f->unwinder, "no-such-program");
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	unwinder_totals(f->unwinder, &totals);
	assert_int_equal(totals.files, 2); /* it, and the vdso */
}

/* A limit below what the files need: some get no table, and it is counted. */
static void test_memory_limit(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals totals;

	start(f, 4096);
	map_self(f);
	unwinder_totals(f->unwinder, &totals);
	assert_true(totals.slabs <= 1);
	assert_true(totals.refused + totals.dropped > 0);
}

/* A copy of our own program that another build could have made: with another build-id. */
static void make_other(char *path, uint8_t number)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	struct elf_file elf;
	uint8_t *bytes, *id;
	struct stat status;

	assert_int_equal(fstat(from, &status), 0);
	assert_int_equal(elf_file_open(&elf, from), ELF_OK);
	bytes = malloc((size_t)status.st_size);
	assert_int_equal(pread(from, bytes, (size_t)status.st_size, 0), status.st_size);
	id = memmem(bytes, (size_t)status.st_size, elf.build_id, elf.build_id_size);
	assert_non_null(id);
	id[0] ^= number;
	to = mkstemp(path);
	assert_true(to >= 0);
	assert_int_equal(write(to, bytes, (size_t)status.st_size), status.st_size);
	assert_int_equal(fchmod(to, 0700), 0);
	close(to);
	close(from);
	free(bytes);
	elf_file_release(&elf);
}

/* Tables of files that nobody maps make room for others, which get tables then. */
static void test_unused_tables_make_room(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals before = { 0 }, totals = { 0 };

	start(f, 2 * UNWIND_SLAB_ROWS * sizeof(uint32_t));
	for (uint8_t i = 1; i < 200 && !totals.dropped; i++) {
		char path[] = "/tmp/prof-test.XXXXXX";

		make_other(path, i);
		before = totals;
		unwinder_prepare(f->unwinder, path);
		assert_true(unwinder_settle(f->unwinder, LONG_NS));
		unwinder_totals(f->unwinder, &totals);
		unlink(path);
	}
	assert_true(totals.dropped > 0);
	assert_int_equal(totals.short_of_memory, 0);
	assert_int_equal(totals.files, before.files + 1 - totals.dropped);
	/* Only those of one of the two slabs had to go. */
	assert_true(totals.files > before.files / 4 && totals.slabs == 2);
}

/* -------- rules -------- */

#define ROW_BYTES 4	    /* of code */
#define FILE_CODE (1 << 19) /* where it begins in the file */

/* Rows of a file, and how many different sizes of a frame they have, from 8 * first on. */
struct frame_rows {
	uint32_t first, sizes, n;
};

/* .eh_frame of a function with these rows. */
static void add_frames(struct buffer *frames, uint64_t start, struct frame_rows rows)
{
	const bool x86 = ARCH_MACHINE == EM_X86_64;
	/* Code by 1, data by -8; the CFA is the stack pointer + 8. */
	const uint8_t cie[24] = { [0] = 20,
				  [8] = 1,
				  [10] = 1,
				  [11] = 0x78,
				  [12] = x86 ? 16 : 30,
				  [13] = 0x0c,
				  [14] = x86 ? 7 : 31,
				  [15] = 8,
				  [16] = x86 ? 0x90 : 0,
				  [17] = x86 };
	const uint32_t fde[] = { 20 + 5 * rows.n, 28 };
	const uint64_t range[] = { start, (uint64_t)rows.n * ROW_BYTES };

	buffer_append(frames, cie, sizeof(cie));
	buffer_append(frames, fde, sizeof(fde));
	buffer_append(frames, range, sizeof(range));
	for (uint32_t i = 0; i < rows.n; i++) {
		uint32_t size = 8 * (rows.first + i % rows.sizes);
		/* DW_CFA_def_cfa_offset; DW_CFA_advance_loc to the next row. */
		const uint8_t row[] = { 0x0e, (uint8_t)(size | 0x80), (uint8_t)(size >> 7 | 0x80),
					(uint8_t)(size >> 14), 0x40 | ROW_BYTES };

		buffer_append(frames, row, sizeof(row));
	}
}

/* Makes such a file. */
static void make_file_of_rows(char *path, uid_t owner, struct frame_rows rows)
{
	static const uint32_t code = 0xd65f03c0; /* a return on arm64 */
	const uint64_t place = FILE_CODE, length = (uint64_t)rows.n * ROW_BYTES;
	const Elf64_Phdr segment = { .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = place,
				     .p_vaddr = place,
				     .p_filesz = length,
				     .p_memsz = length };
	struct fixture_section section = { .name = ".eh_frame", .flags = SHF_ALLOC };
	struct buffer frames = { 0 }, b = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	add_frames(&frames, place, rows);
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
	for (uint32_t i = 0; i < rows.n; i++)
		buffer_append(&b, &code, sizeof(code));
	assert_int_equal(write(fd, b.data, b.size), b.size);
	buffer_release(&b);
	buffer_release(&frames);
	assert_int_equal(fchmod(fd, 0700), 0);
	if (fchown(fd, owner, (gid_t)-1)) {
		unlink(path);
		skip();
	}
	close(fd);
}

/* Builds its table; returns what there is of all tables then. */
static struct unwinder_totals add_rules(struct fixture *f, uid_t owner, uint32_t first, uint32_t n)
{
	char path[] = "/tmp/prof-test.XXXXXX";
	struct unwinder_totals totals;

	make_file_of_rows(path, owner, (struct frame_rows){ first, n, n });
	unwinder_prepare(f->unwinder, path);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	unlink(path);
	unwinder_totals(f->unwinder, &totals);
	return totals;
}

/* What a file has too many of is its own loss. */
static void test_file_of_many_rules(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals totals;

	start(f, 0);
	totals = add_rules(f, geteuid(), 1, LIMIT_FILE_RULES / 2);
	assert_true(totals.rules >= LIMIT_FILE_RULES / 2);
	assert_int_equal(totals.lacking_rules, 0);
	totals = add_rules(f, geteuid(), 1, UNWIND_MAX_RULES);
	assert_true(totals.rules < LIMIT_FILE_RULES + 1000); /* with those of the vDSO */
	assert_int_equal(totals.lacking_rules, 1);
}

/* A process maps the code of such a file. */
static void map_code(struct fixture *f, uint32_t pid, uint64_t address, uint64_t size, char *path)
{
	struct side_record r = { .type = SIDE_RECORD_MAP,
				 .pid = pid,
				 .map = { .start = address, .size = size, .offset = FILE_CODE },
				 .name = path };
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	r.map.inode = status.st_ino;
	r.map.major = major(status.st_dev);
	r.map.minor = minor(status.st_dev);
	apply(f, r);
}

/* A file that two processes map counts once. */
static void test_file_over_a_limit(void **state)
{
	Elf64_Ehdr header = fixture_elf_header(ET_DYN);
	char path[] = "/tmp/prof-test-XXXXXX";
	struct unwinder_totals totals;
	struct fixture *f = *state;
	int fd = mkstemp(path);

	header.e_phoff = sizeof(header);
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phnum = LIMIT_SEGMENTS + 1;
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
	start(f, 0);
	for (uint32_t pid = 0x7fff0001; pid <= 0x7fff0002; pid++) {
		map_code(f, pid, 0x10000, 0x10000, path);
		unwinder_flush(f->unwinder);
		assert_true(unwinder_settle(f->unwinder, LONG_NS));
	}
	unlink(path);
	unwinder_totals(f->unwinder, &totals);
	assert_string_equal(f->problem, "an ELF file with more headers than are read");
	assert_int_equal(f->builds, 2);
	assert_int_equal(totals.over_limit, 1);
	assert_int_equal(totals.files, 0);
}

#define FILE_STEP (UINT64_C(1) << 20)

/* It maps one of so many rows, which is removed then, as its n-th. */
static void map_file_of_rows(struct fixture *f, uint32_t pid, uint64_t n, uid_t owner,
			     uint32_t rows)
{
	char folder[] = "/tmp/prof-test.XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/XXXXXX", folder);
	make_file_of_rows(path, owner, (struct frame_rows){ 1, 100, rows });
	map_code(f, pid, n * FILE_STEP, (uint64_t)rows * ROW_BYTES, path);
	unlink(path);
	rmdir(folder);
}

static bool has_table(struct fixture *f, uint32_t pid, uint64_t address)
{
	uint32_t pages = segment_of(f, pid, address)->pages;

	return pages && pages < UNWIND_PAGES_WAITING;
}

static void settle(struct fixture *f)
{
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	unwinder_flush(f->unwinder);
}

/* A process of another user, which ends when the other end of the pipe is closed. */
static uint32_t start_other(int *pipe_end)
{
	int up[2], down[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(up) | pipe(down), 0);
	child = fork();
	if (!child) {
		close(up[0]);
		close(down[1]);
		byte = setuid(65534) ? 'n' : 'y';
		_exit(write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1) != 0);
	}
	close(up[1]);
	close(down[0]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	close(up[0]);
	*pipe_end = down[1];
	if (byte != 'y')
		skip();
	return (uint32_t)child;
}

/* A user's tables make room for his others, and nobody else's do, even if he needs them more. */
static void test_users_do_not_take_others_tables(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals totals;
	uint32_t self, other;
	int pipe_end;

	start(f, 4 * UNWIND_SLAB_ROWS * sizeof(uint32_t));
	self = map_self(f);
	other = start_other(&pipe_end);
	map_file_of_rows(f, self, 1, geteuid(), 60000);
	settle(f);
	for (uint64_t n = 1; n <= 4; n++) {
		map_file_of_rows(f, other, n, 65534, 50000);
		settle(f);
	}
	assert_true(has_table(f, other, 4 * FILE_STEP));
	assert_false(has_table(f, other, FILE_STEP));
	/* Neither do root's files that he needs. */
	for (uint64_t n = 5; n <= 8; n++) {
		map_file_of_rows(f, other, n, 0, 50000);
		settle(f);
	}
	assert_true(has_table(f, other, 8 * FILE_STEP));
	assert_true(has_table(f, self, (uintptr_t)make_other));
	assert_true(has_table(f, self, FILE_STEP));
	unwinder_totals(f->unwinder, &totals);
	assert_int_equal(totals.short_of_memory, 0);
	assert_true(totals.dropped >= 6);
	close(pipe_end);
	waitpid((pid_t)other, NULL, 0);
}

/* Several that need room at once get it, one after the other. */
static void test_several_lack_room(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals totals;
	uint32_t self = (uint32_t)getpid();

	start(f, 4 * UNWIND_SLAB_ROWS * sizeof(uint32_t));
	for (uint64_t n = 1; n <= 8; n++) {
		map_file_of_rows(f, self, n, geteuid(), 60000); /* a slab each */
		unwinder_flush(f->unwinder);
		if (n <= 4)
			settle(f);
	}
	settle(f);
	for (uint64_t n = 1; n <= 8; n++)
		assert_int_equal(has_table(f, self, n * FILE_STEP), n > 4);
	unwinder_totals(f->unwinder, &totals);
	assert_int_equal(totals.dropped, 4);
	assert_int_equal(totals.short_of_memory, 0);
}

/* However many files other users have, those of root get their rules. */
static void test_users_do_not_take_all_rules(void **state)
{
	const uint32_t n = LIMIT_FILE_RULES / 2;
	struct fixture *f = *state;
	struct unwinder_totals totals = { 0 }, more;

	start(f, 0);
	for (uint32_t i = 0; i < 2 * UNWIND_MAX_RULES / n; i++)
		totals = add_rules(f, 65534, 1 + i * n, n);
	/* One of them has half of it. */
	assert_true(totals.rules <= (UNWIND_MAX_RULES - LIMIT_ROOT_RULES) / 2 + 1000);
	assert_true(totals.rules >= (UNWIND_MAX_RULES - LIMIT_ROOT_RULES) / 2);
	assert_true(totals.lacking_rules > 1);
	more = add_rules(f, 0, 100000, n);
	assert_int_equal(more.rules, totals.rules + n);
	assert_int_equal(more.lacking_rules, totals.lacking_rules);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_own_process, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_code_of_files, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_fork_exec_exit, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_mappings_replace_each_other, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_more_mappings_than_a_run_holds, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_file_that_is_not_there, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_replaced_file, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_prepared_program, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_memory_limit, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_unused_tables_make_room, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_file_of_many_rules, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_file_over_a_limit, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_users_do_not_take_others_tables, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_several_lack_room, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_users_do_not_take_all_rules, set_up, tear_down),
};

UNIT_TESTS(tests);
