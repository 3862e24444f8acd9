/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * make_image PID TID IMAGE TEXT: writes an image (image.h) of a thread of a process that has
 * stopped, and the frames that were found (replay.h). Needs root and BPF: the unwind rules are
 * those that the recorder publishes.
 *
 * The thread is replayed three times: from the process, to see which symbols of the runtime's file
 * are asked for; from the process and a copy of that file with no other symbols, to see what is
 * read of both; and from the image, which must lead to the same frames.
 */

#include "bpf/walk_copy.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "common/buffer.h"
#include "record/runtimes/elf_names.h"
#include "record/runtimes/hotspot_tables.h"
#include "record/runtimes/python_file.h"
#include "record/runtimes/ruby_file.h"
#include "record/runtimes/v8_file.h"
#include "record/unwind/cfi.h"
#include "record/unwind/unwinder.h"
#include "tests/images/replay.h"

#define PAGE 4096
#define SYMBOLS_MAX 256
#define RULES_MAX 4096

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "make_image: %s\n", what);
	exit(1);
}

/* -------- what is read of the process -------- */

struct logged {
	struct target_memory memory;
	struct map blocks; /* number -> its bytes, allocated; 0: not mapped */
};

static void log_block(struct logged *l, uint64_t number)
{
	uint64_t *value = map_put(&l->blocks, &number, sizeof(number), NULL);
	uint8_t *bytes;

	if (!value || *value)
		return;
	bytes = malloc(IMAGE_BLOCK);
	if (target_read(&l->memory, number * IMAGE_BLOCK, bytes, IMAGE_BLOCK))
		*value = (uintptr_t)bytes;
	else
		free(bytes);
}

/* With the block after it, for whoever will look at more members of the same objects. */
static bool read_logged(void *context, uint64_t address, void *to, size_t size)
{
	struct logged *l = context;

	if (!target_read(&l->memory, address, to, size))
		return false;
	for (uint64_t n = address / IMAGE_BLOCK; n <= (address + size - 1) / IMAGE_BLOCK + 1; n++)
		log_block(l, n);
	return true;
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

static size_t read_file(int fd)
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
	return size;
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

static void watch_file(void)
{
	struct sigaction action = { .sa_sigaction = touch, .sa_flags = SA_SIGINFO };

	touched = calloc(copy_size / PAGE, sizeof(*touched));
	must(touched && !sigaction(SIGSEGV, &action, NULL) && !mprotect(copy, copy_size, PROT_NONE),
	     "the file cannot be watched");
}

static void unwatch_file(void)
{
	signal(SIGSEGV, SIG_DFL);
	mprotect(copy, copy_size, PROT_READ);
}

/* -------- unwind tables -------- */

static const void *map_array(int fd, size_t size)
{
	const void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	must(fd >= 0 && memory != MAP_FAILED, "a BPF map cannot be read");
	return memory;
}

static const uint32_t *slabs[UNWIND_MAX_SLABS];

/* Those that the unwinder has published for the process. */
static void read_tables(struct kernel_tables *t, const struct walk_copy_bpf *skeleton, uint32_t pid)
{
	int slabs_fd = bpf_map__fd(skeleton->maps.unwind_slabs);
	uint32_t id;

	t->segment_count = UNWIND_MAX_SEGMENTS;
	t->page_count = UNWIND_MAX_PAGES;
	t->rule_count = UNWIND_MAX_RULES;
	t->segments = map_array(bpf_map__fd(skeleton->maps.unwind_segments),
				UNWIND_MAX_SEGMENTS * sizeof(*t->segments));
	t->pages = map_array(bpf_map__fd(skeleton->maps.unwind_pages),
			     UNWIND_MAX_PAGES * sizeof(*t->pages));
	t->rules = map_array(bpf_map__fd(skeleton->maps.unwind_rules),
			     UNWIND_MAX_RULES * sizeof(*t->rules));
	t->slabs = slabs;
	for (uint32_t i = 0; i < UNWIND_MAX_SLABS; i++) {
		if (bpf_map_lookup_elem(slabs_fd, &i, &id))
			break;
		slabs[i] = map_array(bpf_map_get_fd_by_id(id), UNWIND_SLAB_ROWS * sizeof(uint32_t));
		t->slab_count = i + 1;
	}
	must(!bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.unwind_processes), &pid, &t->process),
	     "the process has no unwind tables");
	t->process.mm = 0;
}

static struct walk_copy_bpf *load_maps(struct unwinder_maps *maps)
{
	struct walk_copy_bpf *skeleton = walk_copy_bpf__open();

