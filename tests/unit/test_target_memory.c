/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/target_memory.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 8

static unsigned int calls, reads; /* of the system; in them */

/* In place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
			 const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	calls++;
	reads += (unsigned int)there_count;
	return syscall(SYS_process_vm_readv, pid, here, here_count, there, there_count, flags);
}

/* Pages of our own, of which the last one cannot be read. */
static uint8_t *map_pages(void)
{
	uint8_t *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	for (size_t i = 0; i < PAGES * PAGE; i++)
		pages[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(mprotect(pages + (PAGES - 1) * PAGE, PAGE, PROT_NONE), 0);
	return pages;
}

static struct target_piece piece(const uint8_t *at, void *to, size_t size)
{
	return (struct target_piece){ (uintptr_t)at, to, size };
}

static void test_pieces_of_a_page_are_one_read(void **state)
{
	const struct target_memory memory = target_memory_of((uint32_t)getpid());
	uint8_t *pages = map_pages(), to[6][16];
	const struct target_piece pieces[] = {
		piece(pages + PAGE + 100, to[0], 16), /* the first page of two */
		piece(pages + 3 * PAGE, to[1], 16),	piece(pages + PAGE + 8, to[2], 8),
		piece(pages + PAGE + 104, to[3], 4),	piece(pages + 2 * PAGE - 16, to[4], 16),
		piece(pages + 4 * PAGE - 8, to[5], 16), /* in two pages */
	};

	calls = reads = 0;
	assert_true(target_read_all(&memory, pieces, 6));
	assert_int_equal(calls, 1);
	assert_int_equal(reads, 3);
	for (size_t i = 0; i < 6; i++)
		assert_memory_equal(to[i], (const void *)(uintptr_t)pieces[i].address,
				    pieces[i].size);
	munmap(pages, PAGES * PAGE);
}

static void test_one_that_is_not_there(void **state)
{
	const struct target_memory memory = target_memory_of((uint32_t)getpid());
	uint8_t *pages = map_pages(), to[2][8];
	struct target_piece pieces[] = {
		piece(pages, to[0], 8),
		piece(pages + (PAGES - 1) * PAGE - 4, to[1], 8),
	};

	assert_false(target_read_all(&memory, pieces, 2));
	pieces[1].address = UINT64_MAX - 3;
	assert_false(target_read_all(&memory, pieces, 2));
	assert_true(target_read_all(&memory, pieces, 1));
	munmap(pages, PAGES * PAGE);
}

/* Also more than one system call takes, and more than is gathered. */
static void test_any_pieces(void **state)
{
	static struct target_piece pieces[TARGET_PIECES_MAX + 50];
	static uint8_t to[TARGET_PIECES_MAX + 50][700];
	const struct target_memory memory = target_memory_of((uint32_t)getpid());
	uint8_t *pages = map_pages();

	srandom(5);
	for (int round = 0; round < 300; round++) {
		size_t n = (size_t)random() % (round % 10 ? 40 : TARGET_PIECES_MAX + 50);

		for (size_t i = 0; i < n; i++) {
			size_t size = 1 + (size_t)random() % (round % 3 ? 50 : 700);
			size_t at = (size_t)random() % ((PAGES - 1) * PAGE - size);

			pieces[i] = piece(pages + at, to[i], size);
		}
		memset(to, 0, sizeof(to));
		assert_true(target_read_all(&memory, pieces, n));
		for (size_t i = 0; i < n; i++)
			assert_memory_equal(to[i], (const void *)(uintptr_t)pieces[i].address,
					    pieces[i].size);
	}
	munmap(pages, PAGES * PAGE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pieces_of_a_page_are_one_read),
	cmocka_unit_test(test_one_that_is_not_there),
	cmocka_unit_test(test_any_pieces),
};

UNIT_TESTS(tests);
