/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/images/replay.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "record/java/hotspot_names.h"
#include "record/scripts/script_file.h"
#include "record/scripts/script_memory.h"
#include "record/scripts/script_merge.h"
#include "record/scripts/script_names.h"
#include "record/javascript/v8_file.h"
#include "record/javascript/v8_names.h"

struct replay {
	const struct image *image;
	struct kernel_half half;
	struct buffer *text;
	const struct sample *sample;
	/* Of the runtime's kind. */
	struct script_names *scripts;
	struct prf_writer *writer;
	struct hotspot hotspot;
	struct hotspot_names *java;
	struct v8_names *v8;
};

static void write_place(struct replay *r, const char *kind, const struct prf_place *place)
{
	buffer_printf(r->text, "%s %s %s:%u\n", kind, place->function, place->file, place->line);
}

static void write_native(struct replay *r, uint64_t frame)
{
	uint64_t address = frame & FRAME_ADDRESS;
	const struct image_mapping *m = image_find(r->image, address);
	const char *name = m ? strrchr(m->path, '/') : NULL;

	if (m)
		buffer_printf(r->text, "native %s+%" PRIx64 "\n", name ? name + 1 : m->path,
			      address - m->start + m->offset);
	else
		buffer_printf(r->text, "native %" PRIx64 "\n", address);
}

static void write_end(struct replay *r)
{
	static const char *const ends[] = {
		[WALK_ROOT] = "the root",
		[WALK_NO_TABLE] = "code without a table",
		[WALK_BAD_READ] = "memory that is not there",
		[WALK_TOO_DEEP] = "the limit",
		[WALK_UNSUPPORTED] = "a rule that is not supported",
		[WALK_NO_REGISTERS] = "no registers",
		[WALK_NO_MAPPING] = "an address without a mapping",
		[WALK_RUNTIME_CODE] = "unknown code of the runtime",
		[WALK_RUNTIME_FRAME] = "an unknown frame of the runtime",
	};
	size_t end = r->sample->walk_end;

	buffer_printf(r->text, "ends at %s%s\n",
		      end < sizeof(ends) / sizeof(*ends) && ends[end] ? ends[end] : "nothing",
		      r->sample->script_flags & SCRIPT_CUT ? ", the list is cut" : "");
}

/* -------- Python, Ruby -------- */

static size_t read_text(void *context, const struct script_name *name, struct script_text *text,
			void *to, size_t most)
{
	const struct replay *r = context;

	return script_memory_text(&r->image->memory, &r->half.process, name, text, to, most);
}

static void add_script_name(void *context, const void *data, size_t size)
{
	script_names_add(((struct replay *)context)->scripts, data, size);
}

/* The places that were written for each frame, as text. */
static void read_places(struct replay *r, struct buffer *places, size_t count)
{
	const struct prf_place *place;
	struct prf_record record;
	struct prf_reader *reader;
	struct buffer *all = r->text;
	const void *data;
	size_t size;

	if (error_ignore(prf_writer_finish(r->writer)))
		return;
	data = prf_writer_memory(r->writer, &size);
	if (error_ignore(prf_reader_new_memory(&reader, data, size)))
		return;
	while (!error_ignore(prf_reader_next(reader, &record)) && record.type != PRF_RECORD_END) {
		if (record.type != PRF_RECORD_NAMES || record.names.frame >= count)
			continue;
		place = record.names.places;
		r->text = &places[record.names.frame];
		write_place(r, "code", place);
	}
	r->text = all;
	prf_reader_free(reader);
}

static void write_merged(struct replay *r)
{
	static struct script_merged merged[SCRIPT_MERGE_MAX];
	static struct buffer places[SCRIPT_MERGE_MAX];
	uint32_t ids[SCRIPT_MERGE_MAX];
	enum script_match match;
	size_t n = script_merge(r->sample, false, merged, &match);
	bool settled;

	for (size_t i = 0; i < n; i++)
		if (merged[i].script && error_ignore(script_names_frame(
						r->scripts, merged[i].script, &ids[i], &settled)))
			ids[i] = SCRIPT_MERGE_MAX;
	read_places(r, places, SCRIPT_MERGE_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct buffer *place;

		if (!merged[i].script) {
			write_native(r, merged[i].native);
			continue;
		}
		place = ids[i] < SCRIPT_MERGE_MAX ? &places[ids[i]] : NULL;
		if (place && place->size)
			buffer_append(r->text, place->data, place->size);
		else
			buffer_text(r->text, "code ?\n");
	}
	for (size_t i = 0; i < SCRIPT_MERGE_MAX; i++)
		buffer_release(&places[i]);
	if (match != SCRIPT_MATCHED)
		buffer_text(r->text, "the lists do not match\n");
}

