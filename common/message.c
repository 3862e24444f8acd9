/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/message.h"

#include "common/buffer.h"
#include "common/utf8.h"

#include <errno.h>
#include <unistd.h>

static const char *program_name = "prof";
static enum message_level shown_level = MESSAGE_INFO;

void message_setup(const char *program, enum message_level shown)
{
	program_name = program;
	shown_level = shown;
}

static void append_escaped(struct buffer *line, const char *text)
{
	for (;;) {
		size_t visible = utf8_visible(text);

		buffer_append(line, text, visible);
		text += visible;
		if (!*text)
			return;
		for (unsigned int skip = utf8_skip(text); skip; skip--)
			buffer_printf(line, "\\x%02x", (unsigned char)*text++);
	}
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
	size_t done = 0;

	if (level > shown_level)
		return;
	buffer_vprintf(&text, format, args);
	buffer_printf(&line, "%s: %s", program_name, prefix[level]);
	append_escaped(&line, buffer_string(&text));
	buffer_u8(&line, '\n');
	/* One write, so that lines of several threads do not mix. */
	while (done < line.size) {
		ssize_t n = write(STDERR_FILENO, line.data + done, line.size - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
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
