/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * churn RATE SECONDS FILE: starts RATE processes a second, in time even when some were late. Each
 * line of FILE is a command, in turn; "%" in it stands for the number of the process. Prints how
 * many were started.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES_MAX 1000
#define WORDS_MAX 16

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t read_lines(const char *path, char **lines)
{
	FILE *file = fopen(path, "r");
	char line[512];
	size_t n = 0;

	while (file && n < LINES_MAX && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		lines[n++] = strdup(line);
	}
	if (file)
		fclose(file);
	return n;
}

static int start(const char *line, unsigned long number)
{
	char text[1024], *words[WORDS_MAX + 1] = { 0 }, *rest = NULL;
	const char *hole = strchr(line, '%');
	size_t n = 0;
	pid_t pid;

	if (hole)
		snprintf(text, sizeof(text), "%.*s%lu%s", (int)(hole - line), line, number,
			 hole + 1);
	else
		snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok_r(text, " ", &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	return n ? posix_spawnp(&pid, words[0], NULL, NULL, words, environ) : -1;
}

int main(int argc, char **argv)
{
	char *lines[LINES_MAX];
	size_t n = argc > 3 ? read_lines(argv[3], lines) : 0;
	uint64_t interval = n ? 1000000000 / strtoull(argv[1], NULL, 10) : 0;
	uint64_t begin = now_ns(), end = n ? begin + strtoull(argv[2], NULL, 10) * 1000000000 : 0;
	unsigned long started = 0;

	if (!n) {
		fprintf(stderr, "usage: churn RATE SECONDS FILE\n");
		return 2;
	}
	for (uint64_t i = 0; now_ns() < end; i++) {
		uint64_t due = begin + i * interval;
		const struct timespec until = { (time_t)(due / 1000000000),
						(long)(due % 1000000000) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		started += !start(lines[i % n], (unsigned long)i);
		/* Then their CPU time is that of our children. */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	printf("%lu\n", started);
	return 0;
}
