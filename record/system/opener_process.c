/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/opener_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "common/limits.h"
#include "record/system/child_process.h"
#include "record/system/namespace.h"
#include "record/system/proc.h"

#define STACK_BYTES (256u << 10)
#define COPY_BYTES (256u << 10) /* at a time */

/* Of file systems that only few header files know. */
#define EROFS_TYPE 0xe0f5e1e2
#define XFS_TYPE 0x58465342
#define ZFS_TYPE 0x2fc12fc1
#define BCACHEFS_TYPE 0xca451a4e
#define NTFS3_TYPE 0x7366746e

/* -------- messages -------- */

int opener_send(int socket, const void *message, size_t size, int fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { (void *)(uintptr_t)message, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)control;

		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
	}
	do
		n = sendmsg(socket, &m, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t opener_receive(int socket, void *message, size_t size, int *fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { message, size };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*fd = -1;
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}

/* -------- one request -------- */

/*
 * Whether a layer of an overlay is a file system of blocks. Only such report where a file's
 * contents are, and an overlay asks its layer.
 */
static bool has_blocks(int fd)
{
	struct fiemap map = { .fm_length = FIEMAP_MAX_OFFSET };

	return !ioctl(fd, FS_IOC_FIEMAP, &map);
}

/* Whether the kernel alone answers for the file. */
static bool is_local(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	switch ((uint32_t)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case SQUASHFS_MAGIC:
	case ISOFS_SUPER_MAGIC:
	case MSDOS_SUPER_MAGIC:
	case EROFS_TYPE:
	case XFS_TYPE:
	case ZFS_TYPE:
	case BCACHEFS_TYPE:
	case NTFS3_TYPE: return true;
	case OVERLAYFS_SUPER_MAGIC: return has_blocks(fd);
	default: return false;
	}
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, n - 1);
}

/* Bytes of the copies that are being made, by all threads. */
static atomic_uint_fast64_t copying;

/* Writes a piece of a copy; `written` counts all of it. 0 or -errno. */
static int write_piece(int to, const uint8_t *piece, size_t n, off_t at, uint64_t *written)
{
	ssize_t done;

	if (is_zero(piece, n))
		return 0;
	*written += n;
	if (atomic_fetch_add(&copying, n) + n > LIMIT_COPYING_BYTES)
		return -ENOMEM;
	done = pwrite(to, piece, n, at);
	return done < 0 ? -errno : (size_t)done < n ? -ENOSPC : 0;
}

/* Copies what the file holds; zeros become holes. 0 or -errno. */
static int copy_to(int to, int from)
{
	uint8_t *piece = malloc(COPY_BYTES);
	uint64_t written = 0;
	off_t at = 0;
	ssize_t n = -1;
	int error = piece ? 0 : -ENOMEM;

	while (!error && (n = pread(from, piece, COPY_BYTES, at)) > 0) {
		error = at + n > (off_t)LIMIT_FOREIGN_BYTES
				? -EFBIG
				: write_piece(to, piece, (size_t)n, at, &written);
		at += n;
	}
	atomic_fetch_sub(&copying, written);
	if (!error && n < 0)
		error = -errno;
	if (!error && ftruncate(to, at))
		error = -errno;
	free(piece);
	return error;
}

/* A copy of the file's contents; closes the file. */
static int copy_of(int file)
{
	int copy = memfd_create("prof-record", MFD_CLOEXEC), error;

	error = copy < 0 ? -errno : copy_to(copy, file);
	close(file);
	if (!error)
		return copy;
	if (copy >= 0)
		close(copy);
	return error;
}

static int open_asked(const struct opener_request *r)
{
	char path[96];

	switch (r->kind) {
	case OPENING_MAPPED:
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
			 r->pid, r->start, r->end);
		return open_regular(path);
	case OPENING_FOLDER: return namespace_open_folder(r->pid, r->path);
	case OPENING_PATH:
	case OPENING_GROWING:
		if (r->in_folder)
			return namespace_open_at(r->folder, r->path, r->uid);
		if (!r->pid)
			return open_regular(r->path);
		return r->uid == OPENING_ANY_UID ? namespace_open_any(r->pid, r->path)
						 : namespace_open(r->pid, r->path, r->uid);
	case OPENING_STATUS:
	case OPENING_QUIET: break;
	}
	return -EINVAL;
}

