/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_IMAGES_REPLAY_H
#define TESTS_IMAGES_REPLAY_H

/*
 * What both halves do with a thread of an image: the runtime is recognised by its file, the thread
 * is sampled, and its frames are merged and named.
 */

#include "common/buffer.h"
#include "tests/images/image.h"

/*
 * Appends the frames as text, leaf first, a line each:
 *
 *     code NAME FILE:LINE         a function of the program
 *     inlined NAME FILE:LINE      one that is part of the next one's frame
 *     interpreted NAME FILE:LINE  where the runtime has compiled others
 *     native FILE+OFFSET          anything else
 *
 * and a last line that says how the walk has ended. NULL, or why the runtime was not understood
 * (static text).
 */
const char *image_replay(const struct image *i, struct buffer *text);

/*
 * The same for all moments of an image. After the first one, each has a line: its frames, up to
 * those that it has in common with the first moment, and how many lines these are.
 */
const char *image_replay_all(struct image *i, struct buffer *text);

/* Appends that line for a moment whose text is `now`. */
void image_append_moment(struct buffer *text, struct buffer *first, struct buffer *now);

#endif