	must(skeleton && !walk_copy_bpf__load(skeleton), "the BPF programs cannot be loaded");
	*maps = (struct unwinder_maps){
		.segments = bpf_map__fd(skeleton->maps.unwind_segments),
		.pages = bpf_map__fd(skeleton->maps.unwind_pages),
		.rules = bpf_map__fd(skeleton->maps.unwind_rules),
		.slabs = bpf_map__fd(skeleton->maps.unwind_slabs),
		.processes = bpf_map__fd(skeleton->maps.unwind_processes),
		.files = bpf_map__fd(skeleton->maps.unwind_files),
	};
	return skeleton;
}

/* -------- the process -------- */

static void read_thread(struct kernel_thread *thread, pid_t pid, pid_t tid)
{
	struct user_regs_struct registers;

	must(!ptrace(PTRACE_SEIZE, tid, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) &&
		     waitpid(tid, NULL, __WALL) == tid &&
		     !ptrace(PTRACE_GETREGS, tid, NULL, &registers),
	     "the process cannot be traced");
	memcpy(thread->registers, &registers, sizeof(thread->registers));
	thread->pointer = registers.fs_base;
	thread->pid = (uint32_t)pid;
	thread->tid = (uint32_t)tid;
}

static bool holds_runtime(int fd)
{
	struct hotspot_exports exports;
	struct elf_file e;
	bool holds;

	if (elf_file_open(&e, fd))
		return false;
	holds = python_file_is_one(&e) || ruby_file_is_one(&e) || v8_file_is_one(&e) ||
		hotspot_tables_find(&exports, &e);
	elf_file_release(&e);
	return holds;
}

/* All mappings, and the runtime's file; its size. */
static size_t read_mappings(struct image *i, const struct layout *layout)
{
	size_t size = 0;

	i->mapping_count = layout->mappings.n;
	i->mappings = calloc(i->mapping_count, sizeof(*i->mappings));
	for (size_t n = 0; n < i->mapping_count; n++) {
		const struct mapping *m = &layout->mappings.list[n];
		int fd = -1;

		i->mappings[n] = (struct image_mapping){ m->start, m->end, m->offset,
							 m->object->definition.path };
		if (size || m->object->definition.kind != PRF_OBJECT_FILE ||
		    error_ignore(object_open(i->thread.pid, m, &fd)))
			continue;
		if (holds_runtime(fd)) {
			i->runtime = n;
			size = read_file(fd);
		}
		close(fd);
	}
	must(size > 0, "the process has no runtime");
	return size;
}

/* -------- the image -------- */

struct image_rule {
	uint64_t pc;
	struct unwind_rule rule;
};

struct rules {
	struct image_rule list[RULES_MAX];
	size_t count;
	const struct kernel_tables *tables;
};

static void add_rule(uint64_t pc, uint32_t rule, void *context)
{
	struct rules *rules = context;

	must(rule < UNWIND_MAX_RULES && rules->count < RULES_MAX, "a file has no table");
	rules->list[rules->count++] = (struct image_rule){ pc, rules->tables->rules[rule] };
}

