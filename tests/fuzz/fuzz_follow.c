/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that grows while it is read, by steps that its first bytes say: what is read of it is
 * what is read of the whole.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fuzzing.h"
#include "format/prf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 4 /* sizes, of 2 bytes each, over and over */
#define TURNS_MAX 64

struct seen {
	uint64_t records[PRF_RECORD_END + 1];
	uint64_t samples, sum; /* of all that is said of samples */
	uint64_t stacks, tasks, frames, objects;
	bool complete;
};

static void check(int condition)
{
	if (!condition)
		abort();
}

static void add_samples(struct seen *seen, const struct prf_samples *s)
{
	seen->samples += s->n;
	for (size_t i = 0; i < s->n; i++) {
		const uint64_t words[] = { s->time_ns[i], s->weight[i],	   s->cpu[i],
					   s->task[i],	  s->stack[i],	   s->event[i],
					   s->waker[i],	  s->waker_task[i] };

		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			seen->sum = seen->sum * 31 + words[j];
	}
}

/* Reads on. True: there may be more later. */
static bool read_on(struct prf_reader *r, struct seen *seen)
{
	struct prf_record record;
	bool ok;

	while ((ok = !error_ignore(prf_reader_next(r, &record))) && record.type != PRF_RECORD_END) {
		seen->records[record.type]++;
		if (record.type == PRF_RECORD_SAMPLES)
			add_samples(seen, &record.samples);
	}
	seen->stacks = prf_reader_stacks(r);
	seen->tasks = prf_reader_tasks(r);
	seen->frames = prf_reader_frames(r);
	seen->objects = prf_reader_objects(r);
	seen->complete = prf_reader_complete(r);
	return ok;
}

static bool read_whole(const uint8_t *data, size_t size, struct seen *seen)
{
	struct prf_reader *r;
	bool ok;

	if (error_ignore(prf_reader_new_memory(&r, data, size)))
		return false;
	ok = read_on(r, seen);
	prf_reader_free(r);
	return ok;
}

static size_t step(const uint8_t *data, unsigned int turn, size_t left)
{
	const uint8_t *at = data + turn % STEPS * 2;
	size_t n = 1 + (at[0] | (size_t)at[1] << 8);

	return n < left && turn < TURNS_MAX ? n : left;
}

static void read_growing(const uint8_t *data, size_t size, struct seen *seen)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	size_t at = 2 * STEPS, n = step(data, 0, size - at);
	struct prf_reader *r = NULL;
	bool ok = true;

	/* There is a header when it is opened. */
	n = n < 64 ? (size - at < 64 ? size - at : 64) : n;
	check(fd >= 0 && write(fd, data + at, n) == (ssize_t)n);
	check(!lseek(fd, 0, SEEK_SET) && !error_ignore(prf_reader_new_fd(&r, fd)));
	prf_reader_follow(r);
	for (unsigned int turn = 1; ok; turn++) {
		ok = read_on(r, seen);
		at += n;
		if (at == size)
			break;
		n = step(data, turn, size - at);
		check(pwrite(fd, data + at, n, (off_t)(at - 2 * STEPS)) == (ssize_t)n);
	}
	check(ok);
	prf_reader_free(r);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { 0 }, growing = { 0 };

	if (size <= 2 * STEPS || !read_whole(data + 2 * STEPS, size - 2 * STEPS, &whole))
		return 0;
	read_growing(data, size, &growing);
	/* What follows a damaged payload says whether it is searched; at the end nothing may. */
	if (!FUZZING && whole.records[PRF_RECORD_DAMAGE])
		return 0;
	/* What is cut off at the end may still come. */
	whole.records[PRF_RECORD_DAMAGE] = growing.records[PRF_RECORD_DAMAGE] = 0;
	check(!memcmp(whole.records, growing.records, sizeof(whole.records)));
	check(whole.samples == growing.samples && whole.sum == growing.sum);
	check(whole.stacks == growing.stacks && whole.tasks == growing.tasks);
	check(whole.frames == growing.frames && whole.objects == growing.objects);
	/* Bytes after its end do no harm that came after that was read. */
	check(!whole.complete || growing.complete);
	return 0;
}
