/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_FITTED_H
#define REPORT_OUTPUT_FITTED_H

/* Names that fit the width of a terminal. */

#include "report/output/sink.h"

#define FITTED_LEAST 20 /* columns that a name gets however narrow the terminal is */

/*
 * What is left of `width` columns after `used` ones; at least FITTED_LEAST. A width of 0 means
 * that nothing has to fit, and so does what is returned then.
 */
unsigned int fitted_room(unsigned int width, unsigned int used);

/* The text, printable; of a longer one than `room` characters the beginning and the end. */
void fitted_text(struct sink *s, const char *text, unsigned int room);

/* The same for text that matters from its beginning on: of a longer one the end goes. */
void fitted_beginning(struct sink *s, const char *text, unsigned int room);

/* A column's heading, printable: flush right, and of a longer one its beginning. */
void fitted_right(struct sink *s, const char *text, unsigned int columns);

/* A function and, where there is room for both, the object that it lies in. */
void fitted_name(struct sink *s, const char *name, const char *object, unsigned int room);

#endif
