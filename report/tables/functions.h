/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_FUNCTIONS_H
#define REPORT_TABLES_FUNCTIONS_H

/*
 * The functions that the frames of one or several profiles belong to. Frames may differ by line and
 * address, while most formats list each function once and draw it as one box. Starts as { 0 },
 * apart from `keys`.
 */

#include "common/buffer.h"
#include "common/map.h"
#include "report/profile/profile.h"

/* What distinguishes functions besides name, kind, inlined and waker: bits. */
enum functions_key {
	FUNCTIONS_BY_OBJECT = 1 << 0,
	FUNCTIONS_BY_FILE = 1 << 1,
};

/* Text stays as long as the profiles do. */
struct function {
	const char *name;
	const char *linkage_name; /* of the first frame met; "" when there is none */
	const char *object;	  /* its name; "" for none */
	const char *file;	  /* the first that is known; "" for none */
	uint32_t line; /* where it is declared, or else its first line met; 0: not known */
	uint8_t kind;  /* enum profile_frame_kind */
	bool inlined;
	bool waker;
};

struct functions {
	unsigned int keys; /* enum functions_key; set before the first use */
	struct function *list;
	size_t count, capacity;
	struct map index;
	struct buffer key;
};

void functions_release(struct functions *f);

/* Adds the functions of all frames of a profile; of_frame[i] is that of frames[i]. ERROR_MEMORY. */
struct error *functions_add(struct functions *f, const struct profile *p,
			    uint32_t **of_frame) ERROR_CHECKED;

/* Adds one by itself, as a task that stands at the root of its stacks. ERROR_MEMORY. */
struct error *functions_add_one(struct functions *f, const struct function *function,
				uint32_t *id) ERROR_CHECKED;

#endif
