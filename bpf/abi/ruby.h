/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_RUBY_H
#define BPF_ABI_RUBY_H

/*
 * Ruby 3.0 and later (CRuby): the parameters of a process for the kernel half.
 */

#include <linux/types.h>

/* How a String says where its text is. */
enum ruby_text {
	RUBY_TEXT_FLAGS = 0, /* its length in the flags, when the text is in the object: 3.0, 3.1 */
	RUBY_TEXT_LENGTH = 1, /* its length in a word of its own: 3.2 on */
};

/* Of a struct rb_iseq_constant_body, from its beginning. */
#define RUBY_BODY_BYTES 160

/* Offsets are in bytes, of structures in the process. */
struct ruby_process {
	__u64 storage; /* address of two words: whose thread-local storage, and where in it */
	__u64 symbols; /* address of the table of all symbols */
	/*
	 * Address of what leads to the collector's state; in that are how many collections there
	 * were, and how many objects of code's size were freed. 0: not known.
	 */
	__u64 machine;
	__u64 evaluation[4]; /* start and end of rb_vm_exec(), and of its cold part */
	__u64 core[4];	     /* ... of vm_exec_core(), which it calls */
	__u16 collector;     /* in what `machine` leads to: the collector's state */
	__u16 collections;   /* ... in that: one count, */
	__u16 freed;	     /* and the other */
	__u16 last_operator; /* symbols up to that one are their own serial numbers */
	__u8 frame_bytes;    /* of a control frame */
	__u8 body_lines;     /* in the body: the table of lines, its size, the index of positions */
	__u8 line_bytes;     /* of an entry in the table of lines */
	__u8 first_line_shift; /* of the first line's number in its word */
	__u8 text;	       /* enum ruby_text */
	__u8 reserved[3];
};

/* Of a process that has the file's address 0 at `bias`, from that of the file. */
static inline void ruby_process_place(struct ruby_process *p, __u64 bias)
{
	p->storage += bias;
	p->symbols += bias;
	if (p->machine)
		p->machine += bias;
	for (int i = 0; i < 4; i++) {
		if (p->evaluation[i])
			p->evaluation[i] += bias;
		if (p->core[i])
			p->core[i] += bias;
	}
}

#endif
