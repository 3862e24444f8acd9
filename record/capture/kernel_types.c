/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/kernel_types.h"

#include "common/buffer.h"
#include "record/system/proc.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define BTF_MAGIC_NUMBER 0xeb9f
#define TYPE_BYTES 12 /* struct btf_type */
/* Kinds that Linux 5.15 and its headers do not have. */
#define KIND_DECL_TAG 17
#define KIND_TYPE_TAG 18
#define KIND_ENUM64 19

#define DEPTH_MAX 16 /* of structures in structures, and of arrays, typedefs, const, ... */
#define NAME_MAX_BYTES 512
#define FOUND_MAX 1024 /* structures that programs read, of one name perhaps several */

/* One type of the kernel: struct btf_type and what follows it. */
struct kernel_type {
	uint32_t name;	      /* offset in the texts */
	uint32_t kind, count; /* count: of members */
	bool bitfields;	      /* the members' offsets hold sizes, too */
	uint32_t size;	      /* or the type that it is made of */
	struct cursor rest;   /* what follows: members, ... */
};

/* A structure that programs read. */
struct wanted_type {
	const char *name;
	const struct btf_type *type;
};

struct reduction {
	const struct btf *wanted;
	struct wanted_type *by_name; /* sorted */
	size_t wanted_count;
	bool begins[256]; /* with which letters names begin, see letters() */
	uint32_t *found;  /* numbers of the kernel's structures of these names */
	uint32_t found_count;
	struct cursor types, strings;
	uint32_t *offsets; /* of each type in `types`, by its number */
	uint32_t n, capacity;
	struct btf *reduced;
};

/* How many bytes follow the struct btf_type of that kind; -1: no such kind. */
static int64_t bytes_after(uint32_t kind, uint32_t count)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG: return 4;
	case BTF_KIND_ARRAY: return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case KIND_ENUM64: return INT64_C(12) * count;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return INT64_C(8) * count;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case KIND_TYPE_TAG: return 0;
	default: return -1;
	}
}

static const char *text_at(const struct reduction *r, uint32_t offset)
{
	struct cursor c = r->strings;
	const char *text;

	cursor_seek(&c, offset);
	text = cursor_short_string(&c, NAME_MAX_BYTES);
	return text ? text : "";
}

/* So written that the compiler makes one load of it: there are some hundred thousand types. */
static uint32_t word(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The type at the cursor, which moves beyond it. False at the end, and if it cannot be read. */
static bool read_type(struct cursor *c, struct kernel_type *type)
{
	const uint8_t *bytes = cursor_bytes(c, TYPE_BYTES);
	uint32_t info;
	int64_t after;

	if (!bytes)
		return false;
	type->name = word(bytes);
	info = word(bytes + 4);
	type->size = word(bytes + 8);
	type->kind = info >> 24 & 0x1f;
	type->count = info & 0xffff;
	type->bitfields = info >> 31;
	type->rest = *c;
	after = bytes_after(type->kind, type->count);
	return after >= 0 && cursor_bytes(c, (uint64_t)after);
}

/* The type of that number, without typedefs, const and the like around it. */
static bool type_of(const struct reduction *r, uint32_t number, struct kernel_type *type)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		struct cursor c = r->types;

		if (!number || number >= r->n)
			return false;
		cursor_seek(&c, r->offsets[number]);
		if (!read_type(&c, type))
			return false;
		switch (type->kind) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG: number = type->size; break;
		default: return true;
		}
	}
	return false;
}

/* Whether that structure, or one without a name inside it, has a member of that name. */
static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name,
		       int depth)
{
	const struct btf_member *member = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++, member++) {
		const struct btf_type *inner = btf__type_by_id(btf, member->type);
		const char *its = btf__name_by_offset(btf, member->name_off);

		if (its && !strcmp(its, name))
			return true;
		if (inner && btf_is_composite(inner) && !inner->name_off && depth < DEPTH_MAX &&
		    has_member(btf, inner, name, depth + 1))
			return true;
	}
	return false;
}

