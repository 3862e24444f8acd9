/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/sideband.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SMALLEST_RING (64u << 10)

struct side_ring {
	int fd;	       /* event that owns the mapping of the ring */
	int writer_fd; /* event that writes to the ring, when it is another one; else -1 */
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t at;
	uint64_t ahead; /* at or after `at` */
};

struct sideband {
	struct side_ring *rings;
	size_t n;
	uint64_t bytes; /* of each ring */
	size_t page_bytes;
	bool ahead;	       /* a reader looks ahead, and must not be overtaken */
	uint8_t copy[1 << 16]; /* of a record, which may wrap around the end of its ring */
};

/* An fd, or -1 and errno. */
static int open_on(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.build_id = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1, /* wakes the reader that looks ahead for each record */
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Maps a ring. The first one finds out which size the kernel allows. */
static struct error *map_ring(struct sideband *s, struct side_ring *r, bool first)
{
	for (;;) {
		void *memory = mmap(NULL, s->page_bytes + s->bytes, PROT_READ | PROT_WRITE,
				    MAP_SHARED, r->fd, 0);

		if (memory != MAP_FAILED) {
			r->page = memory;
			r->data = (const uint8_t *)memory + s->page_bytes;
			return NULL;
		}
		if (!first || (errno != EPERM && errno != ENOMEM) || s->bytes <= SMALLEST_RING)
			return error_system(errno, "cannot map a ring for mappings");
		s->bytes /= 2;
	}
}

/* Opens the next ring; none if the CPU went offline meanwhile. */
static struct error *add_ring(struct sideband *s, uint32_t cpu)
{
	struct side_ring *r = &s->rings[s->n];
	int fd = open_on(cpu);

	if (fd < 0 && errno == ENODEV)
		return NULL;
	/* Older kernels refuse attributes that they do not know: here build-ids (Linux 5.12). */
	if (fd < 0 && errno == EINVAL)
		return error_new(ERROR_UNSUPPORTED, "this kernel cannot report what programs map; "
						    "Linux 5.15 or later is needed");
	if (fd < 0)
		return error_system(errno, "cannot follow mappings on CPU %" PRIu32, cpu);
	r->fd = fd;
	r->writer_fd = -1;
	r->cpu = cpu;
	s->n++;
	return map_ring(s, r, s->n == 1);
}

struct error *sideband_new(struct sideband **sideband, const struct cpus *cpus, uint64_t bytes)
{
	struct sideband *s = calloc(1, sizeof(*s));
	struct error *error = NULL;

	if (!s)
		return error_memory();
	s->bytes = bytes;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->rings = calloc(cpus->n ? cpus->n : 1, sizeof(*s->rings));
	if (!s->rings)
		error = error_memory();
	for (size_t i = 0; i < cpus->n && !error; i++)
		error = add_ring(s, cpus->ids[i]);
	if (error) {
		sideband_free(s);
		return error;
	}
	*sideband = s;
	return NULL;
}

void sideband_free(struct sideband *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, s->page_bytes + s->bytes);
		close(s->rings[i].fd);
		if (s->rings[i].writer_fd >= 0)
			close(s->rings[i].writer_fd);
	}
	free(s->rings);
	free(s);
}

