/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_RUNTIMES_PHP_BPF_H
#define BPF_RUNTIMES_PHP_BPF_H

/*
 * The frames of PHP 8.1 to 8.4. The executor's globals point to the latest frame, and each frame
 * to its caller's (zend_compile.h). Frames are of functions in PHP, of files and code that eval()
 * is given, and of functions in C.
 *
 * All of these may be freed, and others take their places: closures whenever they have been called,
 * the rest with the request at the latest. So the texts themselves identify a function: its own
 * name, that of its class and that of its file, by what of them one read gets, and their ends. The
 * hashes that PHP keeps in its strings alone would not do, as names that differ in two letters may
 * have the same.
 */

#include "bpf/abi/php.h"
#include "bpf/runtimes/script_walk.bpf.h"

/* struct _zend_execute_data */
#define PHP_FRAME_BYTES 56
#define PHP_FRAME_INSTRUCTION 0
#define PHP_FRAME_FUNCTION 24
#define PHP_FRAME_INFO 40
#define PHP_FRAME_BACK 48
#define PHP_FRAME_TOP 0x20000 /* the last frame of one call of execute_ex() */

/* union _zend_function: its beginning */
#define PHP_FUNCTION_NAME 8
#define PHP_FUNCTION_CLASS 16
#define PHP_FUNCTION_HEAD 96 /* what there is at least of one in C, with what it runs */
#define PHP_FUNCTION_BYTES 184
#define PHP_IN_C 1
#define PHP_IN_PHP 2
#define PHP_EVAL 4

#define PHP_CLASS_NAME 8

/* struct _zend_op */
#define PHP_INSTRUCTION_BYTES 32
#define PHP_INSTRUCTION_NUMBER 20 /* where it calls a function without a frame: which one */
#define PHP_INSTRUCTION_LINE 24
#define PHP_FRAMELESS 204 /* the first of the kinds that do so: by the number of arguments */
#define PHP_FRAMELESS_KINDS 4

/* struct _zend_string */
#define PHP_STRING_HASH 8
#define PHP_STRING_LENGTH 16
#define PHP_STRING_TEXT 24
#define PHP_STRING_BYTES 128 /* that are read at once: all of most strings */
#define PHP_TEXT_WORDS ((PHP_STRING_BYTES - PHP_STRING_TEXT) / 8)
#define PHP_STRING 6
#define PHP_STRING_FLAGS 0xff0 /* that its type may have besides */

/* The first frame of the process: 0, or what could not be read. */
static __always_inline int php_begin(struct script_walk *w, const struct php_process *p,
				     const struct script_thread *t)
{
	script_walk_begin(w, t);
	w->last.code = 0;
	w->epoch = script_look_epoch(w);
	return WALK_READ_USER(&w->frame, sizeof(w->frame), p->current) ? -1 : 0;
}

/* -------- texts -------- */

/*
 * Reads the beginning of a string into w->values: PHP_STRING_BYTES, or PHP_STRING_TEXT if the
 * memory ends before; how many is in w->values_bytes. Not 0: it is none. One that was freed has a
 * pointer where its type was.
 */
static __always_inline int php_string(struct script_walk *w, __u64 string)
{
	if (!string || string & 7)
		return -1;
	w->values_bytes = PHP_STRING_BYTES;
	if (WALK_READ_USER(w->values, PHP_STRING_BYTES, string)) {
		w->values_bytes = PHP_STRING_TEXT;
		if (WALK_READ_USER(w->values, PHP_STRING_TEXT, string))
			return -1;
	}
	return (w->values[0] >> 32 & ~(__u64)PHP_STRING_FLAGS) != PHP_STRING;
}

/* Finds the text of a string, or none. */
static __always_inline void php_find_text(struct script_walk *w, struct script_text *t,
					  __u64 string)
{
	script_no_text(t, string);
	if (php_string(w, string) || w->values[PHP_STRING_LENGTH / 8] > 0xffffff)
		return;
	t->bytes = (__u32)w->values[PHP_STRING_LENGTH / 8];
	t->data = string + PHP_STRING_TEXT;
	t->width = SCRIPT_UTF8;
}

/* The text in w->values, which goes on after these words if it is longer. */
static __always_inline __u64 php_hash_words(struct script_walk *w, __u64 length, __u64 hash)
{
	__u64 *text = &w->values[PHP_STRING_TEXT / 8];

	/* What is after its end is not its own. */
	if (length < 8 * PHP_TEXT_WORDS)
		text[length / 8 & 15] &= (1ULL << 8 * (length & 7)) - 1;
	for (__u64 i = 0; i < PHP_TEXT_WORDS && 8 * i < length; i++)
		hash = script_mix(hash, text[i]);
	return hash;
}

