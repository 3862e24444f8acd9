/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/output.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static char folder[64], path[80], other[80];

static int setup(void **state)
{
	strcpy(folder, "/tmp/prof-output.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/trace.prf", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	unlink(other);
	return rmdir(folder);
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* output_open() fails for that reason, and has a remedy for it. */
static void refuses(const char *name, int os_error)
{
	struct output output;
	struct error *error = output_open(&output, name);

	assert_true(error_is(error, os_error));
	assert_string_not_equal(output_remedy(error), "choose another place with -o");
	error_free(error);
}

static void a_used_up_quota_is_named(void **state)
{
	struct error *error = error_system(EDQUOT, "x");

	assert_string_equal(output_remedy(error), "your quota of the disk is used up");
	error_free(error);
}

static void seals(void **state)
{
	struct output output;
	struct error *error;

	assert_no_error(output_open(&output, path));
	assert_no_error(output_seal_as(&output, other));
	assert_int_equal(access(other, F_OK), -1);
	/* What is not whole stays where it is. */
	assert_no_error(output_close(&output, false));
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(other, F_OK), -1);
	assert_no_error(output_open(&output, path));
	assert_no_error(output_seal_as(&output, other));
	output.whole = true;
	assert_no_error(output_close(&output, false));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	/* Nothing is replaced. */
	assert_no_error(output_open(&output, path));
	assert_no_error(output_seal_as(&output, other));
	output.whole = true;
	error = output_close(&output, false);
	assert_true(error_is(error, EEXIST));
	error_free(error);
	assert_int_equal(access(path, F_OK), 0);
	unlink(other);
	/* What is discarded goes. */
	unlink(path);
	assert_no_error(output_open(&output, path));
	assert_no_error(output_seal_as(&output, other));
	output.whole = true;
	assert_no_error(output_close(&output, true));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(other, F_OK), -1);
}

static void creates_for_the_owner_only(void **state)
{
	struct output output;
	struct stat st;

	umask(0);
	assert_no_error(output_open(&output, path));
	assert_true(output.created && output.is_file);
	assert_no_error(output_close(&output, false));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void overwrites_own_file(void **state)
{
	struct output output;
	struct stat st;

	put(path, "old");
	assert_int_equal(chmod(path, 0644), 0);
	assert_no_error(output_open(&output, path));
	assert_false(output.created);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(st.st_size, 3);
	assert_no_error(output_begin(&output));
	/* What was there before is not removed when the recording fails. */
	assert_no_error(output_close(&output, true));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 0);
}

static void discards_what_it_made(void **state)
{
	struct output output;

	assert_no_error(output_open(&output, path));
	assert_no_error(output_close(&output, true));
	assert_int_equal(access(path, F_OK), -1);
}

static void follows_no_link(void **state)
{
	struct stat st;

	put(other, "precious");
	assert_int_equal(symlink(other, path), 0);
	refuses(path, ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(other, path), 0);
	refuses(path, EPERM);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, 8);
}

static void belongs_to_who_called_sudo(void **state)
{
	struct output output;
	struct stat st;

	if (geteuid())
		skip();
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	assert_no_error(output_open(&output, path));
	assert_no_error(output_begin(&output));
	assert_no_error(output_close(&output, false));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 12346);
	put(other, "somebody else's");
	assert_int_equal(chown(other, 777, 777), 0);
	refuses(other, EPERM);
}

/* An environment that was kept, or made up, must not give away a file that was there. */
static void no_file_changes_hands(void **state)
{
	static const char *const no_ids[] = { "-1", "4294967295", "12345678901", "x", "1x", "" };
	struct output output;
	struct stat st;

	if (geteuid())
		skip();
	put(path, "root's");
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	refuses(path, EPERM);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_size, 6);
	assert_int_equal(chown(path, 12345, 777), 0);
	assert_no_error(output_open(&output, path));
	assert_no_error(output_begin(&output));
	assert_no_error(output_close(&output, false));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_gid, 777);
	for (size_t i = 0; i < sizeof(no_ids) / sizeof(*no_ids); i++) {
		unlink(path);
		setenv("SUDO_UID", no_ids[i], 1);
		assert_no_error(output_open(&output, path));
		assert_no_error(output_begin(&output));
		assert_no_error(output_close(&output, false));
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, 0);
	}
}

static void no_sockets(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refuses(path, EOPNOTSUPP);
	close(fd);
}

static void folders_and_pipes(void **state)
{
	struct output output;
	int reader;

	refuses(folder, EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Nobody reads: waiting for that could not be interrupted. */
	refuses(path, ENXIO);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_no_error(output_open(&output, path));
	assert_false(output.is_file);
	assert_int_equal(fcntl(output.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_no_error(output_close(&output, true));
	close(reader);
	assert_int_equal(access(path, F_OK), 0);
}

static void standard_output(void **state)
{
	struct output output;

	assert_no_error(output_open(&output, "-"));
	assert_true(output.fd > 2);
	assert_null(output.path);
	assert_no_error(output_begin(&output));
	assert_no_error(output_close(&output, true));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_used_up_quota_is_named),
	EACH(seals),
	EACH(creates_for_the_owner_only),
	EACH(overwrites_own_file),
	EACH(discards_what_it_made),
	EACH(follows_no_link),
	EACH(belongs_to_who_called_sudo),
	EACH(no_file_changes_hands),
	EACH(no_sockets),
	EACH(folders_and_pipes),
	EACH(standard_output),
};

UNIT_TESTS(tests);
