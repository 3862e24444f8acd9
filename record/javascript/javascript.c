/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/javascript.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/runtimes.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/runtimes/sent_names.h"
#include "record/runtimes/runtime_frames.h"
#include "record/runtimes/runtime_map.h"
#include "record/javascript/v8_file.h"
#include "record/javascript/v8_names.h"

#define NAMES_MS 50
#define PAST_MAX 1024 /* processes that are known, of which ended ones are */

_Static_assert(sizeof(struct v8_process) <= sizeof(((struct script_process *)0)->parameters),
	       "the kernel half gets it as the runtime's parameters");

/* What a process with V8 has come to; for most it is noted in the trace after they have ended. */
struct process {
	bool runs;
	uint32_t image, copies; /* of its program, and of the builtins in it */
	struct v8_process parameters;
	uint64_t frames, nameless; /* different ones that were looked up, and those without names */
};

struct javascript {
	struct javascript_options options;
	struct runtime_map processes;
	struct map files;  /* struct object * -> struct v8_file *, NULL for a file without V8 */
	struct map by_pid; /* -> struct process * */
	size_t running;	   /* of them */
	uint32_t images;
	struct v8_names *names;
	struct runtime_frames named;
	/* struct frame_key -> number in the trace; PRF_NONE: not known for good, see NAMED */
	struct map frames;
};

/* A frame; in optimized code, where in it, as it has functions inlined. */
struct frame_key {
	struct script_frame frame;
	uint64_t address, exact;
};

#define NAMED (UINT64_C(1) << 32) /* in `frames`: it has a name, and may get a line */

static void forgot(void *context)
{
	const struct javascript *j = context;

	sent_names_forget(j->options.sent_fd);
}

static void send_again(void *context, uint64_t code, uint64_t position)
{
	const struct javascript *j = context;

	sent_names_forget_one(j->options.sent_fd, script_mix(code, position));
}

struct javascript *javascript_new(const struct javascript_options *options)
{
	struct javascript *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->options = *options;
	j->processes = (struct runtime_map){ .fd = options->scripts_fd,
					     .refused = options->refused,
					     .context = options->context };
	j->names = v8_names_new(&(struct v8_names_options){
		.memory = target_memory_of, .again = send_again, .forgot = forgot, .context = j });
	if (j->names)
		return j;
	free(j);
	return NULL;
}

void javascript_free(struct javascript *j)
{
	if (!j)
		return;
	map_release_values(&j->by_pid, free);
	map_release_values(&j->files, free);
	map_release(&j->frames);
	runtime_frames_release(&j->named);
	v8_names_free(j->names);
	free(j);
}

/* -------- files -------- */

static struct v8_file *read_v8(struct javascript *j, const struct elf_file *e, const char *path)
{
	struct v8_file *file = calloc(1, sizeof(*file));
	const char *problem = file ? v8_file_read(file, e) : "no memory";
	char text[512];

	if (!problem)
		return file;
	free(file);
	snprintf(text, sizeof(text), "%s: its JavaScript functions are not named: %s", path,
		 problem);
	if (j->options.refused)
		j->options.refused(text, j->options.context);
	return NULL;
}

/* Closes the file; NULL for one that holds no V8. */
static void *look_into(void *context, const struct open_file *opened, const char *path)
{
	struct v8_file *file = NULL;
	struct elf_file e;

	if (!elf_file_open(&e, opened->fd)) {
		if (v8_file_is_one(&e))
			file = read_v8(context, &e, path);
		elf_file_release(&e);
	}
	close(opened->fd);
	return file;
}

/* -------- processes -------- */

static struct process *find(const struct javascript *j, uint32_t pid)
{
	const uint64_t *value = map_get(&j->by_pid, &pid, sizeof(pid));

	return value ? (struct process *)(uintptr_t)*value : NULL;
}

/* The process has V8, from now on. NULL without memory. */
static struct process *begin(struct javascript *j, uint32_t pid,
			     const struct v8_process *parameters)
{
	struct process *p = find(j, pid);
	uint64_t *value;

	if (!p) {
		p = calloc(1, sizeof(*p));
		value = p ? map_put(&j->by_pid, &pid, sizeof(pid), NULL) : NULL;
		if (value)
			*value = (uintptr_t)p;
		else
			free(p);
		p = value ? p : NULL;
	}
	if (!p || p->runs)
		return p;
	p->runs = true;
	p->parameters = *parameters;
	p->image = ++j->images;
	p->copies = 0;
	j->running++;
	return p;
}

/* Beyond the number that can be known, the newest stay, and the program's own. */
static void add_copy(struct process *p, uint64_t address)
{
	__u64 *builtins = p->parameters.builtins;

	if (!p->copies++)
		for (size_t i = 0; i < V8_COPIES; i++)
			builtins[i] = address;
	else
		builtins[1 + (p->copies - 2) % (V8_COPIES - 1)] = address;
}

