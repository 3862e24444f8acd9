/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_SCREEN_H
#define REPORT_OUTPUT_SCREEN_H

/*
 * The whole terminal, for a text that is drawn anew again and again, and its keys. What the
 * terminal showed before comes back at the end, also when a signal ends the program.
 */

#include "common/buffer.h"
#include "common/error.h"

#include <signal.h>
#include <stdbool.h>
#include <termios.h>

/* One at a time. */
struct screen {
	int keys; /* to read from, as soon as it is readable; -1: closed */
	bool entered;
	struct termios before;
	struct sigaction stop_before; /* what Ctrl-Z did before */
};

/*
 * False where standard output is no terminal that a text can be drawn on, or keys cannot be read:
 * then nothing needs closing. Keys come from the terminal even if standard input is something else.
 */
bool screen_open(struct screen *s);
/* Leaves it first. */
void screen_close(struct screen *s);

/* The terminal is taken, and given back. What is so already, stays so. */
void screen_enter(struct screen *s);
void screen_leave(struct screen *s);

/*
 * Ctrl-Z, which all of the pipeline gets, only makes a wait in the kernel end with EINTR while the
 * screen is entered. If it came: gives the terminal back, stops the program, and enters again when
 * the program goes on; true.
 */
bool screen_suspend_if_asked(struct screen *s);

struct screen_size {
	unsigned int columns, rows;
};

/* As of now. A wait in the kernel ends with EINTR when it changes. */
struct screen_size screen_size(void);

/*
 * Draws `title`, and below it as many lines of `text` as there are rows for. What is wider than the
 * terminal is cut.
 */
struct error *screen_draw(struct screen *s, const struct buffer *title,
			  const struct buffer *text) ERROR_CHECKED;

#endif
