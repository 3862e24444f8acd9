/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/object.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/elf_file.h"
#include "common/map.h"
#include "common/sorted.h"
#include "record/system/namespace.h"
#include "record/system/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HITS_MAX (1 << 20) /* for one object */
#define HITS_FIRST 64	   /* room for so many at first: sorting a few often costs more */

struct objects {
	struct map by_key; /* -> struct object * */
};

struct objects *objects_new(void)
{
	return calloc(1, sizeof(struct objects));
}

static void free_object(void *value)
{
	struct object *object = value;

	free((char *)(uintptr_t)object->definition.path);
	free((char *)(uintptr_t)object->definition.root);
	free(object->hits);
	free(object);
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	map_release_values(&o->by_key, free_object);
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
	object->definition.path = strdup(definition->path);
	object->definition.root = strdup(definition->root);
	if (!object->definition.path || !object->definition.root) {
		free_object(object);
		return NULL;
	}
	return object;
}

struct object *objects_get(struct objects *o, const char *name, const struct prf_object *known)
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
	value = map_put(&o->by_key, key.data, key.size, NULL);
	if (value && !*value)
		*value = (uintptr_t)object_new(&definition);
	object = value ? (struct object *)(uintptr_t)*value : NULL;
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
static bool complete(struct object *object, int fd)
{
	struct prf_object found = object->definition;
	struct stat status;

	if (fstat(fd, &status))
		return false;
	/*
	 * The device is not compared: on btrfs and overlayfs maps and stat() name different
	 * ones. The same path, inode and build-id are proof enough.
	 */
	if (found.inode && found.inode != status.st_ino)
		return false;
	if (!found.inode && !found.build_id_size)
		return false;
	/* An object that was examined and has no build-id is identified by its inode alone. */
	if ((!object->examined || found.build_id_size) && !take_build_id(&found, fd))
		return false;
	/* The trace's definition of an object must not change after a sample has used it. */
	if (object->examined)
		return true;
	found.device = status.st_dev;
	found.inode = status.st_ino;
	found.size = (uint64_t)status.st_size;
	found.mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
			 (uint64_t)status.st_mtim.tv_nsec;
	object->definition = found;
	object->examined = true;
	return true;
}

/* The fd or -errno as given; if it is not the object's file, it is closed, and the result -ESTALE.
 */
static int checked(struct object *object, int fd)
{
	if (fd < 0 || complete(object, fd))
		return fd;
	close(fd);
	return -ESTALE;
}

/* An fd or -errno. */
static int open_mapped(uint32_t pid, const struct mapping *m)
{
	const struct prf_object *d = &m->object->definition;
	char path[128];
	int fd;

	if (d->kind != PRF_OBJECT_FILE)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 m->start, m->end);
	fd = checked(m->object, open_regular(path));
	/* The name of a deleted file may belong to another file by now. */
	if (fd < 0 && !d->deleted)
		fd = checked(m->object, namespace_open_any(pid, d->path));
	/* Without the process, its root directory cannot be reached. */
	if (fd < 0 && fd != -ESTALE && !d->deleted && !*d->root)
		fd = checked(m->object, open_regular(d->path));
	return fd;
}

struct error *object_open(uint32_t pid, const struct mapping *m, int *fd)
{
	int opened = open_mapped(pid, m);

	*fd = opened < 0 ? -1 : opened;
	return opened < 0 ? error_system(opened, "%s", m->object->definition.path) : NULL;
}

void object_examine(uint32_t pid, const struct mapping *m)
{
	int fd;

	if (m->object->examined || m->object->definition.kind != PRF_OBJECT_FILE)
		return;
	fd = open_mapped(pid, m);
	if (fd >= 0)
		close(fd);
	m->object->examined = true; /* one attempt only: this runs for each frame */
}

static void drop_repeated(struct object *object)
{
	size_t n = 0;

	qsort(object->hits, object->hit_count, sizeof(*object->hits), sorted_compare);
	for (size_t i = 0; i < object->hit_count; i++)
		if (!n || object->hits[n - 1] != object->hits[i])
			object->hits[n++] = object->hits[i];
	object->hit_count = n;
}

void object_hit(struct object *object, uint64_t offset)
{
	if (object->hits_full)
		return;
	if (object->hit_count && object->hit_count == object->hit_capacity) {
		drop_repeated(object);
		object->hits_full = object->hit_count > HITS_MAX / 2 &&
				    object->hit_capacity >= HITS_MAX;
		/*
		 * If that freed less than half of the array, it grows, so that it is not sorted
		 * again soon.
		 */
		if (object->hit_count > object->hit_capacity / 2 && object->hit_capacity < HITS_MAX)
			(void)array_reserve(&object->hits, &object->hit_capacity,
					    object->hit_capacity + 1);
	}
	if (object->hit_count == HITS_MAX ||
	    !array_reserve(&object->hits, &object->hit_capacity,
			   object->hit_count ? object->hit_count + 1 : HITS_FIRST))
		return;
	object->hits[object->hit_count++] = offset;
}

struct visiting {
	void (*visit)(struct object *object, void *context);
	void *context;
};

static void visit_one(const void *key, size_t size, uint64_t value, void *context)
{
	const struct visiting *v = context;

	if (value)
		v->visit((struct object *)(uintptr_t)value, v->context);
}

void objects_each(const struct objects *o, void (*visit)(struct object *object, void *context),
		  void *context)
{
	struct visiting v = { visit, context };

	map_each(&o->by_key, visit_one, &v);
}
