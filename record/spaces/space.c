/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/space.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/map.h"
#include "record/spaces/roots.h"
#include "record/system/patience.h"
#include "record/system/proc.h"
#include "record/system/process_owner.h"
#include "record/system/process_reader.h"
#include "record/system/shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/*
 * Most mappings of one process that wait for their files. More need not be bounded: the opener asks
 * for few files at a time, and the kernel keeps more of a process than this.
 */
#define WAITING_MAX 1024

/* A mapping that is reported to listeners when its file has answered. */
struct waiting_mapping {
	uint64_t time_ns;
	struct mapping mapping;
};

/* All of one process. */
struct waiting {
	struct waiting_mapping *list;
	size_t n, capacity;
};

struct spaces {
	struct objects *objects;
	bool everything;
	struct map by_pid;  /* -> struct layout * */
	struct map read_ns; /* pid -> when /proc was read, before anything else was known */
	struct roots roots;
	uint64_t next_id;
	struct layout nothing;
	struct space_listener *listeners;
	size_t listener_count, listener_capacity;
	bool prepares;	    /* files are opened before listeners are called */
	struct map waiting; /* pid -> struct waiting * */
	uint64_t answers;   /* as of the last look at `waiting` */
	uint64_t left_out;
	uint64_t crowded_out;
	uint64_t silent;
};

/* -------- layouts -------- */

struct layout *layout_get(const struct layout *layout)
{
	struct layout *held = (struct layout *)(uintptr_t)layout;

	held->users++;
	return held;
}

void layout_put(struct layout *layout)
{
	if (!layout || --layout->users)
		return;
	mappings_release(&layout->mappings);
	free(layout);
}

static struct layout *layout_new(struct spaces *s)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return NULL;
	layout->users = 1;
	layout->id = s->next_id++;
	return layout;
}

static struct layout *layout_of(const struct spaces *s, uint32_t pid)
{
	uint64_t *value = map_get(&s->by_pid, &pid, sizeof(pid));

	return value ? (struct layout *)(uintptr_t)*value : NULL;
}

/* Replaces the process's layout. Takes over the caller's reference to `layout`. */
static struct error *set_layout(struct spaces *s, uint32_t pid, struct layout *layout)
{
	uint64_t *value = layout ? map_put(&s->by_pid, &pid, sizeof(pid), NULL) : NULL;

	if (!value) {
		layout_put(layout);
		return error_memory();
	}
	layout_put((struct layout *)(uintptr_t)*value);
	*value = (uintptr_t)layout;
	return NULL;
}

/* In place of a process: it was asked before its exec, after which it may be somebody else's. */
#define ASKED_BEFORE UINT32_MAX

/*
 * What is added to the layout from now on is of the share of the process's user, who may be another
 * one than its parent's; or of that one's, if it has ended.
 */
static void find_payer(struct spaces *s, uint32_t pid, struct layout *layout)
{
	struct shares *shares = objects_shares(s->objects);
	uint32_t user;

	/* One of root's may have become another user's. */
	if ((layout->asked == pid && layout->mappings.payer) || !shares_are_scarce(shares)) {
		mappings_charge(&layout->mappings, shares, layout->mappings.payer);
		return;
	}
	user = process_owner_user(pid);
	mappings_charge(&layout->mappings, shares,
			user == PATIENCE_NOBODY && layout->asked ? layout->mappings.payer : user);
	layout->asked = pid;
}

/*
 * A layout to be changed for this process: its own, with a new id unless it may keep that, or a
 * copy if it is shared.
 */
static struct layout *own_layout(struct spaces *s, uint32_t pid, uint64_t time_ns, bool keeps_id)
{
	struct layout *old = layout_of(s, pid), *copy;

	if (old && old->users == 1) {
		if (!keeps_id) {
			old->id = s->next_id++;
			old->changed_ns = time_ns;
		}
		find_payer(s, pid, old);
		return old;
	}
	copy = layout_new(s);
	if (!copy)
		return NULL;
	if (old) {
		copy->asked = old->asked;
		copy->mappings.payer = old->mappings.payer;
	}
	find_payer(s, pid, copy);
	if (old && !mappings_copy(&copy->mappings, &old->mappings)) {
		layout_put(copy);
		return NULL;
	}
	copy->changed_ns = time_ns;
	copy->made_code = old && old->made_code;
	return error_ignore(set_layout(s, pid, copy)) ? NULL : copy;
}