void sideband_enable(struct sideband *s)
{
	for (size_t i = 0; i < s->n; i++)
		ioctl(s->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void sideband_disable(struct sideband *s)
{
	for (size_t i = 0; i < s->n; i++) {
		ioctl(s->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		if (s->rings[i].writer_fd >= 0)
			ioctl(s->rings[i].writer_fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* NULL: it was offline when the rings were made. */
static struct side_ring *ring_of(const struct sideband *s, uint32_t cpu)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->rings[i].cpu == cpu)
			return &s->rings[i];
	return NULL;
}

/* The CPU's event is dead, but its ring is still mapped: a new event is redirected into it. */
struct error *sideband_cpu_came_back(struct sideband *s, uint32_t cpu)
{
	struct side_ring *r = ring_of(s, cpu);
	struct error *error = NULL;
	int fd;

	if (!r)
		return error_new(ERROR_ARGUMENT, "it was offline when the recording began");
	fd = open_on(cpu);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		error = error_system(errno, "cannot follow mappings on CPU %" PRIu32, cpu);
	if (error && fd >= 0)
		close(fd);
	if (error)
		return error;
	if (r->writer_fd >= 0)
		close(r->writer_fd);
	r->writer_fd = fd;
	return NULL;
}

uint64_t sideband_enabled_ns(const struct sideband *s, uint32_t cpu)
{
	const struct side_ring *r = ring_of(s, cpu);
	uint64_t values[2]; /* its count, which is always 0, and the time */

	if (!r || read(r->writer_fd >= 0 ? r->writer_fd : r->fd, values, sizeof(values)) !=
			  sizeof(values))
		return UINT64_MAX;
	return values[1];
}

size_t sideband_rings(const struct sideband *s)
{
	return s->n;
}

uint32_t sideband_cpu(const struct sideband *s, size_t ring)
{
	return s->rings[ring].cpu;
}

static uint64_t written(const struct side_ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Size of the record at position `at`; 0 when there is none. */
static size_t record_at(const struct sideband *s, const struct side_ring *r, uint64_t at)
{
	uint64_t left = written(r) - at;
	struct perf_event_header header;

	if (left < sizeof(header))
		return 0;
	/* Records are multiples of 8 bytes, so a header is never split. */
	memcpy(&header, r->data + (at & (s->bytes - 1)), sizeof(header));
	return header.size < sizeof(header) || header.size > left ? 0 : header.size;
}

static void copy_record(struct sideband *s, const struct side_ring *r, uint64_t at, size_t size)
{
	size_t begin = (size_t)(at & (s->bytes - 1));
	size_t first = begin + size <= s->bytes ? size : s->bytes - begin;

	memcpy(s->copy, r->data + begin, first);
	memcpy(s->copy + first, r->data, size - first);
}

static uint64_t time_at(struct sideband *s, const struct side_ring *r, uint64_t at)
{
	size_t size = record_at(s, r, at);
	uint32_t type;
	uint64_t time;

	if (!size)
		return UINT64_MAX;
	memcpy(&type, r->data + (at & (s->bytes - 1)), sizeof(type));
	if (type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT) {
		copy_record(s, r, at, size);
		return side_record_time(s->copy, size);
	}
	/* The last 8 bytes, which are not split either; see side_record_time(). */
	memcpy(&time, r->data + ((at + size - sizeof(time)) & (s->bytes - 1)), sizeof(time));
	return size < 16 ? 0 : time;
}

uint64_t sideband_peek(struct sideband *s, size_t ring)
{
	const struct side_ring *r = &s->rings[ring];

	return s->ahead && r->at >= r->ahead ? UINT64_MAX : time_at(s, r, r->at);
}

/* Takes the record at `*at`, which moves to the next one. */
static bool take(struct sideband *s, const struct side_ring *r, uint64_t *at,
		 struct side_record *record)
{
	size_t size = record_at(s, r, *at);

	if (!size)
		return false;
	copy_record(s, r, *at, size);
	*at += size;
	return side_record_read(record, s->copy, size);
}

bool sideband_take(struct sideband *s, size_t ring, struct side_record *record)
{
	struct side_ring *r = &s->rings[ring];
	bool taken = take(s, r, &r->at, record);

	if (r->ahead < r->at)
		r->ahead = r->at;
	/* Only now the kernel may write there again. */
	__atomic_store_n(&r->page->data_tail, r->at, __ATOMIC_RELEASE);
	return taken;
}

uint64_t sideband_peek_ahead(struct sideband *s, size_t ring)
{
	s->ahead = true;
	return time_at(s, &s->rings[ring], s->rings[ring].ahead);
}

bool sideband_take_ahead(struct sideband *s, size_t ring, struct side_record *record)
{
	struct side_ring *r = &s->rings[ring];

	return take(s, r, &r->ahead, record);
}

int sideband_fd(const struct sideband *s, size_t ring)
{
	return s->rings[ring].fd;
}

unsigned int sideband_filled(const struct sideband *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t filled = written(&s->rings[i]) - s->rings[i].at;

		if (filled > most)
			most = filled;
	}
	return (unsigned int)(most * 100 / s->bytes);
}
