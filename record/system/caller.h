/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_CALLER_H
#define RECORD_SYSTEM_CALLER_H

/*
 * The user who called sudo, by the environment that sudo makes. Whoever else made it can give away
 * no more than root's rights in favour of another user's.
 */

#include "common/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* False: this process is not root's, or nobody called sudo. */
bool caller_ids(uid_t *uid, gid_t *gid);

/* Starts as { 0 }. */
struct caller {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* all of the user's */
	int group_count;
	char *name, *home, *shell;
};

/*
 * ERROR_ARGUMENT: nobody called sudo, or the system does not know such a user, or not with that
 * group. To be released in any case.
 */
struct error *caller_find(struct caller *c) ERROR_CHECKED;
void caller_release(struct caller *c);

/*
 * In a child, before a command is run: this process is the user's from now on, with the user's
 * groups and HOME, USER, LOGNAME and SHELL, and can not be root's again. False with errno: the
 * command must not be run.
 */
bool caller_become(const struct caller *c);

#endif
