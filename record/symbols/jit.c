/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jit.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/map.h"
#include "record/symbols/code_map.h"
#include "record/symbols/jitdump.h"
#include "record/symbols/perf_map.h"
#include "record/system/growing_file.h"
#include "record/system/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_PER_TICK (8 << 20) /* bytes of one file; the rest waits for the next tick */
/* How often a map that is not there is looked for, at first and in the long run. */
#define FIRST_RETRY_NS 10000000
#define RETRY_NS 500000000
#define WITHHELD_MAX 1024
#define WITHHELD_TICKS 2 /* samples of the time before may arrive one batch late */
#define HITS_MAX (1 << 20)
#define FORESEEN_MAX 1024 /* processes at a time */

struct range {
	uint64_t start, end;
};

struct process {
	uint32_t pid;
	struct namespace inside;
	int tmp; /* its /tmp, for when it has ended; -1: not to be had */
	uint64_t retry_ns, retry_after_ns;
	uint64_t foreseen_ns;
	bool warned;
	bool replaced; /* ahead of the timeline, by another program */
	struct growing_file map_file, dump_file;
	struct jitdump dump;
	struct code_map code;
	uint32_t object, nameless; /* ids, PRF_NONE until they are needed */
	struct map hits;	   /* addresses in `object` */
	struct map named;	   /* starts of symbols that were passed on -> their order */
	uint64_t *pending;	   /* hits without a name yet */
	size_t n_pending, pending_capacity;
	bool changed; /* names or hits came since the last naming */
	bool renew;   /* a new object must begin */
	struct range withheld[WITHHELD_MAX];
	size_t n_withheld;
	unsigned int withheld_ticks;
};

struct jit {
	struct jit_options options;
	struct process **processes;
	size_t n;
	struct map by_pid;   /* -> position in processes */
	struct map foreseen; /* pid -> struct process * that is not among them yet */
	uint64_t now_ns;
	uint32_t generation;
	uint32_t objects; /* that were begun */
};

int jit_new(struct jit **jit, const struct jit_options *options)
{
	*jit = calloc(1, sizeof(**jit));
	if (!*jit)
		return -ENOMEM;
	(*jit)->options = *options;
	return 0;
}

static void process_free(struct process *p)
{
	if (p->tmp >= 0)
		close(p->tmp);
	growing_file_release(&p->map_file);
	growing_file_release(&p->dump_file);
	jitdump_release(&p->dump);
	code_map_release(&p->code);
	map_release(&p->hits);
	map_release(&p->named);
	free(p->pending);
	free(p);
}

static void free_foreseen(const void *key, size_t size, uint64_t value, void *context)
{
	process_free((struct process *)(uintptr_t)value);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	map_each(&jit->foreseen, free_foreseen, NULL);
	map_release(&jit->foreseen);
	for (size_t i = 0; i < jit->n; i++)
		process_free(jit->processes[i]);
	free(jit->processes);
	map_release(&jit->by_pid);
	free(jit);
}

static void warn(struct jit *jit, struct process *p, const char *path, const char *why)
{
	char text[512];

	if (p->warned || !jit->options.warn)
		return;
	p->warned = true;
	snprintf(text, sizeof(text), "process %u: %s is ignored: %s", p->pid, path, why);
	jit->options.warn(text, jit->options.context);
}

/* A map that an older process with the same pid left behind names other code. */
static bool is_stale(int fd, const struct process *p)
{
	struct stat st;
	int64_t age, modified;

	if (!p->inside.start_ns || fstat(fd, &st))
		return false;
	/* Its owner sets it to what he likes. */
	if (st.st_mtim.tv_sec < 0 || st.st_mtim.tv_sec > UINT32_MAX)
		return true;
	age = (int64_t)(clock_now() - p->inside.start_ns);
	modified = (int64_t)clock_ns(CLOCK_REALTIME) - st.st_mtim.tv_sec * INT64_C(1000000000) -
		   st.st_mtim.tv_nsec;
	/* Start times count in ticks of 10 ms. */
	return modified > age + 20000000;
}

