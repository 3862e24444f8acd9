/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jit.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/symbols/file_watch.h"
#include "record/symbols/jit_names.h"
#include "record/symbols/jitdump.h"
#include "record/symbols/perf_map.h"
#include "record/system/growing_file.h"
#include "record/system/namespace.h"
#include "record/system/opener.h"
#include "record/system/process_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_AT_ONCE (256 << 10) /* bytes of one file */
#define SYMBOL_CHARGE 64 /* a symbol takes as much time as so many bytes, however short it is */
/* How often a map that is not there is looked for, at first and in the long run. */
#define FIRST_RETRY_NS 10000000
#define RETRY_NS 500000000
#define BLOCK_BYTES 4096  /* buffers are written in multiples of it */
#define NOTES_MAX 1024	  /* processes of a trace in which it says where their names come from */
#define FORESEEN_MAX 1024 /* processes at a time whose files were opened ahead of the timeline */

struct process {
	uint32_t pid;
	struct namespace inside;
	int tmp; /* its /tmp, to be used after its end; -1: could not be opened */
	uint64_t retry_ns, retry_after_ns;
	uint64_t foreseen_ns;
	char *late_dump; /* path of a dump that has not answered yet; NULL: none */
	bool warned;
	uint64_t may_read; /* bytes, of those that are left for all */
	/* Another program has replaced it, ahead of the timeline, and may have files of its own. */
	bool replaced;
	struct growing_file map_file, dump_file;
	struct write_times map_times, dump_times;
	size_t map_functions, dump_functions; /* read from them */
	int map_watch;			      /* number of the map in the file watch, or -1 */
	struct jitdump dump;
	struct jit_names names;
};

struct jit {
	struct jit_options options;
	struct process **processes;
	size_t n;
	struct map by_pid;   /* -> position in processes */
	struct map foreseen; /* pid -> struct process * that is not among them yet */
	size_t first;	     /* of the processes, that is read first in the next round */
	uint64_t left;	     /* bytes that may be read before the next round */
	struct shares name_bytes;
	bool crowded; /* it was said that the bound is reached */
	uint64_t now_ns;
	uint32_t next_object, next_epoch;
	size_t notes;
	struct process *current; /* of the current sample; NULL: not looked up yet */
	uint64_t current_ns;
	struct file_watch *watch;
	bool watches; /* files are watched from now on */
	/* Whether files are read on at the end, and since when they are; NULL: they are. */
	bool (*goes_on)(void *context, uint64_t spent_ns);
	void *context;
	uint64_t finish_ns;
	size_t left_unread;   /* processes, for want of time */
	struct error *failed; /* the writer's first error, for jit_tick() to return */
};

struct error *jit_new(struct jit **jit, const struct jit_options *options)
{
	*jit = calloc(1, sizeof(**jit));
	if (!*jit)
		return error_memory();
	(*jit)->options = *options;
	(*jit)->next_epoch = JIT_UNKNOWN + 1;
	(*jit)->left = LIMIT_JIT_END_BYTES;
	(*jit)->name_bytes.limit = LIMIT_JIT_BYTES;
	return NULL;
}

static void process_free(struct jit *jit, struct process *p)
{
	if (p->tmp >= 0)
		close(p->tmp);
	file_watch_remove(jit->watch, p->map_watch);
	growing_file_release(&p->map_file);
	growing_file_release(&p->dump_file);
	write_times_release(&p->map_times);
	write_times_release(&p->dump_times);
	free(p->late_dump);
	jitdump_release(&p->dump);
	jit_names_release(&p->names);
	free(p);
}

