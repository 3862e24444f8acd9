/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/kernel_types.h"
#include "tests/unit/unit.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler.skel.h"

static int add_int(struct btf *btf)
{
	return btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
}

/*
 * struct task { int pid; struct task *parent; struct { int deep; }; }: what a program reads. The
 * order and the offsets are the program's own.
 */
static struct btf *wanted(void)
{
	struct btf *btf = btf__new_empty();
	int number = add_int(btf), inner, pointer;

	inner = btf__add_struct(btf, "", 4);
	assert_int_equal(btf__add_field(btf, "deep", number, 0, 0), 0);
	pointer = btf__add_ptr(btf, 0);
	btf__add_struct(btf, "task", 24);
	assert_int_equal(btf__add_field(btf, "pid", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "parent", pointer, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "", inner, 128, 0), 0);
	return btf;
}

/*
 * The kernel's: struct task { int flags; int bit : 1; union { struct { const pid_t pid; }; }; int
 * deep; struct task *parent; struct other other; }
 */
static struct btf *kernel(void)
{
	struct btf *btf = btf__new_empty();
	int number = add_int(btf), pid, inner, outer, other, pointer;

	pid = btf__add_const(btf, btf__add_typedef(btf, "pid_t", number));
	inner = btf__add_struct(btf, "", 4);
	btf__add_field(btf, "pid", pid, 0, 0);
	outer = btf__add_union(btf, "", 8);
	btf__add_field(btf, "", inner, 0, 0);
	btf__add_func(btf, "f", BTF_FUNC_STATIC, btf__add_func_proto(btf, number));
	other = btf__add_struct(btf, "other", 4);
	btf__add_field(btf, "pid", number, 0, 0);
	btf__add_enum(btf, "e", 4);
	btf__add_enum_value(btf, "one", 1);
	pointer = btf__add_ptr(btf, other);
	btf__add_array(btf, number, number, 3);
	btf__add_struct(btf, "task", 40);
	btf__add_field(btf, "flags", number, 0, 0);
	btf__add_field(btf, "bit", number, 32, 1);
	btf__add_field(btf, "", outer, 64, 0);
	btf__add_field(btf, "deep", number, 128, 0);
	btf__add_field(btf, "parent", pointer, 192, 0);
	assert_int_equal(btf__add_field(btf, "other", other, 256, 0), 0);
	return btf;
}

static struct cursor bytes_of(const struct btf *btf)
{
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);

	return cursor_over(data, size);
}

/* "name@bit offset " of the members, those of unnamed structures among them. */
static void list_members(const struct btf *btf, const struct btf_type *type, uint32_t base,
			 char *text, size_t size)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *m = btf_members(type) + i;
		uint32_t at = base + btf_member_bit_offset(type, i);
		const char *name = btf__name_by_offset(btf, m->name_off);

		if (*name)
			snprintf(text + strlen(text), size - strlen(text), "%s@%u ", name, at);
		else
			list_members(btf, btf__type_by_id(btf, m->type), at, text, size);
	}
}

static void test_reduce(void **state)
{
	struct btf *want = wanted(), *all = kernel();
	struct btf *reduced = kernel_types_reduce(want, bytes_of(all));
	const struct btf_type *type;
	char text[256] = "";
	int id;

	assert_non_null(reduced);
	assert_true(btf__find_by_name(reduced, "other") < 0);
	id = btf__find_by_name_kind(reduced, "task", BTF_KIND_STRUCT);
	assert_true(id > 0);
	type = btf__type_by_id(reduced, (uint32_t)id);
	assert_int_equal(type->size, 40);
	list_members(reduced, type, 0, text, sizeof(text));
	assert_string_equal(text, "pid@64 deep@128 parent@192 ");
	btf__free(reduced);
	btf__free(want);
	btf__free(all);
}

/* Cut off anywhere, or with any byte changed, it is refused or reduced to something. */
static void test_broken(void **state)
{
	struct btf *want = wanted(), *all = kernel();
	struct cursor whole = bytes_of(all);
	size_t size = cursor_left(&whole);

	for (size_t i = 0; i < size; i++) {
		uint8_t *copy = malloc(i + 1);

		memcpy(copy, whole.at, i);
		assert_null(kernel_types_reduce(want, cursor_over(copy, i)));
		free(copy);
		copy = malloc(size);
		memcpy(copy, whole.at, size);
		copy[i] ^= 0xff;
		btf__free(kernel_types_reduce(want, cursor_over(copy, size)));
		free(copy);
	}
	btf__free(want);
	btf__free(all);
}

/* For each member that the sampler reads: where it is, by all types and by the reduced ones. */
static void test_of_the_kernel(void **state)
{
	static const char *const names[] = { "task_struct", "mm_struct",   "vm_area_struct",
					     "inode",	    "super_block", "file" };
	struct btf *all = btf__load_vmlinux_btf(), *reduced;
	struct sampler_bpf *sampler = sampler_bpf__open();
	FILE *file = tmpfile();

	assert_true(sampler && file);
	if (!all)
		skip();
	assert_true(kernel_types_write(bpf_object__btf(sampler->obj), fileno(file)));
	rewind(file);
	{
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
		reduced = btf__parse(path, NULL);
	}
	assert_non_null(reduced);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		static char expected[65536], found[4096];
		int id = btf__find_by_name_kind(all, names[i], BTF_KIND_STRUCT);
		int ours = btf__find_by_name_kind(reduced, names[i], BTF_KIND_STRUCT);
		char *one, *rest = found;

		assert_true(id > 0 && ours > 0);
		*expected = ' ';
		expected[1] = *found = 0;
		list_members(all, btf__type_by_id(all, (uint32_t)id), 0, expected,
			     sizeof(expected));
		list_members(reduced, btf__type_by_id(reduced, (uint32_t)ours), 0, found,
			     sizeof(found));
		assert_true(*found);
		while ((one = strsep(&rest, " ")) && *one) {
			char needle[128];

			snprintf(needle, sizeof(needle), " %s ", one);
			assert_non_null(strstr(expected, needle));
		}
	}
	btf__free(reduced);
	btf__free(all);
	sampler_bpf__destroy(sampler);
	fclose(file);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_reduce),
	cmocka_unit_test(test_broken),
	cmocka_unit_test(test_of_the_kernel),
};

UNIT_TESTS(tests);
