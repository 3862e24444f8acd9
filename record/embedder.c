/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/embedder.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/error.h"
#include "common/message.h"
#include "record/system/privileges.h"
#include "record/trace/series.h"

/* Longer than this only a file that does not answer takes, as one of a network. */
#define MOST_NS UINT64_C(300000000000)
/* About a tenth of what others get on a busy machine: with less, names would come too late there.
 */
#define NICE_BEHIND 10

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

/* Where memory runs out, the names of one file are the least that can be lost. */
static void be_first_victim(void)
{
	/* Not for a user whom file capabilities let record: then this file is root's. */
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) > 0)
		close(fd);
}

/*
 * In the child. Signals stay blocked: Ctrl-C, or systemd, sends them to all processes, but this one
 * is ended by the recorder only, or together with it.
 */
static void run_report(const struct embedder *e, const char *report, pid_t recorder)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The recorder's own is higher than that of others. */
	setpriority(PRIO_PROCESS, 0, e->behind ? NICE_BEHIND : 0);
	be_first_victim();
	privileges_drop_in_thread(PRIVILEGES_FOR_FILES);
	if (getppid() != recorder || dup2(e->copy.fd, STDOUT_FILENO) < 0)
		_exit(126);
	execl(report, report, "-q", e->behind ? "-j1" : "-q", e->option, "-o", "-", "--",
	      e->files[0].path, (char *)NULL);
	_exit(127);
}

static struct error *open_copy(struct embedder *e)
{
	struct error *error;
	char *name;

	if (!e->files[0].is_file)
		return error_new(ERROR_ARGUMENT, "%s is no regular file", e->files[0].path);
	if (asprintf(&name, "%s" EMBEDDER_COPY, e->files[0].path) < 0)
		return error_memory();
	error = output_open(&e->copy, name);
	free(name);
	if (error)
		return error;
	error = output_begin(&e->copy);
	if (error)
		error_ignore(output_close(&e->copy, true));
	return error;
}

/* Starts to embed names into the first file. */
static struct error *begin(struct embedder *e, uint64_t now_ns)
{
	char report[PATH_MAX];
	struct error *error = find_report(report, sizeof(report));
	pid_t recorder = getpid();

	if (!error)
		error = open_copy(e);
	if (error)
		return error;
	e->report = fork();
	if (!e->report)
		run_report(e, report, recorder);
	if (e->report > 0) {
		e->due_ns = now_ns + MOST_NS;
		return NULL;
	}
	error = error_system(errno, "cannot run %s", report);
	e->report = 0;
	error_ignore(output_close(&e->copy, true));
	return error;
}

/* Ends the `i`-th file; `why` it has no names, NULL: it has them. */
static void seal(struct embedder *e, size_t i, struct error *why)
{
	struct output *file = &e->files[i];
	struct error *error;

	if (why)
		message_error(
			"names are not embedded: %s; prof-report %s %s -o FILE does it later, "
			"on this machine",
			why->text, e->option, file->sealed ? file->sealed : file->path);
	error = output_close(file, false);
	if (error)
		message_error("%s", error->text);
	e->failed |= why || error;
	error_free(why);
	error_free(error);
	memmove(file, file + 1, (--e->n - i) * sizeof(*file));
}

/* The copy has ended; `why` it is not whole, or NULL. */
static void replace(struct embedder *e, struct error *why)
{
	struct output copy = e->copy;
	bool discard;

	e->report = 0;
	if (!why && rename(copy.path, e->files[0].path))
		why = error_system(errno, "%s", e->files[0].path);
	discard = why != NULL;
	/* The copy stays locked as the file was, until it has its last name. */
	seal(e, 0, why);
	why = output_close(&copy, discard);
	if (!why)
		return;
	message_error("%s", why->text);
	error_free(why);
	e->failed = true;
}

/* Only what may be overwritten is removed, and not what a recorder that runs has locked. */
static void remove_left(const char *copy)
{
	struct output left;

	if (error_ignore(output_open(&left, copy)))
		return;
	if (left.is_file && !flock(left.fd, LOCK_EX | LOCK_NB))
		unlink(copy);
	error_ignore(output_close(&left, true));
}

void embedder_remove_left(const char *path, bool series)
{
	struct buffer pattern = { 0 };
	glob_t found;

	for (; *path; path++)
		buffer_printf(&pattern, strchr("*?[\\", *path) ? "\\%c" : "%c", *path);
	buffer_printf(&pattern, "%s" EMBEDDER_COPY, series ? ".*" SERIES_PARTIAL : "");
	if (!glob(buffer_string(&pattern), GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			remove_left(found.gl_pathv[i]);
		globfree(&found);
	}
	buffer_release(&pattern);
}

void embedder_add(struct embedder *e, struct output *file, uint64_t now_ns)
{
	if (e->n == EMBEDDER_FILES_MAX)
		seal(e, 1, error_new(ERROR_LIMIT, "finding them takes longer than recording"));
	e->files[e->n++] = *file;
	*file = (struct output){ .fd = -1 };
	embedder_look(e, now_ns);
}

void embedder_look(struct embedder *e, uint64_t now_ns)
{
	struct error *error = NULL;
	pid_t ended;
	int status;

	if (e->report) {
		ended = waitpid(e->report, &status, WNOHANG);
		/* It ends later, or never: others that wait are sealed by those that follow them.
		 */
		if (!ended && now_ns >= e->due_ns)
			kill(e->report, SIGKILL);
		if (!ended)
			return;
		if (now_ns >= e->due_ns)
			error = error_new(ERROR_LIMIT, "finding them takes too long");
		else if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			error = error_new(ERROR_FAILED, "prof-report failed");
		replace(e, error);
	}
	while (e->n && !e->report) {
		error = begin(e, now_ns);
		if (error)
			seal(e, 0, error);
	}
}

void embedder_give_up(struct embedder *e)
{
	if (e->report) {
		kill(e->report, SIGKILL);
		replace(e, error_new(ERROR_FAILED, "the recorder ends"));
	}
	while (e->n)
		seal(e, 0, error_new(ERROR_FAILED, "the recorder ends"));
}