/* A hash of a string; `hash` 0, or one that is none: 0. */
SCRIPT_GLOBAL __u64 php_hash_text(struct script_walk *w, __u64 string, __u64 hash)
{
	__u64 length;

	if (!w || !hash || php_string(w, string))
		return 0;
	length = w->values[PHP_STRING_LENGTH / 8];
	hash = script_mix(script_mix(hash, length), w->values[PHP_STRING_HASH / 8]);
	if (w->values_bytes == PHP_STRING_BYTES) {
		hash = php_hash_words(w, length, hash);
		if (length <= 8 * PHP_TEXT_WORDS)
			return hash;
	} else if (length > SCRIPT_END_BYTES) {
		hash = script_hash_bytes(w, string + PHP_STRING_TEXT, SCRIPT_END_BYTES, hash);
	}
	return script_hash_end(w, string + PHP_STRING_TEXT, length, hash);
}

/* Where the name of the class is; 0: not readable. */
static __always_inline __u64 php_class_name(__u64 class)
{
	__u64 name = 0;

	return WALK_READ_USER(&name, sizeof(name), class + PHP_CLASS_NAME) ? 0 : name;
}

/* -------- what identifies code -------- */

/* Reads a function, into w->words. Not 0: it is none, or not readable. */
static __always_inline int php_read_function(struct script_walk *w, __u64 function)
{
	/* One in C is shorter, and may end with the memory. */
	if (function & 7 || (WALK_READ_USER(w->words, PHP_FUNCTION_BYTES, function) &&
			     WALK_READ_USER(w->words, PHP_FUNCTION_HEAD, function)))
		return -1;
	w->type = script_word(w, 0) & 0xff;
	return w->type != PHP_IN_C && w->type != PHP_IN_PHP && w->type != PHP_EVAL;
}

static __always_inline __u64 php_hash_file(struct script_walk *w, __u64 file, __u64 hash)
{
	/* Frames stay as they are while they are read, and those of one file often follow. */
	if (!file || file != w->file) {
		w->file = file;
		w->file_hash = php_hash_text(w, file, ~w->process);
	}
	return w->file_hash ? script_mix(hash, w->file_hash) : 0;
}

/*
 * A hash that identifies the function in w->words; 0: a part of it is not readable. The lowest bits
 * are free for a line.
 */
static __always_inline __u64 php_hash_function(struct script_walk *w, const struct php_process *p,
					       __u64 function)
{
	__u64 hash = script_mix(script_mix(w->process, function), w->type) | 1;
	__u64 name = script_word(w, PHP_FUNCTION_NAME), class = script_word(w, PHP_FUNCTION_CLASS);

	/* Files have no name of their own. */
	if (name || w->type == PHP_IN_C)
		hash = php_hash_text(w, name, hash);
	if (class)
		hash = php_hash_text(w, php_class_name(class), hash);
	if (hash && w->type != PHP_IN_C) {
		hash = script_mix(hash, script_int(w, p->function_file + 8));
		hash = php_hash_file(w, script_word(w, p->function_file), hash);
	}
	return hash & ~SCRIPT_POSITION;
}

static __always_inline __u64 php_identity(struct script_walk *w, const struct php_process *p,
					  __u64 function)
{
	return php_read_function(w, function) ? 0 : php_hash_function(w, p, function);
}

/* Whether that is an instruction of the function in w->words. */
static __always_inline int php_has(const struct script_walk *w, const struct php_process *p,
				   __u64 instruction)
{
	__u64 offset = instruction - script_word(w, p->function_code);

	return w->type != PHP_IN_C &&
	       offset / PHP_INSTRUCTION_BYTES < script_int(w, p->function_last);
}

/* The line of the frame that was read last, of the function in w->words; 0: not known. */
static __always_inline __u32 php_line(struct script_walk *w, const struct php_process *p)
{
	__u32 line = w->line;

	if (!php_has(w, p, w->instruction) ||
	    (!line && WALK_READ_USER(&line, sizeof(line), w->instruction + PHP_INSTRUCTION_LINE)))
		return 0;
	return line > SCRIPT_POSITION ? 0 : line;
}

/* -------- frames -------- */

/* Whether a frame of the loop that is at `at` calls a function without a frame for it. */
static __always_inline int php_calls(const struct php_process *p, __u64 at)
{
	for (__u64 i = 0; i < PHP_FRAMELESS_CALLS; i++)
		if (p->frameless_calls[i] &&
		    p->frameless + (__u64)(__s64)p->frameless_calls[i] == at)
			return 1;
	return 0;
}

/*
 * The function in C that the frame which was read last calls without a frame for it, as some
 * instructions of 8.4 do; 0: none. The frame's own function is in w->words.
 */
