/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/python.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/abi/runtimes.h"
#include "bpf/abi/unwind.h"
#include "common/map.h"
#include "record/runtimes/sent_names.h"
#include "record/runtimes/python_file.h"
#include "record/runtimes/python_memory.h"
#include "record/unwind/startup_files.h"

/*
 * For so many programs the layout is kept, to read missing parts of names from their processes'
 * memory.
 */
#define IMAGES 4096

/* A file that holds an interpreter. */
struct interpreter {
	struct python_file file;
	uint64_t delta; /* from file offsets of its code to link-time addresses */
};

struct image {
	uint32_t number; /* 0: none */
	struct python_process process;
};

struct python {
	struct python_options options;
	struct map files; /* struct object * -> struct interpreter *, NULL for a file without one */
	struct image images[IMAGES]; /* by their numbers, modulo IMAGES */
	uint32_t next_image;
	bool any; /* a process with an interpreter was seen */
	struct script_names *names;
};

/* -------- files -------- */

static void refuse(struct python *p, const char *path, const char *problem)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: its Python functions are not seen: %s", path, problem);
	if (p->options.refused)
		p->options.refused(text, p->options.context);
}

static struct interpreter *read_interpreter(struct python *p, const struct elf_file *e,
					    const char *path)
{
	struct interpreter *i = calloc(1, sizeof(*i));
	const char *problem = i ? python_file_read(&i->file, e) : "no memory";

	for (size_t n = 0; i && n < e->segment_count; n++)
		if (e->segments[n].type == PT_LOAD && e->segments[n].flags & PF_X)
			i->delta = e->segments[n].address - e->segments[n].offset;
	if (!problem)
		return i;
	refuse(p, path, problem);
	free(i);
	return NULL;
}

/* Processes that map the file are known by that at once, in the kernel half. */
static void announce(const struct python *p, int fd, const struct interpreter *i)
{
	struct script_file file = { .delta = i->delta, .runtime = SCRIPT_PYTHON };
	struct unwind_file_key key;
	struct stat status;

	if (fstat(fd, &status))
		return;
	key.device = (uint64_t)major(status.st_dev) << 20 | minor(status.st_dev);
	key.inode = status.st_ino;
	memcpy(file.process.parameters, &i->file.process, sizeof(i->file.process));
	bpf_map_update_elem(p->options.files_fd, &key, &file, BPF_ANY);
}

/* Takes the descriptor. */
static struct interpreter *look_into(struct python *p, int fd, const char *path)
{
	struct interpreter *i = NULL;
	struct elf_file e;

	if (!elf_file_open(&e, fd)) {
		if (python_file_is_one(&e))
			i = read_interpreter(p, &e, path);
		elf_file_release(&e);
	}
	if (i)
		announce(p, fd, i);
	close(fd);
	return i;
}

static struct interpreter *look_into_mapping(struct python *p, uint32_t pid,
					     const struct mapping *m)
{
	int fd;

	if (error_ignore(object_open(pid, m, &fd)))
		return NULL;
	return look_into(p, fd, m->object->definition.path);
}

static void prepare_file(void *context, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		free(look_into(context, fd, path));
}

void python_prepare(struct python *p, const char *program)
{
	startup_files_each(program, prepare_file, p);
}

/* NULL for a file that holds no interpreter. */
static struct interpreter *interpreter_of(struct python *p, uint32_t pid, const struct mapping *m)
{
	bool added;
	uint64_t *value = map_put(&p->files, &m->object, sizeof(m->object), &added);

	if (value && added)
		*value = (uintptr_t)look_into_mapping(p, pid, m);
	return value ? (struct interpreter *)(uintptr_t)*value : NULL;
}

/* -------- processes -------- */

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	struct python *p = context;
	struct script_process process = { 0 };
	struct python_process placed;
	const uint32_t slot = pid % SCRIPT_LISTS;
	const uint64_t has_list = 1;
	struct interpreter *i;
	struct image *image;

	if (m->object->definition.kind != PRF_OBJECT_FILE)
		return;
	i = interpreter_of(p, pid, m);
	if (!i)
		return;
	p->any = true;
	placed = i->file.process;
	python_process_place(&placed, m->start - (m->offset + i->delta));
	/* The kernel half may have found it before; what it has sent is of the image it has chosen.
	 */
	if (bpf_map_lookup_elem(p->options.scripts_fd, &pid, &process) ||
	    process.runtime != SCRIPT_PYTHON ||
	    memcmp(process.parameters, &placed, sizeof(placed)) != 0)
		process.image = ++p->next_image & ~SCRIPT_IMAGE_BY_TIME;
	process.runtime = SCRIPT_PYTHON;
	memcpy(process.parameters, &placed, sizeof(placed));
	image = &p->images[process.image % IMAGES];
	image->number = process.image;
	image->process = placed;
	bpf_map_update_elem(p->options.lists_fd, &slot, &has_list, BPF_ANY);
	bpf_map_update_elem(p->options.scripts_fd, &pid, &process, BPF_ANY);
}

/* After an exec the kernel half has removed the entry already; after a fork it has copied it. */
static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct python *p = context;
	struct script_process process;

	/* Most recordings have no interpreter; else the entry may be another runtime's. */
	if (p->any && !bpf_map_lookup_elem(p->options.scripts_fd, &pid, &process) &&
	    process.runtime == SCRIPT_PYTHON)
		bpf_map_delete_elem(p->options.scripts_fd, &pid);
}

/* -------- names -------- */

static size_t read_text(void *context, const struct script_name *name, struct script_text *text,
			void *to, size_t most)
{
	struct python *p = context;
	const struct image *image = &p->images[name->image % IMAGES];
	struct target_memory memory = target_memory_of(name->pid);

	if (image->number != name->image)
		return 0;
	return python_memory_text(&memory, &image->process, name, text, to, most);
}

static void forgot(void *context)
{
	const struct python *p = context;

	sent_names_forget(p->options.sent_fd);
}

struct script_names *python_names(struct python *p)
{
	return p->names;
}

/* -------- beginning and end -------- */

struct python *python_new(const struct python_options *options)
{
	struct python *p = calloc(1, sizeof(*p));

	_Static_assert(sizeof(struct python_process) <=
			       sizeof(((struct script_process *)0)->parameters),
		       "the kernel half gets it as the runtime's parameters");
	if (!p)
		return NULL;
	p->options = *options;
	p->names = script_names_new(&(struct script_names_options){
		.read = read_text, .forgot = forgot, .context = p });
	if (p->names)
		return p;
	free(p);
	return NULL;
}

void python_free(struct python *p)
{
	if (!p)
		return;
	map_release_values(&p->files, free);
	script_names_free(p->names);
	free(p);
}

struct error *python_follow(struct python *p, struct spaces *newest)
{
	return spaces_listen(
		newest, &(struct space_listener){ .mapped = mapped, .ended = ended, .context = p });
}
