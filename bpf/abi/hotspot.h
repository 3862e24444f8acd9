/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_HOTSPOT_H
#define BPF_ABI_HOTSPOT_H

/*
 * Java processes whose virtual machine is HotSpot: what the recorder finds in the tables that
 * libjvm.so exports about itself (gHotSpotVMStructs and its sisters), and the kernel half needs
 * to walk through the code that the machine has made.
 *
 * All such code lies in the code cache, in up to four heaps. A heap is divided into segments of
 * 1 << segment_shift bytes, and its segment map has one byte for each: how many segments to go
 * back towards the first segment of the block, 0 for the first one itself, 255 where nothing
 * is. A block is a header and a CodeBlob: the interpreter, a compiled method (nmethod) or a stub.
 */

#include <linux/types.h>

#define HOTSPOT_HEAPS 4
#define HOTSPOT_SYMBOL_WORDS 5

/*
 * Some fields of CodeBlob and nmethod are 32-bit offsets from the blob, not addresses (JDK 8, and
 * since 23).
 */
#define HOTSPOT_OFFSETS 1
/* CodeBlob::_frame_complete_offset has 16 bits, not 32. */
#define HOTSPOT_SHORT_COMPLETE 2
/* An nmethod has one place to deoptimize at; earlier ones have a second for method handles. */
#define HOTSPOT_ONE_HANDLER 4

/* A piece of the interpreter, counted from its beginning. */
struct hotspot_piece {
	__u32 start, size;
};

/* The parameters of a struct script_process. Offsets are in bytes, sizes too. */
struct hotspot_process {
	__u64 low[HOTSPOT_HEAPS];     /* where the heaps begin, in order; 0: no more of them */
	__u64 segmaps[HOTSPOT_HEAPS]; /* where their segment maps are */
	__u64 high;		      /* where the code cache ends */
	__u64 interpreter;	      /* the interpreter's code */
	__u64 call_stub_return;	      /* where calls from the machine into Java come back to */
	__u32 interpreter_size;
	__u32 id;		      /* differs between any two processes */
	struct hotspot_piece entries; /* what runs before a method has its frame */
	/* Those of them that call nothing before: of methods in Java, and of native ones. */
	struct hotspot_piece framed, framed_native;
	/* nmethod */
	__u16 compile_id, orig_pc, deopt_handler;
	/* CodeBlob */
	__u8 name, frame_size, frame_complete, code_begin, code_end;
	__u8 segment_shift, block_header;
	__u8 flags;
	/* the way from a Method to the names that identify it */
	__u8 const_method;
	__u8 constants, name_index, const_method_size; /* ConstMethod */
	__u8 holder, pool_size;			       /* ConstantPool */
	__u8 klass_name;			       /* Klass */
	__u8 symbol_length_shift, symbol_body;	       /* the former in its first word */
	__s8 bcp;				       /* from the frame pointer, in words */
};

_Static_assert(sizeof(struct hotspot_process) <= 144, "it has to fit into a script_process");

/*
 * A struct script_frame of Java:
 *   compiled     code: the nmethod                    position: compile id << 32 | pc - its code
 *   interpreted  code: the Method | HOTSPOT_METHOD    position: cookie << 32 | bytecode index
 *   a stub       code: the CodeBlob | HOTSPOT_STUB    position: pc - its code
 * The compile id is never used twice. The cookie is made of the names of method and class and
 * of where they are (hotspot_cookie()), because memory of unloaded classes is used again.
 */
#define HOTSPOT_METHOD 1ULL
#define HOTSPOT_STUB 2ULL
#define HOTSPOT_CODE (~7ULL)
#define HOTSPOT_NO_INDEX 0xffffffffU /* the bytecode index is not known */

/* What identifies an interpreted method; of the names, the length and the first characters. */
struct hotspot_identity {
	__u64 const_method;
	__u64 class_symbol, class_name[HOTSPOT_SYMBOL_WORDS];
	__u64 method_symbol, method_name[HOTSPOT_SYMBOL_WORDS];
};

/*
 * A symbol as read, without what changes while it lives: its reference count, which is the
 * lowest 16 bits unless the length is, and the memory after it.
 */
static inline void hotspot_symbol_settle(__u64 *words, const struct hotspot_process *p)
{
	__u32 bytes = p->symbol_body + (__u32)(words[0] >> (p->symbol_length_shift & 63) & 0xffff);

	for (__u32 i = 0; i < HOTSPOT_SYMBOL_WORDS; i++) {
		if (bytes <= 8 * i)
			words[i] = 0;
		else if (bytes < 8 * i + 8)
			words[i] &= (1ULL << ((bytes - 8 * i) * 8 & 63)) - 1;
	}
	words[0] &= p->symbol_length_shift ? ~0xffffULL : ~0xffff0000ULL;
}

static inline __u32 hotspot_cookie(const struct hotspot_identity *identity)
{
	const __u64 *words = (const __u64 *)identity;
	__u64 hash = 0;

	for (unsigned int i = 0; i < sizeof(*identity) / 8; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return (__u32)(hash ^ hash >> 32);
}

#endif