static void open_map(struct jit *jit, struct process *p)
{
	char path[64];
	int fd;

	if (p->map_file.fd >= 0 || jit->now_ns < p->retry_ns)
		return;
	p->retry_ns = jit->now_ns + p->retry_after_ns;
	p->retry_after_ns = p->retry_after_ns < RETRY_NS / 2 ? 2 * p->retry_after_ns : RETRY_NS;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", p->inside.inner_pid);
	fd = namespace_open(p->pid, path, p->inside.uid);
	if (fd == -ESRCH && p->tmp >= 0)
		fd = namespace_open_at(p->tmp, path + strlen("/tmp/"), p->inside.uid);
	if (fd == -EPERM)
		warn(jit, p, path, "it belongs to another user than the process");
	else if (fd == -ELOOP || fd == -EINVAL)
		warn(jit, p, path, "it is not a plain file");
	if (fd < 0)
		return;
	if (is_stale(fd, p))
		close(fd);
	else
		growing_file_init(&p->map_file, fd);
}

static struct process *process_find(const struct jit *jit, uint32_t pid)
{
	const uint64_t *at = map_get(&jit->by_pid, &pid, sizeof(pid));

	return at ? jit->processes[*at] : NULL;
}

static struct process *process_new(struct jit *jit, uint32_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->retry_after_ns = FIRST_RETRY_NS;
	p->object = p->nameless = PRF_NONE;
	growing_file_init(&p->map_file, -1);
	growing_file_init(&p->dump_file, -1);
	p->tmp = namespace_read(&p->inside, pid) ? -1 : namespace_open_folder(pid, "/tmp");
	open_map(jit, p);
	return p;
}

/* Takes over `p`, also when there is no memory for it. */
static struct process *process_add(struct jit *jit, struct process *p)
{
	struct process **more = realloc(jit->processes, (jit->n + 1) * sizeof(*more));
	uint64_t *at = p && more ? map_put(&jit->by_pid, &p->pid, sizeof(p->pid), NULL) : NULL;

	if (more)
		jit->processes = more;
	if (!at) {
		if (p)
			process_free(p);
		return NULL;
	}
	*at = jit->n;
	jit->processes[jit->n++] = p;
	return p;
}

static struct process *process_get(struct jit *jit, uint32_t pid)
{
	struct process *p = process_find(jit, pid);

	return p ? p : process_add(jit, process_new(jit, pid));
}

/* `base` tells one process's code, and one program's and generation's of it, from all other. */
static uint32_t object_new(struct jit *jit, const struct process *p, uint32_t number)
{
	struct prf_object object = { .kind = PRF_OBJECT_JIT,
				     .path = "[jit]",
				     .root = p->inside.root,
				     .base = (uint64_t)p->pid << 32 | number };
	uint32_t id;

	return error_ignore(prf_writer_object(jit->options.writer, &object, &id)) ? PRF_NONE : id;
}

static bool is_withheld(const struct process *p, uint64_t address)
{
	if (p->n_withheld == WITHHELD_MAX)
		return true;
	for (size_t i = 0; i < p->n_withheld; i++)
		if (address >= p->withheld[i].start && address < p->withheld[i].end)
			return true;
	return false;
}

static void note_hit(struct process *p, uint64_t address)
{
	bool added = false;

	if (p->hits.count >= HITS_MAX || !map_put(&p->hits, &address, sizeof(address), &added) ||
	    !added)
		return;
	if (!array_reserve(&p->pending, &p->pending_capacity, p->n_pending + 1))
		return;
	p->pending[p->n_pending++] = address;
	p->changed = true;
}

uint32_t jit_object(struct jit *jit, uint32_t pid, uint64_t address)
{
	struct process *p = process_get(jit, pid);

	if (!p)
		return PRF_NONE;
	if (p->n_withheld && is_withheld(p, address)) {
		if (p->nameless == PRF_NONE)
			p->nameless = object_new(jit, p, 0);
		return p->nameless;
	}
	if (p->object == PRF_NONE)
		p->object = object_new(jit, p, ++jit->objects);
	note_hit(p, address);
	return p->object;
}

uint32_t jit_generation(const struct jit *jit)
{
	return jit->generation;
}

bool jit_is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t size;

	name = name ? name + 1 : path;
	size = strlen(name);
	if (size < strlen("jit-1.dump") || strncmp(name, "jit-", 4) ||
	    strcmp(name + size - strlen(".dump"), ".dump"))
		return false;
	return strspn(name + 4, "0123456789") == size - strlen("jit-.dump");
}

static void open_dump(struct jit *jit, struct process *p, const char *path)
{
	int fd;

	if (!p || p->dump_file.fd >= 0)
		return;
	fd = namespace_open(p->pid, path, p->inside.uid);
	if (fd == -EPERM)
		warn(jit, p, path, "it belongs to another user than the process");
	if (fd >= 0)
		growing_file_init(&p->dump_file, fd);
}