static void answer_with_file(const struct opener_request *r, struct opener_answer *answer, int *fd)
{
	*fd = open_asked(r);
	answer->error = *fd < 0 ? *fd : 0;
	if (r->kind == OPENING_FOLDER || *fd < 0)
		return;
	if (fstat(*fd, &answer->status)) {
		answer->error = -errno;
	} else if (!is_local(*fd)) {
		answer->copied = r->kind != OPENING_GROWING;
		if (answer->copied)
			*fd = copy_of(*fd);
		answer->error = !answer->copied ? -EREMOTE : *fd < 0 ? *fd : 0;
	}
	if (answer->error && *fd >= 0)
		close(*fd);
	if (answer->error)
		*fd = -1;
}

/*
 * SEEK_HOLE takes the lock of the inode (on ext4, btrfs and tmpfs), which a write holds until it
 * ends: also one whose data a hostile file system has, and which so never ends.
 */
static void wait_for_write(int file, uint64_t size)
{
	lseek(file, (off_t)size, SEEK_HOLE);
}

void opener_process_answer(const struct opener_request *r, struct opener_answer *answer, int *fd)
{
	*answer = (struct opener_answer){ .id = r->id };
	*fd = -1;
	if (r->kind == OPENING_STATUS)
		answer->error = stat(r->path, &answer->status) ? -errno : 0;
	else if (r->kind == OPENING_QUIET)
		wait_for_write(r->folder, r->end);
	else
		answer_with_file(r, answer, fd);
	/* Of a file, as one with a lease: it is an answer, and the last one. */
	if (answer->error == -EAGAIN)
		answer->error = -EIO;
}

/* -------- the process -------- */

struct service {
	int socket;
	atomic_int idle, threads; /* threads that wait for a request, and all of them */
};

static void *serve(void *context);

static void add_thread(struct service *s)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (atomic_fetch_add(&s->threads, 1) >= OPENER_OPEN_MAX) {
		atomic_fetch_sub(&s->threads, 1);
		return;
	}
	atomic_fetch_add(&s->idle, 1);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (pthread_create(&thread, &attributes, serve, s)) {
		atomic_fetch_sub(&s->threads, 1);
		atomic_fetch_sub(&s->idle, 1);
	}
	pthread_attr_destroy(&attributes);
}

static void answer_request(struct service *s, const struct opener_request *request)
{
	struct opener_answer answer;
	int fd, error;

	opener_process_answer(request, &answer, &fd);
	error = opener_send(s->socket, &answer, sizeof(answer), fd, 0);
	if (fd >= 0)
		close(fd);
	if (error) {
		/* The fd may be what the kernel refuses to send. */
		answer.error = error;
		opener_send(s->socket, &answer, sizeof(answer), -1, 0);
	}
}

static void *serve(void *context)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct service *s = context;
	struct opener_request request;
	ssize_t size;

	while ((size = opener_receive(s->socket, &request, sizeof(request), &request.folder, 0))) {
		if (size < 0) {
			nanosleep(&pause, NULL);
			continue;
		}
		/* There is a thread more than files that do not answer, up to the limit of both. */
		if (atomic_fetch_sub(&s->idle, 1) == 1)
			add_thread(s);
		request.path[PATH_MAX - 1] = 0;
		answer_request(s, &request);
		if (request.folder >= 0)
			close(request.folder);
		atomic_fetch_add(&s->idle, 1);
	}
	_exit(0);
}

_Noreturn void opener_process_run(int socket)
{
	struct service s = { .socket = CHILD_PROCESS_SOCKET };

	child_process_begin(socket, "prof-opener", PRIVILEGES_FOR_OPENING);
	/*
	 * The first thread opens nothing. When the process is killed it ends at once, by which the
	 * recorder sees that, although a file may keep another thread and with it the socket.
	 */
	add_thread(&s);
	while (s.threads)
		pause();
	_exit(1);
}
