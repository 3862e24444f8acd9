/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/message.h"
#include "record/system/privileges.h"
#include "record/trace/output.h"

/* Path of the prof-report that was built or installed together with this program. */
static struct error *find_report(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size);
	char *slash;

	if (length < 0)
		return error_system(errno, "cannot find prof-report beside this program");
	if ((size_t)length == size)
		return error_system(ENAMETOOLONG, "cannot find prof-report beside this program");
	path[length] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + sizeof("/prof-report") > size)
		return error_system(ENAMETOOLONG, "cannot find prof-report beside this program");
	strcpy(slash, "/prof-report");
	return access(path, X_OK) ? error_system(errno, "%s", path) : NULL;
}

static void run_report(const char *report, const char *trace, int to)
{
	sigset_t none;

	/*
	 * The recorder blocks its signals; the child must not inherit that, so that Ctrl-C ends it.
	 */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(to, STDOUT_FILENO) < 0 || !privileges_drop_all())
		_exit(126);
	execl(report, report, "-q", "--embed", "-o", "-", trace, (char *)NULL);
	_exit(127);
}

/* Returns true when the copy is complete. */
static bool copy_with_names(const char *report, const char *trace, int to)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		run_report(report, trace, to);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Replaces the trace by a copy that contains the names. */
static struct error *replace(const char *report, const char *path, const char *name)
{
	struct output copy;
	struct error *error = output_open(&copy, name), *closed;

	if (!error)
		error = output_begin(&copy);
	if (error)
		;
	else if (!copy_with_names(report, path, copy.fd))
		error = error_new(ERROR_UNSUPPORTED, "%s failed", report);
	else if (rename(name, path))
		error = error_system(errno, "%s", path);
	closed = output_close(&copy, error != NULL);
	if (error)
		error_free(closed);
	return error ? error : closed;
}

int embed_names_into(const char *path)
{
	char report[PATH_MAX];
	struct error *error = find_report(report, sizeof(report));
	char *name = NULL;

	if (!error)
		error = asprintf(&name, "%s.names", path) < 0 ? error_memory()
							      : replace(report, path, name);
	free(name);
	if (!error)
		return 0;
	message_error("names are not embedded: %s; prof-report --embed %s -o FILE does it later, "
		      "on this machine",
		      error->text, path);
	error_free(error);
	return -1;
}
