/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces as text, for tests: tiny good and bad ones are kept as descriptions that a person can
 * read. testdata/README.md describes the language.
 *
 *     trace_text DESCRIPTION -o FILE
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/buffer.h"
#include "common/message.h"
#include "common/options.h"
#include "format/block.h"
#include "format/header.h"
#include "format/prf.h"

#define WORDS_MAX 256
#define BLOCKS_MAX 256

/* -------- lines of words -------- */

struct word {
	char *text;
	size_t size;
	bool quoted;
};

struct line {
	const char *file;
	unsigned int number;
	struct word words[WORDS_MAX];
	size_t count;
};

__attribute__((noreturn)) static void wrong(const struct line *l, const char *what)
{
	message_error("%s:%u: %s", l->file, l->number, what);
	exit(1);
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Undoes \xHH, \n, \" and \\ in place, up to the closing quote; what follows it. */
static char *unquote(const struct line *l, struct word *w, char *at)
{
	char *to = at;

	w->text = at;
	w->quoted = true;
	for (; *at && *at != '"'; at++) {
		if (*at != '\\') {
			*to++ = *at;
		} else if (*++at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
			*to++ = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
			at += 2;
		} else {
			*to++ = *at == 'n' ? '\n' : *at;
		}
	}
	if (*at != '"')
		wrong(l, "a quote is missing");
	w->size = (size_t)(to - w->text);
	*to = 0;
	return at + 1;
}

static void split(struct line *l, char *at)
{
	l->count = 0;
	for (;;) {
		struct word *w = &l->words[l->count];

		at += strspn(at, " \t\n");
		if (!*at || *at == '#')
			return;
		if (++l->count == WORDS_MAX)
			wrong(l, "too many words");
		*w = (struct word){ .text = at };
		if (*at == '"') {
			at = unquote(l, w, at + 1);
			continue;
		}
		w->size = strcspn(at, " \t\n");
		at += w->size;
		if (*at)
			*at++ = 0;
	}
}

static const char *text_at(const struct line *l, size_t i)
{
	return i < l->count ? l->words[i].text : "";
}

/* "-" is PRF_NONE; what is not there is 0. */
static uint64_t number_at(const struct line *l, size_t i)
{
	const char *text = text_at(l, i);
	char *end;
	uint64_t value;

	if (!*text)
		return 0;
	if (strcmp(text, "-") == 0)
		return PRF_NONE;
	value = strtoull(text, &end, 0);
	if (*end)
		wrong(l, "not a number");
	return value;
}

static uint32_t id_at(const struct line *l, size_t i)
{
	return (uint32_t)number_at(l, i);
}

/* -------- records, by libprf's writer -------- */

static void must(const struct line *l, struct error *error)
{
	if (error)
		wrong(l, error->text);
}

static void make_event(struct prf_writer *w, const struct line *l)
{
	struct prf_event e = { (enum prf_event_kind)number_at(l, 1), text_at(l, 2), text_at(l, 3),
			       number_at(l, 4), number_at(l, 5) };
	uint32_t id;

	must(l, prf_writer_event(w, &e, &id));
}

static void make_object(struct prf_writer *w, const struct line *l)
{
	struct prf_object o = { .kind = (enum prf_object_kind)number_at(l, 1),
				.path = text_at(l, 2),
				.root = text_at(l, 3),
				.base = number_at(l, 5),
				.deleted = number_at(l, 6),
				.device = number_at(l, 7),
				.inode = number_at(l, 8),
				.size = number_at(l, 9),
				.mtime_ns = number_at(l, 10) };
	const char *hex = text_at(l, 4);
	uint32_t id;

	for (; hex[0] && hex[1] && o.build_id_size < PRF_BUILD_ID_MAX; hex += 2)
		o.build_id[o.build_id_size++] = (uint8_t)(hex_digit(hex[0]) << 4 |
							  hex_digit(hex[1]));
	must(l, prf_writer_object(w, &o, &id));
}

static void make_task(struct prf_writer *w, const struct line *l)
{
	struct prf_task t = { .pid = id_at(l, 1),
			      .tid = id_at(l, 2),
			      .comm = text_at(l, 3),
			      .cgroup = text_at(l, 4),
			      .command_line = text_at(l, 5),
			      .parent_pid = id_at(l, 6),
			      .start_ns = number_at(l, 7),
			      .inner_pid = id_at(l, 8),
			      .inner_tid = id_at(l, 9) };
	uint32_t id;

	must(l, prf_writer_task(w, &t, &id));
}

static void make_frame(struct prf_writer *w, const struct line *l)
{
	struct prf_frame f = { id_at(l, 1), id_at(l, 2), number_at(l, 3) };
	uint32_t id;

	must(l, prf_writer_frame(w, &f, &id));
}

static void make_stack(struct prf_writer *w, const struct line *l)
{
	struct prf_stack s = { id_at(l, 1), id_at(l, 2) };
	uint32_t id;

	must(l, prf_writer_stack(w, &s, &id));
}

static void make_sample(struct prf_writer *w, const struct line *l)
{
	struct prf_sample s = { .time_ns = number_at(l, 1),
				.task = id_at(l, 2),
				.event = id_at(l, 3),
				.stack = id_at(l, 4),
				.cpu = id_at(l, 5),
				.weight = number_at(l, 6),
				.waker = l->count > 7 ? id_at(l, 7) : PRF_NONE,
				.waker_task = l->count > 8 ? id_at(l, 8) : PRF_NONE };

	must(l, prf_writer_sample(w, &s));
}

static void make_loss(struct prf_writer *w, const struct line *l)
{
	struct prf_loss loss = { number_at(l, 1), number_at(l, 2), id_at(l, 3),
				 (enum prf_loss_reason)number_at(l, 4), number_at(l, 5) };

	must(l, prf_writer_loss(w, &loss));
}

static void make_symbols(struct prf_writer *w, const struct line *l)
{
	struct prf_symbol symbols[WORDS_MAX / 3];
	size_t n = 0;

	for (size_t i = 2; i + 2 < l->count; i += 3)
		symbols[n++] = (struct prf_symbol){ number_at(l, i), number_at(l, i + 1),
						    text_at(l, i + 2) };
	must(l, prf_writer_symbols(w, id_at(l, 1), symbols, n));
}

static void make_names(struct prf_writer *w, const struct line *l)
{
	struct prf_place places[WORDS_MAX / 4];
	size_t n = 0;

	for (size_t i = 2; i + 3 < l->count; i += 4)
		places[n++] = (struct prf_place){ text_at(l, i), text_at(l, i + 1), id_at(l, i + 2),
						  id_at(l, i + 3) };
	must(l, prf_writer_names(w, id_at(l, 1), places, n));
}

/* code OBJECT OFFSET ADDRESS MACHINE NAME BYTES N (ADDRESS FUNCTION FILE LINE)*N (ADDRESS INTO
 * NAME)... */
static void make_code(struct prf_writer *w, const struct line *l)
{
	struct prf_code_line lines[WORDS_MAX / 4];
	struct prf_code_symbol symbols[WORDS_MAX / 3];
	struct prf_code code = { .object = id_at(l, 1),
				 .offset = number_at(l, 2),
				 .address = number_at(l, 3),
				 .machine = id_at(l, 4),
				 .name = text_at(l, 5),
				 .bytes = (const uint8_t *)text_at(l, 6),
				 .size = l->words[6].size,
				 .lines = lines,
				 .symbols = symbols };
	size_t i = 8, n = number_at(l, 7);

	for (; code.line_count < n && i + 3 < l->count; i += 4)
		lines[code.line_count++] = (struct prf_code_line){
			number_at(l, i), text_at(l, i + 1), text_at(l, i + 2), id_at(l, i + 3)
		};
	for (; i + 2 < l->count; i += 3)
		symbols[code.symbol_count++] = (struct prf_code_symbol){ number_at(l, i),
									 number_at(l, i + 1),
									 text_at(l, i + 2) };
	must(l, prf_writer_code(w, &code));
}

static void make_source(struct prf_writer *w, const struct line *l)
{
	const char *lines[WORDS_MAX];
	struct prf_source source = { text_at(l, 1), id_at(l, 2), lines, 0 };

	for (size_t i = 3; i < l->count; i++)
		lines[source.n++] = text_at(l, i);
	must(l, prf_writer_source(w, &source));
}

static void make_metadata(struct prf_writer *w, const struct line *l)
{
	must(l, prf_writer_metadata(w, text_at(l, 1), text_at(l, 2)));
}

static void make_statistic(struct prf_writer *w, const struct line *l)
{
	must(l, prf_writer_statistic(w, text_at(l, 1), number_at(l, 2)));
}

/* What waits is a second old by now. */
static void make_seal(struct prf_writer *w, const struct line *l)
{
	must(l, prf_writer_tick(w, 1, 0));
	must(l, prf_writer_tick(w, UINT64_MAX, 0));
}

static void make_finish(struct prf_writer *w, const struct line *l)
{
	must(l, prf_writer_finish(w));
}

/* -------- changes to the blocks afterwards -------- */

struct block {
	struct block_header header;
	uint8_t *stored;
};

struct trace {
	struct buffer bytes;
	struct block blocks[BLOCKS_MAX];
	size_t count;
	uint16_t major, minor;
	bool laid_out; /* the blocks are in `bytes` again */
};

static void take_apart(struct trace *t, const struct line *l, const uint8_t *bytes, size_t size)
{
	t->major = PRF_VERSION_MAJOR;
	t->minor = PRF_VERSION_MINOR;
	for (size_t at = WIRE_HEADER_SIZE; at < size;) {
		struct block *b = &t->blocks[t->count++];

		if (t->count == BLOCKS_MAX || !block_header_decode(bytes + at, &b->header))
			wrong(l, "too many blocks");
		at += WIRE_BLOCK_HEADER_SIZE;
		b->stored = malloc(b->header.stored_size + 1);
		if (!b->stored)
			wrong(l, "out of memory");
		memcpy(b->stored, bytes + at, b->header.stored_size);
		at += b->header.stored_size;
	}
}

static void put_together(struct trace *t)
{
	if (t->laid_out)
		return;
	t->laid_out = true;
	buffer_append(&t->bytes, WIRE_MAGIC, WIRE_MAGIC_SIZE);
	buffer_u16(&t->bytes, t->major);
	buffer_u16(&t->bytes, t->minor);
	buffer_u32(&t->bytes, 0);
	buffer_u64(&t->bytes, XXH3_64bits(t->bytes.data, t->bytes.size));
	for (size_t i = 0; i < t->count; i++) {
		const struct block_header *h = &t->blocks[i].header;
		size_t start = t->bytes.size, stored = h->stored_size;

		buffer_append(&t->bytes, WIRE_MARKER, WIRE_MARKER_SIZE);
		buffer_u16(&t->bytes, h->type);
		buffer_u16(&t->bytes, h->flags);
		buffer_u32(&t->bytes, h->sequence);
		buffer_u32(&t->bytes, h->stored_size);
		buffer_u32(&t->bytes, h->raw_size);
		buffer_u64(&t->bytes, h->checksum);
		buffer_u32(&t->bytes,
			   (uint32_t)XXH3_64bits(t->bytes.data + start, t->bytes.size - start));
		/* A header may lie about its size; then there are no more bytes than there were. */
		buffer_append(&t->bytes, t->blocks[i].stored, stored < 65536 ? stored : 0);
	}
}

static struct block *block_at(struct trace *t, const struct line *l, size_t word)
{
	uint64_t number = number_at(l, word);

	if (t->laid_out)
		wrong(l, "changes of blocks come before changes of bytes");
	if (number >= t->count)
		wrong(l, "there is no such block");
	return &t->blocks[number];
}

/* 12: uleb, s-12: sleb, "text", x:00ff: bytes, u64:12, zero:12: that many zero bytes */
static void payload(struct buffer *out, const struct line *l, size_t from)
{
	for (size_t i = from; i < l->count; i++) {
		const struct word *w = &l->words[i];

		if (w->quoted) {
			buffer_append(out, w->text, w->size + 1);
		} else if (strncmp(w->text, "x:", 2) == 0) {
			for (const char *hex = w->text + 2; hex[0] && hex[1]; hex += 2)
				buffer_u8(out,
					  (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1])));
		} else if (strncmp(w->text, "zero:", 5) == 0) {
			size_t n = strtoull(w->text + 5, NULL, 0);
			void *zeros = buffer_extend(out, n);

			if (zeros)
				memset(zeros, 0, n);
		} else if (strncmp(w->text, "u64:", 4) == 0) {
			buffer_u64(out, strtoull(w->text + 4, NULL, 0));
		} else if (w->text[0] == 's') {
			buffer_sleb(out, strtoll(w->text + 1, NULL, 0));
		} else {
			buffer_uleb(out, number_at(l, i));
		}
	}
}

