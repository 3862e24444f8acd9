/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/object.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/elf_file.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/system/opener.h"
#include "record/system/proc.h"
#include "record/system/process_owner.h"
#include "record/system/shares.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(!offsetof(struct object, mapped), "mappings.c counts them there");

struct objects {
	struct map by_key; /* -> struct object * */
	struct shares shares;
};

struct objects *objects_new(void)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (o)
		o->shares.limit = LIMIT_SPACES_BYTES;
	return o;
}

struct shares *objects_shares(struct objects *o)
{
	return &o->shares;
}

static void free_object(void *value)
{
	struct object *object = value;

	free((char *)(uintptr_t)object->definition.path);
	free((char *)(uintptr_t)object->definition.root);
	code_hits_release(&object->hits);
	free(object);
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	map_release_values(&o->by_key, free_object);
	shares_release(&o->shares);
	free(o);
}

static enum prf_object_kind kind_of(const char *name, bool has_build_id)
{
	if (!strcmp(name, "[vdso]"))
		return PRF_OBJECT_VDSO;
	if (name[0] != '/' || !strncmp(name, "//", 2))
		return PRF_OBJECT_ANONYMOUS;
	/* Shared anonymous memory: the names of the kernel's internal files. */
	if (!strcmp(name, "/dev/zero") || !strncmp(name, "/SYSV", 5))
		return PRF_OBJECT_ANONYMOUS;
	/*
	 * A memfd without build-id is no program: some compilers write the code that they make
	 * there.
	 */
	if (!strncmp(name, "/memfd:", 7) && !has_build_id)
		return PRF_OBJECT_ANONYMOUS;
	return PRF_OBJECT_FILE;
}

/* No record reports it, but all processes of one kind have the same vDSO, so ours is read. */
static void take_vdso_build_id(struct prf_object *definition)
{
	struct elf_file vdso;

	if (definition->build_id_size || elf_file_open_vdso(&vdso))
		return;
	memcpy(definition->build_id, vdso.build_id, sizeof(definition->build_id));
	definition->build_id_size = vdso.build_id_size;
	elf_file_release(&vdso);
}

static struct object *object_new(const struct prf_object *definition)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->definition = *definition;
	object->file.fd = -1;
	object->definition.path = strdup(definition->path);
	object->definition.root = strdup(definition->root);
	if (!object->definition.path || !object->definition.root) {
		free_object(object);
		return NULL;
	}
	return object;
}

/* One that is stored under a key of so many bytes. */
static struct object *add_object(struct objects *o, const struct prf_object *definition,
				 const struct buffer *key, uint32_t pid)
{
	uint64_t bytes = sizeof(struct object) + strlen(definition->path) +
			 strlen(definition->root) + key->size;
	uint32_t payer = shares_are_scarce(&o->shares) ? process_owner_user(pid) : 0;
	struct object *object = NULL;
	uint64_t *value;

	if (shares_may_take(&o->shares, payer, bytes))
		object = object_new(definition);
	value = object ? map_put(&o->by_key, key->data, key->size, NULL) : NULL;
	if (!value) {
		if (object)
			free_object(object);
		return NULL;
	}
	object->payer = payer;
	object->paid = bytes;
	shares_take(&o->shares, payer, bytes);
	*value = (uintptr_t)object;
	return object;
}

struct object *objects_get(struct objects *o, const char *name, const struct prf_object *known,
			   uint32_t pid)
{
	struct prf_object definition = *known;
	struct object *object = NULL;
	struct buffer key = { 0 };
	uint64_t *value;

	definition.kind = kind_of(name, definition.build_id_size != 0);
	definition.path = name;
	definition.base = 0;
	if (!definition.root)
		definition.root = "";
	if (definition.kind != PRF_OBJECT_FILE) {
		definition = (struct prf_object){
			.kind = definition.kind,
			.path = definition.kind == PRF_OBJECT_VDSO ? "[vdso]" : "[anon]",
			.root = "",
			.build_id_size = definition.build_id_size,
		};
		memcpy(definition.build_id, known->build_id, sizeof(definition.build_id));
		if (definition.kind == PRF_OBJECT_VDSO)
			take_vdso_build_id(&definition);
	}
	buffer_u8(&key, (uint8_t)definition.kind);
	buffer_u8(&key, definition.deleted);
	buffer_u8(&key, definition.build_id_size);
	buffer_append(&key, definition.build_id, definition.build_id_size);
	buffer_u64(&key, definition.device);
	buffer_u64(&key, definition.inode);
	buffer_append(&key, definition.root, strlen(definition.root) + 1);
	buffer_append(&key, definition.path, strlen(definition.path) + 1);
	if (!buffer_ok(&key))
		goto out;
	value = map_get(&o->by_key, key.data, key.size);
	object = value ? (struct object *)(uintptr_t)*value : add_object(o, &definition, &key, pid);
out:
	buffer_release(&key);
	return object;
}

