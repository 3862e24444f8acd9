/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PYTHON_FIXTURE_H
#define TESTS_UNIT_PYTHON_FIXTURE_H

/* A file that holds an interpreter, as far as it is looked at. */

#include "tests/unit/elf_fixture.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define PYTHON_WORDS 50

/* What _Py_DebugOffsets of CPython 3.13.0 holds, from its file. */
static const uint64_t python_offsets_3_13[PYTHON_WORDS] = {
	0,    0x30d00f0, 0,    283320, 608,  632, 194968, 7272, 7264, 7344, 7400,
	7656, 7640,	 7648, 16,     7752, 0,	  7768,	  7760, 304,  0,    8,
	16,   72,	 152,  160,    232,  32,  80,	  8,	0,    56,   72,
	70,   208,	 112,  120,    128,  136, 68,	  52,	96,   104,  200,
};

enum { SYMBOL_NONE, SYMBOL_RUNTIME, SYMBOL_VERSION, SYMBOL_LOOP, SYMBOL_CODE_TYPE, SYMBOLS };

/* Addresses are offsets in it. */
struct python_image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[SYMBOLS];
	char names[SYMBOLS][32];
	char section_names[32];
	uint64_t runtime[PYTHON_WORDS + 300];
	uint64_t version;
	uint8_t loop[64];
	uint8_t code_type[416];
};

static inline void python_image_build(struct python_image *i, const uint64_t *offsets,
				      uint32_t version)
{
	*i = (struct python_image){ FIXTURE_HEADERS(struct python_image, ""),
				    .sections = { FIXTURE_SECTIONS(struct python_image) },
				    .version = (uint64_t)version << 16 };
	memcpy(i->runtime, offsets, PYTHON_WORDS * sizeof(*offsets));
	memcpy(i->runtime, "xdebugpy", 8);
	FIXTURE_SYMBOL(i, SYMBOL_RUNTIME, "_PyRuntime", offsetof(struct python_image, runtime),
		       sizeof(i->runtime));
	FIXTURE_SYMBOL(i, SYMBOL_VERSION, "Py_Version", offsetof(struct python_image, version), 8);
	FIXTURE_SYMBOL(i, SYMBOL_LOOP, "_PyEval_EvalFrameDefault",
		       offsetof(struct python_image, loop), 64);
	FIXTURE_SYMBOL(i, SYMBOL_CODE_TYPE, "PyCode_Type", offsetof(struct python_image, code_type),
		       416);
}

#endif