static void set_payload(struct block *b, const struct line *l, size_t from)
{
	struct buffer out = { 0 };

	payload(&out, l, from);
	buffer_u8(&out, 0);
	if (!buffer_ok(&out))
		wrong(l, "out of memory");
	free(b->stored);
	b->stored = out.data;
	b->header.flags &= (uint16_t)~WIRE_FLAG_ZSTD;
	b->header.stored_size = b->header.raw_size = (uint32_t)out.size - 1;
	b->header.checksum = XXH3_64bits(out.data, out.size - 1);
}

static void change_version(struct trace *t, const struct line *l)
{
	t->major = (uint16_t)number_at(l, 1);
	t->minor = (uint16_t)number_at(l, 2);
}

static void change_payload(struct trace *t, const struct line *l)
{
	set_payload(block_at(t, l, 1), l, 2);
}

static void change_insert(struct trace *t, const struct line *l)
{
	size_t at = (size_t)(block_at(t, l, 1) - t->blocks);
	struct block *b = &t->blocks[at];

	if (t->count + 1 >= BLOCKS_MAX)
		wrong(l, "too many blocks");
	memmove(b + 1, b, (t->count - at) * sizeof(*b));
	t->count++;
	*b = (struct block){ .header = { .type = (uint16_t)number_at(l, 2),
					 .flags = (uint16_t)number_at(l, 3),
					 .sequence = b[1].header.sequence } };
	set_payload(b, l, 4);
	for (size_t i = at + 1; i < t->count; i++)
		t->blocks[i].header.sequence++;
}