static void free_foreseen(const void *key, size_t size, uint64_t value, void *context)
{
	process_free(context, (struct process *)(uintptr_t)value);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	map_each(&jit->foreseen, free_foreseen, jit);
	map_release(&jit->foreseen);
	for (size_t i = 0; i < jit->n; i++)
		process_free(jit, jit->processes[i]);
	free(jit->processes);
	map_release(&jit->by_pid);
	shares_release(&jit->name_bytes);
	file_watch_free(jit->watch);
	error_free(jit->failed);
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

/* A map left over from an older process with the same pid names other code. */
static bool is_stale(int fd, const struct process *p)
{
	struct stat st;
	int64_t age, modified;

	if (!p->inside.start_ns || fstat(fd, &st))
		return false;
	/* The owner of the file can set any time. */
	if (st.st_mtim.tv_sec < 0 || st.st_mtim.tv_sec > UINT32_MAX)
		return true;
	age = (int64_t)(clock_now() - p->inside.start_ns);
	modified = (int64_t)clock_ns(CLOCK_REALTIME) - st.st_mtim.tv_sec * INT64_C(1000000000) -
		   st.st_mtim.tv_nsec;
	/* Start times count in ticks of 10 ms. */
	return modified > age + 20000000;
}

/* An fd or -errno. Warns if it is a file that cannot be used. */
static int open_file(struct jit *jit, struct process *p, struct opening *what)
{
	struct open_file file;
	int error;

	what->kind = OPENING_GROWING;
	what->uid = p->inside.uid;
	error = opener_open(what, &file);
	if (error == -EPERM)
		warn(jit, p, what->path, "it belongs to another user than the process");
	else if (error == -ELOOP || error == -EINVAL)
		warn(jit, p, what->path, "it is not a plain file");
	else if (error == -EREMOTE)
		warn(jit, p, what->path, "its file system may stop answering");
	return error ? error : file.fd;
}

static int open_tmp(uint32_t pid)
{
	const struct opening what = { .kind = OPENING_FOLDER, .pid = pid, .path = "/tmp" };
	struct open_file folder;

	return opener_open(&what, &folder) ? -1 : folder.fd;
}

static void open_map(struct jit *jit, struct process *p)
{
	struct opening what = { .pid = p->pid };
	char path[64];
	int fd;

	if (p->map_file.fd >= 0 || jit->now_ns < p->retry_ns)
		return;
	p->retry_ns = jit->now_ns + p->retry_after_ns;
	p->retry_after_ns = p->retry_after_ns < RETRY_NS / 2 ? 2 * p->retry_after_ns : RETRY_NS;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", p->inside.inner_pid);
	what.path = path;
	fd = open_file(jit, p, &what);
	if (fd == -ESRCH && p->tmp >= 0) {
		what.in_folder = true;
		what.folder = p->tmp;
		what.path = path + strlen("/tmp/");
		fd = open_file(jit, p, &what);
	}
	if (fd < 0)
		return;
	if (is_stale(fd, p))
		close(fd);
	else
		growing_file_init(&p->map_file, fd);
}

static void watch_map(struct jit *jit, struct process *p)
{
	if (p->map_file.fd >= 0 && p->map_watch < 0)
		p->map_watch = file_watch_add(jit->watch, p->map_file.fd);
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
	p->map_watch = -1;
	jit_names_init(&p->names, &jit->name_bytes, process_owner_user(pid));
	p->names.first_epoch = jit->next_epoch++;
	growing_file_init(&p->map_file, -1);
	growing_file_init(&p->dump_file, -1);
	p->tmp = namespace_read(&p->inside, pid) ? -1 : open_tmp(pid);
	open_map(jit, p);
	return p;
}

/* Takes over `p`; frees it when there is no memory. */
static struct process *process_add(struct jit *jit, struct process *p)
{
	struct process **more = realloc(jit->processes, (jit->n + 1) * sizeof(*more));
	uint64_t *at = p && more ? map_put(&jit->by_pid, &p->pid, sizeof(p->pid), NULL) : NULL;

	if (more)
		jit->processes = more;
	if (!at) {
		if (p)
			process_free(jit, p);
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

static struct jit_names_owner owner_of(struct jit *jit, const struct process *p)
{
	return (struct jit_names_owner){ .writer = jit->options.writer,
					 .pid = p->pid,
					 .root = p->inside.root,
					 .next_object = &jit->next_object,
					 .next_epoch = &jit->next_epoch };
}

uint32_t jit_set_sample(struct jit *jit, uint32_t pid, uint64_t time_ns)
{
	struct process *p = jit->n ? process_find(jit, pid) : NULL;
	struct jit_names_owner owner;

	jit->current = p;
	jit->current_ns = time_ns;
	if (!p)
		return JIT_UNKNOWN;
	owner = owner_of(jit, p);
	jit_names_set_time(&p->names, &owner, time_ns);
	return p->names.epoch;
}

struct error *jit_object(struct jit *jit, uint32_t pid, uint64_t address, uint32_t *object)
{
	struct process *p = jit->current ? jit->current : process_get(jit, pid);
	struct jit_names_owner owner;

	if (!p)
		return error_memory();
	owner = owner_of(jit, p);
	if (!jit->current) {
		jit->current = p;
		jit_names_set_time(&p->names, &owner, jit->current_ns);
	}
	return jit_names_object(&p->names, &owner, address, object);
}

uint32_t jit_generation(const struct jit *jit)
{
	return jit->current ? jit->current->names.epoch : JIT_UNKNOWN;
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

/* Whether it has a dump, which may not have been read yet, or opened. */
static bool has_dump(const struct process *p)
{
	bool is_none = p->dump.broken && !p->dump.began;

	return p->late_dump || (p->dump_file.fd >= 0 && !is_none);
}

/* Compilers buffer records: nothing is known yet about the time after the last one. */
static void note_known(struct jit *jit, struct process *p)
{
	struct jit_names_owner owner = owner_of(jit, p);
	bool has_times = p->dump.time_ns || !p->dump_functions;
	uint64_t until_ns = has_dump(p) && has_times ? p->dump.time_ns : UINT64_MAX;

	/* Lines that were not read yet may be of the same places as those that were. */
	if (p->map_file.behind)
		until_ns = 0;
	jit_names_know(&p->names, &owner, until_ns);
}

/* Whether all of the files was read and understood. */
static bool is_read(const struct process *p)
{
	return !p->map_file.behind && !p->late_dump &&
	       (!has_dump(p) || (!p->dump.broken && !p->dump_file.behind));
}

/* Of a compiler that did not write its buffer out: the process was killed, or it goes on. */
static bool is_cut(const struct process *p)
{
	const struct growing_file *file = &p->dump_file;

	return has_dump(p) &&
	       (file->pending.size || p->dump.skip || file->offset % BLOCK_BYTES == 0);
}

static void open_dump(struct jit *jit, struct process *p, const char *path)
{
	struct opening what = { .path = path };
	int fd;

	if (!p || p->dump_file.fd >= 0)
		return;
	what.pid = p->pid;
	fd = open_file(jit, p, &what);
	if (fd >= 0)
		growing_file_init(&p->dump_file, fd);
	if (fd == -EAGAIN && !p->late_dump) {
		p->late_dump = strdup(path);
	} else if (fd != -EAGAIN && p->late_dump && !strcmp(path, p->late_dump)) {
		free(p->late_dump); /* which may be `path` */
		p->late_dump = NULL;
	}
	note_known(jit, p);
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
	process_free(jit, p);
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
			process_free(jit, p);
			p = NULL;
		}
	}
	if (p && path)
		open_dump(jit, p, path);
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

	/*
	 * A process that was foreseen later runs a program that the timeline has not reached yet.
	 */
	if (!p || p->foreseen_ns > time_ns || process_find(jit, pid))
		return;
	map_remove(&jit->foreseen, &pid, sizeof(pid));
	process_add(jit, p);
}

/* Some callers cannot fail: the first error is kept until the next tick. */
static void keep_failure(struct jit *jit, struct error *error)
{
	if (jit->failed)
		error_free(error);
	else
		jit->failed = error;
}

static void write_names(struct jit *jit, struct process *p)
{
	struct jit_names_owner owner = owner_of(jit, p);

	keep_failure(jit, jit_names_settle(&p->names, &owner));
}

/* Notes in the trace which files the process's names come from. */
static void write_note(struct jit *jit, const struct process *p)
{
	char key[32], map[64] = "", dump[64] = "", text[192];

	if ((!p->map_functions && !p->dump_functions) || jit->notes >= NOTES_MAX)
		return;
	jit->notes++;
	snprintf(key, sizeof(key), "jit.%" PRIu32, p->pid);
	if (p->map_functions)
		snprintf(map, sizeof(map), "perf map (functions: %zu)", p->map_functions);
	if (p->dump_functions)
		snprintf(dump, sizeof(dump), "jitdump (functions: %zu)", p->dump_functions);
	snprintf(text, sizeof(text), "%s%s%s: names used: %" PRIu64, map, *map && *dump ? ", " : "",
		 dump, p->names.written);
	keep_failure(jit, prf_writer_metadata(jit->options.writer, key, text));
}

static struct error *take_failure(struct jit *jit)
{
	struct error *error = jit->failed;

	jit->failed = NULL;
	return error;
}

/* A file was rewritten: what was read from it only holds for the past. */
static void start_over(struct jit *jit, struct process *p)
{
	struct jit_names_owner owner = owner_of(jit, p);
	uint64_t written;

	write_names(jit, p);
	written = p->names.written;
	jit_names_release(&p->names);
	jit_names_renew(&p->names, &owner);
	p->names.written = written;
	p->names.begins_ns = p->names.newest_ns = clock_now();
	jitdump_release(&p->dump);
	p->map_functions = p->dump_functions = 0;
	/* Both files are read again from their start: the other one may still be valid. */
	growing_file_rewind(&p->map_file);
	growing_file_rewind(&p->dump_file);
}

static void charge(struct process *p, uint64_t bytes)
{
	p->may_read -= bytes < p->may_read ? bytes : p->may_read;
}

/* Reads what is new in one of the process's files. */
static enum growing_file_news read_news(struct jit *jit, struct process *p,
					struct growing_file *file, struct write_times *times)
{
	uint64_t limit = p->may_read < READ_AT_ONCE ? p->may_read : READ_AT_ONCE;
	uint64_t before = file->offset, bytes;
	enum growing_file_news news = growing_file_read(file, limit);

	write_times_look(times, file->fd);
	if (news == GROWING_FILE_REWRITTEN) {
		charge(p, READ_AT_ONCE);
		start_over(jit, p);
	} else if (news == GROWING_FILE_GREW) {
		bytes = file->offset - before;
		charge(p, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
	}
	return news;
}

/* Of what is read already as bytes. */
static void charge_symbols(struct process *p, size_t symbols, uint64_t bytes)
{
	if (symbols * SYMBOL_CHARGE > bytes)
		charge(p, symbols * SYMBOL_CHARGE - bytes);
}

/* False: nothing is new. */
static bool read_map(struct jit *jit, struct process *p)
{
	struct perf_map_source source = { .times = &p->map_times };
	const uint64_t offset = p->map_file.offset;
	enum growing_file_news news;
	size_t before;

	if (p->map_file.fd < 0)
		return false;
	file_watch_take(jit->watch, p->map_watch, &p->map_times);
	news = read_news(jit, p, &p->map_file, &p->map_times);
	if (news != GROWING_FILE_GREW)
		return news == GROWING_FILE_REWRITTEN;
	source.offset = p->map_file.offset - p->map_file.pending.size;
	before = p->names.code.n;
	growing_file_consume(&p->map_file,
			     perf_map_parse(&p->names.code, &source, p->map_file.pending.data,
					    p->map_file.pending.size));
	p->map_functions += p->names.code.n - before;
	charge_symbols(p, p->names.code.n - before, p->map_file.offset - offset);
	write_times_forget(&p->map_times, p->map_file.offset - p->map_file.pending.size);
	return true;
}

static bool read_dump(struct jit *jit, struct process *p)
{
	const uint64_t offset = p->dump_file.offset;
	enum growing_file_news news;
	size_t before;

	if (p->dump_file.fd < 0 || p->dump.broken)
		return false;
	news = read_news(jit, p, &p->dump_file, &p->dump_times);
	if (news != GROWING_FILE_GREW)
		return news == GROWING_FILE_REWRITTEN;
	before = p->names.code.n;
	growing_file_consume(&p->dump_file,
			     jitdump_parse(&p->dump, &p->names.code, &p->dump_times,
					   p->dump_file.pending.data, p->dump_file.pending.size));
	p->dump_functions += p->names.code.n - before;
	charge_symbols(p, p->names.code.n - before, p->dump_file.offset - offset);
	write_times_forget(&p->dump_times, p->dump.offset);
	return true;
}

/* Of the first one only: it may be any number of them. */
static void warn_crowded(struct jit *jit, struct process *p)
{
	char why[128];

	if (jit->crowded || p->warned)
		return;
	jit->crowded = true;
	snprintf(why, sizeof(why),
		 "all take %u of %u MiB, and no user's or process's may have more than they leave",
		 (unsigned int)(jit->name_bytes.taken >> 20),
		 (unsigned int)(LIMIT_JIT_BYTES >> 20));
	warn(jit, p, "a part of its names for made code", why);
}

static void settle(struct jit *jit, struct process *p)
{
	write_names(jit, p);
	if (p->names.code.crowded)
		warn_crowded(jit, p);
	else if (p->names.code.refused)
		warn(jit, p, "a part of its names for made code",
		     "there are too many, or they are malformed");
}

static bool is_late(const struct jit *jit)
{
	return jit->goes_on && !jit->goes_on(jit->context, clock_now() - jit->finish_ns);
}

/*
 * Half of what is left may be read, so that no process takes it from all others. Where nothing may,
 * the files are asked all the same whether there is more.
 */
static void read_files(struct jit *jit, struct process *p)
{
	bool more;

	p->may_read = jit->left / 2;
	jit->left -= p->may_read;
	if (is_late(jit))
		p->may_read = 0;
	open_map(jit, p);
	watch_map(jit, p);
	if (p->late_dump)
		open_dump(jit, p, p->late_dump);
	do {
		more = read_map(jit, p);
		more = read_dump(jit, p) || more;
		if (is_late(jit))
			p->may_read = 0;
	} while (more && p->may_read);
	jit->left += p->may_read;
	note_known(jit, p);
}

static void process_tick(struct jit *jit, struct process *p)
{
	if (!p->replaced)
		read_files(jit, p);
	settle(jit, p);
}

static void tick_all(struct jit *jit)
{
	jit->left = LIMIT_JIT_ROUND_BYTES;
	for (size_t i = 0; i < jit->n; i++)
		process_tick(jit, jit->processes[(jit->first + i) % jit->n]);
	jit->first = jit->n ? (jit->first + 1) % jit->n : 0;
}

static void look_for_map(const void *key, size_t size, uint64_t value, void *context)
{
	open_map(context, (struct process *)(uintptr_t)value);
	watch_map(context, (struct process *)(uintptr_t)value);
}

struct error *jit_tick(struct jit *jit, uint64_t now_ns)
{
	jit->now_ns = now_ns;
	/*
	 * Started only now, after capabilities were dropped: the thread must not keep more than
	 * recording needs.
	 */
	if (!jit->watches) {
		jit->watches = true;
		jit->watch = file_watch_new();
	}
	map_each(&jit->foreseen, look_for_map, jit);
	tick_all(jit);
	jit->left = LIMIT_JIT_END_BYTES;
	return take_failure(jit);
}

/* What is left in the files, which hardly grow any more. */
static void read_rest(struct jit *jit, struct process *p)
{
	p->retry_ns = 0;
	process_tick(jit, p);
}

void jit_foresee_exec(struct jit *jit, uint32_t pid)
{
	struct process *p = process_find(jit, pid);

	forget_foreseen(jit, pid, UINT64_MAX);
	if (!p || p->replaced)
		return;
	read_rest(jit, p);
	p->replaced = true;
}

static void read_to_the_end(struct jit *jit, struct process *p)
{
	struct jit_names_owner owner = owner_of(jit, p);

	read_rest(jit, p);
	/* Nothing can arrive any more that would name the hits of the open object. */
	if (is_read(p) && !is_cut(p))
		jit_names_know(&p->names, &owner, UINT64_MAX);
	jit->left_unread += is_late(jit) && !is_read(p);
	p->names.ended = is_read(p);
	settle(jit, p);
	p->names.ended = false; /* there may be another file of a series */
	write_note(jit, p);
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
	jit->current = NULL;
	map_remove(&jit->by_pid, &pid, sizeof(pid));
	if (last != p) {
		jit->processes[position] = last;
		*map_get(&jit->by_pid, &last->pid, sizeof(last->pid)) = position;
	}
	jit->n--;
	process_free(jit, p);
}

static void warn_unread(const struct jit *jit)
{
	char text[128];

	if (!jit->left_unread || !jit->options.warn)
		return;
	snprintf(text, sizeof(text),
		 "processes whose maps of made code were not read to the end, as the recorder "
		 "ends: %zu",
		 jit->left_unread);
	jit->options.warn(text, jit->options.context);
}

struct error *jit_finish(struct jit *jit, bool (*goes_on)(void *context, uint64_t spent_ns),
			 void *context)
{
	jit->finish_ns = clock_now();
	/* Where it has to end soon, each gets what it gets in a round before some get more. */
	if (goes_on)
		tick_all(jit);
	jit->left = LIMIT_JIT_END_BYTES;
	jit->goes_on = goes_on;
	jit->context = context;
	jit->left_unread = 0;
	for (size_t i = 0; i < jit->n; i++)
		read_to_the_end(jit, jit->processes[i]);
	jit->goes_on = NULL;
	warn_unread(jit);
	return take_failure(jit);
}

void jit_set_writer(struct jit *jit, struct prf_writer *writer)
{
	jit->options.writer = writer;
	jit->notes = 0;
	for (size_t i = 0; i < jit->n; i++) {
		struct jit_names_owner owner = owner_of(jit, jit->processes[i]);

		jit_names_renew(&jit->processes[i]->names, &owner);
		note_known(jit, jit->processes[i]);
	}
}
