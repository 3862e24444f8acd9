/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_MADE_CODE_H
#define RECORD_SPACES_MADE_CODE_H

/*
 * Keeps the names of code that processes make (record/symbols/jit.h) in step with their address
 * spaces. A process makes code if it maps executable memory that is no file, or a jitdump file.
 */

#include "record/spaces/space.h"
#include "record/symbols/jit.h"

/*
 * Listens to the spaces of the samples' time: from when and until when a process's code has names.
 */
struct error *made_code_follow(struct spaces *spaces, struct jit *jit);

/* Listens to the newest spaces: opens what must be opened while the process and its files exist. */
struct error *made_code_foresee(struct spaces *newest, struct jit *jit);

#endif
