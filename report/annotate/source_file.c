/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/source_file.h"

#include "common/buffer.h"
#include "common/limits.h"
#include "report/symbols/debug_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void source_file_release(struct source_file *f)
{
	free(f->path);
	free(f->text);
	free(f->line_at);
	*f = (struct source_file){ 0 };
}

bool source_file_is_source(const char *path)
{
	static const char *const suffixes[] = {
		"c",   "h",   "cc",   "hh",  "cpp",   "hpp", "cxx", "hxx",   "c++",  "h++", "inc",
		"inl", "ipp", "tcc",  "def", "i",     "ii",  "s",   "S",     "asm",  "rs",  "go",
		"py",  "pyx", "java", "kt",  "scala", "js",  "mjs", "cjs",   "ts",   "tsx", "jsx",
		"rb",  "php", "pl",   "pm",  "d",     "zig", "nim", "swift", "m",    "mm",  "f",
		"f90", "F90", "for",  "cu",  "cuh",   "cl",  "ml",  "hs",    "pas",  "adb", "ads",
		"y",   "l",   "cr",   "jl",  "v",     "lua", "cs",  "fs",    "vala",
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	/* <vector> and the like have no suffix. */
	if (!dot)
		return strstr(path, "/include/");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

/* -------- finding -------- */

/*
 * "/build/../src/a.c" as "/src/a.c", as it is compiled where sources lie beside the build. Without
 * this a path could leave the folder that it seems to lie in, or that it is looked for in.
 * NULL without memory.
 */
static char *without_dots(const char *path)
{
	const bool absolute = *path == '/';
	char *clean = malloc(strlen(path) + 1), *end = clean;

	if (!clean)
		return NULL;
	while (*path) {
		size_t slashes = strspn(path, "/"), size = strcspn(path + slashes, "/");
		const char *part = path + slashes;

		path = part + size;
		if (!size || (size == 1 && *part == '.'))
			continue;
		if (size == 2 && !memcmp(part, "..", 2)) {
			while (end > clean && *--end != '/')
				;
			continue;
		}
		if (absolute || end > clean)
			*end++ = '/';
		memcpy(end, part, size);
		end += size;
	}
	*end = 0;
	return clean;
}

/* Opens "FOLDER/PATH"; -1 with errno. */
static int open_below(const char *folder, const char *path, char **opened)
{
	int fd;

	if (asprintf(opened, "%s%s%s", folder, *folder && *path != '/' ? "/" : "", path) < 0) {
		*opened = NULL;
		errno = ENOMEM;
		return -1;
	}
	/* Without O_NONBLOCK a pipe would be waited for. */
	fd = open(*opened, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		free(*opened);
		*opened = NULL;
	}
	return fd;
}

/* In a folder: the whole path, else what is left of it without its first folders. */
static int open_end(const char *folder, const char *path, char **opened)
{
	int fd = -1;

	while (path && fd < 0) {
		while (*path == '/')
			path++;
		fd = *path ? open_below(folder, path, opened) : -1;
		path = strchr(path, '/');
	}
	return fd;
}

/* By its recorded path, within a root; -1 with errno. */
static int open_recorded(const char *root, const char *path, char **opened)
{
	int fd = debug_search_open(root, path);

	if (fd >= 0 && asprintf(opened, "%s%s", root, path) < 0) {
		close(fd);
		*opened = NULL;
		errno = ENOMEM;
		return -1;
	}
	return fd;
}

static int open_source(const struct source_search *search, const char *path, char **opened)
{
	int fd = -1;

	*opened = NULL;
	if (search->directory)
		fd = open_end(search->directory, path, opened);
	if (fd < 0 && search->sysroot && *path == '/')
		fd = open_recorded(search->sysroot, path, opened);
	if (fd < 0 && *path == '/')
		return open_recorded("", path, opened);
	if (fd < 0)
		errno = ENOENT; /* whatever it is relative to, it is not this folder */
	return fd;
}

/* -------- reading -------- */

static struct error *find_lines(struct source_file *f)
{
	size_t n = 1;

	for (size_t i = 0; i < f->size; i++)
		n += f->text[i] == '\n';
	f->line_at = malloc((n + 1) * sizeof(*f->line_at));
	if (!f->line_at)
		return error_memory();
	f->line_at[0] = 0;
	for (size_t i = 0; i < f->size; i++)
		if (f->text[i] == '\n')
			f->line_at[++f->line_count] = i + 1;
	if (f->line_at[f->line_count] < f->size)
		f->line_at[++f->line_count] = f->size;
	return NULL;
}

static struct error *read_text(struct source_file *f, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_system(errno, "cannot read");
	if (!S_ISREG(st.st_mode))
		return error_new(ERROR_UNAVAILABLE, "is not a plain file");
	if (st.st_size > LIMIT_SOURCE_BYTES)
		return error_new(ERROR_UNAVAILABLE, "is larger than sources that are read");
	f->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	f->text = malloc((size_t)st.st_size + 1);
	if (!f->text)
		return error_memory();
	while (f->size < (size_t)st.st_size) {
		ssize_t n = read(fd, f->text + f->size, (size_t)st.st_size - f->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(errno, "cannot read");
		if (!n)
			break;
		f->size += (size_t)n;
	}
	return find_lines(f);
}

/* A path without dots. */
static struct error *read_named(struct source_file *f, const struct source_search *search,
				const char *path)
{
	struct error *error;
	int fd;

	if (!source_file_is_source(path))
		return error_new(ERROR_UNAVAILABLE, "does not have the name of a source file");
	fd = open_source(search, path, &f->path);
	if (fd < 0)
		return errno == ENOMEM ? error_memory() : error_system(errno, "cannot open");
	error = read_text(f, fd);
	close(fd);
	return error;
}

struct error *source_file_read(struct source_file *f, const struct source_search *search,
			       const char *path)
{
	char *clean = without_dots(path);
	struct error *error;

	*f = (struct source_file){ 0 };
	if (!clean)
		return error_memory();
	error = read_named(f, search, clean);
	free(clean);
	if (error)
		source_file_release(f);
	return error;
}

/* -------- of a trace -------- */

uint64_t source_file_embedded_lines(const struct prf_source *sources, size_t n, const char *path)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t end = (uint64_t)sources[i].first_line + sources[i].n - 1;

		if (sources[i].first_line && sources[i].n && !strcmp(sources[i].path, path) &&
		    end > last)
			last = end;
	}
	return last;
}

/* Lines that the trace does not hold are empty. */
static struct error *join_lines(struct source_file *f, const char *const *lines, size_t count)
{
	struct buffer text = { 0 };

	f->line_at = malloc((count + 1) * sizeof(*f->line_at));
	if (!f->line_at)
		return error_memory();
	for (size_t i = 0; i < count; i++) {
		f->line_at[i] = text.size;
		if (lines[i])
			buffer_text(&text, lines[i]);
		buffer_u8(&text, '\n');
	}
	f->line_at[count] = text.size;
	if (!buffer_ok(&text)) {
		buffer_release(&text);
		return error_memory();
	}
	f->line_count = count;
	f->text = (char *)text.data;
	f->size = text.size;
	return NULL;
}

struct error *source_file_embedded(struct source_file *f, const struct prf_source *sources,
				   size_t n, const char *path)
{
	uint64_t count = source_file_embedded_lines(sources, n, path);
	const char **lines;
	struct error *error;

	*f = (struct source_file){ 0 };
	if (!count || count > LIMIT_SOURCE_LINES)
		return error_new(ERROR_UNAVAILABLE, "the trace does not hold it");
	lines = calloc(count, sizeof(*lines));
	f->path = strdup(path);
	for (size_t i = 0; lines && i < n; i++) {
		if (!sources[i].first_line || strcmp(sources[i].path, path))
			continue;
		for (size_t k = 0; k < sources[i].n; k++)
			lines[sources[i].first_line - 1 + k] = sources[i].lines[k];
	}
	error = lines && f->path ? join_lines(f, lines, count) : error_memory();
	free(lines);
	if (error)
		source_file_release(f);
	return error;
}

const char *source_file_line(const struct source_file *f, uint32_t line, size_t *size)
{
	*size = 0;
	if (!line || line > f->line_count)
		return "";
	*size = f->line_at[line] - f->line_at[line - 1];
	while (*size && strchr("\r\n", f->text[f->line_at[line - 1] + *size - 1]))
		(*size)--;
	return f->text + f->line_at[line - 1];
}
