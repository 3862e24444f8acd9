/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_SHARES_H
#define RECORD_SYSTEM_SHARES_H

/*
 * Who has taken how much of something that the processes of all users share. Root may take all of
 * it, any other user as much as he leaves for others: so one user does not take it from all others.
 * Who has many does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/map.h"

/* Starts as { .limit = what there is }, in any unit. Users: see process_owner_user(). */
struct shares {
	uint64_t limit;
	uint64_t taken; /* by all */
	struct map users;
};

void shares_release(struct shares *s);

/* What the user has. */
uint64_t shares_of(const struct shares *s, uint32_t user);

/* How much more he may take. */
uint64_t shares_room(const struct shares *s, uint32_t user);

/* How much he has to give back before he may take `n` more, if nobody else does anything. */
uint64_t shares_lacking(const struct shares *s, uint32_t user, uint64_t n);

bool shares_may_take(const struct shares *s, uint32_t user, uint64_t n);

/*
 * Whether so much is taken that it matters by whom. Before that nobody needs to be asked whose his
 * process is, which takes 20 us: it may as well be root's.
 */
bool shares_are_scarce(const struct shares *s);

/* Whether he may or not. Without memory it is not noted. */
void shares_take(struct shares *s, uint32_t user, uint64_t n);

/* At most what is noted. */
void shares_give(struct shares *s, uint32_t user, uint64_t n);

#endif