/* -------- beginning and end -------- */

struct spaces *spaces_new(struct objects *objects, bool everything)
{
	struct spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->objects = objects;
	s->everything = everything;
	s->nothing.users = 1;
	s->next_id = 1; /* 0 is the empty layout */
	return s;
}

static void put_value(void *layout)
{
	layout_put(layout);
}

static void free_waiting(void *waiting)
{
	free(((struct waiting *)waiting)->list);
	free(waiting);
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	map_release_values(&s->by_pid, put_value);
	map_release(&s->read_ns);
	roots_release(&s->roots);
	free(s->listeners);
	map_release_values(&s->waiting, free_waiting);
	free(s);
}

/* -------- listeners -------- */

static void report_ready(const struct spaces *s, uint32_t pid, uint64_t time_ns,
			 const struct mapping *m)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (s->listeners[i].mapped)
			s->listeners[i].mapped(s->listeners[i].context, pid, time_ns, m);
	object_let_go(m->object);
}

/* Those of a process; NULL: none. */
static struct waiting *waiting_of(const struct spaces *s, uint32_t pid)
{
	uint64_t *value = map_get(&s->waiting, &pid, sizeof(pid));

	return value ? (struct waiting *)(uintptr_t)*value : NULL;
}

static void forget_waiting(struct spaces *s, uint32_t pid)
{
	struct waiting *waiting = waiting_of(s, pid);

	map_remove(&s->waiting, &pid, sizeof(pid));
	if (waiting)
		free_waiting(waiting);
}

static struct waiting *get_waiting(struct spaces *s, uint32_t pid)
{
	uint64_t *value = map_put(&s->waiting, &pid, sizeof(pid), NULL);

	if (value && !*value)
		*value = (uintptr_t)calloc(1, sizeof(struct waiting));
	return value ? (struct waiting *)(uintptr_t)*value : NULL;
}

static void add_waiting(struct spaces *s, uint32_t pid, const struct waiting_mapping *added)
{
	struct waiting *w = get_waiting(s, pid);

	if (w && w->n < WAITING_MAX && array_reserve(&w->list, &w->capacity, w->n + 1))
		w->list[w->n++] = *added;
	else
		s->left_out++;
}

static void report_mapped(struct spaces *s, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	if (s->prepares && !object_prepare(pid, m))
		add_waiting(s, pid, &(struct waiting_mapping){ time_ns, *m });
	else
		report_ready(s, pid, time_ns, m);
}

static void report_forked(struct spaces *s, uint32_t parent, uint32_t child)
{
	const struct waiting *waiting = waiting_of(s, parent);

	for (size_t i = 0; waiting && i < waiting->n; i++)
		add_waiting(s, child, &waiting->list[i]);
	for (size_t i = 0; i < s->listener_count; i++)
		if (s->listeners[i].forked)
			s->listeners[i].forked(s->listeners[i].context, parent, child);
}

static void report_cleared(const struct spaces *s, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (s->listeners[i].cleared)
			s->listeners[i].cleared(s->listeners[i].context, pid, time_ns, by_exec);
}

void spaces_end(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (s->listeners[i].ended)
			s->listeners[i].ended(s->listeners[i].context, pid, time_ns);
}

void spaces_forget(const struct spaces *s, const struct object *object)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (s->listeners[i].forgotten)
			s->listeners[i].forgotten(s->listeners[i].context, object);
}

static void report_layout(const void *key, size_t size, uint64_t value, void *context)
{
	const struct layout *layout = (const struct layout *)(uintptr_t)value;
	const struct space_listener *listener = context;
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	while ((m = mappings_next(&layout->mappings, &cursor)))
		listener->mapped(listener->context, pid, 0, m);
}

struct error *spaces_listen(struct spaces *s, const struct space_listener *listener)
{
	if (!array_reserve(&s->listeners, &s->listener_capacity, s->listener_count + 1))
		return error_memory();
	s->listeners[s->listener_count++] = *listener;
	if (listener->mapped)
		map_each(&s->by_pid, report_layout, &s->listeners[s->listener_count - 1]);
	return NULL;
}

