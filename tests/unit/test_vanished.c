/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/vanished.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unwinder_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "bpf/abi/unwind.h"
#include "common/clock.h"
#include "common/elf_file.h"
#include "common/limits.h"

static __thread time_t ahead_s; /* how far the clock is ahead for this thread */

/* In place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	long status = syscall(SYS_clock_gettime, clock, t);

	t->tv_sec += ahead_s;
	return (int)status;
}

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

/* What map_as() has mapped is the only mapping of this process, as the side band reports it. */
static void report_map(struct fixture *f, void *at, size_t size, const char *path)
{
	struct side_record r = { .type = SIDE_RECORD_MAP,
				 .pid = (uint32_t)getpid(),
				 .map = { .start = (uintptr_t)at, .size = size },
				 .name = path };
	struct stat status;
	struct elf_file e;

	assert_int_equal(elf_file_open_memory(&e, at, size), 0);
	r.map.build_id_size = e.build_id_size;
	memcpy(r.map.build_id, e.build_id, e.build_id_size);
	if (!e.build_id_size && !stat(path, &status)) {
		r.map.major = major(status.st_dev);
		r.map.minor = minor(status.st_dev);
		r.map.inode = status.st_ino;
	}
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

/* What a trace has of an object's names, or of all (NULL). */
struct names {
	size_t n, bytes;
};

static struct names read_names(struct prf_writer *w, const char *path)
{
	struct prf_reader *r = fixture_read_back(w);
	struct names names = { 0 };
	struct prf_record record;

	while (fixture_next(r, &record)) {
		if (record.type != PRF_RECORD_SYMBOLS ||
		    (path && strcmp(prf_reader_object(r, record.symbols.object)->path, path) != 0))
			continue;
		names.n += record.symbols.n;
		for (size_t i = 0; i < record.symbols.n; i++)
			names.bytes += strlen(record.symbols.symbols[i].name);
	}
	prf_reader_free(r);
	prf_writer_free(w);
	return names;
}

/* As traces_let_go() does it each 10 s. */
static struct vanished_names look(struct fixture *f)
{
	struct vanished_names names = { 0 };

	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_let_go(f->objects, f->unwinder, f->spaces, &names));
	unwinder_forget_unused(f->unwinder, f->objects, clock_now() + UINT64_C(11000000000));
	return names;
}

/* Which names of `path` are written then. */
static struct names let_go_of(struct fixture *f, const char *path)
{
	struct vanished_names names = look(f);

	assert_int_equal(names.unread, 0);
	return read_names(names.writer, path);
}

/* At the end of a trace. */
static struct names write_names_of(struct fixture *f, const char *path)
{
	struct vanished_names names = { 0 };

	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write(f->objects, f->unwinder, &names));
	assert_int_equal(names.unread, 0);
	return read_names(names.writer, path);
}

static void let_go(struct fixture *f)
{
	assert_int_equal(let_go_of(f, "").n, 0);
}

static void let_go_times(struct fixture *f, unsigned int n)
{
	while (n--)
		let_go(f);
}

/* What there was before a test. */
struct before {
	size_t objects, files;
	struct unwinder_totals totals;
};

static struct before note_before(struct fixture *f)
{
	struct before before;

	let_go_times(f, 3);
	before.objects = count_objects(f);
	before.files = open_files();
	unwinder_totals(f->unwinder, &before.totals);
	return before;
}

/* So many objects more than before, each of a file that is open and has a table. */
static void assert_more(struct fixture *f, const struct before *before, size_t n)
{
	struct unwinder_totals totals;

	unwinder_totals(f->unwinder, &totals);
	assert_int_equal(count_objects(f), before->objects + n);
	assert_int_equal(totals.files, before->totals.files + n);
	if (!n)
		assert_int_equal(totals.rows, before->totals.rows);
	assert_open_files(before->files + n);
}

/* Neither its fd, nor its table, nor anything else of it stays. It may come again. */
static void test_removed_program_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct before before;
	char path[32];
	size_t size;
	void *at;

	start(f, 0);
	map_self(f);
	before = note_before(f);
	for (int round = 0; round < 2; round++) {
		at = map_copy(path, &size);
		map_self(f);
		/* As long as it is mapped, it stays. */
		unlink(path);
		let_go_times(f, 3);
		assert_more(f, &before, 1);
		munmap(at, size);
		map_self(f);
		/* An object goes when it was found without users twice. */
		let_go(f);
		assert_more(f, &before, 1);
		let_go(f);
		assert_more(f, &before, 0);
	}
}

