/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_RUBY_BPF_H
#define BPF_RUNTIMES_RUBY_BPF_H

/*
 * The frames of Ruby 3.0 and later. A thread's execution context points to its stack of control
 * frames, which lie one beside the other, the leaf first (vm_core.h). A frame is that of a method,
 * block or body in Ruby, whose code is an instruction sequence (iseq), or that of a method in C,
 * whose method entry is in the frame's environment. Both are objects that the collector may free,
 * and others take their places.
 *
 * So what identifies a sequence is read with the frame, and hashed into a cookie: the addresses of
 * all its parts, and the texts of its label and file, since new texts may have the addresses of
 * old ones. A method in C is identified by its symbol, which no other method gets after it.
 */

#include "bpf/abi/ruby.h"
#include "bpf/runtimes/script_walk.bpf.h"

/* struct rb_control_frame_struct */
#define RUBY_FRAME_PC 0
#define RUBY_FRAME_ISEQ 16
#define RUBY_FRAME_ENVIRONMENT 32

/* Words before the environment, up to its flags: the method entry, the block, the flags. */
#define RUBY_ENVIRONMENT 2
#define RUBY_FRAME_FINISH 0x20 /* the last frame of one call of rb_vm_exec() */
#define RUBY_FRAME_CFRAME 0x80 /* no frame of Ruby's code */
#define RUBY_FRAME_KIND 0x7fff0001
#define RUBY_FRAME_CFUNC 0x55550001

/* The first word of any object. */
#define RUBY_TYPE 0x1f
#define RUBY_STRING 0x05
#define RUBY_ARRAY 0x07
#define RUBY_INTERNAL 0x1a
#define RUBY_INTERNAL_KIND(flags) ((flags) >> 12 & 15)
#define RUBY_SPECIAL_VARIABLES 2
#define RUBY_METHOD_ENTRY 6
#define RUBY_SEQUENCE 7
#define RUBY_NOT_EMBEDDED (1 << 13) /* of a string; */
#define RUBY_EMBEDDED (1 << 13)	    /* of an array it says the opposite */
#define RUBY_EMBEDDED_LENGTH(flags) ((flags) >> 14 & 31)
#define RUBY_OBJECT_BYTES 40

/* struct rb_iseq_struct and struct rb_method_entry_struct: where both have what describes them. */
#define RUBY_DESCRIBED 2

/* struct rb_iseq_constant_body */
#define RUBY_BODY_SIZE 4
#define RUBY_BODY_ENCODED 8
#define RUBY_BODY_PATH 64
#define RUBY_BODY_LABEL 80
#define RUBY_BODY_FIRST_LINE 88

#define RUBY_METHOD_SYMBOL 32 /* struct rb_method_definition_struct: original_id */

/* struct succ_index_table: 6 words of 9 positions each, then blocks of 512. */
#define RUBY_INDEX_FIRST 54
#define RUBY_INDEX_BYTES 48
#define RUBY_INDEX_BLOCK 80

/* Symbols are in arrays of so many, two words for each. */
#define RUBY_SYMBOLS 512

/*
 * Code that was on a stack is freed by a collection, which counts what it has freed before anything
 * else can be made there. While the counts stay, what is at an address is what was there.
 */
static __always_inline __u64 ruby_epoch(struct script_walk *w, const struct ruby_process *p,
					__u64 sendings)
{
	__u64 machine, collector;

	if (!p->machine || WALK_READ_USER(&machine, sizeof(machine), p->machine) || !machine ||
	    WALK_READ_USER(&collector, sizeof(collector), machine + p->collector) || !collector ||
	    WALK_READ_USER(&w->ends[0], sizeof(w->ends[0]), collector + p->collections) ||
	    WALK_READ_USER(&w->ends[1], sizeof(w->ends[1]), collector + p->freed))
		return script_look_epoch(w);
	return script_mix(script_mix(w->process + sendings, w->ends[0]), w->ends[1]);
}

/* The first frame of the thread: 0, or what could not be read. */
static __always_inline int ruby_begin(struct script_walk *w, const struct ruby_process *p,
				      const struct script_thread *t)
{
	__u64 modules, storage, context, *at = w->head; /* of its module, in that storage */

	script_walk_begin(w, t);
	/* glibc's vector of modules: a word for the address of each one's storage, and another. */
	if (WALK_READ_USER(at, 16, p->storage) || !at[0] || at[0] >= 4096 ||
	    WALK_READ_USER(&modules, sizeof(modules), t->modules) ||
	    WALK_READ_USER(&storage, sizeof(storage), modules + 16 * at[0]) ||
	    WALK_READ_USER(&context, sizeof(context), storage + at[1]) || !context ||
	    WALK_READ_USER(w->head, 24, context))
		return -1;
	w->epoch = ruby_epoch(w, p, t->sendings);
	/* Its stack, how many words that has, and the latest frame; frames begin at the end. */
	w->lowest = w->head[0];
	w->end = w->head[0] + 8 * w->head[1];
	if ((w->head[2] | w->end) & 7 || w->head[2] < w->head[0] || w->head[2] > w->end ||
	    (w->end - w->head[2]) % p->frame_bytes)
		return -1;
	/* The first one was there before anything ran, and runs nothing. */
	w->end -= p->frame_bytes;
	w->frame = w->head[2] < w->end ? w->head[2] : 0;
	return 0;
}

