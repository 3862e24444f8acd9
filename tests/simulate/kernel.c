/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/simulate/kernel.h"

struct error *sideband_open_again(struct sideband *s, uint32_t cpu);
uint64_t sideband_read_enabled(const struct sideband *s, uint32_t cpu);
struct error *cpus_of_this_machine(struct cpus *c);

/*
 * Their structures are private, or are used by others: the rings are made here instead of by
 * perf_event_open(), and the CPUs are those of the simulated machine.
 */
#define sideband_cpu_came_back sideband_open_again
#define sideband_enabled_ns sideband_read_enabled
#define cpus_online cpus_of_this_machine
#include "record/capture/sideband.c"
#include "record/system/cpus.c"
#undef sideband_cpu_came_back
#undef sideband_enabled_ns
#undef cpus_online

#include "common/array.h"
#include "record/capture/ring.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/bpf.h>

#define SIDE_BYTES (64u << 10)
#define SAMPLE_BYTES (256u << 10)

/* The record that ends at `end` is visible from a time on. */
struct pending {
	uint64_t time_ns, end;
};

struct queue {
	struct pending *list;
	size_t n, capacity, first;
	uint64_t head;
};

struct side {
	struct queue queue;
	uint64_t lost; /* not reported yet */
};

struct cpu {
	bool offline;
	/* It went offline since they were opened. */
	bool side_dead, samples_dead;
	uint64_t looks; /* at events that live: their time goes on */
};

struct sampler {
	struct ring rings[KERNEL_RINGS];
	struct queue queues[KERNEL_RINGS];
	struct sample_counters counters[KERNEL_CPUS];
};

struct kernel {
	struct sideband *sideband;
	struct sampler *sampler;
	struct side sides[KERNEL_CPUS];
	struct cpu cpus[KERNEL_CPUS];
	uint64_t side_lost;
};

static struct kernel *the_kernel;

static void queue_add(struct queue *q, uint64_t time_ns, uint64_t end)
{
	if (!array_reserve(&q->list, &q->capacity, q->n + 1))
		abort();
	q->list[q->n++] = (struct pending){ time_ns, end };
	q->head = end;
}

/* Where what is visible ends, after this; `before` if nothing becomes visible. */
static uint64_t queue_take(struct queue *q, uint64_t until_ns, uint64_t before)
{
	while (q->first < q->n && q->list[q->first].time_ns <= until_ns)
		before = q->list[q->first++].end;
	if (q->first == q->n)
		q->first = q->n = 0;
	return before;
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert(memory != MAP_FAILED);
	return memory;
}

static struct sideband *make_sideband(void)
{
	struct sideband *s = calloc(1, sizeof(*s));

	s->bytes = SIDE_BYTES;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->n = KERNEL_CPUS;
	s->rings = calloc(s->n, sizeof(*s->rings));
	for (uint32_t cpu = 0; cpu < s->n; cpu++) {
		struct side_ring *r = &s->rings[cpu];

		r->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		r->writer_fd = -1;
		r->cpu = cpu;
		r->page = map(s->page_bytes + s->bytes);
		r->data = (const uint8_t *)r->page + s->page_bytes;
	}
	return s;
}

/* The data lies twice in a row, so that no record is split. */
static void make_ring(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	uint8_t *memory = map(page + 2 * SAMPLE_BYTES);

	assert(fd >= 0 && !ftruncate(fd, SAMPLE_BYTES));
	for (int i = 0; i < 2; i++)
		assert(mmap(memory + page + (size_t)i * SAMPLE_BYTES, SAMPLE_BYTES,
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	close(fd);
	*r = (struct ring){ .reader = map(page),
			    .writer = (const uint64_t *)(const void *)memory,
			    .data = memory + page,
			    .size = SAMPLE_BYTES };
}

struct kernel *kernel_new(void)
{
	struct kernel *k = calloc(1, sizeof(*k));

	k->sideband = make_sideband();
	k->sampler = calloc(1, sizeof(*k->sampler));
	for (size_t i = 0; i < KERNEL_RINGS; i++)
		make_ring(&k->sampler->rings[i]);
	return the_kernel = k;
}

void kernel_free(struct kernel *k)
{
	for (size_t i = 0; i < KERNEL_CPUS; i++)
		free(k->sides[i].queue.list);
	free(k);
}

struct sideband *kernel_sideband(struct kernel *k)
{
	return k->sideband;
}

struct sampler *kernel_sampler(struct kernel *k)
{
	return k->sampler;
}

/* -------- CPUs -------- */

void kernel_set_online(struct kernel *k, uint32_t cpu, bool online)
{
	struct cpu *c = &k->cpus[cpu];

	assert(cpu);
	c->offline = !online;
	c->side_dead |= !online;
	c->samples_dead |= !online;
}

bool kernel_is_online(const struct kernel *k, uint32_t cpu)
{
	return !k->cpus[cpu].offline;
}

bool kernel_records_on(const struct kernel *k, uint32_t cpu)
{
	return !k->cpus[cpu].side_dead && !k->cpus[cpu].samples_dead;
}

struct error *cpus_online(struct cpus *c)
{
	*c = (struct cpus){ .ids = malloc(KERNEL_CPUS * sizeof(*c->ids)) };
	for (uint32_t cpu = 0; cpu < KERNEL_CPUS; cpu++)
		if (!the_kernel->cpus[cpu].offline)
			c->ids[c->n++] = cpu;
	return NULL;
}

uint64_t sideband_enabled_ns(const struct sideband *s, uint32_t cpu)
{
	struct cpu *c = &the_kernel->cpus[cpu];

	c->looks += !c->side_dead;
	return c->looks;
}

struct error *sideband_cpu_came_back(struct sideband *s, uint32_t cpu)
{
	the_kernel->cpus[cpu].side_dead = false;
	return NULL;
}

struct error *sampler_cpu_came_back(struct sampler *s, const struct event_list *events,
				    uint32_t cpu)
{
	the_kernel->cpus[cpu].samples_dead = false;
	return NULL;
}

/* -------- the side band -------- */

static bool has_room(const struct side *side, const struct side_ring *r, size_t size)
{
	return side->queue.head + size - r->page->data_tail <= SIDE_BYTES;
}

static void put_bytes(struct side_ring *r, uint64_t *at, const void *bytes, size_t size)
{
	uint8_t *data = (uint8_t *)(uintptr_t)r->data;

	for (size_t i = 0; i < size; i++)
		data[(*at)++ & (SIDE_BYTES - 1)] = ((const uint8_t *)bytes)[i];
}

static void put_record(struct side *side, struct side_ring *r,
		       const struct perf_event_header *header, const void *body, uint64_t time_ns)
{
	uint64_t at = side->queue.head;

	put_bytes(r, &at, header, sizeof(*header));
	put_bytes(r, &at, body, header->size - sizeof(*header) - sizeof(time_ns));
	put_bytes(r, &at, &time_ns, sizeof(time_ns));
	queue_add(&side->queue, time_ns, at);
}

bool kernel_side(struct kernel *k, uint32_t cpu, uint32_t type, uint16_t misc, const void *body,
		 size_t size, uint64_t time_ns)
{
	struct side *side = &k->sides[cpu];
	struct side_ring *r = &k->sideband->rings[cpu];
	const struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + size + sizeof(time_ns)),
	};
	const struct perf_event_header about_lost = { .type = PERF_RECORD_LOST,
						      .size = sizeof(about_lost) + 24 };
	const uint64_t lost[2] = { 0, side->lost };

	if (k->cpus[cpu].side_dead)
		return false;
	if (!has_room(side, r, header.size + (side->lost ? about_lost.size : 0u))) {
		side->lost++;
		return false;
	}
	if (side->lost) {
		put_record(side, r, &about_lost, lost, time_ns);
		k->side_lost += side->lost;
		side->lost = 0;
	}
	put_record(side, r, &header, body, time_ns);
	return true;
}