/* Maps a copy of a program that belongs to a user; returns the object, whose file is removed. */
static struct object *map_copy_of(struct fixture *f, uid_t owner, ino_t *inode)
{
	char path[] = "/tmp/prof-test-XXXXXX";
	struct stat status;
	int fd = mkstemp(path);
	size_t size;
	void *at;

	assert_int_equal(fstat(fd, &status), 0);
	*inode = status.st_ino;
	if (fchown(fd, owner, (gid_t)-1)) {
		unlink(path);
		skip();
	}
	at = map_as(fd, "/bin/cat", &size);
	map_self(f);
	unlink(path);
	munmap(at, size);
	return spaces_find(f->spaces, (uint32_t)getpid(), (uintptr_t)at)->object;
}

static void assert_is_of(struct fixture *f, const struct object *object, ino_t inode)
{
	struct stat status;
	int fd = unwinder_open_file(f->unwinder, object->code);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_ino, inode);
	close(fd);
}

/* Anybody can make a file with the build-id of another one: its names are only its user's. */
static void test_same_build_id(void **state)
{
	struct fixture *f = *state;
	const struct object *others, *ours;
	ino_t theirs, first, next;

	start(f, 0);
	others = map_copy_of(f, 65534, &theirs);
	ours = map_copy_of(f, geteuid(), &first);
	assert_int_equal(others->definition.build_id_size, 20);
	assert_memory_equal(others->definition.build_id, ours->definition.build_id, 20);
	assert_is_of(f, others, theirs);
	assert_is_of(f, ours, first);
	/* The same file in many containers has one table. */
	assert_ptr_equal(map_copy_of(f, geteuid(), &next)->code, ours->code);
}

/* -------- containers -------- */

/* Makes a copy of a program, with no build-id; returns an fd of it. For a child, too. */
static int copy_without_build_id(const char *program, const char *path)
{
	int from = open(program, O_RDONLY | O_CLOEXEC), to;
	struct stat status;
	struct elf_file elf;
	uint8_t *bytes, *id;

	if (from < 0 || fstat(from, &status) || elf_file_open(&elf, from))
		_exit(2);
	bytes = malloc((size_t)status.st_size);
	if (!bytes || pread(from, bytes, (size_t)status.st_size, 0) != status.st_size)
		_exit(2);
	id = memmem(bytes, (size_t)status.st_size, elf.build_id, elf.build_id_size);
	if (!id)
		_exit(2);
	id[-8] = 0x77; /* the type of the note */
	to = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
	if (to < 0 || write(to, bytes, (size_t)status.st_size) != status.st_size)
		_exit(2);
	elf_file_release(&elf);
	close(from);
	free(bytes);
	return to;
}

/* Makes this process a container as others make them, whose root we see as "/". */
static bool enter_container(const char *root)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", root, "tmpfs", 0, NULL) || chdir(root))
		return false;
	close(copy_without_build_id("/bin/cat", "program"));
	return !syscall(SYS_pivot_root, ".", ".") && !umount2(".", MNT_DETACH);
}

static bool run_program(const char *root)
{
	int fd = enter_container(root) ? open("/program", O_RDONLY | O_CLOEXEC) : -1;
	void *at = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at != MAP_FAILED;
}

static bool change_root(const char *root)
{
	return !chroot(root);
}

/*
 * Starts a process that maps what we do, and may `enter` another root folder; it ends when `go` is
 * closed.
 */
