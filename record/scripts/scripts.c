/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/scripts.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/script.h"
#include "bpf/abi/unwind.h"
#include "common/map.h"
#include "record/scripts/script_file.h"
#include "record/scripts/script_memory.h"
#include "record/runtimes/runtime_map.h"
#include "record/runtimes/sent_names.h"
#include "record/system/proc.h"
#include "record/unwind/code_files.h"

/*
 * For so many programs the layout is kept, to read missing parts of names from their processes'
 * memory.
 */
#define IMAGES 4096

/* A file that holds an interpreter. */
struct interpreter {
	struct script_process process; /* with link-time addresses */
	uint64_t delta;		       /* from file offsets of its code to link-time addresses */
	struct unwind_file_key key;    /* by which the kernel half knows the file */
};

/* A process's program. */
struct image {
	uint32_t number; /* 0: none */
	struct script_process process;
};

struct scripts {
	struct scripts_options options;
	struct runtime_map processes;
	const struct spaces *spaces; /* the newest ones */
	struct map files; /* struct object * -> struct interpreter *, NULL for a file without one */
	struct image images[IMAGES]; /* by their numbers, modulo IMAGES */
	uint32_t next_image;
	struct script_names *names;
};

/* -------- files -------- */

static void refuse(struct scripts *s, const char *path, const struct script_language *l,
		   const char *problem)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: its %s functions are not seen: %s", path, l->name,
		 problem);
	if (s->options.refused)
		s->options.refused(text, s->options.context);
}

static struct interpreter *read_interpreter(struct scripts *s, const struct elf_file *e,
					    const char *path, const struct script_language *l)
{
	struct interpreter *i = calloc(1, sizeof(*i));
	const char *problem = i ? l->read(&i->process, e) : "no memory";

	for (size_t n = 0; i && n < e->segment_count; n++)
		if (e->segments[n].type == PT_LOAD && e->segments[n].flags & PF_X)
			i->delta = e->segments[n].address - e->segments[n].offset;
	if (!problem) {
		i->process.runtime = l->runtime;
		return i;
	}
	refuse(s, path, l, problem);
	free(i);
	return NULL;
}

/*
 * Processes that map the file are known by that at once, in the kernel half, until it is forgotten:
 * then another file may get its number.
 */
static void announce(const struct scripts *s, const struct stat *status, struct interpreter *i)
{
	struct script_file file = {
		.delta = i->delta,
		.runtime = i->process.runtime,
		.process = i->process,
	};

	i->key = code_file_kernel_key(status);
	file.process.runtime = SCRIPT_NONE;
	bpf_map_update_elem(s->options.files_fd, &i->key, &file, BPF_ANY);
}

/* Closes the file; NULL for one that holds no interpreter. */
static void *look_into(void *context, const struct open_file *file, const char *path)
{
	struct scripts *s = context;
	const struct script_language *language;
	struct interpreter *i = NULL;
	struct elf_file e;

	if (!elf_file_open(&e, file->fd)) {
		language = script_file_language(&e);
		if (language)
			i = read_interpreter(s, &e, path, language);
		elf_file_release(&e);
	}
	if (i)
		announce(s, &file->status, i);
	close(file->fd);
	return i;
}

void scripts_prepare(struct scripts *s, const char *path)
{
	struct open_file file;

	if (!opener_open_path(path, &file))
		free(look_into(s, &file, path));
}

uint64_t scripts_mark(const struct scripts *s, const struct layout *layout,
		      enum script_runtime runtime, uint64_t address)
{
	const struct mapping *m = mappings_find(&layout->mappings, address);
	const struct interpreter *i = m ? object_known(&s->files, m->object) : NULL;

	if (!i || i->process.runtime != runtime)
		return 0;
	return script_loop_mark(script_loop(&i->process), script_loop_part(&i->process),
				address - m->start + m->offset + i->delta);
}

/* -------- processes -------- */

/* The process has that interpreter mapped there. */
static void publish(struct scripts *s, uint32_t pid, const struct mapping *m,
		    const struct interpreter *i)
{
	struct script_process process = { 0 }, placed;
	const uint32_t slot = pid % SCRIPT_LISTS;
	const uint64_t has_list = 1;
	struct image *image;

	placed = i->process;
	script_process_place(&placed, placed.runtime, m->start - (m->offset + i->delta));
	/* The kernel half may have found it before, and what it has sent is of its own image. */
	if (bpf_map_lookup_elem(s->options.scripts_fd, &pid, &process) ||
	    process.runtime != placed.runtime ||
	    memcmp(process.parameters, placed.parameters, sizeof(placed.parameters)) != 0)
		process.image = ++s->next_image & ~SCRIPT_IMAGE_BY_TIME;
	placed.image = process.image;
	image = &s->images[process.image % IMAGES];
	image->number = process.image;
	image->process = placed;
	bpf_map_update_elem(s->options.lists_fd, &slot, &has_list, BPF_ANY);
	runtime_map_put(&s->processes, pid, &placed);
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	const struct object_reader reader = { look_into, context };
	struct scripts *s = context;
	const struct interpreter *i = m->object->definition.kind == PRF_OBJECT_FILE
					      ? object_read(&s->files, pid, m, &reader)
					      : NULL;

	if (i)
		publish(context, pid, m, i);
}

