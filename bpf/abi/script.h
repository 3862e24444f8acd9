/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_SCRIPT_H
#define BPF_ABI_SCRIPT_H

/*
 * Runtimes that keep their frames in a list aside: the frames that the kernel half sends, and the
 * names of their code.
 */

#include <linux/types.h>

#include "bpf/abi/php.h"
#include "bpf/abi/python.h"
#include "bpf/abi/ruby.h"
#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"

/*
 * Frames of a side list (struct script_frame). `code` is the address of the code object, 0 for a
 * frame of the runtime's own. `position` is a cookie, the upper 40 bits of a hash of what the code
 * object says of itself, over where in its bytecode the frame is, or which line that is.
 */
#define SCRIPT_ENTRY (1ULL << 63) /* in code: the last frame of one call of the evaluation loop */
/*
 * In code, of a frame of the runtime's own: the native stack begins here, and the frames after it
 * ran on another one.
 */
#define SCRIPT_BASE (1ULL << 62)
/* In code: it has no frame of its own, and is there only if the loop is still where that says. */
#define SCRIPT_FRAMELESS (1ULL << 61)
#define SCRIPT_ADDRESS_BITS 52
#define SCRIPT_CODE ((1ULL << SCRIPT_ADDRESS_BITS) - 1)
#define SCRIPT_POSITION_BITS 24
#define SCRIPT_POSITION ((1ULL << SCRIPT_POSITION_BITS) - 1)

#define SCRIPT_WINDOW_BYTES 1024    /* of a list's frames that are read at once */
#define SCRIPT_POSITION_IS_LINE 255 /* as table_kind: no table is needed */

/*
 * The names of a code object, sent when it is seen for the first time. What could not be read,
 * or is longer than there is room, the recorder reads from the process.
 */
#define SCRIPT_NAME_BYTES 192
#define SCRIPT_FILE_BYTES 320
#define SCRIPT_TABLE_BYTES 1024
#define SCRIPT_TEXTS_BYTES (SCRIPT_NAME_BYTES + SCRIPT_FILE_BYTES + SCRIPT_TABLE_BYTES)
#define SCRIPT_UTF8 8 /* as width: characters are of 1 to 4 bytes */

struct script_text {
	__u64 address;	/* of the object in the process */
	__u64 data;	/* of its first byte; 0: the object was not readable */
	__u32 bytes;	/* as it says */
	__u16 captured; /* of them, as many are here */
	__u8 width;	/* bytes of a character, or SCRIPT_UTF8; 0: no text */
	__u8 reserved;
};

struct script_name {
	__u64 code;
	__u64 cookie;  /* as in the frame's position, over 0 */
	__u64 process; /* which one, and which of its images: part of the cookie */
	__u32 pid;
	__u32 line; /* the first one */
	__u32 table_kind;
	__u32 image;
	struct script_text name, file;
	struct script_text table; /* SCRIPT_POSITION_IS_LINE: the name of its class, or none */
	/* What is captured of each, one after the other; sent as far as there is something. */
	__u8 bytes[SCRIPT_TEXTS_BYTES];
};

/* The parameters of a process, by its runtime. */
static inline const struct python_process *script_python(const struct script_process *s)
{
	return (const struct python_process *)s->parameters;
}

static inline const struct ruby_process *script_ruby(const struct script_process *s)
{
	return (const struct ruby_process *)s->parameters;
}

static inline const struct php_process *script_php(const struct script_process *s)
{
	return (const struct php_process *)s->parameters;
}

/* Two ranges of addresses: of the evaluation loop, and of functions that are only parts of it. */
static inline const __u64 *script_loop(const struct script_process *s)
{
	switch (s->runtime) {
	case SCRIPT_RUBY: return script_ruby(s)->evaluation;
	case SCRIPT_PHP: return script_php(s)->evaluation;
	default: return script_python(s)->evaluation;
	}
}

static inline const __u64 *script_loop_part(const struct script_process *s)
{
	switch (s->runtime) {
	case SCRIPT_RUBY: return script_ruby(s)->core;
	case SCRIPT_PHP: return script_php(s)->handlers;
	default: return script_python(s)->evaluation;
	}
}

/* Whether the walk over the native stack has reached where that begins. */
static inline int script_native_is_whole(const struct sample *s)
{
	return s->walk_end == WALK_ROOT || s->walk_end == WALK_FRAME_POINTER;
}

/*
 * PHP has one list, which all threads of the process refer to, and one thread that runs it. Whether
 * that is another one than the sample's, on whose stack are so many `loops`: then the list may
 * change while it is read.
 */
static inline int script_is_anothers(const struct sample *s, __u32 runtime, __u64 loops)
{
	return runtime == SCRIPT_PHP && !loops && (s->pid != s->tid || script_native_is_whole(s));
}

/*
 * 1 if the address is in one of two ranges, else 0. Without a branch, of which the verifier would
 * have to follow both ways; no address has its highest bit set.
 */
static inline __u64 script_is_in(const __u64 *ranges, __u64 at)
{
	return ((~(at - ranges[0]) & (at - ranges[1])) | (~(at - ranges[2]) & (at - ranges[3]))) >>
	       63;
}

/* The mark of a user frame at that address, if it stands for frames of the list; else 0. */
static inline __u64 script_loop_mark(const __u64 *loop, const __u64 *part, __u64 at)
{
	__u64 in = script_is_in(loop, at);

	return in * FRAME_EVALUATES | (script_is_in(part, at) & ~in) * FRAME_LOOP_PART;
}

/* Of a process that has the file's address 0 at `bias`, from that of the file. */
static inline void script_process_place(struct script_process *s, __u32 runtime, __u64 bias)
{
	if (runtime == SCRIPT_PYTHON)
		python_process_place((struct python_process *)s->parameters, bias);
	else if (runtime == SCRIPT_RUBY)
		ruby_process_place((struct ruby_process *)s->parameters, bias);
	else if (runtime == SCRIPT_PHP)
		php_process_place((struct php_process *)s->parameters, bias);
}

_Static_assert(sizeof(struct python_process) <= sizeof(((struct script_process *)0)->parameters) &&
		       sizeof(struct ruby_process) <=
			       sizeof(((struct script_process *)0)->parameters) &&
		       sizeof(struct php_process) <=
			       sizeof(((struct script_process *)0)->parameters),
	       "it has to fit into a script_process");
_Static_assert(sizeof(struct script_name) % 8 == 0, "part of the ABI between the halves");

#endif
