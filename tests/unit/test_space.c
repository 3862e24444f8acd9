/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/space.h"
#include "record/system/shares.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above any number that the kernel gives, so that /proc knows nothing of them. */
#define PID 100000000u

struct fixture {
	struct objects *objects;
	struct spaces *s;
	char heard[1024]; /* by the listener */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->objects = objects_new();
	f->s = spaces_new(f->objects, true);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	spaces_free(f->s);
	objects_free(f->objects);
	free(f);
	return 0;
}

static void apply(struct spaces *s, struct side_record r)
{
	if (!r.name)
		r.name = "";
	assert_null(spaces_apply(s, &r));
}

static void map(struct spaces *s, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
		const char *path)
{
	apply(s, (struct side_record){
			 .type = SIDE_RECORD_MAP,
			 .time_ns = 1,
			 .pid = pid,
			 .tid = pid,
			 .map = { .start = start, .size = end - start, .offset = offset },
			 .name = path,
		 });
}

static void fork_process(struct spaces *s, uint32_t parent, uint32_t child)
{
	apply(s, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .pid = child,
				       .tid = child,
				       .parent_pid = parent,
				       .parent_tid = parent });
}

static void exec(struct spaces *s, uint32_t pid)
{
	apply(s, (struct side_record){
			 .type = SIDE_RECORD_EXEC, .time_ns = 2, .pid = pid, .tid = pid });
}

/* "path+offset", or "" where nothing is mapped. */
static const char *place(const struct spaces *s, uint32_t pid, uint64_t address)
{
	const struct mapping *m = spaces_find(s, pid, address);
	static char text[128];

	*text = 0;
	if (m)
		snprintf(text, sizeof(text), "%s+%llx", m->object->definition.path,
			 (unsigned long long)(address - m->start + m->offset));
	return text;
}

struct expected {
	uint64_t address;
	const char *place;
};

static void expect(struct spaces *s, const struct expected *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(place(s, PID, all[i].address), all[i].place);
}

