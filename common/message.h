/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

/*
 * What a program reports to its user, on stderr, one line each: "prof-record: text". Only
 * main.c and the programs' own top modules use it; library code returns errors instead.
 * What utf8.h does not let be shown as it is (names come from anywhere) is shown as \xHH.
 */

#include <stdbool.h>

enum message_level {
	MESSAGE_ERROR,	 /* always shown */
	MESSAGE_WARNING, /* shown unless -q */
	MESSAGE_INFO,	 /* shown unless -q */
	MESSAGE_DETAIL,	 /* shown with -v */
};

/* The program's name before each line, and the lowest level that is shown. */
void message_setup(const char *program, enum message_level shown);

/*
 * How long a message waits for a reader. After that it is left out, and so are the next ones until
 * somebody reads; then their number is said. -1, as from the beginning: without end.
 */
void message_patience(int ms);

/* Whether something can be written to stderr without waiting for a reader. */
bool message_has_room(void);

void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void message_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
