/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_STATE_HOTSPOT_STATE_BPF_H
#define BPF_STATE_HOTSPOT_STATE_BPF_H

/* The state of a walk in a Java process, for bpf/runtimes/hotspot_step.bpf.h. */

#include "bpf/abi/hotspot.h"

#define HOTSPOT_CACHE_BITS 10
#define HOTSPOT_CACHE (1 << HOTSPOT_CACHE_BITS)
#define HOTSPOT_METHODS_BITS 6
#define HOTSPOT_METHODS (1 << HOTSPOT_METHODS_BITS)

enum hotspot_kind {
	HOTSPOT_UNKNOWN,
	HOTSPOT_COMPILED,
	HOTSPOT_SIZED_STUB,  /* its frames have a known size */
	HOTSPOT_CALLED_STUB, /* by the machine */
	HOTSPOT_OTHER_STUB,
};

/* The code around a pc. */
struct hotspot_blob {
	__u64 pc;
	__u64 address; /* of the CodeBlob */
	__u64 code;    /* where its code begins */
	__u32 process; /* hotspot_process.id */
	__u32 walk;    /* in which it was looked at last */
	__u32 compile_id;
	__u32 frame_words;
	__u32 complete; /* how far from the beginning frames are complete; negative: nowhere */
	__u32 orig_pc;	/* where frames keep the pc that a deoptimization has replaced */
	__u8 kind;	/* enum hotspot_kind */
	__u8 replaced;	/* pc is not where the frame was, but where it goes to be deoptimized */
};

struct hotspot_method {
	__u64 method; /* 0: none */
	__u64 const_method;
	__u32 cookie;
	__u32 walk; /* in which this was found out */
};

struct hotspot_walk {
	struct hotspot_process process;
	__u64 size;   /* of the code cache, once it is known that there is one */
	__u32 walks;  /* so far */
	__u32 looked; /* in this walk, whether there is one */
	struct hotspot_blob blob;
	__u64 head[16];			  /* of the blob, as read */
	struct hotspot_identity identity; /* of the method that was read last */
	struct hotspot_method methods[HOTSPOT_METHODS];
	struct hotspot_blob cache[HOTSPOT_CACHE];
};

#endif
