/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_UNWINDER_FIXTURE_H
#define TESTS_UNIT_UNWINDER_FIXTURE_H

/* An unwinder whose maps are as those of the kernel half, and spaces that it follows. */

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind/unwinder.h"
#include "tests/unit/unit.h"

#define LONG_NS UINT64_C(60000000000)
#define NOW_NS 1 /* all happens at one time */

/* The maps as the BPF object has them, and what the tests read in them. */
struct fixture {
	struct unwinder_maps maps;
	struct unwind_segment *segments;
	struct unwind_page *pages;
	struct objects *objects;
	struct spaces *spaces;
	struct unwinder *unwinder;
	char problem[256];
	unsigned int builds; /* of tables; to be read after unwinder_settle() */
};

static inline int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
			   uint32_t flags, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags,
		    .inner_map_fd = (uint32_t)inner);

	return bpf_map_create(type, "test", key, value, entries, &options);
}

static inline int set_up(void **state)
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
	f->maps.first_slab = make_map(BPF_MAP_TYPE_ARRAY, 4, UNWIND_SLAB_ROWS * 4, 1,
				      BPF_F_MMAPABLE, 0);
	f->maps.slabs = make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, UNWIND_MAX_SLABS, 0,
				 f->maps.first_slab);
	f->maps.processes = make_map(BPF_MAP_TYPE_HASH, 4, sizeof(struct unwind_process), 64, 0, 0);
	f->maps.files = make_map(BPF_MAP_TYPE_HASH, sizeof(struct unwind_file_key),
				 sizeof(struct unwind_file), 64, 0, 0);
	f->segments = mmap(NULL, UNWIND_MAX_SEGMENTS * sizeof(*f->segments), PROT_READ, MAP_SHARED,
			   f->maps.segments, 0);
	f->pages = mmap(NULL, UNWIND_MAX_PAGES * sizeof(*f->pages), PROT_READ, MAP_SHARED,
			f->maps.pages, 0);
	return 0;
}

static inline int tear_down(void **state)
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
		close(f->maps.first_slab);
		close(f->maps.slabs);
		close(f->maps.processes);
		close(f->maps.files);
	}
	free(f);
	return 0;
}

static inline void note_problem(const struct unwinder_file *file, void *context)
{
	struct fixture *f = context;

	f->builds++;
	if (file->problem)
		snprintf(f->problem, sizeof(f->problem), "%s", file->problem);
}

static inline void start(struct fixture *f, uint64_t limit)
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
static inline uint32_t map_self(struct fixture *f)
{
	uint32_t self = (uint32_t)getpid();

	assert_null(spaces_read(f->spaces, self, NOW_NS));
	unwinder_flush(f->unwinder);
	assert_true(unwinder_settle(f->unwinder, LONG_NS));
	return self;
}

static inline void apply(struct fixture *f, struct side_record r)
{
	if (!r.name)
		r.name = "";
	r.time_ns = NOW_NS;
	r.tid = r.pid;
	r.parent_tid = r.parent_pid;
	assert_null(spaces_apply(f->spaces, &r));
}

/* A mapping as the side band reports it; `build_id` is its first byte, 0: none is known. */
static inline void map(struct fixture *f, uint32_t pid, uint64_t start, uint64_t end,
		       const char *path, uint8_t build_id)
{
	struct side_record r = { .type = SIDE_RECORD_MAP,
				 .pid = pid,
				 .map = { .start = start, .size = end - start },
				 .name = path };

	r.map.build_id[0] = build_id;
	r.map.build_id_size = build_id ? 20 : 0;
	apply(f, r);
}

#endif
