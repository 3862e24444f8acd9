/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwinder.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi/unwind.h"
#include "common/clock.h"
#include "common/elf_file.h"
#include "record/trace/vanished.h"

#define LONG_NS UINT64_C(60000000000)

/* The maps as the BPF object has them, and what the tests read in them. */
struct fixture {
	struct unwinder_maps maps;
	int template;
	struct unwind_segment *segments;
	struct unwind_page *pages;
	struct objects *objects;
	struct spaces *spaces;
	struct unwinder *unwinder;
	char problem[256];
};

static int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
		    uint32_t flags, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags,
		    .inner_map_fd = (uint32_t)inner);

	return bpf_map_create(type, "test", key, value, entries, &options);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->maps.segments = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct unwind_segment),
				    UNWIND_MAX_SEGMENTS, BPF_F_MMAPABLE, 0);
	if (f->maps.segments < 0)
		return 0; /* the tests skip */
	f->maps.pages = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct unwind_page),
				 UNWIND_MAX_PAGES, BPF_F_MMAPABLE, 0);
	f->maps.rules = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct unwind_rule),
				 UNWIND_MAX_RULES, BPF_F_MMAPABLE, 0);
	f->template = make_map(BPF_MAP_TYPE_ARRAY, 4, UNWIND_SLAB_ROWS * 4, 1, BPF_F_MMAPABLE, 0);
	f->maps.slabs = make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, UNWIND_MAX_SLABS, 0,
				 f->template);
	f->maps.processes = make_map(BPF_MAP_TYPE_HASH, 4, sizeof(struct unwind_process), 64, 0, 0);
	f->maps.files = make_map(BPF_MAP_TYPE_HASH, sizeof(struct unwind_file_key),
				 sizeof(struct unwind_file), 64, 0, 0);
	f->segments = mmap(NULL, UNWIND_MAX_SEGMENTS * sizeof(*f->segments), PROT_READ, MAP_SHARED,
			   f->maps.segments, 0);
	f->pages = mmap(NULL, UNWIND_MAX_PAGES * sizeof(*f->pages), PROT_READ, MAP_SHARED,
			f->maps.pages, 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unwinder_free(f->unwinder);
	spaces_free(f->spaces);
	objects_free(f->objects);
	if (f->maps.segments >= 0) {
		munmap(f->segments, UNWIND_MAX_SEGMENTS * sizeof(*f->segments));
		munmap(f->pages, UNWIND_MAX_PAGES * sizeof(*f->pages));
		close(f->maps.segments);
		close(f->maps.pages);
		close(f->maps.rules);
		close(f->maps.slabs);
		close(f->maps.processes);
		close(f->maps.files);
		close(f->template);
	}
	free(f);
	return 0;
}

static void note_problem(const struct unwinder_file *file, void *context)
{
	struct fixture *f = context;

	if (file->problem)
		snprintf(f->problem, sizeof(f->problem), "%s", file->problem);
}

static void start(struct fixture *f, uint64_t limit)
{
	struct unwinder_options options = {
		.maps = f->maps, .memory_limit = limit, .built = note_problem, .context = f
	};

	if (f->maps.segments < 0)
		skip();
	f->objects = objects_new();
	f->spaces = spaces_new(f->objects, true);
	assert_null(unwinder_new(&f->unwinder, &options));
	assert_null(unwinder_follow(f->unwinder, f->spaces));
}

/* Our own mappings, with their tables built. */
static uint32_t map_self(struct fixture *f)
{
	uint32_t self = (uint32_t)getpid();

	assert_null(spaces_read(f->spaces, self, 0));
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	return self;
}

static void apply(struct fixture *f, struct side_record r)
{
	if (!r.name)
		r.name = "";
	r.tid = r.pid;
	r.parent_tid = r.parent_pid;
	assert_null(spaces_apply(f->spaces, &r));
}

/* A mapping as the side band reports it; `build_id` is its first byte, 0: none is known. */
static void map(struct fixture *f, uint32_t pid, uint64_t start, uint64_t end, const char *path,
		uint8_t build_id)
{
	struct side_record r = { .type = SIDE_RECORD_MAP,
				 .time_ns = 1,
				 .pid = pid,
				 .map = { .start = start, .size = end - start },
				 .name = path };

	r.map.build_id[0] = build_id;
	r.map.build_id_size = build_id ? 20 : 0;
	apply(f, r);
}

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
	unwinder_prepare(f->unwinder, "/proc/self/exe", LONG_NS);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	unwinder_totals(f->unwinder, &totals);
	assert_true(totals.files >= 2);
	unwinder_prepare(f->unwinder, "no-such-program", LONG_NS);
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
		unwinder_prepare(f->unwinder, path, LONG_NS);
		unwinder_totals(f->unwinder, &totals);
		unlink(path);
	}
	assert_true(totals.dropped > 0);
	assert_int_equal(totals.short_of_memory, 0);
	assert_int_equal(totals.files, before.files + 1 - totals.dropped);
	/* Only those of one of the two slabs had to go. */
	assert_true(totals.files > before.files / 4 && totals.slabs == 2);
}

