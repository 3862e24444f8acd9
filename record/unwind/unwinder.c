/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwinder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/limits.h"
#include "record/system/privileges.h"
#include "record/system/thread.h"
#include "record/unwind/debug_file.h"
#include "record/unwind/kernel_tables.h"

#define DEFAULT_LIMIT (UINT64_C(256) << 20)
#define SECOND UINT64_C(1000000000)
/* A program is started that soon after its files were prepared. */
#define PREPARED_NS (10 * SECOND)

static const char replaced[] = "another file has its name now";
static const char no_memory[] = "the memory for tables is used up";
static const char refused[] = "the kernel refuses more memory for tables";

struct unwinder {
	pthread_mutex_t lock; /* of everything but `tables.store`, which only the worker writes */
	pthread_cond_t work;  /* something waits for the worker, or it is to end */
	pthread_cond_t idle;  /* the worker has nothing to do */
	pthread_t worker;
	bool started, busy;
	atomic_bool stopping; /* set with the lock held, read without it while a file is read */
	struct kernel_tables tables;
	struct code_file *gone;	     /* nothing refers to them: the worker frees them */
	const struct spaces *spaces; /* the spaces that are published; NULL: not set yet */
	uint64_t max_rows;
	struct unwinder_options options;
	uint64_t counted_ns; /* since when files.work_ns counts */
};

/* -------- the worker -------- */

static int open_elf(struct elf_file *e, const struct code_file *file)
{
	if (file->vdso)
		return elf_file_open_vdso(e);
	return file->fd < 0 ? ELF_ERROR_IO : elf_file_open(e, file->fd);
}

static int build_from(const struct unwinder *u, const struct elf_file *e,
		      const struct code_file *of, struct unwind_table *t)
{
	struct unwind_source source = { .file = e, .max_rows = u->max_rows, .stop = &u->stopping };
	struct elf_file debug;
	int error;

	if (debug_file_open(&debug, e, &(struct debug_file_of){ of->path, of->owner }))
		source.debug = &debug;
	error = unwind_table_build(t, &source);
	if (source.debug)
		elf_file_release(&debug);
	return error;
}

/* The file's table, not yet in the kernel. Sets the state that follows when it has none. */
static bool build_table(struct unwinder *u, const struct code_file *file, struct code_file *result,
			struct unwind_table *t)
{
	struct elf_file e;
	int error = open_elf(&e, file);

	*t = (struct unwind_table){ 0 };
	result->state = CODE_FILE_REFUSED;
	if (error) {
		result->problem = file->replaced ? replaced : elf_error_text(error);
		result->over_limit |= error == ELF_ERROR_LIMIT;
		/* A file that is no ELF file has no unwind information, for sure. */
		if (error == ELF_ERROR_NOT_ELF || error == ELF_ERROR_UNSUPPORTED)
			result->state = CODE_FILE_BARE;
		return false;
	}
	if (file->build_id_size && (e.build_id_size != file->build_id_size ||
				    memcmp(e.build_id, file->build_id, e.build_id_size) != 0)) {
		result->problem = replaced;
		elf_file_release(&e);
		return false;
	}
	result->build_id_size = e.build_id_size;
	memcpy(result->build_id, e.build_id, e.build_id_size);
	error = build_from(u, &e, file, t);
	elf_file_release(&e);
	memcpy(result->segments, t->segments, sizeof(result->segments));
	result->segment_count = t->segment_count;
	result->base = t->base;
	if (!error)
		return true;
	result->problem = unwind_table_error_text(error);
	result->over_limit |= error == UNWIND_TABLE_LIMIT || error == UNWIND_TABLE_TOO_LARGE;
	if (error == UNWIND_TABLE_NO_INFO || error == UNWIND_TABLE_NO_CODE)
		result->state = CODE_FILE_BARE;
	return false;
}

/*
 * Stores a table, dropping others if needed: then it is made again when their memory has rested, as
 * others' tables need not wait for that.
 */
