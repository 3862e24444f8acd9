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

#include "common/message.h"
#include "record/system/privileges.h"
#include "record/trace/output.h"

/* The prof-report that was built or installed together with us. */
static int find_report(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size);
	char *slash;

	if (length < 0 || (size_t)length >= size)
		return -1;
	path[length] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + sizeof("/prof-report") > size)
		return -1;
	strcpy(slash, "/prof-report");
	return access(path, X_OK);
}

static void run_report(const char *report, const char *trace, int to)
{
	sigset_t none;

	/* Our signals are blocked; Ctrl-C is to end this. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(to, STDOUT_FILENO) < 0 || privileges_drop_all())
		_exit(126);
	execl(report, report, "-q", "--embed", "-o", "-", trace, (char *)NULL);
	_exit(127);
}

/* True when the copy is whole. */
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

int embed_names_into(const char *path)
{
	char report[PATH_MAX];
	struct output copy;
	char *name;
	int error = -1;

	if (find_report(report, sizeof(report))) {
		message_error(
			"names are not embedded: %s is not there; prof-report --embed %s -o FILE "
			"does it later, on this machine",
			report, path);
		return -1;
	}
	if (asprintf(&name, "%s.names", path) < 0)
		return -1;
	error = output_open(&copy, name);
	if (!error)
		error = output_begin(&copy);
	if (error) {
		message_error("names are not embedded: %s: %s; %s", name, strerror(-error),
			      output_remedy(error));
		output_close(&copy, true);
		free(name);
		return -1;
	}
	error = copy_with_names(report, path, copy.fd) ? rename(name, path) : -1;
	if (error)
		message_error("names are not embedded; prof-report --embed %s -o FILE tells why",
			      path);
	output_close(&copy, error != 0);
	free(name);
	return error;
}