/* -------- files that are gone -------- */

/* Makes `to` a copy of a program and maps it into this process; closes it. */
static void *map_as(int to, const char *program, size_t *size)
{
	int from = open(program, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *at;

	if (from < 0)
		skip();
	assert_true(to >= 0 && !fstat(from, &status));
	*size = (size_t)status.st_size;
	assert_int_equal(sendfile(to, from, NULL, *size), *size);
	at = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
	assert_true(at != MAP_FAILED);
	close(from);
	close(to);
	return at;
}

static void *map_copy(char *path, size_t *size)
{
	strcpy(path, "/tmp/prof-test-XXXXXX");
	return map_as(mkstemp(path), "/bin/cat", size);
}

/* BPF maps do not count: the thread that makes tables keeps one ready for the next table. */
static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	char link[16] = "";
	size_t n = 0;

	while ((entry = readdir(folder)))
		n += readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1) > 0 &&
		     strncmp(link, "anon_inode:", 11) != 0;
	closedir(folder);
	return n;
}

/* So many files stay open; the thread that makes tables may have one more for a moment. */
static void assert_open_files(size_t expected)
{
	for (int i = 0; i < 1000 && open_files() != expected; i++)
		usleep(10000);
	assert_int_equal(open_files(), expected);
}

static void count(struct object *object, void *context)
{
	++*(size_t *)context;
}

static size_t count_objects(const struct fixture *f)
{
	size_t n = 0;

	objects_each(f->objects, count, &n);
	return n;
}

/* As traces_let_go() does it, so much later that no sample of the file can come. */
static size_t let_go(struct fixture *f)
{
	size_t n = unwinder_find_removed(f->unwinder, clock_now() + UINT64_C(11000000000));

	vanished_forget(f->objects, f->unwinder, f->spaces);
	unwinder_forget_removed(f->unwinder);
	return n;
}

/* Neither its fd, nor its table, nor anything else of it stays. It may come again. */
static void test_removed_program_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct unwinder_totals before, totals;
	size_t size, files, objects;
	char path[32];
	void *at;

	start(f, 0);
	map_self(f);
	let_go(f);
	let_go(f);
	unwinder_totals(f->unwinder, &before);
	files = open_files();
	objects = count_objects(f);
	for (int round = 0; round < 2; round++) {
		at = map_copy(path, &size);
		map_self(f);
		unwinder_totals(f->unwinder, &totals);
		assert_int_equal(totals.files, before.files + 1);
		assert_open_files(files + 1);
		assert_int_equal(count_objects(f), objects + 1);
		/* As long as it is mapped, it stays. */
		unlink(path);
		assert_int_equal(let_go(f), 0);
		munmap(at, size);
		map_self(f);
		/* An object goes when it was found without users twice. */
		assert_int_equal(let_go(f), 1);
		assert_open_files(files + 1);
		assert_int_equal(let_go(f), 1);
		unwinder_totals(f->unwinder, &totals);
		assert_int_equal(totals.files, before.files);
		assert_int_equal(totals.rows, before.rows);
		assert_open_files(files);
		assert_int_equal(count_objects(f), objects);
		assert_int_equal(let_go(f), 0);
	}
}