void spaces_prepare_files(struct spaces *s)
{
	s->prepares = true;
}

/* Whether the process still maps it. */
static bool is_mapped(const struct spaces *s, uint32_t pid, const struct mapping *mapping)
{
	const struct mapping *m = spaces_find(s, pid, mapping->start);

	return m && m->object == mapping->object && m->start == mapping->start &&
	       m->offset == mapping->offset;
}

static void look_at_process(const void *key, size_t size, uint64_t value, void *context)
{
	struct waiting *waiting = (struct waiting *)(uintptr_t)value;
	const struct spaces *s = context;
	size_t left = 0;
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	for (size_t i = 0; waiting && i < waiting->n; i++) {
		const struct waiting_mapping w = waiting->list[i];

		if (!is_mapped(s, pid, &w.mapping))
			continue;
		if (object_prepare(pid, &w.mapping))
			report_ready(s, pid, w.time_ns, &w.mapping);
		else
			waiting->list[left++] = w;
	}
	if (waiting)
		waiting->n = left;
}

void spaces_look_at_files(struct spaces *s)
{
	uint64_t answers = s->waiting.count ? opener_answers() : s->answers;

	if (answers == s->answers)
		return;
	s->answers = answers;
	map_each(&s->waiting, look_at_process, s);
}

uint64_t spaces_left_out(const struct spaces *s)
{
	return s->left_out;
}

uint64_t spaces_crowded_out(const struct spaces *s)
{
	return s->crowded_out;
}

uint64_t spaces_silent(const struct spaces *s)
{
	return s->silent;
}

/* -------- changes -------- */

static bool is_made_code(const struct mapping *m)
{
	return m->object->definition.kind == PRF_OBJECT_ANONYMOUS;
}

/*
 * Made code has no offsets: where all of it is there already, how it is divided is nothing new.
 * Without an object it is not known what is there now.
 */
static bool changes(const struct mappings *m, const struct mapping *added)
{
	const struct mapping *there = mappings_find(m, added->start);

	if (!added->object)
		return !mappings_have_room_for(m, added);
	if (is_made_code(added) && there && there->object == added->object &&
	    there->end >= added->end)
		return false;
	return added->start < added->end && mappings_are_changed_by(m, added);
}

/* `fits` is false if there is no room for it: then it was not added. */
static struct error *add_mapping(struct spaces *s, uint32_t pid, uint64_t time_ns,
				 const struct mapping *mapping, bool *fits)
{
	const struct layout *before = spaces_layout(s, pid);
	bool made = mapping->object && is_made_code(mapping), more;
	struct layout *layout;

	*fits = true;
	if (!changes(&before->mappings, mapping))
		return NULL;
	/* Virtual machines map some more memory for code again and again. */
	more = before->made_code && made && mappings_have_room_for(&before->mappings, mapping);
	layout = own_layout(s, pid, time_ns, more);
	if (!layout)
		return error_memory();
	*fits = shares_may_take(layout->mappings.shares, layout->mappings.payer,
				mappings_addition_bytes(&layout->mappings));
	if (!*fits)
		return NULL;
	if (!mappings_add(&layout->mappings, mapping))
		return error_memory();
	layout->made_code |= made;
	if (mapping->object)
		report_mapped(s, pid, time_ns, mapping);
	return NULL;
}

static struct error *clear(struct spaces *s, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	const struct layout *old = spaces_layout(s, pid);
	struct layout *layout = layout_new(s);
	struct error *error;

	if (layout) {
		layout->changed_ns = time_ns;
		layout->mappings.payer = old->mappings.payer;
		layout->asked = by_exec && old->asked ? ASKED_BEFORE : old->asked;
	}
	error = set_layout(s, pid, layout);
	forget_waiting(s, pid);
	if (!error)
		report_cleared(s, pid, time_ns, by_exec);
	return error;
}

struct error *spaces_add(struct spaces *s, uint32_t pid)
{
	return layout_of(s, pid) ? NULL : set_layout(s, pid, layout_new(s));
}

/*
 * Only for a process that was unknown: a known one may be an earlier owner of the number, whose
 * successor's fork is still to come.
 */
