/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/reader_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/system/child_process.h"

/* See Documentation/admin-guide/mm/pagemap.rst of the kernel. */
bool reader_process_is_present(uint32_t pid, uint64_t address, uint64_t size)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), page = address / page_bytes, entry;
	uint64_t last = (address + size - 1) / page_bytes;
	bool present = true;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	for (; page <= last && present; page++)
		present = pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
				  (ssize_t)sizeof(entry) &&
			  entry >> 63;
	close(fd);
	return present;
}

static bool answer_with(struct reader_answer *a, ssize_t size, bool more)
{
	size_t bytes = sizeof(a->head) + (size > 0 ? (size_t)size : 0);

	a->head = (struct reader_head){ (int32_t)size, more };
	return send(CHILD_PROCESS_SOCKET, a, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool answer_memory(const struct reader_request *r, struct reader_answer *a)
{
	static struct iovec there[READER_PIECES_MAX];
	struct iovec here = { a->bytes, 0 };
	ssize_t n;

	for (uint32_t i = 0; i < r->count; i++) {
		if (r->present &&
		    !reader_process_is_present(r->pid, r->pieces[i].address, r->pieces[i].size))
			return answer_with(a, -EFAULT, false);
		there[i] = (struct iovec){ (void *)(uintptr_t)r->pieces[i].address,
					   r->pieces[i].size };
		here.iov_len += r->pieces[i].size;
	}
	n = process_vm_readv((pid_t)r->pid, &here, 1, there, r->count, 0);
	return answer_with(a, n == (ssize_t)here.iov_len ? n : -EFAULT, false);
}

/* Up to `size` bytes: the kernel gives some files by the page. Their number, or -errno. */
static ssize_t read_piece(int fd, uint8_t *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = read(fd, bytes + done, size - done);
		done += n > 0 ? (size_t)n : 0;
	} while (n > 0 && done < size);
	return n < 0 ? -errno : (ssize_t)done;
}

static bool answer_file(const struct reader_request *r, struct reader_answer *a)
{
	uint64_t left = r->most;
	char path[64];
	bool more, sent;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", r->pid, r->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return answer_with(a, -errno, false);
	do {
		size_t size = left < READER_PIECE_BYTES ? (size_t)left : READER_PIECE_BYTES;
		ssize_t n = read_piece(fd, a->bytes, size);

		left -= n > 0 ? (uint64_t)n : 0;
		more = n == (ssize_t)size && left;
		sent = answer_with(a, n, more);
	} while (more && sent);
	close(fd);
	return sent;
}

/* No signal reaches it but those that end it. */
_Noreturn void reader_process_run(void)
{
	static struct reader_request r;
	static struct reader_answer a;

	if (answer_with(&a, 0, false))
		while (recv(CHILD_PROCESS_SOCKET, &r, sizeof(r), 0) > 0 &&
		       (r.count ? answer_memory(&r, &a) : answer_file(&r, &a)))
			;
	_exit(0);
}
