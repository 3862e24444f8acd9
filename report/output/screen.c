/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/screen.h"

#include "report/output/progress.h"
#include "report/output/sink.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The other screen, lines that are not wrapped, no cursor. */
#define ENTER "\033[?1049h\033[?7l\033[?25l"
#define LEAVE "\033[?25h\033[?7h\033[?1049l"
#define HOME "\033[H"
#define REVERSED "\033[7m"
#define PLAIN "\033[m"
#define TO_LINE_END "\033[K"

static const struct screen *volatile taken; /* whose terminal restore() gives back */
static volatile sig_atomic_t stop_asked;

static void note_size(int signal_number)
{
}

static void note_stop(int signal_number)
{
	stop_asked = 1;
}

/* Also called by the handler of a signal. */
static void restore(void)
{
	const struct screen *s = taken;
	ssize_t written;

	if (!s)
		return;
	written = write(STDOUT_FILENO, LEAVE, strlen(LEAVE));
	(void)written; /* a terminal that is gone needs nothing back */
	tcsetattr(s->keys, TCSANOW, &s->before);
	taken = NULL;
}

bool screen_open(struct screen *s)
{
	const char *term = getenv("TERM");
	struct sigaction action = { .sa_handler = note_size };

	*s = (struct screen){ .keys = -1 };
	if (!isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return false;
	s->keys = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (s->keys >= 0 && tcgetattr(s->keys, &s->before)) {
		close(s->keys);
		s->keys = -1;
	}
	if (s->keys >= 0)
		sigaction(SIGWINCH, &action, NULL);
	return s->keys >= 0;
}

void screen_close(struct screen *s)
{
	screen_leave(s);
	if (s->keys >= 0)
		close(s->keys);
	s->keys = -1;
}

/* Not where job control is off. */
static void catch_stop(struct screen *s)
{
	struct sigaction action = { .sa_handler = note_stop };

	stop_asked = 0;
	if (!sigaction(SIGTSTP, NULL, &s->stop_before) && s->stop_before.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &action, NULL);
}

void screen_enter(struct screen *s)
{
	struct termios raw = s->before;
	ssize_t written;

	if (s->entered || s->keys < 0)
		return;
	/* Ctrl-C and Ctrl-Z stay signals: the recorder in front of a pipe shall get them, too. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	catch_stop(s);
	taken = s;
	progress_restores(restore);
	tcsetattr(s->keys, TCSADRAIN, &raw);
	written = write(STDOUT_FILENO, ENTER, strlen(ENTER));
	(void)written; /* screen_draw() reports it */
	s->entered = true;
}

void screen_leave(struct screen *s)
{
	if (!s->entered)
		return;
	restore();
	progress_restores(NULL);
	sigaction(SIGTSTP, &s->stop_before, NULL);
	s->entered = false;
}

bool screen_suspend_if_asked(struct screen *s)
{
	if (!s->entered || !stop_asked)
		return false;
	screen_leave(s);
	raise(SIGTSTP);
	screen_enter(s);
	return true;
}

struct screen_size screen_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return (struct screen_size){ 80, 24 };
	return (struct screen_size){ size.ws_col, size.ws_row };
}

/* Without text left, lines are empty. */
static void draw_lines(struct sink *out, const struct buffer *text, unsigned int rows)
{
	const uint8_t *at = text->data, *end = at + text->size;

	for (; rows; rows--) {
		const uint8_t *line_end = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		size_t length = (size_t)((line_end ? line_end : end) - at);

		sink_text(out, "\r\n" TO_LINE_END);
		sink_bytes(out, at, length);
		sink_text(out, PLAIN);
		at += length + (line_end != NULL);
	}
}

struct error *screen_draw(struct screen *s, const struct buffer *title, const struct buffer *text)
{
	struct sink out;
	struct error *error;

	sink_init(&out, STDOUT_FILENO);
	sink_text(&out, HOME TO_LINE_END REVERSED);
	sink_bytes(&out, title->data, title->size);
	sink_text(&out, PLAIN);
	draw_lines(&out, text, screen_size().rows - 1);
	error = sink_flush(&out);
	sink_release(&out);
	return error;
}
