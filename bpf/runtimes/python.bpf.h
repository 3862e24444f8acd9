/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_PYTHON_BPF_H
#define BPF_RUNTIMES_PYTHON_BPF_H

/*
 * The frames of CPython 3.8 and later. A thread's state holds a list of them, leaf first; the
 * recorder says where in the process each field of it lies (struct python_process).
 *
 * A code object may be freed, and its memory be used for another one. What identifies it is
 * therefore read together with the frame, and hashed into a cookie: the addresses of its name, file
 * and line table, and since 3.12 a number that no other code object has. Without that number, new
 * texts may have the addresses of old ones; so the texts themselves are hashed, too, by the hashes
 * that CPython keeps in its strings, or by their ends.
 */

#include "bpf/abi/python.h"
#include "bpf/runtimes/script_walk.bpf.h"

#define PYTHON_CODE_TYPE 8    /* in any object */
#define PYTHON_TEXT_LENGTH 16 /* in a str or bytes object; then the hash, then str's state */
#define PYTHON_BYTES_DATA 32
#define PYTHON_TABLE_WORDS 8 /* of a line table that are hashed */

/* Odd numbers without pattern: sums of products need no result before the next product. */
#define PYTHON_HASH_PROCESS 0xa0761d6478bd642fULL
#define PYTHON_HASH_0 0xe7037ed1a0b428dbULL
#define PYTHON_HASH_1 0x8ebc6af09c88c6e3ULL
#define PYTHON_HASH_2 0x589965cc75374cc3ULL
#define PYTHON_HASH_3 0x1d8e4e27c47d124fULL

/* The state that the thread runs with, of a subinterpreter perhaps. */
static __always_inline __u64 python_current(const struct python_process *p,
					    const struct script_thread *t, __u64 state)
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
static __always_inline int python_read_state(struct script_walk *w, const struct python_process *p,
					     const struct script_thread *t)
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
	state = python_current(p, t, state);
	return WALK_READ_USER(w->window, PYTHON_STATE_BYTES, state) ? -1 : 0;
}

/*
 * A thread that is looked at stands still, and so do the code objects of its frames. If since an
 * earlier look no code object was made, the one at an address is the one that was there then.
 * Where nobody counts them, that holds within one look.
 */
static __always_inline __u64 python_epoch(struct script_walk *w, const struct python_process *p,
					  __u64 sendings)
{
	__u64 interpreter = 0, interpreters = 0;
	__u32 created = 0;

	if (p->counter == PYTHON_COUNTER_INTERPRETER)
		interpreter = script_frame_word(w, p->thread_interpreter);
	else if (p->counter == PYTHON_COUNTER_NONE ||
		 WALK_READ_USER(&interpreters, sizeof(interpreters), p->interpreters) ||
		 interpreters != 1)
		return script_look_epoch(w);
	/* It stays 0 when it has overflowed. */
	if (!WALK_READ_USER(&created, sizeof(created), interpreter + p->created) && created)
		return script_mix(w->process + sendings, created);
	return script_look_epoch(w);
}

/*
 * An interpreter may have the address, the code objects and the count of them that an earlier one
 * had. Not 0: its number is not readable.
 */
static __always_inline int python_enter(struct script_walk *w, const struct python_process *p,
					__u64 process)
{
	__u64 id = 0;

	if (p->thread_interpreter &&
	    WALK_READ_USER(&id, sizeof(id),
			   script_frame_word(w, p->thread_interpreter) + p->interpreter_id))
		return -1;
	w->process = process + id * PYTHON_HASH_0;
	return 0;
}

/*
 * The thread, whose state is in the window, sleeps in a system call on that futex (0: on none):
 * whether that is one of the interpreter lock's.
 */
static __always_inline int python_waits(const struct script_walk *w, const struct python_process *p,
					__u64 futex)
{
	__u64 lock = p->lock;

	if (!futex || !lock)
		return 0;
	if (p->thread_interpreter &&
	    WALK_READ_USER(&lock, sizeof(lock), script_frame_word(w, p->thread_interpreter) + lock))
		return 0;
	return lock && futex - lock < PYTHON_LOCK_BYTES;
}

