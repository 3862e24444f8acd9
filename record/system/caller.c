/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A decimal number; -1 is nobody's. */
static bool is_id(const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	return digits && digits <= 10 && !text[digits] && strtoull(text, NULL, 10) < UINT32_MAX;
}

bool caller_ids(uid_t *uid, gid_t *gid)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !is_id(sudo_uid) || !is_id(sudo_gid))
		return false;
	*uid = (uid_t)strtoul(sudo_uid, NULL, 10);
	*gid = (gid_t)strtoul(sudo_gid, NULL, 10);
	return true;
}

/* All groups of the user; NULL without memory. */
static gid_t *groups_of(const struct passwd *user, int *n)
{
	gid_t *groups = NULL, *more;

	*n = 16;
	for (;;) {
		int room = *n;

		more = reallocarray(groups, (size_t)room, sizeof(*groups));
		if (!more) {
			free(groups);
			return NULL;
		}
		groups = more;
		if (getgrouplist(user->pw_name, user->pw_gid, groups, n) >= 0)
			return groups;
		/* Otherwise it has said how many there are, which may be more by now. */
		if (*n <= room)
			*n = 2 * room;
	}
}

static bool is_in_group(const struct caller *c, gid_t gid)
{
	for (int i = 0; i < c->group_count; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

struct error *caller_find(struct caller *c)
{
	const struct passwd *user;

	if (!caller_ids(&c->uid, &c->gid))
		return error_new(ERROR_ARGUMENT,
				 "nobody called sudo: SUDO_UID and SUDO_GID do not say who");
	user = getpwuid(c->uid);
	if (!user)
		return error_new(ERROR_ARGUMENT, "SUDO_UID: there is no user %u",
				 (unsigned int)c->uid);
	c->name = strdup(user->pw_name);
	c->home = strdup(user->pw_dir);
	c->shell = strdup(*user->pw_shell ? user->pw_shell : "/bin/sh");
	c->groups = groups_of(user, &c->group_count);
	if (!c->name || !c->home || !c->shell || !c->groups)
		return error_memory();
	if (!is_in_group(c, c->gid))
		return error_new(ERROR_ARGUMENT, "SUDO_GID: user %s is not in group %u", c->name,
				 (unsigned int)c->gid);
	return NULL;
}

void caller_release(struct caller *c)
{
	free(c->groups);
	free(c->name);
	free(c->home);
	free(c->shell);
	*c = (struct caller){ 0 };
}

bool caller_become(const struct caller *c)
{
	if (setgroups((size_t)c->group_count, c->groups) || setresgid(c->gid, c->gid, c->gid) ||
	    setresuid(c->uid, c->uid, c->uid))
		return false;
	if (c->uid && !setuid(0)) {
		errno = EPERM;
		return false;
	}
	return !setenv("HOME", c->home, 1) && !setenv("USER", c->name, 1) &&
	       !setenv("LOGNAME", c->name, 1) && !setenv("SHELL", c->shell, 1);
}