/* -------- objects -------- */

/* Reads the beginning of an object. Not 0: it is not of that type. */
static __always_inline int ruby_head(struct script_walk *w, __u64 object, __u32 type)
{
	if (object & 7 || WALK_READ_USER(w->head, RUBY_OBJECT_BYTES, object))
		return -1;
	return (w->head[0] & RUBY_TYPE) != type;
}

/* The elements of an array; 0: it is none. */
static __always_inline __u64 ruby_elements(struct script_walk *w, __u64 array)
{
	if (ruby_head(w, array, RUBY_ARRAY))
		return 0;
	return w->head[0] & RUBY_EMBEDDED ? array + 16 : w->head[4];
}

/* Finds the text of a string, whose beginning is then in w->head. t->data 0: it is none. */
static __always_inline void ruby_find_text(struct script_walk *w, const struct ruby_process *p,
					   struct script_text *t, __u64 string)
{
	__u64 length, data;

	script_no_text(t, string);
	if (ruby_head(w, string, RUBY_STRING))
		return;
	length = w->head[2];
	data = string + 24;
	if (w->head[0] & RUBY_NOT_EMBEDDED) {
		data = w->head[3];
	} else if (p->text == RUBY_TEXT_FLAGS) {
		length = RUBY_EMBEDDED_LENGTH(w->head[0]);
		data = string + 16;
	}
	if (length > 0xffffff)
		return;
	t->bytes = (__u32)length;
	t->data = data;
	t->width = SCRIPT_UTF8;
}

/* A string's text: what of it is in the object, or else its beginning and its end. */
static __always_inline __u64 ruby_hash_text(struct script_walk *w, const struct ruby_process *p,
					    struct script_text *t, __u64 string, __u64 hash)
{
	ruby_find_text(w, p, t, string);
	if (!t->data)
		return script_mix(hash, 0);
	hash = script_mix(hash, t->bytes);
	if (t->data + t->bytes - string <= RUBY_OBJECT_BYTES) {
		hash = script_mix(hash, w->head[2]);
		hash = script_mix(hash, w->head[3]);
		return script_mix(hash, w->head[4]);
	}
	if (t->bytes > SCRIPT_END_BYTES)
		hash = script_hash_bytes(w, t->data, SCRIPT_END_BYTES, hash);
	return script_hash_end(w, t->data, t->bytes, hash);
}

/* The path of a sequence, by the object that its body has: a string, or an array that begins with
 * one. */
static __always_inline __u64 ruby_path(struct script_walk *w, __u64 object)
{
	__u64 elements = ruby_elements(w, object), path = 0;

	if (!elements)
		return object;
	return WALK_READ_USER(&path, sizeof(path), elements) ? 0 : path;
}

/* The string of a symbol; 0: not readable. */
static __always_inline __u64 ruby_symbol(struct script_walk *w, const struct ruby_process *p,
					 __u64 symbol)
{
	__u64 number = symbol > p->last_operator ? symbol >> 4 : symbol, at = 0, elements;

	/* rb_symbols_t: the last one's number, a table, and the array of arrays. */
	if (number >> 32 || WALK_READ_USER(&at, sizeof(at), p->symbols + 16))
		return 0;
	elements = ruby_elements(w, at);
	if (!elements || WALK_READ_USER(&at, sizeof(at), elements + 8 * (number / RUBY_SYMBOLS)))
		return 0;
	elements = ruby_elements(w, at);
	if (!elements ||
	    WALK_READ_USER(&at, sizeof(at), elements + 16 * (number & (RUBY_SYMBOLS - 1))))
		return 0;
	return at;
}

/* -------- what identifies code -------- */

static __always_inline __u64 ruby_hash_file(struct script_walk *w, const struct ruby_process *p,
					    __u64 object)
{
	/* Frames stay as they are while they are read, and those of one file often follow. */
	if (!object || object != w->file) {
		w->file = object;
		w->file_hash = ruby_hash_text(w, p, &w->name.file, ruby_path(w, object), 0);
	}
	return w->file_hash;
}

