/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_SCRIPT_WALK_BPF_H
#define BPF_RUNTIMES_SCRIPT_WALK_BPF_H

/*
 * The walk over a thread's list of frames, which a runtime keeps aside: what those of all such
 * runtimes have in common. What is read is not trusted: the number of reads is bounded, and wrong
 * values lead to wrong names in this process only.
 *
 * Nothing here needs a map, so that the tests can walk images of processes.
 */

#include "bpf/abi/script.h"
#include "bpf/state/user_memory.bpf.h"

#define SCRIPT_LIST_MAX 1024	/* frames, with those without code */
#define SCRIPT_NAMES_MAX 64	/* sent with one sample */
#define SCRIPT_OBJECT_BYTES 256 /* of an object, at most */
#define SCRIPT_KNOWN_BITS 10
#define SCRIPT_END_BYTES 32 /* of a text that are hashed */

/* A function that the verifier looks at once, wherever it is called. */
#ifdef __bpf__
#define SCRIPT_GLOBAL __noinline
#else
#define SCRIPT_GLOBAL static
#endif

/* An odd number without pattern. */
#define SCRIPT_HASH_CODE 0x9fb21c651e98df25ULL

/* The thread whose frames are read, as the kernel knows it. */
struct script_thread {
	__u64 pointer;		/* its number in the process */
	__u64 keys_first, keys; /* where the values of its keys are */
	__u64 modules;		/* where the address of its modules' storage is */
	__u64 process;		/* no two processes and images have the same */
	__u64 sendings;		/* how often all names had to be sent anew */
};

/* The identity of code that was read before. */
struct script_known {
	__u64 tag; /* see script_tag() */
	__u64 identity;
};

/* A frame as it goes into the sample. */
struct script_found {
	__u64 code; /* with marks */
	__u64 position;
	__u64 identity;	 /* 0: no code, or not readable */
	__u64 tag;	 /* under which the identity may be remembered */
	__u32 known;	 /* its name was sent, as remembered */
	__u8 hidden;	 /* this is no frame of a function */
	__u8 marks_last; /* ... and the one before it was the last of its call, */
	__u8 marks_base; /* or of its native stack */
};

/* The state of a walk over one thread's frames. */
struct script_walk {
	__u64 frame; /* the next one; 0: the list has ended */
	__u64 end;   /* of memory that holds frames, where the runtime says so */
	__u32 listed;
	__u32 names;
	/*
	 * Memory around the frame that was read last. Where the frames of a thread lie one beside
	 * the other, one read serves several.
	 */
	__u64 window_start;
	__u32 window_bytes;
	__u32 at; /* index in `window` of the frame that was read last */
	__u64 window[SCRIPT_WINDOW_BYTES / 8];
	/*
	 * The same for what frames refer to, which may lie in a stack that begins at `lowest`; PHP:
	 * the string that was read last.
	 */
	__u64 lowest;
	__u64 values_start;
	__u32 values_bytes;
	__u32 values_at;
	__u64 values[SCRIPT_WINDOW_BYTES / 8];
	__u64 words[SCRIPT_OBJECT_BYTES / 8]; /* of the object that was read last */
	__u64 head[5];			      /* the beginning of another one */
	__u64 ends[SCRIPT_END_BYTES / 8];
	__u64 table[10]; /* of a line table: length, hash and beginning */
	__u64 type;
	__u64 file, file_hash; /* of the code read last, where it is hashed */
	__u64 file_hashed;
	/*
	 * PHP: where the loop is, as its register says, if it is the leaf; and where the frame that
	 * was read last is. 0: not known.
	 */
	__u64 leaf, instruction;
	__u32 line;    /* of it, if it was read with what it is */
	__u32 calls;   /* the innermost loop is where it calls a function without a frame */
	__u32 callers; /* the frames from here on have called others */
	__u64 process; /* as in struct script_thread, and which interpreter of it */
	__u64 epoch;   /* while it is the same, so are the code objects of frames */
	__u64 looks;
	struct script_known known[1 << SCRIPT_KNOWN_BITS];
	struct script_found last; /* read last */
	struct script_name name;
};

/* -------- words of what was read -------- */

/* Of the frame that was read last. */
static __always_inline __u64 script_frame_word(const struct script_walk *w, __u32 offset)
{
	return w->window[(w->at + (offset >> 3)) & (SCRIPT_WINDOW_BYTES / 8 - 1)];
}

static __always_inline __u32 script_frame_int(const struct script_walk *w, __u32 offset)
{
	return (__u32)(script_frame_word(w, offset) >> (offset & 4) * 8);
}

static __always_inline __u8 script_frame_byte(const struct script_walk *w, __u32 offset)
{
	return (__u8)(script_frame_word(w, offset) >> (offset & 7) * 8);
}

/* Of the object that was read last. */
static __always_inline __u64 script_word(const struct script_walk *w, __u32 offset)
{
	return w->words[(offset >> 3) & (SCRIPT_OBJECT_BYTES / 8 - 1)];
}

static __always_inline __u32 script_int(const struct script_walk *w, __u32 offset)
{
	return (__u32)(script_word(w, offset) >> (offset & 4) * 8);
}

/* -------- frames -------- */

static __always_inline void script_walk_begin(struct script_walk *w, const struct script_thread *t)
{
	w->frame = 0;
	w->end = 0;
	w->window_bytes = 0;
	w->values_bytes = 0;
	w->at = 0;
	w->file = 0;
	w->leaf = 0;
	w->calls = w->callers = 0;
	w->listed = 0;
	w->names = 0;
	w->process = t->process;
}

