/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/startup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mapped_file.h"
#include "record/system/opener.h"
#include "record/unwind/elf_needs.h"

#define FOLDERS_MAX 64
#define CONFIG_DEPTH 4
#define SCRIPT_DEPTH 4 /* scripts that run scripts, perhaps themselves */
/* A file may need millions of others, in folders that hardly answer. */
#define SEARCH_NS UINT64_C(500000000)

struct search {
	char *folders[FOLDERS_MAX];
	size_t folder_count;
	size_t system_from, system_to; /* those that the system's own libraries are in */
	char *files[STARTUP_FILES_MAX];
	size_t file_count;
	uint64_t until_ns; /* from then on no library is searched for */
};

static bool is_late(const struct search *s)
{
	return clock_now() >= s->until_ns;
}

/* Whether it is there, and answers; see opener.h. */
static bool answers(const char *path, mode_t rights)
{
	const struct opening what = { .kind = OPENING_STATUS, .path = path };
	struct open_file file;

	return !opener_open(&what, &file) && (!rights || file.status.st_mode & rights);
}

/* An fd, or -1. */
static int open_path(const char *path)
{
	struct open_file file;

	return opener_open_path(path, &file) ? -1 : file.fd;
}

static void add_folder(struct search *s, const char *path, size_t length)
{
	if (!length || s->folder_count == FOLDERS_MAX)
		return;
	for (size_t i = 0; i < s->folder_count; i++)
		if (strlen(s->folders[i]) == length && memcmp(s->folders[i], path, length) == 0)
			return;
	s->folders[s->folder_count] = strndup(path, length);
	if (s->folders[s->folder_count])
		s->folder_count++;
}

static void read_config(struct search *s, const char *path, int depth);

/*
 * The files that match `pattern`, which is relative to the folder of the config. Not by glob():
 * that of glibc 2.36 frees twice when there is no memory.
 */