static const char *replay_list(struct replay *r, const struct script_language *language,
			       const struct elf_file *e)
{
	const struct image_mapping *m = &r->image->mappings[r->image->runtime];
	struct script_process *p = &r->half.process;
	const char *problem = language->read(p, e);
	uint64_t address;

	if (!problem && !elf_file_offset_to_address(e, m->offset, &address))
		problem = "its code is not mapped";
	if (problem)
		return problem;
	p->runtime = language->runtime;
	script_process_place(p, p->runtime, m->start - address);
	r->half.name = add_script_name;
	r->scripts =
		script_names_new(&(struct script_names_options){ .read = read_text, .context = r });
	if (!r->scripts ||
	    error_ignore(prf_writer_new(&r->writer, &(struct prf_writer_options){ .fd = -1 })))
		abort();
	script_names_set_writer(r->scripts, r->writer);
	r->sample = kernel_half_sample(&r->half);
	write_merged(r);
	script_names_free(r->scripts);
	prf_writer_free(r->writer);
	return NULL;
}

/* -------- frames on the stack -------- */

static size_t find_places(struct replay *r, const struct script_frame *frame, uint64_t address,
			  struct prf_place *places)
{
	const struct v8_question question = { frame, address & FRAME_ADDRESS,
					      address & FRAME_EXACT };
	bool complete;

	if (r->java)
		return hotspot_names_find(r->java, frame, address & FRAME_EXACT, places);
	return v8_names_find(r->v8, &question, places, &complete);
}

/* False: the frame has no name. */
static bool write_named(struct replay *r, const struct script_frame *frame, uint64_t address)
{
	struct prf_place places[HOTSPOT_INLINED_MAX];
	bool interpreted = frame->code & (r->java ? HOTSPOT_METHOD : V8_INTERPRETED);
	size_t n = find_places(r, frame, address, places);

	for (size_t i = 0; i < n; i++)
		write_place(r,
			    i + 1 < n	  ? "inlined"
			    : interpreted ? "interpreted"
					  : "code",
			    &places[i]);
	return n > 0;
}

/* Each frame that is marked as the runtime's has the next one of its list. */
static void write_frames(struct replay *r)
{
	const struct sample *s = r->sample;
	const struct script_frame *next = (const void *)(s->frames + s->user_frames);
	const struct script_frame *end = next + s->script_frames;

	for (size_t i = 0; i < s->user_frames; i++)
		if (!(s->frames[i] & FRAME_SCRIPT) || next == end ||
		    !write_named(r, next++, s->frames[i]))
			write_native(r, s->frames[i]);
}

static const char *replay_java(struct replay *r)
{
	struct hotspot *h = &r->hotspot;
	const char *why = NULL;
	struct shares bytes = { .limit = LIMIT_JAVA_TOTAL_BYTES };

	if (hotspot_attach(h, &why) != HOTSPOT_READY)
		return why;
	h->process.id = 1;
	r->half.process.runtime = SCRIPT_HOTSPOT;
	memcpy(r->half.process.parameters, &h->process, sizeof(h->process));
	r->java = hotspot_names_new(h, &bytes, 0);
	if (!r->java)
		abort();
	r->sample = kernel_half_sample(&r->half);
	write_frames(r);
	hotspot_names_free(r->java);
	shares_release(&bytes);
	return NULL;
}

/* -------- V8 -------- */

static const struct target_memory *v8_memory;

static struct target_memory memory_of(uint32_t pid)
{
	return *v8_memory;
}

static void add_v8_name(void *context, const void *data, size_t size)
{
	v8_names_add(((struct replay *)context)->v8, data, size);
}