static void change_drop(struct trace *t, const struct line *l)
{
	struct block *b = block_at(t, l, 1);

	free(b->stored);
	memmove(b, b + 1, (size_t)(t->blocks + --t->count - b) * sizeof(*b));
}

static void change_copy(struct trace *t, const struct line *l)
{
	struct block *b = block_at(t, l, 1);
	uint8_t *copy = malloc(b->header.stored_size + 1);

	if (!copy || t->count + 1 >= BLOCKS_MAX)
		wrong(l, "too many blocks");
	memcpy(copy, b->stored, b->header.stored_size);
	memmove(b + 1, b, (size_t)(t->blocks + t->count++ - b) * sizeof(*b));
	b->stored = copy;
}

static void change_swap(struct trace *t, const struct line *l)
{
	struct block *a = block_at(t, l, 1), *b = block_at(t, l, 2), swapped = *a;

	*a = *b;
	*b = swapped;
}

static void change_flags(struct trace *t, const struct line *l)
{
	block_at(t, l, 1)->header.flags = (uint16_t)number_at(l, 2);
}

static void change_type(struct trace *t, const struct line *l)
{
	block_at(t, l, 1)->header.type = (uint16_t)number_at(l, 2);
}

static void change_raw_size(struct trace *t, const struct line *l)
{
	block_at(t, l, 1)->header.raw_size = id_at(l, 2);
}

