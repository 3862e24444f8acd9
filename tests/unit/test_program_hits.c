/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/mman.h>
#include <unistd.h>

#include "bench/kernel/program_hits.h"
#include "format/prf.h"
#include "tests/unit/unit.h"

#define BPF 0xffffffffc0001000

static uint32_t frame(struct prf_writer *w, enum prf_object_kind kind, uint64_t base,
		      uint64_t offset, uint32_t flags, uint32_t parent)
{
	struct prf_object object = { .kind = kind, .path = "object", .root = "", .base = base };
	struct prf_frame frame = { .offset = offset, .flags = flags };
	struct prf_stack stack = { .parent = parent };

	assert_null(prf_writer_object(w, &object, &frame.object));
	assert_null(prf_writer_frame(w, &frame, &stack.frame));
	assert_null(prf_writer_stack(w, &stack, &parent));
	return parent;
}

static uint32_t kernel(struct prf_writer *w, uint64_t offset, bool leaf, uint32_t parent)
{
	return frame(w, PRF_OBJECT_KERNEL, 0xffffffff81000000, offset,
		     PRF_FRAME_KERNEL | (leaf ? PRF_FRAME_EXACT : 0), parent);
}

static uint32_t program(struct prf_writer *w, uint64_t offset, bool leaf, uint32_t parent)
{
	return frame(w, PRF_OBJECT_BPF, BPF, offset,
		     PRF_FRAME_KERNEL | (leaf ? PRF_FRAME_EXACT : 0), parent);
}

static void sample(struct prf_writer *w, uint32_t stack)
{
	const struct prf_sample sample = {
		.time_ns = 1, .stack = stack, .waker = PRF_NONE, .waker_task = PRF_NONE, .weight = 1
	};

	assert_null(prf_writer_sample(w, &sample));
}

static void test_counts(void **state)
{
	const struct prf_event event = { .name = "cpu-clock", .unit = "samples" };
	const struct prf_task task = { .comm = "a", .cgroup = "", .command_line = "" };
	struct program_hits hits = { 0 };
	struct program_hit hit;
	struct prf_writer *w;
	uint32_t id, user, in_kernel;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_null(prf_writer_new(&w, &(struct prf_writer_options){ .fd = fd }));
	assert_null(prf_writer_event(w, &event, &id));
	assert_null(prf_writer_task(w, &task, &id));
	user = frame(w, PRF_OBJECT_FILE, 0, 0x100, 0, PRF_NONE);
	in_kernel = kernel(w, 0x200, false, user);
	sample(w, user);
	sample(w, kernel(w, 0x300, true, user));
	/* In an instruction of 4 bytes at 0x10, twice. */
	sample(w, program(w, 0x10, true, in_kernel));
	sample(w, program(w, 0x10, true, in_kernel));
	/* In what the call at 0x20 has called, which returns to 0x25. */
	sample(w, kernel(w, 0x400, true, program(w, 0x25, false, in_kernel)));
	/* One of the program's functions calls another one, which counts. */
	sample(w, program(w, 0x80, true, program(w, 0x25, false, in_kernel)));
	/* Where the program is, is not known. */
	sample(w, frame(w, PRF_OBJECT_BPF, 0, 0x10, PRF_FRAME_KERNEL | PRF_FRAME_EXACT, in_kernel));
	sample(w, PRF_NONE);
	assert_null(prf_writer_finish(w));
	prf_writer_free(w);

	lseek(fd, 0, SEEK_SET);
	assert_null(program_hits_read(&hits, fd));
	assert_int_equal(hits.samples, 8);
	hit = program_hits_at(&hits, BPF + 0x10, 4);
	assert_int_equal(hit.self, 2);
	assert_int_equal(hit.total, 2);
	hit = program_hits_at(&hits, BPF + 0x20, 5);
	assert_int_equal(hit.self, 0);
	assert_int_equal(hit.total, 1);
	hit = program_hits_at(&hits, BPF + 0x80, 1);
	assert_int_equal(hit.self, 1);
	assert_int_equal(program_hits_at(&hits, BPF + 0x25, 4).total, 0);
	assert_int_equal(program_hits_at(&hits, BPF, 0x1000).total, 4);

	/* A second recording adds to the first one. */
	lseek(fd, 0, SEEK_SET);
	assert_null(program_hits_read(&hits, fd));
	assert_int_equal(program_hits_at(&hits, BPF + 0x10, 4).self, 4);
	program_hits_release(&hits);
	close(fd);
}

static void test_no_trace(void **state)
{
	struct program_hits hits = { 0 };
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct error *error;

	assert_int_equal(write(fd, "no trace at all, by far", 23), 23);
	lseek(fd, 0, SEEK_SET);
	error = program_hits_read(&hits, fd);
	assert_non_null(error);
	assert_int_equal(error->kind, ERROR_NOT_A_TRACE);
	error_free(error);
	program_hits_release(&hits);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_counts),
	cmocka_unit_test(test_no_trace),
};

UNIT_TESTS(tests);
