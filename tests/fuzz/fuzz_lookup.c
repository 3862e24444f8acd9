/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of places in a file with all that it may point to: a file that its .gnu_debuglink or
 * .gnu_debugaltlink names, and split DWARF, as a.dwo or as a package. The input: how long the file
 * itself and the first of these are (u16 each), both of them, and what is split. Files are written
 * in memory, where there is such a folder, and only if they are not as for the input before.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/elf_file.h"
#include "report/symbols/symbolizer.h"

#define PLACES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each file has two names, the main one but one. */
static const char *const names[][2] = { { "main" }, { "debug", "alt" }, { "a.dwo", "main.dwp" } };

#define FILES (sizeof(names) / sizeof(*names))

static char folder[64] = "/dev/shm/fuzz_lookup.XXXXXX";
static struct file {
	int fd;
	struct buffer content;
} files[FILES];

static void remove_folder(void)
{
	char path[96];

	for (size_t i = 0; i < 2 * FILES; i++) {
		if (!names[i / 2][i % 2])
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names[i / 2][i % 2]);
		unlink(path);
	}
	rmdir(folder);
}

static void make_folder(void)
{
	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/fuzz_lookup.XXXXXX");
		if (!mkdtemp(folder))
			abort();
	}
	atexit(remove_folder);
	for (size_t i = 0; i < FILES; i++) {
		char first[96], second[96];

		snprintf(first, sizeof(first), "%s/%s", folder, names[i][0]);
		files[i].fd = open(first, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (files[i].fd < 0)
			abort();
		if (!names[i][1])
			continue;
		snprintf(second, sizeof(second), "%s/%s", folder, names[i][1]);
		if (link(first, second))
			abort();
	}
}

static void fill(struct file *file, struct cursor *input, uint64_t size)
{
	const void *bytes;

	size = size < cursor_left(input) ? size : cursor_left(input);
	bytes = cursor_bytes(input, size);
	if (size == file->content.size && (!size || !memcmp(file->content.data, bytes, size)))
		return;
	buffer_clear(&file->content);
	buffer_append(&file->content, bytes, size);
	if (!buffer_ok(&file->content) || ftruncate(file->fd, (off_t)size) ||
	    pwrite(file->fd, bytes, size, 0) != (ssize_t)size)
		abort();
}

/* All over the file's segments, each as a return address and as a pc. */
static void ask(struct symbolizer *s, const struct elf_file *e, uint32_t object)
{
	for (size_t i = 0; i < PLACES; i++) {
		const struct elf_segment *segment = &e->segments[i % e->segment_count];
		uint64_t offset = segment->offset + segment->file_size / PLACES * i + i / 2;
		uint32_t query;

		if (error_ignore(symbolizer_add_query(s, object, offset, i % 2, &query)) ||
		    query != i)
			abort();
	}
}

static size_t read_answers(const struct symbolizer *s, uint32_t object)
{
	struct symbols_found found;
	size_t length = 0;

	symbolizer_found(s, object, &found);
	if (found.queries != PLACES || found.named > PLACES)
		abort();
	for (uint32_t i = 0; i < PLACES; i++) {
		size_t n;
		const struct symbolizer_place *places = symbolizer_places(s, i, &n);

		for (size_t k = 0; k < n; k++)
			length += strlen(places[k].function) + strlen(places[k].file);
	}
	return length + strlen(found.path) + strlen(found.debug_path);
}

static void look_up(const struct elf_file *e)
{
	const struct symbolizer_options options = {
		.sysroot = folder, .inlines = true, .lines = true, .demangle = true, .jobs = 1
	};
	struct prf_object main = { .path = "/main", .root = "", .size = e->size };
	struct symbolizer *s;
	uint32_t object;

	memcpy(main.build_id, e->build_id, sizeof(e->build_id));
	main.build_id_size = e->build_id_size;
	if (error_ignore(symbolizer_new(&s, &options)) ||
	    error_ignore(symbolizer_add_object(s, &main, &object)))
		abort();
	ask(s, e, object);
	if (error_ignore(symbolizer_run(s)) || !read_answers(s, object))
		abort();
	symbolizer_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor input = cursor_over(data, size);
	uint64_t main_size = cursor_u16(&input), debug_size = cursor_u16(&input);
	struct elf_file e;

	if (!files[0].fd)
		make_folder();
	if (!cursor_ok(&input) || main_size > cursor_left(&input) ||
	    elf_file_open_memory(&e, input.at, main_size))
		return 0;
	if (e.segment_count) {
		fill(&files[0], &input, main_size);
		fill(&files[1], &input, debug_size);
		fill(&files[2], &input, cursor_left(&input));
		look_up(&e);
	}
	elf_file_release(&e);
	return 0;
}
