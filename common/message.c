/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/message.h"

#include "common/buffer.h"
#include "common/utf8.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One for the process, as standard error is. */
static struct {
	const char *program;
	enum message_level shown;
	int patience_ms;
	atomic_uint missed; /* lines that had no room */
} to = { "prof", MESSAGE_INFO, -1, 0 };

void message_setup(const char *program, enum message_level shown)
{
	to.program = program;
	to.shown = shown;
}

/* Whether PIPE_BUF bytes can be written without waiting for a reader: files always have room. */
static bool has_room(int ms)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
	int ready;

	do
		ready = poll(&fd, 1, ms);
	while (ready < 0 && errno == EINTR);
	return ready != 0;
}

void message_patience(int ms)
{
	to.patience_ms = ms;
}

bool message_has_room(void)
{
	return has_room(0);
}

static void write_out(const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size && has_room(to.patience_ms)) {
		ssize_t n = write(STDERR_FILENO, at, size < PIPE_BUF ? size : PIPE_BUF);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		size -= (size_t)n;
	}
}

/* Whether a line can be written. After others that could not, it says first how many those were. */
static bool may_write(void)
{
	unsigned int missed = atomic_load(&to.missed);
	char text[64];

	if (!has_room(missed && to.patience_ms >= 0 ? 0 : to.patience_ms)) {
		atomic_fetch_add(&to.missed, 1);
		return false;
	}
	if (missed && atomic_compare_exchange_strong(&to.missed, &missed, 0)) {
		write_out(to.program, strlen(to.program));
		write_out(text, (size_t)snprintf(text, sizeof(text),
						 ": %u messages had no reader\n", missed));
	}
	return true;
}

/* Without memory, which may be what there is to report: piece by piece, a long text cut short. */
static void write_pieces(const char *prefix, const char *format, va_list args)
{
	char text[512], byte[8];
	const char *at = text;

	vsnprintf(text, sizeof(text), format, args);
	write_out(to.program, strlen(to.program));
	write_out(": ", 2);
	write_out(prefix, strlen(prefix));
	while (*at) {
		size_t visible = utf8_visible(at);

		write_out(at, visible);
		at += visible;
		for (unsigned int skip = utf8_skip(at); skip; skip--)
			write_out(byte, (size_t)snprintf(byte, sizeof(byte), "\\x%02x",
							 (unsigned char)*at++));
	}
	write_out("\n", 1);
}

static void __attribute__((format(printf, 2, 0)))
message(enum message_level level, const char *format, va_list args)
{
	static const char *const prefix[] = {
		[MESSAGE_ERROR] = "",
		[MESSAGE_WARNING] = "warning: ",
		[MESSAGE_INFO] = "",
		[MESSAGE_DETAIL] = "",
	};
	struct buffer text = { 0 }, line = { 0 };
	int saved = errno;
	va_list again;

	if (level > to.shown)
		return;
	if (!may_write()) {
		errno = saved;
		return;
	}
	va_copy(again, args);
	buffer_vprintf(&text, format, args);
	buffer_printf(&line, "%s: %s", to.program, prefix[level]);
	utf8_escape(&line, buffer_string(&text));
	buffer_u8(&line, '\n');
	/* One write, so that lines of several threads do not mix. */
	if (buffer_ok(&text) && buffer_ok(&line))
		write_out(line.data, line.size);
	else
		write_pieces(prefix[level], format, again);
	va_end(again);
	buffer_release(&text);
	buffer_release(&line);
	errno = saved;
}

#define MESSAGE(name, level)                                                                       \
	void message_##name(const char *format, ...)                                               \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		message(level, format, args);                                                      \
		va_end(args);                                                                      \
	}
MESSAGE(error, MESSAGE_ERROR)
MESSAGE(warning, MESSAGE_WARNING)
MESSAGE(info, MESSAGE_INFO)
MESSAGE(detail, MESSAGE_DETAIL)
