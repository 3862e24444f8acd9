/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_PHP_H
#define BPF_ABI_PHP_H

/*
 * PHP 8.1 to 8.4, not built for threads: the parameters of a process for the kernel half.
 */

#include <linux/types.h>

#define PHP_FRAMELESS_CALLS 8

/* Offsets are in bytes, of structures in the process. */
struct php_process {
	__u64 current;	     /* address of what leads to the latest frame */
	__u64 evaluation[4]; /* start and end of execute_ex(), and of its cold part */
	__u64 handlers[4];   /* ... of the functions in which it runs instructions; 0: not known */
	/* What leads to the functions in C that instructions of 8.4 call without a frame; 0: none.
	 */
	__u64 frameless;
	/* In a function: how many instructions it has, where they are, and its file's name. */
	__u8 function_last, function_code, function_file;
	__u8 function_handler; /* ... and in one in C what it runs */
	__u8 reserved[4];
	/*
	 * Where such calls return to, in the loop or what it runs instructions in: distances from
	 * `frameless`. 0: no more are known.
	 */
	__s32 frameless_calls[PHP_FRAMELESS_CALLS];
};

/* Of a process that has the file's address 0 at `bias`, from that of the file. */
static inline void php_process_place(struct php_process *p, __u64 bias)
{
	p->current += bias;
	if (p->frameless)
		p->frameless += bias;
	for (int i = 0; i < 4; i++) {
		if (p->evaluation[i])
			p->evaluation[i] += bias;
		if (p->handlers[i])
			p->handlers[i] += bias;
	}
}

#endif
