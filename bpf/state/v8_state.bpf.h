/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_V8_STATE_BPF_H
#define BPF_STATE_V8_STATE_BPF_H

/* What a walk keeps of a process with V8, for bpf/runtimes/v8_step.bpf.h. */

#include "bpf/abi/sample.h"
#include "bpf/abi/v8.h"

#define V8_FUNCTIONS_BITS 6
#define V8_FUNCTIONS (1 << V8_FUNCTIONS_BITS)
#define V8_AHEAD 6 /* words of code that are read from the pc on */

#define V8_COMPILED_BITS 6
#define V8_COMPILED (1 << V8_COMPILED_BITS)

/* The code around a pc, as it was in a walk. */
struct v8_compiled {
	__u64 pc, walk;
	__u64 address;	    /* of its Code; 0: it was not found */
	__u64 start, size;  /* of its instructions */
	__u64 data;	    /* its DeoptimizationData */
	__u64 table;	    /* its source positions */
	__u64 optimization; /* the number of the compilation, + 1; 0: it is not optimized */
	__u64 sent;	    /* 1: its names were looked after in this walk */
};

/* A function that was found in a walk: its objects stay where they are until the walk has ended. */
struct v8_function {
	__u64 function;
	__u64 walk;
	__u64 position; /* 0: it is no function of a script */
	__u64 code;	/* as in struct script_frame */
	__u64 sent;	/* 1: its names were looked after in this walk */
};

struct v8_walk {
	struct v8_process process;
	__u32 size;   /* of the builtins; 0: the walk is not one of V8 */
	__u32 at;     /* where in them the frame's pc is; elsewhere: size or more */
	__u64 walks;  /* so far */
	__u64 thread; /* a hash of the program's image and the thread */
	__u32 pid;
	__u32 names;	/* sent in this walk */
	__u32 searches; /* parts of them in this walk, see v8_search_code() */
	__u64 function; /* that the frame of the last step says it is of; 0: it does not say */
	/* What is sent, see v8_send_wanted(). */
	__u64 wanted;	   /* the code of the function, 0: nothing */
	__u64 wanted_slot; /* in `compiled`, where that is optimized */
	__u64 inner;	   /* where the pointers to inlined functions are */
	struct {
		__u64 code, position;
	} sending;
	__u64 identified; /* the position of the function that was looked at last */
	/* What was read last. */
	__u64 shared_info; /* the address */
	__u64 shared[V8_SHARED_WORDS];
	__u64 script[V8_SCRIPT_WORDS];
	__u64 script_read, script_walk; /* which script that is, in which walk */
	__u64 code;			/* its hash, as in struct script_frame */
	__u64 words[4];
	__u64 made[V8_CODE_WORDS];
	__u64 search; /* where the search for code has come to */
	__u64 ahead[V8_AHEAD];
	struct v8_name name;
	struct v8_compilation compilation;
	struct v8_function functions[V8_FUNCTIONS];
	struct v8_compiled compiled[V8_COMPILED];
};

#endif
