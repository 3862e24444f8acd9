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

static int parse_entry(struct history_entry *e, const char *line, char *why, size_t why_size)
{
	json_error_t error;
	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	const json_t *time = json_object_get(object, "time");
	const char *branch = json_string_value(json_object_get(object, "branch"));
	const char *hash = json_string_value(json_object_get(object, "hash"));
	const char *testbed = json_string_value(json_object_get(object, "testbed"));
	int status = -1;

	if (!object || !json_is_integer(time) || !branch || !testbed) {
		snprintf(why, why_size, "%s",
			 object ? "lacks time, branch or testbed" : error.text);
		goto out;
	}
	e->time = json_integer_value(time);
	e->regressed = json_is_true(json_object_get(object, "regressed"));
	e->branch = strdup(branch);
	e->hash = strdup(hash ? hash : "");
	e->testbed = strdup(testbed);
	if (e->branch && e->hash && e->testbed)
		status = results_from_json(&e->results, json_object_get(object, "results"), why,
					   why_size);
out:
	json_decref(object);
	return status;
}

static int add_line(struct history *h, const char *line, char *why, size_t why_size)
{
	struct history_entry *all, new = { 0 };

	if (!line[strspn(line, " \t\r\n")])
		return 0;
	if (parse_entry(&new, line, why, why_size)) {
		entry_release(&new);
		return -1;
	}
	all = realloc(h->all, (h->count + 1) * sizeof(*all));
	if (!all) {
		entry_release(&new);
		snprintf(why, why_size, "no memory");
		return -1;
	}
	h->all = all;
	h->all[h->count++] = new;
	return 0;
}

int history_read(struct history *h, const char *path, char *why, size_t why_size)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, wrong[256] = "";
	size_t size = 0, number = 0;
	int status = 0;

	if (!f && errno == ENOENT)
		return 0;
	if (!f) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		return -1;
	}
	while (!status && getline(&line, &size, f) >= 0) {
		number++;
		status = add_line(h, line, wrong, sizeof(wrong));
	}
	if (status) {
		snprintf(why, why_size, "%s:%zu: %s", path, number, wrong);
	} else if (ferror(f)) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		status = -1;
	}
	if (status)
		history_release(h);
	free(line);
	fclose(f);
	return status;
}

int history_append(const char *path, const struct history_entry *entry, char *why, size_t why_size)
{
	json_t *results = results_to_json(&entry->results);
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:o*}", "time", (json_int_t)entry->time,
				   "branch", entry->branch, "hash", entry->hash, "testbed",
				   entry->testbed, "results", results);
	char *line = NULL, *text = NULL;
	int fd = -1, status = -1, length;

	if (!results || !object) {
		snprintf(why, why_size, "%s: a name is not UTF-8", path);
		goto out;
	}
	if (entry->regressed)
		json_object_set_new(object, "regressed", json_true());
	text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
	length = text ? asprintf(&line, "%s\n", text) : -1;
	if (length < 0) {
		line = NULL;
		snprintf(why, why_size, "%s: no memory", path);
		goto out;
	}
	/* One write, so that two gates at once do not mix their lines. */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
	else
		status = 0;
out:
	if (fd >= 0)
		close(fd);
	free(line);
	free(text);
	json_decref(object);
	return status;
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

double *history_values(const struct history *h, const struct history_view *view,
		       const char *benchmark, const char *measure, size_t *n)
{
	double *values = h->count ? malloc(h->count * sizeof(*values)) : NULL;

	*n = 0;
	for (size_t i = 0; values && i < h->count; i++) {
		const struct result *result;

		if (!history_counts(h, view, i))
			continue;
		result = results_find(&h->all[i].results, benchmark, measure);
		if (result)
			values[(*n)++] = result->estimate.value;
	}
	if (!*n) {
		free(values);
		values = NULL;
	}
	return values;
}