static struct error *note_read(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	uint64_t *read_ns = map_put(&s->read_ns, &pid, sizeof(pid), NULL);

	if (!read_ns)
		return error_memory();
	*read_ns = time_ns;
	return NULL;
}

struct error *spaces_adopt(struct spaces *s, uint32_t pid, const struct spaces *from)
{
	const uint64_t *read_ns = map_get(&from->read_ns, &pid, sizeof(pid));
	const struct layout *layout = spaces_layout(from, pid);
	bool known = spaces_knows(s, pid);
	struct mapping_cursor cursor = { 0 };
	const struct mapping *m;
	struct error *error;

	/* If the process is known, listeners are also told that its mappings are gone. */
	error = known ? clear(s, pid, 0, false) : NULL;
	roots_read(&s->roots, pid);
	if (!error)
		error = set_layout(s, pid, layout_get(layout));
	if (!error && read_ns && !known)
		error = note_read(s, pid, *read_ns);
	while (!error && (m = mappings_next(&layout->mappings, &cursor)))
		report_mapped(s, pid, 0, m);
	return error;
}

static struct mapping read_mapping(struct spaces *s, uint32_t pid, const struct proc_mapping *m)
{
	const struct prf_object known = {
		.root = roots_of(&s->roots, pid),
		.deleted = m->deleted,
		.device = makedev(m->major, m->minor),
		.inode = m->inode,
	};

	return (struct mapping){
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.object = objects_get(s->objects, m->path, &known, pid),
	};
}

struct error *spaces_read(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	uint64_t read_ns = time_ns ? time_ns : clock_now();
	bool known = spaces_knows(s, pid);
	struct buffer text = { 0 };
	int status = process_reader_file(pid, "maps", LIMIT_PROC_BYTES, &text);
	/* One that does not answer is recorded all the same, with what the side band says of it. */
	bool silent = status == -ETIMEDOUT;
	struct error *error = status && !silent
				      ? error_system(status, "cannot read /proc/%u/maps", pid)
				      : spaces_add(s, pid);
	struct proc_mapping m;
	bool fits = true;
	char *rest;

	s->silent += silent;
	/* An ending process and a kernel thread have an empty maps file. */
	if (!error && !silent && text.size) {
		roots_read(&s->roots, pid);
		if (!known)
			error = note_read(s, pid, read_ns);
		if (!error && layout_of(s, pid)->mappings.n)
			error = clear(s, pid, time_ns, false);
		buffer_string(&text);
		rest = buffer_ok(&text) ? (char *)text.data : NULL;
		while (!error && rest && (rest = proc_next_mapping(rest, &m))) {
			struct mapping mapping = { 0 };

			if (!m.executable)
				continue;
			mapping = read_mapping(s, pid, &m);
			error = add_mapping(s, pid, time_ns, &mapping, &fits);
			s->crowded_out += !fits || !mapping.object;
		}
	}
	buffer_release(&text);
	return error;
}

/* There is no room for more. */
static struct error *forget_all(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	s->crowded_out += spaces_layout(s, pid)->mappings.n;
	return clear(s, pid, time_ns, false);
}

/*
 * The side band reports no munmap(). When a process keeps mapping code at new addresses, most of
 * its known mappings are gone by then, so /proc is read again.
 */
static struct error *tidy(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct error *error = spaces_read(s, pid, time_ns);

	if (error && error->kind == ERROR_MEMORY)
		return error;
	error_free(error); /* the process has ended, or its maps cannot be read */
	/* Else they would soon be read again. */
	return spaces_layout(s, pid)->mappings.n > LIMIT_MAPPINGS / 2 ? forget_all(s, pid, time_ns)
								      : NULL;
}

static struct error *apply_mapping(struct spaces *s, const struct side_record *r,
				   const struct mapping *mapping)
{
	bool fits;
	struct error *error = add_mapping(s, r->pid, r->time_ns, mapping, &fits);

	/* What it would have replaced must not stay. */
	if (!error && !fits)
		error = forget_all(s, r->pid, r->time_ns);
	if (!error && !fits)
		error = add_mapping(s, r->pid, r->time_ns, mapping, &fits);
	s->crowded_out += !fits || !mapping->object;
	return error;
}

