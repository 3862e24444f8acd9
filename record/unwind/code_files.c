/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "record/system/proc.h"

/* Most files that are tracked; further ones have no tables. */
#define FILES_MAX 65536
/* How long a file goes without a table, once it was refused one for want of memory. */
#define RETRY_NS UINT64_C(10000000000)
#define KEPT_MAX 4096 /* files that stay open */

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[ELF_BUILD_ID_MAX];
};

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

/*
 * A file that could not be opened for one process may be for another, and one whose table was
 * dropped may find room again. It is not tried again at each mapping.
 */
static bool may_retry(const struct code_file *file)
{
	if (file->state != CODE_FILE_REFUSED || file->fd >= 0)
		return false;
	return clock_now() >= file->refused_ns + RETRY_NS || !file->refused_ns;
}

/* Takes over the fd. Closes it if it is not wanted. */
static struct code_file *known(const struct code_files *files, struct code_file *file, int fd)
{
	if (may_retry(file) && fd >= 0) {
		set_fd(files, file, fd);
		file->state = CODE_FILE_WAITING;
	} else if (fd >= 0) {
		close(fd);
	}
	return file;
}

static struct code_file *get_by_build_id(struct code_files *files, const char *path,
					 const struct build_id *id, int fd)
{
	struct key key = build_id_key(id->bytes, id->size);
	struct code_file *file = find(files, &key);

	if (file)
		return known(files, file, fd);
	file = add(files, &key, path, fd);
	if (!file)
		return NULL;
	file->build_id_size = id->size;
	memcpy(file->build_id, id->bytes, id->size);
	return file;
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
	return file ? known(files, file, fd) : add(files, &key, path, fd);
}

struct code_file *code_files_get_vdso(struct code_files *files)
{
	const struct key key = { .kind = 'v' };
	struct code_file *file = find(files, &key);

	if (file)
		return file;
	file = add(files, &key, "[vdso]", -1);
	if (file)
		file->vdso = true;
	return file;
}

static struct build_id build_id_of(const struct prf_object *d)
{
	struct build_id id = { .size = d->build_id_size };

	memcpy(id.bytes, d->build_id, d->build_id_size);
	return id;
}

static struct code_file *get_file(struct code_files *files, uint32_t pid, const struct mapping *m)
{
	const struct prf_object *d = &m->object->definition;
	struct build_id id = build_id_of(d);
	struct key key = build_id_key(id.bytes, id.size);
	struct code_file *file = id.size ? find(files, &key) : NULL;
	struct error *error;
	bool replaced;
	int fd;

	if (file && !may_retry(file))
		return file;
	error = object_open(pid, m, &fd);
	replaced = error_is(error, ESTALE);
	error_free(error);
	id = build_id_of(d); /* object_open() may have found it */
	if (!id.size)
		return get_by_inode(files, d->path, fd);
	file = get_by_build_id(files, d->path, &id, fd);
	if (file)
		file->replaced = replaced;
	return file;
}

struct code_file *code_files_get(struct code_files *files, uint32_t pid, const struct mapping *m)
{
	switch (m->object->definition.kind) {
	case PRF_OBJECT_VDSO: m->object->code = code_files_get_vdso(files); break;
	case PRF_OBJECT_FILE: m->object->code = get_file(files, pid, m); break;
	default: break;
	}
	return m->object->code;
}

struct code_file *code_files_find(const struct code_files *files, const uint8_t *build_id,
				  size_t size)
{
	struct key key = build_id_key(build_id, size);

	return find(files, &key);
}

struct code_file *code_files_get_path(struct code_files *files, const char *path)
{
	int fd = open_regular(path);
	struct build_id id = { 0 };
	struct elf_file elf;

	if (fd >= 0 && !elf_file_open(&elf, fd)) {
		id.size = elf.build_id_size;
		memcpy(id.bytes, elf.build_id, elf.build_id_size);
		elf_file_release(&elf);
	}
	return id.size ? get_by_build_id(files, path, &id, fd) : get_by_inode(files, path, fd);
}
