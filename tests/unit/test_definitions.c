/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "format/definitions.h"
#include "format/fields.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

typedef struct error *decoder(struct tables *t, struct cursor *c);

/* Decodes a payload of one record with this first id; the tables then. */
static struct error *decode(decoder *decode_payload, uint64_t first_id, const struct buffer *record,
			    struct tables *t)
{
	struct buffer payload = { 0 };
	struct error *error;
	struct cursor c;

	tables_init(t);
	t->lost_allowed = 100;
	buffer_uleb(&payload, first_id);
	record_encode(&payload, record);
	c = cursor_over(payload.data, payload.size);
	error = decode_payload(t, &c);
	buffer_release(&payload);
	return error;
}

/* The record is refused with this text, and nothing of it is in the tables. */
static void refused(decoder *decode_payload, const struct buffer *record, const char *text)
{
	struct tables t;

	assert_error(decode(decode_payload, 0, record, &t), ERROR_CORRUPT, text);
	assert_int_equal(t.event_count + t.object_count + t.task_count, 0);
	tables_release(&t);
}

/* Every beginning of the record is too short; with more bytes than this version knows it is good.
 */
static void check_ends(decoder *decode_payload, struct buffer *record, const char *too_short)
{
	size_t size = record->size;
	struct tables t;

	for (record->size = 0; record->size < size; record->size++)
		refused(decode_payload, record, too_short);
	buffer_text(record, "a field of a later version");
	assert_no_error(decode(decode_payload, 0, record, &t));
	tables_release(&t);
	record->size = size;
}

static void test_events(void **state)
{
	const struct prf_event event = { PRF_EVENT_OFF_CPU, "off-cpu", "ns", 1, 300 };
	struct buffer record = { 0 };
	struct tables t;

	event_encode(&record, &event);
	assert_no_error(decode(events_decode, 0, &record, &t));
	assert_int_equal(t.event_count, 1);
	assert_int_equal(t.events[0]->kind, PRF_EVENT_OFF_CPU);
	assert_string_equal(t.events[0]->name, "off-cpu");
	assert_string_equal(t.events[0]->unit, "ns");
	assert_int_equal(t.events[0]->frequency, 1);
	assert_int_equal(t.events[0]->period, 300);
	tables_release(&t);
	check_ends(events_decode, &record, "event 0: its record does not hold all fields");
	/* A kind of a later version. */
	record.data[0] = 77;
	assert_no_error(decode(events_decode, 0, &record, &t));
	assert_int_equal(t.events[0]->kind, PRF_EVENT_COUNT);
	tables_release(&t);
	buffer_release(&record);
}

static void test_objects(void **state)
{
	const struct prf_object object = { .kind = PRF_OBJECT_MODULE,
					   .path = "[x]",
					   .root = "/r",
					   .build_id = { 1, 2, 3 },
					   .build_id_size = 3,
					   .deleted = true,
					   .base = 400,
					   .device = 5,
					   .inode = 6,
					   .size = 7,
					   .mtime_ns = 8 };
	struct buffer record = { 0 };
	struct tables t;

	object_encode(&record, &object);
	assert_no_error(decode(objects_decode, 0, &record, &t));
	assert_int_equal(t.objects[0]->kind, PRF_OBJECT_MODULE);
	assert_string_equal(t.objects[0]->root, "/r");
	assert_memory_equal(t.objects[0]->build_id, object.build_id, PRF_BUILD_ID_MAX);
	assert_int_equal(t.objects[0]->base, 400);
	assert_int_equal(t.objects[0]->mtime_ns, 8);
	tables_release(&t);
	check_ends(objects_decode, &record, "object 0: its record does not hold all fields");
	/* Kind, flags and two texts precede the size of the build-id. */
	record.data[1 + 1 + 4 + 3] = PRF_BUILD_ID_MAX + 1;
	refused(objects_decode, &record, "object 0: its build-id has 21 bytes");
	buffer_release(&record);
}