/* Starts a process that maps what we do and has that root; it ends when `go` is closed. */
static uint32_t start_in(const char *root, int *go)
{
	int told[2], wait[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(wait), 0);
	pid = fork();
	if (!pid) {
		close(wait[1]);
		if (chroot(root) || write(told[1], "y", 1) != 1 || read(wait[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(told[1]);
	close(wait[0]);
	*go = wait[1];
	if (read(told[0], &byte, 1) != 1)
		skip(); /* it may not have another root here */
	close(told[0]);
	return (uint32_t)pid;
}

struct searching {
	const char *root;
	struct object *found;
};

static void look_for_code(struct object *object, void *context)
{
	struct searching *s = context;

	if (object->code && object->definition.build_id_size &&
	    !strcmp(object->definition.root, s->root))
		s->found = object;
}

/* The files of a container are other containers' as well. Once it has ended its objects go. */
static void test_container_is_forgotten(void **state)
{
	char root[] = "/tmp/test_unwinder-XXXXXX";
	struct searching s = { .root = root };
	struct fixture *f = *state;
	size_t objects, before;
	struct prf_writer *w;
	uint32_t pid;
	int go;

	start(f, 0);
	map_self(f);
	let_go(f);
	let_go(f);
	objects = count_objects(f);
	assert_non_null(mkdtemp(root));
	pid = start_in(root, &go);
	assert_null(spaces_read(f->spaces, pid, 0));
	unwinder_flush(f->unwinder);
	assert_true(count_objects(f) >= objects + 2);
	objects_each(f->objects, look_for_code, &s);
	assert_non_null(s.found);
	code_hits_add(&s.found->hits, s.found->definition.size / 2);
	close(go);
	waitpid((pid_t)pid, NULL, 0);
	spaces_end(f->spaces, pid, 2);
	spaces_remove(f->spaces, pid);
	/* They may be wanted again soon. */
	before = count_objects(f);
	for (unsigned int i = 0; i < 59; i++)
		let_go(f);
	assert_int_equal(count_objects(f), before);
	assert_int_equal(let_go(f), 0);
	/* One has to be named first. */
	assert_int_equal(count_objects(f), objects + 1);
	assert_null(prf_writer_new(&w, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write_removed(f->objects, f->unwinder, w));
	prf_writer_free(w);
	assert_int_equal(let_go(f), 0);
	assert_int_equal(count_objects(f), objects);
	rmdir(root);
}

/* Of a program that ended before its file was opened, there is nothing to keep. */
static void test_program_that_was_never_opened_is_forgotten(void **state)
{
	struct fixture *f = *state;
	const uint32_t programs = 100;
	size_t objects;
	char path[32];

	start(f, 0);
	map_self(f);
	let_go(f);
	let_go(f);
	objects = count_objects(f);
	for (uint32_t i = 0; i < programs; i++) {
		uint32_t pid = 0x7fff0000 + i;

		snprintf(path, sizeof(path), "/no/such/file%" PRIu32, i);
		map(f, pid, 0x10000, 0x20000, path, (uint8_t)(i + 1));
		unwinder_flush(f->unwinder);
		spaces_end(f->spaces, pid, 2);
		spaces_remove(f->spaces, pid);
	}
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(count_objects(f), objects + programs);
	assert_int_equal(let_go(f), programs);
	assert_int_equal(let_go(f), programs);
	assert_int_equal(count_objects(f), objects);
	assert_int_equal(let_go(f), 0);
}

/* What map_as() has mapped is the only mapping of this process, as the side band reports it. */
static void report_map(struct fixture *f, void *at, size_t size, const char *path)
{
	struct side_record r = { .type = SIDE_RECORD_MAP,
				 .time_ns = 1,
				 .pid = (uint32_t)getpid(),
				 .map = { .start = (uintptr_t)at, .size = size },
				 .name = path };
	struct elf_file e;

	assert_int_equal(elf_file_open_memory(&e, at, size), 0);
	r.map.build_id_size = e.build_id_size;
	memcpy(r.map.build_id, e.build_id, e.build_id_size);
	elf_file_release(&e);
	apply(f, r);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
}

static void report_unmap(struct fixture *f, void *at, size_t size)
{
	uint32_t self = (uint32_t)getpid();

	munmap(at, size);
	spaces_end(f->spaces, self, 2);
	spaces_remove(f->spaces, self);
}

/* The kernel knows both files by one key. */
static void test_overwritten_program_is_forgotten_alone(void **state)
{
	struct fixture *f = *state;
	struct unwind_file_key key;
	struct unwind_file before, after;
	struct stat status;
	char path[32];
	size_t size;
	void *at;

	start(f, 0);
	at = map_copy(path, &size);
	report_map(f, at, size, path);
	report_unmap(f, at, size);
	at = map_as(open(path, O_RDWR | O_TRUNC | O_CLOEXEC), "/bin/ls", &size);
	report_map(f, at, size, path);
	assert_int_equal(stat(path, &status), 0);
	unlink(path);
	key = (struct unwind_file_key){
		.device = (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev),
		.inode = status.st_ino,
	};
	assert_int_equal(bpf_map_lookup_elem(f->maps.files, &key, &before), 0);
	assert_int_equal(let_go(f), 1);
	assert_int_equal(let_go(f), 1);
	assert_int_equal(let_go(f), 0);
	assert_int_equal(bpf_map_lookup_elem(f->maps.files, &key, &after), 0);
	assert_int_equal(after.first_page, before.first_page);
	/* The last one of the key takes it along. */
	report_unmap(f, at, size);
	assert_int_equal(let_go(f), 1);
	assert_int_equal(let_go(f), 1);
	assert_int_not_equal(bpf_map_lookup_elem(f->maps.files, &key, &after), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_program_that_was_never_opened_is_forgotten, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_overwritten_program_is_forgotten_alone, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_removed_program_is_forgotten, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_container_is_forgotten, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_own_process, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_fork_exec_exit, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_mappings_replace_each_other, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_more_mappings_than_a_run_holds, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_file_that_is_not_there, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_replaced_file, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_prepared_program, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_memory_limit, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_unused_tables_make_room, set_up, tear_down),
};

UNIT_TESTS(tests);