#define EXPECT(s, ...)                                                                             \
	expect(s, (const struct expected[]){ __VA_ARGS__ },                                        \
	       sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void finds_what_is_mapped(void **state)
{
	struct fixture *f = *state;

	map(f->s, PID, 0x2000, 0x3000, 0x100, "/b");
	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	EXPECT(f->s, { 0xfff, "" }, { 0x1000, "/a+0" }, { 0x1fff, "/a+fff" }, { 0x2000, "/b+100" },
	       { 0x3000, "" });
	assert_string_equal(place(f->s, PID + 1, 0x1000), "");
	assert_true(spaces_knows(f->s, PID));
	assert_false(spaces_knows(f->s, PID + 1));
}

static void later_mappings_replace_what_they_cover(void **state)
{
	struct fixture *f = *state;

	map(f->s, PID, 0x1000, 0x9000, 0, "/a");
	map(f->s, PID, 0x3000, 0x4000, 0x500, "/b");
	EXPECT(f->s, { 0x2fff, "/a+1fff" }, { 0x3000, "/b+500" }, { 0x4000, "/a+3000" });
	assert_int_equal(spaces_layout(f->s, PID)->mappings.n, 3);
	map(f->s, PID, 0, 0x10000, 0, "/b");
	assert_int_equal(spaces_layout(f->s, PID)->mappings.n, 1);
}

static void children_have_their_parents_layout(void **state)
{
	struct fixture *f = *state;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	fork_process(f->s, PID, PID + 1);
	assert_ptr_equal(spaces_layout(f->s, PID), spaces_layout(f->s, PID + 1));
	map(f->s, PID + 1, 0x5000, 0x6000, 0, "/b");
	assert_string_equal(place(f->s, PID, 0x5000), "");
	assert_string_equal(place(f->s, PID + 1, 0x5000), "/b+0");
	assert_string_equal(place(f->s, PID + 1, 0x1000), "/a+0");
	spaces_remove(f->s, PID);
	assert_false(spaces_knows(f->s, PID));
	assert_string_equal(place(f->s, PID + 1, 0x1000), "/a+0");
}

static void exec_leaves_nothing(void **state)
{
	struct fixture *f = *state;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	fork_process(f->s, PID, PID + 1);
	exec(f->s, PID + 1);
	assert_true(spaces_knows(f->s, PID + 1));
	assert_int_equal(spaces_layout(f->s, PID + 1)->mappings.n, 0);
	assert_int_equal(spaces_layout(f->s, PID)->mappings.n, 1);
}

static void an_id_stands_for_one_state(void **state)
{
	struct fixture *f = *state;
	uint64_t first, second;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	first = spaces_layout(f->s, PID)->id;
	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	assert_int_equal(spaces_layout(f->s, PID)->id, first);
	map(f->s, PID, 0x1000, 0x1000, 0, "/b"); /* no bytes */
	assert_int_equal(spaces_layout(f->s, PID)->id, first);
	map(f->s, PID, 0x1000, 0x2000, 0, "/b");
	second = spaces_layout(f->s, PID)->id;
	assert_int_not_equal(first, second);
	exec(f->s, PID);
	assert_int_not_equal(spaces_layout(f->s, PID)->id, first);
	assert_int_not_equal(spaces_layout(f->s, PID)->id, second);
}

/* As virtual machines do it: what was found for addresses before is still right. */
static void more_made_code_keeps_the_id(void **state)
{
	struct fixture *f = *state;
	uint64_t id;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	id = spaces_layout(f->s, PID)->id;
	map(f->s, PID, 0x8000, 0x9000, 0, "//anon");
	/* From now on addresses mean something else in each process. */
	assert_int_not_equal(spaces_layout(f->s, PID)->id, id);
	id = spaces_layout(f->s, PID)->id;
	map(f->s, PID, 0x8000, 0xa000, 0, "//anon");
	map(f->s, PID, 0xc000, 0xd000, 0, "//anon");
	EXPECT(f->s, { 0x9fff, "[anon]+1fff" }, { 0xc000, "[anon]+0" }, { 0x1000, "/a+0" });
	assert_int_equal(spaces_layout(f->s, PID)->id, id);
	/* A part of what is there. */
	map(f->s, PID, 0x9000, 0xa000, 0, "//anon");
	assert_int_equal(spaces_layout(f->s, PID)->id, id);
	assert_int_equal(spaces_layout(f->s, PID)->mappings.n, 3);
	/* In the place of a file. */
	map(f->s, PID, 0x1800, 0x3000, 0, "//anon");
	assert_int_not_equal(spaces_layout(f->s, PID)->id, id);
	/* In one of two processes that had the same. */
	id = spaces_layout(f->s, PID)->id;
	fork_process(f->s, PID, PID + 1);
	map(f->s, PID + 1, 0xd000, 0xe000, 0, "//anon");
	assert_int_equal(spaces_layout(f->s, PID)->id, id);
	assert_int_not_equal(spaces_layout(f->s, PID + 1)->id, id);
	/* A file in the place of made code. */
	map(f->s, PID, 0x8000, 0x9000, 0, "/b");
	assert_int_not_equal(spaces_layout(f->s, PID)->id, id);
}

static void what_is_held_does_not_change(void **state)
{
	struct fixture *f = *state;
	struct layout *held;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	held = layout_get(spaces_layout(f->s, PID));
	map(f->s, PID, 0x5000, 0x6000, 0, "/b");
	spaces_remove(f->s, PID);
	assert_int_equal(held->mappings.n, 1);
	assert_string_equal(mappings_find(&held->mappings, 0x1000)->object->definition.path, "/a");
	layout_put(held);
}

static void strangers_are_not_followed(void **state)
{
	struct fixture *f = *state;
	struct spaces *s = spaces_new(f->objects, false);

	map(s, PID, 0x1000, 0x2000, 0, "/a");
	fork_process(s, PID, PID + 1);
	exec(s, PID);
	assert_false(spaces_knows(s, PID));
	assert_false(spaces_knows(s, PID + 1));
	assert_null(spaces_add(s, PID));
	map(s, PID, 0x1000, 0x2000, 0, "/a");
	fork_process(s, PID, PID + 1);
	assert_string_equal(place(s, PID + 1, 0x1000), "/a+0");
	spaces_free(s);
}

#define HEAR(...)                                                                                  \
	snprintf(f->heard + strlen(f->heard), sizeof(f->heard) - strlen(f->heard), __VA_ARGS__)

static void hear_mapped(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	struct fixture *f = context;

	/* It is in the layout by then. */
	assert_non_null(spaces_layout(f->s, pid));
	HEAR("%u maps %s at %d; ", pid - PID, m->object->definition.path, (int)time_ns);
}

static void hear_forked(void *context, uint32_t parent, uint32_t child)
{
	struct fixture *f = context;

	HEAR("%u forks %u; ", parent - PID, child - PID);
}

static void hear_cleared(void *context, uint32_t pid, uint64_t time_ns, bool by_exec)
{
	struct fixture *f = context;

	HEAR("%u %s; ", pid - PID, by_exec ? "execs" : "is read again");
}

static void hear_ended(void *context, uint32_t pid, uint64_t time_ns)
{
	struct fixture *f = context;

	HEAR("%u ends at %d; ", pid - PID, (int)time_ns);
}

static void hear_forgotten(void *context, const struct object *object)
{
	struct fixture *f = context;

	HEAR("%s goes; ", object->definition.path);
}

static const struct space_listener *listener(struct fixture *f)
{
	static struct space_listener listener;

	listener = (struct space_listener){ .mapped = hear_mapped,
					    .forked = hear_forked,
					    .cleared = hear_cleared,
					    .ended = hear_ended,
					    .forgotten = hear_forgotten,
					    .context = f };
	return &listener;
}

static void listeners_hear_of_each_change(void **state)
{
	struct fixture *f = *state;

	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	assert_null(spaces_listen(f->s, listener(f)));
	map(f->s, PID, 0x1000, 0x2000, 0, "/a"); /* no change */
	fork_process(f->s, PID, PID + 1);
	exec(f->s, PID + 1);
	map(f->s, PID + 1, 0x1000, 0x2000, 0, "/b");
	spaces_end(f->s, PID + 1, 7);
	spaces_forget(f->s, spaces_find(f->s, PID, 0x1000)->object);
	assert_string_equal(f->heard, "0 maps /a at 0; 0 forks 1; 1 execs; 1 maps /b at 1; "
				      "1 ends at 7; /a goes; ");
	assert_true(spaces_knows(f->s, PID + 1));
}

static void another_layout_is_adopted(void **state)
{
	struct fixture *f = *state;
	struct spaces *other = spaces_new(f->objects, false);

	assert_null(spaces_listen(f->s, listener(f)));
	assert_null(spaces_add(other, PID));
	map(other, PID, 0x1000, 0x2000, 0, "/a");
	assert_null(spaces_adopt(f->s, PID, other));
	assert_ptr_equal(spaces_layout(f->s, PID), spaces_layout(other, PID));
	/* From here on they go different ways. */
	map(f->s, PID, 0x5000, 0x6000, 0, "/b");
	assert_string_equal(place(other, PID, 0x5000), "");
	assert_null(spaces_adopt(f->s, PID, other));
	assert_string_equal(place(f->s, PID, 0x5000), "");
	assert_string_equal(f->heard, "0 maps /a at 0; 0 maps /b at 1; 0 is read again; "
				      "0 maps /a at 0; ");
	spaces_free(other);
}

static void reads_what_a_process_maps(void **state)
{
	struct fixture *f = *state;
	uint32_t self = (uint32_t)getpid();
	struct error *error;

	map(f->s, self, 0x1000, 0x2000, 0, "/gone");
	assert_null(spaces_read(f->s, self, 5));
	assert_string_equal(place(f->s, self, 0x1000), "");
	assert_true(strstr(place(f->s, self, (uintptr_t)reads_what_a_process_maps), "test_space"));
	/* What is known of a process that has ended stays. */
	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	error = spaces_read(f->s, PID, 5);
	assert_true(error_is(error, ENOENT));
	error_free(error);
	assert_string_equal(place(f->s, PID, 0x1000), "/a+0");
}

static void map_at(struct spaces *s, uint64_t time_ns, uint32_t pid, const char *path)
{
	apply(s, (struct side_record){ .type = SIDE_RECORD_MAP,
				       .time_ns = time_ns,
				       .pid = pid,
				       .tid = pid,
				       .map = { .start = 0x1000, .size = 0x1000 },
				       .name = path });
}

static void fork_at(struct spaces *s, uint64_t time_ns, uint32_t child)
{
	apply(s, (struct side_record){ .type = SIDE_RECORD_FORK,
				       .time_ns = time_ns,
				       .pid = child,
				       .tid = child,
				       .parent_pid = PID,
				       .parent_tid = PID });
}

/* It was in the ring already; and the process may be another one, with the same number. */
static void what_is_older_than_proc_changes_nothing(void **state)
{
	struct fixture *f = *state;
	const uint64_t here = (uintptr_t)what_is_older_than_proc_changes_nothing;
	uint32_t self = (uint32_t)getpid();
	struct spaces *newest = spaces_new(f->objects, false);
	struct spaces *const both[] = { f->s, newest };

	map_at(f->s, 1, PID, "/parent");
	assert_null(spaces_read(f->s, self, 5));
	assert_null(spaces_adopt(newest, PID, f->s));
	assert_null(spaces_adopt(newest, self, f->s));
	for (size_t i = 0; i < 2; i++) {
		struct spaces *s = both[i];

		map_at(s, 2, self, "/old");
		fork_at(s, 3, self);
		apply(s,
		      (struct side_record){
			      .type = SIDE_RECORD_EXEC, .time_ns = 4, .pid = self, .tid = self });
		assert_true(strstr(place(s, self, here), "test_space"));
		assert_string_equal(place(s, self, 0x1000), "");
		map_at(s, 5, self, "/new");
		assert_true(strstr(place(s, self, here), "test_space"));
		assert_string_equal(place(s, self, 0x1000), "/new+0");
		fork_at(s, 6, self);
		assert_string_equal(place(s, self, 0x1000), "/parent+0");
		/* From then on it is another process. */
		map_at(s, 4, self, "/late");
		assert_string_equal(place(s, self, 0x1000), "/late+0");
	}
	spaces_free(newest);
}

/* What was known may be of one whose end was lost, and the fork of the next one is to come. */
static void a_second_look_at_proc_is_no_first(void **state)
{
	struct fixture *f = *state;
	uint32_t self = (uint32_t)getpid();

	map_at(f->s, 1, PID, "/parent");
	map_at(f->s, 2, self, "/before");
	assert_null(spaces_read(f->s, self, 5));
	assert_string_equal(place(f->s, self, 0x1000), "");
	fork_at(f->s, 4, self);
	assert_string_equal(place(f->s, self, 0x1000), "/parent+0");
}

/* Against a plain array of pages. */
static void agrees_with_a_simple_model(void **state)
{
	struct fixture *f = *state;
	char model[64][32] = { "" };

	srandom(3);
	for (int round = 0; round < 500; round++) {
		uint64_t from = (uint64_t)random() % 64, n = 1 + (uint64_t)random() % (64 - from);
		const char *path = random() % 2 ? "/a" : "/b";
		uint64_t offset = (uint64_t)(random() % 16) << 12;

		map(f->s, PID, from << 12, (from + n) << 12, offset, path);
		for (uint64_t i = 0; i < n; i++)
			snprintf(model[from + i], sizeof(model[0]), "%s+%llx", path,
				 (unsigned long long)(offset + (i << 12)));
		for (uint64_t i = 0; i < 64; i++)
			assert_string_equal(place(f->s, PID, i << 12), model[i]);
	}
}

/* -------- those of one user, who is nobody: their processes have ended -------- */

#define LIMIT (1u << 20)

/* The first eighth is nobody's, and of the rest he gets half. */
static void assert_shared(const struct fixture *f)
{
	assert_true(objects_shares(f->objects)->taken < LIMIT / 8 + LIMIT / 2);
	assert_true(objects_shares(f->objects)->taken > LIMIT / 4);
}

static void map_pages(struct fixture *f, uint32_t pid, uint64_t n, const char *path)
{
	for (uint64_t i = n; i-- > 0;)
		map(f->s, pid, 0x10000 + (i << 13), 0x11000 + (i << 13), 0, path);
}

static void who_maps_too_much_forgets_all_of_it(void **state)
{
	struct fixture *f = *state;
	const uint32_t own = (uint32_t)getpid();
	uint64_t forgotten;

	objects_shares(f->objects)->limit = LIMIT;
	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	fork_process(f->s, PID, PID + 1);
	map_pages(f, PID, 10000, "/b");
	assert_int_equal(spaces_crowded_out(f->s), 0);
	assert_string_equal(place(f->s, PID, 0x1000), "/a+0");
	map_pages(f, PID + 1, 20000, "/b");
	assert_shared(f);
	forgotten = spaces_crowded_out(f->s);
	assert_int_equal(forgotten + spaces_layout(f->s, PID + 1)->mappings.n, 20001);
	assert_string_equal(place(f->s, PID + 1, 0x1000), "");
	assert_string_equal(place(f->s, PID + 1, 0x10000), "/b+0");
	/* Others have room. */
	map_pages(f, own, 5000, "/c");
	assert_int_equal(spaces_layout(f->s, own)->mappings.n, 5000);
	assert_int_equal(spaces_crowded_out(f->s), forgotten);
}

static void children_are_of_the_same_share(void **state)
{
	struct fixture *f = *state;

	objects_shares(f->objects)->limit = LIMIT;
	map_pages(f, PID, 5000, "/a");
	for (uint32_t child = PID + 1; child < PID + 200; child++) {
		fork_process(f->s, PID, child);
		for (uint64_t i = 0; i < 5000; i += 50)
			map(f->s, child, 0x10000 + (i << 13), 0x11000 + (i << 13), 0, "/b");
		/* Not what its parent has there. */
		for (uint64_t i = 0; i < 5000; i += 50)
			assert_string_not_equal(place(f->s, child, 0x10000 + (i << 13)), "/a+0");
	}
	assert_shared(f);
	assert_true(spaces_crowded_out(f->s) > 0);
	for (uint32_t child = PID; child < PID + 200; child++)
		spaces_remove(f->s, child);
	assert_true(objects_shares(f->objects)->taken < 1000);
}

static bool agree(struct object *object, void *context)
{
	return true;
}

/* What is there instead has no name, either. */
static void too_many_names(void **state)
{
	struct fixture *f = *state;
	char name[512];

	objects_shares(f->objects)->limit = LIMIT;
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "/%04d/%0400d", i, 0);
		map(f->s, PID, 0x1000, 0x2000, 0, name);
		if (*place(f->s, PID, 0x1000))
			assert_memory_equal(place(f->s, PID, 0x1000), name, 6);
	}
	assert_string_equal(place(f->s, PID, 0x1000), "");
	assert_true(spaces_crowded_out(f->s) > 0);
	assert_shared(f);
	map(f->s, (uint32_t)getpid(), 0x1000, 0x2000, 0, "/of/another");
	assert_string_equal(place(f->s, (uint32_t)getpid(), 0x1000), "/of/another+0");
	for (int look = 0; look < 3; look++)
		objects_forget(f->objects, agree, NULL);
	map(f->s, PID, 0x1000, 0x2000, 0, "/a");
	assert_string_equal(place(f->s, PID, 0x1000), "/a+0");
	assert_true(objects_shares(f->objects)->taken < 3000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	TEST(finds_what_is_mapped),
	TEST(later_mappings_replace_what_they_cover),
	TEST(children_have_their_parents_layout),
	TEST(exec_leaves_nothing),
	TEST(an_id_stands_for_one_state),
	TEST(more_made_code_keeps_the_id),
	TEST(what_is_held_does_not_change),
	TEST(strangers_are_not_followed),
	TEST(listeners_hear_of_each_change),
	TEST(another_layout_is_adopted),
	TEST(reads_what_a_process_maps),
	TEST(what_is_older_than_proc_changes_nothing),
	TEST(a_second_look_at_proc_is_no_first),
	TEST(agrees_with_a_simple_model),
	TEST(who_maps_too_much_forgets_all_of_it),
	TEST(children_are_of_the_same_share),
	TEST(too_many_names),
};

UNIT_TESTS(tests);