static void store_table(struct unwinder *u, struct code_file *file, const struct unwind_table *t,
			uint32_t user, struct code_file *result)
{
	const struct beneficiary whose = { user, code_file_payer(file, user) };
	struct error *error = table_store_put(&u->tables.store, t, whose.payer, &result->stored,
					      clock_now());

	result->state = error ? CODE_FILE_REFUSED : CODE_FILE_READY;
	if (!error)
		return;
	result->problem = error->kind == ERROR_SYSTEM ? refused : no_memory;
	result->refused_ns = clock_now();
	if (error->kind == ERROR_LIMIT) {
		result->refused_to = whose.payer;
		pthread_mutex_lock(&u->lock);
		result->later_ns = 0;
		if (kernel_tables_make_room(&u->tables, file, t, &whose)) {
			result->state = CODE_FILE_WAITING;
			result->tries = file->tries + 1;
			result->later_ns = clock_now() + RANGE_POOL_REST_NS + SECOND / 10;
		} else if (code_file_is_for_others(file, whose.payer)) {
			result->state = CODE_FILE_WAITING;
			result->tries = 0;
		}
		pthread_mutex_unlock(&u->lock);
	}
	error_free(error);
}

/* Reports the file to the owner, without the lock. */
static void report(struct unwinder *u, const struct code_file *file)
{
	struct unwinder_file about = {
		.path = file->path,
		.rows = file->state == CODE_FILE_READY ? file->stored.rows : 0,
		.bytes = file->state == CODE_FILE_READY
				 ? file->stored.rows * 4 +
					   file->stored.pages * sizeof(struct unwind_page)
				 : 0,
		.build_ns = file->build_ns,
		.problem = file->problem,
		.lacks_rules = file->state == CODE_FILE_READY && file->stored.lacks_rules,
	};

	if (u->options.built)
		u->options.built(&about, u->options.context);
}

/* It counts for a second: who needed much before that has to wait no longer for it now. */
static void count_work(struct unwinder *u, uint32_t user, uint64_t ns)
{
	uint64_t now = clock_now();

	if (now - u->counted_ns > SECOND) {
		shares_release(&u->tables.files.work_ns);
		u->counted_ns = now;
	}
	shares_take(&u->tables.files.work_ns, user, ns);
}

/*
 * Makes the file's table, for that user. Called with the lock held, which is released while the
 * file is read.
 */
static void build_file(struct unwinder *u, struct code_file *file, uint32_t user)
{
	struct code_file result = *file;
	struct unwind_table table;
	uint64_t began = clock_now();

	u->busy = true;
	pthread_mutex_unlock(&u->lock);
	result.problem = NULL;
	result.refused_ns = 0;
	result.refused_to = 0;
	if (build_table(u, file, &result, &table)) {
		result.build_ns = clock_now() - began;
		store_table(u, file, &table, user, &result);
	}
	unwind_table_release(&table);
	pthread_mutex_lock(&u->lock);
	count_work(u, user, clock_now() - began);
	if (result.state == CODE_FILE_WAITING) {
		file->tries = result.tries;
		file->later_ns = result.later_ns;
	} else {
		kernel_tables_finish(&u->tables, file, &result);
		u->tables.totals.short_of_memory += result.problem == no_memory;
		pthread_mutex_unlock(&u->lock);
		report(u, &result);
		pthread_mutex_lock(&u->lock);
	}
	u->busy = false;
}

/* Gives the tables of files back that nothing refers to. With the lock held. */
static void free_gone(struct unwinder *u)
{
	while (u->gone) {
		struct code_file *file = u->gone;

		u->gone = file->next;
		if (file->state == CODE_FILE_READY)
			table_store_drop(&u->tables.store, &file->stored, clock_now());
		code_file_free(file);
	}
}

/* Some file waits, perhaps for memory that rests, or is worked at. With the lock held. */
static bool works(const struct unwinder *u)
{
	return u->busy || code_files_next_ns(&u->tables.files) != UINT64_MAX;
}

/* Until there is work, or may be. With the lock held. */
static void wait_for_work(struct unwinder *u)
{
	uint64_t next = code_files_next_ns(&u->tables.files);
	const struct timespec then = { (time_t)(next / SECOND), (long)(next % SECOND) };

	if (u->stopping || u->gone)
		return;
	if (next == UINT64_MAX)
		pthread_cond_wait(&u->work, &u->lock);
	else if (next > clock_now())
		pthread_cond_timedwait(&u->work, &u->lock, &then);
}

