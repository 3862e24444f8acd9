/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_IMAGES_FILE_COPY_H
#define TESTS_IMAGES_FILE_COPY_H

/*
 * A copy of the runtime's file, for make_image.c: what is read of it is found out by taking away
 * all else. Its symbol tables come to hold only those symbols that were looked for since the
 * program began (elf_names_...(), which the linker wraps), and of its other pages only those are
 * kept that are then touched. There is one such file.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

/* Ends the program with that complaint unless it holds. */
void must(bool holds, const char *what);

/* Reads the file. The copy stays where it is, as file_copy_watch() and others change it. */
uint8_t *file_copy_read(int fd, size_t *file_size);

/* Takes the other symbols away, and notes from now on which pages are read. Its new size. */
size_t file_copy_watch(size_t size);
void file_copy_unwatch(void);

/* Size and blocks, as in an image. */
void file_copy_write(struct buffer *raw, size_t size);

#endif
