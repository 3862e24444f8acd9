/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/kernel_tables.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "common/clock.h"

/* How often a table is made for room that rests: of several that wait for it, one may get it. */
#define TRIES_MAX 16

struct error *kernel_tables_init(struct kernel_tables *t, const struct unwinder_maps *maps,
				 uint64_t limit)
{
	struct error *error;

	*t = (struct kernel_tables){ .keys_fd = maps->files };
	code_files_init(&t->files);
	error = table_store_init(&t->store, maps, limit);
	return error ? error : publications_init(&t->published, maps->segments, maps->processes);
}

void kernel_tables_release(struct kernel_tables *t)
{
	publications_release(&t->published);
	code_files_release(&t->files);
	table_store_release(&t->store);
}

/* -------- how the kernel half finds them -------- */

/* A file that was overwritten in place has left its key to the one that it is now. */
static void withdraw(const struct kernel_tables *t, const struct code_file *file)
{
	struct unwind_file value;

	if (!bpf_map_lookup_elem(t->keys_fd, &file->kernel_key, &value) &&
	    value.first_page == file->stored.first_page)
		bpf_map_delete_elem(t->keys_fd, &file->kernel_key);
}

/* Makes the table known to the kernel half under its file's key, or withdraws it. */
static void announce(const struct kernel_tables *t, const struct code_file *file)
{
	struct unwind_file value = {
		.first_page = file->stored.first_page,
		.pages = file->stored.pages,
	};

	if (!file->kernel_key.inode)
		return;
	if (file->state != CODE_FILE_READY) {
		withdraw(t, file);
		return;
	}
	for (; value.count < file->segment_count && value.count < 4; value.count++) {
		const struct table_segment *from = &file->segments[value.count];

		value.segments[value.count].offset = from->offset;
		value.segments[value.count].size = from->size;
		value.segments[value.count].delta = from->address - from->offset - file->base;
	}
	bpf_map_update_elem(t->keys_fd, &file->kernel_key, &value, BPF_ANY);
}

/* The processes that map changed files are published without their old tables, or with the new. */
static void refresh(struct kernel_tables *t, struct code_file **changed, size_t n)
{
	publications_refresh(&t->published, clock_now());
	for (size_t i = 0; i < n; i++)
		changed[i]->changed = false;
}

void kernel_tables_finish(struct kernel_tables *t, struct code_file *file,
			  const struct code_file *result)
{
	uint64_t seen = file->last_mapped_ns;
	int kept = file->kept; /* may have been closed meanwhile */

	/* It may be tried again for each process that maps it. */
	t->totals.over_limit += result->over_limit && !file->over_limit;
	code_files_close(&t->files, file);
	*file = *result;
	file->kept = kept;
	file->fd = -1;
	file->copied_bytes = 0;
	file->last_mapped_ns = seen;
	file->needed_ns = file->later_ns = 0;
	file->tries = 0;
	t->totals.build_ns += result->build_ns;
	t->totals.files += file->state == CODE_FILE_READY;
	t->totals.failed += file->state == CODE_FILE_BARE;
	t->totals.refused += file->state == CODE_FILE_REFUSED;
	if (file->state == CODE_FILE_READY) {
		announce(t, file);
		t->totals.rows += file->stored.rows;
		t->totals.lacking_rules += file->stored.lacks_rules;
	}
	file->changed = true;
	refresh(t, &file, 1);
	t->totals.rules = t->store.rules.count;
	t->totals.slabs = t->store.slab_count;
	t->totals.table_bytes = table_store_bytes(&t->store);
}

void kernel_tables_forget(struct kernel_tables *t, struct code_file *file)
{
	if (file->state == CODE_FILE_READY) {
		withdraw(t, file);
		t->totals.files--;
		t->totals.rows -= file->stored.rows;
	}
	code_files_take(&t->files, file);
}

/* -------- which are given back -------- */

