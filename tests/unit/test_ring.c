/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/ring.h"
#include "tests/unit/unit.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

#define SIZE 4096u

/* A file in the shape of a ring buffer map; the second copy of the data is a real copy. */
struct fixture {
	int fd;
	size_t page;
	uint8_t *memory; /* all pages, writable */
	struct ring ring;
};

static int setup(void **state)
{
	static struct fixture f;

	f.page = (size_t)sysconf(_SC_PAGESIZE);
	f.fd = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f.fd, (off_t)(2 * f.page + 2 * SIZE)), 0);
	f.memory = mmap(NULL, 2 * f.page + 2 * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	assert_true(f.memory != MAP_FAILED);
	assert_no_error(ring_map(&f.ring, f.fd, SIZE));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ring_unmap(&f->ring);
	munmap(f->memory, 2 * f->page + 2 * SIZE);
	close(f->fd);
	return 0;
}

static uint64_t *writer(struct fixture *f)
{
	return (uint64_t *)(f->memory + f->page);
}

static uint64_t *reader(struct fixture *f)
{
	return (uint64_t *)f->memory;
}

/* Appends a record, as the kernel does; `flags` for its header. */
static void put(struct fixture *f, const char *text, uint32_t flags)
{
	uint32_t length = (uint32_t)strlen(text), header[2] = { length | flags, 0 };
	uint64_t at = *writer(f) % SIZE;

	for (int copy = 0; copy < 2; copy++) {
		uint8_t *data = f->memory + 2 * f->page + at + (uint64_t)copy * SIZE;

		if (at + 8 + length > SIZE && copy)
			break;
		memcpy(data, header, sizeof(header));
		memcpy(data + sizeof(header), text, length);
	}
	*writer(f) += (8 + length + 7) & ~7u;
}

static void expect(struct fixture *f, const char *text)
{
	uint32_t size = 0;
	const void *data = ring_peek(&f->ring, &size);

	assert_non_null(data);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(data, text, size);
	/* Looking twice shows the same. */
	assert_ptr_equal(ring_peek(&f->ring, &size), data);
	ring_next(&f->ring);
}

static void hands_out_in_order(void **state)
{
	struct fixture *f = *state;
	uint32_t size;

	assert_null(ring_peek(&f->ring, &size));
	put(f, "first", 0);
	put(f, "second record", 0);
	assert_int_equal(ring_filled(&f->ring), 16 + 24);
	expect(f, "first");
	assert_int_equal(*reader(f), 16);
	expect(f, "second record");
	assert_int_equal(*reader(f), *writer(f));
	assert_int_equal(ring_filled(&f->ring), 0);
	assert_null(ring_peek(&f->ring, &size));
}

static void waits_for_what_is_being_written(void **state)
{
	struct fixture *f = *state;
	uint32_t size, *header = (uint32_t *)(f->memory + 2 * f->page);

	put(f, "busy", BPF_RINGBUF_BUSY_BIT);
	put(f, "done", 0);
	assert_null(ring_peek(&f->ring, &size));
	*header &= ~BPF_RINGBUF_BUSY_BIT;
	expect(f, "busy");
	expect(f, "done");
}

static void passes_over_the_discarded(void **state)
{
	struct fixture *f = *state;
	uint32_t size;

	put(f, "discarded", BPF_RINGBUF_DISCARD_BIT);
	put(f, "kept", 0);
	put(f, "discarded too", BPF_RINGBUF_DISCARD_BIT);
	expect(f, "kept");
	assert_null(ring_peek(&f->ring, &size));
	assert_int_equal(*reader(f), *writer(f));
}

/* As when they have to wait for something, and more come meanwhile. */
static void sets_aside_in_order(void **state)
{
	struct fixture *f = *state;
	uint32_t size;

	put(f, "oldest", 0);
	put(f, "discarded", BPF_RINGBUF_DISCARD_BIT);
	put(f, "a record of more than eight bytes", 0);
	assert_true(ring_set_aside(&f->ring, 4096));
	assert_int_equal(*reader(f), *writer(f));
	assert_int_equal(ring_filled(&f->ring), 0);
	put(f, "newer", 0);
	expect(f, "oldest");
	assert_true(ring_set_aside(&f->ring, 4096));
	put(f, "newest", 0);
	expect(f, "a record of more than eight bytes");
	expect(f, "newer");
	expect(f, "newest");
	assert_null(ring_peek(&f->ring, &size));
}

static void sets_aside_up_to_the_limit(void **state)
{
	struct fixture *f = *state;
	uint32_t size;

	put(f, "first", 0);
	put(f, "second", 0);
	assert_false(ring_set_aside(&f->ring, 16));
	assert_int_equal(ring_filled(&f->ring), 16);
	expect(f, "first");
	expect(f, "second");
	assert_null(ring_peek(&f->ring, &size));
}

static void goes_around(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3000; i++) {
		put(f, i % 2 ? "a record of some bytes" : "short", 0);
		expect(f, i % 2 ? "a record of some bytes" : "short");
	}
	assert_true(*writer(f) > 10 * SIZE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	TEST(hands_out_in_order),	 TEST(waits_for_what_is_being_written),
	TEST(passes_over_the_discarded), TEST(goes_around),
	TEST(sets_aside_in_order),	 TEST(sets_aside_up_to_the_limit),
};

UNIT_TESTS(tests);
