/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/output.h"

#include "record/system/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The user whom the file shall belong to: the one who called sudo, else our own. */
static void behalf_of(uid_t *uid, gid_t *gid)
{
	if (caller_ids(uid, gid))
		return;
	*uid = geteuid();
	*gid = getegid();
}

/* 0 or the errno that says why the file must not be overwritten. */
static int check_existing(const struct output *output, const struct stat *st, uid_t uid)
{
	if (!output->is_file)
		return S_ISDIR(st->st_mode) ? EISDIR : 0;
	if (st->st_nlink != 1 || st->st_uid != uid)
		return EPERM;
	return 0;
}

/* 0 or an errno. */
static int check(struct output *output)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (fstat(output->fd, &st))
		return errno;
	output->is_file = S_ISREG(st.st_mode);
	behalf_of(&uid, &gid);
	return output->created ? 0 : check_existing(output, &st, uid);
}

struct error *output_begin(struct output *output)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (!output->is_file || !output->path)
		return NULL;
	behalf_of(&uid, &gid);
	/* Only what we have made changes hands, whatever the environment says. */
	if (fstat(output->fd, &st) ||
	    (output->created && uid != st.st_uid && fchown(output->fd, uid, gid)) ||
	    fchmod(output->fd, 0600) || ftruncate(output->fd, 0))
		return error_system(errno, "%s: cannot empty the file", output->path);
	/* Until the end of this process it is not what a killed one has left: see prof-ship. */
	flock(output->fd, LOCK_EX | LOCK_NB);
	return NULL;
}

/* The kernel has one error for it and for a FIFO that nobody reads. */
static bool is_socket(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISSOCK(st.st_mode);
}

static struct error *open_standard_output(struct output *output)
{
	struct stat st;

	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return output->fd < 0 || fstat(output->fd, &st)
		       ? error_system(errno, "cannot write to standard output")
		       : NULL;
}

struct error *output_open(struct output *output, const char *path)
{
	/*
	 * Without O_NONBLOCK, opening a FIFO blocks until it has a reader, and signals would not be
	 * handled.
	 */
	const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int status;

	*output = (struct output){ .fd = -1 };
	if (!strcmp(path, "-"))
		return open_standard_output(output);
	output->path = strdup(path);
	if (!output->path)
		return error_memory();
	output->fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	output->created = output->fd >= 0;
	if (output->fd < 0 && errno == EEXIST)
		output->fd = open(path, flags);
	status = output->fd < 0 || fcntl(output->fd, F_SETFL, 0) ? errno : check(output);
	if (status == ENXIO && is_socket(path))
		status = EOPNOTSUPP;
	if (!status)
		return NULL;
	error_ignore(output_close(output, true));
	return error_system(status, "cannot write %s", path);
}

struct error *output_seal_as(struct output *output, const char *path)
{
	output->sealed = strdup(path);
	return output->sealed ? NULL : error_memory();
}

/* 0 or an errno. Not all file systems can refuse to replace a file (NFS). */
static int seal(const struct output *output)
{
	if (!renameat2(AT_FDCWD, output->path, AT_FDCWD, output->sealed, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return errno;
	if (!access(output->sealed, F_OK))
		return EEXIST;
	return rename(output->path, output->sealed) ? errno : 0;
}

struct error *output_close(struct output *output, bool discard)
{
	struct error *error = NULL;
	int status;

	if (discard && output->created && output->path)
		unlink(output->path);
	if (output->fd >= 0 && close(output->fd))
		error = error_system(errno, "%s: closing it",
				     output->path ? output->path : "standard output");
	status = !error && !discard && output->sealed && output->whole ? seal(output) : 0;
	if (status)
		error = error_system(status, "%s: cannot be renamed to %s", output->path,
				     output->sealed);
	free(output->path);
	free(output->sealed);
	*output = (struct output){ .fd = -1 };
	return error;
}

const char *output_remedy(const struct error *error)
{
	switch (error->os_error) {
	case ELOOP: return "it is a symbolic link; name the file itself";
	case EPERM:
		return "it belongs to another user or has several names; remove it or choose "
		       "another name";
	case EISDIR: return "it is a folder; name a file with -o";
	case EACCES:
	case EROFS: return "the folder may not be written to; choose another place with -o";
	case ENOENT: return "the folder does not exist";
	case EOPNOTSUPP: return "it is a socket; name a file or a pipe";
	case ENXIO: return "nobody reads from this pipe; start its reader first";
	case ENOSPC: return "the disk is full";
	case EDQUOT: return "your quota of the disk is used up";
	default: return "choose another place with -o";
	}
}