static void change_stored_size(struct trace *t, const struct line *l)
{
	block_at(t, l, 1)->header.stored_size = id_at(l, 2);
}

/* -------- changes to the bytes after that -------- */

static void change_flip(struct trace *t, const struct line *l)
{
	uint64_t offset = number_at(l, 1);

	put_together(t);
	if (offset >= t->bytes.size)
		wrong(l, "there is no such byte");
	t->bytes.data[offset] ^= (uint8_t)number_at(l, 2);
}

static void change_cut(struct trace *t, const struct line *l)
{
	uint64_t size = number_at(l, 1);

	put_together(t);
	if (size > t->bytes.size)
		wrong(l, "there are not so many bytes");
	t->bytes.size = size;
}

static void change_append(struct trace *t, const struct line *l)
{
	put_together(t);
	payload(&t->bytes, l, 1);
}

/* -------- a whole description -------- */

static const struct {
	const char *name;
	void (*make)(struct prf_writer *w, const struct line *l);
	void (*change)(struct trace *t, const struct line *l);
} words[] = {
	{ "event", make_event },
	{ "object", make_object },
	{ "task", make_task },
	{ "frame", make_frame },
	{ "stack", make_stack },
	{ "sample", make_sample },
	{ "loss", make_loss },
	{ "symbols", make_symbols },
	{ "names", make_names },
	{ "code", make_code },
	{ "source", make_source },
	{ "metadata", make_metadata },
	{ "statistic", make_statistic },
	{ "seal", make_seal },
	{ "finish", make_finish },
	{ "version", NULL, change_version },
	{ "payload", NULL, change_payload },
	{ "insert", NULL, change_insert },
	{ "drop", NULL, change_drop },
	{ "copy", NULL, change_copy },
	{ "swap", NULL, change_swap },
	{ "flags", NULL, change_flags },
	{ "type", NULL, change_type },
	{ "raw-size", NULL, change_raw_size },
	{ "stored-size", NULL, change_stored_size },
	{ "flip", NULL, change_flip },
	{ "cut", NULL, change_cut },
	{ "append", NULL, change_append },
};

