/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/system/opener.h"
#include "record/unwind/code_files.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* A file system that may stop answering may also name any owner. */
static bool may_belong(const struct open_file *opened, uint32_t owner)
{
	uint32_t uid = opened->status.st_uid;

	return owner == CODE_FILE_NO_OWNER || (!opened->copied && (!uid || uid == owner));
}

static bool open_same(struct elf_file *debug, const struct elf_file *file, const char *path,
		      uint32_t owner)
{
	struct open_file opened;
	int error;

	if (opener_open_path(path, &opened))
		return false;
	error = may_belong(&opened, owner) ? elf_file_open(debug, opened.fd) : ELF_ERROR_IO;
	close(opened.fd);
	if (error)
		return false;
	if (debug->build_id_size == file->build_id_size &&
	    !memcmp(debug->build_id, file->build_id, file->build_id_size))
		return true;
	elf_file_release(debug);
	return false;
}

static bool open_by_build_id(struct elf_file *debug, const struct elf_file *file)
{
	char path[sizeof(DEBUG_ROOT "/.build-id//.debug") + 2 * ELF_BUILD_ID_MAX];
	int n = snprintf(path, sizeof(path), "%s/.build-id/%02x/", DEBUG_ROOT, file->build_id[0]);

	for (uint8_t i = 1; i < file->build_id_size; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", file->build_id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open_same(debug, file, path, 0);
}

static bool open_by_name(struct elf_file *debug, const struct elf_file *file,
			 const struct debug_file_of *of)
{
	const char *path = of->path;
	struct cursor c = elf_section_data(file, elf_file_section(file, ".gnu_debuglink"));
	const char *name = cursor_short_string(&c, NAME_MAX + 1), *end = strrchr(path, '/');
	const char *const places[][2] = { { "", "" }, { "", "/.debug" }, { DEBUG_ROOT, "" } };
	int folder = end ? (int)(end - path) : 0;
	char full[PATH_MAX];

	if (!name || !*name || strchr(name, '/') || *path != '/')
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int n = snprintf(full, sizeof(full), "%s%.*s%s/%s", places[i][0], folder, path,
				 places[i][1], name);

		if (n < (int)sizeof(full) && open_same(debug, file, full, of->owner))
			return true;
	}
	return false;
}

bool debug_file_open(struct elf_file *debug, const struct elf_file *file,
		     const struct debug_file_of *of)
{
	return file->build_id_size &&
	       (open_by_build_id(debug, file) || open_by_name(debug, file, of));
}