/* Those whose tables are needed least come first. */
static int by_need(const void *a, const void *b)
{
	const struct code_file *x = *(struct code_file *const *)a;
	const struct code_file *y = *(struct code_file *const *)b;

	if (x->mapped_by != y->mapped_by)
		return x->mapped_by < y->mapped_by ? -1 : 1;
	return x->last_mapped_ns < y->last_mapped_ns ? -1 : x->last_mapped_ns > y->last_mapped_ns;
}

/* Sets `mapped_by` of all files. */
static void count_users(struct kernel_tables *t)
{
	for (size_t i = 0; i < t->files.count; i++) {
		t->files.all[i]->mapped_by = 0;
		t->files.all[i]->counted_pid = 0;
	}
	publications_count_users(&t->published);
}

/*
 * Root's processes have any table dropped that at most one process maps, those of other users only
 * what their own process maps, or none; unless root pays, it must be of the same share.
 */
static bool may_drop(struct kernel_tables *t, const struct code_file *file,
		     const struct beneficiary *whose)
{
	if (file->state != CODE_FILE_READY || file->vdso || file->mapped_by > 1 ||
	    (whose->payer && file->stored.user != whose->payer))
		return false;
	return !whose->user || !file->mapped_by ||
	       publications_user(&t->published, file->counted_pid) == whose->user;
}

/*
 * The files whose tables may be dropped, in the order in which they are; `list` has room for all
 * files. Returns their number.
 */
static size_t find_droppable(struct kernel_tables *t, const struct code_file *keep,
			     const struct beneficiary *whose, struct code_file **list)
{
	size_t n = 0;

	count_users(t);
	for (size_t i = 0; i < t->files.count; i++) {
		struct code_file *file = t->files.all[i];

		if (file != keep && may_drop(t, file, whose))
			list[n++] = file;
	}
	if (n)
		qsort(list, n, sizeof(struct code_file *), by_need);
	return n;
}

static void drop_table(struct kernel_tables *t, struct code_file *file)
{
	file->state = CODE_FILE_REFUSED;
	file->problem = "its table was given back to stay within the limit";
	file->refused_ns = clock_now();
	file->changed = true;
	announce(t, file);
	t->totals.files--;
	t->totals.dropped++;
	t->totals.rows -= file->stored.rows;
}

/* Moves those to the beginning of the list whose tables must go to give what is needed. */
static size_t choose(const struct kernel_tables *t, struct code_file **list, size_t n,
		     const struct table_need *need)
{
	struct table_choice *choices = calloc(n + 1, sizeof(*choices));
	size_t chosen = 0;

	for (size_t i = 0; choices && i < n; i++)
		choices[i].table = &list[i]->stored;
	if (choices && table_store_choose(&t->store, choices, n, need))
		for (size_t i = 0; i < n; i++)
			if (choices[i].drop)
				list[chosen++] = list[i];
	free(choices);
	return chosen;
}

/*
 * Drops tables to give somebody what he needs, but not those that several processes use; none if
 * that does not suffice. The memory is reusable only some time later.
 */
static bool drop_tables(struct kernel_tables *t, const struct code_file *keep,
			const struct beneficiary *whose, const struct table_need *need)
{
	struct code_file **list = calloc(t->files.count + 1, sizeof(*list));
	size_t n = list ? find_droppable(t, keep, whose, list) : 0;

	n = choose(t, list, n, need);
	for (size_t i = 0; i < n; i++)
		drop_table(t, list[i]);
	if (n)
		refresh(t, list, n);
	for (size_t i = 0; i < n; i++)
		table_store_drop(&t->store, &list[i]->stored, clock_now());
	free(list);
	return n;
}

bool kernel_tables_make_room(struct kernel_tables *t, const struct code_file *file,
			     const struct unwind_table *table, const struct beneficiary *whose)
{
	struct table_need need = table_store_need(&t->store, table, whose->payer, clock_now());

	return file->tries < TRIES_MAX &&
	       ((!need.slabs && !need.pages) || drop_tables(t, file, whose, &need));
}
