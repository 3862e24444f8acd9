/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/trace.h"

#include "common/array.h"
#include "common/fuzzing.h"
#include "report/profile/trace_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct error *trace_open(struct trace *t, const char *path)
{
	struct stat info;

	*t = (struct trace){ .path = path, .fd = STDIN_FILENO };
	if (strcmp(path, "-"))
		t->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0)
		return error_system(errno, "cannot open");
	if (fstat(t->fd, &info) < 0)
		return error_system(errno, "cannot read");
	if (S_ISDIR(info.st_mode))
		return error_system(EISDIR, "cannot read");
	t->start = lseek(t->fd, 0, SEEK_CUR);
	t->seekable = S_ISREG(info.st_mode) && t->start >= 0;
	return NULL;
}

void trace_forget(struct trace *t)
{
	prf_reader_free(t->reader);
	t->reader = NULL;
	map_release(&t->files);
	recorded_names_release(&t->names);
}

void trace_close(struct trace *t)
{
	trace_forget(t);
	if (t->fd > STDERR_FILENO)
		close(t->fd);
	free(t->objects);
	free(t->metadata);
	free(t->statistics);
	map_release(&t->metadata_keys);
	map_release(&t->statistic_keys);
	free(t->losses);
	free(t->codes);
	free(t->sources);
	arena_release(&t->arena);
	text_pool_release(&t->texts);
	error_free(t->error);
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

int trace_unnamed_file(void)
{
	FILE *file;
	int fd;

	/* A fuzzer makes one for each input. */
	if (FUZZING)
		return memfd_create("trace", MFD_CLOEXEC);
	file = tmpfile();
	fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3) : -1;
	if (file)
		fclose(file);
	return fd;
}

void trace_replace_file(struct trace *t, int fd)
{
	if (t->fd > STDERR_FILENO)
		close(t->fd);
	t->fd = fd;
	t->start = 0;
	t->seekable = true;
}

/* All that is left to read, in a file without a name; its descriptor, or -1 with errno. */
static int copy_to_file(int from)
{
	int copy = trace_unnamed_file();
	char data[65536];
	ssize_t n;

	while (copy >= 0 && (n = read(from, data, sizeof(data))) != 0) {
		int number;

		if ((n < 0 && errno == EINTR) || (n > 0 && write_all(copy, data, (size_t)n)))
			continue;
		number = errno;
		close(copy);
		errno = number;
		copy = -1;
	}
	return copy;
}

struct error *trace_make_seekable(struct trace *t)
{
	int copy;

	if (t->seekable)
		return NULL;
	copy = copy_to_file(t->fd);
	if (copy < 0)
		return error_system(errno, "cannot copy to a temporary file");
	trace_replace_file(t, copy);
	return NULL;
}

static void widen(const struct prf_samples *samples, bool *found, uint64_t *start_ns,
		  uint64_t *end_ns)
{
	for (size_t i = 0; i < samples->n; i++) {
		uint64_t time = samples->time_ns[i];

		if (!*found || time < *start_ns)
			*start_ns = time;
		if (!*found || time > *end_ns)
			*end_ns = time;
		*found = true;
	}
}

#define START_KEY "start_monotonic_ns"
#define DURATION_KEY "duration_ns"

