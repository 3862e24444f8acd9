/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "record/system/opener.h"
#include "record/system/patience.h"

/* How long a file goes without a table, once it was refused one for want of memory. */
#define RETRY_NS UINT64_C(10000000000)

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[ELF_BUILD_ID_MAX];
};

/* By which name a file is asked for, and for which user. */
struct code_file_asked {
	const char *path;
	uint32_t user;
};

static struct code_file_key build_id_key(const struct build_id *id, uint32_t owner)
{
	struct code_file_key key = { .kind = 'b' };

	memcpy(key.bytes, id->bytes, id->size);
	key.bytes[ELF_BUILD_ID_MAX] = id->size;
	memcpy(key.bytes + ELF_BUILD_ID_MAX + 1, &owner, sizeof(owner));
	return key;
}

static struct code_file_key inode_key(const struct stat *status)
{
	uint64_t words[4] = { status->st_dev, status->st_ino, (uint64_t)status->st_size,
			      (uint64_t)status->st_mtim.tv_sec * 1000000000 +
				      (uint64_t)status->st_mtim.tv_nsec };
	struct code_file_key key = { .kind = 'i' };

	memcpy(key.bytes, words, sizeof(words));
	return key;
}

static struct code_file *find(const struct code_files *files, const struct code_file_key *key)
{
	uint64_t *value = map_get(&files->keys, key, sizeof(*key));

	return value ? files->all[*value - 1] : NULL;
}

void code_file_free(struct code_file *file)
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

uint32_t code_file_payer(const struct code_file *file, uint32_t user)
{
	if (file->owner == CODE_FILE_NO_OWNER || patience_is_contained(user))
		return user;
	return file->owner == geteuid() ? 0 : file->owner;
}

void code_files_init(struct code_files *files)
{
	*files = (struct code_files){ .known.limit = LIMIT_CODE_FILES,
				      .kept.limit = LIMIT_OPEN_CODE_FILES };
}

void code_files_release(struct code_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		code_file_free(files->all[i]);
	free(files->all);
	free(files->pages);
	map_release(&files->keys);
	shares_release(&files->known);
	shares_release(&files->kept);
	shares_release(&files->work_ns);
	*files = (struct code_files){ 0 };
}

/* The page of that number; NULL if it cannot be read. */
static const struct code_page *page_of(struct code_files *files, const struct code_file *file,
				       uint64_t number)
{
	struct code_page *page;
	ssize_t n;

	if (!files->pages)
		files->pages = calloc(CODE_PAGES, sizeof(*files->pages));
	if (!files->pages)
		return NULL;
	page = &files->pages[(number ^ (uintptr_t)file / sizeof(*file)) % CODE_PAGES];
	if (page->file == file && page->number == number)
		return page;
	n = mapped_file_read(file->kept, page->bytes, sizeof(page->bytes),
			     number * sizeof(page->bytes));
	page->file = n < 0 ? NULL : file;
	page->number = number;
	page->size = n < 0 ? 0 : (size_t)n;
	return page->file ? page : NULL;
}

bool code_files_read(struct code_files *files, const struct code_file *file, uint64_t offset,
		     void *bytes, size_t size)
{
	const size_t at = offset % sizeof(files->pages->bytes);
	const struct code_page *page;

	if (file->kept < 0)
		return false;
	if (at + size > sizeof(page->bytes))
		return mapped_file_read(file->kept, bytes, size, offset) == (ssize_t)size;
	page = page_of(files, file, offset / sizeof(page->bytes));
	if (!page || at + size > page->size)
		return false;
	memcpy(bytes, page->bytes + at, size);
	return true;
}

void code_files_close(struct code_files *files, struct code_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	files->copied_bytes -= file->copied_bytes;
	file->copied_bytes = 0;
}

/* Closes the one that is kept. */
static void let_go(struct code_files *files, struct code_file *file)
{
	if (file->kept < 0)
		return;
	for (size_t i = 0; files->pages && i < CODE_PAGES; i++)
		if (files->pages[i].file == file)
			files->pages[i].file = NULL;
	close(file->kept);
	file->kept = -1;
	shares_give(&files->kept, file->user, 1);
}

void code_files_take(struct code_files *files, struct code_file *file)
{
	uint64_t *at = map_get(&files->keys, &file->key, sizeof(file->key));
	struct code_file *last = files->all[files->count - 1];

	files->all[*at - 1] = last;
	*map_get(&files->keys, &last->key, sizeof(last->key)) = *at;
	map_remove(&files->keys, &file->key, sizeof(file->key));
	files->count--;
	code_files_close(files, file);
	let_go(files, file);
	shares_give(&files->known, file->user, 1);
}

static void close_file(struct open_file *from)
{
	if (from->fd >= 0)
		close(from->fd);
	from->fd = -1;
}

