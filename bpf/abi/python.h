/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_PYTHON_H
#define BPF_ABI_PYTHON_H

/*
 * CPython 3.8 and later: the parameters of a process for the kernel half.
 */

#include <linux/types.h>

/* What marks the outermost frame that one call of the evaluation loop runs. */
enum python_entry {
	PYTHON_ENTRY_EACH = 0, /* each frame has its call: 3.8 to 3.10 */
	PYTHON_ENTRY_FLAG = 1, /* a byte of the frame is 1: 3.11 */
	PYTHON_ENTRY_SHIM = 2, /* a frame without code follows it, whose owner is that: 3.12 on */
};

/* Where in the bytecode a frame is. */
enum python_position {
	PYTHON_POSITION_BYTES = 0,   /* an int, in bytes: 3.8, 3.9 */
	PYTHON_POSITION_UNITS = 1,   /* an int, in code units of 2 bytes: 3.10 */
	PYTHON_POSITION_POINTER = 2, /* the address of the instruction: 3.11 on */
};

/*
 * A number that goes up whenever a code object is made. While it stays, every address of a code
 * object belongs to the same one.
 */
enum python_counter {
	PYTHON_COUNTER_NONE = 0, /* before 3.12 there is none */
	/* `created` is its address; interpreters that run at once may count the same: 3.12 */
	PYTHON_COUNTER_ADDRESS = 1,
	PYTHON_COUNTER_INTERPRETER = 2, /* it is at that offset in the interpreter: 3.13 */
};

#define PYTHON_NONE 0xff /* an offset that this version has no use for */
#define PYTHON_COOKIE_WORDS 4
#define PYTHON_FRAME_BYTES 128
#define PYTHON_STATE_BYTES 128
#define PYTHON_LOCK_BYTES 208
#define PYTHON_CODE_BYTES 128

/* Offsets are in bytes, of structures in the process. */
struct python_process {
	__u64 key;	 /* address of the number of the key that leads to the thread state */
	__u64 code_type; /* address of PyCode_Type; a code object's type */
	__u64 created;	 /* enum python_counter: where the number of code objects is */
	/*
	 * The interpreter lock (GIL), of PYTHON_LOCK_BYTES; from 3.12 on where in the interpreter
	 * its address is. 0: not known.
	 */
	__u64 lock;
	__u64 interpreters;  /* PYTHON_COUNTER_ADDRESS: address of how many there were */
	__u64 evaluation[4]; /* start and end of the evaluation loop's code, and of its cold part */
	__u16 window; /* bytes that are read with a frame's end, SCRIPT_WINDOW_BYTES at most */
	__u16 thread_frame;   /* in the thread state: the frame, or what leads to it */
	__u16 code_start;     /* in a code object: where what is read of it begins */
	__u16 code_bytecode;  /* in a code object */
	__u16 interpreter_id; /* in the interpreter: its number, unique in the process */
	__u8 holder_frame;    /* 3.11, 3.12: thread_frame leads to this offset of what holds it */
	__u8 frame_bytes;     /* of a frame that are read; a multiple of 8 */
	__u8 frame_code, frame_back, frame_position, frame_entry;
	__u8 position;		 /* enum python_position */
	__u8 counter;		 /* enum python_counter */
	__u8 thread_interpreter; /* in the thread state; 0: before 3.12 nothing is asked of it */
	/*
	 * Before 3.12: so many bytes before the key's number is the state that runs Python code
	 * now, of whatever thread; the key leads to the thread's first one. 0: the key leads to the
	 * right one.
	 */
	__u8 current;
	__u8 thread_id; /* in the thread state, where there is `current` */
	__u8 entry;	/* enum python_entry */
	__u8 owner;	/* PYTHON_ENTRY_SHIM: the byte of such a frame */
	__u8 code_bytes;
	__u8 cookie[PYTHON_COOKIE_WORDS]; /* words of what is read of the code, by offset in it */
	__u8 code_file, code_name, code_table, code_line; /* likewise */
	__u8 version;	  /* likewise: the word that holds a number that no code has twice */
	__u8 text_ascii;  /* in a str object: its characters, when they are ASCII */
	__u8 text_others; /* ... when they are not */
	__u8 table;	  /* how the line table is to be read; for the recorder */
};

/* Of a process that has the file's address 0 at `bias`, from that of the file. */
static inline void python_process_place(struct python_process *p, __u64 bias)
{
	p->key += bias;
	p->code_type += bias;
	if (p->counter == PYTHON_COUNTER_ADDRESS)
		p->created += bias;
	if (p->interpreters)
		p->interpreters += bias;
	if (p->lock && !p->thread_interpreter)
		p->lock += bias;
	for (int i = 0; i < 4; i++)
		if (p->evaluation[i])
			p->evaluation[i] += bias;
}

#endif