/* Of a sequence whose body is at `body`. */
static __always_inline __u64 ruby_hash_body(struct script_walk *w, const struct ruby_process *p,
					    __u64 body, __u64 hash)
{
	if (WALK_READ_USER(w->words, RUBY_BODY_BYTES, body))
		return 0;
	hash = script_mix(hash, body);
	hash = script_mix(hash, script_word(w, 0)); /* its kind, and how many instructions */
	hash = script_mix(hash, script_word(w, RUBY_BODY_ENCODED));
	hash = script_mix(hash, script_word(w, RUBY_BODY_FIRST_LINE));
	hash = script_mix(hash, script_word(w, p->body_lines));
	hash = ruby_hash_text(w, p, &w->name.name, script_word(w, RUBY_BODY_LABEL), hash);
	return script_mix(hash, ruby_hash_file(w, p, script_word(w, RUBY_BODY_PATH)));
}

/*
 * A hash that identifies the code, a sequence or what leads to a method entry, whose description is
 * then in w->words; 0: it is neither, or not readable. The lowest bits are free for a position.
 */
static __always_inline __u64 ruby_identity(struct script_walk *w, const struct ruby_process *p,
					   __u64 code)
{
	__u64 hash = script_mix(w->process, code);

	if (ruby_head(w, code, RUBY_INTERNAL))
		return 0;
	w->type = RUBY_INTERNAL_KIND(w->head[0]);
	if (w->type == RUBY_SEQUENCE)
		return ruby_hash_body(w, p, w->head[RUBY_DESCRIBED], hash) & ~SCRIPT_POSITION;
	if (w->type == RUBY_SPECIAL_VARIABLES) {
		if (ruby_head(w, w->head[1], RUBY_INTERNAL))
			return 0;
		w->type = RUBY_INTERNAL_KIND(w->head[0]);
	}
	if (w->type != RUBY_METHOD_ENTRY ||
	    WALK_READ_USER(w->words, RUBY_METHOD_SYMBOL + 8, w->head[RUBY_DESCRIBED]))
		return 0;
	return script_mix(~hash, script_word(w, RUBY_METHOD_SYMBOL)) & ~SCRIPT_POSITION;
}

/* -------- lines -------- */

static __always_inline __u32 ruby_count_bits(__u64 word)
{
	word -= word >> 1 & 0x5555555555555555ULL;
	word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (__u32)(word * 0x0101010101010101ULL >> 56);
}

/* How many entries of the table of lines begin at that position or before it; 0: not readable. */
static __always_inline __u32 ruby_entries(struct script_walk *w, __u64 index, __u64 position)
{
	__u64 word, block, bit = position - RUBY_INDEX_FIRST, small;

	if (position < RUBY_INDEX_FIRST) {
		if (WALK_READ_USER(&word, sizeof(word), index + 8 * (position / 9)))
			return 0;
		return word >> 7 * (position % 9) & 0x7f;
	}
	/* A block: entries before it, those before its words, 9 bits each, and its bits. */
	block = index + RUBY_INDEX_BYTES + RUBY_INDEX_BLOCK * (bit / 512);
	small = bit % 512 / 64;
	if (WALK_READ_USER(w->head, 16, block) ||
	    WALK_READ_USER(&word, sizeof(word), block + 16 + 8 * small))
		return 0;
	return (__u32)w->head[0] + (small ? w->head[1] >> 9 * (small - 1) & 0x1ff : 0) +
	       ruby_count_bits(word << (63 - bit % 64));
}

/* The line at an instruction of the sequence whose body is in w->words; 0: not known. */
static __always_inline __u32 ruby_line(struct script_walk *w, const struct ruby_process *p,
				       __u64 pc)
{
	__u64 position = (pc - script_word(w, RUBY_BODY_ENCODED)) >> 3;
	__u32 lines = script_int(w, p->body_lines + 16), entry = 1, line = 0;

	/* It is that of the next instruction. */
	if (position)
		position--;
	if (position >= script_int(w, RUBY_BODY_SIZE))
		return 0;
	if (lines > 1)
		entry = ruby_entries(w, script_word(w, p->body_lines + 24), position);
	if (!entry || entry > lines ||
	    WALK_READ_USER(&line, sizeof(line),
			   script_word(w, p->body_lines) + (__u64)p->line_bytes * (entry - 1)))
		return 0;
	return line > SCRIPT_POSITION ? 0 : line;
}

/* -------- frames -------- */

/* Has the window hold the frame at w->frame. Not 0: it is not readable. */
static __always_inline int ruby_look(struct script_walk *w, const struct ruby_process *p)
{
	__u64 bytes = w->end - w->frame;

	if (script_window_holds(w, p->frame_bytes))
		return 0;
	return script_window_read(w, w->frame,
				  bytes < SCRIPT_WINDOW_BYTES ? bytes : SCRIPT_WINDOW_BYTES);
}