/* What a copy holds; its file may claim another size. */
static uint64_t size_of_copy(const struct open_file *from)
{
	struct stat status;

	if (from->fd < 0 || !from->copied)
		return 0;
	return fstat(from->fd, &status) ? UINT64_MAX : (uint64_t)status.st_size;
}

struct unwind_file_key code_file_kernel_key(const struct stat *status)
{
	return (struct unwind_file_key){
		.device = (uint64_t)major(status->st_dev) << 20 | minor(status->st_dev),
		.inode = status->st_ino,
	};
}

static uint32_t owner_of(const struct open_file *file)
{
	return file->fd < 0 || file->copied ? CODE_FILE_NO_OWNER : file->status.st_uid;
}

/* Takes over the fd. */
static void set_file(struct code_files *files, struct code_file *file, struct open_file *from)
{
	uint64_t size = size_of_copy(from);

	if (size > LIMIT_FOREIGN_TOTAL_BYTES ||
	    files->copied_bytes > LIMIT_FOREIGN_TOTAL_BYTES - size) {
		close_file(from);
		size = 0;
	}
	file->fd = from->fd;
	file->copied_bytes = size;
	files->copied_bytes += size;
	let_go(files, file);
	/* Copies would keep their memory. */
	if (file->fd >= 0 && !from->copied && shares_may_take(&files->kept, file->user, 1))
		file->kept = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (file->kept >= 0)
		shares_take(&files->kept, file->user, 1);
	file->owner = owner_of(from);
	if (file->fd >= 0)
		file->kernel_key = code_file_kernel_key(&from->status);
}

/* Takes over the fd. */
static struct code_file *add(struct code_files *files, const struct code_file_key *key,
			     const struct code_file_asked *asked, struct open_file *from)
{
	struct code_file *file = calloc(1, sizeof(*file));
	uint64_t *value;

	if (!file)
		goto failed;
	file->fd = file->kept = -1;
	file->user = asked->user;
	if (!shares_may_take(&files->known, file->user, 1) ||
	    !array_reserve(&files->all, &files->capacity, files->count + 1))
		goto failed;
	file->key = *key;
	file->path = strdup(asked->path);
	value = file->path ? map_put(&files->keys, key, sizeof(*key), NULL) : NULL;
	if (!value)
		goto failed;
	files->all[files->count++] = file;
	*value = files->count;
	shares_take(&files->known, file->user, 1);
	set_file(files, file, from);
	return file;
failed:
	close_file(from);
	code_file_free(file);
	return NULL;
}

/*
 * A file that could not be opened for one process may be for another, one whose table was dropped
 * may find room again, and what did not fit into a user's share may fit into another's. It is not
 * tried again at each mapping.
 */
static bool may_retry(const struct code_file *file, uint32_t user)
{
	if (file->state != CODE_FILE_REFUSED || file->fd >= 0)
		return false;
	return clock_now() >= file->refused_ns + RETRY_NS || !file->refused_ns ||
	       (file->refused_to && code_file_payer(file, user) != file->refused_to);
}

/* Takes over the fd. Closes it if it is not wanted. */
static struct code_file *known(struct code_files *files, struct code_file *file, uint32_t user,
			       struct open_file *from)
{
	if (may_retry(file, user) && from->fd >= 0) {
		set_file(files, file, from);
		file->state = CODE_FILE_WAITING;
		file->user_count = file->users[0] = 0;
		file->needed_ns = 0;
	} else {
		close_file(from);
	}
	return file;
}

/*
 * What could not be opened is taken for root's: that can only be wrong for the processes of whoever
 * made it.
 */
static struct code_file *get_by_build_id(struct code_files *files,
					 const struct code_file_asked *asked,
					 const struct build_id *id, struct open_file *from)
{
	struct code_file_key key = build_id_key(id, from->fd < 0 ? 0 : from->status.st_uid);
	struct code_file *file = find(files, &key);

	if (file)
		return known(files, file, asked->user, from);
	file = add(files, &key, asked, from);
	if (!file)
		return NULL;
	file->build_id_size = id->size;
	memcpy(file->build_id, id->bytes, id->size);
	return file;
}

static struct code_file *get_by_inode(struct code_files *files, const struct code_file_asked *asked,
				      struct open_file *from)
{
	struct code_file *file;
	struct code_file_key key;

	if (from->fd < 0)
		return NULL;
	key = inode_key(&from->status);
	file = find(files, &key);
	return file ? known(files, file, asked->user, from) : add(files, &key, asked, from);
}

struct code_file *code_files_get_vdso(struct code_files *files)
{
	const struct code_file_key key = { .kind = 'v' };
	struct code_file *file = find(files, &key);

	if (file)
		return file;
	file = add(files, &key, &(struct code_file_asked){ "[vdso]", 0 },
		   &(struct open_file){ .fd = -1 });
	if (file) {
		file->vdso = true;
		file->owner = 0;
	}
	return file;
}

