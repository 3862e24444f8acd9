/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * make_image PID TID IMAGE TEXT STEPS CALLER: writes an image (image.h) of a thread of a process
 * that has stopped, and the frames that were found (replay.h); then lets the thread go on by so
 * many instructions, and adds what they change. Its frames from CALLER on must stay the same. Needs
 * root and BPF: the unwind rules are those that the recorder publishes.
 *
 * The thread is replayed three times: from the process, to see which symbols of the runtime's file
 * are asked for; from the process and a copy of that file with no other symbols, to see what is
 * read of both; and from the image, which must lead to the same frames.
 */

#include "bpf/walk_copy.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
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
#include "common/sorted.h"
#include "record/java/hotspot_tables.h"
#include "record/scripts/script_file.h"
#include "record/javascript/v8_file.h"
#include "record/unwind/unwinder.h"
#include "tests/images/file_copy.h"
#include "tests/images/replay.h"

/* After so many seconds it ends: the thread may wait for others, which stand still. */
#define LIMIT_S 60

/* -------- what is read of the process -------- */

struct logged {
	struct target_memory memory;
	struct map first, blocks; /* number -> its bytes as read first, and now; allocated */
};

static void keep(struct map *blocks, uint64_t number, const uint8_t *bytes)
{
	uint64_t *value = map_put(blocks, &number, sizeof(number), NULL);
	uint8_t *kept = malloc(IMAGE_BLOCK);

	must(value && kept, "no memory");
	*value = (uintptr_t)memcpy(kept, bytes, IMAGE_BLOCK);
}

static void log_block(struct logged *l, uint64_t number)
{
	uint8_t bytes[IMAGE_BLOCK];

	if (map_get(&l->blocks, &number, sizeof(number)) ||
	    !target_read(&l->memory, number * IMAGE_BLOCK, bytes, IMAGE_BLOCK))
		return;
	keep(&l->first, number, bytes);
	keep(&l->blocks, number, bytes);
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
	slabs[0] = map_array(bpf_map__fd(skeleton->maps.unwind_first_slab),
			     UNWIND_SLAB_ROWS * sizeof(uint32_t));
	t->slab_count = 1;
	for (uint32_t i = 1; i < UNWIND_MAX_SLABS; i++) {
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
		.first_slab = bpf_map__fd(skeleton->maps.unwind_first_slab),
		.slabs = bpf_map__fd(skeleton->maps.unwind_slabs),
		.processes = bpf_map__fd(skeleton->maps.unwind_processes),
		.files = bpf_map__fd(skeleton->maps.unwind_files),
	};
	return skeleton;
}

/* -------- the process -------- */

static void read_registers(struct kernel_thread *thread)
{
	struct user_regs_struct registers;

	must(!ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers),
	     "the registers cannot be read");
	memcpy(thread->registers, &registers, sizeof(thread->registers));
	thread->pointer = registers.fs_base;
}

static void stop_thread(struct kernel_thread *thread, pid_t pid, pid_t tid)
{
	must(!ptrace(PTRACE_SEIZE, tid, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) &&
		     waitpid(tid, NULL, __WALL) == tid,
	     "the process cannot be traced");
	thread->pid = (uint32_t)pid;
	thread->tid = (uint32_t)tid;
	read_registers(thread);
}

static bool holds_runtime(int fd)
{
	struct hotspot_exports exports;
	struct elf_file e;
	bool holds;

	if (elf_file_open(&e, fd))
		return false;
	holds = script_file_language(&e) || v8_file_is_one(&e) || hotspot_tables_find(&exports, &e);
	elf_file_release(&e);
	return holds;
}

/* All mappings, and the runtime's file; its size. */
static size_t read_mappings(struct image *i, const struct layout *layout)
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;
	size_t size = 0;

	i->mapping_count = layout->mappings.n;
	i->mappings = calloc(i->mapping_count, sizeof(*i->mappings));
	for (size_t n = 0; (m = mappings_next(&layout->mappings, &cursor)); n++) {
		struct open_file file;

		i->mappings[n] = (struct image_mapping){ m->start, m->end, m->offset,
							 m->object->definition.path };
		if (size || m->object->definition.kind != PRF_OBJECT_FILE ||
		    error_ignore(object_open(i->thread.pid, m, &file)))
			continue;
		if (holds_runtime(file.fd)) {
			i->runtime = n;
			i->file = file_copy_read(file.fd, &size);
		}
		close(file.fd);
	}
	must(size > 0, "the process has no runtime");
	return size;
}