/* A number in text; 0: it is none. */
static uint64_t read_ns(const char *text)
{
	unsigned long long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

/* What the recorder says of the times, which need not be true of the samples. */
struct said_times {
	uint64_t start_ns, duration_ns; /* 0: not said */
};

static void take_said(struct said_times *said, const struct prf_record *record)
{
	if (record->type == PRF_RECORD_METADATA && !strcmp(record->metadata.key, START_KEY))
		said->start_ns = read_ns(record->metadata.value);
	if (record->type == PRF_RECORD_STATISTIC && !strcmp(record->statistic.key, DURATION_KEY))
		said->duration_ns = record->statistic.value;
}

static uint64_t said_end(const struct said_times *said)
{
	if (!said->start_ns || said->duration_ns > UINT64_MAX - said->start_ns)
		return 0;
	return said->start_ns + said->duration_ns;
}

struct error *trace_span(struct trace *t, bool need_end, uint64_t *start_ns, uint64_t *end_ns)
{
	struct prf_reader *reader = NULL;
	struct prf_record record;
	struct said_times said = { 0 };
	struct error *error;
	bool found = false;

	*start_ns = *end_ns = 0;
	if (lseek(t->fd, t->start, SEEK_SET) < 0)
		return error_system(errno, "cannot go to the start");
	error = prf_reader_new_fd(&reader, t->fd);
	while (!error && (!found || need_end)) {
		error = prf_reader_next(reader, &record);
		if (error || record.type == PRF_RECORD_END)
			break;
		if (record.type == PRF_RECORD_SAMPLES)
			widen(&record.samples, &found, start_ns, end_ns);
		else
			take_said(&said, &record);
	}
	if (found && said.start_ns && said.start_ns < *start_ns)
		*start_ns = said.start_ns;
	if (found && said_end(&said) > *end_ns)
		*end_ns = said_end(&said);
	prf_reader_free(reader);
	return error;
}

/* -------- records -------- */

/*
 * The number of a key among those that are kept; TRACE_KEYS_KEPT: it is one too many. UINT32_MAX
 * without memory.
 */
static uint32_t key_number(struct map *keys, const char *key, bool *added)
{
	const size_t size = strlen(key);
	const uint64_t *known;

	*added = false;
	if (keys->count < TRACE_KEYS_KEPT)
		return map_number(keys, key, size, (uint32_t)keys->count, added);
	known = map_get(keys, key, size);
	return known ? (uint32_t)*known : TRACE_KEYS_KEPT;
}

static struct error *keep_metadata(struct trace *t, const char *key, const char *value)
{
	bool added;
	uint32_t i = key_number(&t->metadata_keys, key, &added);
	const char *kept;

	if (i == TRACE_KEYS_KEPT)
		return NULL;
	kept = text_pool_keep(&t->texts, value);
	if (i == UINT32_MAX || !kept)
		return error_memory();
	if (added) {
		if (!array_reserve(&t->metadata, &t->metadata_capacity, i + 1))
			return error_memory();
		t->metadata[i].key = text_pool_keep(&t->texts, key);
		if (!t->metadata[i].key)
			return error_memory();
		t->metadata_count++;
	}
	t->metadata[i].value = kept;
	return NULL;
}

static struct error *keep_statistic(struct trace *t, const char *key, uint64_t value)
{
	bool added;
	uint32_t i = key_number(&t->statistic_keys, key, &added);

	if (i == TRACE_KEYS_KEPT)
		return NULL;
	if (i == UINT32_MAX)
		return error_memory();
	if (added) {
		if (!array_reserve(&t->statistics, &t->statistic_capacity, i + 1))
			return error_memory();
		t->statistics[i].key = text_pool_keep(&t->texts, key);
		if (!t->statistics[i].key)
			return error_memory();
		t->statistic_count++;
	}
	t->statistics[i].value = value;
	return NULL;
}

static struct error *keep_loss(struct trace *t, const struct prf_loss *loss)
{
	if ((unsigned int)loss->reason < PRF_LOSS_COUNT)
		t->lost[loss->reason] += loss->count;
	if (t->loss_count == TRACE_LOSSES_KEPT)
		return NULL;
	if (!array_reserve(&t->losses, &t->loss_capacity, t->loss_count + 1))
		return error_memory();
	t->losses[t->loss_count++] = *loss;
	return NULL;
}

/* A copy of some bytes; NULL without memory. */
static void *copied(struct trace *t, const void *bytes, size_t size)
{
	void *copy = arena_take(&t->arena, size ? size : 1);

	if (copy && size)
		memcpy(copy, bytes, size);
	return copy;
}

/* The texts of code that was copied: those of the record do not stay. */
static bool keep_code_texts(struct trace *t, const struct prf_code *code,
			    struct prf_code_line *lines, struct prf_code_symbol *symbols)
{
	bool ok = true;

	for (size_t i = 0; ok && i < code->line_count; i++) {
		lines[i].function = text_pool_keep(&t->texts, lines[i].function);
		lines[i].file = text_pool_keep(&t->texts, lines[i].file);
		ok = lines[i].function && lines[i].file;
	}
	for (size_t i = 0; ok && i < code->symbol_count; i++) {
		symbols[i].name = text_pool_keep(&t->texts, symbols[i].name);
		ok = symbols[i].name;
	}
	return ok;
}

static struct error *follow_objects(struct trace *t, const struct trace_sinks *sinks)
{
	const struct trace_objects objects = { .known = sinks->objects ? sinks->objects : &t->files,
					       .numbers = &t->objects,
					       .count = &t->object_count };

	return trace_objects_follow(&objects, t->reader, sinks->symbolizer);
}

static struct error *keep_code(struct trace *t, const struct prf_code *code,
			       const struct trace_sinks *sinks)
{
	struct prf_code_line *lines;
	struct prf_code_symbol *symbols;
	struct prf_code copy = *code;
	struct error *error;

	if (code->object == PRF_NONE)
		return NULL;
	error = follow_objects(t, sinks);
	if (error)
		return error;
	if (!array_reserve(&t->codes, &t->code_capacity, t->code_count + 1))
		return error_memory();
	copy.object = t->objects[code->object];
	copy.name = text_pool_keep(&t->texts, code->name);
	copy.bytes = copied(t, code->bytes, code->size);
	copy.lines = lines = copied(t, code->lines, code->line_count * sizeof(*lines));
	copy.symbols = symbols = copied(t, code->symbols, code->symbol_count * sizeof(*symbols));
	if (!copy.name || !copy.bytes || !lines || !symbols ||
	    !keep_code_texts(t, code, lines, symbols))
		return error_memory();
	t->codes[t->code_count++] = copy;
	return NULL;
}

static struct error *keep_source(struct trace *t, const struct prf_source *source)
{
	struct prf_source copy = *source;
	const char **lines = arena_take(&t->arena, (source->n + 1) * sizeof(*lines));

	copy.path = text_pool_keep(&t->texts, source->path);
	copy.lines = lines;
	if (!copy.path || !lines ||
	    !array_reserve(&t->sources, &t->source_capacity, t->source_count + 1))
		return error_memory();
	for (size_t i = 0; i < source->n; i++) {
		lines[i] = text_pool_keep(&t->texts, source->lines[i]);
		if (!lines[i])
			return error_memory();
	}
	t->sources[t->source_count++] = copy;
	return NULL;
}

static struct error *keep_damage(struct trace *t, const struct prf_damage *damage)
{
	if (t->damage_count < TRACE_DAMAGES_KEPT) {
		struct prf_damage *kept = &t->damages[t->damage_count];

		*kept = *damage;
		kept->reason = text_pool_keep(&t->texts, damage->reason);
		if (!kept->reason)
			return error_memory();
	}
	t->damage_count++;
	t->skipped_bytes += damage->skipped;
	return NULL;
}

static struct error *take_symbols(struct trace *t, const struct prf_record *record,
				  const struct trace_sinks *sinks)
{
	struct error *error;

	if (!sinks->symbolizer || record->symbols.object == PRF_NONE)
		return NULL;
	error = follow_objects(t, sinks);
	if (error)
		return error;
	return symbolizer_add_symbols(sinks->symbolizer, t->objects[record->symbols.object],
				      record->symbols.symbols, record->symbols.n);
}

static void take_start(const struct trace *t, const struct prf_record *record, struct tally *tally)
{
	struct said_times said = { 0 };

	take_said(&said, record);
	if (tally && said.start_ns)
		tally_set_start(tally, said.start_ns > t->from_ns ? said.start_ns : t->from_ns);
}

static struct error *take(struct trace *t, const struct prf_record *record,
			  const struct trace_sinks *sinks)
{
	switch (record->type) {
	case PRF_RECORD_SAMPLES:
		return sinks->tally ? tally_add(sinks->tally, &record->samples) : NULL;
	case PRF_RECORD_LOSS: return keep_loss(t, &record->loss);
	case PRF_RECORD_SYMBOLS: return take_symbols(t, record, sinks);
	case PRF_RECORD_NAMES:
		if (!sinks->symbolizer || record->names.frame == PRF_NONE)
			return NULL;
		return recorded_names_add(&t->names, record->names.frame, record->names.places,
					  record->names.n);
	case PRF_RECORD_CODE: return sinks->code ? keep_code(t, &record->code, sinks) : NULL;
	case PRF_RECORD_SOURCE: return sinks->code ? keep_source(t, &record->source) : NULL;
	case PRF_RECORD_METADATA:
		take_start(t, record, sinks->tally);
		return keep_metadata(t, record->metadata.key, record->metadata.value);
	case PRF_RECORD_STATISTIC:
		return keep_statistic(t, record->statistic.key, record->statistic.value);
	case PRF_RECORD_DAMAGE: return keep_damage(t, &record->damage);
	case PRF_RECORD_END: break;
	}
	return NULL;
}

static enum trace_part part_of(const char *type)
{
	static const struct {
		const char *type;
		enum trace_part part;
	} parts[] = {
		{ "samples", TRACE_PART_SAMPLES }, { "stacks", TRACE_PART_STACKS },
		{ "frames", TRACE_PART_FRAMES },   { "events", TRACE_PART_NAMES },
		{ "objects", TRACE_PART_NAMES },   { "tasks", TRACE_PART_NAMES },
		{ "symbols", TRACE_PART_NAMES },   { "names", TRACE_PART_NAMES },
		{ "code", TRACE_PART_NAMES },	   { "sources", TRACE_PART_NAMES },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(type, parts[i].type))
			return parts[i].part;
	return TRACE_PART_OTHER;
}

static void count_block(const struct prf_block_info *info, void *context)
{
	struct trace *t = context;

	t->blocks++;
	t->part_bytes[part_of(info->type)] += info->header_bytes + info->stored_bytes;
}

/* What the sinks are asked after a batch of samples: whether to stop. */
static bool wants_stop(struct trace *t, const struct prf_samples *samples,
		       const struct trace_sinks *sinks)
{
	uint64_t bytes = 0, raw = 0;

	if (sinks->samples && sinks->samples(t, samples, sinks->context))
		return true;
	if (!sinks->progress)
		return false;
	prf_reader_bytes(t->reader, &bytes, &raw);
	return sinks->progress(t, bytes, sinks->context);
}

static struct error *read_records(struct trace *t, const struct trace_sinks *sinks)
{
	struct prf_record record;
	struct error *error = NULL;

	while (!error) {
		error = prf_reader_next(t->reader, &record);
		if (error || record.type == PRF_RECORD_END)
			break;
		error = take(t, &record, sinks);
		if (!error && record.type == PRF_RECORD_SAMPLES &&
		    wants_stop(t, &record.samples, sinks))
			break;
	}
	return error;
}

/* Also after an error: what came before it counts. */
static struct error *finish_reading(struct trace *t, const struct trace_sinks *sinks)
{
	struct error *error = sinks->tally ? tally_end(sinks->tally) : NULL;

	if (sinks->tally)
		tally_trace_totals(sinks->tally, &t->totals);
	t->complete = prf_reader_complete(t->reader);
	if (error)
		return error;
	return sinks->symbolizer ? follow_objects(t, sinks) : NULL;
}

const struct error *trace_begin(struct trace *t, const struct trace_sinks *sinks)
{
	if (t->seekable && lseek(t->fd, t->start, SEEK_SET) < 0)
		return t->error = error_system(errno, "cannot go to the start");
	t->error = prf_reader_new_fd(&t->reader, t->fd);
	if (t->error)
		return t->error;
	t->from_ns = sinks->from_ns;
	t->to_ns = sinks->to_ns;
	if (sinks->from_ns || sinks->to_ns != UINT64_MAX)
		prf_reader_set_time(t->reader, sinks->from_ns, sinks->to_ns);
	if (sinks->follow)
		prf_reader_follow(t->reader);
	prf_reader_on_block(t->reader, count_block, t);
	if (sinks->tally)
		tally_begin(sinks->tally, t->reader);
	return NULL;
}

const struct error *trace_read_on(struct trace *t, const struct trace_sinks *sinks)
{
	t->error = read_records(t, sinks);
	if (!t->error)
		t->error = finish_reading(t, sinks);
	else
		error_free(finish_reading(t, sinks));
	return t->error;
}

const struct error *trace_read(struct trace *t, const struct trace_sinks *sinks)
{
	const struct error *error = trace_begin(t, sinks);

	return error ? error : trace_read_on(t, sinks);
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

double trace_cut_loss(const struct trace *t, struct prf_loss *loss)
{
	uint64_t from = loss->from_ns > t->from_ns ? loss->from_ns : t->from_ns;
	uint64_t to = loss->to_ns < t->to_ns ? loss->to_ns : t->to_ns;
	double count = (double)loss->count;

	if (from == loss->from_ns && to == loss->to_ns)
		return count;
	count *= to > from ? (double)(to - from) / (double)(loss->to_ns - loss->from_ns) : 0;
	*loss = (struct prf_loss){ from, to, loss->cpu, loss->reason, trace_whole_samples(count) };
	return count;
}

double trace_lost_in_window(const struct trace *t, enum prf_loss_reason reason)
{
	double lost = 0;

	/* Long recordings have more losses than are kept, and their sums hold all. */
	if (!t->from_ns && t->to_ns == UINT64_MAX)
		return (double)(reason == PRF_LOSS_COUNT ? trace_lost_samples(t) : t->lost[reason]);
	for (size_t i = 0; i < t->loss_count; i++) {
		struct prf_loss loss = t->losses[i];

		if (loss.reason != PRF_LOSS_SIDE_BAND &&
		    (reason == PRF_LOSS_COUNT || loss.reason == reason))
			lost += trace_cut_loss(t, &loss);
	}
	return lost;
}

/* The part of the window in which was recorded; false: the trace does not say when that was. */
static bool recorded_window(const struct trace *t, uint64_t *from_ns, uint64_t *to_ns)
{
	struct said_times said = { .start_ns = read_ns(trace_metadata(t, START_KEY)) };

	if (!said.start_ns || !trace_statistic(t, DURATION_KEY, &said.duration_ns))
		return false;
	*from_ns = t->from_ns > said.start_ns ? t->from_ns : said.start_ns;
	*to_ns = said_end(&said) < t->to_ns ? said_end(&said) : t->to_ns;
	return true;
}

uint64_t trace_duration(const struct trace *t)
{
	uint64_t from, to;

	if (!recorded_window(t, &from, &to))
		return t->totals.last_ns - t->totals.origin_ns;
	return to > from ? to - from : 0;
}

bool trace_since_start(const struct trace *t, int64_t *ns)
{
	uint64_t start = read_ns(trace_metadata(t, START_KEY));

	*ns = start && t->totals.samples ? (int64_t)(t->totals.origin_ns - start) : 0;
	return start != 0;
}