/* False if the file has another build-id than the object. Sets the object's if it was not known. */
static bool take_build_id(struct prf_object *d, int fd)
{
	struct elf_file elf;
	bool same = true;

	if (elf_file_open(&elf, fd))
		return !d->build_id_size;
	if (!d->build_id_size) {
		d->build_id_size = elf.build_id_size;
		memcpy(d->build_id, elf.build_id, elf.build_id_size);
	} else {
		same = d->build_id_size == elf.build_id_size &&
		       !memcmp(d->build_id, elf.build_id, elf.build_id_size);
	}
	elf_file_release(&elf);
	return same;
}

/* Whether the open file is the object's; if so, completes the object's definition. */
static bool complete(struct object *object, const struct open_file *file)
{
	struct prf_object found = object->definition;
	const struct stat *status = &file->status;

	/*
	 * The device is not compared: on btrfs and overlayfs maps and stat() name different
	 * ones. The same path, inode and build-id are proof enough.
	 */
	if (found.inode && found.inode != status->st_ino)
		return false;
	if (!found.inode && !found.build_id_size)
		return false;
	/* An object that was examined and has no build-id is identified by its inode alone. */
	if ((!object->examined || found.build_id_size) && !take_build_id(&found, file->fd))
		return false;
	/* What the trace has of an object that was examined must not change. */
	if (object->examined)
		return true;
	found.device = status->st_dev;
	found.inode = status->st_ino;
	found.size = (uint64_t)status->st_size;
	found.mtime_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000u +
			 (uint64_t)status->st_mtim.tv_nsec;
	object->definition = found;
	object->examined = true;
	object->late = false;
	return true;
}

/* 0 or -errno; -ESTALE if it is not the object's file. */
static int open_checked(struct object *object, const struct opening *what, struct open_file *file)
{
	int error = opener_open(what, file);

	if (error || complete(object, file))
		return error;
	close(file->fd);
	file->fd = -1;
	return -ESTALE;
}

/* 0 or -errno. By the mapping of one process. */
static int open_for(uint32_t pid, const struct mapping *m, struct open_file *file)
{
	const struct prf_object *d = &m->object->definition;
	struct opening what = {
		.kind = OPENING_MAPPED,
		.pid = pid,
		.start = m->start,
		.end = m->end,
		.uid = OPENING_ANY_UID,
		.path = d->path,
	};
	int error;

	if (d->kind != PRF_OBJECT_FILE)
		return -ENOENT;
	error = open_checked(m->object, &what, file);
	/* The name of a deleted file may belong to another file by now. */
	what.kind = OPENING_PATH;
	what.start = what.end = 0;
	if (error && error != -EAGAIN && !d->deleted)
		error = open_checked(m->object, &what, file);
	/* Without the process, its root directory cannot be reached. */
	what.pid = 0;
	if (error && error != -EAGAIN && error != -ESTALE && !d->deleted && !*d->root)
		error = open_checked(m->object, &what, file);
	return error;
}

/* Notes that the file is asked for on behalf of the process's user. False: it was, or for too many.
 */
static bool add_user(struct asker *asker, uint32_t pid)
{
	uint32_t uid;

	if (asker->n == ASKERS_MAX || proc_status(pid, "Uid:", &uid) ||
	    (asker->n == ASKERS_MAX - 1 && uid != (uint32_t)getuid()))
		return false;
	for (size_t i = 0; i < asker->n; i++)
		if (asker->uids[i] == uid)
			return false;
	asker->uids[asker->n++] = uid;
	return true;
}

static void set_asker(struct asker *asker, uint32_t pid, const struct mapping *m)
{
	asker->pid = pid;
	asker->start = m->start;
	asker->end = m->end;
}

/*
 * 0 or -errno. While a file has not answered it is not asked again for the next process, but for a
 * few of other users: each question keeps a thread, and it may be the asker that does not answer.
 */
static int open_mapped(uint32_t pid, const struct mapping *m, struct open_file *file)
{
	struct object *object = m->object;
	struct asker *asker = &object->asker;
	struct mapping first = *m;
	int error;

	if (!asker->pid)
		set_asker(asker, pid, m);
	first.start = asker->start;
	first.end = asker->end;
	error = open_for(asker->pid, &first, file);
	if (error == -EAGAIN && !asker->n)
		add_user(asker, asker->pid);
	if (error && asker->pid != pid && (add_user(asker, pid) || error != -EAGAIN)) {
		set_asker(asker, pid, m);
		error = open_for(pid, m, file);
	}
	if (error != -EAGAIN)
		*asker = (struct asker){ .pid = 0 };
	return error;
}