/*
 * The kernel half has given the child a copy of the parent's entry, unless it forked before that
 * was there. If its files have not answered yet, mapped() is called for the child, too.
 */
static void forked(void *context, uint32_t parent, uint32_t child)
{
	struct scripts *s = context;
	struct mapping_cursor cursor = { 0 };
	const struct mapping *mapping;
	const struct mappings *m;

	if (!s->processes.any || runtime_map_runtime(&s->processes, child))
		return;
	m = &spaces_layout(s->spaces, child)->mappings;
	while ((mapping = mappings_next(m, &cursor))) {
		const struct interpreter *known = object_known(&s->files, mapping->object);

		if (known)
			publish(s, child, mapping, known);
	}
}

/*
 * The kernel half has removed the entry at the exec, but forked() may have added it again since.
 * One that the kernel half has added since is of what the process maps now.
 */
static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	struct scripts *s = context;
	struct script_process process;

	if (by_exec && s->processes.any &&
	    !bpf_map_lookup_elem(s->options.scripts_fd, &pid, &process) &&
	    script_has_list(process.runtime) && !(process.image & SCRIPT_IMAGE_BY_TIME))
		runtime_map_remove(&s->processes, pid);
}

/* One file may be several objects, by its names. */
struct sharing {
	struct unwind_file_key key;
	unsigned int objects;
};

static void count_sharing(const void *object, size_t size, uint64_t value, void *context)
{
	const struct interpreter *i = (const struct interpreter *)(uintptr_t)value;
	struct sharing *sharing = context;

	if (i && !memcmp(&i->key, &sharing->key, sizeof(i->key)))
		sharing->objects++;
}

static void forgotten(void *context, const struct object *object)
{
	struct scripts *s = context;
	const struct interpreter *i = object_known(&s->files, object);
	struct sharing sharing = { 0 };

	if (i) {
		sharing.key = i->key;
		map_each(&s->files, count_sharing, &sharing);
		if (sharing.objects == 1)
			bpf_map_delete_elem(s->options.files_fd, &sharing.key);
	}
	map_remove_value(&s->files, &object, sizeof(object), free);
}

static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct scripts *s = context;

	/* The entry may be another runtime's. */
	if (script_has_list(runtime_map_runtime(&s->processes, pid)))
		runtime_map_remove(&s->processes, pid);
}

/* -------- names -------- */

static size_t read_text(void *context, const struct script_name *name, struct script_text *text,
			void *to, size_t most)
{
	struct scripts *s = context;
	const struct image *image = &s->images[name->image % IMAGES];
	struct target_memory memory = target_memory_of(name->pid);

	if (image->number != name->image)
		return 0;
	return script_memory_text(&memory, &image->process, name, text, to, most);
}

static void forgot(void *context)
{
	const struct scripts *s = context;

	sent_names_forget(s->options.sent_fd);
}

/* The record of its beginning may have been lost. */
static bool lives(void *context, uint32_t pid)
{
	const struct scripts *s = context;

	return !s->spaces || spaces_knows(s->spaces, pid) || proc_runs(pid, NULL);
}

struct script_names *scripts_names(struct scripts *s)
{
	return s->names;
}

/* -------- beginning and end -------- */

struct scripts *scripts_new(const struct scripts_options *options)
{
	struct scripts *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *options;
	s->processes = (struct runtime_map){ .fd = options->scripts_fd,
					     .refused = options->refused,
					     .context = options->context };
	s->names = script_names_new(&(struct script_names_options){
		.read = read_text, .forgot = forgot, .lives = lives, .context = s });
	if (s->names)
		return s;
	free(s);
	return NULL;
}

void scripts_free(struct scripts *s)
{
	if (!s)
		return;
	map_release_values(&s->files, free);
	script_names_free(s->names);
	free(s);
}

struct error *scripts_follow(struct scripts *s, struct spaces *newest)
{
	s->spaces = newest;
	return spaces_listen(newest, &(struct space_listener){ .mapped = mapped,
							       .forked = forked,
							       .cleared = cleared,
							       .forgotten = forgotten,
							       .ended = ended,
							       .context = s });
}
