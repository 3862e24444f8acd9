/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

/*
 * Why something failed: the one error type of all rooms.
 *
 * A function that can fail returns `struct error *`: NULL for success, else an error that the
 * caller owns. The caller passes it on, or ends it with error_free(). The text is made where
 * the cause is known and says what was tried and why it failed; callers add what only they
 * know with error_prefix(). Only main.c and the modules beside the rooms print it, with the
 * remedy.
 *
 *     struct error *error = thing_open(&thing, path);
 *
 *     if (error)
 *             return error_prefix(error, "%s", path);
 *
 * Creating an error never fails: without memory for one, the error is error_memory()'s.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum error_kind {
	ERROR_MEMORY,	   /* no memory */
	ERROR_SYSTEM,	   /* a system call failed: `os_error` says how */
	ERROR_NOT_A_TRACE, /* the magic number is not there */
	ERROR_CORRUPT,	   /* a checksum or a rule of the format is broken */
	ERROR_TRUNCATED,   /* the bytes end too early */
	ERROR_UNSUPPORTED, /* sound, but newer than this program, or not known to it */
	ERROR_LIMIT,	   /* more than this program is willing to take */
	ERROR_ARGUMENT,	   /* the caller, or the user, asked for what makes no sense */
	ERROR_UNAVAILABLE, /* this machine, or what it allows, does not have what is needed */
	ERROR_FAILED,	   /* it was done, and what came out is wrong */
};

#define ERROR_NOWHERE UINT64_MAX

struct error {
	enum error_kind kind;
	int os_error;	   /* an errno value; 0: no system call failed */
	uint64_t position; /* byte offset in the file that the text is about, or ERROR_NOWHERE */
	char text[];	   /* one line, without a full stop */
};

/* For functions that return an error: a caller that drops it leaks it, and goes on blindly. */
#define ERROR_CHECKED __attribute__((warn_unused_result))
#define ERROR_FORMAT(at) __attribute__((format(printf, at, at + 1))) ERROR_CHECKED

/* Any kind but ERROR_SYSTEM and ERROR_MEMORY. */
struct error *error_new(enum error_kind kind, const char *format, ...) ERROR_FORMAT(2);

/* The same for bytes of a file; " at 0x1f00" is added to the text. */
struct error *error_at(enum error_kind kind, uint64_t position, const char *format, ...)
	ERROR_FORMAT(3);

/* A system call failed with `os_error`, errno or its negative; ": No such file ..." is added. */
struct error *error_system(int os_error, const char *format, ...) ERROR_FORMAT(2);

/* No memory. Needs none itself; the same each time. */
struct error *error_memory(void) ERROR_CHECKED;

/* Puts "text: " before the error's own text; kind, errno and position stay. Returns the error. */
struct error *error_prefix(struct error *error, const char *format, ...) ERROR_FORMAT(2);

/* The same error again, for one that must be reported more than once; NULL for NULL. */
struct error *error_copy(const struct error *error) ERROR_CHECKED;

/* "corrupt", "truncated", ... */
const char *error_kind_name(enum error_kind kind);

/* Ends an error, or does nothing for NULL. */
void error_free(struct error *error);

/* Ends an error whose cause does not matter; true if there was one. */
static inline bool error_ignore(struct error *error)
{
	if (!error)
		return false;
	error_free(error);
	return true;
}

/* True for an error of a system call with this errno. */
bool error_is(const struct error *error, int os_error);

#endif
