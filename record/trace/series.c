/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/series.h"

#include "common/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void series_release(struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	free(s->names);
	free(s->base);
	*s = (struct series){ 0 };
}

const char *series_parse(struct series *s, const char *text)
{
	unsigned long long number;
	size_t size = strlen(text);

	if (!strcmp(text, "signal")) {
		s->on_signal = true;
		return NULL;
	}
	/* "10M" is a size and "10m" is minutes; a bare number could be either and is refused. */
	if (size > 1 && strchr("smh", text[size - 1]) &&
	    option_duration(text, 1000000000, &number)) {
		if (number < 100000000)
			return "expected 100 ms or longer";
		s->ns = number;
		return NULL;
	}
	if (size > 1 && strchr("KMGT", text[size - 1]) && option_size(text, &number)) {
		if (number < 64 << 10)
			return "expected a size of 64K or more";
		s->bytes = number;
		return NULL;
	}
	return "expected a size (\"10M\"), a time (\"30s\", \"5m\") or \"signal\"";
}

char *series_name(const struct series *s, const struct timespec *wall_clock)
{
	char stamp[32];
	char *name = NULL;
	struct tm tm;

	localtime_r(&wall_clock->tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	/*
	 * The clock may have been set back: the name may be taken, by this or an older recording.
	 */
	for (unsigned int i = 0; i < 1000; i++) {
		free(name);
		if (asprintf(&name, "%s.%s.%03ld%s%.0u", s->base, stamp,
			     wall_clock->tv_nsec / 1000000, i ? "-" : "", i) < 0)
			return NULL;
		if (access(name, F_OK))
			return name;
	}
	return name;
}

struct error *series_begin(struct series *s, const char *name, uint64_t now_ns)
{
	char **names;
	char *copy;

	if (s->max_files) {
		names = realloc(s->names, (s->n + 1) * sizeof(*names));
		copy = strdup(name);
		if (names)
			s->names = names;
		if (!names || !copy) {
			free(copy);
			return error_memory();
		}
		s->names[s->n++] = copy;
	}
	/*
	 * Due times stay on a fixed grid, so that one late switch does not delay the following
	 * ones.
	 */
	if (!s->due_ns || now_ns >= s->due_ns + s->ns)
		s->due_ns = now_ns;
	s->due_ns += s->ns;
	return NULL;
}

bool series_is_due(const struct series *s, uint64_t now_ns, uint64_t file_bytes)
{
	return (s->ns && now_ns >= s->due_ns) || (s->bytes && file_bytes >= s->bytes);
}

static bool is_one_of(const struct output *files, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(files[i].sealed, name))
			return true;
	return false;
}

unsigned int series_trim(struct series *s, const struct output *unsealed, size_t n)
{
	unsigned int removed = 0;
	size_t i = 0;

	while (s->max_files && s->n > s->max_files + n) {
		if (is_one_of(unsealed, n, s->names[i])) {
			i++;
			continue;
		}
		unlink(s->names[i]);
		free(s->names[i]);
		memmove(s->names + i, s->names + i + 1, (--s->n - i) * sizeof(*s->names));
		removed++;
	}
	return removed;
}