static struct build_id build_id_of(const struct prf_object *d)
{
	struct build_id id = { .size = d->build_id_size };

	memcpy(id.bytes, d->build_id, d->build_id_size);
	return id;
}

/* By its build-id, if its owner is known. */
static struct code_file *get_opened(struct code_files *files, const struct code_file_asked *asked,
				    const struct build_id *id, struct open_file *from)
{
	return id->size && !from->copied ? get_by_build_id(files, asked, id, from)
					 : get_by_inode(files, asked, from);
}

static struct code_file *get_file(struct code_files *files, uint32_t pid, uint32_t user,
				  const struct mapping *m)
{
	const struct prf_object *d = &m->object->definition;
	struct code_file *file = m->object->code;
	struct open_file opened;
	struct build_id id;
	struct error *error;
	bool replaced, waits;

	if (file && !may_retry(file, user))
		return file;
	error = object_open(pid, m, &opened);
	replaced = error_is(error, ESTALE);
	waits = error_is(error, EAGAIN);
	error_free(error);
	/* The next process that maps it may have an answer. */
	if (waits)
		return file;
	id = build_id_of(d); /* object_open() may have found it */
	file = get_opened(files, &(struct code_file_asked){ d->path, user }, &id, &opened);
	if (file)
		file->replaced = replaced;
	return file;
}

struct code_file *code_files_get(struct code_files *files, uint32_t pid, uint32_t user,
				 const struct mapping *m)
{
	switch (m->object->definition.kind) {
	case PRF_OBJECT_VDSO: m->object->code = code_files_get_vdso(files); break;
	case PRF_OBJECT_FILE: m->object->code = get_file(files, pid, user, m); break;
	default: break;
	}
	return m->object->code;
}

/* When the file's turn comes if it is for that user. */
static uint64_t turn_of(const struct code_files *files, const struct code_file *file, uint32_t user)
{
	return user || file->owner ? shares_of(&files->work_ns, user) + 1 : 0;
}

/* The place of the user whose turn comes last. */
static uint32_t *last_user(const struct code_files *files, struct code_file *file)
{
	uint32_t *last = file->users;

	for (uint32_t *user = last + 1; user < file->users + CODE_FILE_USERS_MAX; user++)
		if (turn_of(files, file, *user) > turn_of(files, file, *last))
			last = user;
	return last;
}

void code_files_need(const struct code_files *files, struct code_file *file, uint32_t user,
		     uint64_t time_ns)
{
	uint32_t *last;

	if (!file->needed_ns)
		file->needed_ns = time_ns;
	for (uint32_t i = 0; i < file->user_count; i++)
		if (file->users[i] == user)
			return;
	/* This one waits only since now. */
	if (time_ns)
		file->needed_ns = time_ns;
	if (file->user_count < CODE_FILE_USERS_MAX) {
		file->users[file->user_count++] = user;
		return;
	}
	last = last_user(files, file);
	if (turn_of(files, file, user) < turn_of(files, file, *last))
		*last = user;
}

bool code_file_is_for_others(struct code_file *file, uint32_t payer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < file->user_count; i++)
		if (code_file_payer(file, file->users[i]) != payer)
			file->users[n++] = file->users[i];
	file->user_count = n;
	return n;
}

/* While nobody needs it, it is for root. */
static uint32_t users_of(const struct code_file *file)
{
	return file->user_count ? file->user_count : 1;
}

struct code_file *code_files_next_waiting(const struct code_files *files, uint64_t now_ns,
					  uint32_t *user)
{
	struct code_file *next = NULL;
	uint64_t next_turn = UINT64_MAX;

	*user = 0;
	for (size_t i = 0; i < files->count && next_turn; i++) {
		struct code_file *file = files->all[i];
		bool waits = file->state == CODE_FILE_WAITING && file->later_ns <= now_ns;

		for (uint32_t j = 0; waits && j < users_of(file); j++) {
			uint64_t turn = turn_of(files, file, file->users[j]);

			if (turn >= next_turn)
				continue;
			next = file;
			next_turn = turn;
			*user = file->users[j];
		}
	}
	return next;
}

uint64_t code_files_next_ns(const struct code_files *files)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < files->count; i++) {
		const struct code_file *file = files->all[i];

		if (file->state == CODE_FILE_WAITING && file->later_ns < next)
			next = file->later_ns;
	}
	return next;
}

struct code_file *code_files_get_path(struct code_files *files, const char *path)
{
	struct build_id id = { 0 };
	struct open_file opened;
	struct elf_file elf;

	if (!opener_open_path(path, &opened) && !elf_file_open(&elf, opened.fd)) {
		id.size = elf.build_id_size;
		memcpy(id.bytes, elf.build_id, elf.build_id_size);
		elf_file_release(&elf);
	}
	return get_opened(files, &(struct code_file_asked){ path, 0 }, &id, &opened);
}
