/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_PYTHON_BPF_H
#define BPF_RUNTIMES_PYTHON_BPF_H

/*
 * The frames of CPython 3.8 and later. A thread's state holds a list of them, leaf first; the
 * recorder says where in the process each field of it lies (struct python_process). What is read
 * is not trusted: the number of reads is bounded, and wrong values lead to wrong names in this
 * process only.
 *
 * A code object may be freed, and its memory be used for another one. What identifies it is
 * therefore read together with the frame, and hashed into a cookie: the addresses of its name, file
 * and line table, and since 3.12 a number that no other code object has. Without that number, new
 * texts may have the addresses of old ones; so the texts themselves are hashed, too, by the hashes
 * that CPython keeps in its strings, or by their ends.
 *
 * Nothing here needs a map, so that the tests can walk images of processes.
 */

#include "bpf/abi/python.h"
#include "bpf/abi/sample.h"
#include "bpf/state/user_memory.bpf.h"

#define PYTHON_STEPS 8	      /* frames per call of python_steps() */
#define PYTHON_LIST_MAX 1024  /* frames, with those without code */
#define PYTHON_NAMES_MAX 64   /* sent with one sample */
#define PYTHON_CODE_TYPE 8    /* in any object */
#define PYTHON_TEXT_LENGTH 16 /* in a str or bytes object; then the hash, then str's state */
#define PYTHON_BYTES_DATA 32
#define PYTHON_TABLE_WORDS 8 /* of a line table that are hashed */

/* Odd numbers without pattern: sums of products need no result before the next product. */
#define PYTHON_HASH_CODE 0x9fb21c651e98df25ULL
#define PYTHON_HASH_PROCESS 0xa0761d6478bd642fULL
#define PYTHON_HASH_0 0xe7037ed1a0b428dbULL
#define PYTHON_HASH_1 0x8ebc6af09c88c6e3ULL
#define PYTHON_HASH_2 0x589965cc75374cc3ULL
#define PYTHON_HASH_3 0x1d8e4e27c47d124fULL

/* The thread whose frames are read, as the kernel knows it. */
struct python_thread {
	__u64 pointer;		/* its number in the process */
	__u64 keys_first, keys; /* where the values of its keys are */
	__u64 process;		/* no two processes and images have the same */
	__u64 sendings;		/* how often all names had to be sent anew */
};

/* The identity of a code object that was read before. */
struct python_known {
	__u64 tag; /* of its address, its process and its time, see python_begin() */
	__u64 identity;
};

/* A frame as it goes into the sample. */
struct python_frame {
	__u64 code; /* with marks */
	__u64 position;
	__u64 identity; /* 0: no code, or not readable */
	__u32 known;	/* its name was sent, as remembered */
	int marks_last; /* this is no frame: the one before it was the last of its call */
};

/* The state of a walk over one thread's frames. */
struct python_walk {
	__u64 frame; /* the next one; 0: the list has ended */
	__u32 listed;
	__u32 names;
	/*
	 * Memory around the frame that was read last. From 3.11 on the frames of a thread lie one
	 * above the other, the leaf on top: one read serves several.
	 */
	__u64 window_start;
	__u32 window_bytes;
	__u32 at; /* index in `window` of the frame that was read last */
	__u64 window[PYTHON_WINDOW_BYTES / 8];
	__u64 code_words[PYTHON_CODE_BYTES / 8];
	__u64 text[3]; /* length, hash and state */
	__u64 end[4];
	__u64 table[2 + PYTHON_TABLE_WORDS]; /* length, hash and beginning */
	__u64 type;
	__u64 file, file_hash; /* of the code read last, where it is hashed */
	__u64 file_hashed;
	__u64 process; /* as in struct python_thread, and which interpreter of it */
	__u64 epoch;   /* while it is the same, so are the code objects of frames */
	__u64 looks;
	struct python_known known[1 << PYTHON_KNOWN_BITS];
	struct python_frame last; /* read last */
	struct script_name name;
};

/* Of the frame that was read last. */
static __always_inline __u64 python_frame_word(const struct python_walk *w, __u32 offset)
{
	return w->window[(w->at + (offset >> 3)) & (PYTHON_WINDOW_BYTES / 8 - 1)];
}

