/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The only error that is not on the heap: for when nothing can be allocated there. */
static const struct error no_memory = {
	.kind = ERROR_MEMORY,
	.os_error = ENOMEM,
	.position = ERROR_NOWHERE,
	.text = "out of memory",
};

struct error *error_memory(void)
{
	/* Code that writes into an error must leave this kind as it is. */
	return (struct error *)&no_memory;
}

struct error *error_copy(const struct error *error)
{
	size_t size = error ? sizeof(*error) + strlen(error->text) + 1 : 0;
	struct error *copy;

	if (!error || error == &no_memory)
		return error ? error_memory() : NULL;
	copy = malloc(size);
	return copy ? memcpy(copy, error, size) : error_memory();
}

const char *error_kind_name(enum error_kind kind)
{
	switch (kind) {
	case ERROR_MEMORY: return "out of memory";
	case ERROR_SYSTEM: return "system error";
	case ERROR_NOT_A_TRACE: return "not a trace";
	case ERROR_CORRUPT: return "corrupt";
	case ERROR_TRUNCATED: return "truncated";
	case ERROR_UNSUPPORTED: return "unsupported";
	case ERROR_LIMIT: return "beyond a limit";
	case ERROR_ARGUMENT: return "wrong argument";
	case ERROR_UNAVAILABLE: return "not available";
	case ERROR_FAILED: return "failed";
	}
	return "unknown error";
}

void error_free(struct error *error)
{
	if (error != &no_memory)
		free(error);
}

bool error_is(const struct error *error, int os_error)
{
	return error && error->os_error == os_error;
}

/* The text of `format`, and after it `more`. */
static struct error *make(const struct error *like, const char *more, const char *format,
			  va_list args)
{
	struct error *error;
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return error_memory();
	error = malloc(sizeof(*error) + (size_t)length + strlen(more) + 1);
	if (!error)
		return error_memory();
	*error = *like;
	vsnprintf(error->text, (size_t)length + 1, format, args);
	strcpy(error->text + length, more);
	return error;
}

struct error *error_new(enum error_kind kind, const char *format, ...)
{
	struct error *error;
	va_list args;

	va_start(args, format);
	error = make(&(struct error){ kind, 0, ERROR_NOWHERE }, "", format, args);
	va_end(args);
	return error;
}

struct error *error_at(enum error_kind kind, uint64_t position, const char *format, ...)
{
	struct error *error;
	char where[32];
	va_list args;

	snprintf(where, sizeof(where), " at 0x%llx", (unsigned long long)position);
	va_start(args, format);
	error = make(&(struct error){ kind, 0, position }, where, format, args);
	va_end(args);
	return error;
}

struct error *error_system(int os_error, const char *format, ...)
{
	struct error *error;
	char reason[128];
	va_list args;

	os_error = abs(os_error);
	if (os_error == ENOMEM)
		return error_memory();
	snprintf(reason, sizeof(reason), ": %s", strerror(os_error));
	va_start(args, format);
	error = make(&(struct error){ ERROR_SYSTEM, os_error, ERROR_NOWHERE }, reason, format,
		     args);
	va_end(args);
	return error;
}

struct error *error_prefix(struct error *error, const char *format, ...)
{
	struct error *longer;
	va_list args;
	char *rest;

	/* Without memory for a text, what is missing matters less than that it is missing. */
	if (!error || error == &no_memory || asprintf(&rest, ": %s", error->text) < 0)
		return error;
	va_start(args, format);
	longer = make(error, rest, format, args);
	va_end(args);
	free(rest);
	if (longer == &no_memory)
		return error;
	error_free(error);
	return longer;
}