static void *work(void *context)
{
	struct unwinder *u = context;

	/* Here files that anybody may have made are parsed. */
	privileges_drop_in_thread(PRIVILEGES_FOR_TABLES);
	pthread_mutex_lock(&u->lock);
	while (!u->stopping) {
		uint32_t user;
		struct code_file *file = code_files_next_waiting(&u->tables.files, clock_now(),
								 &user);

		free_gone(u);
		if (file) {
			build_file(u, file, user);
			continue;
		}
		if (!works(u))
			pthread_cond_broadcast(&u->idle);
		/* Keep a slab ready, so that the next small file can be published at once. */
		pthread_mutex_unlock(&u->lock);
		table_store_reserve(&u->tables.store, clock_now());
		pthread_mutex_lock(&u->lock);
		wait_for_work(u);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

/* -------- beginning and end -------- */

static void init_locks(struct unwinder *u)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&u->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&u->work, &monotonic);
	pthread_cond_init(&u->idle, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static struct error *start_worker(struct unwinder *u)
{
	int status = thread_start(&u->worker, work, u);

	u->started = !status;
	return status ? error_system(status, "cannot start a thread") : NULL;
}

struct error *unwinder_new(struct unwinder **unwinder, const struct unwinder_options *options)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	uint64_t limit = options->memory_limit ? options->memory_limit : DEFAULT_LIMIT;
	struct error *error;

	if (!u)
		return error_memory();
	init_locks(u);
	u->options = *options;
	u->max_rows = limit / 4 / 2; /* no file gets more than half of it */
	error = kernel_tables_init(&u->tables, &options->maps, limit);
	if (!error)
		error = start_worker(u);
	if (error) {
		unwinder_free(u);
		return error;
	}
	*unwinder = u;
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	if (u->started) {
		pthread_mutex_lock(&u->lock);
		u->stopping = true;
		pthread_cond_broadcast(&u->work);
		pthread_mutex_unlock(&u->lock);
		pthread_join(u->worker, NULL);
	}
	free_gone(u);
	kernel_tables_release(&u->tables);
	pthread_cond_destroy(&u->work);
	pthread_cond_destroy(&u->idle);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* -------- what happens to the address spaces -------- */

/* Whether it is to be known whose process maps the file. */
static bool asks_for_user(const struct mapping *m)
{
	const struct code_file *file = m->object->code;

	return file ? file->state == CODE_FILE_WAITING || file->state == CODE_FILE_REFUSED
		    : m->object->definition.kind == PRF_OBJECT_FILE;
}

static void mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	struct unwinder *u = context;
	struct code_file *file;
	uint32_t user = 0;

	pthread_mutex_lock(&u->lock);
	if (asks_for_user(m))
		user = publications_user(&u->tables.published, pid);
	file = code_files_get(&u->tables.files, pid, user, m);
	if (file) {
		file->last_mapped_ns = clock_now();
		if (file->state == CODE_FILE_WAITING) {
			code_files_need(&u->tables.files, file, user,
					time_ns ? time_ns : file->last_mapped_ns);
			pthread_cond_signal(&u->work);
		}
	}
	publications_change(&u->tables.published, pid);
	pthread_mutex_unlock(&u->lock);
}

static void forked(void *context, uint32_t parent, uint32_t child)
{
	struct unwinder *u = context;

	pthread_mutex_lock(&u->lock);
	publications_fork(&u->tables.published, parent, child, clock_now());
	pthread_mutex_unlock(&u->lock);
}

static void cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	struct unwinder *u = context;

	pthread_mutex_lock(&u->lock);
	if (by_exec)
		publications_exec(&u->tables.published, pid);
	else
		publications_change(&u->tables.published, pid);
	pthread_mutex_unlock(&u->lock);
}

static void ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct unwinder *u = context;

	pthread_mutex_lock(&u->lock);
	publications_exit(&u->tables.published, pid, clock_now());
	pthread_mutex_unlock(&u->lock);
}

struct error *unwinder_follow(struct unwinder *u, struct spaces *spaces)
{
	u->spaces = spaces;
	return spaces_listen(spaces, &(struct space_listener){ .mapped = mapped,
							       .forked = forked,
							       .cleared = cleared,
							       .ended = ended,
							       .context = u });
}

void unwinder_flush(struct unwinder *u)
{
	pthread_mutex_lock(&u->lock);
	publications_update(&u->tables.published, u->spaces, clock_now());
	pthread_mutex_unlock(&u->lock);
}

/* -------- tables that come too late -------- */

uint64_t unwinder_waits_since(struct unwinder *u, uint64_t after_ns)
{
	uint64_t since = UINT64_MAX;

	pthread_mutex_lock(&u->lock);
	for (size_t i = 0; i < u->tables.files.count; i++) {
		const struct code_file *file = u->tables.files.all[i];

		if (file->state == CODE_FILE_WAITING && file->needed_ns > after_ns &&
		    file->needed_ns < since)
			since = file->needed_ns;
	}
	pthread_mutex_unlock(&u->lock);
	return since;
}

