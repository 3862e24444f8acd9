/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/debug_search.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/shortage.h"

#define DEFAULT_DIRECTORY "/usr/lib/debug"

void found_file_release(struct found_file *f)
{
	if (f->open)
		elf_file_release(&f->elf);
	free(f->path);
	*f = (struct found_file){ 0 };
}

/* -------- opening -------- */

char *debug_search_path(const char *format, ...)
{
	char *path;
	va_list args;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = shortage_check(NULL);
	va_end(args);
	return path;
}

static const char *shared_root(const char *root)
{
	return root && *root && strcmp(root, "/") ? root : NULL;
}

int debug_search_open(const char *root, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_IN_ROOT };
	char *joined = NULL;
	int directory, fd;

	if (!shared_root(root))
		return open(path, (int)how.flags);
	directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	/* Before Linux 5.6, or refused by a seccomp filter: links then lead out of the root. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		joined = debug_search_path("%s/%s", root, path);
		if (joined)
			fd = open(joined, (int)how.flags);
		free(joined);
	}
	close(directory);
	return fd;
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

static bool open_file(struct found_file *f, const char *root, const char *path, struct stat *st)
{
	int fd = debug_search_open(root, path);
	enum elf_error error;

	if (fd < 0) {
		shortage_note(errno);
		return false;
	}
	if (fstat(fd, st)) {
		shortage_note(errno);
		close(fd);
		return false;
	}
	if (!S_ISREG(st->st_mode)) {
		close(fd);
		errno = EINVAL;
		return false;
	}
	error = elf_file_open(&f->elf, fd);
	if (error == ELF_ERROR_MEMORY || error == ELF_ERROR_IO)
		shortage_note(error == ELF_ERROR_MEMORY ? ENOMEM : errno);
	close(fd);
	if (error) {
		errno = error == ELF_ERROR_LIMIT ? EFBIG : ENOEXEC;
		return false;
	}
	f->open = true;
	f->size = (uint64_t)st->st_size;
	f->changed_ns = changed_ns(st);
	f->path = debug_search_path("%s%s", shared_root(root) ? root : "", path);
	return true;
}

/*
 * A search of several places: what one of them does not let be read matters only if no other has
 * the file. Memory is short wherever it is looked for. Returns what end_search() is called with.
 */
static int begin_search(void)
{
	return shortage_take();
}

static bool end_search(int before, bool found)
{
	int now = shortage_take();

	shortage_note(before);
	if (!found || now == ENOMEM)
		shortage_note(now);
	return found;
}

bool found_file_open(struct found_file *f, const char *root, const char *path)
{
	struct stat st;

	return open_file(f, root, path, &st);
}

static bool has_build_id(const struct found_file *f, const uint8_t *id, size_t size)
{
	return size && f->elf.build_id_size == size && !memcmp(f->elf.build_id, id, size);
}

/* -------- the object itself -------- */

static bool belongs(const struct prf_object *o, const struct found_file *f, const struct stat *st)
{
	if (o->build_id_size)
		return has_build_id(f, o->build_id, o->build_id_size);
	/* The recorder could not open it: only the inode can show that it is still the same. */
	if (!o->size && !o->mtime_ns)
		return !o->deleted && (!o->inode || o->inode == st->st_ino);
	if (o->size && o->size != (uint64_t)st->st_size)
		return false;
	return !o->mtime_ns || o->mtime_ns == changed_ns(st);
}

/*
 * One candidate. Of several candidates the most specific status is kept: "not the recorded file"
 * before "cannot be read" before "not there"; and the path of the first candidate that differs.
 */
static bool try_object(const struct prf_object *o, const char *root, struct found_file *f,
		       enum symbols_status *status)
{
	struct found_file candidate = { 0 };
	struct stat st;

	if (!open_file(&candidate, root, o->path, &st)) {
		if (errno != ENOENT && errno != ENOTDIR && *status == SYMBOLS_NO_FILE)
			*status = errno == EFBIG ? SYMBOLS_TOO_LARGE : SYMBOLS_UNREADABLE;
		return false;
	}
	if (belongs(o, &candidate, &st)) {
		found_file_release(f);
		*f = candidate;
		*status = SYMBOLS_OK;
		return true;
	}
	*status = SYMBOLS_DIFFERENT;
	if (!f->path) {
		f->path = candidate.path;
		candidate.path = NULL;
	}
	found_file_release(&candidate);
	return false;
}

enum symbols_status debug_search_object(const struct debug_search *s, const struct prf_object *o,
					struct found_file *f)
{
	enum symbols_status status = SYMBOLS_NO_FILE;
	const char *root = shared_root(o->root);
	int before = begin_search();
	char *joined = NULL;

	*f = (struct found_file){ 0 };
	if (*o->path != '/')
		goto out;
	if (s->sysroot) {
		if (root)
			joined = debug_search_path("%s%s", s->sysroot, root);
		if (joined && try_object(o, joined, f, &status))
			goto out;
		try_object(o, s->sysroot, f, &status);
		goto out;
	}
	if (root && try_object(o, root, f, &status))
		goto out;
	try_object(o, NULL, f, &status);
out:
	free(joined);
	end_search(before, status == SYMBOLS_OK);
	return status;
}

/* -------- debug files -------- */

static const char *debug_directory(const struct debug_search *s, size_t i)
{
	size_t n = 0;

	for (; s->directories && s->directories[n]; n++)
		if (n == i)
			return s->directories[n];
	return i == n ? DEFAULT_DIRECTORY : NULL;
}

/* The default directory is looked for in the sysroot, those that the user named are not. */
static const char *debug_root(const struct debug_search *s, const char *directory)
{
	return strcmp(directory, DEFAULT_DIRECTORY) ? NULL : s->sysroot;
}

