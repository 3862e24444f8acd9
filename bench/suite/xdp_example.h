/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SUITE_XDP_EXAMPLE_H
#define BENCH_SUITE_XDP_EXAMPLE_H

/*
 * A program whose speed has a history: it sorts packets by their source address, first by
 * the rules of FizzBuzz, then also by "is its last byte a Fibonacci number", which at first
 * was found out by a loop and then looked up in a table. The body is compiled twice, for the
 * kernel and for the host, so that its instructions can be counted without one.
 *
 * The table is what is built; INJECT=fibonacci builds the loop back in, and
 * INJECT=fizzbuzz the first version, which knows no Fibonacci numbers.
 */

enum packet_class {
	PACKET_OTHER,
	PACKET_FIZZ,
	PACKET_BUZZ,
	PACKET_FIZZBUZZ,
	PACKET_FIBONACCI,
	PACKET_CLASSES
};

#if defined(INJECT_fibonacci)
static inline int is_fibonacci(unsigned int n)
{
	/* The naive way: each number is computed again from the start. */
	for (unsigned int i = 0; i < 14; i++) {
		unsigned int previous = 0, current = 1;

		for (unsigned int j = 0; j < 14; j++) {
			unsigned int next;

			if (j >= i)
				break;
			next = previous + current;
			previous = current;
			current = next;
			__asm__ volatile("" : "+r"(current), "+r"(previous));
		}
		if (previous == n)
			return 1;
	}
	return 0;
}
#elif defined(INJECT_fizzbuzz)
static inline int is_fibonacci(unsigned int n)
{
	(void)n;
	return 0;
}
#else
#ifdef __bpf__
#define TABLE const volatile /* a global one, which libbpf finds in the object's .rodata */
#else
#define TABLE static const
#endif

/* A bit for each byte that is a Fibonacci number. */
TABLE unsigned int fibonacci_bits[8] = {
	0x0020212f,			    /* 0 1 2 3 5 8 13 21 */
	0x00800004,			    /* 34 55 */
	0x02000000,			    /* 89 */
	0x00000000, 0x00010000,		    /* 144 */
	0x00000000, 0x00000000, 0x00000200, /* 233 */
};

static inline int is_fibonacci(unsigned int n)
{
	return n < 256 && fibonacci_bits[(n >> 5) & 7] >> (n & 31) & 1;
}
#endif

static inline enum packet_class classify(unsigned int address)
{
	if (is_fibonacci(address & 0xff))
		return PACKET_FIBONACCI;
	if (address % 15 == 0)
		return PACKET_FIZZBUZZ;
	if (address % 3 == 0)
		return PACKET_FIZZ;
	if (address % 5 == 0)
		return PACKET_BUZZ;
	return PACKET_OTHER;
}

#endif