void jit_dump(struct jit *jit, uint32_t pid, const char *path)
{
	open_dump(jit, process_get(jit, pid), path);
}

static struct process *find_foreseen(const struct jit *jit, uint32_t pid)
{
	const uint64_t *value = map_get(&jit->foreseen, &pid, sizeof(pid));

	return value ? (struct process *)(uintptr_t)*value : NULL;
}

static void forget_foreseen(struct jit *jit, uint32_t pid, uint64_t until_ns)
{
	struct process *p = find_foreseen(jit, pid);

	if (!p || p->foreseen_ns > until_ns)
		return;
	map_remove(&jit->foreseen, &pid, sizeof(pid));
	process_free(p);
}

void jit_foresee(struct jit *jit, uint32_t pid, uint64_t time_ns, const char *path)
{
	struct process *p = process_find(jit, pid);
	uint64_t *value;

	if (!p || p->replaced)
		p = find_foreseen(jit, pid);
	if (!p && jit->foreseen.count < FORESEEN_MAX) {
		p = process_new(jit, pid);
		value = p ? map_put(&jit->foreseen, &pid, sizeof(pid), NULL) : NULL;
		if (value) {
			p->foreseen_ns = time_ns;
			*value = (uintptr_t)p;
		} else if (p) {
			process_free(p);
			p = NULL;
		}
	}
	if (p && path)
		open_dump(jit, p, path);
}

void jit_foresee_exec(struct jit *jit, uint32_t pid)
{
	struct process *p = process_find(jit, pid);

	forget_foreseen(jit, pid, UINT64_MAX);
	if (p)
		p->replaced = true;
}

void jit_foresee_exit(struct jit *jit, uint32_t pid)
{
	struct process *p = find_foreseen(jit, pid);

	if (!p)
		p = process_find(jit, pid);
	if (!p || p->replaced)
		return;
	p->retry_ns = 0;
	open_map(jit, p);
}

void jit_begin(struct jit *jit, uint32_t pid, uint64_t time_ns)
{
	struct process *p = find_foreseen(jit, pid);

	/* One that was foreseen later belongs to a program that the timeline does not know yet. */
	if (!p || p->foreseen_ns > time_ns || process_find(jit, pid))
		return;
	map_remove(&jit->foreseen, &pid, sizeof(pid));
	process_add(jit, p);
}

