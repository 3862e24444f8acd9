/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct error *ring_map(struct ring *r, int map_fd, uint64_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *reader, *writer;

	*r = (struct ring){ 0 };
	reader = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (reader == MAP_FAILED)
		return error_system(errno, "cannot map a ring of samples");
	writer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (writer == MAP_FAILED) {
		struct error *error = error_system(errno, "cannot map a ring of samples");

		munmap(reader, page);
		return error;
	}
	r->reader = reader;
	r->writer = writer;
	r->data = (const uint8_t *)writer + page;
	r->size = size;
	r->at = *r->reader;
	return NULL;
}

void ring_unmap(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	buffer_release(&r->aside);
	if (!r->reader)
		return;
	munmap(r->reader, page);
	munmap((void *)(uintptr_t)r->writer, page + 2 * r->size);
	*r = (struct ring){ 0 };
}

static uint32_t header(const struct ring *r)
{
	return __atomic_load_n((const uint32_t *)(r->data + (r->at & (r->size - 1))),
			       __ATOMIC_ACQUIRE);
}

static void advance(struct ring *r, uint32_t length)
{
	length &= ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	r->at += ((uint64_t)length + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
	__atomic_store_n(r->reader, r->at, __ATOMIC_RELEASE);
}

/* The oldest record that is in the ring itself. */
static const void *peek_inside(struct ring *r, uint32_t *size)
{
	uint64_t end = __atomic_load_n(r->writer, __ATOMIC_ACQUIRE);

	while (r->at < end) {
		uint32_t length = header(r);

		if (length & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			*size = length;
			return r->data + (r->at & (r->size - 1)) + BPF_RINGBUF_HDR_SZ;
		}
		advance(r, length);
	}
	return NULL;
}

/* A record that was set aside: its size in 8 bytes, then the record, up to a multiple of 8. */
#define ASIDE_HEADER sizeof(uint64_t)

static size_t aside_bytes(uint32_t size)
{
	return ASIDE_HEADER + ((size_t)size + 7) / 8 * 8;
}

static uint32_t aside_size(const struct ring *r)
{
	uint64_t size;

	memcpy(&size, r->aside.data + r->aside_at, sizeof(size));
	return (uint32_t)size;
}

bool ring_set_aside(struct ring *r, size_t limit)
{
	const void *record;
	uint32_t size;

	while ((record = peek_inside(r, &size))) {
		uint64_t wide = size;
		uint8_t *to;

		if (r->aside.size + aside_bytes(size) > limit)
			return false;
		to = buffer_extend(&r->aside, aside_bytes(size));
		if (!to) {
			r->aside.failed = false;
			return false;
		}
		memcpy(to, &wide, sizeof(wide));
		memcpy(to + ASIDE_HEADER, record, size);
		advance(r, header(r));
	}
	return true;
}

const void *ring_peek(struct ring *r, uint32_t *size)
{
	if (r->aside_at == r->aside.size)
		return peek_inside(r, size);
	*size = aside_size(r);
	return r->aside.data + r->aside_at + ASIDE_HEADER;
}

void ring_next(struct ring *r)
{
	if (r->aside_at == r->aside.size) {
		advance(r, header(r));
		return;
	}
	r->aside_at += aside_bytes(aside_size(r));
	if (r->aside_at == r->aside.size) {
		buffer_release(&r->aside);
		r->aside_at = 0;
	}
}

uint64_t ring_filled(const struct ring *r)
{
	return __atomic_load_n(r->writer, __ATOMIC_ACQUIRE) - r->at;
}