static __always_inline __u64 php_frameless(struct script_walk *w, const struct php_process *p)
{
	__u32 words[3] = { 0 }; /* its number, the line, and of which kind the instruction is */
	__u64 functions = 0, function = 0;

	if (!p->frameless || !php_has(w, p, w->instruction) ||
	    WALK_READ_USER(words, sizeof(words), w->instruction + PHP_INSTRUCTION_NUMBER))
		return 0;
	w->line = words[1];
	if ((words[2] & 0xff) - PHP_FRAMELESS >= PHP_FRAMELESS_KINDS ||
	    WALK_READ_USER(&functions, sizeof(functions), p->frameless) ||
	    WALK_READ_USER(&function, sizeof(function), functions + 8ULL * words[0]))
		return 0;
	return function >> SCRIPT_ADDRESS_BITS ? 0 : function;
}

/*
 * Reads the frame at w->frame and goes on to the next one, or has it stand for a function that it
 * calls without a frame, and stays. Unless its identity is remembered, it is left to
 * php_identify(). Not 0: it is not readable.
 */
static __always_inline int php_read(struct script_walk *w, const struct php_process *p,
				    struct script_found *f)
{
	__u64 above = f->code & SCRIPT_CODE, frame = w->frame, called = 0, mark = 0;

	if (script_look_down(w, PHP_FRAME_BYTES, SCRIPT_WINDOW_BYTES))
		return -1;
	f->code = script_frame_word(w, PHP_FRAME_FUNCTION);
	f->position = f->identity = f->known = 0;
	f->hidden = f->marks_last = f->marks_base = 0;
	w->instruction = script_frame_word(w, PHP_FRAME_INSTRUCTION);
	w->line = 0;
	w->frame = script_frame_word(w, PHP_FRAME_BACK);
	/* A generator that another one is to go on with. */
	if (!f->code) {
		f->hidden = 1;
		return 0;
	}
	if (f->code >> SCRIPT_ADDRESS_BITS || php_read_function(w, f->code))
		return -1;
	/* What a fiber begins with, and what is called for a class that has no constructor. */
	f->hidden = w->type == PHP_IN_C && !script_word(w, PHP_FUNCTION_NAME);
	f->marks_base = f->hidden && !script_word(w, p->function_handler);
	/*
	 * The loop writes it into the frame before what may call or fail only: what the leaf has
	 * may be long ago.
	 */
	if (php_has(w, p, w->leaf))
		w->instruction = w->leaf;
	if (w->calls || w->callers || w->instruction == w->leaf)
		called = php_frameless(w, p);
	/* It has a frame all the same if an extension observes calls. */
	if (called && called != above) {
		w->frame = frame;
		f->code = called;
		f->hidden = php_read_function(w, called) != 0;
		mark = w->callers ? 0 : SCRIPT_FRAMELESS;
	} else {
		w->leaf = 0;
		w->callers = 1;
	}
	f->tag = script_tag(w, f->code + w->instruction * SCRIPT_HASH_CODE);
	script_recall(w, f);
	f->position = f->identity;
	f->code |= mark;
	if (w->type != PHP_IN_C && script_frame_int(w, PHP_FRAME_INFO) & PHP_FRAME_TOP)
		f->code |= SCRIPT_ENTRY;
	return 0;
}

/* The identity of what the frame that was read last runs, over its line. */
static __always_inline void php_identify(struct script_walk *w, const struct php_process *p,
					 struct script_found *f)
{
	f->identity = php_hash_function(w, p, f->code & SCRIPT_CODE);
	if (f->identity)
		f->identity |= php_line(w, p);
	f->position = f->identity;
}

/* Finds the texts of the function in w->words, for w->name. */
static __always_inline void php_find_texts(struct script_walk *w, const struct php_process *p)
{
	__u64 class = script_word(w, PHP_FUNCTION_CLASS);
	struct script_name *n = &w->name;

	php_find_text(w, &n->name, script_word(w, PHP_FUNCTION_NAME));
	php_find_text(w, &n->table, class ? php_class_name(class) : 0);
	php_find_text(w, &n->file, w->type == PHP_IN_C ? 0 : script_word(w, p->function_file));
	n->line = w->type == PHP_IN_C ? 0 : script_int(w, p->function_file + 8);
}

/*
 * Fills in w->name for the function of that frame, the one that was read and identified last, and
 * so is still in w->words. Not 0: a part of it is not readable.
 */
static __always_inline int php_name(struct script_walk *w, const struct php_process *p,
				    const struct script_found *f)
{
	struct script_name *n = script_name_of(w, f);

	if (!f->identity)
		return -1;
	n->table_kind = SCRIPT_POSITION_IS_LINE;
	php_find_texts(w, p);
	script_capture_all(n);
	return 0;
}

#endif
