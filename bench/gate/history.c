/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gate/history.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void entry_release(struct history_entry *e)
{
	free(e->branch);
	free(e->hash);
	free(e->testbed);
	results_release(&e->results);
}

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		entry_release(&h->all[i]);
	free(h->all);
	*h = (struct history){ 0 };
}

static struct error *parse_entry(struct history_entry *e, const char *line)
{
	json_error_t wrong;
	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &wrong);
	const json_t *time = json_object_get(object, "time");
	const char *branch = json_string_value(json_object_get(object, "branch"));
	const char *hash = json_string_value(json_object_get(object, "hash"));
	const char *testbed = json_string_value(json_object_get(object, "testbed"));
	struct error *error;

	if (!object)
		return error_new(ERROR_CORRUPT, "%s", wrong.text);
	if (!json_is_integer(time) || !branch || !testbed) {
		error = error_new(ERROR_CORRUPT, "lacks time, branch or testbed");
		goto out;
	}
	e->time = json_integer_value(time);
	e->regressed = json_is_true(json_object_get(object, "regressed"));
	e->incomplete = json_is_true(json_object_get(object, "incomplete"));
	e->branch = strdup(branch);
	e->hash = strdup(hash ? hash : "");
	e->testbed = strdup(testbed);
	error = e->branch && e->hash && e->testbed
			? results_from_json(&e->results, json_object_get(object, "results"))
			: error_memory();
out:
	json_decref(object);
	return error;
}

static struct error *add_line(struct history *h, const char *line)
{
	struct history_entry *all, new = { 0 };
	struct error *error;

	if (!line[strspn(line, " \t\r\n")])
		return NULL;
	error = parse_entry(&new, line);
	all = error ? NULL : realloc(h->all, (h->count + 1) * sizeof(*all));
	if (!all) {
		entry_release(&new);
		return error ? error : error_memory();
	}
	h->all = all;
	h->all[h->count++] = new;
	return NULL;
}

struct error *history_read(struct history *h, const char *path)
{
	FILE *f = fopen(path, "re");
	struct error *error = NULL;
	size_t size = 0, number = 0;
	char *line = NULL;
	ssize_t length;

	if (!f)
		return errno == ENOENT ? NULL : error_system(errno, "%s", path);
	while (!error && (length = getline(&line, &size, f)) >= 0) {
		number++;
		/* Where a crash left zeros, the entry would seem to be an empty line. */
		error = strlen(line) == (size_t)length ? add_line(h, line)
						       : error_new(ERROR_CORRUPT, "has zero bytes");
		error = error_prefix(error, "%s:%zu", path, number);
	}
	if (!error && ferror(f))
		error = error_system(errno, "%s", path);
	if (error)
		history_release(h);
	free(line);
	fclose(f);
	return error;
}

/* A single write(), so that lines of concurrent gates are not interleaved. */
static struct error *append_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	size_t length = strlen(line);
	struct error *error = NULL;
	ssize_t written;

	if (fd < 0)
		return error_system(errno, "%s", path);
	written = write(fd, line, length);
	if (written < 0)
		error = error_system(errno, "%s", path);
	else if ((size_t)written != length)
		error = error_system(ENOSPC, "%s", path);
	close(fd);
	return error;
}

struct error *history_append(const char *path, const struct history_entry *entry)
{
	json_t *results = results_to_json(&entry->results);
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:o*}", "time", (json_int_t)entry->time,
				   "branch", entry->branch, "hash", entry->hash, "testbed",
				   entry->testbed, "results", results);
	char *line = NULL, *text = NULL;
	struct error *error;

	if (!results || !object) {
		error = error_new(ERROR_ARGUMENT, "%s: a name is not UTF-8", path);
		goto out;
	}
	if (entry->regressed)
		json_object_set_new(object, "regressed", json_true());
	if (entry->incomplete)
		json_object_set_new(object, "incomplete", json_true());
	/* All digits: what is equal must not seem to have risen. */
	text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text || asprintf(&line, "%s\n", text) < 0) {
		line = NULL;
		error = error_memory();
		goto out;
	}
	error = append_line(path, line);
out:
	free(line);
	free(text);
	json_decref(object);
	return error;
}

/* Entry i belongs to the start point, up to its hash. */
static bool in_start_point(const struct history *h, const struct history_view *view, size_t i)
{
	const char *branch = view->start_branch;

	if (!branch || strcmp(h->all[i].branch, branch))
		return false;
	if (!view->start_hash)
		return true;
	for (size_t j = i; j < h->count; j++)
		if (!strcmp(h->all[j].branch, branch) && !strcmp(h->all[j].hash, view->start_hash))
			return true;
	return false;
}

bool history_counts(const struct history *h, const struct history_view *view, size_t i)
{
	const struct history_entry *e = &h->all[i];

	if (e->regressed || strcmp(e->testbed, view->testbed) || e->time < view->since)
		return false;
	return !strcmp(e->branch, view->branch) || in_start_point(h, view, i);
}

struct error *history_values(const struct history *h, const struct history_view *view,
			     const struct result *of, double **values, size_t *n)
{
	*n = 0;
	*values = calloc(h->count + 1, sizeof(**values));
	if (!*values)
		return error_memory();
	for (size_t i = 0; i < h->count; i++) {
		const struct result *result;

		if (!history_counts(h, view, i))
			continue;
		result = results_find(&h->all[i].results, of->benchmark, of->measure);
		if (result)
			(*values)[(*n)++] = result->estimate.value;
	}
	return NULL;
}