static struct error *apply_map(struct spaces *s, const struct side_record *r)
{
	struct prf_object known = { .build_id_size = r->map.build_id_size };
	struct mapping mapping = {
		.start = r->map.start,
		.end = r->map.start + r->map.size,
		.offset = r->map.offset,
	};
	struct error *error = NULL;
	char name[4096];

	if (spaces_layout(s, r->pid)->mappings.n >= LIMIT_MAPPINGS)
		error = tidy(s, r->pid, r->time_ns);
	if (error)
		return error;
	memcpy(known.build_id, r->map.build_id, sizeof(known.build_id));
	if (!known.build_id_size) {
		known.device = makedev(r->map.major, r->map.minor);
		known.inode = r->map.inode;
	}
	snprintf(name, sizeof(name), "%s", r->name);
	known.deleted = cut_deleted(name);
	known.root = roots_of(&s->roots, r->pid);
	mapping.object = objects_get(s->objects, name, &known, r->pid);
	return apply_mapping(s, r, &mapping);
}

static struct error *apply_fork(struct spaces *s, const struct side_record *r)
{
	struct layout *layout = layout_of(s, r->parent_pid);
	struct error *error;

	roots_fork(&s->roots, r->parent_pid, r->pid);
	error = set_layout(s, r->pid, layout ? layout_get(layout) : layout_new(s));
	map_remove(&s->read_ns, &r->pid, sizeof(r->pid));
	if (!error)
		report_forked(s, r->parent_pid, r->pid);
	return error;
}

bool spaces_have_read(const struct spaces *s, const struct side_record *r)
{
	const uint64_t *read_ns = map_get(&s->read_ns, &r->pid, sizeof(r->pid));

	return read_ns && r->time_ns < *read_ns;
}

struct error *spaces_apply(struct spaces *s, const struct side_record *r)
{
	if (spaces_have_read(s, r))
		return NULL;
	switch (r->type) {
	case SIDE_RECORD_MAP: return spaces_follows(s, r->pid) ? apply_map(s, r) : NULL;
	case SIDE_RECORD_FORK:
		/* A fork record within a process is a new thread. */
		return r->pid != r->parent_pid && spaces_follows(s, r->parent_pid)
			       ? apply_fork(s, r)
			       : NULL;
	case SIDE_RECORD_EXEC:
		if (!spaces_follows(s, r->pid))
			return NULL;
		roots_read(&s->roots, r->pid);
		return clear(s, r->pid, r->time_ns, true);
	default: return NULL;
	}
}

void spaces_remove(struct spaces *s, uint32_t pid)
{
	roots_remove(&s->roots, pid);
	forget_waiting(s, pid);
	map_remove(&s->read_ns, &pid, sizeof(pid));
	layout_put(layout_of(s, pid));
	map_remove(&s->by_pid, &pid, sizeof(pid));
}

/* -------- questions -------- */

bool spaces_knows(const struct spaces *s, uint32_t pid)
{
	return layout_of(s, pid) != NULL;
}

bool spaces_are_in_exec(const struct spaces *s, uint32_t pid)
{
	const struct layout *layout = layout_of(s, pid);

	return layout && !layout->mappings.n;
}

bool spaces_follows(const struct spaces *s, uint32_t pid)
{
	return s->everything || spaces_knows(s, pid);
}

struct visiting {
	void (*visit)(uint32_t pid, void *context);
	void *context;
};

static void visit_pid(const void *key, size_t size, uint64_t value, void *context)
{
	const struct visiting *visiting = context;
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	visiting->visit(pid, visiting->context);
}

void spaces_each(const struct spaces *s, void (*visit)(uint32_t pid, void *context), void *context)
{
	struct visiting visiting = { visit, context };

	map_each(&s->by_pid, visit_pid, &visiting);
}

const struct layout *spaces_layout(const struct spaces *s, uint32_t pid)
{
	const struct layout *layout = layout_of(s, pid);

	return layout ? layout : &s->nothing;
}

const struct mapping *spaces_find(const struct spaces *s, uint32_t pid, uint64_t address)
{
	return mappings_find(&spaces_layout(s, pid)->mappings, address);
}