static __always_inline __u32 python_frame_int(const struct python_walk *w, __u32 offset)
{
	return (__u32)(python_frame_word(w, offset) >> (offset & 4) * 8);
}

static __always_inline __u8 python_frame_byte(const struct python_walk *w, __u32 offset)
{
	return (__u8)(python_frame_word(w, offset) >> (offset & 7) * 8);
}

/* Of the code object that was read last. */
static __always_inline __u64 python_word(const __u64 *words, __u32 offset)
{
	return words[(offset >> 3) & (PYTHON_CODE_BYTES / 8 - 1)];
}

static __always_inline __u32 python_int(const __u64 *words, __u32 offset)
{
	return (__u32)(python_word(words, offset) >> (offset & 4) * 8);
}

static __always_inline __u64 python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* The state that the thread runs with, of a subinterpreter perhaps. */
static __always_inline __u64 python_current(const struct python_process *p,
					    const struct python_thread *t, __u64 state)
{
	__u64 current = 0, thread = 0;

	if (!p->current || WALK_READ_USER(&current, sizeof(current), p->key - p->current) ||
	    !current || current == state)
		return state;
	if (WALK_READ_USER(&thread, sizeof(thread), current + p->thread_id) || thread != t->pointer)
		return state;
	return current;
}

/* The thread's state, whose first words are then in the window. Not 0: it is not readable. */
static __always_inline int python_read_state(struct python_walk *w, const struct python_process *p,
					     const struct python_thread *t)
{
	__u64 block, state = 0;
	__u32 key = 0;

	if (WALK_READ_USER(&key, sizeof(key), p->key) || key >= 1024)
		return -1;
	if (key < 32) {
		block = t->keys_first;
	} else if (WALK_READ_USER(&block, sizeof(block), t->keys + 8 * (key / 32)) || !block) {
		return -1;
	}
	/* struct pthread_key_data: a sequence number, then the value. */
	if (WALK_READ_USER(&state, sizeof(state), block + 16 * (key & 31) + 8) || !state)
		return -1;
	w->at = 0;
	state = python_current(p, t, state);
	return WALK_READ_USER(w->window, PYTHON_STATE_BYTES, state) ? -1 : 0;
}

/*
 * A thread that is looked at stands still, and so do the code objects of its frames. If since an
 * earlier look no code object was made, the one at an address is the one that was there then.
 * Where nobody counts them, that holds within one look.
 */
static __always_inline __u64 python_epoch(struct python_walk *w, const struct python_process *p,
					  __u64 sendings)
{
	__u64 interpreter = 0, interpreters = 0;
	__u32 created = 0;

	if (p->counter == PYTHON_COUNTER_INTERPRETER)
		interpreter = python_frame_word(w, p->thread_interpreter);
	else if (p->counter == PYTHON_COUNTER_NONE ||
		 WALK_READ_USER(&interpreters, sizeof(interpreters), p->interpreters) ||
		 interpreters != 1)
		return python_mix(~w->process, ++w->looks);
	/* It stays 0 when it has overflowed. */
	if (!WALK_READ_USER(&created, sizeof(created), interpreter + p->created) && created)
		return python_mix(w->process + sendings, created);
	return python_mix(~w->process, ++w->looks);
}

/*
 * An interpreter may have the address, the code objects and the count of them that an earlier one
 * had. Not 0: its number is not readable.
 */
static __always_inline int python_enter(struct python_walk *w, const struct python_process *p,
					__u64 process)
{
	__u64 id = 0;

	if (p->thread_interpreter &&
	    WALK_READ_USER(&id, sizeof(id),
			   python_frame_word(w, p->thread_interpreter) + p->interpreter_id))
		return -1;
	w->process = process + id * PYTHON_HASH_0;
	return 0;
}

/*
 * The thread, whose state is in the window, sleeps in a system call on that futex (0: on none):
 * whether that is one of the interpreter lock's.
 */
