/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/write_times.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/sorted.h"
#include "record/system/opener.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKS_MAX 65536
#define CLOCKS_APART_NS 10000
#define TIMES_APART_NS 4000000 /* modification times may be of a clock that ticks */

void write_times_release(struct write_times *t)
{
	free(t->looks);
	*t = (struct write_times){ 0 };
}

void write_times_add(struct write_times *t, struct write_look look)
{
	struct write_look *last = t->n ? &t->looks[t->n - 1] : NULL;

	if (last && look.size < last->size)
		t->n = 0;
	else if (last && look.end_ns <= last->end_ns)
		return;
	/* Of several looks at the same size only the first and the last matter. */
	if (t->n > 1 && last[0].size == look.size && last[-1].size == look.size) {
		last->begin_ns = look.begin_ns;
		last->end_ns = look.end_ns;
		return;
	}
	/* Without room the look is dropped, which makes the times less exact. */
	if (t->n == LOOKS_MAX || !array_reserve(&t->looks, &t->capacity, t->n + 1))
		return;
	t->looks[t->n++] = look;
}

/* A file's time by CLOCK_MONOTONIC. It may be any number: the owner of the file sets it. */
static uint64_t modified_ns(const struct stat *st, uint64_t now)
{
	int64_t age = (int64_t)clock_ns(CLOCK_REALTIME);

	if (st->st_mtim.tv_sec < 0 || st->st_mtim.tv_sec > UINT32_MAX)
		return 0;
	age -= st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
	/* The two clocks are not read at the same moment. */
	age += CLOCKS_APART_NS;
	return age < CLOCKS_APART_NS || (uint64_t)age > now ? 0 : now - (uint64_t)age;
}

/*
 * Whether no write was under way when `before` was taken. A write sets the modification time first
 * and the size last.
 */
static bool was_quiet(int fd, const struct stat *before)
{
	const struct opening write = { .kind = OPENING_QUIET,
				       .end = (uint64_t)before->st_size,
				       .uid = before->st_uid,
				       .in_folder = true,
				       .folder = fd,
				       .path = "" };
	struct open_file none;
	struct stat st;

	return !opener_open(&write, &none) && !fstat(fd, &st) && st.st_size == before->st_size &&
	       st.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* Not if the look before is about as exact, or found that size. */
static bool tells_more(const struct write_times *t, const struct write_look *look)
{
	const struct write_look *last = t->n ? &t->looks[t->n - 1] : NULL;

	return !last ||
	       (look->size != last->size && look->begin_ns > last->end_ns + TIMES_APART_NS);
}

void write_times_look(struct write_times *t, int fd)
{
	/* Two times, since this thread may have to wait for a processor before or after fstat. */
	struct write_look look = { .begin_ns = clock_now() };
	struct stat st;

	if (fstat(fd, &st))
		return;
	look.end_ns = clock_now();
	look.size = (uint64_t)st.st_size;
	if (tells_more(t, &look) && was_quiet(fd, &st))
		look.modified_ns = modified_ns(&st, look.end_ns);
	write_times_add(t, look);
}

/* The first look that found a file of at least that size; t->n: none. */
static size_t first_look(const struct write_times *t, uint64_t size)
{
	return size ? sorted_up_to(t->looks, t->n, SORTED_BY(struct write_look, size), size - 1)
		    : 0;
}

struct written write_times_of(const struct write_times *t, uint64_t end)
{
	size_t look = first_look(t, end);
	struct written written = {
		.after = look ? t->looks[look - 1].begin_ns : 0,
		.by = look < t->n ? t->looks[look].end_ns : UINT64_MAX,
	};

	if (look < t->n && t->looks[look].size == end && t->looks[look].modified_ns > written.after)
		written.after = t->looks[look].modified_ns;
	return written;
}

void write_times_forget(struct write_times *t, uint64_t offset)
{
	size_t look = first_look(t, offset + 1), drop = look ? look - 1 : 0;

	memmove(t->looks, t->looks + drop, (t->n - drop) * sizeof(*t->looks));
	t->n -= drop;
}