/* The first frame of the thread: 0, or what could not be read. */
static __always_inline int python_begin(struct script_walk *w, const struct python_process *p,
					const struct script_thread *t)
{
	script_walk_begin(w, t);
	if (python_read_state(w, p, t) || python_enter(w, p, t->process))
		return -1;
	w->epoch = python_epoch(w, p, t->sendings);
	w->frame = script_frame_word(w, p->thread_frame);
	if (p->holder_frame != PYTHON_NONE && w->frame &&
	    WALK_READ_USER(&w->frame, sizeof(w->frame), w->frame + p->holder_frame))
		return -1;
	return 0;
}

static __always_inline __u32 python_position(const struct script_walk *w,
					     const struct python_process *p, __u64 code)
{
	__u64 at;

	if (p->position == PYTHON_POSITION_POINTER)
		at = (__s64)(script_frame_word(w, p->frame_position) - code - p->code_bytecode) >>
		     1;
	else if (p->position == PYTHON_POSITION_UNITS)
		at = (__s64)(__s32)script_frame_int(w, p->frame_position);
	else
		at = (__s64)(__s32)script_frame_int(w, p->frame_position) >> 1;
	/* Before the first instruction it is -1. */
	return at < SCRIPT_POSITION ? (__u32)at : (at >> 63 ? 0 : (__u32)SCRIPT_POSITION);
}

/* Length and hash of a string: they identify it among all strings that were at that address. */
static __always_inline __u64 python_text_hash(struct script_walk *w, __u64 text, __u64 hash)
{
	if (WALK_READ_USER(w->head, 16, text + PYTHON_TEXT_LENGTH))
		return script_mix(hash, 0);
	return script_mix(script_mix(hash, w->head[0]), w->head[1]);
}

/* A file name; w->file_hashed: it has a hash of its own. */
static __always_inline __u64 python_file_hash(struct script_walk *w, const struct python_process *p,
					      __u64 file)
{
	__u64 hash;

	/* Frames stay as they are while they are read, and those of one file often follow. */
	if (file && file == w->file)
		return w->file_hash;
	hash = python_text_hash(w, file, 0);
	w->file_hashed = w->head[1] != ~0ULL;
	if (!w->file_hashed)
		hash = script_hash_end(w, file + p->text_ascii, w->head[0], hash);
	w->file = file;
	w->file_hash = hash;
	return hash;
}

/* The length of a bytes object, and its beginning, in one read. */
static __always_inline __u64 python_table_hash(struct script_walk *w, __u64 table, __u64 hash)
{
	__u64 length;

	if (WALK_READ_USER(w->table, sizeof(w->table), table + PYTHON_TEXT_LENGTH))
		return hash;
	length = w->table[0];
	hash = script_mix(hash, length);
	for (__u64 i = 0; i < PYTHON_TABLE_WORDS; i++) {
		__u64 word = w->table[2 + i];

		if (8 * i >= length)
			break;
		/* What is after its end is not its own. */
		if (length - 8 * i < 8)
			word &= (1ULL << 8 * (length - 8 * i)) - 1;
		hash = script_mix(hash, word);
	}
	return hash;
}

/*
 * Strings that nobody has looked up have no hash, as the file name of code that a program has
 * compiled by itself. Such code comes and goes; so the end of the file name is read, and the
 * beginning of the line table.
 */
static __always_inline __u64 python_hash_texts(struct script_walk *w,
					       const struct python_process *p, __u64 hash)
{
	__u64 file = script_word(w, p->code_file);
	__u64 table = script_word(w, p->code_table);

	hash = python_text_hash(w, script_word(w, p->code_name), hash);
	hash = script_mix(hash, python_file_hash(w, p, file));
	return w->file_hashed ? hash : python_table_hash(w, table, hash);
}

/* A hash that identifies the code object, which is read; 0: it is not readable. */
static __always_inline __u64 python_identity(struct script_walk *w, const struct python_process *p,
					     __u64 code)
{
	__u64 hash = code * SCRIPT_HASH_CODE + w->process * PYTHON_HASH_PROCESS;
	__u32 bytes = p->code_bytes;

	if (bytes > PYTHON_CODE_BYTES)
		bytes = PYTHON_CODE_BYTES;
	if (WALK_READ_USER(w->words, bytes, code + p->code_start))
		return 0;
	hash += script_word(w, p->cookie[0]) * PYTHON_HASH_0 +
		script_word(w, p->cookie[1]) * PYTHON_HASH_1 +
		script_word(w, p->cookie[2]) * PYTHON_HASH_2 +
		script_word(w, p->cookie[3]) * PYTHON_HASH_3;
	hash = script_mix(hash, hash >> 32);
	if (p->version == PYTHON_NONE || !script_int(w, p->version))
		hash = python_hash_texts(w, p, hash);
	return hash ? hash : 1;
}

