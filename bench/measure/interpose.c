/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the C library that prof-bench, and no other program, has its own of: malloc() and
 * its like, which count.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/allocations.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTED 1
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef COUNTED
#endif
#endif

#ifdef COUNTED

__attribute__((constructor)) static void announce(void)
{
	allocations_announce();
}

/* The C library's own names for its functions, which are there for this purpose. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	allocations_count(size);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations_count(n * size);
	return __libc_calloc(n, size);
}

/* A block that grows is one more, as DHAT counts it. */
void *realloc(void *old, size_t size)
{
	allocations_count(size);
	return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	allocations_count(size);
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	allocations_count(size);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	void *new;

	if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
		return EINVAL;
	new = memalign(alignment, size);
	if (!new)
		return ENOMEM;
	*block = new;
	return 0;
}

void free(void *block)
{
	__libc_free(block);
}

#endif