static uint32_t start_in(const char *root, bool (*enter)(const char *root), int *go)
{
	int told[2], wait[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(wait), 0);
	pid = fork();
	if (!pid) {
		close(wait[1]);
		if (!enter(root) || write(told[1], "y", 1) != 1 || read(wait[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(told[1]);
	close(wait[0]);
	*go = wait[1];
	if (read(told[0], &byte, 1) != 1)
		skip(); /* there may be no containers here */
	close(told[0]);
	return (uint32_t)pid;
}

/* A `root` of NULL is any, and the path may have it, too. */
struct searching {
	const char *root, *path;
	struct object *found;
};

static void search(struct object *object, void *context)
{
	struct searching *s = context;
	const char *path = object->definition.path;
	size_t before = strlen(path) - strlen(s->path);

	if (s->root ? !strcmp(object->definition.root, s->root) && !strcmp(path, s->path)
		    : strlen(path) >= strlen(s->path) && !strcmp(path + before, s->path))
		s->found = object;
}

/*
 * Its files are on a file system of its own, which stays as long as one of them is open. Nothing
 * tells it from a process without a container, but that its path leads to nothing; unless this
 * test itself runs in a chroot, whose place is then seen as the container's root.
 */
static void test_container_is_forgotten(void **state)
{
	char root[] = "/tmp/test_vanished-XXXXXX";
	struct searching s = { .path = "/program" };
	struct fixture *f = *state;
	struct before before;
	uint32_t pid;
	int go;

	start(f, 0);
	map_self(f);
	before = note_before(f);
	assert_non_null(mkdtemp(root));
	pid = start_in(root, run_program, &go);
	assert_null(spaces_read(f->spaces, pid, NOW_NS));
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	objects_each(f->objects, search, &s);
	assert_non_null(s.found);
	assert_int_equal(s.found->definition.build_id_size, 0);
	assert_int_equal(unwinder_holds(f->unwinder, s.found->code), UNWINDER_HOLDS_FILE);
	close(go);
	waitpid((pid_t)pid, NULL, 0);
	spaces_end(f->spaces, pid, 2);
	spaces_remove(f->spaces, pid);
	let_go(f);
	/* It may be started again soon. */
	let_go_times(f, 59);
	s.found = NULL;
	objects_each(f->objects, search, &s);
	assert_non_null(s.found);
	assert_int_equal(s.found->idle, 59);
	let_go(f);
	assert_more(f, &before, 0);
	rmdir(root);
}

/* Its files are other containers' as well, as those of one image are. */
static void test_container_of_a_shared_image_is_forgotten(void **state)
{
	char root[] = "/tmp/test_vanished-XXXXXX";
	const uintptr_t hit = (uintptr_t)test_container_of_a_shared_image_is_forgotten;
	struct searching s = { .root = root };
	struct fixture *f = *state;
	const struct mapping *m;
	struct before before;
	uint32_t pid;
	int go;

	start(f, 0);
	m = spaces_find(f->spaces, map_self(f), hit);
	before = note_before(f);
	assert_non_null(mkdtemp(root));
	pid = start_in(root, change_root, &go);
	assert_null(spaces_read(f->spaces, pid, NOW_NS));
	unwinder_flush(f->unwinder);
	assert_true(count_objects(f) >= before.objects + 2);
	s.path = m->object->definition.path;
	objects_each(f->objects, search, &s);
	assert_non_null(s.found);
	code_hits_add(&s.found->hits, hit - m->start + m->offset);
	close(go);
	waitpid((pid_t)pid, NULL, 0);
	spaces_end(f->spaces, pid, 2);
	spaces_remove(f->spaces, pid);
	let_go_times(f, 60);
	assert_true(count_objects(f) >= before.objects + 2);
	assert_true(let_go_of(f, s.path).n > 0);
	assert_more(f, &before, 0);
	rmdir(root);
}

/* -------- files that are in use -------- */

/* Where the report will look for it. */
static void test_program_at_its_path_stays(void **state)
{
	struct fixture *f = *state;
	struct before before;
	char path[32], other[40];
	size_t size;
	void *at;

	start(f, 0);
	map_self(f);
	before = note_before(f);
	at = map_copy(path, &size);
	map_self(f);
	munmap(at, size);
	map_self(f);
	let_go_times(f, 200);
	assert_more(f, &before, 1);
	snprintf(other, sizeof(other), "%s-moved", path);
	assert_int_equal(rename(path, other), 0);
	let_go_times(f, 60);
	assert_more(f, &before, 0);
	unlink(other);
}

/* At no look it is running. Although it was removed, its table is made once. */
static void test_program_that_is_run_each_second_stays(void **state)
{
	struct fixture *f = *state;
	unsigned int builds;
	char path[32];
	uint32_t pid;
	size_t size;
	void *at;

	start(f, 0);
	at = map_copy(path, &size);
	pid = map_self(f);
	builds = f->builds;
	unlink(path);
	for (unsigned int look = 0; look < 200; look++) {
		assert_null(spaces_read(f->spaces, pid, NOW_NS));
		unwinder_flush(f->unwinder);
		spaces_end(f->spaces, pid, 2);
		spaces_remove(f->spaces, pid);
		let_go(f);
	}
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(f->builds, builds);
	munmap(at, size);
}

/* -------- names -------- */

#define CODE_BYTES 4096
#define SHORTEST 12000

/* A program of which each byte is a function with a name of thousands of bytes. */
struct verbose {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[20];
	} note;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[CODE_BYTES];
	char names[SHORTEST + CODE_BYTES];
	char section_names[40];
	uint8_t code[CODE_BYTES];
};

#define VERBOSE_SECTION(name_at, kind, member, linked)                                             \
	FIXTURE_SECTION(struct verbose, name_at, kind, member, linked)

static void make_verbose(struct verbose *v)
{
	*v = (struct verbose){
		.header = fixture_layout_header(offsetof(struct verbose, segments),
						offsetof(struct verbose, sections), 5),
		.segments = { { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = sizeof(*v),
				.p_memsz = sizeof(*v),
				.p_align = 4096 },
			      { .p_type = PT_NOTE,
				.p_offset = offsetof(struct verbose, note),
				.p_vaddr = offsetof(struct verbose, note),
				.p_filesz = sizeof(v->note),
				.p_memsz = sizeof(v->note),
				.p_align = 4 } },
		.note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 7 } },
		.sections = { { 0 },
			      VERBOSE_SECTION(1, SHT_SYMTAB, symbols, 2),
			      VERBOSE_SECTION(9, SHT_STRTAB, names, 0),
			      VERBOSE_SECTION(17, SHT_STRTAB, section_names, 0),
			      { .sh_name = 27, .sh_type = SHT_DYNSYM, .sh_link = 2 } },
		.section_names = "\0.symtab\0.strtab\0.shstrtab\0.dynsym",
	};
	v->header.e_phnum = 2;
	memset(v->names, 'n', sizeof(v->names) - 1);
	for (size_t i = 0; i < CODE_BYTES; i++) {
		v->symbols[i] = fixture_symbol(CODE_BYTES - 1 - i,
					       offsetof(struct verbose, code) + i, 1);
		v->symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	}
}

#define PATH_BYTES 32

/* Maps a file of so many bytes, and deletes it. The object of its code. */
static struct object *map_verbose(struct fixture *f, const struct verbose *verbose, size_t size,
				  uid_t owner, char *path, void **at)
{
	char folder[] = "/tmp/prof-XXXXXX";
	const struct mapping *m;
	int to;

	assert_non_null(mkdtemp(folder));
	snprintf(path, PATH_BYTES, "%s/XXXXXX", folder);
	to = mkstemp(path);
	assert_int_equal(fchown(to, owner, (gid_t)-1), 0);
	assert_int_equal(write(to, verbose, sizeof(*verbose)), sizeof(*verbose));
	assert_int_equal(ftruncate(to, (off_t)size), 0);
	*at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
	assert_true(*at != MAP_FAILED);
	close(to);
	report_map(f, *at, size, path);
	unlink(path);
	rmdir(folder);
	m = spaces_find(f->spaces, (uint32_t)getpid(), (uintptr_t)*at);
	assert_non_null(m);
	return m->object;
}

/* What names a trace gets of a program is bounded by what samples hit of it. */
static void test_names_are_bounded(void **state)
{
	static struct verbose verbose;
	struct fixture *f = *state;
	struct object *object;
	struct names names[2];
	char path[32];
	void *at;

	start(f, 0);
	make_verbose(&verbose);
	object = map_verbose(f, &verbose, sizeof(verbose), geteuid(), path, &at);
	for (size_t round = 0; round < 2; round++) {
		size_t hits = round ? CODE_BYTES : 1;

		for (size_t i = 0; i < hits; i++)
			code_hits_add(&object->hits, offsetof(struct verbose, code) + i);
		names[round] = write_names_of(f, path);
	}
	assert_true(names[0].n > 1 && names[0].bytes < 70000);
	assert_true(names[1].n > names[0].n && names[1].bytes < 70000 + 66 * 2048);
	munmap(at, sizeof(verbose));
}

/* A deleted program with so many symbols, most of them in a hole, that nobody maps any more. */
static void map_large(struct fixture *f, char *path, uid_t owner, size_t symbols)
{
	static struct verbose verbose;
	const size_t bytes = symbols * sizeof(Elf64_Sym);
	struct object *object;
	void *at;

	make_verbose(&verbose);
	verbose.sections[4].sh_offset = sizeof(verbose);
	verbose.sections[4].sh_size = bytes;
	object = map_verbose(f, &verbose, sizeof(verbose) + bytes, owner, path, &at);
	code_hits_add(&object->hits, offsetof(struct verbose, code));
	report_unmap(f, at, sizeof(verbose) + bytes);
}

/* Of which one alone has as many symbols as one look reads. */
static void map_two_large(struct fixture *f, char (*paths)[PATH_BYTES])
{
	for (size_t i = 0; i < 2; i++)
		map_large(f, paths[i], geteuid(), LIMIT_LOOK_SYMBOLS);
}

static void test_names_wait_for_the_next_look(void **state)
{
	struct fixture *f = *state;
	char paths[2][PATH_BYTES];
	size_t n;

	start(f, 0);
	map_two_large(f, paths);
	let_go_times(f, 2);
	n = let_go_of(f, NULL).n;
	assert_true(n > 0);
	assert_int_equal(let_go_of(f, NULL).n, n);
	assert_int_equal(let_go_of(f, NULL).n, 0);
}

/* At the end of a trace, which of two files is named first. */
static void assert_one_has_no_names(struct fixture *f, char (*paths)[PATH_BYTES])
{
	struct vanished_names names = { 0 };
	char why[160];
	size_t first;

	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write(f->objects, f->unwinder, &names));
	assert_true(read_names(names.writer, NULL).n > 0);
	assert_int_equal(names.unread, 1);
	assert_int_equal(names.why->kind, ERROR_LIMIT);
	first = !strncmp(names.why->text, paths[0], strlen(paths[0])) ? 0 : 1;
	snprintf(why, sizeof(why),
		 "%s: deleted files before it have the 4194304 symbols that are read at once, or "
		 "its owner's share",
		 paths[first]);
	assert_string_equal(names.why->text, why);
	error_free(names.why);
}

