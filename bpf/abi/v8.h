/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_V8_H
#define BPF_ABI_V8_H

/*
 * Processes that run JavaScript with V8: what the recorder finds in the symbols v8dbg_... of the
 * program, which V8 has for debuggers, and the kernel half needs to recognise its frames.
 *
 * All code of V8 keeps a frame pointer. Two kinds of code run functions: the builtin that is the
 * interpreter's entry, and what the compilers have made, which lies in no file. Below the frame
 * pointer such a frame has a context, or a small integer that says that it is no function's, and
 * then the JSFunction. That leads to a SharedFunctionInfo, which is the function as it is written
 * in its script; the script has a number that its isolate never uses again. Another isolate counts
 * from the same number, on the same thread and at the same addresses once the first one has ended;
 * so a script is its number together with what its name and its source are.
 *
 * The collector moves objects, and uses their memory again. So no address identifies a function;
 * and its names are copied in the same instant in which its frame is seen for the first time.
 *
 * A pointer to an object is its address + 1; a small integer is in the upper half of its word.
 */

#include <linux/types.h>

#define V8_TAG 1
#define V8_COPIES 8	  /* of the builtins that are known at once */
#define V8_SHARED_WORDS 4 /* of a SharedFunctionInfo that are read at most, from its script on */
#define V8_SCRIPT_WORDS 8 /* of a Script that are read, without its map */

/* The parameters of a struct script_process. Offsets are in bytes. */
struct v8_process {
	/*
	 * The code that is part of the program, where the program has it first; then copies that
	 * isolates have mapped near the code that they make, or the first one again.
	 */
	__u64 builtins[V8_COPIES];
	__u32 builtins_size;
	__u32 entry; /* in the builtins, the interpreter's entry */
	__u32 entry_size;
	__u32 entry_frame; /* in it: what lies before runs without a frame */
	/* From the frame pointer, downwards. */
	__u16 context, function, bytecodes;
	__u16 shared;	     /* in a JSFunction */
	__u16 script;	     /* in a SharedFunctionInfo */
	__u16 literal;	     /* likewise, after the script: the function's number in it */
	__u16 scope;	     /* likewise, from its begin: the ScopeInfo */
	__u16 token;	     /* likewise: how far before its parameters the function begins */
	__u16 script_number; /* in a Script */
	__u16 source, name;  /* likewise; after the name the number of lines before it */
	__u16 scope_head;    /* words of a ScopeInfo before its variables */
	__u16 shared_type, script_type, scope_type; /* as their maps say */
	/* Of code that a compiler has made; made 0: what it has inlined is not known. */
	__u16 made;	       /* how far before its instructions the pointer to its Code is */
	__u16 start, length;   /* in a Code: where its instructions are */
	__u16 kind, optimized; /* likewise, its kind in the lower bits; the first optimized one */
	__u16 optimization;    /* likewise, its DeoptimizationData; then the table of positions */
	__u16 optimization_index; /* in that, the number of the compilation */
};

/*
 * A struct script_frame of V8. code: a hash of the program's image, its thread, and lengths and
 * hashes of the script's name and source, with V8_INTERPRETED; of optimized
 * code with V8_OPTIMIZED, the number of its compilation and where its instructions are, as V8 may
 * move them. position: the script's number << 32 | the function's number in the script.
 */
#define V8_INTERPRETED 1ULL
#define V8_OPTIMIZED 2ULL
#define V8_SCRIPT 0x7ffffffffffffffcULL
#define V8_CODE_WORDS 8 /* of a Code that are read */
#define V8_KIND_MASK 15

/* In `code` of a struct v8_name, apart from records of other runtimes. */
#define V8_NAME (1ULL << 63)

#define V8_NAME_BYTES 160
#define V8_FILE_BYTES 320
#define V8_SOURCE_BYTES 512
#define V8_SOURCE_HEAD 448 /* bytes of a source before a function that are sent with it */

/* The characters of a string in the process. */
struct v8_text {
	__u64 address;
	__u32 length;
	__u16 captured; /* bytes of it that are here */
	__u8 width;	/* bytes of a character: 1, Latin 1, or 2, UTF-16; 0: no string */
	__u8 reserved;
};

/* A function, when it is seen for the first time. */
struct v8_name {
	__u64 code;   /* the hash and V8_NAME */
	__u64 script; /* the hash of the script alone, also for optimized code */
	__u64 position;
	__u32 pid;
	__u32 start;	  /* where in the source the function begins, in characters */
	__u32 from;	  /* where what is here of the source begins */
	__u32 first_line; /* number of lines before the source's first one */
	struct v8_text name, file, source;
	__u8 name_bytes[V8_NAME_BYTES];
	__u8 file_bytes[V8_FILE_BYTES];
	__u8 source_bytes[V8_SOURCE_BYTES];
};

_Static_assert(sizeof(struct v8_name) % 8 == 0, "part of the ABI between the halves");

#define V8_INNER_MAX 16
#define V8_PLACES_BYTES 1024 /* 16 for each place */
#define V8_POSITIONS_BYTES 2048

/*
 * Optimized code, when it is seen for the first time: what it has inlined, and where. Like names,
 * that is copied at once, as the collector may use the memory again.
 */
struct v8_compilation {
	__u64 code; /* as in a frame, with V8_OPTIMIZED, and V8_NAME */
	__u64 position;
	__u64 instructions; /* where they begin */
	struct {
		__u64 code, position; /* position 0: it is not known */
	} inner[V8_INNER_MAX];
	__u32 size;					/* of the instructions */
	__u32 inner_count, places_size, positions_size; /* may be more than is here */
	__u8 places[V8_PLACES_BYTES];			/* V8's InliningPositions */
	__u8 positions[V8_POSITIONS_BYTES];		/* V8's source position table */
};

_Static_assert(sizeof(struct v8_compilation) % 8 == 0, "part of the ABI between the halves");

#endif