/* -------- the image -------- */

struct rules {
	struct map by_pc; /* -> number */
	const struct kernel_tables *tables;
};

static void add_rule(uint64_t pc, uint32_t rule, void *context)
{
	struct rules *rules = context;
	uint64_t *value = map_put(&rules->by_pc, &pc, sizeof(pc), NULL);

	must(value && rule < UNWIND_MAX_RULES, "a file has no table");
	*value = rule;
}

/* What a map has: number and value, by number. */
struct sorted {
	uint64_t (*list)[2];
	size_t n;
};

static void add_sorted(const void *key, size_t size, uint64_t value, void *context)
{
	struct sorted *s = context;

	memcpy(s->list[s->n], key, sizeof(uint64_t));
	s->list[s->n++][1] = value;
}

static struct sorted sort(const struct map *map)
{
	struct sorted s = { calloc(map->count + 1, sizeof(*s.list)), 0 };

	must(s.list, "no memory");
	map_each(map, add_sorted, &s);
	qsort(s.list, s.n, sizeof(*s.list), sorted_compare);
	return s;
}

static void write_rules(struct buffer *raw, const struct rules *rules)
{
	struct sorted s = sort(&rules->by_pc);

	buffer_u64(raw, s.n);
	for (size_t n = 0; n < s.n; n++) {
		buffer_u64(raw, s.list[n][0]);
		buffer_append(raw, &rules->tables->rules[s.list[n][1]],
			      sizeof(*rules->tables->rules));
	}
	free(s.list);
}

static void write_memory_blocks(struct buffer *raw, const struct map *blocks)
{
	struct sorted s = sort(blocks);

	buffer_u64(raw, s.n);
	for (size_t n = 0; n < s.n; n++) {
		buffer_u64(raw, s.list[n][0]);
		buffer_append(raw, (const void *)(uintptr_t)s.list[n][1], IMAGE_BLOCK);
	}
	free(s.list);
}

static void write_registers(struct buffer *raw, const struct kernel_thread *thread)
{
	for (size_t n = 0; n < KERNEL_REGISTERS; n++)
		buffer_u64(raw, thread->registers[n]);
}

/* What does not change while the thread goes on. */
static void write_mappings(struct buffer *raw, const struct image *i)
{
	buffer_u64(raw, i->runtime);
	buffer_u64(raw, i->mapping_count);
	for (size_t n = 0; n < i->mapping_count; n++) {
		buffer_u64(raw, i->mappings[n].start);
		buffer_u64(raw, i->mappings[n].end);
		buffer_u64(raw, i->mappings[n].offset);
		buffer_append(raw, i->mappings[n].path, strlen(i->mappings[n].path) + 1);
	}
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

/* -------- the thread goes on -------- */

struct update {
	struct buffer *raw;
	const struct logged *logged;
	uint64_t count;
};

static void update_block(const void *key, size_t size, uint64_t value, void *context)
{
	uint8_t bytes[IMAGE_BLOCK], *kept = (uint8_t *)(uintptr_t)value;
	struct update *u = context;
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	if (!target_read(&u->logged->memory, number * IMAGE_BLOCK, bytes, IMAGE_BLOCK) ||
	    !memcmp(kept, bytes, IMAGE_BLOCK))
		return;
	memcpy(kept, bytes, IMAGE_BLOCK);
	buffer_u64(u->raw, number);
	buffer_append(u->raw, bytes, IMAGE_BLOCK);
	u->count++;
}

/* By one instruction. Appends to `moments` what has changed. */
static void step(struct image *i, const struct logged *logged, struct buffer *moments)
{
	struct buffer blocks = { 0 };
	struct update u = { &blocks, logged, 0 };
	pid_t tid = (pid_t)i->thread.tid;
	int status;

	must(!ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) && waitpid(tid, &status, __WALL) == tid &&
		     WIFSTOPPED(status),
	     "the thread does not go on");
	read_registers(&i->thread);
	map_each(&logged->blocks, update_block, &u);
	write_registers(moments, &i->thread);
	buffer_u64(moments, u.count);
	buffer_append(moments, blocks.data, blocks.size);
	buffer_release(&blocks);
}