static int open_again(const struct object *object, struct open_file *file)
{
	*file = object->file;
	file->fd = fcntl(object->file.fd, F_DUPFD_CLOEXEC, 0);
	return file->fd < 0 ? -errno : 0;
}

struct error *object_open(uint32_t pid, const struct mapping *m, struct open_file *file)
{
	int error;

	*file = (struct open_file){ .fd = -1 };
	error = m->object->file.fd >= 0 ? open_again(m->object, file) : open_mapped(pid, m, file);
	return error ? error_system(error, "%s", m->object->definition.path) : NULL;
}

void *object_known(const struct map *read, const struct object *object)
{
	const uint64_t *value = map_get(read, &object, sizeof(object));

	return value ? (void *)(uintptr_t)*value : NULL;
}

void *object_read(struct map *read, uint32_t pid, const struct mapping *m,
		  const struct object_reader *reader)
{
	struct open_file file;
	uint64_t *value;
	void *result;

	if (map_get(read, &m->object, sizeof(m->object)))
		return object_known(read, m->object);
	if (error_ignore(object_open(pid, m, &file)))
		return NULL;
	result = reader->read(reader->context, &file, m->object->definition.path);
	value = map_put(read, &m->object, sizeof(m->object), NULL);
	if (value) {
		*value = (uintptr_t)result;
		return result;
	}
	free(result);
	return NULL;
}

bool object_prepare(uint32_t pid, const struct mapping *m)
{
	int error;

	if (m->object->prepared || m->object->definition.kind != PRF_OBJECT_FILE)
		return true;
	error = open_mapped(pid, m, &m->object->file);
	m->object->prepared = !error;
	return error != -EAGAIN;
}

void object_let_go(struct object *object)
{
	if (object->file.fd >= 0)
		close(object->file.fd);
	object->file.fd = -1;
}

void object_examine(uint32_t pid, const struct mapping *m)
{
	struct object *object = m->object;
	struct open_file file;
	int error;

	if (object->examined || object->definition.kind != PRF_OBJECT_FILE ||
	    (object->late && object->late_answers == opener_answers()))
		return;
	/* Before asking: an answer that arrives meanwhile counts as a later one. */
	object->late_answers = opener_answers();
	error = open_mapped(pid, m, &file);
	if (!error)
		close(file.fd);
	object->late = error == -EAGAIN;
	object->examined = !object->late; /* one attempt only: this runs for each frame */
}

/* An entry of `by_key` that goes. */
struct forgotten {
	const void *key;
	size_t size;
	struct object *object;
};

struct forgetting {
	bool (*may)(struct object *object, void *context);
	void *context;
	struct forgotten *list;
	size_t n, capacity;
};

static void look_at_users(const void *key, size_t size, uint64_t value, void *context)
{
	struct object *object = (struct object *)(uintptr_t)value;
	struct forgetting *f = context;
	bool was_idle = object->idle;

	/* Processes may come and go between two looks. */
	object->idle = object->mapped.users || object->mapped.again ? 0 : object->idle + 1;
	object->mapped.again = false;
	if (object->idle && was_idle && array_reserve(&f->list, &f->capacity, f->n + 1) &&
	    f->may(object, f->context))
		f->list[f->n++] = (struct forgotten){ key, size, object };
}

void objects_forget(struct objects *o, bool (*may)(struct object *object, void *context),
		    void *context)
{
	struct forgetting f = { .may = may, .context = context };

	map_each(&o->by_key, look_at_users, &f);
	for (size_t i = 0; i < f.n; i++) {
		map_remove(&o->by_key, f.list[i].key, f.list[i].size);
		shares_give(&o->shares, f.list[i].object->payer, f.list[i].object->paid);
		free_object(f.list[i].object);
	}
	free(f.list);
}

struct visiting {
	void (*visit)(struct object *object, void *context);
	void *context;
};

static void visit_one(const void *key, size_t size, uint64_t value, void *context)
{
	const struct visiting *v = context;

	v->visit((struct object *)(uintptr_t)value, v->context);
}

void objects_each(const struct objects *o, void (*visit)(struct object *object, void *context),
		  void *context)
{
	struct visiting v = { visit, context };

	map_each(&o->by_key, visit_one, &v);
}
