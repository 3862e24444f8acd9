/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/perf_stacks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#define USER_REGISTERS ((1ULL << 33) - 1)
#else
#define USER_REGISTERS 0xff0fffULL /* of x86-64: all but the segments that are 0 */
#endif
#define COPIED_BYTES 8192
#define CHAIN_OFFSET 32 /* of the number of entries: after the header, ip, pid, tid and time */

static void set_kind(struct perf_event_attr *attr, enum perf_stacks_kind kind)
{
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CALLCHAIN;
	if (kind != PERF_STACKS_COPY)
		return;
	attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER |
			     PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = USER_REGISTERS;
	attr->sample_stack_user = COPIED_BYTES;
}

/* By errno. */
static struct error *not_opened(void)
{
	return error_new(ERROR_UNAVAILABLE, "cannot open perf's event: %s", strerror(errno));
}

struct error *perf_stacks_open(struct perf_stacks *p, const struct perf_stacks_options *options)
{
	struct error *error;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = options->event,
		.sample_period = options->period,
		.disabled = 1,
		.inherit = 1,
		.sample_id_all = 1,
		.exclude_guest = 1,
	};

	set_kind(&attr, options->kind);
	p->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	p->ring_bytes = options->ring_bytes;
	p->fd = (int)syscall(SYS_perf_event_open, &attr, options->pid, (int)options->cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0)
		return not_opened();
	p->ring = mmap(NULL, p->page_bytes + p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       p->fd, 0);
	if (p->ring == MAP_FAILED) {
		error = not_opened();
		close(p->fd);
		return error;
	}
	if (ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0)) {
		error = not_opened();
		perf_stacks_release(p);
		return error;
	}
	return NULL;
}

void perf_stacks_release(struct perf_stacks *p)
{
	munmap(p->ring, p->page_bytes + p->ring_bytes);
	close(p->fd);
}

/* Records begin at multiples of 8 and go around the end of the ring. */
static uint64_t word(const struct perf_stacks *p, uint64_t at)
{
	const uint8_t *data = (const uint8_t *)p->ring + p->page_bytes;

	return *(const uint64_t *)(data + (at & (p->ring_bytes - 1)));
}

static uint64_t chain_frames(const struct perf_stacks *p, uint64_t at, uint64_t size)
{
	uint64_t n = word(p, at + CHAIN_OFFSET), frames = 0;

	for (uint64_t i = 1; i <= n && CHAIN_OFFSET + 8 * (i + 1) <= size; i++)
		frames += word(p, at + CHAIN_OFFSET + 8 * i) < (uint64_t)PERF_CONTEXT_MAX;
	return frames;
}

void perf_stacks_drain(struct perf_stacks *p, struct perf_stacks_found *found)
{
	uint64_t head = __atomic_load_n(&p->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = p->ring->data_tail;

	while (at < head) {
		/* struct perf_event_header: type, misc, size */
		uint64_t header = word(p, at), size = header >> 48, frames;

		if ((uint32_t)header == PERF_RECORD_SAMPLE) {
			frames = chain_frames(p, at, size);
			found->samples++;
			found->bytes += size;
			if (frames > found->most_frames)
				found->most_frames = frames;
		} else if ((uint32_t)header == PERF_RECORD_LOST) {
			found->lost += word(p, at + 16);
		}
		if (size < 8)
			break; /* not a ring of records: the samples will be too few */
		at += size;
	}
	__atomic_store_n(&p->ring->data_tail, head, __ATOMIC_RELEASE);
}
