/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/vanished.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/limits.h"
#include "record/system/elf_symbols.h"
#include "record/system/opener.h"
#include "record/system/shares.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * After so many calls of vanished_let_go() in which nobody mapped a file: programs may run now and
 * then only, as health checks of containers do.
 */
#define LOOKS 60

/* As many symbols cost as much as a header, or a file. */
#define HEADER_SYMBOLS 4
#define FILE_SYMBOLS 1024
/* What a user may read in a look in which nobody has read anything: see shares.h. */
#define USER_SYMBOLS (LIMIT_LOOK_SYMBOLS / 2)
/* So many looks read what they can of a file that is too large for what its owner has left. */
#define TRIES 6

struct writing {
	struct unwinder *unwinder;
	struct vanished_names *names;
	bool ends;	       /* the trace: nothing can wait for another look */
	struct shares symbols; /* read in this look */
	struct shares time_ns; /* spent on their files */
	struct error *error;
};

static bool has_build_id(const struct elf_file *file, const struct prf_object *d)
{
	return d->build_id_size && file->build_id_size == d->build_id_size &&
	       !memcmp(file->build_id, d->build_id, d->build_id_size);
}

/* Whether an open file is still what it was: it may have been overwritten in place. */
static bool is_unchanged(const struct elf_file *file, int fd, const struct prf_object *d)
{
	struct stat st;

	if (d->build_id_size)
		return has_build_id(file, d);
	return !fstat(fd, &st) && st.st_ino == d->inode && (uint64_t)st.st_size == d->size &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec ==
		       d->mtime_ns;
}

/* Of whose share of the look it is what is read of a file. */
static uint32_t payer_of(const struct object *object, const struct writing *writing)
{
	return unwinder_payer(writing->unwinder, object->code);
}

/* A user other than root has as much time as he leaves for others: see shares_room(). */
static bool is_hurried(uint32_t user, const struct writing *writing)
{
	const struct vanished_names *names = writing->names;
	uint64_t his = user ? shares_of(&writing->time_ns, user) : 0;

	return names->goes_on && !names->goes_on(names->context, writing->time_ns.taken + his);
}

static bool open_elf(struct elf_file *file, int fd, uint32_t user, struct writing *writing)
{
	bool opened = !elf_file_open(file, fd);

	shares_take(&writing->symbols, user, FILE_SYMBOLS);
	if (opened)
		shares_take(&writing->symbols, user,
			    HEADER_SYMBOLS * (file->section_count + file->segment_count));
	return opened;
}

static bool look_at_its_path(const struct object *object, uint32_t user, struct writing *writing)
{
	const struct prf_object *d = &object->definition;
	const struct opening what = { .kind = OPENING_STATUS, .path = d->path };
	struct open_file opened;
	const struct stat *st = &opened.status;
	struct elf_file file;
	bool same = false;

	if (d->deleted || *d->root || opener_open(&what, &opened) || !S_ISREG(st->st_mode))
		return false;
	if (d->inode == st->st_ino && d->device == st->st_dev && d->size == (uint64_t)st->st_size)
		return true;
	if (is_hurried(user, writing) || !shares_room(&writing->symbols, user) ||
	    opener_open_path(d->path, &opened))
		return false;
	if (open_elf(&file, opened.fd, user, writing)) {
		same = has_build_id(&file, d);
		elf_file_release(&file);
	}
	close(opened.fd);
	return same;
}

/* The report looks there itself. */
static bool is_at_its_path(const struct object *object, uint32_t user, struct writing *writing)
{
	uint64_t began_ns = clock_now();
	bool same = look_at_its_path(object, user, writing);

	shares_take(&writing->time_ns, user, clock_now() - began_ns);
	return same;
}

/* Writes the symbols of code that was hit, and at times those next to it: see code_hits.h. */
static struct error *write_hit(const struct elf_symbols *symbols, const struct object *object,
			       struct prf_writer *w)
{
	size_t room = LIMIT_HIT_FILE_BYTES + object->hits.blocks * LIMIT_HIT_BYTES;
	struct prf_symbol *named = NULL;
	size_t n = 0, capacity = 0;
	struct error *error;
	uint32_t id;

	for (size_t i = 0; i < symbols->n; i++) {
		const struct elf_symbol *s = &symbols->symbols[i];
		size_t bytes;

		if (!code_hits_any(&object->hits, s->start, elf_symbols_end(symbols, i)))
			continue;
		bytes = sizeof(*named) + strlen(s->name);
		if (bytes > room)
			continue;
		room -= bytes;
		if (!array_reserve(&named, &capacity, n + 1)) {
			free(named);
			return error_memory();
		}
		named[n++] = (struct prf_symbol){ s->start, s->size, s->name };
	}
	error = prf_writer_object(w, &object->definition, &id);
	if (!error && n)
		error = prf_writer_symbols(w, id, named, n);
	free(named);
	return error;
}