static __always_inline int python_waits(const struct python_walk *w, const struct python_process *p,
					__u64 futex)
{
	__u64 lock = p->lock;

	if (!futex || !lock)
		return 0;
	if (p->thread_interpreter &&
	    WALK_READ_USER(&lock, sizeof(lock), python_frame_word(w, p->thread_interpreter) + lock))
		return 0;
	return lock && futex - lock < PYTHON_LOCK_BYTES;
}

/* The first frame of the thread: 0, or what could not be read. */
static __always_inline int python_begin(struct python_walk *w, const struct python_process *p,
					const struct python_thread *t)
{
	w->frame = 0;
	w->window_bytes = 0;
	w->file = 0;
	w->listed = 0;
	w->names = 0;
	if (python_read_state(w, p, t) || python_enter(w, p, t->process))
		return -1;
	w->epoch = python_epoch(w, p, t->sendings);
	w->frame = python_frame_word(w, p->thread_frame);
	if (p->holder_frame != PYTHON_NONE && w->frame &&
	    WALK_READ_USER(&w->frame, sizeof(w->frame), w->frame + p->holder_frame))
		return -1;
	return 0;
}

static __always_inline __u32 python_position(const struct python_walk *w,
					     const struct python_process *p, __u64 code)
{
	__u64 at;

	if (p->position == PYTHON_POSITION_POINTER)
		at = (__s64)(python_frame_word(w, p->frame_position) - code - p->code_bytecode) >>
		     1;
	else if (p->position == PYTHON_POSITION_UNITS)
		at = (__s64)(__s32)python_frame_int(w, p->frame_position);
	else
		at = (__s64)(__s32)python_frame_int(w, p->frame_position) >> 1;
	/* Before the first instruction it is -1. */
	return at < SCRIPT_POSITION ? (__u32)at : (at >> 63 ? 0 : (__u32)SCRIPT_POSITION);
}

/* Length and hash of a string: they identify it among all strings that were at that address. */
static __always_inline __u64 python_text_hash(struct python_walk *w, __u64 text, __u64 hash)
{
	if (WALK_READ_USER(w->text, 16, text + PYTHON_TEXT_LENGTH))
		return python_mix(hash, 0);
	return python_mix(python_mix(hash, w->text[0]), w->text[1]);
}

/* The end of a str object, whose length is in w->text. */
static __always_inline __u64 python_end_hash(struct python_walk *w, __u64 data, __u64 hash)
{
	__u64 length = w->text[0], size = length < sizeof(w->end) ? length : sizeof(w->end);

	w->end[0] = w->end[1] = w->end[2] = w->end[3] = 0;
	if (WALK_READ_USER(w->end, size, data + length - size))
		return hash;
	for (int i = 0; i < 4; i++)
		hash = python_mix(hash, w->end[i]);
	return hash;
}

/* A file name; w->file_hashed: it has a hash of its own. */
static __always_inline __u64 python_file_hash(struct python_walk *w, const struct python_process *p,
					      __u64 file)
{
	__u64 hash;

	/* Frames stay as they are while they are read, and those of one file often follow. */
	if (file && file == w->file)
		return w->file_hash;
	hash = python_text_hash(w, file, 0);
	w->file_hashed = w->text[1] != ~0ULL;
	if (!w->file_hashed)
		hash = python_end_hash(w, file + p->text_ascii, hash);
	w->file = file;
	w->file_hash = hash;
	return hash;
}

/* The length of a bytes object, and its beginning, in one read. */
static __always_inline __u64 python_table_hash(struct python_walk *w, __u64 table, __u64 hash)
{
	__u64 length;

	if (WALK_READ_USER(w->table, sizeof(w->table), table + PYTHON_TEXT_LENGTH))
		return hash;
	length = w->table[0];
	hash = python_mix(hash, length);
	for (__u64 i = 0; i < PYTHON_TABLE_WORDS; i++) {
		__u64 word = w->table[2 + i];

		if (8 * i >= length)
			break;
		/* What is after its end is not its own. */
		if (length - 8 * i < 8)
			word &= (1ULL << 8 * (length - 8 * i)) - 1;
		hash = python_mix(hash, word);
	}
	return hash;
}

/*
 * Strings that nobody has looked up have no hash, as the file name of code that a program has
 * compiled by itself. Such code comes and goes; so the end of the file name is read, and the
 * beginning of the line table.
 */
