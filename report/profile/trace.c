/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/trace.h"

#include "common/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int trace_open(struct trace *t, const char *path)
{
	struct stat info;

	*t = (struct trace){ .path = path, .fd = STDIN_FILENO };
	if (strcmp(path, "-"))
		t->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0)
		return PRF_ERROR_IO;
	if (fstat(t->fd, &info) < 0)
		return PRF_ERROR_IO;
	if (S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return PRF_ERROR_IO;
	}
	t->start = lseek(t->fd, 0, SEEK_CUR);
	t->seekable = S_ISREG(info.st_mode) && t->start >= 0;
	return 0;
}

void trace_close(struct trace *t)
{
	prf_reader_free(t->reader);
	if (t->fd > STDERR_FILENO)
		close(t->fd);
	free(t->objects);
	free(t->metadata);
	free(t->statistics);
	free(t->losses);
	free(t->names);
	free(t->places);
	text_pool_release(&t->texts);
	*t = (struct trace){ .path = t->path, .fd = -1 };
}

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

int trace_make_seekable(struct trace *t)
{
	char data[65536];
	FILE *file;
	ssize_t n;
	int copy;

	if (t->seekable)
		return 0;
	file = tmpfile();
	copy = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3) : -1;
	if (file)
		fclose(file);
	if (copy < 0)
		return PRF_ERROR_IO;
	while ((n = read(t->fd, data, sizeof(data))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !write_all(copy, data, (size_t)n)) {
			close(copy);
			return PRF_ERROR_IO;
		}
	}
	if (t->fd > STDERR_FILENO)
		close(t->fd);
	t->fd = copy;
	t->start = 0;
	t->seekable = true;
	return 0;
}

int trace_span(struct trace *t, bool need_end, uint64_t *start_ns, uint64_t *end_ns)
{
	struct prf_reader *reader = NULL;
	struct prf_record record;
	bool found = false;
	int error;

	*start_ns = *end_ns = 0;
	if (lseek(t->fd, t->start, SEEK_SET) < 0)
		return PRF_ERROR_IO;
	error = prf_reader_new_fd(&reader, t->fd);
	while (!error && (!found || need_end)) {
		error = prf_reader_next(reader, &record);
		if (error <= 0)
			break;
		error = 0;
		if (record.type != PRF_RECORD_SAMPLES)
			continue;
		for (size_t i = 0; i < record.samples.n; i++) {
			uint64_t time = record.samples.time_ns[i];

			if (!found || time < *start_ns)
				*start_ns = time;
			if (!found || time > *end_ns)
				*end_ns = time;
			found = true;
		}
	}
	prf_reader_free(reader);
	return error < 0 ? error : 0;
}

/* -------- records -------- */

static int keep_metadata(struct trace *t, const char *key, const char *value)
{
	const char *kept = text_pool_keep(&t->texts, value);
	size_t i = 0;

	while (i < t->metadata_count && strcmp(t->metadata[i].key, key))
		i++;
	if (!kept)
		return PRF_ERROR_MEMORY;
	if (i == TRACE_KEYS_KEPT)
		return 0;
	if (i == t->metadata_count) {
		if (!array_reserve(&t->metadata, &t->metadata_capacity, i + 1))
			return PRF_ERROR_MEMORY;
		t->metadata[i].key = text_pool_keep(&t->texts, key);
		if (!t->metadata[i].key)
			return PRF_ERROR_MEMORY;
		t->metadata_count++;
	}
	t->metadata[i].value = kept;
	return 0;
}

static int keep_statistic(struct trace *t, const char *key, uint64_t value)
{
	size_t i = 0;

	while (i < t->statistic_count && strcmp(t->statistics[i].key, key))
		i++;
	if (i == TRACE_KEYS_KEPT)
		return 0;
	if (i == t->statistic_count) {
		if (!array_reserve(&t->statistics, &t->statistic_capacity, i + 1))
			return PRF_ERROR_MEMORY;
		t->statistics[i].key = text_pool_keep(&t->texts, key);
		if (!t->statistics[i].key)
			return PRF_ERROR_MEMORY;
		t->statistic_count++;
	}
	t->statistics[i].value = value;
	return 0;
}

static int keep_loss(struct trace *t, const struct prf_loss *loss)
{
	if ((unsigned int)loss->reason < PRF_LOSS_COUNT)
		t->lost[loss->reason] += loss->count;
	if (t->loss_count == TRACE_LOSSES_KEPT)
		return 0;
	if (!array_reserve(&t->losses, &t->loss_capacity, t->loss_count + 1))
		return PRF_ERROR_MEMORY;
	t->losses[t->loss_count++] = *loss;
	return 0;
}

static int keep_names(struct trace *t, uint32_t frame, const struct prf_place *places, size_t n)
{
	/* Every stack goes through all of them, for each of its frames. */
	if (!n || n > TRACE_PLACES_MAX)
		return 0;
	if (!array_reserve(&t->names, &t->name_capacity, t->name_count + 1) ||
	    !array_reserve(&t->places, &t->place_capacity, t->place_count + n))
		return PRF_ERROR_MEMORY;
	for (size_t i = 0; i < n; i++) {
		struct prf_place *place = &t->places[t->place_count + i];

		*place = places[i];
		place->function = text_pool_keep(&t->texts, places[i].function);
		place->file = text_pool_keep(&t->texts, places[i].file);
		if (!place->function || !place->file)
			return PRF_ERROR_MEMORY;
	}
	t->names[t->name_count++] = (struct trace_names){ frame, (uint32_t)t->place_count,
							  (uint32_t)n };
	t->place_count += n;
	return 0;
}