static void test_names_do_not_wait_at_the_end(void **state)
{
	struct fixture *f = *state;
	char paths[2][PATH_BYTES];

	start(f, 0);
	map_two_large(f, paths);
	assert_one_has_no_names(f, paths);
	assert_int_equal(write_names_of(f, NULL).n, 0);
}

#define OTHER 65534

/* What another user's share has no room for now waits, too. */
static void test_names_of_one_user_wait(void **state)
{
	struct fixture *f = *state;
	char path[PATH_BYTES];
	size_t n;

	start(f, 0);
	for (size_t i = 0; i < 2; i++)
		map_large(f, path, OTHER, LIMIT_LOOK_SYMBOLS / 3);
	let_go_times(f, 2);
	n = let_go_of(f, NULL).n;
	assert_true(n > 0);
	assert_int_equal(let_go_of(f, NULL).n, n);
	assert_int_equal(let_go_of(f, NULL).n, 0);
}

static void test_names_of_one_user_do_not_wait_at_the_end(void **state)
{
	struct fixture *f = *state;
	char paths[2][PATH_BYTES];

	start(f, 0);
	for (size_t i = 0; i < 2; i++)
		map_large(f, paths[i], OTHER, LIMIT_LOOK_SYMBOLS / 3);
	assert_one_has_no_names(f, paths);
}