static __always_inline __u64 python_hash_texts(struct python_walk *w,
					       const struct python_process *p, __u64 hash)
{
	__u64 file = python_word(w->code_words, p->code_file);
	__u64 table = python_word(w->code_words, p->code_table);

	hash = python_text_hash(w, python_word(w->code_words, p->code_name), hash);
	hash = python_mix(hash, python_file_hash(w, p, file));
	return w->file_hashed ? hash : python_table_hash(w, table, hash);
}

/* A hash that identifies the code object, which is read; 0: it is not readable. */
static __always_inline __u64 python_identity(struct python_walk *w, const struct python_process *p,
					     __u64 code)
{
	__u64 hash = code * PYTHON_HASH_CODE + w->process * PYTHON_HASH_PROCESS;
	__u32 bytes = p->code_bytes;

	if (bytes > PYTHON_CODE_BYTES)
		bytes = PYTHON_CODE_BYTES;
	if (WALK_READ_USER(w->code_words, bytes, code + p->code_start))
		return 0;
	hash += python_word(w->code_words, p->cookie[0]) * PYTHON_HASH_0 +
		python_word(w->code_words, p->cookie[1]) * PYTHON_HASH_1 +
		python_word(w->code_words, p->cookie[2]) * PYTHON_HASH_2 +
		python_word(w->code_words, p->cookie[3]) * PYTHON_HASH_3;
	hash = python_mix(hash, hash >> 32);
	if (p->version == PYTHON_NONE || !python_int(w->code_words, p->version))
		hash = python_hash_texts(w, p, hash);
	return hash ? hash : 1;
}

/* Where a code object is remembered: two neighbours, the latest one first. */
static __always_inline struct python_known *python_known(struct python_walk *w, __u64 tag)
{
	return &w->known[tag >> (64 - PYTHON_KNOWN_BITS) & ~1ULL];
}

static __always_inline __u64 python_tag(const struct python_walk *w, __u64 code)
{
	return code * PYTHON_HASH_CODE + w->epoch;
}

/* The identity of the frame's code object, as remembered or else read; 0: it is not readable. */
static __always_inline __u64 python_identify(struct python_walk *w, const struct python_process *p,
					     struct python_frame *f)
{
	__u64 tag = python_tag(w, f->code);
	const struct python_known *known = python_known(w, tag);

	f->known = 1;
	if (known[0].tag == tag)
		return known[0].identity;
	if (known[1].tag == tag)
		return known[1].identity;
	f->known = 0;
	return python_identity(w, p, f->code);
}

/* The name of that frame's code object is where it belongs: it is not to be read again. */
static __always_inline void python_remember(struct python_walk *w, const struct python_frame *f)
{
	__u64 tag = python_tag(w, f->code & SCRIPT_CODE);
	struct python_known *known = python_known(w, tag);

	known[1] = known[0];
	known[0].identity = f->identity;
	known[0].tag = tag;
}

/* Has the window hold the frame at w->frame, from w->at on. Not 0: it is not readable. */
static __always_inline int python_look(struct python_walk *w, const struct python_process *p)
{
	__u64 frame = w->frame, offset = frame - w->window_start, start, bytes;

	if (frame & 7)
		return -1;
	if (offset + p->frame_bytes <= w->window_bytes && offset < PYTHON_WINDOW_BYTES) {
		w->at = (__u32)offset / 8;
		return 0;
	}
	/* Never into a page below the frame's own, which may not be there. */
	start = frame + p->frame_bytes - p->window;
	if (start < (frame & ~4095ULL))
		start = frame & ~4095ULL;
	bytes = frame + p->frame_bytes - start;
	w->window_bytes = 0;
	if (bytes > sizeof(w->window) || WALK_READ_USER(w->window, bytes, start))
		return -1;
	w->window_start = start;
	w->window_bytes = (__u32)bytes;
	w->at = (__u32)(frame - start) / 8;
	return 0;
}