static int by_start(const void *a, const void *b)
{
	const struct prf_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Passes on the symbols that were hit and have not been passed on. */
static void name_hits(struct jit *jit, struct process *p)
{
	struct prf_symbol *symbols;
	size_t n = 0, left = 0;

	if (!p->changed || !p->n_pending || p->object == PRF_NONE)
		return;
	p->changed = false;
	symbols = malloc(p->n_pending * sizeof(*symbols));
	if (!symbols)
		return;
	for (size_t i = 0; i < p->n_pending; i++) {
		const struct code_symbol *s = code_map_find(&p->code, p->pending[i]);
		bool added = false;
		uint64_t *order;

		if (!s) {
			p->pending[left++] = p->pending[i];
			continue;
		}
		order = map_put(&p->named, &s->start, sizeof(s->start), &added);
		if (!order || !added)
			continue;
		*order = s->order;
		symbols[n++] = (struct prf_symbol){ .start = s->start,
						    .size = s->size,
						    .name = code_map_name(&p->code, s) };
	}
	p->n_pending = left;
	qsort(symbols, n, sizeof(*symbols), by_start);
	if (n)
		error_ignore(prf_writer_symbols(jit->options.writer, p->object, symbols, n));
	free(symbols);
}

/* From here on frames belong to a new object. */
static void begin_generation(struct jit *jit, struct process *p)
{
	jit->generation++;
	p->object = PRF_NONE;
	map_release(&p->hits);
	map_release(&p->named);
	p->n_pending = 0;
	p->renew = false;
}

static void note_replaced(const struct code_symbol *old, void *context)
{
	struct process *p = context;

	if (map_get(&p->named, &old->start, sizeof(old->start)))
		p->renew = true;
	if (p->n_withheld < WITHHELD_MAX)
		p->withheld[p->n_withheld++] = (struct range){ .start = old->start,
							       .end = old->start + old->size };
	p->withheld_ticks = WITHHELD_TICKS + 1;
}

/* A file that was written anew: all that was known from it is of the past. */
static void start_over(struct jit *jit, struct process *p)
{
	code_map_release(&p->code);
	jitdump_release(&p->dump);
	/* Both are read again from their start: the other one may still hold. */
	growing_file_rewind(&p->map_file);
	growing_file_rewind(&p->dump_file);
	begin_generation(jit, p);
}

static void read_map(struct jit *jit, struct process *p)
{
	ssize_t n;

	if (p->map_file.fd < 0)
		return;
	n = growing_file_read(&p->map_file, READ_PER_TICK);
	if (n == -ESTALE)
		start_over(jit, p);
	if (n > 0)
		growing_file_consume(&p->map_file,
				     perf_map_parse(&p->code, p->map_file.pending.data,
						    p->map_file.pending.size));
}

static void read_dump(struct jit *jit, struct process *p)
{
	ssize_t n;

	if (p->dump_file.fd < 0 || p->dump.broken)
		return;
	n = growing_file_read(&p->dump_file, READ_PER_TICK);
	if (n == -ESTALE)
		start_over(jit, p);
	if (n > 0)
		growing_file_consume(&p->dump_file,
				     jitdump_parse(&p->dump, &p->code, p->dump_file.pending.data,
						   p->dump_file.pending.size));
}

/* Settles what was read; hits from before are named by what was known before. */
static void settle(struct jit *jit, struct process *p)
{
	if (p->withheld_ticks && !--p->withheld_ticks) {
		p->n_withheld = 0;
		jit->generation++;
	}
	if (!p->code.n_added) {
		name_hits(jit, p);
		return;
	}
	code_map_settle(&p->code, note_replaced, p);
	p->changed = true;
	/* A hit whose place changed hands since: pending, and now withheld. */
	if (p->n_withheld) {
		size_t left = 0;

		jit->generation++;
		for (size_t i = 0; i < p->n_pending; i++)
			if (!is_withheld(p, p->pending[i]))
				p->pending[left++] = p->pending[i];
		p->n_pending = left;
	}
	name_hits(jit, p);
	if (p->renew)
		begin_generation(jit, p);
	if (p->code.refused)
		warn(jit, p, "a part of its names for made code",
		     "there are too many, or they make no sense");
}

static void process_tick(struct jit *jit, struct process *p)
{
	open_map(jit, p);
	read_map(jit, p);
	read_dump(jit, p);
	settle(jit, p);
}

static void look_for_map(const void *key, size_t size, uint64_t value, void *context)
{
	open_map(context, (struct process *)(uintptr_t)value);
}

void jit_tick(struct jit *jit, uint64_t now_ns)
{
	jit->now_ns = now_ns;
	map_each(&jit->foreseen, look_for_map, jit);
	for (size_t i = 0; i < jit->n; i++)
		process_tick(jit, jit->processes[i]);
}

/* Everything there is to read, however much: the files no longer grow, or only slowly. */
static void read_to_the_end(struct jit *jit, struct process *p)
{
	uint64_t before;

	p->retry_ns = 0;
	for (unsigned int i = 0; i < 64; i++) {
		before = p->map_file.offset + p->dump_file.offset;
		process_tick(jit, p);
		if (p->map_file.offset + p->dump_file.offset == before)
			break;
	}
}

void jit_exit(struct jit *jit, uint32_t pid, uint64_t time_ns)
{
	uint64_t *at = map_get(&jit->by_pid, &pid, sizeof(pid));
	struct process *p, *last;
	size_t position;

	forget_foreseen(jit, pid, time_ns);
	if (!at)
		return;
	position = *at;
	p = jit->processes[position];
	last = jit->processes[jit->n - 1];
	read_to_the_end(jit, p);
	jit->generation++;
	map_remove(&jit->by_pid, &pid, sizeof(pid));
	if (last != p) {
		jit->processes[position] = last;
		*map_get(&jit->by_pid, &last->pid, sizeof(last->pid)) = position;
	}
	jit->n--;
	process_free(p);
}

void jit_finish(struct jit *jit)
{
	for (size_t i = 0; i < jit->n; i++)
		read_to_the_end(jit, jit->processes[i]);
}

void jit_set_writer(struct jit *jit, struct prf_writer *writer)
{
	jit->options.writer = writer;
	for (size_t i = 0; i < jit->n; i++) {
		begin_generation(jit, jit->processes[i]);
		jit->processes[i]->nameless = PRF_NONE;
	}
}
