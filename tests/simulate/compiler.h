/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIMULATE_COMPILER_H
#define TESTS_SIMULATE_COMPILER_H

/*
 * The JIT compiler of a process: it makes functions, one where another was, and writes a jitdump
 * file of them, which gets them later, as compilers buffer what they write: a buffer at a time, and
 * now and then all that there is. The recorder opens it by its path. The next compiler of a process
 * writes another file in its place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compiler;

struct compiler *compiler_new(uint32_t pid);
/*
 * The process ends, or runs another program: what is buffered is written, unless it `is_killed`.
 * The file stays. NULL is fine.
 */
void compiler_end(struct compiler *c, bool is_killed);
/* Removes all files. */
void compiler_remove_files(void);

void compiler_path(char *text, size_t size, uint32_t pid);
/* The name of a function by its number. */
void compiler_name(char *text, size_t size, uint32_t function);

/* It has made a function at a place. */
void compiler_make(struct compiler *c, uint64_t start, uint64_t size, uint32_t function,
		   uint64_t time_ns);
void compiler_flush(struct compiler *c);
/* When the first one was made that is not in the file; UINT64_MAX: all are. */
uint64_t compiler_unwritten_ns(const struct compiler *c);

#endif