bool debug_search_build_id(const struct debug_search *s, const uint8_t *id, size_t size,
			   struct found_file *f)
{
	char name[2 * PRF_BUILD_ID_MAX + 1] = "";
	const char *directory;
	bool found = false;
	int before;

	if (size < 2 || size > PRF_BUILD_ID_MAX)
		return false;
	before = begin_search();
	for (size_t i = 0; i < size; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	for (size_t i = 0; !found && (directory = debug_directory(s, i)); i++) {
		char *path = debug_search_path("%s/.build-id/%.2s/%s.debug", directory, name,
					       name + 2);

		found = path && found_file_open(f, debug_root(s, directory), path) &&
			has_build_id(f, id, size);
		free(path);
		if (!found)
			found_file_release(f);
	}
	return end_search(before, found);
}

/* A file's .gnu_debuglink, without the name. */
struct debug_link {
	const struct found_file *main;
	uint32_t checksum; /* of the file that is meant */
};

/* A candidate for a .gnu_debuglink: by build-id if both have one, else by its checksum. */
static bool try_link(struct found_file *f, const char *root, const char *path,
		     const struct debug_link *link)
{
	const struct elf_file *e = &link->main->elf;

	if (!found_file_open(f, root, path))
		return false;
	if (f->elf.build_id_size && e->build_id_size
		    ? has_build_id(f, e->build_id, e->build_id_size)
		    : f->elf.size <= LIMIT_CHECKED_BYTES &&
			      libdeflate_crc32(0, f->elf.data, f->elf.size) == link->checksum)
		return true;
	found_file_release(f);
	return false;
}

static bool search_link(const struct debug_search *s, const struct prf_object *o,
			const struct found_file *main, struct found_file *f)
{
	struct cursor c = elf_section_data(&main->elf,
					   elf_file_section(&main->elf, ".gnu_debuglink"));
	const char *name = cursor_string(&c), *directory, *slash;
	struct debug_link link = { .main = main };
	bool found = false;
	int length;

	if (!name || !*name || strnlen(name, NAME_MAX + 1) > NAME_MAX || strchr(name, '/') ||
	    !main->path)
		return false;
	cursor_seek(&c, (cursor_offset(&c) + 3) & ~(uint64_t)3);
	link.checksum = cursor_u32(&c);
	slash = strrchr(main->path, '/');
	if (!cursor_ok(&c) || !slash)
		return false;
	length = (int)(slash - main->path);
	for (int i = 0; i < 2 && !found; i++) {
		char *path = debug_search_path("%.*s/%s%s", length, main->path, i ? ".debug/" : "",
					       name);

		/*
		 * The file itself has the right build-id too, so a link that names it would match.
		 */
		found = path && strcmp(path, main->path) && try_link(f, NULL, path, &link);
		free(path);
	}
	slash = strrchr(o->path, '/');
	length = slash ? (int)(slash - o->path) : 0;
	for (size_t i = 0; !found && (directory = debug_directory(s, i)); i++) {
		char *path = debug_search_path("%s%.*s/%s", directory, length, o->path, name);

		found = path && try_link(f, debug_root(s, directory), path, &link);
		free(path);
	}
	return found;
}

bool debug_search_debug(const struct debug_search *s, const struct prf_object *o,
			const struct found_file *main, struct found_file *f)
{
	int before = begin_search();

	*f = (struct found_file){ 0 };
	return end_search(before, debug_search_build_id(s, o->build_id, o->build_id_size, f) ||
					  (main && search_link(s, o, main, f)));
}

static bool search_alternate(const struct debug_search *s, const struct found_file *from,
			     struct found_file *f)
{
	struct cursor c = elf_section_data(&from->elf,
					   elf_file_section(&from->elf, ".gnu_debugaltlink"));
	const char *name = cursor_string(&c), *slash;
	const uint8_t *id = c.at;
	size_t size = cursor_left(&c);
	char *path;

	*f = (struct found_file){ 0 };
	if (!name || !*name || !size || size > PRF_BUILD_ID_MAX)
		return false;
	slash = from->path ? strrchr(from->path, '/') : NULL;
	if (*name == '/' || !slash)
		path = debug_search_path("%s", name);
	else
		path = debug_search_path("%.*s/%s", (int)(slash - from->path), from->path, name);
	if (path && (found_file_open(f, *name == '/' ? s->sysroot : NULL, path) ||
		     (*name == '/' && found_file_open(f, NULL, path)))) {
		free(path);
		if (has_build_id(f, id, size))
			return true;
		found_file_release(f);
		path = NULL;
	}
	free(path);
	return debug_search_build_id(s, id, size, f);
}

bool debug_search_alternate(const struct debug_search *s, const struct found_file *from,
			    struct found_file *f)
{
	int before = begin_search();

	return end_search(before, search_alternate(s, from, f));
}

static bool search_kernel(const struct debug_search *s, const struct prf_object *o,
			  struct found_file *f)
{
	static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s",
					      "/usr/lib/debug/lib/modules/%s/vmlinux",
					      "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s" };
	struct utsname name;

	*f = (struct found_file){ 0 };
	if (!o->build_id_size)
		return false;
	if (debug_search_build_id(s, o->build_id, o->build_id_size, f))
		return true;
	if (uname(&name))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char path[256];

		snprintf(path, sizeof(path), places[i], name.release);
		if (found_file_open(f, s->sysroot, path) &&
		    has_build_id(f, o->build_id, o->build_id_size))
			return true;
		found_file_release(f);
	}
	return false;
}

bool debug_search_kernel(const struct debug_search *s, const struct prf_object *o,
			 struct found_file *f)
{
	int before = begin_search();

	return end_search(before, search_kernel(s, o, f));
}
