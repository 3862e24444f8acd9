/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/mapped_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fuzzing.h"
#include "common/limits.h"

/*
 * One for the process, as the signal handler is. The handler takes no lock: what it looks at are
 * words that are written in order.
 */
static struct {
	struct {
		atomic_uintptr_t start; /* 0: free */
		atomic_uintptr_t end;
	} all[LIMIT_MAPPED_FILES];
	pthread_mutex_t lock; /* of those who take one, and of `copied` */
	uint64_t copied;      /* bytes of all copies */
	struct sigaction before;
	uintptr_t page_size;
} guards = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_guarded(uintptr_t address)
{
	for (int i = 0; i < LIMIT_MAPPED_FILES; i++) {
		uintptr_t start = atomic_load(&guards.all[i].start);

		if (start && address >= start && address < atomic_load(&guards.all[i].end))
			return true;
	}
	return false;
}

/* Puts a page of zeros where the file has none any more, and lets the read go on. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	uintptr_t page = (uintptr_t)info->si_addr & ~(guards.page_size - 1);

	if (!is_guarded((uintptr_t)info->si_addr) ||
	    mmap((void *)page, guards.page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		sigaction(SIGBUS, &guards.before, NULL); /* not ours: the fault happens again */
	errno = saved;
}

/* Again for every file, since others may have put their own handler there meanwhile. */
static void install_handler(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	struct sigaction now;

	if (sigaction(SIGBUS, NULL, &now) || now.sa_sigaction == on_bus_error)
		return;
	guards.page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	guards.before = now;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

static int take_guard(uintptr_t start, size_t size)
{
	int slot = -1;

	pthread_mutex_lock(&guards.lock);
	install_handler();
	for (int i = 0; i < LIMIT_MAPPED_FILES && slot < 0; i++) {
		if (atomic_load(&guards.all[i].start))
			continue;
		atomic_store(&guards.all[i].end, start + size);
		atomic_store(&guards.all[i].start, start);
		slot = i;
	}
	pthread_mutex_unlock(&guards.lock);
	return slot;
}

/* False: there is no room for so much. */
static bool take_room(size_t size)
{
	bool fits;

	pthread_mutex_lock(&guards.lock);
	fits = size <= LIMIT_COPIED_BYTES - guards.copied;
	if (fits)
		guards.copied += size;
	pthread_mutex_unlock(&guards.lock);
	return fits;
}

static void free_copy(uint8_t *data, size_t size)
{
	free(data);
	pthread_mutex_lock(&guards.lock);
	guards.copied -= size;
	pthread_mutex_unlock(&guards.lock);
}

/* For more files than there are guards. */
static int copy_file(struct mapped_file *f, int fd)
{
	uint8_t *data;
	size_t done = 0;

	if (!take_room(f->size)) {
		errno = EFBIG;
		return -1;
	}
	data = malloc(f->size);
	errno = ENOMEM;
	while (data && done < f->size) {
		ssize_t got = pread(fd, data + done, f->size - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : ENODATA;
			break;
		}
		done += (size_t)got;
	}
	if (done < f->size) {
		int error = errno;

		free_copy(data, f->size);
		errno = error;
		return -1;
	}
	f->data = data;
	return 0;
}

/* Bytes of address space: whole pages, and one page of zeros after the file. */
static size_t span(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page + page;
}

/*
 * A private mapping would have the breakpoints of uprobes in it, a shared one has what the file
 * has. But there are file systems without shared mappings: ENODEV, for example by FUSE where a file
 * bypasses the page cache.
 */
static bool map_at(void *space, size_t size, int fd, uint64_t offset)
{
	const off_t at = (off_t)offset;

	if (mmap(space, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, at) != MAP_FAILED)
		return true;
	return errno == ENODEV &&
	       mmap(space, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, at) != MAP_FAILED;
}

/*
 * The page of zeros ends a text whose last byte is written over between the search for its end and
 * its use; otherwise such a text would be read on beyond the mapping.
 */
static uint8_t *map_file(int fd, size_t size, uint64_t offset)
{
	void *space = mmap(NULL, span(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);

	if (space == MAP_FAILED)
		return NULL;
	if (!map_at(space, size, fd, offset)) {
		int error = errno;

		munmap(space, span(size));
		errno = error;
		return NULL;
	}
	return space;
}

/* 0, or -1 with errno: EMFILE if there is no guard for it. */
static int open_guarded(struct mapped_file *f, int fd, uint64_t offset)
{
	f->data = map_file(fd, f->size, offset);
	if (!f->data)
		return -1;
	f->slot = take_guard((uintptr_t)f->data, f->size);
	if (f->slot >= 0)
		return 0;
	munmap((void *)(uintptr_t)f->data, span(f->size));
	f->data = NULL;
	errno = EMFILE;
	return -1;
}

int mapped_file_open(struct mapped_file *f, int fd)
{
	struct stat status;

	*f = (struct mapped_file){ .slot = -1 };
	if (fstat(fd, &status))
		return -1;
	if (!S_ISREG(status.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	f->size = (size_t)status.st_size;
	if (!f->size)
		return 0;
	/* For a fuzzer a read beyond the end of a copy is seen, and a mapping takes longer. */
	if (FUZZING)
		return copy_file(f, fd);
	if (!open_guarded(f, fd, 0))
		return 0;
	return errno == EMFILE ? copy_file(f, fd) : -1;
}

void mapped_file_release(struct mapped_file *f)
{
	if (f->data && f->slot >= 0) {
		atomic_store(&guards.all[f->slot].start, 0);
		munmap((void *)(uintptr_t)f->data, span(f->size));
	} else if (f->data) {
		free_copy((uint8_t *)(uintptr_t)f->data, f->size);
	}
	*f = (struct mapped_file){ .slot = -1 };
}

ssize_t mapped_file_read(int fd, void *bytes, size_t size, uint64_t offset)
{
	const size_t before = offset % (size_t)sysconf(_SC_PAGESIZE);
	struct mapped_file f = { .slot = -1 };
	struct stat status;

	if (fstat(fd, &status))
		return -1;
	if (!size || offset >= (uint64_t)status.st_size)
		return 0;
	if (size > (uint64_t)status.st_size - offset)
		size = (size_t)((uint64_t)status.st_size - offset);
	f.size = before + size;
	if (open_guarded(&f, fd, offset - before))
		return -1;
	memcpy(bytes, f.data + before, size);
	mapped_file_release(&f);
	return (ssize_t)size;
}