static void publish(struct javascript *j, uint32_t pid, const struct process *p)
{
	struct script_process process = { .runtime = SCRIPT_V8, .image = p->image };
	const uint32_t slot = pid % SCRIPT_LISTS;
	const uint64_t is_one = 1;

	memcpy(process.parameters, &p->parameters, sizeof(p->parameters));
	bpf_map_update_elem(j->options.lists_fd, &slot, &is_one, BPF_ANY);
	runtime_map_put(&j->processes, pid, &process);
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	struct javascript *j = context;
	const struct v8_file *file;
	struct process *p;

	if (m->object->definition.kind != PRF_OBJECT_FILE)
		return;
	file = object_read(&j->files, pid, m, &(struct object_reader){ look_into, j });
	/* Of a file's mappings, that of V8's code. */
	if (!file || file->code_offset - m->offset >= m->end - m->start)
		return;
	p = begin(j, pid, &file->process);
	if (!p)
		return;
	add_copy(p, m->start + (file->code_offset - m->offset));
	publish(j, pid, p);
}

/*
 * The kernel half has given the child a copy of the parent's entry, unless it forked before that
 * was there.
 */
static void forked(void *context, uint32_t parent, uint32_t child)
{
	struct javascript *j = context;
	const struct process *p = find(j, parent);
	struct process *its = p && p->runs ? begin(j, child, &p->parameters) : NULL;

	if (!its)
		return;
	its->copies = p->copies;
	if (!runtime_map_runtime(&j->processes, child))
		publish(j, child, its);
}

static void forgotten(void *context, const struct object *object)
{
	map_remove_value(&((struct javascript *)context)->files, &object, sizeof(object), free);
}

static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct javascript *j = context;
	struct process *p = find(j, pid);

	if (!p || !p->runs)
		return;
	p->runs = false;
	j->running--;
	/* Since an exec it may be another runtime's, which the kernel half has put there. */
	if (runtime_map_runtime(&j->processes, pid) == SCRIPT_V8)
		runtime_map_remove(&j->processes, pid);
	/* Names of its late samples do not need it. */
	if (j->by_pid.count > PAST_MAX)
		map_remove_value(&j->by_pid, &pid, sizeof(pid), free);
}

static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	ended(context, pid, time_ns);
}

struct error *javascript_follow(struct javascript *j, struct spaces *newest)
{
	return spaces_listen(newest, &(struct space_listener){ .mapped = mapped,
							       .forgotten = forgotten,
							       .forked = forked,
							       .cleared = cleared,
							       .ended = ended,
							       .context = j });
}

int javascript_wait_ms(const struct javascript *j, int most_ms)
{
	return j->running && most_ms > NAMES_MS ? NAMES_MS : most_ms;
}

/* -------- names -------- */

void javascript_add_name(struct javascript *j, const void *data, size_t size)
{
	v8_names_add(j->names, data, size);
}

void javascript_set_writer(struct javascript *j, struct prf_writer *w)
{
	runtime_frames_begin(&j->named, w);
	map_release(&j->frames);
}

static void count(struct javascript *j, uint32_t pid, bool first, bool named)
{
	struct process *p = find(j, pid);

	if (!p)
		return;
	p->frames += first;
	p->nameless += first;
	p->nameless -= named && p->nameless;
}

struct error *javascript_frame(struct javascript *j, const struct javascript_question *q,
			       uint32_t *id, bool *settled)
{
	const char *object = q->frame->code & V8_INTERPRETED ? "[js interpreter]" : "[js]";
	const struct v8_question question = { q->frame, q->address, q->exact };
	struct frame_key key = { .frame = *q->frame };
	struct prf_place places[V8_PLACES_MAX];
	struct error *error = NULL;
	bool added = false, complete = false;
	uint64_t *value;
	size_t n;

	*id = PRF_NONE;
	if (j->frames.count >= LIMIT_RUNTIME_FRAMES)
		map_release(&j->frames);
	if (q->frame->code & V8_OPTIMIZED) {
		key.address = q->address;
		key.exact = q->exact;
	}
	value = map_put(&j->frames, &key, sizeof(key), &added);
	if (!value)
		return error_memory();
	if (added)
		*value = PRF_NONE;
	if ((uint32_t)*value != PRF_NONE) {
		*id = (uint32_t)*value;
		return NULL;
	}
	n = v8_names_find(j->names, &question, places, &complete);
	if (n)
		error = runtime_frames_find(&j->named, object,
					    &(struct runtime_places){ places, n }, id);
	count(j, q->pid, added, n && !(*value & NAMED));
	*settled &= complete;
	if (complete)
		*value = *id;
	else if (n)
		*value |= NAMED;
	return error;
}

/* -------- what became of it -------- */

struct noting {
	struct prf_writer *writer;
	struct error *error;
};

static void note(const void *key, size_t size, uint64_t value, void *context)
{
	const struct process *p = (const struct process *)(uintptr_t)value;
	struct noting *noting = context;
	char name[32], text[160];
	uint32_t pid;

	if (noting->error || !p->frames)
		return;
	memcpy(&pid, key, sizeof(pid));
	snprintf(name, sizeof(name), "javascript.%" PRIu32, pid);
	snprintf(text, sizeof(text),
		 "V8: %" PRIu64 " of %" PRIu64 " frames named by its own objects%s",
		 p->frames - p->nameless, p->frames,
		 p->nameless ? ", the others by a perf map if there is one" : "");
	noting->error = prf_writer_metadata(noting->writer, name, text);
}

struct error *javascript_finish(const struct javascript *j)
{
	struct noting noting = { .writer = j->named.writer };

	map_each(&j->by_pid, note, &noting);
	return noting.error;
}
