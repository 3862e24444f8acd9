/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A mount of tracefs that is attached nowhere: an fd or -errno. */
static int open_unmounted(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	int folder = -1;

	if (context < 0)
		return -errno;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		folder = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	if (folder < 0)
		folder = -errno;
	close(context);
	return folder;
}

struct error *tracefs_open(int *fd)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int denied = 0, folder;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct statfs fs;

		folder = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder >= 0 && !fstatfs(folder, &fs) && fs.f_type == TRACEFS_MAGIC) {
			*fd = folder;
			return NULL;
		}
		if (folder >= 0)
			close(folder);
		else if (errno == EACCES)
			denied = -EACCES;
	}
	*fd = open_unmounted();
	if (*fd >= 0)
		return NULL;
	return error_new(ERROR_SYSTEM,
			 "tracefs is not mounted and cannot be opened (%s); as root: "
			 "mount -t tracefs tracefs /sys/kernel/tracing",
			 strerror(denied ? -denied : -*fd));
}

/* A file of an event, or -errno. */
static int open_event_file(int tracefs, const char *subsystem, const char *name, const char *file)
{
	char path[PATH_MAX];
	int fd;

	/* Names come from the command line: they must not lead out of the folder. */
	if (!*subsystem || !*name || strchr(subsystem, '/') || strchr(name, '/') ||
	    *subsystem == '.' || *name == '.')
		return -ENOENT;
	if ((size_t)snprintf(path, sizeof(path), "events/%s/%s/%s", subsystem, name, file) >=
	    sizeof(path))
		return -ENOENT;
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

struct error *tracefs_id(int tracefs, const char *subsystem, const char *name, uint64_t *id)
{
	int fd = open_event_file(tracefs, subsystem, name, "id");
	char text[32];
	ssize_t size;

	if (fd < 0)
		return error_system(fd, "tracepoint '%s:%s'", subsystem, name);
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return error_system(EIO, "tracepoint '%s:%s'", subsystem, name);
	text[size] = 0;
	*id = strtoull(text, NULL, 10);
	return NULL;
}

bool tracefs_is_probe(int tracefs, const char *subsystem, const char *name)
{
	int fd = open_event_file(tracefs, subsystem, name, "format");
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = false;
	char line[512];

	/* Their first field: __probe_ip, or __probe_func of one at a return; uprobes':
	 * __probe_vaddr. */
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "field:unsigned long __probe_") != NULL;
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return found;
}

static DIR *open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

static bool is_event(int subsystem, const char *name)
{
	char path[NAME_MAX + 8];

	snprintf(path, sizeof(path), "%s/id", name);
	return *name != '.' && !faccessat(subsystem, path, F_OK, 0);
}

struct error *tracefs_each(int tracefs,
			   void (*visit)(const char *subsystem, const char *name, void *context),
			   void *context)
{
	DIR *events = open_folder(tracefs, "events");
	struct dirent *subsystem, *event;

	if (!events)
		return error_system(errno, "the folder events of tracefs");
	while ((subsystem = readdir(events))) {
		DIR *folder = NULL;

		if (*subsystem->d_name != '.')
			folder = open_folder(dirfd(events), subsystem->d_name);
		while (folder && (event = readdir(folder)))
			if (is_event(dirfd(folder), event->d_name))
				visit(subsystem->d_name, event->d_name, context);
		if (folder)
			closedir(folder);
	}
	closedir(events);
	return NULL;
}