/* Reads the frame at w->frame and goes on to the next one. Not 0: it is not readable. */
static __always_inline int python_read(struct python_walk *w, const struct python_process *p,
				       struct python_frame *f)
{
	if (python_look(w, p))
		return -1;
	/* Since 3.14 the lowest bits say whether the frame counts as an owner of its code. */
	f->code = python_frame_word(w, p->frame_code) & ~7ULL;
	f->marks_last = p->entry == PYTHON_ENTRY_SHIM &&
			python_frame_byte(w, p->frame_entry) == p->owner;
	w->frame = python_frame_word(w, p->frame_back);
	if (f->marks_last)
		return 0;
	f->identity = f->code >> SCRIPT_ADDRESS_BITS ? 0 : python_identify(w, p, f);
	f->position = f->identity >> SCRIPT_POSITION_BITS << SCRIPT_POSITION_BITS |
		      python_position(w, p, f->code);
	f->code &= SCRIPT_CODE;
	if (p->entry == PYTHON_ENTRY_EACH ||
	    (p->entry == PYTHON_ENTRY_FLAG && python_frame_byte(w, p->frame_entry) == 1))
		f->code |= SCRIPT_ENTRY;
	return 0;
}

/* Where a str object's text is. */
static __always_inline void python_find_text(struct python_walk *w, const struct python_process *p,
					     struct script_text *t, __u64 address)
{
	__u32 state;
	__u64 bytes;

	t->address = address;
	t->data = t->bytes = t->captured = t->width = t->reserved = 0;
	if (WALK_READ_USER(w->text, sizeof(w->text), address + PYTHON_TEXT_LENGTH))
		return;
	state = (__u32)w->text[2];
	t->width = state >> 2 & 7;
	/* 0x20: compact, the characters follow; 0x40: ASCII. */
	if (!(state & 0x20) || (t->width != 1 && t->width != 2 && t->width != 4) ||
	    w->text[0] > 0xffffff) {
		t->width = 0;
		return;
	}
	bytes = w->text[0] * t->width;
	t->bytes = (__u32)bytes;
	t->data = address + (state & 0x40 ? p->text_ascii : p->text_others);
}

static __always_inline void python_find_table(struct python_walk *w, struct script_text *t,
					      __u64 address)
{
	t->address = address;
	t->data = t->bytes = t->captured = t->width = t->reserved = 0;
	if (WALK_READ_USER(w->text, 8, address + PYTHON_TEXT_LENGTH) || w->text[0] > 0xffffff)
		return;
	t->bytes = (__u32)w->text[0];
	t->data = address + PYTHON_BYTES_DATA;
	t->width = 1;
}

#define PYTHON_CAPTURE(t, room)                                                                    \
	do {                                                                                       \
		__u32 size_ = (t)->bytes;                                                          \
                                                                                                   \
		if (size_ > sizeof(room))                                                          \
			size_ = sizeof(room);                                                      \
		if ((t)->data && !WALK_READ_USER(room, size_, (t)->data))                          \
			(t)->captured = size_;                                                     \
	} while (0)

/*
 * Fills in w->name for the code object of that frame, the one that was read last. Not 0: it is no
 * code object, or not readable.
 */
static __always_inline int python_name(struct python_walk *w, const struct python_process *p,
				       const struct python_frame *f)
{
	struct script_name *n = &w->name;

	n->code = f->code & SCRIPT_CODE;
	n->cookie = f->position & ~SCRIPT_POSITION;
	n->process = w->process;
	/* Its words are read, or read again where its identity was known. */
	if (python_identity(w, p, n->code) != f->identity ||
	    WALK_READ_USER(&w->type, sizeof(w->type), n->code + PYTHON_CODE_TYPE) ||
	    w->type != p->code_type)
		return -1;
	n->table_kind = p->table;
	n->line = python_int(w->code_words, p->code_line);
	python_find_text(w, p, &n->name, python_word(w->code_words, p->code_name));
	python_find_text(w, p, &n->file, python_word(w->code_words, p->code_file));
	python_find_table(w, &n->table, python_word(w->code_words, p->code_table));
	PYTHON_CAPTURE(&n->name, n->name_bytes);
	PYTHON_CAPTURE(&n->file, n->file_bytes);
	PYTHON_CAPTURE(&n->table, n->table_bytes);
	return 0;
}

#endif
