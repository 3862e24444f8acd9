/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/namespace.h"

#include "common/clock.h"
#include "record/system/proc.h"
#include "record/system/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A file of /proc/PID as text; its size, or -errno. */
static ssize_t read_proc(uint32_t pid, const char *name, char *text, size_t size)
{
	size_t used = 0;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = 0;
	return (ssize_t)used;
}

/* Field 22 of /proc/PID/stat: start time in ticks since boot, including suspend. 0: not known. */
static uint64_t start_time(uint32_t pid)
{
	unsigned long long ticks;
	uint64_t asleep, started;
	char text[2048], *end;

	if (read_proc(pid, "stat", text, sizeof(text)) <= 0 || !(end = strrchr(text, ')')) ||
	    sscanf(end + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %llu",
		   &ticks) != 1)
		return 0;
	asleep = clock_ns(CLOCK_BOOTTIME) - clock_now();
	started = ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	return started > asleep ? started - asleep : 1;
}

/* By what the kernel knows already: the file system may not answer. */
static int status_known(const char *path, struct statx *status)
{
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, status);
}

static void read_root(uint32_t pid, char *root, size_t size)
{
	char path[64], target[256];
	struct statx ours, theirs;
	ssize_t n;

	*root = 0;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	if (status_known("/", &ours) || status_known(path, &theirs) ||
	    (ours.stx_dev_major == theirs.stx_dev_major &&
	     ours.stx_dev_minor == theirs.stx_dev_minor && ours.stx_ino == theirs.stx_ino))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	/*
	 * In another mount namespace the link reads "/": the root is reached through
	 * /proc/PID/root.
	 */
	snprintf(root, size, "%s", strcmp(target, "/") ? target : path);
}

int namespace_read(struct namespace *inside, uint32_t pid)
{
	char status[4096];
	ssize_t size;

	*inside = (struct namespace){ .inner_pid = pid, .uid = (uid_t)-1 };
	size = read_proc(pid, "status", status, sizeof(status));
	if (size < 0)
		return (int)size;
	proc_status_number(status, "NSpid:", -1, &inside->inner_pid);
	if (!proc_status_number(status, "Uid:", 1, &inside->uid))
		return -EINVAL;
	inside->start_ns = start_time(pid);
	read_root(pid, inside->root, sizeof(inside->root));
	return 0;
}

void namespace_numbers(uint32_t pid, uint32_t tid, uint32_t *inner_pid, uint32_t *inner_tid)
{
	char status[4096], name[32];

	*inner_pid = pid;
	*inner_tid = tid;
	snprintf(name, sizeof(name), "task/%u/status", tid);
	if (read_proc(pid, name, status, sizeof(status)) <= 0)
		return;
	proc_status_number(status, "NStgid:", -1, inner_pid);
	proc_status_number(status, "NSpid:", -1, inner_tid);
}

/* Opens a path below a folder, as if that were the root. An fd with O_PATH, or -errno. */
static int open_below(int folder, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int open_in_root(uint32_t pid, const char *path, uint64_t flags)
{
	char root[64];
	int folder, fd;

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	fd = open_below(folder, path, flags);
	close(folder);
	return fd;
}

int namespace_open_any(uint32_t pid, const char *path)
{
	int fd = open_in_root(pid, path, 0);

	return fd >= 0 ? open_regular_at(fd) : fd;
}

static int check_owner(int fd, uid_t uid)
{
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_uid != uid) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int namespace_open(uint32_t pid, const char *path, uid_t uid)
{
	return check_owner(namespace_open_any(pid, path), uid);
}

int namespace_open_folder(uint32_t pid, const char *path)
{
	return open_in_root(pid, path, O_DIRECTORY);
}

int namespace_open_at(int folder, const char *name, uid_t uid)
{
	int fd = open_below(folder, name, 0);

	return fd >= 0 ? check_owner(open_regular_at(fd), uid) : fd;
}

void namespace_command_line(uint32_t pid, char *text, size_t size)
{
	struct buffer line = { 0 };
	size_t n = 0;

	if (!process_reader_file(pid, "cmdline", size - 1, &line))
		n = line.size;
	if (n)
		memcpy(text, line.data, n);
	buffer_release(&line);
	while (n && !text[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = 0;
}
