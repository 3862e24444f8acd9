/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/array.h"
#include "common/buffer.h"
#include "common/cursor.h"
#include "common/fuzzing.h"
#include "common/map.h"

#define MAGIC "PRFNAMES"
#define VERSION 1
#define CHECKED_HEADER 40
#define HEADER_BYTES 48
#define PLACE_BYTES 16

/* -------- where -------- */

/* The folder, made when it is not there. NULL: neither $XDG_CACHE_HOME nor $HOME is set. */
static char *folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL, *parent = NULL;

	if (base && *base == '/') {
		if (asprintf(&path, "%s/prof", base) < 0)
			return NULL;
		mkdir(base, 0700);
	} else if (home && *home == '/') {
		if (asprintf(&parent, "%s/.cache", home) < 0)
			return NULL;
		mkdir(parent, 0700);
		if (asprintf(&path, "%s/prof", parent) < 0)
			path = NULL;
		free(parent);
	}
	if (path)
		mkdir(path, 0700);
	return path;
}

static char *path_of(const struct name_cache_key *key)
{
	char id[2 * PRF_BUILD_ID_MAX + 1] = "", *directory = folder(), *path = NULL;

	for (size_t i = 0; i < key->build_id_size && i < PRF_BUILD_ID_MAX; i++)
		snprintf(id + 2 * i, 3, "%02x", key->build_id[i]);
	if (directory && asprintf(&path, "%s/%s-%02x", directory, id, key->flags) < 0)
		path = NULL;
	free(directory);
	return path;
}

/* -------- reading -------- */

void name_cache_release(struct name_cache *c)
{
	if (c->file.data)
		mapped_file_release(&c->file);
	*c = (struct name_cache){ 0 };
}

static uint32_t read_u32(const uint8_t *at)
{
	struct cursor c = cursor_over(at, 4);

	return cursor_u32(&c);
}

static uint64_t read_u64(const uint8_t *at)
{
	struct cursor c = cursor_over(at, 8);

	return cursor_u64(&c);
}

static uint64_t checksum(const uint8_t *data, size_t size)
{
	return XXH3_64bits_withSeed(data + HEADER_BYTES, size - HEADER_BYTES,
				    XXH3_64bits(data, CHECKED_HEADER));
}

/*
 * The numbers of first places must ascend, and the text end with a NUL: then no lookup reads
 * outside of the file.
 */
static bool is_sound(const struct name_cache *c)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i <= c->offset_count; i++) {
		uint32_t first = read_u32(c->first + 4 * (size_t)i);

		if (first < last || first > c->place_count)
			return false;
		last = first;
	}
	return c->text_size && !c->text[c->text_size - 1];
}

bool name_cache_open_memory(struct name_cache *c, const struct name_cache_key *key,
			    const void *data, size_t size)
{
	struct cursor in = cursor_over(data, size);
	const uint8_t *magic = cursor_bytes(&in, 8);
	uint64_t sum __attribute__((unused));

	if (!magic || memcmp(magic, MAGIC, 8) || cursor_u32(&in) != VERSION ||
	    cursor_u32(&in) != key->flags || cursor_u64(&in) != key->identity)
		return false;
	c->offset_count = cursor_u32(&in);
	c->place_count = cursor_u32(&in);
	c->text_size = cursor_u32(&in);
	cursor_u32(&in);
	sum = cursor_u64(&in);
	if (!cursor_ok(&in))
		return false;
	if (!FUZZING && sum != checksum(data, size))
		return false;
	c->offsets = cursor_bytes(&in, (uint64_t)c->offset_count * 8);
	c->first = cursor_bytes(&in, ((uint64_t)c->offset_count + 1) * 4);
	c->places = cursor_bytes(&in, (uint64_t)c->place_count * PLACE_BYTES);
	c->text = (const char *)cursor_bytes(&in, c->text_size);
	c->open = cursor_ok(&in) && !cursor_left(&in) && is_sound(c);
	return c->open;
}

