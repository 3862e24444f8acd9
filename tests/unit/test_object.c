/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/object.h"
#include "tests/unit/unit.h"

#include "record/system/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static const struct prf_object nothing = { .root = "" };

static enum prf_object_kind kind_of(struct objects *o, const char *name)
{
	return objects_get(o, name, &nothing, 0)->definition.kind;
}

static void names_tell_kinds(void **state)
{
	struct objects *o = objects_new();

	assert_int_equal(kind_of(o, "/usr/bin/x"), PRF_OBJECT_FILE);
	assert_int_equal(kind_of(o, "/memfd:code"), PRF_OBJECT_ANONYMOUS);
	assert_int_equal(kind_of(o, "[vdso]"), PRF_OBJECT_VDSO);
	assert_int_equal(kind_of(o, "//anon"), PRF_OBJECT_ANONYMOUS);
	assert_int_equal(kind_of(o, ""), PRF_OBJECT_ANONYMOUS);
	assert_int_equal(kind_of(o, "[heap]"), PRF_OBJECT_ANONYMOUS);
	assert_int_equal(kind_of(o, "/dev/zero"), PRF_OBJECT_ANONYMOUS);
	assert_int_equal(kind_of(o, "/SYSV00000000"), PRF_OBJECT_ANONYMOUS);
	objects_free(o);
}

static void equal_ones_are_one(void **state)
{
	struct prf_object known = { .root = "", .inode = 5 }, deleted = known, inside = known;
	struct objects *o = objects_new();
	struct object *first = objects_get(o, "/bin/x", &known, 0);

	deleted.deleted = true;
	inside.root = "/container";
	assert_ptr_equal(objects_get(o, "/bin/x", &known, 0), first);
	assert_ptr_not_equal(objects_get(o, "/bin/y", &known, 0), first);
	assert_ptr_not_equal(objects_get(o, "/bin/x", &deleted, 0), first);
	assert_ptr_not_equal(objects_get(o, "/bin/x", &inside, 0), first);
	assert_string_equal(objects_get(o, "/bin/x", &inside, 0)->definition.root, "/container");
	assert_ptr_equal(objects_get(o, "[heap]", &inside, 0),
			 objects_get(o, "[stack]", &known, 0));
	objects_free(o);
}

/* The mapping of this very program that holds its code. */
static void own_mapping(struct proc_mapping *found, char *path, size_t size)
{
	struct buffer text = { 0 };
	struct proc_mapping m;
	char *rest;

	memset(found, 0, sizeof(*found));
	assert_int_equal(proc_read((uint32_t)getpid(), "maps", &text), 0);
	buffer_string(&text);
	for (rest = (char *)text.data; (rest = proc_next_mapping(rest, &m));)
		if (m.start <= (uintptr_t)own_mapping && (uintptr_t)own_mapping < m.end) {
			*found = m;
			snprintf(path, size, "%s", m.path);
		}
	assert_int_not_equal(found->end, 0);
	buffer_release(&text);
}

static void examine(struct object *object, uint32_t pid, uint64_t start, uint64_t end)
{
	object_examine(pid, &(struct mapping){ .start = start, .end = end, .object = object });
}

