/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "record/system/namespace.h"
#include "record/system/proc.h"

/* More than that many files are no longer told apart; the rest go without tables. */
#define FILES_MAX 65536
/* How long a file goes without a table, once it was refused one for want of memory. */
#define RETRY_NS UINT64_C(10000000000)
#define KEPT_MAX 4096 /* files that stay open */

struct key {
	char kind; /* 'b' build-id, 'i' inode, 'v' vDSO */
	uint8_t bytes[39];
};

static struct key build_id_key(const uint8_t *build_id, size_t size)
{
	struct key key = { .kind = 'b' };

	memcpy(key.bytes, build_id, size < ELF_BUILD_ID_MAX ? size : ELF_BUILD_ID_MAX);
	key.bytes[ELF_BUILD_ID_MAX] = (uint8_t)size;
	return key;
}

static struct key inode_key(const struct stat *status)
{
	uint64_t words[4] = { status->st_dev, status->st_ino, (uint64_t)status->st_size,
			      (uint64_t)status->st_mtim.tv_sec * 1000000000 +
				      (uint64_t)status->st_mtim.tv_nsec };
	struct key key = { .kind = 'i' };

	memcpy(key.bytes, words, sizeof(words));
	return key;
}

static struct code_file *find(const struct code_files *files, const struct key *key)
{
	uint64_t *value = map_get(&files->keys, key, sizeof(*key));

	return value ? files->all[*value - 1] : NULL;
}

static void free_file(struct code_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->kept >= 0)
		close(file->kept);
	free(file->path);
	free(file);
}

void code_files_release(struct code_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free_file(files->all[i]);
	free(files->all);
	map_release(&files->keys);
	*files = (struct code_files){ 0 };
}

static void set_fd(const struct code_files *files, struct code_file *file, int fd)
{
	file->fd = fd;
	if (file->kept >= 0)
		close(file->kept);
	file->kept = fd >= 0 && files->count < KEPT_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
}

/* Takes over the fd. */
static struct code_file *add(struct code_files *files, const struct key *key, const char *path,
			     int fd)
{
	struct code_file *file = calloc(1, sizeof(*file));
	uint64_t *value;

	if (file)
		file->fd = file->kept = -1;
	if (!file || files->count == FILES_MAX ||
	    !array_reserve(&files->all, &files->capacity, files->count + 1))
		goto failed;
	set_fd(files, file, fd);
	file->path = strdup(path);
	value = file->path ? map_put(&files->keys, key, sizeof(*key), NULL) : NULL;
	if (!value)
		goto failed;
	files->all[files->count++] = file;
	*value = files->count;
	return file;
failed:
	if (fd >= 0)
		close(fd);
	if (file) {
		file->fd = -1;
		free_file(file);
	}
	return NULL;
}

/* The very file that is mapped, even when it was deleted; or what has its name now. */
static int open_mapped(const struct unwinder_mapping *m)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, m->pid,
		 m->start, m->end);
	fd = open_regular(path);
	if (fd < 0)
		fd = namespace_open_any(m->pid, m->path);
	/* By the time it is read, the process may be gone: then the name has to do. */
	return fd < 0 && m->build_id_size ? open_regular(m->path) : fd;
}

static bool has_file(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) != 0 &&
	       strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/memfd:", 7) != 0;
}

/*
 * A file that could not be opened for one process may be for another, and one whose table
 * was given back may find room again, but not all the time.
 */
static bool may_retry(const struct code_file *file)
{
	if (file->state != CODE_FILE_REFUSED || file->fd >= 0)
		return false;
	return clock_now() >= file->refused_ns + RETRY_NS || !file->refused_ns;
}

static void retry(struct code_file *file, int fd)
{
	file->fd = fd;
	if (fd >= 0)
		file->state = CODE_FILE_WAITING;
}

static struct code_file *get_by_inode(struct code_files *files, const char *path, int fd)
{
	struct code_file *file;
	struct stat status;
	struct key key;

	if (fd < 0 || fstat(fd, &status)) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	key = inode_key(&status);
	file = find(files, &key);
	if (!file)
		return add(files, &key, path, fd);
	if (may_retry(file))
		retry(file, fd);
	else
		close(fd);
	return file;
}

struct code_file *code_files_get(struct code_files *files, const struct unwinder_mapping *m)
{
	struct code_file *file;
	struct key key = { .kind = 'v' };

	if (strcmp(m->path, "[vdso]") == 0) {
		file = find(files, &key);
		if (file)
			return file;
		file = add(files, &key, m->path, -1);
		if (file)
			file->vdso = true;
		return file;
	}
	if (!has_file(m->path) && !m->build_id_size)
		return NULL;
	if (!m->build_id_size)
		return get_by_inode(files, m->path, open_mapped(m));
	key = build_id_key(m->build_id, m->build_id_size);
	file = find(files, &key);
	if (file && may_retry(file))
		retry(file, open_mapped(m));
	if (file)
		return file;
	file = add(files, &key, m->path, open_mapped(m));
	if (!file)
		return NULL;
	file->build_id_size = (uint8_t)(m->build_id_size < ELF_BUILD_ID_MAX ? m->build_id_size
									    : ELF_BUILD_ID_MAX);
	memcpy(file->build_id, m->build_id, file->build_id_size);
	return file;
}

struct code_file *code_files_find(const struct code_files *files, const uint8_t *build_id,
				  size_t size)
{
	struct key key = build_id_key(build_id, size);

	return find(files, &key);
}

struct code_file *code_files_get_path(struct code_files *files, const char *path)
{
	return get_by_inode(files, path, open_regular(path));
}

void code_files_alias(struct code_files *files, struct code_file *file, const uint8_t *build_id,
		      size_t size)
{
	struct key key = build_id_key(build_id, size);
	uint64_t *value;
	bool added;

	for (size_t i = 0; i < files->count; i++) {
		if (files->all[i] != file)
			continue;
		value = map_put(&files->keys, &key, sizeof(key), &added);
		/* One that was only known by build-id and could not be opened is no loss. */
		if (value && (added || files->all[*value - 1]->state == CODE_FILE_REFUSED))
			*value = i + 1;
		return;
	}
}