/* Records first; the first change ends them. */
static void run_line(struct prf_writer *w, struct trace *t, const struct line *l)
{
	const void *bytes;
	size_t size;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(words[i].name, l->words[0].text) != 0)
			continue;
		if (words[i].make) {
			if (t->major)
				wrong(l, "records come before changes");
			words[i].make(w, l);
			return;
		}
		if (!t->major) {
			bytes = prf_writer_memory(w, &size);
			take_apart(t, l, bytes, size);
		}
		words[i].change(t, l);
		return;
	}
	wrong(l, "unknown word");
}

static void make_trace(const char *path, int level, struct buffer *out)
{
	struct prf_writer_options options = { .fd = -1, .level = level };
	struct line l = { .file = path };
	struct trace t = { 0 };
	struct prf_writer *w;
	FILE *file = fopen(path, "r");
	char *text = NULL;
	const void *bytes;
	size_t room = 0, size;

	if (!file) {
		message_error("%s: %s", path, strerror(errno));
		exit(1);
	}
	must(&l, prf_writer_new(&w, &options));
	while (getline(&text, &room, file) >= 0) {
		l.number++;
		split(&l, text);
		if (l.count)
			run_line(w, &t, &l);
	}
	if (!t.major) {
		bytes = prf_writer_memory(w, &size);
		buffer_append(out, bytes, size);
	} else {
		put_together(&t);
		buffer_append(out, t.bytes.data, t.bytes.size);
	}
	for (size_t i = 0; i < t.count; i++)
		free(t.blocks[i].stored);
	buffer_release(&t.bytes);
	prf_writer_free(w);
	free(text);
	fclose(file);
}

/* -------- command line -------- */

struct settings {
	const char *output;
	unsigned long long level;
};

static const char *take_output(void *context, const char *argument)
{
	((struct settings *)context)->output = argument;
	return NULL;
}

static const char *take_level(void *context, const char *argument)
{
	struct settings *s = context;

	return option_number(argument, 0, 19, &s->level) ? NULL : "is not a level from 0 to 19";
}

static const struct option_entry table[] = {
	{ 'o', "output", "FILE", "where to write (stdout)", take_output },
	{ 'z', "level", "N", "zstd level, 0 stores (0)", take_level },
	{ 0 },
};

static bool write_out(const struct buffer *out, const char *path)
{
	FILE *file = path ? fopen(path, "wb") : stdout;
	bool good = file && (!out->size || fwrite(out->data, 1, out->size, file) == out->size);

	if (file && fflush(file) != 0)
		good = false;
	if (file && path && fclose(file) != 0)
		good = false;
	return good;
}

int main(int argc, char **argv)
{
	struct settings settings = { 0 };
	const struct options options = {
		.program = "trace_text",
		.synopsis = "[OPTIONS] DESCRIPTION",
		.summary = "Makes a trace from its description.",
		.table = table,
		.context = &settings,
	};
	char **rest = calloc((size_t)argc, sizeof(*rest)), **command;
	const char *input;
	struct buffer out = { 0 };
	int count = 0, status;

	message_setup("trace_text", MESSAGE_WARNING);
	status = options_parse(&options, argc, argv, rest, &count, &command);
	input = count == 1 ? rest[0] : NULL;
	free(rest);
	if (status != OPTIONS_OK)
		return status;
	if (!input) {
		message_error("needs one description");
		return 2;
	}
	make_trace(input, (int)settings.level, &out);
	status = buffer_ok(&out) && write_out(&out, settings.output) ? 0 : 1;
	if (status)
		message_error("cannot write: %s", strerror(errno));
	buffer_release(&out);
	return status;
}
