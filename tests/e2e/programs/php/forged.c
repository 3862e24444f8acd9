/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Looks like PHP, and has lists that PHP never has. forged: makes the file $READY, waits for a byte
 * from its standard input, and then calls mark() in its loop with one list after the other.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t executor_globals[64];
#ifndef VERSION
#define VERSION "420220829" /* what extensions of PHP 8.2 are built for */
#endif
const char *zend_get_executed_filename_ex(void);
void execute_ex(void *frame);
void mark(void);

/*
 * What the recorder looks for: the latest frame at 0x1e8, a function at 0x18, its file at 0x98, its
 * code at 0x58, what it runs at 0x48, and the version.
 */
__asm__(".text\n"
	".globl zend_get_executed_filename_ex\n"
	".type zend_get_executed_filename_ex, @function\n"
	"zend_get_executed_filename_ex:\n"
	"	mov 0x1e8(%rdx),%rax\n"
	"	mov 0x18(%rax),%rdx\n"
	"	mov 0x98(%rdx),%rax\n"
	"	ret\n"
	".size zend_get_executed_filename_ex, .-zend_get_executed_filename_ex\n"
	".globl zend_init_code_execute_data\n"
	".type zend_init_code_execute_data, @function\n"
	"zend_init_code_execute_data:\n"
	"	mov 0x58(%rsi),%rax\n"
	"	ret\n"
	".size zend_init_code_execute_data, .-zend_init_code_execute_data\n"
	".globl execute_internal\n"
	".type execute_internal, @function\n"
	"execute_internal:\n"
	"	mov 0x18(%rdi),%rax\n"
	"	jmp *0x48(%rax)\n"
	".size execute_internal, .-execute_internal\n"
	".globl zend_load_extension_handle\n"
	".type zend_load_extension_handle, @function\n"
	"zend_load_extension_handle:\n"
	"	cmp $" VERSION ",%eax\n"
	"	ret\n"
	".size zend_load_extension_handle, .-zend_load_extension_handle\n");

void __attribute__((noinline)) mark(void)
{
	__asm__ volatile("" ::: "memory");
}

void __attribute__((noinline)) execute_ex(void *frame)
{
	executor_globals[0x1e8 / 8] = (uint64_t)frame;
	mark();
	__asm__ volatile("" ::: "memory");
}

static struct string {
	uint64_t head, hash, length;
	char text[64];
} name = { 6ULL << 32, 1, 8, "\033[31mred" };

static uint64_t function[24], frame[16];

static void reset(void)
{
	function[0] = 2;
	function[1] = (uint64_t)&name;
	function[2] = 0;
	function[19] = (uint64_t)&name;
	frame[3] = (uint64_t)function;
	frame[5] = 0x20000;
	frame[6] = 0;
	name.length = 8;
}

int main(void)
{
	char byte;
	const char *ready = getenv("READY");
	int fd = ready ? open(ready, O_WRONLY | O_CREAT, 0600) : 0;

	if (fd < 0 || read(0, &byte, 1) < 0)
		return 1;
	reset();
	execute_ex(frame);
	/* A circle, an address out of line, one that is not there. */
	frame[6] = (uint64_t)frame;
	execute_ex(frame);
	frame[6] = (uint64_t)frame + 1;
	execute_ex(frame);
	frame[6] = 0x1000;
	execute_ex(frame);
	reset();
	/* Texts of any length, elsewhere, and what is no function. */
	name.length = ~0ULL;
	execute_ex(frame);
	name.length = 0xffffff;
	execute_ex(frame);
	reset();
	function[2] = 0x1000;
	execute_ex(frame);
	function[2] = (uint64_t)function;
	execute_ex(frame);
	reset();
	function[1] = ~0ULL << 3;
	execute_ex(frame);
	reset();
	function[0] = 99;
	execute_ex(frame);
	frame[3] = ~0ULL;
	execute_ex(frame);
	return 0;
}
