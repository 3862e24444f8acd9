/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVASCRIPT_V8_INLINED_H
#define RECORD_JAVASCRIPT_V8_INLINED_H

/*
 * Which functions a compiler of V8 has inlined in its code, and where: a table says for each
 * instruction which place in the source it comes from, and in which inlined call; a list of these
 * calls says which function each is of, and in which call it was inlined itself. Both are bytes of
 * the process, as the kernel half has copied them, and may say anything.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/v8.h"

#define V8_INLINED_DEPTH 16 /* beyond, code is not resolved */

struct v8_inlined;

/* NULL: nothing is inlined, or the tables are malformed, or there is no memory. */
struct v8_inlined *v8_inlined_new(const struct v8_compilation *compilation);
void v8_inlined_free(struct v8_inlined *inlined);

/* Bytes that it takes. */
size_t v8_inlined_size(const struct v8_inlined *inlined);

/*
 * The functions at an instruction, innermost first, by their numbers in `inner`; `offset` is that
 * of any of its bytes in the code. 0: only the code's own, or it is not known.
 */
size_t v8_inlined_find(const struct v8_inlined *inlined, uint64_t offset,
		       uint32_t functions[V8_INLINED_DEPTH]);

#endif