/* Whether the window holds the frame at w->frame; then it is the one from w->at on. */
static __always_inline int script_window_holds(struct script_walk *w, __u32 frame_bytes)
{
	__u64 offset = w->frame - w->window_start;

	if (offset >= SCRIPT_WINDOW_BYTES || offset + frame_bytes > w->window_bytes)
		return 0;
	w->at = (__u32)offset / 8;
	return 1;
}

/* Reads the window anew, with the frame at w->frame in it. Not 0: it is not readable. */
static __always_inline int script_window_read(struct script_walk *w, __u64 start, __u64 bytes)
{
	w->window_bytes = 0;
	if (bytes > sizeof(w->window) || WALK_READ_USER(w->window, bytes, start))
		return -1;
	w->window_start = start;
	w->window_bytes = (__u32)bytes;
	w->at = (__u32)(w->frame - start) / 8;
	return 0;
}

/*
 * Has the window hold the frame at w->frame, and what of `window` bytes is before it. Not 0: it is
 * not readable.
 */
static __always_inline int script_look_down(struct script_walk *w, __u32 frame_bytes, __u64 window)
{
	__u64 end = w->frame + frame_bytes, start = end - window;

	if (w->frame & 7)
		return -1;
	if (script_window_holds(w, frame_bytes))
		return 0;
	/* Never into a page below the frame's own, which may not be there. */
	if (start < (w->frame & ~4095ULL))
		start = w->frame & ~4095ULL;
	return script_window_read(w, start, end - start);
}

/* -------- what identifies code -------- */

/* Where a code object is remembered: two neighbours, the latest one first. */
static __always_inline struct script_known *script_known(struct script_walk *w, __u64 tag)
{
	return &w->known[tag >> (64 - SCRIPT_KNOWN_BITS) & ~1ULL];
}

static __always_inline __u64 script_tag(const struct script_walk *w, __u64 code)
{
	return code * SCRIPT_HASH_CODE + w->epoch;
}

/* Whether there is something under the frame's tag, which then is its identity. */
static __always_inline int script_recall(struct script_walk *w, struct script_found *f)
{
	const struct script_known *known = script_known(w, f->tag);

	f->known = 1;
	if (known[0].tag == f->tag) {
		f->identity = known[0].identity;
		return 1;
	}
	if (known[1].tag == f->tag) {
		f->identity = known[1].identity;
		return 1;
	}
	f->known = 0;
	f->identity = 0;
	return 0;
}

/* The name of that frame's code is where it belongs: it is not to be read again. */
static __always_inline void script_remember(struct script_walk *w, const struct script_found *f)
{
	struct script_known *known = script_known(w, f->tag);

	known[1] = known[0];
	known[0].identity = f->identity;
	known[0].tag = f->tag;
}

/* A thread that stands still: what is at an address now stays there until the walk has ended. */
static __always_inline __u64 script_look_epoch(struct script_walk *w)
{
	return script_mix(~w->process, ++w->looks);
}

/* Some bytes of a text, at most SCRIPT_END_BYTES. */
static __always_inline __u64 script_hash_bytes(struct script_walk *w, __u64 data, __u64 size,
					       __u64 hash)
{
	if (size > sizeof(w->ends))
		size = sizeof(w->ends);
	w->ends[0] = w->ends[1] = w->ends[2] = w->ends[3] = 0;
	if (WALK_READ_USER(w->ends, size, data))
		return hash;
	for (int i = 0; i < 4; i++)
		hash = script_mix(hash, w->ends[i]);
	return hash;
}

/* The end of a text. */
static __always_inline __u64 script_hash_end(struct script_walk *w, __u64 data, __u64 length,
					     __u64 hash)
{
	__u64 size = length < SCRIPT_END_BYTES ? length : SCRIPT_END_BYTES;

	return script_hash_bytes(w, data + length - size, size, hash);
}

/* -------- names -------- */

static __always_inline void script_no_text(struct script_text *t, __u64 address)
{
	t->address = address;
	t->data = t->bytes = t->captured = t->width = t->reserved = 0;
}

/* The name to fill in for that frame's code: which code it is of is there. */
static __always_inline struct script_name *script_name_of(struct script_walk *w,
							  const struct script_found *f)
{
	w->name.code = f->code & SCRIPT_CODE;
	w->name.cookie = f->position & ~SCRIPT_POSITION;
	w->name.process = w->process;
	return &w->name;
}

/* Copies a text, or what there is room for, to the byte `at` of those that are sent. */
static __always_inline void script_capture(struct script_name *n, struct script_text *t, __u64 at,
					   __u64 room)
{
	__u64 size = t->bytes;

	if (size > room)
		size = room;
	if (t->data && at <= SCRIPT_TEXTS_BYTES - room &&
	    !WALK_READ_USER(n->bytes + at, size, t->data))
		t->captured = (__u16)size;
}

/* Copies the three texts of a name, which have been found. */
static __always_inline void script_capture_all(struct script_name *n)
{
	script_capture(n, &n->name, 0, SCRIPT_NAME_BYTES);
	script_capture(n, &n->file, n->name.captured, SCRIPT_FILE_BYTES);
	script_capture(n, &n->table, n->name.captured + n->file.captured, SCRIPT_TABLE_BYTES);
}

#endif