/* The thread's frames and what comes to them, after each of some instructions. */
struct series {
	const char *callers; /* the end of the first text: it must be that of all others, too */
	struct buffer first, moments, text;
	struct rules rules;
	size_t wrong; /* moments that have another end */
};

static void take(struct series *s, const struct image *i, struct buffer *text)
{
	const char *now;
	size_t size, tail = s->callers ? strlen(s->callers) : 0;

	buffer_clear(text);
	replay_into(i, text);
	kernel_half_each_rule(add_rule, &s->rules);
	now = buffer_string(text);
	size = strlen(now);
	if (size >= tail && !strcmp(now + size - tail, s->callers ? s->callers : ""))
		return;
	fprintf(stderr, "at %#" PRIx64 ", other callers:\n%s", i->thread.registers[KERNEL_PC], now);
	s->wrong++;
}

static void take_series(struct series *s, struct image *i, struct logged *logged, size_t steps,
			const char *caller)
{
	struct buffer now = { 0 };

	take(s, i, &s->first);
	file_copy_unwatch();
	s->callers = steps ? strstr(buffer_string(&s->first), caller) : NULL;
	must(!steps || s->callers, "the caller is not on the stack");
	buffer_append(&s->text, s->first.data, s->first.size);
	buffer_u64(&s->moments, steps);
	while (steps--) {
		step(i, logged, &s->moments);
		take(s, i, &now);
		image_append_moment(&s->text, &s->first, &now);
	}
	buffer_release(&now);
	if (s->wrong)
		fprintf(stderr, "%zu moments have other callers\n", s->wrong);
	must(!s->wrong, "no image is made");
}

/* -------- the image -------- */

static void check(const char *path, struct buffer *expected)
{
	struct buffer text = { 0 };
	struct image read;
	const char *problem;

	must(image_open(&read, path), "the image cannot be read");
	problem = image_replay_all(&read, &text);
	must(!problem, problem);
	must(!strcmp(buffer_string(&text), buffer_string(expected)), "other frames of the image");
	image_release(&read);
	buffer_release(&text);
}

static void make(struct image *i, struct logged *logged, char **arguments)
{
	size_t steps = strtoul(arguments[2], NULL, 10);
	struct series s = { .rules.tables = &i->tables };
	struct buffer raw = { 0 };

	replay_into(i, &s.first); /* to see which symbols are looked for */
	buffer_u64(&raw, IMAGE_MAGIC);
	write_registers(&raw, &i->thread);
	buffer_u64(&raw, i->thread.pointer);
	buffer_u32(&raw, i->thread.pid);
	buffer_u32(&raw, i->thread.tid);
	write_mappings(&raw, i);
	i->file_size = file_copy_watch(i->file_size);
	i->memory = (struct target_memory){ read_logged, logged };
	take_series(&s, i, logged, steps, arguments[3]);
	write_rules(&raw, &s.rules);
	file_copy_write(&raw, i->file_size);
	write_memory_blocks(&raw, &logged->first);
	buffer_append(&raw, s.moments.data, s.moments.size);
	save_packed(arguments[0], &raw);
	save(arguments[1], s.text.data, strlen(buffer_string(&s.text)));
	check(arguments[0], &s.text);
	buffer_release(&raw);
	buffer_release(&s.first);
	buffer_release(&s.moments);
	buffer_release(&s.text);
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

	must(argc == 7, "usage: make_image PID TID IMAGE TEXT STEPS CALLER");
	pid = (uint32_t)strtoul(argv[1], NULL, 10);
	alarm(LIMIT_S);
	stop_thread(&image.thread, (pid_t)pid, (pid_t)strtol(argv[2], NULL, 10));
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
	image.memory = logged.memory = target_memory_of(pid);
	make(&image, &logged, argv + 3);
	unwinder_free(u);
	spaces_free(spaces);
	objects_free(objects);
	walk_copy_bpf__destroy(skeleton);
	return 0;
}