/* A number for the first two letters. */
static uint8_t letters(const char *name)
{
	return *name ? (uint8_t)(name[0] * 31 + name[1]) : 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct wanted_type *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* False without memory. */
static bool list_wanted(struct reduction *r)
{
	uint32_t n = btf__type_cnt(r->wanted);

	r->by_name = calloc(n, sizeof(*r->by_name));
	for (uint32_t i = 1; i < n && r->by_name; i++) {
		const struct btf_type *type = btf__type_by_id(r->wanted, i);
		const char *name = btf__name_by_offset(r->wanted, type->name_off);

		if (!btf_is_struct(type) || !name || !*name)
			continue;
		r->by_name[r->wanted_count++] = (struct wanted_type){ name, type };
		r->begins[letters(name)] = true;
	}
	if (r->by_name)
		qsort(r->by_name, r->wanted_count, sizeof(*r->by_name), compare_names);
	return r->by_name;
}

static const struct btf_type *wanted_type(const struct reduction *r, uint32_t name)
{
	const struct wanted_type key = { .name = text_at(r, name) };
	const struct wanted_type *found = NULL;

	/* That is enough for most of the ten thousand. */
	if (r->begins[letters(key.name)])
		found = bsearch(&key, r->by_name, r->wanted_count, sizeof(key), compare_names);
	return found ? found->type : NULL;
}

static int add_type(struct reduction *r, uint32_t number, const struct btf_type *outer, int depth);

struct member {
	const char *name;
	int type; /* in the reduced types */
	uint32_t bit_offset, bit_size;
};

/* The members of the structure that are wanted. Returns how many, or -1. */
static int wanted_members(struct reduction *r, const struct kernel_type *type,
			  const struct btf_type *wanted, struct member *members, int depth)
{
	struct cursor c = type->rest;
	int n = 0;

	for (uint32_t i = 0; i < type->count; i++) {
		struct member m = { .name = text_at(r, cursor_u32(&c)) };
		uint32_t number = cursor_u32(&c), offset = cursor_u32(&c);

		m.bit_offset = type->bitfields ? offset & 0xffffff : offset;
		m.bit_size = type->bitfields ? offset >> 24 : 0;
		if (*m.name && !has_member(r->wanted, wanted, m.name, 0))
			continue;
		m.type = add_type(r, number, wanted, depth + 1);
		if (m.type < 0)
			return -1;
		/* 0: of a kind that no program reads. */
		if (m.type)
			members[n++] = m;
	}
	return cursor_ok(&c) ? n : -1;
}

/*
 * A structure with what is wanted of it. One that has no name, or that is not wanted by its own, is
 * looked through for what is wanted of the one around it.
 */
static int add_structure(struct reduction *r, const struct kernel_type *type,
			 const struct btf_type *outer, int depth)
{
	const struct btf_type *wanted = wanted_type(r, type->name);
	struct member *members = calloc(type->count + 1u, sizeof(*members));
	int id = -1, n;

	if (!wanted)
		wanted = outer;
	n = members && wanted ? wanted_members(r, type, wanted, members, depth) : -1;
	if (n >= 0)
		id = type->kind == BTF_KIND_STRUCT
			     ? btf__add_struct(r->reduced, text_at(r, type->name), type->size)
			     : btf__add_union(r->reduced, text_at(r, type->name), type->size);
	for (int i = 0; i < n && id >= 0; i++)
		if (btf__add_field(r->reduced, members[i].name, members[i].type,
				   members[i].bit_offset, members[i].bit_size))
			id = -1;
	free(members);
	return id;
}

/* Adds the type of a member: pointers are pointers to anything. Its number; 0: none; -1: failed. */
static int add_type(struct reduction *r, uint32_t number, const struct btf_type *outer, int depth)
{
	struct kernel_type type;

	if (depth > DEPTH_MAX || !type_of(r, number, &type))
		return -1;
	switch (type.kind) {
	case BTF_KIND_PTR: return btf__add_ptr(r->reduced, 0);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return add_structure(r, &type, outer, depth);
	case BTF_KIND_INT: {
		uint32_t encoding = cursor_u32(&type.rest);

		/* Names of numbers do not matter. */
		return btf__add_int(r->reduced, "number", type.size, (int)(encoding >> 24 & 0xf));
	}
	default: return 0;
	}
}

/* Notes where each type is, and which are wanted. */
static bool number_types(struct reduction *r)
{
	struct cursor c = r->types;
	struct kernel_type type;

	r->n = 1; /* 0 is void */
	while (cursor_left(&c)) {
		if (r->n == r->capacity)
			return false;
		r->offsets[r->n] = (uint32_t)cursor_offset(&c);
		if (!read_type(&c, &type))
			return false;
		if (type.kind == BTF_KIND_STRUCT && r->found_count < FOUND_MAX &&
		    wanted_type(r, type.name))
			r->found[r->found_count++] = r->n;
		r->n++;
	}
	return true;
}

static bool add_found(struct reduction *r)
{
	for (uint32_t i = 0; i < r->found_count; i++) {
		struct kernel_type type;

		if (!type_of(r, r->found[i], &type) || add_structure(r, &type, NULL, 0) < 0)
			return false;
	}
	return true;
}

/* Finds the two sections by the header. */
static bool find_sections(struct reduction *r, struct cursor c)
{
	uint32_t header, types, types_size, strings, strings_size;
	bool known = cursor_u16(&c) == BTF_MAGIC_NUMBER && cursor_u8(&c) == 1;

	cursor_u8(&c);
	header = cursor_u32(&c);
	types = cursor_u32(&c);
	types_size = cursor_u32(&c);
	strings = cursor_u32(&c);
	strings_size = cursor_u32(&c);
	cursor_seek(&c, (uint64_t)header + types);
	r->types = cursor_over(c.at, types_size);
	cursor_skip(&c, types_size);
	cursor_seek(&c, (uint64_t)header + strings);
	r->strings = cursor_over(c.at, strings_size);
	cursor_skip(&c, strings_size);
	return known && cursor_ok(&c);
}

struct btf *kernel_types_reduce(const struct btf *wanted, struct cursor kernel)
{
	struct reduction r = { .wanted = wanted };
	bool ok = find_sections(&r, kernel);

	r.capacity = (uint32_t)(cursor_left(&r.types) / TYPE_BYTES + 1);
	r.offsets = ok ? calloc(r.capacity, sizeof(*r.offsets)) : NULL;
	r.found = ok ? calloc(FOUND_MAX, sizeof(*r.found)) : NULL;
	r.reduced = ok ? btf__new_empty() : NULL;
	if (!r.offsets || !r.found || !r.reduced || !list_wanted(&r) || !number_types(&r) ||
	    !add_found(&r)) {
		btf__free(r.reduced);
		r.reduced = NULL;
	}
	free(r.offsets);
	free(r.found);
	free(r.by_name);
	return r.reduced;
}

/* Reads what cannot be mapped: before Linux 6.16. */
static struct cursor read_kernel(struct buffer *bytes)
{
	if (read_file(KERNEL_BTF, bytes))
		return cursor_over(NULL, 0);
	return cursor_over(bytes->data, bytes->size);
}

bool kernel_types_write(const struct btf *wanted, int fd)
{
	int file = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct buffer bytes = { 0 };
	void *mapped = MAP_FAILED;
	struct btf *reduced;
	struct stat status;
	const void *data = NULL;
	uint32_t size = 0;
	bool written;

	if (file >= 0 && !fstat(file, &status) && status.st_size > 0)
		mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	reduced = kernel_types_reduce(
		wanted, mapped == MAP_FAILED ? read_kernel(&bytes)
					     : cursor_over(mapped, (size_t)status.st_size));
	if (reduced)
		data = btf__raw_data(reduced, &size);
	written = data && write(fd, data, size) == (ssize_t)size;
	btf__free(reduced);
	if (mapped != MAP_FAILED)
		munmap(mapped, (size_t)status.st_size);
	buffer_release(&bytes);
	if (file >= 0)
		close(file);
	return written;
}
