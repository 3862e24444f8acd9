/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/caller.h"
#include "tests/unit/unit.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static void set_ids(const char *uid, const char *gid)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
}

static void set_numbers(unsigned int uid, unsigned int gid)
{
	char texts[2][16];

	snprintf(texts[0], sizeof(texts[0]), "%u", uid);
	snprintf(texts[1], sizeof(texts[1]), "%u", gid);
	set_ids(texts[0], texts[1]);
}

/* A user of the system that is not root; NULL: there is none. */
static const struct passwd *somebody(void)
{
	const struct passwd *user;

	setpwent();
	while ((user = getpwent()) && (!user->pw_uid || !user->pw_gid))
		;
	endpwent();
	return user;
}

static void refuses(const char *why)
{
	struct caller c = { 0 };
	struct error *error = caller_find(&c);

	assert_non_null(error);
	assert_int_equal(error->kind, ERROR_ARGUMENT);
	assert_non_null(strstr(error->text, why));
	error_free(error);
	caller_release(&c);
}

static void nobody_called(void **state)
{
	static const char *const no_ids[] = { "-1", "4294967295", "12345678901", "x",  "1x", " 1",
					      "+1", "",		  "0x10",	 "1.5" };

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	refuses("nobody called sudo");
	setenv("SUDO_UID", "1", 1);
	refuses("nobody called sudo");
	for (size_t i = 0; i < sizeof(no_ids) / sizeof(*no_ids); i++) {
		set_ids(no_ids[i], "1");
		refuses("nobody called sudo");
		set_ids("1", no_ids[i]);
		refuses("nobody called sudo");
	}
}

/* An environment that was made up must not mix one user's rights with those of a group. */
static void wrong_users(void **state)
{
	const struct passwd *user = somebody();

	if (geteuid() || !user)
		skip();
	set_numbers(user->pw_uid, 0);
	refuses("is not in group 0");
	set_numbers(user->pw_uid, 4294967294);
	refuses("is not in group 4294967294");
	set_numbers(4294967294, user->pw_gid);
	refuses("there is no user 4294967294");
}

/* In a child. */
static bool is_another(const struct caller *c)
{
	gid_t groups[1024];
	uid_t uids[3];
	gid_t gids[3];
	int n;

	if (!caller_become(c))
		return false;
	n = getgroups(1024, groups);
	getresuid(&uids[0], &uids[1], &uids[2]);
	getresgid(&gids[0], &gids[1], &gids[2]);
	for (int i = 0; i < 3; i++)
		if (uids[i] != c->uid || gids[i] != c->gid)
			return false;
	for (int i = 0; i < n; i++)
		if (!groups[i])
			return false;
	return n == c->group_count && setuid(0) && setgid(0) && !strcmp(getenv("HOME"), c->home) &&
	       !strcmp(getenv("USER"), c->name) && !strcmp(getenv("LOGNAME"), c->name) &&
	       !strcmp(getenv("SHELL"), c->shell);
}

static void becomes_the_user(void **state)
{
	static const gid_t roots[] = { 0, 4 };
	const struct passwd *user = somebody();
	struct caller c = { 0 };
	int status;
	pid_t pid;

	if (geteuid() || !user)
		skip();
	set_numbers(user->pw_uid, user->pw_gid);
	assert_no_error(caller_find(&c));
	assert_int_equal(c.uid, user->pw_uid);
	assert_string_equal(c.name, user->pw_name);
	pid = fork();
	if (!pid)
		_exit(setgroups(2, roots) || !is_another(&c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	caller_release(&c);
}

/* Root may have called sudo; a program that is not root's has nothing to give up. */
static void root_and_others(void **state)
{
	struct caller c = { 0 };
	uid_t uid;
	gid_t gid;
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	set_ids("0", "0");
	assert_no_error(caller_find(&c));
	pid = fork();
	if (!pid)
		_exit(!caller_become(&c) || getuid() || setresuid(65534, 65534, 65534) ||
		      caller_ids(&uid, &gid) || caller_become(&c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	caller_release(&c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nobody_called),
	cmocka_unit_test(wrong_users),
	cmocka_unit_test(becomes_the_user),
	cmocka_unit_test(root_and_others),
};

UNIT_TESTS(tests);
