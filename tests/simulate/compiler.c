/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/simulate/compiler.h"

#include "common/buffer.h"
#include "common/map.h"
#include "record/system/opener.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES 4096

struct compiler {
	int file;
	uint32_t pid;
	struct buffer waiting;
	uint64_t unwritten_ns;
};

/* path -> fd: what the machine's file system holds. */
static struct map files;

void compiler_path(char *text, size_t size, uint32_t pid)
{
	snprintf(text, size, "/sim/jit-%" PRIu32 ".dump", pid);
}

void compiler_name(char *text, size_t size, uint32_t function)
{
	snprintf(text, size, "made_%" PRIu32, function);
}

static void put_file(uint32_t pid, int fd)
{
	char path[64];
	bool is_new;
	uint64_t *at;

	compiler_path(path, sizeof(path), pid);
	at = map_put(&files, path, strlen(path), &is_new);
	assert(at);
	if (!is_new)
		close((int)*at);
	*at = (uint64_t)fd;
}

/* The layout is described in record/symbols/jitdump.h. */
static void put_header(struct compiler *c)
{
	const uint32_t words[6] = { 0x4a695444, 1, 40, 62, 0, c->pid };
	const uint64_t time_and_flags[2] = { 0, 0 };

	buffer_append(&c->waiting, words, sizeof(words));
	buffer_append(&c->waiting, time_and_flags, sizeof(time_and_flags));
}

struct compiler *compiler_new(uint32_t pid)
{
	struct compiler *c = calloc(1, sizeof(*c));

	assert(c);
	c->pid = pid;
	c->file = memfd_create("dump", MFD_CLOEXEC);
	assert(c->file >= 0);
	c->unwritten_ns = UINT64_MAX;
	put_file(pid, c->file);
	put_header(c);
	return c;
}

static void write_first(struct compiler *c, size_t size)
{
	assert(write(c->file, c->waiting.data, size) == (ssize_t)size);
	c->waiting.size -= size;
	memmove(c->waiting.data, c->waiting.data + size, c->waiting.size);
}

void compiler_flush(struct compiler *c)
{
	write_first(c, c->waiting.size);
	c->unwritten_ns = UINT64_MAX;
}

uint64_t compiler_unwritten_ns(const struct compiler *c)
{
	return c->unwritten_ns;
}

void compiler_end(struct compiler *c, bool is_killed)
{
	if (!c)
		return;
	if (!is_killed)
		compiler_flush(c);
	buffer_release(&c->waiting);
	free(c);
}

static void close_file(const void *key, size_t size, uint64_t value, void *context)
{
	close((int)value);
}

void compiler_remove_files(void)
{
	map_each(&files, close_file, NULL);
	map_release(&files);
}

void compiler_make(struct compiler *c, uint64_t start, uint64_t size, uint32_t function,
		   uint64_t time_ns)
{
	static const uint8_t code[16];
	const uint32_t tasks[2] = { c->pid, c->pid };
	const uint64_t numbers[4] = { start, start, size, function };
	char name[32];
	uint32_t header[2] = { 0 };

	compiler_name(name, sizeof(name), function);
	header[1] = (uint32_t)(sizeof(header) + sizeof(time_ns) + sizeof(tasks) + sizeof(numbers) +
			       strlen(name) + 1 + sizeof(code));
	buffer_append(&c->waiting, header, sizeof(header));
	buffer_append(&c->waiting, &time_ns, sizeof(time_ns));
	buffer_append(&c->waiting, tasks, sizeof(tasks));
	buffer_append(&c->waiting, numbers, sizeof(numbers));
	buffer_append(&c->waiting, name, strlen(name) + 1);
	buffer_append(&c->waiting, code, sizeof(code));
	if (c->unwritten_ns == UINT64_MAX)
		c->unwritten_ns = time_ns;
	if (c->waiting.size > BUFFER_BYTES) {
		write_first(c, BUFFER_BYTES);
		c->unwritten_ns = time_ns;
	}
}

/* -------- what the recorder calls of the opener -------- */

int opener_open(const struct opening *what, struct open_file *file)
{
	const uint64_t *fd = what->in_folder ? NULL
					     : map_get(&files, what->path, strlen(what->path));

	*file = (struct open_file){ .fd = -1 };
	if (!fd || what->kind != OPENING_GROWING)
		return -ESRCH; /* as for processes that /proc knows nothing of */
	file->fd = fcntl((int)*fd, F_DUPFD_CLOEXEC, 0);
	return file->fd < 0 || fstat(file->fd, &file->status) ? -EIO : 0;
}

uint64_t opener_answers(void)
{
	return 0;
}
