/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * $BROWSER is a list of commands, with a colon between them; %s in one is the page's place, which
 * is otherwise its last argument. The first one that succeeds is the last one that is tried.
 */
static const char start_one[] =
	"set -f; IFS=:\n"
	"for browser in ${BROWSER:-xdg-open}; do\n"
	"	case $browser in\n"
	"	*%s*) eval \"${browser%%\\%s*}\\\"\\$1\\\"${browser#*\\%s}\" ;;\n"
	"	*) eval \"$browser \\\"\\$1\\\"\" ;;\n"
	"	esac && exit\n"
	"done\n";

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* Without a display xdg-open would start a browser in the terminal, which the caller still uses. */
static bool there_is_one(void)
{
	if (is_set("BROWSER"))
		return true;
	return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) &&
	       system("command -v xdg-open > /dev/null 2>&1") == 0;
}

/* In the child: outlives the terminal, and says nothing there. */
static void become_browser(int input)
{
	char path[PATH_MAX] = "";
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	setsid();
	signal(SIGPIPE, SIG_DFL); /* which prof-report ignores, and its children would, too */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	while ((got = read(input, path + size, sizeof(path) - 1 - size)) > 0)
		size += (size_t)got;
	if (size)
		execl("/bin/sh", "sh", "-c", start_one, "sh", path, (char *)NULL);
	_exit(0);
}

void browser_prepare(struct browser *b)
{
	int ends[2];
	pid_t pid;

	*b = (struct browser){ .fd = -1 };
	if (!there_is_one() || pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		become_browser(ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	b->pid = pid;
	b->fd = ends[1];
}

bool browser_show(struct browser *b, const char *path)
{
	char *whole = b->pid ? realpath(path, NULL) : NULL;
	size_t size = whole ? strlen(whole) : 0;
	/* At most PATH_MAX bytes: a pipe takes them at once. */
	bool ok = whole && write(b->fd, whole, size) == (ssize_t)size;

	free(whole);
	if (ok) {
		close(b->fd);
		*b = (struct browser){ .fd = -1 };
	}
	return ok;
}

void browser_release(struct browser *b)
{
	if (!b->pid)
		return;
	close(b->fd);
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*b = (struct browser){ .fd = -1 };
}