static int keep_damage(struct trace *t, const struct prf_damage *damage)
{
	if (t->damage_count < TRACE_DAMAGES_KEPT) {
		struct prf_damage *kept = &t->damages[t->damage_count];

		*kept = *damage;
		kept->reason = text_pool_keep(&t->texts, damage->reason);
		if (!kept->reason)
			return PRF_ERROR_MEMORY;
	}
	t->damage_count++;
	t->skipped_bytes += damage->skipped;
	return 0;
}

/* Tells the symbolizer of objects that have been defined meanwhile. */
static int follow_objects(struct trace *t, struct symbolizer *symbolizer)
{
	size_t n = prf_reader_objects(t->reader);
	uint32_t *objects;

	if (n <= t->object_count)
		return 0;
	objects = realloc(t->objects, n * sizeof(*objects));
	if (!objects)
		return PRF_ERROR_MEMORY;
	t->objects = objects;
	for (; t->object_count < n; t->object_count++) {
		uint32_t i = (uint32_t)t->object_count;
		int error = symbolizer_add_object(symbolizer, prf_reader_object(t->reader, i),
						  &objects[i]);

		if (error)
			return error;
	}
	return 0;
}

static int take_symbols(struct trace *t, const struct prf_record *record,
			struct symbolizer *symbolizer)
{
	int error;

	if (!symbolizer || record->symbols.object == PRF_NONE)
		return 0;
	error = follow_objects(t, symbolizer);
	return error ? error
		     : symbolizer_add_symbols(symbolizer, t->objects[record->symbols.object],
					      record->symbols.symbols, record->symbols.n);
}

static int take_samples(struct trace *t, const struct prf_samples *samples,
			const struct trace_sinks *sinks)
{
	int error = sinks->tally ? tally_add(sinks->tally, samples) : 0;

	if (!error && sinks->samples)
		error = sinks->samples(t, samples, sinks->context);
	return error;
}

static int take(struct trace *t, const struct prf_record *record, const struct trace_sinks *sinks)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES: return take_samples(t, &record->samples, sinks);
	case PRF_RECORD_LOSS: return keep_loss(t, &record->loss);
	case PRF_RECORD_SYMBOLS: return take_symbols(t, record, sinks->symbolizer);
	case PRF_RECORD_NAMES:
		if (!sinks->symbolizer || record->names.frame == PRF_NONE)
			return 0;
		return keep_names(t, record->names.frame, record->names.places, record->names.n);
	case PRF_RECORD_METADATA:
		return keep_metadata(t, record->metadata.key, record->metadata.value);
	case PRF_RECORD_STATISTIC:
		return keep_statistic(t, record->statistic.key, record->statistic.value);
	case PRF_RECORD_DAMAGE: return keep_damage(t, &record->damage);
	}
	return 0;
}

static void count_block(const struct prf_block_info *info, void *context)
{
	struct trace *t = context;

	t->blocks++;
}

int trace_read(struct trace *t, const struct trace_sinks *sinks)
{
	struct prf_record record;
	int result = 0, error = 0;

	if (t->seekable && lseek(t->fd, t->start, SEEK_SET) < 0)
		return t->error = PRF_ERROR_IO;
	error = prf_reader_new_fd(&t->reader, t->fd);
	if (error)
		return t->error = error;
	t->from_ns = sinks->from_ns;
	t->to_ns = sinks->to_ns;
	if (sinks->from_ns || sinks->to_ns != UINT64_MAX)
		prf_reader_set_time(t->reader, sinks->from_ns, sinks->to_ns);
	prf_reader_on_block(t->reader, count_block, t);
	if (sinks->tally)
		error = tally_begin(sinks->tally, t->reader, &t->stack_base);
	while (!error && (result = prf_reader_next(t->reader, &record)) > 0) {
		error = take(t, &record, sinks);
		if (!error && sinks->progress && record.type == PRF_RECORD_SAMPLES) {
			uint64_t bytes = 0, raw = 0;

			prf_reader_bytes(t->reader, &bytes, &raw);
			if (sinks->progress(t, bytes, sinks->context))
				break;
		}
	}
	if (sinks->tally)
		tally_trace_totals(sinks->tally, &t->totals);
	if (!error && sinks->symbolizer)
		error = follow_objects(t, sinks->symbolizer);
	if (result < 0) {
		const struct prf_damage *at = prf_reader_error(t->reader);

		t->error_at = at ? *at : (struct prf_damage){ 0 };
		t->error = result;
	} else {
		t->error = error;
	}
	return t->error;
}

/* -------- asking -------- */

const char *trace_metadata(const struct trace *t, const char *key)
{
	for (size_t i = 0; i < t->metadata_count; i++)
		if (!strcmp(t->metadata[i].key, key))
			return t->metadata[i].value;
	return NULL;
}

bool trace_statistic(const struct trace *t, const char *key, uint64_t *value)
{
	for (size_t i = 0; i < t->statistic_count; i++)
		if (!strcmp(t->statistics[i].key, key)) {
			*value = t->statistics[i].value;
			return true;
		}
	return false;
}

uint64_t trace_lost_samples(const struct trace *t)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < PRF_LOSS_COUNT; i++)
		if (i != PRF_LOSS_SIDE_BAND)
			lost += t->lost[i];
	return lost;
}