static void test_tasks(void **state)
{
	const struct prf_task task = { 1, 2, 3, 4, 5, 6, "comm", "/cgroup", "a b" };
	struct buffer record = { 0 };
	struct tables t;

	task_encode(&record, &task);
	assert_no_error(decode(tasks_decode, 0, &record, &t));
	assert_int_equal(t.tasks[0]->inner_tid, 4);
	assert_int_equal(t.tasks[0]->start_ns, 6);
	assert_string_equal(t.tasks[0]->command_line, "a b");
	tables_release(&t);
	check_ends(tasks_decode, &record, "task 0: its record does not hold all fields");
	buffer_clear(&record);
	buffer_uleb(&record, (uint64_t)UINT32_MAX + 1);
	buffer_append(&record, "\2\3\4\5\6a\0b\0c\0", 11);
	refused(tasks_decode, &record, "task 0: its record does not hold all fields");
	buffer_release(&record);
}

/* Definitions before the first one of the block are lost; ids that were given are not given again.
 */
static void test_first_ids(void **state)
{
	struct buffer record = { 0 }, payload = { 0 };
	struct cursor c;
	struct tables t;

	task_encode(&record, &(struct prf_task){ .pid = 9 });
	assert_no_error(decode(tasks_decode, 100, &record, &t));
	assert_int_equal(t.task_count, 101);
	assert_string_equal(t.tasks[99]->comm, "[lost]");
	assert_int_equal(t.tasks[100]->pid, 9);
	buffer_uleb(&payload, 100);
	c = cursor_over(payload.data, payload.size);
	assert_error(tasks_decode(&t, &c), ERROR_CORRUPT,
		     "tasks begin with id 100, but 101 are defined");
	tables_release(&t);
	assert_error(decode(tasks_decode, 101, &record, &t), ERROR_CORRUPT,
		     "101 tasks are missing, more than so short a trace could have");
	tables_release(&t);
	assert_error(decode(events_decode, WIRE_EVENTS_MAX + 1, &record, &t), ERROR_CORRUPT,
		     "4097 events are said to be defined, but the limit is 4096");
	tables_release(&t);
	c = cursor_over(NULL, 0);
	assert_error(objects_decode(&t, &c), ERROR_CORRUPT,
		     "the id of the first object is missing");
	buffer_release(&payload);
	buffer_release(&record);
}

/* Appends the record of an event. */
static void append_event(struct buffer *payload)
{
	struct buffer record = { 0 };

	event_encode(&record, &(struct prf_event){ .name = "a", .unit = "b" });
	record_encode(payload, &record);
	buffer_release(&record);
}

/* A block that is broken at its second record leaves no first one either. */
static void test_all_or_nothing(void **state)
{
	struct buffer payload = { 0 };
	struct cursor c;
	struct tables t;

	tables_init(&t);
	buffer_uleb(&payload, 0);
	append_event(&payload);
	buffer_uleb(&payload, 200);
	c = cursor_over(payload.data, payload.size);
	assert_error(events_decode(&t, &c), ERROR_CORRUPT,
		     "event 1: its record is longer than the block");
	assert_int_equal(t.event_count, 0);
	tables_release(&t);
	buffer_release(&payload);
}

static void test_limit(void **state)
{
	struct buffer payload = { 0 };
	size_t allowed = 0;
	struct cursor c;
	struct tables t;

	tables_init(&t);
	buffer_uleb(&payload, 0);
	for (uint32_t i = 0; i <= WIRE_EVENTS_MAX; i++) {
		allowed = payload.size;
		append_event(&payload);
	}
	c = cursor_over(payload.data, allowed);
	assert_no_error(events_decode(&t, &c));
	assert_int_equal(t.event_count, WIRE_EVENTS_MAX);
	tables_release(&t);
	tables_init(&t);
	c = cursor_over(payload.data, payload.size);
	assert_error(events_decode(&t, &c), ERROR_CORRUPT, "there are more than 4096 events");
	assert_int_equal(t.event_count, 0);
	tables_release(&t);
	buffer_release(&payload);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_events),	       cmocka_unit_test(test_objects),
	cmocka_unit_test(test_tasks),	       cmocka_unit_test(test_first_ids),
	cmocka_unit_test(test_all_or_nothing), cmocka_unit_test(test_limit),
};

UNIT_TESTS(tests);