static void count_unread(struct vanished_names *names, const struct object *object,
			 struct error *why)
{
	if (!names->unread++)
		names->why = error_prefix(why, "%s", object->definition.path);
	else
		error_free(why);
}

static struct error *no_time(void)
{
	return error_new(ERROR_LIMIT, "a signal ended the recording before it was read");
}

static struct error *no_share(void)
{
	return error_new(ERROR_LIMIT,
			 "deleted files before it have the %d symbols that are read at once, or "
			 "its owner's share",
			 LIMIT_LOOK_SYMBOLS);
}

/*
 * If it has too many symbols to read, the recording goes on without its names. `room`: what its
 * owner had before it. False: it has more than that, but he may have more in another look.
 */
static bool write_names(const struct elf_file *file, struct object *object, uint32_t user,
			uint64_t room, struct writing *writing)
{
	/* Root may take all of a look with one file, or more. */
	uint64_t most = user ? shares_room(&writing->symbols, user) : UINT64_MAX;
	struct elf_symbols symbols;
	struct error *error = elf_symbols_read_some(&symbols, file, most);

	shares_take(&writing->symbols, user, elf_symbols_cost(&symbols));
	if (!error) {
		writing->error = write_hit(&symbols, object, writing->names->writer);
		elf_symbols_release(&symbols);
	} else if (error->kind == ERROR_LIMIT && user && room < USER_SYMBOLS) {
		error_free(error);
		if (!writing->ends && ++object->tries < TRIES)
			return false;
		count_unread(writing->names, object, no_share());
	} else {
		count_unread(writing->names, object, error);
	}
	return true;
}

/* False: it waits for another look. */
static bool write_file(struct object *object, uint32_t user, struct writing *writing)
{
	uint64_t room = shares_room(&writing->symbols, user);
	bool hurried = is_hurried(user, writing), written = true;
	struct elf_file file;
	int fd;

	if (hurried || !room) {
		if (writing->ends)
			count_unread(writing->names, object, hurried ? no_time() : no_share());
		return writing->ends;
	}
	fd = unwinder_open_file(writing->unwinder, object->code);
	if (fd < 0)
		return true;
	if (open_elf(&file, fd, user, writing)) {
		if (is_unchanged(&file, fd, &object->definition))
			written = write_names(&file, object, user, room, writing);
		elf_file_release(&file);
	}
	close(fd);
	return written;
}

/* The same. Only an unwinder sets `code`. */
static bool write_object(struct object *object, struct writing *writing)
{
	uint64_t began_ns;
	bool written;
	uint32_t user;

	if (!object->code)
		return true;
	user = payer_of(object, writing);
	if (is_at_its_path(object, user, writing))
		return true;
	began_ns = clock_now();
	written = write_file(object, user, writing);
	shares_take(&writing->time_ns, user, clock_now() - began_ns);
	return written;
}

/* False: the object is needed for another look. */
static bool visit(struct object *object, struct writing *writing)
{
	if (!writing->error && object->hits.n && !write_object(object, writing))
		return false;
	code_hits_release(&object->hits);
	object->tries = 0;
	return true;
}

static void visit_last(struct object *object, void *context)
{
	visit(object, context);
}

struct letting_go {
	struct writing writing;
	const struct spaces *newest;
};

/*
 * Whether nothing is to be had of a file any more, or soon from its path again. Containers have
 * paths of their own, whether or not their root folder is another one for us.
 */
static bool is_left_behind(const struct object *object, struct writing *writing)
{
	switch (unwinder_holds(writing->unwinder, object->code)) {
	case UNWINDER_HOLDS_NOTHING: return true;
	case UNWINDER_HOLDS_TABLE: return object->idle >= LOOKS;
	case UNWINDER_HOLDS_FILE: break;
	}
	return !(object->idle % LOOKS) &&
	       !is_at_its_path(object, payer_of(object, writing), writing);
}

static bool may_go(struct object *object, void *context)
{
	struct letting_go *l = context;

	if (object->code && !is_left_behind(object, &l->writing))
		return false;
	if (!visit(object, &l->writing))
		return false;
	if (l->newest)
		spaces_forget(l->newest, object);
	return true;
}

struct error *vanished_let_go(struct objects *objects, struct unwinder *unwinder,
			      const struct spaces *newest, struct vanished_names *names)
{
	struct letting_go l = {
		{ .unwinder = unwinder, .names = names, .symbols.limit = LIMIT_LOOK_SYMBOLS },
		newest
	};

	objects_forget(objects, may_go, &l);
	shares_release(&l.writing.symbols);
	shares_release(&l.writing.time_ns);
	return l.writing.error;
}

struct error *vanished_write(const struct objects *objects, struct unwinder *unwinder,
			     struct vanished_names *names)
{
	struct writing writing = { .unwinder = unwinder,
				   .names = names,
				   .ends = true,
				   .symbols.limit = LIMIT_LOOK_SYMBOLS };

	objects_each(objects, visit_last, &writing);
	shares_release(&writing.symbols);
	shares_release(&writing.time_ns);
	return writing.error;
}
