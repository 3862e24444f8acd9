/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/output.h"

#include "report/output/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes the temporary file. No signal ends the program before it knows what to remove then. */
static void make_temporary(struct report_output *o)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd >= 0)
		progress_removes(o->temporary);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

bool report_output_is_unseen(const char *path)
{
	struct stat info;

	if (path && strcmp(path, "-"))
		return true;
	return fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode);
}

struct error *report_output_open(struct report_output *o, const char *path)
{
	struct stat info;
	mode_t mask;

	*o = (struct report_output){ .fd = STDOUT_FILENO, .path = path };
	if (!path || !strcmp(path, "-")) {
		o->path = NULL;
		return NULL;
	}
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		return o->fd < 0 ? error_system(errno, "cannot be written") : NULL;
	}
	if (asprintf(&o->temporary, "%s.XXXXXX", path) < 0)
		return error_memory();
	make_temporary(o);
	if (o->fd < 0) {
		struct error *error = error_system(errno, "cannot be written");

		free(o->temporary);
		return error;
	}
	mask = umask(0);
	umask(mask);
	fchmod(o->fd, 0666 & ~mask);
	return NULL;
}

/* In the child. */
static void become_pager(const char *command, int input)
{
	struct pollfd data = { .fd = input, .events = POLLIN };

	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	while (poll(&data, 1, -1) < 0 && errno == EINTR)
		;
	if (!(data.revents & POLLIN))
		_exit(0); /* the other end was closed */
	dup2(input, STDIN_FILENO);
	setenv("LESS", "FRSX", 0); /* as git does, and no line is wrapped */
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void report_pager_start(struct report_pager *p)
{
	const char *command = getenv("PROF_PAGER");
	int ends[2];
	pid_t pid;

	*p = (struct report_pager){ .fd = -1 };
	if (!isatty(STDOUT_FILENO))
		return;
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "if command -v less > /dev/null; then exec less; else exec cat; fi";
	if (!*command || !strcmp(command, "cat") || pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		become_pager(command, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	p->pid = pid;
	p->fd = ends[1];
}

void report_pager_end(struct report_pager *p)
{
	if (!p->pid)
		return;
	if (p->fd >= 0)
		close(p->fd);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*p = (struct report_pager){ .fd = -1 };
}

void report_output_page(struct report_output *o, struct report_pager *p)
{
	if (o->path || !p->pid)
		return;
	o->pager = p;
	o->fd = p->fd;
	/* Ctrl-C is for the pager, which may only end a search; after its end writing fails. */
	signal(SIGINT, SIG_IGN);
}

struct error *report_output_close(struct report_output *o, bool keep)
{
	struct error *error = NULL;

	if (o->pager)
		report_pager_end(o->pager);
	else if (o->fd > STDERR_FILENO && close(o->fd) < 0)
		error = error_system(errno, "cannot be written");
	if (o->temporary) {
		if (keep && !error && rename(o->temporary, o->path) < 0)
			error = error_system(errno, "cannot be written");
		if (!keep || error)
			unlink(o->temporary);
		progress_removes(NULL);
		free(o->temporary);
	}
	o->temporary = NULL;
	return error;
}
