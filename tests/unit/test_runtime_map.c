/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/runtime_map.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define FD 3
#define PARENT 7
#define CHILD 8

/* -------- the kernel half's map, with two entries: in place of libbpf's -------- */

static struct script_process entries[2]; /* of PARENT and CHILD; SCRIPT_NONE: not there */
static int asked;

static struct script_process *entry(const void *pid)
{
	asked++;
	return &entries[*(const uint32_t *)pid - PARENT];
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct script_process *found = entry(key);

	memcpy(value, found, sizeof(*found));
	return found->runtime ? 0 : -ENOENT;
}

static int update_error; /* 0: there is room */

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (update_error)
		return update_error;
	memcpy(entry(key), value, sizeof(*entries));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	*entry(key) = (struct script_process){ 0 };
	return 0;
}

static char refused[512];

static void refuse(const char *text, void *context)
{
	strcat(refused, text);
}

static int setup(void **state)
{
	memset(entries, 0, sizeof(entries));
	update_error = 0;
	refused[0] = '\0';
	asked = 0;
	return 0;
}

static const struct script_process hotspot = { .runtime = SCRIPT_HOTSPOT };

/* The kernel half copies the parent's entry for a child, of which nobody else knows. */
static void a_childs_entry_is_found(void **state)
{
	struct runtime_map m = { .fd = FD, .refused = refuse };

	runtime_map_put(&m, PARENT, &hotspot);
	entries[CHILD - PARENT] = entries[0];
	assert_int_equal(runtime_map_runtime(&m, CHILD), SCRIPT_HOTSPOT);
	runtime_map_remove(&m, CHILD);
	assert_int_equal(runtime_map_runtime(&m, CHILD), SCRIPT_NONE);
	assert_int_equal(runtime_map_runtime(&m, PARENT), SCRIPT_HOTSPOT);
	assert_string_equal(refused, "");
}

/* Most recordings have none, but processes that end. */
static void without_processes_nothing_is_asked(void **state)
{
	struct runtime_map m = { .fd = FD }, none = { .fd = -1 };

	assert_int_equal(runtime_map_runtime(&m, CHILD), SCRIPT_NONE);
	runtime_map_remove(&m, CHILD);
	runtime_map_put(&none, PARENT, &hotspot);
	assert_int_equal(runtime_map_runtime(&none, PARENT), SCRIPT_NONE);
	assert_int_equal(asked, 0);
}

static void the_first_without_room_is_reported(void **state)
{
	struct runtime_map m = { .fd = FD, .refused = refuse };

	runtime_map_put(&m, PARENT, &hotspot);
	update_error = -E2BIG;
	runtime_map_put(&m, CHILD, &hotspot);
	assert_string_equal(refused,
			    "process 8: functions that its runtime runs are not seen: 4096 "
			    "processes with one are the most; others may follow");
	runtime_map_put(&m, PARENT, &hotspot);
	assert_null(strstr(refused, "process 7"));
}

/* The map allocates: there may be room, but no memory. */
static void no_memory_is_not_no_room(void **state)
{
	struct runtime_map m = { .fd = FD, .refused = refuse };

	update_error = -ENOMEM;
	runtime_map_put(&m, CHILD, &hotspot);
	assert_non_null(strstr(refused, strerror(ENOMEM)));
	assert_null(strstr(refused, "4096"));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(a_childs_entry_is_found, setup),
	cmocka_unit_test_setup(without_processes_nothing_is_asked, setup),
	cmocka_unit_test_setup(the_first_without_room_is_reported, setup),
	cmocka_unit_test_setup(no_memory_is_not_no_room, setup),
};

UNIT_TESTS(tests);