/* -------- samples -------- */

/* Room for a record, with its header; NULL when the ring is full. */
static uint8_t *reserve(struct sampler *s, size_t ring, size_t size, uint32_t mark,
			uint64_t time_ns)
{
	struct ring *r = &s->rings[ring];
	struct queue *q = &s->queues[ring];
	uint8_t *at = (uint8_t *)(uintptr_t)r->data + (q->head & (r->size - 1));
	uint64_t length = (size + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
	uint32_t header[2] = { (uint32_t)size | mark, 0 };

	if (q->head + length - __atomic_load_n(r->reader, __ATOMIC_ACQUIRE) > r->size)
		return NULL;
	memcpy(at, header, sizeof(header));
	queue_add(q, time_ns, q->head + length);
	return at + BPF_RINGBUF_HDR_SZ;
}

bool kernel_sample(struct kernel *k, size_t ring, const struct sample *sample)
{
	struct sample_counters *c = &k->sampler->counters[sample->cpu];
	size_t size = sizeof(*sample) + sample_words(sample) * sizeof(__u64);
	uint8_t *room = reserve(k->sampler, ring, size, 0, sample->time_ns);

	c->fired++;
	if (!room) {
		c->lost[SAMPLE_LOST_RING_FULL]++;
		return false;
	}
	memcpy(room, sample, size);
	c->sent++;
	return true;
}

void kernel_discard(struct kernel *k, size_t ring, uint64_t time_ns)
{
	reserve(k->sampler, ring, 40, BPF_RINGBUF_DISCARD_BIT, time_ns);
}

void kernel_publish(struct kernel *k, size_t ring, uint64_t until_ns)
{
	if (ring < KERNEL_CPUS) {
		struct perf_event_mmap_page *page = k->sideband->rings[ring].page;

		page->data_head = queue_take(&k->sides[ring].queue, until_ns, page->data_head);
	} else {
		const struct ring *r = &k->sampler->rings[ring - KERNEL_CPUS];
		uint64_t *writer = (uint64_t *)(uintptr_t)r->writer;

		*writer = queue_take(&k->sampler->queues[ring - KERNEL_CPUS], until_ns, *writer);
	}
}

uint64_t kernel_side_lost(const struct kernel *k)
{
	return k->side_lost;
}

uint64_t kernel_fired(const struct kernel *k)
{
	uint64_t fired = 0;

	for (size_t i = 0; i < KERNEL_CPUS; i++)
		fired += k->sampler->counters[i].fired;
	return fired;
}

uint64_t kernel_sent(const struct kernel *k)
{
	uint64_t sent = 0;

	for (size_t i = 0; i < KERNEL_CPUS; i++)
		sent += k->sampler->counters[i].sent;
	return sent;
}

/* -------- what the recorder calls of the sampler -------- */

void sampler_free(struct sampler *s)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < KERNEL_RINGS; i++) {
		munmap(s->rings[i].reader, page);
		munmap((void *)(uintptr_t)s->rings[i].writer, page + 2 * SAMPLE_BYTES);
		free(s->queues[i].list);
	}
	free(s);
}

size_t sampler_rings(const struct sampler *s)
{
	return KERNEL_RINGS;
}

struct ring *sampler_ring(struct sampler *s, size_t i)
{
	return &s->rings[i];
}

struct error *sampler_read_counters(struct sampler *s, struct sample_counters *counters)
{
	memcpy(counters, s->counters, sizeof(s->counters));
	return NULL;
}

bool sampler_walked_runtimes(const struct sampler *s, uint64_t time_ns)
{
	return true;
}