bool unwinder_rule(struct unwinder *u, const struct layout *layout, uint64_t address,
		   struct unwind_rule *rule)
{
	const struct mapping *m = mappings_find(&layout->mappings, address);
	const struct unwind_rule *found = NULL;
	struct unwind_segment segment;

	pthread_mutex_lock(&u->lock);
	if (m) {
		publications_segment(&segment, m);
		found = table_store_rule(&u->tables.store, &segment, address);
	}
	if (found)
		*rule = *found;
	pthread_mutex_unlock(&u->lock);
	return found;
}

/* -------- before something is started -------- */

bool unwinder_settle(struct unwinder *u, uint64_t limit_ns)
{
	uint64_t until = clock_now() + limit_ns;
	struct timespec t = { (time_t)(until / SECOND), (long)(until % SECOND) };
	bool settled;

	pthread_mutex_lock(&u->lock);
	while (works(u) && !pthread_cond_timedwait(&u->idle, &u->lock, &t))
		;
	settled = !works(u);
	pthread_mutex_unlock(&u->lock);
	return settled;
}

void unwinder_prepare(struct unwinder *u, const char *path)
{
	struct code_file *file;

	pthread_mutex_lock(&u->lock);
	code_files_get_vdso(&u->tables.files);
	file = code_files_get_path(&u->tables.files, path);
	if (file)
		file->last_mapped_ns = clock_now(); /* it soon will be */
	if (file && file->state == CODE_FILE_WAITING) {
		code_files_need(&u->tables.files, file, 0, 0);
		pthread_cond_signal(&u->work);
	}
	pthread_mutex_unlock(&u->lock);
}

void unwinder_totals(struct unwinder *u, struct unwinder_totals *totals)
{
	pthread_mutex_lock(&u->lock);
	*totals = u->tables.totals;
	totals->crowded_out = u->tables.published.crowded_out;
	pthread_mutex_unlock(&u->lock);
}

uint32_t unwinder_payer(struct unwinder *u, const struct code_file *file)
{
	uint32_t user;

	pthread_mutex_lock(&u->lock);
	user = code_file_payer(file, file->user);
	pthread_mutex_unlock(&u->lock);
	return user;
}

int unwinder_open_file(struct unwinder *u, const struct code_file *file)
{
	int fd = -1;

	pthread_mutex_lock(&u->lock);
	if (file->kept >= 0)
		fd = fcntl(file->kept, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&u->lock);
	return fd;
}

bool unwinder_read_code(struct unwinder *u, const struct mapping *m, uint64_t address, void *bytes,
			size_t size)
{
	const struct code_file *file = m->object->code;
	bool is_read;

	pthread_mutex_lock(&u->lock);
	is_read = file && code_files_read(&u->tables.files, file, m->offset + (address - m->start),
					  bytes, size);
	pthread_mutex_unlock(&u->lock);
	return is_read;
}

/* -------- files that nobody uses -------- */

enum unwinder_holds unwinder_holds(struct unwinder *u, const struct code_file *file)
{
	enum unwinder_holds holds = UNWINDER_HOLDS_NOTHING;
	struct stat status;

	pthread_mutex_lock(&u->lock);
	if (file->kept >= 0 && (fstat(file->kept, &status) || status.st_nlink))
		holds = UNWINDER_HOLDS_FILE;
	else if (file->kept < 0 &&
		 (file->state == CODE_FILE_READY || file->state == CODE_FILE_WAITING))
		holds = UNWINDER_HOLDS_TABLE;
	pthread_mutex_unlock(&u->lock);
	return holds;
}

static void forget_file(struct unwinder *u, struct code_file *file)
{
	kernel_tables_forget(&u->tables, file);
	file->next = u->gone;
	u->gone = file;
	pthread_cond_signal(&u->work);
}

static void want(struct object *object, void *context)
{
	if (object->code)
		object->code->wanted = true;
}

void unwinder_forget_unused(struct unwinder *u, const struct objects *objects, uint64_t now_ns)
{
	pthread_mutex_lock(&u->lock);
	for (size_t i = 0; i < u->tables.files.count; i++)
		u->tables.files.all[i]->wanted = false;
	objects_each(objects, want, NULL);
	for (size_t i = u->tables.files.count; i-- > 0;) {
		struct code_file *file = u->tables.files.all[i];

		if (!file->wanted && !file->vdso && file->state != CODE_FILE_WAITING &&
		    file->last_mapped_ns + PREPARED_NS < now_ns)
			forget_file(u, file);
	}
	pthread_mutex_unlock(&u->lock);
}
