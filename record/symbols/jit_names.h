/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_JIT_NAMES_H
#define RECORD_SYMBOLS_JIT_NAMES_H

/*
 * The objects that one process's made code belongs to in the trace, and their names. A frame of
 * the trace is an address in an object and has one name, but an address of the process may hold
 * one function after another. So there are several objects:
 *
 *   layer 0, 1, ...  code that is known when its samples come: the first code of a place in layer
 *                    0, what came later at the same place in 1, and so on
 *   open             code that is not known yet, because its line or record may still come; once
 *                    it has, an address gets a name if all of its hits were of the same code. Where
 *                    what is known ends at a time, a new object begins every 50 ms, or eighth of
 *                    the time since then, so that there are few hits of an address in each.
 *   nameless         places that changed hands around the time of the sample, or of which nothing
 *                    is known for that time. A name that may be wrong is not given.
 */

#include "common/error.h"
#include "common/map.h"
#include "format/prf.h"
#include "record/symbols/code_map.h"
#include "record/symbols/range_map.h"

struct jit_symbol_state;
struct jit_hit;

struct jit_names {
	struct code_map code;
	uint64_t known_until_ns;   /* all code up to then is in `code`; UINT64_MAX: up to now */
	uint64_t settled_until_ns; /* the same, when names were last written */
	/*
	 * Nothing more will be known, though some code may be missing since then. A place that
	 * never changed hands is taken to be its only owner's: a compiler with nothing to do writes
	 * nothing.
	 */
	bool ended;
	uint64_t begins_ns; /* nothing is known of the time before */
	uint64_t newest_ns; /* of all samples */
	/* Of the sample that is being resolved. */
	uint64_t time_ns;
	uint32_t epoch; /* differs when the same address may belong to another object */
	/*
	 * Times after the newest sample at which places changed hands, sorted, and the epoch before
	 * the first of them.
	 */
	uint64_t *changes;
	size_t n_changes, changes_capacity;
	uint64_t changing_until_ns; /* of those that there was no room for */
	uint32_t first_epoch;
	size_t seen;			 /* symbols of `code` that are in `changes` */
	struct range_map layers;	 /* -> the lowest layer that is free there */
	struct jit_symbol_state *states; /* of the symbols that were hit, by number */
	size_t n_states, states_capacity;
	uint32_t *objects; /* of the layers; PRF_NONE: not begun */
	size_t n_objects, objects_capacity;
	uint32_t *hit_symbols; /* not written yet */
	size_t n_hit_symbols, hit_symbols_capacity;
	uint32_t open, nameless;
	uint64_t open_until_ns;
	struct jit_hit *hits;			    /* of the open objects */
	size_t n_hits, hits_capacity, hits_counted; /* the last: by code_map_take() */
	struct map hit_of; /* address in the open object -> position in `hits` */
	uint64_t written;  /* names, in this trace */
};

/* Where objects come from: numbers set the objects of one process apart. */
struct jit_names_owner {
	struct prf_writer *writer;
	uint32_t pid;
	const char *root;
	uint32_t *next_object, *next_epoch; /* counted for all processes */
};

/* `shares` and `user`: see struct code_map. */
void jit_names_init(struct jit_names *n, struct shares *shares, uint32_t user);
/* As after jit_names_init(). */
void jit_names_release(struct jit_names *n);

/*
 * All code up to then is in `code`, UINT64_MAX: up to now. What is hit later is not named before
 * this is called with a later time.
 */
void jit_names_know(struct jit_names *n, const struct jit_names_owner *owner, uint64_t until_ns);

/* Sets the sample that the next calls are about; updates `epoch`. */
void jit_names_set_time(struct jit_names *n, const struct jit_names_owner *owner, uint64_t time_ns);

/* The object of a sample's address. */
struct error *jit_names_object(struct jit_names *n, const struct jit_names_owner *owner,
			       uint64_t address, uint32_t *object);

/* To be called after additions to `code`: writes the names that have become certain. */
struct error *jit_names_settle(struct jit_names *n, const struct jit_names_owner *owner);

/* Forgets all that was written: there is another writer, or the files were rewritten. */
void jit_names_renew(struct jit_names *n, const struct jit_names_owner *owner);

#endif