static int compare_rules(const void *a, const void *b)
{
	const struct image_rule *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void write_rules(struct buffer *raw, const struct image *i)
{
	static struct rules rules;
	size_t unique = 0;

	rules.tables = &i->tables;
	kernel_half_each_rule(add_rule, &rules);
	qsort(rules.list, rules.count, sizeof(*rules.list), compare_rules);
	for (size_t n = 0; n < rules.count; n++)
		if (!n || rules.list[n].pc != rules.list[unique - 1].pc)
			rules.list[unique++] = rules.list[n];
	rules.count = unique;
	buffer_u64(raw, rules.count);
	for (size_t n = 0; n < rules.count; n++) {
		buffer_u64(raw, rules.list[n].pc);
		buffer_append(raw, &rules.list[n].rule, sizeof(rules.list[n].rule));
	}
}

static void write_file_blocks(struct buffer *raw, size_t size)
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

static int compare_blocks(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct sorted_blocks {
	uint64_t (*list)[2];
	size_t n;
};

static void add_block(const void *key, size_t size, uint64_t value, void *context)
{
	struct sorted_blocks *b = context;

	if (!value)
		return;
	memcpy(b->list[b->n], key, sizeof(uint64_t));
	b->list[b->n++][1] = value;
}

static void write_memory_blocks(struct buffer *raw, const struct map *blocks)
{
	struct sorted_blocks b = { calloc(blocks->count + 1, sizeof(*b.list)), 0 };

	map_each(blocks, add_block, &b);
	qsort(b.list, b.n, sizeof(*b.list), compare_blocks);
	buffer_u64(raw, b.n);
	for (size_t n = 0; n < b.n; n++) {
		buffer_u64(raw, b.list[n][0]);
		buffer_append(raw, (const void *)(uintptr_t)b.list[n][1], IMAGE_BLOCK);
	}
	free(b.list);
}

static void write_image(struct buffer *raw, const struct image *i, const struct map *blocks)
{
	buffer_u64(raw, IMAGE_MAGIC);
	for (size_t n = 0; n < KERNEL_REGISTERS; n++)
		buffer_u64(raw, i->thread.registers[n]);
	buffer_u64(raw, i->thread.pointer);
	buffer_u32(raw, i->thread.pid);
	buffer_u32(raw, i->thread.tid);
	buffer_u64(raw, i->runtime);
	buffer_u64(raw, i->mapping_count);
	for (size_t n = 0; n < i->mapping_count; n++) {
		buffer_u64(raw, i->mappings[n].start);
		buffer_u64(raw, i->mappings[n].end);
		buffer_u64(raw, i->mappings[n].offset);
		buffer_append(raw, i->mappings[n].path, strlen(i->mappings[n].path) + 1);
	}
	write_rules(raw, i);
	write_file_blocks(raw, i->file_size);
	write_memory_blocks(raw, blocks);
}

static void save(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	must(file && fwrite(data, 1, size, file) == size && !fclose(file),
	     "the result cannot be written");
}

static void save_packed(const char *path, const struct buffer *raw)
{
	size_t bound = ZSTD_compressBound(raw->size), n;
	uint8_t *packed = malloc(bound);

	must(packed, "no memory");
	n = ZSTD_compress(packed, bound, raw->data, raw->size, 19);
	must(!ZSTD_isError(n), "the image cannot be compressed");
	save(path, packed, n);
	fprintf(stderr, "%s: %zu bytes, of %zu\n", path, n, raw->size);
	free(packed);
}

static void replay_into(const struct image *i, struct buffer *text)
{
	const char *problem = image_replay(i, text);

	must(!problem, problem);
}

static void make(struct image *i, struct logged *logged, const char *path, const char *text_path)
{
	struct buffer text = { 0 }, again = { 0 }, raw = { 0 };
	struct image read;

	replay_into(i, &again);
	i->file_size = keep_asked_symbols(i->file_size);
	blank_rows(i->file_size);
	watch_file();
	i->memory = (struct target_memory){ read_logged, logged };
	replay_into(i, &text);
	unwatch_file();
	must(!strcmp(buffer_string(&text), buffer_string(&again)),
	     "other frames without the other symbols");
	write_image(&raw, i, &logged->blocks);
	save_packed(path, &raw);
	save(text_path, text.data, strlen(buffer_string(&text)));
	buffer_clear(&again);
	must(image_open(&read, path), "the image cannot be read");
	replay_into(&read, &again);
	must(!strcmp(buffer_string(&text), buffer_string(&again)), "other frames of the image");
	image_release(&read);
	buffer_release(&text);
	buffer_release(&again);
	buffer_release(&raw);
}

int main(int argc, char **argv)
{
	struct unwinder_options options = { 0 };
	struct image image = { 0 };
	struct logged logged = { 0 };
	struct walk_copy_bpf *skeleton;
	struct objects *objects = objects_new();
	struct spaces *spaces = spaces_new(objects, false);
	struct unwinder *u;
	uint32_t pid;

	must(argc == 5, "usage: make_image PID TID IMAGE TEXT");
	pid = (uint32_t)strtoul(argv[1], NULL, 10);
	read_thread(&image.thread, (pid_t)pid, (pid_t)strtol(argv[2], NULL, 10));
	skeleton = load_maps(&options.maps);
	must(!error_ignore(unwinder_new(&u, &options)) &&
		     !error_ignore(unwinder_follow(u, spaces)) &&
		     !error_ignore(spaces_read(spaces, pid, 0)),
	     "the process cannot be read");
	unwinder_flush(u);
	must(unwinder_settle(u, UINT64_C(60000000000)), "the unwind tables take too long");
	unwinder_flush(u);
	read_tables(&image.tables, skeleton, pid);
	image.file_size = read_mappings(&image, spaces_layout(spaces, pid));
	image.file = copy;
	image.memory = logged.memory = target_memory_of(pid);
	make(&image, &logged, argv[3], argv[4]);
	unwinder_free(u);
	spaces_free(spaces);
	objects_free(objects);
	walk_copy_bpf__destroy(skeleton);
	return 0;
}