static void read_included(struct search *s, const char *config, const char *pattern, int depth)
{
	const char *slash = strrchr(pattern, '/'), *name = slash ? slash + 1 : pattern;
	size_t prefix = *pattern == '/' ? 0 : (size_t)(strrchr(config, '/') + 1 - config);
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent **entries;
	int size = snprintf(folder, sizeof(folder), "%.*s%.*s", (int)prefix, config,
			    (int)(name - pattern), pattern);
	int n = size < (int)sizeof(folder) ? scandir(folder, &entries, NULL, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		size = snprintf(path, sizeof(path), "%s%s", folder, entries[i]->d_name);
		if (size < (int)sizeof(path) && !fnmatch(name, entries[i]->d_name, FNM_PERIOD))
			read_config(s, path, depth + 1);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Folders of ld.so.conf(5): one a line, and "include PATTERN". */
static void read_config(struct search *s, const char *path, int depth)
{
	FILE *file = depth < CONFIG_DEPTH ? fopen(path, "re") : NULL;
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = 0;
		if (strncmp(line, "include ", 8) == 0)
			read_included(s, path, line + 8, depth);
		else if (line[0] == '/')
			add_folder(s, line, strlen(line));
	}
	if (file)
		fclose(file);
}

/* "a:b:c", with $ORIGIN for the folder of the file that says so. */
static void add_path_list(struct search *s, const char *list, const char *origin)
{
	while (list && *list) {
		size_t length = strcspn(list, ":");
		char path[PATH_MAX];
		int size = 0;

		if (strncmp(list, "$ORIGIN", 7) == 0)
			size = snprintf(
				path, sizeof(path), "%.*s%.*s",
				(int)(strrchr(origin, '/') ? strrchr(origin, '/') - origin : 0),
				origin, (int)(length - 7), list + 7);
		else if (*list == '/')
			size = snprintf(path, sizeof(path), "%.*s", (int)length, list);
		if (size > 0 && (size_t)size < sizeof(path))
			add_folder(s, path, (size_t)size);
		list += length + (list[length] == ':');
	}
}

/* Notes a file that exists and was not noted yet. */
static bool add_file(struct search *s, const char *path)
{
	char real[PATH_MAX];

	if (s->file_count == STARTUP_FILES_MAX || !realpath(path, real) || access(real, R_OK))
		return false;
	for (size_t i = 0; i < s->file_count; i++)
		if (strcmp(s->files[i], real) == 0)
			return true;
	s->files[s->file_count] = strdup(real);
	if (s->files[s->file_count])
		s->file_count++;
	return true;
}

static void find_library(struct search *s, const char *name)
{
	char path[PATH_MAX];
	bool is_system;

	if (!*name)
		return;
	if (strchr(name, '/')) {
		if (answers(name, 0))
			add_file(s, name);
		return;
	}
	for (size_t i = 0; i < s->folder_count && !is_late(s); i++) {
		int size = snprintf(path, sizeof(path), "%s/%s", s->folders[i], name);

		if (size <= 0 || (size_t)size >= sizeof(path))
			continue;
		is_system = i >= s->system_from && i < s->system_to;
		if ((is_system || answers(path, 0)) && add_file(s, path))
			return;
	}
}

/* A file, and what it needs. */
struct needing {
	struct search *search;
	const char *path;
};

static bool add_need(void *context, enum elf_need need, const char *text)
{
	const struct needing *n = context;

	if (n->search->file_count == STARTUP_FILES_MAX || is_late(n->search))
		return false;
	switch (need) {
	case ELF_NEED_INTERPRETER: add_file(n->search, text); break;
	case ELF_NEED_FOLDERS: add_path_list(n->search, text, n->path); break;
	case ELF_NEED_LIBRARY: find_library(n->search, text); break;
	}
	return true;
}

static void read_file_needs(struct search *s, const char *path)
{
	struct needing n = { s, path };
	int fd = open_path(path);
	struct elf_file e;

	if (fd < 0)
		return;
	if (elf_file_open(&e, fd) == ELF_OK) {
		elf_needs_each(&e, add_need, &n);
		elf_file_release(&e);
	}
	close(fd);
}

static bool find_program(const char *program, char *path, size_t size)
{
	const char *folder = getenv("PATH");

	if (!*program)
		return false;
	if (strchr(program, '/'))
		return (size_t)snprintf(path, size, "%s", program) < size &&
		       answers(path, S_IXUSR | S_IXGRP | S_IXOTH);
	while (folder && *folder) {
		size_t length = strcspn(folder, ":");
		int written = snprintf(path, size, "%.*s/%s", (int)length, folder, program);

		if (written > 0 && (size_t)written < size &&
		    answers(path, S_IXUSR | S_IXGRP | S_IXOTH))
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

static void add_program(struct search *s, const char *path, int depth);

/* "#!/usr/bin/env python3" runs env, and then python3. */
static void read_script(struct search *s, const char *path, int depth)
{
	char line[PATH_MAX], program[PATH_MAX], *word, *rest = NULL;
	int fd = open_path(path);
	ssize_t n = fd < 0 ? 0 : mapped_file_read(fd, line, sizeof(line) - 1, 0);

	if (fd >= 0)
		close(fd);
	line[n < 0 ? 0 : n] = 0;
	line[strcspn(line, "\n")] = 0;
	if (strncmp(line, "#!", 2) == 0) {
		word = strtok_r(line + 2, " \t", &rest);
		if (word)
			add_file(s, word);
		if (word && strcmp(word, "/usr/bin/env") == 0 && depth < SCRIPT_DEPTH) {
			word = strtok_r(NULL, " \t", &rest);
			if (word && find_program(word, program, sizeof(program)))
				add_program(s, program, depth + 1);
		}
	}
}

/*
 * Launchers of a JDK open the Java machine by its path. It is large: Java code runs before a table
 * could be made that is begun only then.
 */
static void add_java_machine(struct search *s, const char *launcher)
{
	static const char *const places[] = { "lib/server", "jre/lib/amd64/server",
					      "jre/lib/aarch64/server" };
	char real[PATH_MAX], path[PATH_MAX];
	const char *name = realpath(launcher, real) ? strrchr(real, '/') : NULL;

	for (size_t i = 0; name && i < sizeof(places) / sizeof(places[0]); i++) {
		int size = snprintf(path, sizeof(path), "%.*s/../%s/libjvm.so", (int)(name - real),
				    real, places[i]);

		if (size > 0 && (size_t)size < sizeof(path))
			add_file(s, path);
	}
}

static void add_program(struct search *s, const char *path, int depth)
{
	add_file(s, path);
	read_script(s, path, depth);
	add_java_machine(s, path);
}

/* `program` has the folder that $ORIGIN means. */
static void add_folders(struct search *s, const char *program)
{
	static const char *const usual[] = { "/lib/x86_64-linux-gnu",
					     "/usr/lib/x86_64-linux-gnu",
					     "/lib/aarch64-linux-gnu",
					     "/usr/lib/aarch64-linux-gnu",
					     "/lib64",
					     "/usr/lib64",
					     "/lib",
					     "/usr/lib",
					     "/usr/local/lib" };

	add_path_list(s, getenv("LD_LIBRARY_PATH"), program);
	s->system_from = s->folder_count;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		add_folder(s, usual[i], strlen(usual[i]));
	read_config(s, "/etc/ld.so.conf", 0);
	s->system_to = s->folder_count;
}

void startup_files_each(const char *program, startup_file_function *found, void *context)
{
	struct search *s = calloc(1, sizeof(*s));
	char path[PATH_MAX];

	if (s && find_program(program, path, sizeof(path))) {
		s->until_ns = clock_now() + SEARCH_NS;
		add_folders(s, path);
		add_program(s, path, 0);
	}
	/* Adds to the list. */
	for (size_t i = 0; s && i < s->file_count && !is_late(s); i++)
		read_file_needs(s, s->files[i]);
	for (size_t i = 0; s && i < s->file_count; i++) {
		found(context, s->files[i]);
		free(s->files[i]);
	}
	for (size_t i = 0; s && i < s->folder_count; i++)
		free(s->folders[i]);
	free(s);
}