static void files_are_completed(void **state)
{
	struct objects *o = objects_new();
	struct proc_mapping m;
	struct object *object;
	struct stat st;
	char path[4096];

	own_mapping(&m, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	object = objects_get(o, path, &(struct prf_object){ .root = "", .inode = m.inode }, 0);
	examine(object, (uint32_t)getpid(), m.start, m.end);
	assert_int_equal(object->definition.inode, st.st_ino);
	assert_int_equal(object->definition.size, st.st_size);
	assert_int_not_equal(object->definition.mtime_ns, 0);
	objects_free(o);
}

static void another_file_of_the_name_is_not_it(void **state)
{
	struct objects *o = objects_new();
	struct proc_mapping m;
	struct object *object;
	char path[4096];

	own_mapping(&m, path, sizeof(path));
	/* Not the inode that is there now. */
	object = objects_get(o, path, &(struct prf_object){ .root = "", .inode = m.inode + 1 }, 0);
	examine(object, (uint32_t)getpid(), m.start, m.end);
	assert_int_equal(object->definition.size, 0);
	/* Not the build-id. */
	object = objects_get(
		o, path,
		&(struct prf_object){ .root = "", .build_id = { 1, 2, 3 }, .build_id_size = 20 },
		0);
	examine(object, (uint32_t)getpid(), m.start, m.end);
	assert_int_equal(object->definition.size, 0);
	assert_int_equal(object->definition.build_id[0], 1);
	/* Nothing to identify it by. */
	object = objects_get(o, path, &nothing, 0);
	examine(object, (uint32_t)getpid(), m.start, m.end);
	assert_int_equal(object->definition.size, 0);
	objects_free(o);
}

static void cannot_open(const struct mapping *m, int os_error)
{
	struct open_file file;
	struct error *error;

	error = object_open((uint32_t)getpid(), m, &file);
	assert_true(error_is(error, os_error));
	assert_int_equal(file.fd, -1);
	error_free(error);
}

/* The very file that is mapped is opened, by way of the mapping, once it has no name, too. */
static void files_are_opened(void **state)
{
	struct objects *o = objects_new();
	struct proc_mapping found;
	struct mapping m = { 0 };
	struct stat here, opened;
	struct open_file file;
	char path[4096];

	own_mapping(&found, path, sizeof(path));
	assert_int_equal(stat(path, &here), 0);
	m.start = found.start;
	m.end = found.end;
	m.object = objects_get(o, path, &(struct prf_object){ .inode = here.st_ino }, 0);
	assert_no_error(object_open((uint32_t)getpid(), &m, &file));
	assert_true(file.fd >= 0);
	assert_int_equal(fstat(file.fd, &opened), 0);
	assert_int_equal(opened.st_ino, here.st_ino);
	assert_int_equal(m.object->definition.size, here.st_size);
	close(file.fd);
	m.object = objects_get(o, "/nonexistent",
			       &(struct prf_object){ .inode = here.st_ino, .deleted = true }, 0);
	assert_no_error(object_open((uint32_t)getpid(), &m, &file));
	assert_true(file.fd >= 0);
	close(file.fd);
	/* Another file has the name, and nothing of the right one is mapped there. */
	m.start = m.end = 0;
	m.object = objects_get(o, path, &(struct prf_object){ .inode = here.st_ino + 1 }, 0);
	cannot_open(&m, ESTALE);
	m.object = objects_get(o, "[vdso]", &nothing, 0);
	cannot_open(&m, ENOENT);
	objects_free(o);
}

static void devices_and_the_missing_are_left_alone(void **state)
{
	struct objects *o = objects_new();
	struct object *object;

	object = objects_get(o, "/dev/null", &(struct prf_object){ .root = "", .inode = 1 }, 0);
	examine(object, (uint32_t)getpid(), 0x1000, 0x2000);
	assert_int_equal(object->definition.mtime_ns, 0);
	object = objects_get(o, "/nonexistent", &(struct prf_object){ .root = "", .inode = 1 }, 0);
	examine(object, INT32_MAX, 0x1000, 0x2000);
	assert_int_equal(object->definition.size, 0);
	objects_free(o);
}

static bool agree(struct object *object, void *context)
{
	++*(int *)context;
	return strcmp(object->definition.path, "/kept") != 0;
}

static void count(struct object *object, void *context)
{
	++*(int *)context;
}

/* What is mapped stays, and what was mapped a moment ago. */
static void test_forgetting(void **state)
{
	struct objects *o = objects_new();
	struct mappings m = { 0 };
	struct mapping mapping = { .start = 1, .end = 2 };
	int asked = 0, left = 0;

	mapping.object = objects_get(o, "/mapped", &nothing, 0);
	code_hits_add(&mapping.object->hits, 7);
	assert_true(mappings_add(&m, &mapping));
	objects_get(o, "/a", &nothing, 0);
	objects_get(o, "/b", &nothing, 0);
	objects_get(o, "/kept", &nothing, 0);
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 0);
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 3);
	objects_each(o, count, &left);
	assert_int_equal(left, 2);
	assert_ptr_equal(objects_get(o, "/mapped", &nothing, 0), mapping.object);
	mappings_release(&m);
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 4);
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 6);
	assert_int_equal(objects_get(o, "/mapped", &nothing, 0)->hits.n, 0);
	objects_free(o);
}

/* A program that is run each second is never found running. */
static void test_what_is_mapped_now_and_then_is_not_idle(void **state)
{
	struct objects *o = objects_new();
	struct mapping mapping = { .start = 1, .end = 2 };
	int asked = 0;

	mapping.object = objects_get(o, "/kept", &nothing, 0);
	for (int look = 0; look < 10; look++) {
		struct mappings m = { 0 };

		assert_true(mappings_add(&m, &mapping));
		mappings_release(&m);
		objects_forget(o, agree, &asked);
		assert_int_equal(mapping.object->idle, 0);
	}
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 0);
	objects_forget(o, agree, &asked);
	assert_int_equal(asked, 1);
	assert_int_equal(mapping.object->idle, 2);
	objects_free(o);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names_tell_kinds),
	cmocka_unit_test(equal_ones_are_one),
	cmocka_unit_test(files_are_completed),
	cmocka_unit_test(files_are_opened),
	cmocka_unit_test(another_file_of_the_name_is_not_it),
	cmocka_unit_test(devices_and_the_missing_are_left_alone),
	cmocka_unit_test(test_forgetting),
	cmocka_unit_test(test_what_is_mapped_now_and_then_is_not_idle),
};

UNIT_TESTS(tests);
