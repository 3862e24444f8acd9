/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"

static int read_most(const char *path, size_t most, struct buffer *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t begin = text->size;
	int status = 0;

	if (fd < 0)
		return -errno;
	while (text->size - begin < most) {
		size_t before = text->size, left = most - (before - begin);
		size_t piece = left < 16384 ? left : 16384;
		uint8_t *room = buffer_extend(text, piece);
		ssize_t n;

		if (!room) {
			status = -ENOMEM;
			break;
		}
		n = read(fd, room, piece);
		text->size = before + (n > 0 ? (size_t)n : 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			status = -errno;
		if (n <= 0)
			break;
	}
	close(fd);
	return status;
}

int read_file(const char *path, struct buffer *text)
{
	return read_most(path, LIMIT_PROC_BYTES, text);
}

int open_regular_at(int path_fd)
{
	char path[64];
	struct stat st;
	int fd = -EINVAL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	if (!fstat(path_fd, &st) && S_ISREG(st.st_mode)) {
		/* O_NONBLOCK: a lease on the file keeps nobody waiting, but is an error. */
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(path_fd);
	return fd;
}

int open_regular(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : open_regular_at(fd);
}

int proc_read_most(uint32_t pid, const char *name, size_t most, struct buffer *text)
{
	char path[64 + NAME_MAX];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	return read_most(path, most, text);
}

int proc_read(uint32_t pid, const char *name, struct buffer *text)
{
	return proc_read_most(pid, name, LIMIT_PROC_BYTES, text);
}

int proc_link(uint32_t pid, const char *name, char *path, size_t size)
{
	char link[64 + NAME_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/%s", pid, name);
	n = readlink(link, path, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	path[n] = 0;
	return 0;
}

/*
 * What follows a key. It is at the start of a line; the first line is skipped: it holds the name of
 * the process, which may contain anything. NULL: there is none.
 */
static const char *after_key(const char *status, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = status; (line = strchr(line, '\n'));)
		if (!strncmp(++line, key, length))
			return line + length;
	return NULL;
}

bool proc_status_number(const char *status, const char *key, int index, uint32_t *value)
{
	const char *at = after_key(status, key);
	char *end;

	for (int i = 0; at && (index < 0 || i <= index); i++) {
		unsigned long number;

		while (*at == ' ' || *at == '\t')
			at++;
		number = strtoul(at, &end, 10);
		if (end == at)
			return index < 0 && i > 0;
		*value = (uint32_t)number;
		at = end;
	}
	return at;
}

int proc_status(uint32_t pid, const char *key, uint32_t *value)
{
	struct buffer text = { 0 };
	int status = proc_read(pid, "status", &text);

	if (!status && !proc_status_number(buffer_string(&text), key, 0, value))
		status = -ENOENT;
	buffer_release(&text);
	return status;
}

char proc_state(uint32_t pid, uint32_t *parent)
{
	struct buffer text = { 0 };
	int status = proc_read(pid, "stat", &text);
	const char *name_end;
	uint32_t by = 0;
	char state;

	if (status)
		text.size = 0;
	name_end = strrchr(buffer_string(&text), ')');
	if (!name_end || sscanf(name_end, ") %c %" SCNu32, &state, &by) != 2)
		state = status && status != -ENOENT && status != -ESRCH ? '?' : 'X';
	buffer_release(&text);
	if (parent)
		*parent = by;
	return state;
}

bool proc_runs(uint32_t pid, uint32_t *parent)
{
	char state = proc_state(pid, parent);
	uint32_t threads;

	if (state == 'Z')
		return !proc_status(pid, "Threads:", &threads) && threads > 1;
	return state != 'X';
}

bool proc_has_thread(uint32_t pid, uint32_t tid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32, pid, tid);
	return !stat(path, &status) || errno != ENOENT;
}

int proc_comm(uint32_t pid, uint32_t tid, char *comm, size_t size)
{
	struct buffer text = { 0 };
	char name[64];
	int status;

	snprintf(name, sizeof(name), "task/%" PRIu32 "/comm", tid);
	status = proc_read(pid, name, &text);
	if (!status) {
		size_t n = text.size;

		if (n && text.data[n - 1] == '\n')
			n--;
		if (n >= size)
			n = size - 1;
		memcpy(comm, buffer_string(&text), n);
		comm[n] = 0;
	}
	buffer_release(&text);
	return status;
}

int proc_each(const char *folder, void (*visit)(uint32_t number, void *context), void *context)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		char *end;
		unsigned long number;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		number = strtoul(entry->d_name, &end, 10);
		if (!*end && number <= UINT32_MAX)
			visit((uint32_t)number, context);
	}
	closedir(dir);
	return 0;
}

bool cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path);

	if (length <= sizeof(mark) - 1 || strcmp(path + length - (sizeof(mark) - 1), mark))
		return false;
	path[length - (sizeof(mark) - 1)] = 0;
	return true;
}

/* In maps a line feed is written as \012; nothing else is escaped. */
static void unescape(char *path)
{
	char *to = path;

	for (char *from = path; *from; from++) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
}

char *proc_next_mapping(char *text, struct proc_mapping *mapping)
{
	while (*text) {
		struct proc_mapping m = { 0 };
		char *line = text, *end = strchr(text, '\n');
		char rights[8];
		int path = 0;

		text = end ? end + 1 : text + strlen(text);
		if (end)
			*end = 0;
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32
			   " %" SCNu64 " %n",
			   &m.start, &m.end, rights, &m.offset, &m.major, &m.minor, &m.inode,
			   &path) != 7 ||
		    m.end <= m.start)
			continue;
		m.executable = strlen(rights) > 2 && rights[2] == 'x';
		if (path) {
			unescape(line + path);
			m.deleted = cut_deleted(line + path);
			m.path = line + path;
		} else {
			m.path = "";
		}
		*mapping = m;
		return text;
	}
	return NULL;
}