static void not_again(void *context, uint64_t isolate, uint64_t position)
{
}

/* Where the builtins are mapped: at first the program's own, then copies of them. */
static void place_builtins(struct replay *r, const struct v8_file *file, struct v8_process *p)
{
	const struct image *image = r->image;
	const struct image_mapping *own = &image->mappings[image->runtime];
	size_t copies = 0;

	for (size_t i = 0; i < image->mapping_count && copies < V8_COPIES; i++) {
		const struct image_mapping *m = &image->mappings[i];
		uint64_t at = file->code_offset - m->offset;

		if (at < m->end - m->start && !strcmp(m->path, own->path))
			p->builtins[copies++] = m->start + at;
	}
	for (; copies && copies < V8_COPIES; copies++)
		p->builtins[copies] = p->builtins[0];
}

static const char *replay_v8(struct replay *r, const struct elf_file *e)
{
	struct v8_file file;
	const char *problem = v8_file_read(&file, e);

	if (problem)
		return problem;
	place_builtins(r, &file, &file.process);
	r->half.process.runtime = SCRIPT_V8;
	memcpy(r->half.process.parameters, &file.process, sizeof(file.process));
	r->half.name = add_v8_name;
	v8_memory = &r->image->memory;
	r->v8 = v8_names_new(&(struct v8_names_options){ .memory = memory_of, .again = not_again });
	if (!r->v8)
		abort();
	r->sample = kernel_half_sample(&r->half);
	write_frames(r);
	v8_names_free(r->v8);
	return NULL;
}

/* -------- any of them -------- */

static const char *replay_runtime(struct replay *r, const struct elf_file *e)
{
	const struct image_mapping *m = &r->image->mappings[r->image->runtime];
	const struct script_language *language = script_file_language(e);
	uint64_t address = 0;

	if (language)
		return replay_list(r, language, e);
	if (v8_file_is_one(e))
		return replay_v8(r, e);
	if (elf_file_offset_to_address(e, m->offset, &address) &&
	    hotspot_init(&r->hotspot, &r->image->memory, e, m->start - address))
		return replay_java(r);
	return "the file holds no runtime";
}

const char *image_replay(const struct image *i, struct buffer *text)
{
	struct replay r = { .image = i,
			    .half = { .memory = i->memory,
				      .thread = i->thread,
				      .process.image = 1,
				      .tables = i->tables },
			    .text = text };
	const char *problem = "the runtime's file is no ELF file";
	struct elf_file e;

	r.half.context = &r;
	if (elf_file_open_memory(&e, i->file, i->file_size))
		return problem;
	problem = replay_runtime(&r, &e);
	elf_file_release(&e);
	if (!problem)
		write_end(&r);
	return problem;
}

/* -------- all moments -------- */

/* Where in `a` the lines begin that it has in common with the end of `b`. */
static const char *common_end(const char *a, const char *b)
{
	size_t at = strlen(a), other = strlen(b), begin = at;

	while (at && other && a[at - 1] == b[other - 1]) {
		at--;
		other--;
		if ((!at || a[at - 1] == '\n') && (!other || b[other - 1] == '\n'))
			begin = at;
	}
	return a + begin;
}

void image_append_moment(struct buffer *text, struct buffer *first, struct buffer *now)
{
	const char *line = buffer_string(now), *end = common_end(line, buffer_string(first));
	size_t same = 0;

	buffer_text(text, "then ");
	for (; line < end; line += strcspn(line, "\n") + 1)
		buffer_printf(text, "%.*s < ", (int)strcspn(line, "\n"), line);
	for (; *line; line++)
		same += *line == '\n';
	buffer_printf(text, "%zu lines\n", same);
}

const char *image_replay_all(struct image *i, struct buffer *text)
{
	struct buffer first = { 0 }, now = { 0 };
	const char *problem = image_replay(i, &first);

	buffer_append(text, first.data, first.size);
	while (!problem && image_next(i)) {
		buffer_clear(&now);
		problem = image_replay(i, &now);
		image_append_moment(text, &first, &now);
	}
	buffer_release(&first);
	buffer_release(&now);
	return problem;
}
