/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/demangle.h"

/* Debian has libiberty's headers in a folder of their own, Fedora has them in binutils-devel. */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "common/shortage.h"

/*
 * Longer names stay as they are. The recursion limit of libiberty would refuse C++ names of
 * more than 1,024 bytes, which templates easily make; without it, the depth is bounded by
 * the length.
 */
#define NAME_BYTES_MAX 8192
/* A short mangled name can have exponentially long text: the demangler is left at this length. */
#define TEXT_BYTES_MAX (32 * 1024)
#define D_BYTES_MAX (256 * 1024) /* of a D name with its references written out */

struct text {
	char bytes[TEXT_BYTES_MAX + 1];
	size_t size;
	jmp_buf too_long;
};

static void collect(const char *part, size_t size, void *context)
{
	struct text *t = context;

	if (size > TEXT_BYTES_MAX - t->size)
		longjmp(t->too_long, 1);
	if (size) /* else the part may be NULL */
		memcpy(t->bytes + t->size, part, size);
	t->size += size;
}

enum language { LANGUAGE_NONE, LANGUAGE_RUST, LANGUAGE_CPP, LANGUAGE_D };

/* The demanglers with a callback take no memory from the heap, so longjmp() leaks none. */
static enum language translate(const char *name, bool full, struct text *t)
{
	int options = DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;

	if (setjmp(t->too_long))
		return LANGUAGE_NONE;
	t->size = 0;
	if (rust_demangle_callback(name, DMGL_ANSI, collect, t))
		return LANGUAGE_RUST;
	t->size = 0;
	if (cplus_demangle_v3_callback(name, full ? options | DMGL_PARAMS | DMGL_VERBOSE : options,
				       collect, t))
		return LANGUAGE_CPP;
	return LANGUAGE_NONE;
}

/* How far back a reference at `at` points (base 26); 0: it is not a reference. */
static size_t d_distance(const char *name, size_t at)
{
	size_t distance = 0;

	if (name[at++] != 'Q')
		return 0;
	for (; name[at] >= 'A' && name[at] <= 'Z' && distance <= NAME_BYTES_MAX; at++)
		distance = distance * 26 + (size_t)(name[at] - 'A');
	return name[at] >= 'a' && name[at] <= 'z' ? distance * 26 + (size_t)(name[at] - 'a') : 0;
}

/*
 * The demangler of D keeps its result to itself until it is complete, and types that refer back
 * to types that refer back make it double with every few letters of the name. What a reference
 * stands for is the identifier there, whose length is known, or at most all up to the reference.
 */
static bool d_is_bounded(const char *name)
{
	size_t size = strlen(name);
	/* How long the text is at most, up to there. */
	size_t *made = shortage_check(malloc((size + 1) * sizeof(*made)));

	if (!made)
		return false;
	made[0] = 0;
	for (size_t i = 0; i < size; i++) {
		size_t distance = d_distance(name, i), end = i, length;
		char *rest;

		made[i + 1] = made[i] + 1;
		if (distance && distance <= i) {
			length = strtoul(name + i - distance, &rest, 10);
			if (length && length < (size_t)(name + i - rest))
				end = (size_t)(rest - name) + length;
			made[i + 1] += made[end] - made[i - distance];
		}
		if (made[i + 1] > D_BYTES_MAX) {
			free(made);
			return false;
		}
	}
	free(made);
	return true;
}

static enum language translate_d(const char *name, struct text *t)
{
	char *demangled = d_is_bounded(name) ? dlang_demangle(name, DMGL_ANSI) : NULL;
	size_t size = demangled ? strlen(demangled) : 0;

	if (!demangled || size > TEXT_BYTES_MAX) {
		free(demangled);
		return LANGUAGE_NONE;
	}
	memcpy(t->bytes, demangled, size);
	t->size = size;
	free(demangled);
	return LANGUAGE_D;
}

/* ".cold", ".part.0": what the compiler split off a function; a short name keeps it. */
static const char *clone_suffix(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && strncmp(dot, ".llvm.", 6) ? dot : "";
}

static const char *demangle_with(const char *name, bool full, struct text *t, struct arena *arena)
{
	const char *plt = strstr(name, "@plt"), *suffix;
	size_t size = plt ? (size_t)(plt - name) : strlen(name);
	enum language language;
	char *copy, *shown;

	if (size > NAME_BYTES_MAX)
		return name;
	/* The name may lie in a file that is written to meanwhile; copies keep their length. */
	copy = shortage_check(arena_text(arena, name, size));
	suffix = plt ? shortage_check(arena_text(arena, plt, strlen(plt))) : "";
	if (!copy || !suffix)
		return name;
	language = name[1] == 'D' ? translate_d(copy, t) : translate(copy, full, t);
	if (language == LANGUAGE_NONE || !t->size)
		return name;
	t->bytes[t->size] = 0;
	/* What stands for a clone's suffix is no longer than in the name. */
	shown = shortage_check(arena_take(arena, t->size + size + strlen(suffix) + 1));
	if (!shown)
		return name;
	if (full) {
		strcpy(shown, t->bytes);
	} else {
		shorten_name(shown, t->bytes, language == LANGUAGE_RUST);
		if (language == LANGUAGE_CPP)
			strcat(shown, clone_suffix(copy));
	}
	return strcat(shown, suffix);
}

const char *demangle(const char *name, bool full, struct arena *arena)
{
	struct text *t;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != 'D'))
		return name;
	t = shortage_check(malloc(sizeof(*t)));
	if (!t)
		return name;
	name = demangle_with(name, full, t, arena);
	free(t);
	return name;
}