/* Reads the window of values anew, from there on. Not 0: it is not readable. */
static __always_inline int ruby_read_values(struct script_walk *w, __u64 start, __u64 bytes)
{
	w->values_bytes = 0;
	if (bytes > sizeof(w->values) || WALK_READ_USER(w->values, bytes, start))
		return -1;
	w->values_start = start;
	w->values_bytes = (__u32)bytes;
	return 0;
}

/*
 * Has the window hold the end of an environment. Mostly it is on the thread's stack, and those of
 * callers are below it. Not 0: it is not readable.
 */
static __always_inline int ruby_look_at_environment(struct script_walk *w, __u64 at)
{
	__u64 end = at + 8 * (RUBY_ENVIRONMENT + 1), start = end - SCRIPT_WINDOW_BYTES;
	__u64 offset = at - w->values_start;

	if (at & 7)
		return -1;
	if (offset >= SCRIPT_WINDOW_BYTES || offset + (end - at) > w->values_bytes) {
		if (start < w->lowest)
			start = w->lowest;
		if (at < w->lowest || end > w->end || ruby_read_values(w, start, end - start))
			if (ruby_read_values(w, at, end - at))
				return -1;
	}
	w->values_at = (__u32)(at - w->values_start) / 8;
	return 0;
}

/* A word of that environment. */
static __always_inline __u64 ruby_environment(const struct script_walk *w, __u32 i)
{
	return w->values[(w->values_at + i) & (SCRIPT_WINDOW_BYTES / 8 - 1)];
}

/*
 * Reads the frame at w->frame and goes on to the next one. Unless its identity is remembered, it is
 * left to ruby_identify(). Not 0: it is not readable.
 */
static __always_inline int ruby_read(struct script_walk *w, const struct ruby_process *p,
				     struct script_found *f)
{
	__u64 pc, flags;

	if (ruby_look(w, p))
		return -1;
	f->code = script_frame_word(w, RUBY_FRAME_ISEQ);
	pc = script_frame_word(w, RUBY_FRAME_PC);
	if (ruby_look_at_environment(w, script_frame_word(w, RUBY_FRAME_ENVIRONMENT) -
						8 * RUBY_ENVIRONMENT))
		return -1;
	flags = ruby_environment(w, RUBY_ENVIRONMENT);
	w->frame += p->frame_bytes;
	if (w->frame >= w->end)
		w->frame = 0;
	/* What is called with a block in C, or nothing at all, as at the root. */
	f->hidden = f->code ? !pc : (flags & RUBY_FRAME_KIND) != RUBY_FRAME_CFUNC;
	f->marks_base = 0;
	f->marks_last = (flags & (RUBY_FRAME_FINISH | RUBY_FRAME_CFRAME)) == RUBY_FRAME_FINISH;
	if (!f->code)
		f->code = ruby_environment(w, 0);
	f->tag = script_tag(w, f->code + pc * SCRIPT_HASH_CODE);
	script_recall(w, f);
	f->position = f->identity;
	f->code &= SCRIPT_CODE;
	if (f->marks_last)
		f->code |= SCRIPT_ENTRY;
	return 0;
}

/* The identity of what the frame that was read last runs, over its line. */
static __always_inline void ruby_identify(struct script_walk *w, const struct ruby_process *p,
					  struct script_found *f)
{
	f->identity = ruby_identity(w, p, f->code & SCRIPT_CODE);
	if (f->identity && w->type == RUBY_SEQUENCE)
		f->identity |= ruby_line(w, p, script_frame_word(w, RUBY_FRAME_PC));
	f->position = f->identity;
}

/* Finds the texts of the code whose description is in w->words, for w->name. */
static __always_inline void ruby_find_texts(struct script_walk *w, const struct ruby_process *p)
{
	struct script_name *n = &w->name;

	script_no_text(&n->file, 0);
	script_no_text(&n->table, 0);
	if (w->type == RUBY_SEQUENCE) {
		ruby_find_text(w, p, &n->name, script_word(w, RUBY_BODY_LABEL));
		ruby_find_text(w, p, &n->file, ruby_path(w, script_word(w, RUBY_BODY_PATH)));
		n->line = script_int(w, RUBY_BODY_FIRST_LINE) >> p->first_line_shift;
	} else {
		ruby_find_text(w, p, &n->name,
			       ruby_symbol(w, p, script_word(w, RUBY_METHOD_SYMBOL)));
		n->line = 0;
	}
}

/*
 * Fills in w->name for the code of that frame, the one that was read last. Not 0: it is no code, or
 * not readable.
 */
static __always_inline int ruby_name(struct script_walk *w, const struct ruby_process *p,
				     const struct script_found *f)
{
	struct script_name *n = script_name_of(w, f);

	if (!f->identity || ruby_identity(w, p, n->code) != n->cookie)
		return -1;
	n->table_kind = SCRIPT_POSITION_IS_LINE;
	ruby_find_texts(w, p);
	script_capture_all(n);
	return 0;
}

#endif
