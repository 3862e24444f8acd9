/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * truth SHAPE MS: stacks that are easily walked wrongly, for some time.
 *
 *   garbage   the frame pointer register points to zeros (without unwind tables)
 *   context   a coroutine of makecontext()
 *   signal    a signal handler
 *   tables    library calls below code without unwind tables
 *   pushes    assembly that pushes in a loop, without unwind tables
 *   pointed   a function that is only called by pointer, after one that ends in a call
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

static volatile long sink;
static struct timespec end;

static int done(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec);
}

__attribute__((noinline, used)) static void burn(void)
{
	for (long i = 0; i < 300000; i++)
		sink += i;
}

#if defined(__x86_64__)
__attribute__((noinline)) static void burn_frame_pointer(long *zeros, long n)
{
	__asm__ volatile("push %%rbp\n mov %0,%%rbp\n 1: dec %1\n jnz 1b\n pop %%rbp"
			 : "+r"(zeros), "+r"(n)::"memory", "cc");
}

/* Only the frame pointer says how much it has pushed. */
__asm__(".pushsection .text\n"
	".type pushes, @function\n"
	"pushes: push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	jmp 2f\n"
	"1:	push %rax\n"
	"2:	sub $1, %rdi\n"
	"	jge 1b\n"
	"	test %rdi, %rdi\n"
	"	jns 4f\n"
	"3:	call burn\n"
	"	leave\n"
	"	ret\n"
	"4:	jmp 3b\n"
	".size pushes, .-pushes\n"
	".popsection\n");
void pushes(long n);

__asm__(".pushsection .text\n"
	"	.p2align 4\n"
	"ends:	push %rbx\n"
	"	sub $48, %rsp\n"
	"	call abort@PLT\n"
	"	.p2align 4\n"
	"pointed: sub $8, %rsp\n"
	"	call burn\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".popsection\n");
void ends(void);

static void calls_pointed(void)
{
	void (*pointed)(void);

	__asm__ volatile("lea pointed(%%rip), %0" : "=r"(pointed));
	while (!done())
		pointed();
	if (sink < 0)
		ends();
}
#else
static void calls_pointed(void)
{
}

static void pushes(long n)
{
	burn();
}

__attribute__((noinline)) static void burn_frame_pointer(long *zeros, long n)
{
	burn();
}
#endif

__attribute__((noinline)) static void calls_garbage(void)
{
	long zeros[4] = { 0 };

	while (!done())
		burn_frame_pointer(zeros, 3000000);
	sink += zeros[0];
}

#if defined(__GLIBC__)
static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	while (!done())
		burn();
}

static void run_context(void)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = malloc(65536);
	coroutine_context.uc_stack.ss_size = 65536;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
}
#else
static void run_context(void)
{
}
#endif

static void handler(int number)
{
	while (!done())
		burn();
}

__attribute__((noinline)) static void format(void)
{
	char text[100];

	for (int i = 0; i < 10000; i++)
		sink += snprintf(text, sizeof(text), "%d %f", i, i * 1.5);
}

__attribute__((noinline)) static void calls_format(void)
{
	while (!done())
		format();
	sink++;
}

__attribute__((noinline)) static void calls_pushes(void)
{
	while (!done())
		pushes(10);
	sink++;
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[2]) : 1000;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	if (!strcmp(argv[1], "garbage"))
		calls_garbage();
	if (!strcmp(argv[1], "context"))
		run_context();
	if (!strcmp(argv[1], "tables"))
		calls_format();
	if (!strcmp(argv[1], "pushes"))
		calls_pushes();
	if (!strcmp(argv[1], "pointed"))
		calls_pointed();
	if (!strcmp(argv[1], "signal")) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	}
	return 0;
}