/* The identity of the frame's code object, as remembered or else read; 0: it is not readable. */
static __always_inline void python_identify(struct script_walk *w, const struct python_process *p,
					    struct script_found *f)
{
	f->tag = script_tag(w, f->code);
	if (!script_recall(w, f))
		f->identity = python_identity(w, p, f->code);
}

/* Reads the frame at w->frame and goes on to the next one. Not 0: it is not readable. */
static __always_inline int python_read(struct script_walk *w, const struct python_process *p,
				       struct script_found *f)
{
	/* From 3.11 on the leaf is on top. */
	if (script_look_down(w, p->frame_bytes, p->window))
		return -1;
	/* Since 3.14 the lowest bits say whether the frame counts as an owner of its code. */
	f->code = script_frame_word(w, p->frame_code) & ~7ULL;
	f->marks_base = 0;
	f->hidden = f->marks_last = p->entry == PYTHON_ENTRY_SHIM &&
				    script_frame_byte(w, p->frame_entry) == p->owner;
	w->frame = script_frame_word(w, p->frame_back);
	if (f->marks_last)
		return 0;
	f->identity = 0;
	if (!(f->code >> SCRIPT_ADDRESS_BITS))
		python_identify(w, p, f);
	f->position = f->identity >> SCRIPT_POSITION_BITS << SCRIPT_POSITION_BITS |
		      python_position(w, p, f->code);
	f->code &= SCRIPT_CODE;
	if (p->entry == PYTHON_ENTRY_EACH ||
	    (p->entry == PYTHON_ENTRY_FLAG && script_frame_byte(w, p->frame_entry) == 1))
		f->code |= SCRIPT_ENTRY;
	return 0;
}

/* Where a str object's text is. */
static __always_inline void python_find_text(struct script_walk *w, const struct python_process *p,
					     struct script_text *t, __u64 address)
{
	__u32 state;
	__u64 bytes;

	script_no_text(t, address);
	if (WALK_READ_USER(w->head, 24, address + PYTHON_TEXT_LENGTH))
		return;
	state = (__u32)w->head[2];
	t->width = state >> 2 & 7;
	/* 0x20: compact, the characters follow; 0x40: ASCII. */
	if (!(state & 0x20) || (t->width != 1 && t->width != 2 && t->width != 4) ||
	    w->head[0] > 0xffffff) {
		t->width = 0;
		return;
	}
	bytes = w->head[0] * t->width;
	t->bytes = (__u32)bytes;
	t->data = address + (state & 0x40 ? p->text_ascii : p->text_others);
}

static __always_inline void python_find_table(struct script_walk *w, struct script_text *t,
					      __u64 address)
{
	script_no_text(t, address);
	if (WALK_READ_USER(w->head, 8, address + PYTHON_TEXT_LENGTH) || w->head[0] > 0xffffff)
		return;
	t->bytes = (__u32)w->head[0];
	t->data = address + PYTHON_BYTES_DATA;
	t->width = 1;
}

/*
 * Fills in w->name for the code object of that frame, the one that was read last. Not 0: it is no
 * code object, or not readable.
 */
static __always_inline int python_name(struct script_walk *w, const struct python_process *p,
				       const struct script_found *f)
{
	struct script_name *n = script_name_of(w, f);

	/* Its words are read, or read again where its identity was known. */
	if (python_identity(w, p, n->code) != f->identity ||
	    WALK_READ_USER(&w->type, sizeof(w->type), n->code + PYTHON_CODE_TYPE) ||
	    w->type != p->code_type)
		return -1;
	n->table_kind = p->table;
	n->line = script_int(w, p->code_line);
	python_find_text(w, p, &n->name, script_word(w, p->code_name));
	python_find_text(w, p, &n->file, script_word(w, p->code_file));
	python_find_table(w, &n->table, script_word(w, p->code_table));
	script_capture_all(n);
	return 0;
}

#endif
