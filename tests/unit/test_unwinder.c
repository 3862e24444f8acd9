/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwinder.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/unwind.h"
#include "record/system/proc.h"

#define LONG_NS UINT64_C(60000000000)

/* The maps as the BPF object has them, and what the tests read in them. */
struct fixture {
	struct unwinder_maps maps;
	int template;
	struct unwind_segment *segments;
	struct unwind_page *pages;
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
	assert_int_equal(unwinder_new(&f->unwinder, &options), 0);
}

/* Reports our own mappings; the address of `needle` says in which one we are interested. */
static void map_self(struct fixture *f, const void *needle, struct unwinder_mapping *found)
{
	struct buffer text = { 0 };
	struct proc_mapping m;
	char *rest;
	static char path[4096];

	assert_int_equal(proc_read((uint32_t)getpid(), "maps", &text), 0);
	buffer_string(&text);
	rest = (char *)text.data;
	while ((rest = proc_next_mapping(rest, &m))) {
		struct unwinder_mapping mapping = { .pid = (uint32_t)getpid(),
						    .start = m.start,
						    .end = m.end,
						    .file_offset = m.offset,
						    .path = m.path };

		if (!m.executable)
			continue;
		unwinder_map(f->unwinder, &mapping);
		if ((uintptr_t)needle < m.start || (uintptr_t)needle >= m.end)
			continue;
		snprintf(path, sizeof(path), "%s", m.path);
		*found = mapping;
		found->path = path;
	}
	buffer_release(&text);
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
	struct unwinder_mapping own = { 0 };
	const struct unwind_segment *s;
	struct unwinder_totals totals;
	uint64_t page;

	start(f, 0);
	map_self(f, (const void *)test_own_process, &own);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	s = segment_of(f, own.pid, (uintptr_t)test_own_process);
	assert_non_null(s);
	assert_int_equal(s->start, own.start);
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
	struct unwinder_mapping own = { 0 };
	struct unwind_process mine, child;
	uint32_t pid;

	start(f, 0);
	map_self(f, (const void *)test_fork_exec_exit, &own);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	pid = own.pid + 1;
	unwinder_fork(f->unwinder, own.pid, pid);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_knows(f->unwinder, pid));
	mine = process_of(f, own.pid);
	child = process_of(f, pid);
	assert_true(mine.count > 0);
	assert_int_equal(child.count, mine.count);
	unwinder_exec(f->unwinder, pid);
	unwinder_flush(f->unwinder);
	/* The kernel half has not seen that exec, so for a while it is not believed. */
	child = process_of(f, pid);
	child.execs = 1;
	assert_int_equal(bpf_map_update_elem(f->maps.processes, &pid, &child, BPF_ANY), 0);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, pid).count, 0);
	unwinder_exit(f->unwinder, pid);
	assert_false(unwinder_knows(f->unwinder, pid));
	assert_int_not_equal(bpf_map_lookup_elem(f->maps.processes, &pid, &child), 0);
	assert_non_null(segment_of(f, own.pid, (uintptr_t)test_fork_exec_exit));
}

static void test_mappings_replace_each_other(void **state)
{
	struct fixture *f = *state;
	struct unwinder_mapping m = { .pid = 7, .start = 0x10000, .end = 0x20000, .path = "" };

	start(f, 0);
	unwinder_map(f->unwinder, &m);
	m.start = 0x14000;
	m.end = 0x16000;
	unwinder_map(f->unwinder, &m);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, 7).count, 3);
	assert_int_equal(segment_of(f, 7, 0x13fff)->end, 0x14000);
	assert_int_equal(segment_of(f, 7, 0x15000)->start, 0x14000);
	assert_int_equal(segment_of(f, 7, 0x16000)->end, 0x20000);
	assert_int_equal(segment_of(f, 7, 0x15000)->pages, 0);
	unwinder_unmap(f->unwinder, 7, 0x12000, 0x18000);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, 7).count, 2);
	assert_null(segment_of(f, 7, 0x15000));
	assert_non_null(segment_of(f, 7, 0x11fff));
	assert_non_null(segment_of(f, 7, 0x18000));
	m.end = m.start; /* nonsense is passed over */
	unwinder_map(f->unwinder, &m);
	unwinder_flush(f->unwinder);
	assert_int_equal(process_of(f, 7).count, 2);
}

static void test_file_that_is_not_there(void **state)
{
	struct fixture *f = *state;
	static const uint8_t id[20] = { 1, 2, 3 };
	struct unwinder_mapping m = { .pid = 0x7ffffff0,
				      .start = 0x10000,
				      .end = 0x20000,
				      .path = "/no/such/file",
				      .build_id = id,
				      .build_id_size = sizeof(id) };

	start(f, 0);
	unwinder_map(f->unwinder, &m);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(segment_of(f, m.pid, 0x10000)->pages, UNWIND_PAGES_MISSING);
	assert_true(*f->problem);
}

/* A file with the right name and another build-id is not believed. */
static void test_replaced_file(void **state)
{
	struct fixture *f = *state;
	static const uint8_t id[20] = { 1, 2, 3 };
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct unwinder_mapping m = { .pid = 0x7ffffff0,
				      .start = 0x10000,
				      .end = 0x20000,
				      .path = path,
				      .build_id = id,
				      .build_id_size = sizeof(id) };

	assert_true(size > 0);
	path[size] = 0;
	start(f, 0);
	unwinder_map(f->unwinder, &m);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	assert_int_equal(segment_of(f, m.pid, 0x10000)->pages, UNWIND_PAGES_MISSING);
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
	struct unwinder_mapping own = { 0 };
	struct unwinder_totals totals;

	start(f, 4096);
	map_self(f, (const void *)test_memory_limit, &own);
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	unwinder_totals(f->unwinder, &totals);
	assert_true(totals.slabs <= 1);
	assert_true(totals.refused + totals.dropped > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fork_exec_exit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mappings_replace_each_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_file_that_is_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replaced_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_prepared_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory_limit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