/* A file that another user owns or may write to can hold forged names. */
static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool name_cache_open(struct name_cache *c, const struct name_cache_key *key)
{
	char *path = path_of(key);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	free(path);
	*c = (struct name_cache){ 0 };
	if (fd < 0)
		return false;
	if (!is_ours(fd) || mapped_file_open(&c->file, fd) ||
	    !name_cache_open_memory(c, key, c->file.data, c->file.size))
		name_cache_release(c);
	else
		futimens(fd, NULL); /* name_cache_trim() removes what was not used for longest */
	close(fd);
	return c->open;
}

uint32_t name_cache_find(const struct name_cache *c, uint64_t offset)
{
	uint32_t low = 0, high = c->offset_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (read_u64(c->offsets + 8 * (size_t)middle) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->offset_count && read_u64(c->offsets + 8 * (size_t)low) == offset
		       ? low
		       : UINT32_MAX;
}

uint32_t name_cache_places(const struct name_cache *c, uint32_t i)
{
	const uint8_t *first = c->first + 4 * (size_t)i;

	return read_u32(first + 4) - read_u32(first);
}

static const char *text_at(const struct name_cache *c, uint32_t offset)
{
	return offset < c->text_size ? c->text + offset : "";
}

struct symbolizer_place name_cache_place(const struct name_cache *c, uint32_t i, uint32_t place)
{
	const uint8_t *at = c->places +
			    PLACE_BYTES * ((size_t)read_u32(c->first + 4 * (size_t)i) + place);

	return (struct symbolizer_place){ .function = text_at(c, read_u32(at)),
					  .file = text_at(c, read_u32(at + 4)),
					  .line = read_u32(at + 8),
					  .start_line = read_u32(at + 12) };
}

/* -------- writing -------- */

struct cache_writer {
	struct buffer offsets, first, places, text;
	struct map known; /* text -> offset */
	uint32_t offset_count, place_count;
};

static void writer_release(struct cache_writer *w)
{
	buffer_release(&w->offsets);
	buffer_release(&w->first);
	buffer_release(&w->places);
	buffer_release(&w->text);
	map_release(&w->known);
}

static uint32_t add_text(struct cache_writer *w, const char *text)
{
	size_t size = strlen(text) + 1;
	bool added;
	uint64_t *at = map_put(&w->known, text, size, &added);

	if (!at) {
		w->text.failed = true;
		return 0;
	}
	if (added) {
		*at = w->text.size;
		buffer_append(&w->text, text, size);
	}
	return (uint32_t)*at;
}

static void add_offset(struct cache_writer *w, uint64_t offset)
{
	buffer_u64(&w->offsets, offset);
	buffer_u32(&w->first, w->place_count);
	w->offset_count++;
}

static void add_place(struct cache_writer *w, const struct symbolizer_place *place)
{
	buffer_u32(&w->places, add_text(w, place->function));
	buffer_u32(&w->places, add_text(w, place->file));
	buffer_u32(&w->places, place->line);
	buffer_u32(&w->places, place->start_line);
	w->place_count++;
}

static void add_old(struct cache_writer *w, const struct name_cache *old, uint32_t i)
{
	add_offset(w, read_u64(old->offsets + 8 * (size_t)i));
	for (uint32_t p = 0; p < name_cache_places(old, i); p++) {
		struct symbolizer_place place = name_cache_place(old, i, p);

		add_place(w, &place);
	}
}

/* Merges two sorted lists; of an offset in both the new answer counts. */
static void add_all(struct cache_writer *w, const struct name_cache *old,
		    const struct name_cache_answer *answers, size_t n)
{
	uint32_t next = 0, count = old ? old->offset_count : 0;

	for (size_t i = 0; i < n; i++) {
		for (; next < count; next++) {
			uint64_t offset = read_u64(old->offsets + 8 * (size_t)next);

			if (offset > answers[i].offset)
				break;
			if (offset < answers[i].offset)
				add_old(w, old, next);
		}
		add_offset(w, answers[i].offset);
		for (uint32_t p = 0; p < answers[i].n; p++)
			add_place(w, &answers[i].places[p]);
	}
	for (; next < count; next++)
		add_old(w, old, next);
	buffer_u32(&w->first, w->place_count);
}

/* The whole file in `out`. */
static bool seal(const struct cache_writer *w, const struct name_cache_key *key, struct buffer *out)
{
	uint64_t sum;

	buffer_append(out, MAGIC, 8);
	buffer_u32(out, VERSION);
	buffer_u32(out, key->flags);
	buffer_u64(out, key->identity);
	buffer_u32(out, w->offset_count);
	buffer_u32(out, w->place_count);
	buffer_u32(out, (uint32_t)w->text.size);
	buffer_u32(out, 0);
	buffer_u64(out, 0);
	buffer_append(out, w->offsets.data, w->offsets.size);
	buffer_append(out, w->first.data, w->first.size);
	buffer_append(out, w->places.data, w->places.size);
	buffer_append(out, w->text.data, w->text.size);
	if (!buffer_ok(out) || !buffer_ok(&w->offsets) || !buffer_ok(&w->first) ||
	    !buffer_ok(&w->places) || !buffer_ok(&w->text) || w->text.size > UINT32_MAX)
		return false;
	sum = checksum(out->data, out->size);
	for (int i = 0; i < 8; i++)
		out->data[CHECKED_HEADER + i] = (uint8_t)(sum >> 8 * i);
	return true;
}

/*
 * Under a temporary name first, so that no reader sees half of it. A cache that cannot be written
 * is not an error: the next run looks the names up again.
 */
static void write_file(const char *path, const struct buffer *data)
{
	char *temporary;
	size_t done = 0;
	int fd;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return;
	fd = mkostemp(temporary, O_CLOEXEC);
	while (fd >= 0 && done < data->size) {
		ssize_t written = write(fd, data->data + done, data->size - done);

		if (written <= 0)
			break;
		done += (size_t)written;
	}
	if (fd >= 0) {
		close(fd);
		if (done < data->size || rename(temporary, path))
			unlink(temporary);
	}
	free(temporary);
}

void name_cache_store(const struct name_cache_key *key, const struct name_cache *old,
		      const struct name_cache_answer *answers, size_t n)
{
	struct cache_writer w = { 0 };
	struct buffer out = { 0 };
	char *path = path_of(key);

	if (old && (!old->open || old->offset_count + n > CACHE_OFFSETS_MAX))
		old = NULL;
	if (path && n <= CACHE_OFFSETS_MAX) {
		add_text(&w, "");
		add_all(&w, old, answers, n);
		if (seal(&w, key, &out))
			write_file(path, &out);
	}
	writer_release(&w);
	buffer_release(&out);
	free(path);
}

/* -------- trimming -------- */

struct cached_file {
	char name[256];
	struct timespec used;
	uint64_t size;
};

static int by_use(const void *left, const void *right)
{
	const struct cached_file *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

static size_t list_files(DIR *directory, struct cached_file **files, uint64_t *total)
{
	size_t n = 0, capacity = 0;
	struct dirent *entry;

	*files = NULL;
	*total = 0;
	while ((entry = readdir(directory))) {
		struct stat st;

		if (*entry->d_name == '.' ||
		    fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!array_reserve(files, &capacity, n + 1))
			break;
		snprintf((*files)[n].name, sizeof((*files)[n].name), "%s", entry->d_name);
		(*files)[n].used = st.st_mtim;
		(*files)[n++].size = (uint64_t)st.st_size;
		*total += (uint64_t)st.st_size;
	}
	return n;
}

void name_cache_trim(void)
{
	char *path = folder();
	DIR *directory = path ? opendir(path) : NULL;
	struct cached_file *files;
	uint64_t total;
	size_t n;

	free(path);
	if (!directory)
		return;
	n = list_files(directory, &files, &total);
	if (total > CACHE_BYTES_MAX) {
		qsort(files, n, sizeof(*files), by_use);
		/* Down to three quarters, so that the next runs need not trim again. */
		for (size_t i = 0; i < n && total > CACHE_BYTES_MAX / 4 * 3; i++)
			if (!unlinkat(dirfd(directory), files[i].name, 0))
				total -= files[i].size;
	}
	free(files);
	closedir(directory);
}
