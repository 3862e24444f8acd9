/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/java.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/opener.h"

#define PID 100000000u /* above any number that the kernel gives */
#define MS UINT64_C(1000000)
#define MOST_MS 1000

static char refused[256];

static void refuse(const char *text, void *context)
{
	snprintf(refused, sizeof(refused), "%s", text);
}

static void ignore(const char *text)
{
}

/* The process that opens files, which is stopped: no file answers. */
static pid_t silence(void)
{
	char name[96];
	int pid = 0, status;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)syscall(SYS_gettid));
	f = fopen(name, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	return pid;
}

/* Asks when that is due, from `from` to `to`. How often, in steps of 1 ms. */
static unsigned int asked(struct java *j, uint64_t from, uint64_t to)
{
	unsigned int n = 0;

	for (uint64_t now = from; now < to; n++) {
		java_tick(j, now);
		now += (uint64_t)java_wait_ms(j, MOST_MS) * MS;
	}
	return n;
}

/* It is asked less and less often, and not forever. */
static void a_file_that_does_not_answer_is_given_up(void **state)
{
	const struct side_record mapped = {
		.type = SIDE_RECORD_MAP,
		.pid = PID,
		.tid = PID,
		.map = { .start = 0x10000, .size = 4096, .inode = 1 },
		.name = "/tmp/prof-silent/libjvm.so",
	};
	struct objects *objects = objects_new();
	struct spaces *spaces = spaces_new(objects, true);
	struct java *j = java_new(&(struct java_options){ .scripts_fd = -1, .refused = refuse });
	pid_t opener;

	assert_null(opener_start(ignore));
	opener = silence();
	assert_null(java_follow(j, spaces));
	assert_null(spaces_apply(spaces, &mapped));
	assert_true(asked(j, 1, 1000 * MS) < 200);
	assert_true(java_wait_ms(j, MOST_MS) > 20);
	assert_true(asked(j, 1000 * MS, 9000 * MS) < 200);
	assert_string_equal(refused, "");
	asked(j, 9000 * MS, 11000 * MS);
	assert_non_null(strstr(refused, "libjvm.so: the file does not answer"));
	java_free(j);
	kill(opener, SIGCONT);
	opener_stop();
	spaces_free(spaces);
	objects_free(objects);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_file_that_does_not_answer_is_given_up),
};

UNIT_TESTS(tests);
