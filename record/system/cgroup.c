/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int cgroup_mount_point(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	int result = -1;

	while (mounts && result && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "cgroup2"))
			continue;
		if ((size_t)snprintf(path, size, "%s", mount->mnt_dir) < size)
			result = 0;
	}
	if (mounts)
		endmntent(mounts);
	return result;
}

/* A cgroup2 folder's file handle is its 8-byte id. */
static int read_id(const char *path, uint64_t *id)
{
	struct {
		struct file_handle handle;
		uint64_t id;
	} h = { .handle.handle_bytes = sizeof(h.id) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount, 0))
		return -1;
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return 0;
}

static struct error *fill(struct cgroup *cgroup, const char *full, size_t mount_size)
{
	struct statfs fs;

	if (statfs(full, &fs))
		return error_system(errno, "no cgroup '%s'", full);
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return error_new(ERROR_ARGUMENT, "'%s' is not a cgroup v2 folder%s", full,
				 fs.f_type == CGROUP_SUPER_MAGIC
					 ? " but one of v1, whose tasks cannot be distinguished"
					 : "");
	if (read_id(full, &cgroup->id))
		return error_system(errno, "cgroup '%s': cannot read its id", full);
	snprintf(cgroup->path, sizeof(cgroup->path), "%s",
		 full[mount_size] ? full + mount_size : "/");
	snprintf(cgroup->folder, sizeof(cgroup->folder), "%s", full);
	return NULL;
}

struct error *cgroup_find(struct cgroup *cgroup, const char *path)
{
	char mount[PATH_MAX], wanted[PATH_MAX], full[PATH_MAX];
	size_t mount_size;

	if (cgroup_mount_point(mount, sizeof(mount)))
		return error_new(ERROR_UNSUPPORTED, "no cgroup v2 hierarchy is mounted; as root: "
						    "mount -t cgroup2 none /sys/fs/cgroup");
	mount_size = strlen(mount);
	/* A path below the mount point first, such as "/" for the root group; else a full path. */
	if ((size_t)snprintf(wanted, sizeof(wanted), "%s/%s", mount, path) >= sizeof(wanted))
		return error_new(ERROR_ARGUMENT, "the cgroup's path is too long");
	if (*path == '/' && access(wanted, F_OK) && !access(path, F_OK))
		snprintf(wanted, sizeof(wanted), "%s", path);
	if (!realpath(wanted, full))
		return error_system(errno, "no cgroup '%s' below %s", path, mount);
	if (strncmp(full, mount, mount_size) || (full[mount_size] && full[mount_size] != '/'))
		mount_size = 0;
	return fill(cgroup, full, mount_size);
}

void cgroup_of(uint32_t pid, char *path, size_t size)
{
	char name[64], *line = NULL;
	size_t capacity = 0;
	ssize_t n;
	FILE *f;

	*path = 0;
	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	f = fopen(name, "re");
	while (f && (n = getline(&line, &capacity, f)) > 0) {
		if (strncmp(line, "0::", 3))
			continue;
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		snprintf(path, size, "%s", line + 3);
	}
	free(line);
	if (f)
		fclose(f);
}