/* Something is at the path of a deleted file. */
static void replace(const char *path)
{
	char folder[PATH_BYTES];
	int fd;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	assert_int_equal(mkdir(folder, 0700), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static void remove_with_folder(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* Looking at what is there costs, too: the file would fit, but for that. */
static void test_names_do_not_wait_for_good(void **state)
{
	struct fixture *f = *state;
	char path[PATH_BYTES];
	uint64_t unread = 0;

	start(f, 0);
	map_large(f, path, OTHER, LIMIT_LOOK_SYMBOLS / 2 - CODE_BYTES - 1);
	replace(path);
	let_go_times(f, 3);
	for (size_t i = 0; i < 20; i++) {
		struct vanished_names names = look(f);

		unread += names.unread;
		error_free(names.why);
		prf_writer_free(names.writer);
	}
	assert_int_equal(unread, 1);
	remove_with_folder(path);
}

/* Each of his files has as many symbols as one look reads, and one is as good as surely first. */
static void test_users_do_not_take_others_names(void **state)
{
	struct fixture *f = *state;
	struct vanished_names names = { 0 };
	char path[PATH_BYTES];
	size_t n;

	start(f, 0);
	map_large(f, path, geteuid(), 1);
	n = write_names_of(f, NULL).n;
	assert_true(n > 0);
	for (size_t i = 0; i < 3; i++)
		map_large(f, path, geteuid(), 1);
	for (size_t i = 0; i < 5; i++)
		map_large(f, path, OTHER, LIMIT_LOOK_SYMBOLS);
	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write(f->objects, f->unwinder, &names));
	assert_int_equal(read_names(names.writer, NULL).n, 3 * n);
	assert_int_equal(names.unread, 5);
	error_free(names.why);
}

static bool has_no_time(void *context, uint64_t spent_ns)
{
	size_t *asked = context;

	return !(*asked)++;
}

/* A signal asks for the end: of two files, the second one is not read. */
static void test_names_in_haste(void **state)
{
	struct fixture *f = *state;
	size_t asked = 0;
	struct vanished_names names = { .goes_on = has_no_time, .context = &asked };
	char path[PATH_BYTES];

	start(f, 0);
	for (size_t i = 0; i < 2; i++)
		map_large(f, path, geteuid(), 1);
	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write(f->objects, f->unwinder, &names));
	assert_true(read_names(names.writer, NULL).n > 0);
	assert_int_equal(asked, 2);
	assert_int_equal(names.unread, 1);
	assert_non_null(
		strstr(names.why->text, ": a signal ended the recording before it was read"));
	error_free(names.why);
}

#define HOUR_S 3600

/* There are an hour and a half; each file takes an hour. */
static bool has_time(void *context, uint64_t spent_ns)
{
	bool more = spent_ns < UINT64_C(1000000000) * (HOUR_S + HOUR_S / 2);

	ahead_s += more ? HOUR_S : 0;
	return more;
}

/* Of many files of one user, and one that is as good as surely not among the first two. */
static void test_users_do_not_take_others_time(void **state)
{
	struct fixture *f = *state;
	struct vanished_names names = { .goes_on = has_time };
	char path[PATH_BYTES], own[PATH_BYTES];

	start(f, 0);
	map_large(f, own, geteuid(), 1);
	for (size_t i = 0; i < 40; i++)
		map_large(f, path, OTHER, 1);
	assert_null(prf_writer_new(&names.writer, &(struct prf_writer_options){ .fd = -1 }));
	assert_null(vanished_write(f->objects, f->unwinder, &names));
	ahead_s = 0;
	assert_true(read_names(names.writer, own).n > 0);
	assert_int_equal(names.unread, 39);
	error_free(names.why);
}

/* It has a name as long as its file is surely the one that was recorded. */
static void test_names_without_build_id(void **state)
{
	const uintptr_t hit = (uintptr_t)test_names_without_build_id;
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	struct fixture *f = *state;
	const struct mapping *m;
	char path[32];
	uint64_t offset;
	struct stat status;
	void *at;
	int fd;

	start(f, 0);
	m = spaces_find(f->spaces, map_self(f), hit);
	offset = hit - m->start + m->offset;
	snprintf(path, sizeof(path), "/tmp/prof-test-%d", getpid());
	fd = copy_without_build_id("/proc/self/exe", path);
	assert_int_equal(fstat(fd, &status), 0);
	at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	report_map(f, at, (size_t)status.st_size, path);
	unlink(path);
	m = spaces_find(f->spaces, (uint32_t)getpid(), (uintptr_t)at);
	assert_non_null(m);
	for (int round = 0; round < 2; round++) {
		code_hits_add(&m->object->hits, offset);
		assert_int_equal(write_names_of(f, path).n > 0, !round);
		/* Something has written to it. */
		assert_int_equal(futimens(fd, times), 0);
	}
	munmap(at, (size_t)status.st_size);
	close(fd);
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
	let_go_times(f, 3);
	assert_int_equal(count_objects(f), objects);
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
	let_go_times(f, 4);
	assert_int_equal(bpf_map_lookup_elem(f->maps.files, &key, &after), 0);
	assert_int_equal(after.first_page, before.first_page);
	/* The last one of the key takes it along. */
	report_unmap(f, at, size);
	let_go_times(f, 2);
	assert_int_not_equal(bpf_map_lookup_elem(f->maps.files, &key, &after), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_program_that_was_never_opened_is_forgotten, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_overwritten_program_is_forgotten_alone, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_removed_program_is_forgotten, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_are_bounded, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_without_build_id, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_wait_for_the_next_look, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_do_not_wait_at_the_end, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_of_one_user_wait, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_users_do_not_take_others_names, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_of_one_user_do_not_wait_at_the_end, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_names_do_not_wait_for_good, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_names_in_haste, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_users_do_not_take_others_time, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_same_build_id, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_container_is_forgotten, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_container_of_a_shared_image_is_forgotten, set_up,
					tear_down),
	cmocka_unit_test_setup_teardown(test_program_at_its_path_stays, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_program_that_is_run_each_second_stays, set_up,
					tear_down),
};

UNIT_TESTS(tests);
