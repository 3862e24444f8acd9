/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Threads of programs of many runtimes, sampled and named again from their images
 * (tests/images/image.h): the frames must be those that the programs themselves said when the
 * images were made, and stay so after each instruction that follows. Then the same with bytes of
 * memory, file and registers changed at random: whatever comes out, it ends after a bounded number
 * of reads.
 */

#include "tests/images/replay.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/statistics/random.h"

#define VARIANTS 100 /* of each image */
#define CHANGES_MAX 12
#define READS_MAX 60000

static void open_image(struct image *image, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/images/%s.image", name);
	if (!image_open(image, path))
		fail_msg("%s cannot be read", path);
}

static char *read_golden(const char *name)
{
	char path[128], *text = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *file;

	snprintf(path, sizeof(path), "tests/images/%s.text", name);
	file = fopen(path, "r");
	assert_non_null(file);
	n = getdelim(&text, &room, 0, file);
	fclose(file);
	assert_true(n > 0);
	return text;
}

static void test_frames(void **state)
{
	char *expected = read_golden(*state);
	struct buffer text = { 0 };
	struct image image;

	open_image(&image, *state);
	assert_null(image_replay_all(&image, &text));
	assert_string_equal(buffer_string(&text), expected);
	buffer_release(&text);
	free(expected);
	image_release(&image);
}

/* -------- changed images -------- */

struct change {
	uint8_t *at, was;
};

/* A byte of what was read, of memory mostly, or of a register. */
static uint8_t *choose(struct image *image, struct random *random)
{
	uint64_t way = random_below(random, 8), blocks = image->content_count;

	if (!way)
		return (uint8_t *)image->thread.registers +
		       random_below(random, sizeof(image->thread.registers));
	/* Those of the file come first. */
	if (way < 4)
		return image->content[random_below(random, blocks)] +
		       random_below(random, IMAGE_BLOCK);
	return image->content[image->file_blocks +
			      random_below(random, blocks - image->file_blocks)] +
	       random_below(random, IMAGE_BLOCK);
}

static uint8_t change(uint8_t value, struct random *random)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t way = random_below(random, 8 + sizeof(values));

	return way < 8 ? value ^ (uint8_t)(1 << way) : values[way - 8];
}

static void replay_variant(struct image *image, struct random *random)
{
	struct kernel_thread thread = image->thread;
	struct change changes[CHANGES_MAX];
	size_t n = 1 + random_below(random, CHANGES_MAX);
	struct buffer text = { 0 };

	for (size_t i = 0; i < n; i++) {
		changes[i].at = choose(image, random);
		changes[i].was = *changes[i].at;
		*changes[i].at = change(*changes[i].at, random);
	}
	image->reads = 0;
	image_replay(image, &text);
	assert_true(image->reads < READS_MAX);
	while (n--)
		*changes[n].at = changes[n].was;
	image->thread = thread;
	buffer_release(&text);
}

static void test_changed(void **state)
{
	char *expected = read_golden(*state);
	struct buffer text = { 0 };
	struct random random;
	struct image image;

	open_image(&image, *state);
	random_seed(&random, 1);
	for (int i = 0; i < VARIANTS; i++)
		replay_variant(&image, &random);
	/* None of them has changed the image for good. */
	assert_null(image_replay_all(&image, &text));
	assert_string_equal(buffer_string(&text), expected);
	buffer_release(&text);
	free(expected);
	image_release(&image);
}

#define IMAGE(name)                                                                                \
	{ name, test_frames, NULL, NULL, name },                                                   \
	{                                                                                          \
		name ", changed", test_changed, NULL, NULL, name                                   \
	}

static const struct CMUnitTest tests[] = {
	IMAGE("java-17"),
	IMAGE("java-17-first-compiler"),
	IMAGE("java-17-interpreted"),
	IMAGE("java-17-interpreted-running"),
	IMAGE("java-17-running"),
	IMAGE("java-25"),
	IMAGE("java-25-running"),
	IMAGE("node-18"),
	IMAGE("node-20"),
	IMAGE("node-20-compiled"),
	IMAGE("node-20-running"),
	IMAGE("node-22"),
	IMAGE("node-24"),
	IMAGE("node-24-compiled"),
	IMAGE("php-8.1"),
	IMAGE("php-8.2"),
	IMAGE("php-8.3"),
	IMAGE("php-8.4"),
	IMAGE("python-3.8"),
	IMAGE("python-3.9"),
	IMAGE("python-3.10"),
	IMAGE("python-3.11"),
	IMAGE("python-3.11-debian"),
	IMAGE("python-3.12"),
	IMAGE("python-3.12-perf"),
	IMAGE("python-3.13"),
	IMAGE("python-3.14-debian"),
	IMAGE("ruby-3.1"),
	IMAGE("ruby-3.3"),
};

UNIT_TESTS(tests);
