/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/opener.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spaces/space.h"
#include "record/symbols/jit.h"
#include "record/system/opener_process.h"
#include "record/unwind/code_files.h"
#include "tests/unit/error_check.h"

/* Above any number that the kernel gives, so that /proc knows nothing of them. */
#define PID 100000000u
#define OTHER 200000000u
#define PAGE UINT64_C(4096)
#define DUMP "/tmp/jit-1.dump"

/* -------- the opener -------- */

static int answer;	  /* to all questions, if not 0: -errno */
static uint64_t answered; /* so often later than asked */
static unsigned int asked, asked_for_dump;
static off_t copy_size; /* files are copies of so many bytes, and claim to be empty; 0: no copies */

static int open_copy(struct open_file *file)
{
	file->fd = memfd_create("copy", MFD_CLOEXEC);
	file->copied = true;
	assert_true(file->fd >= 0);
	return ftruncate(file->fd, copy_size) ? -errno : 0;
}

int opener_open(const struct opening *what, struct open_file *file)
{
	struct opener_request request = {
		.kind = what->kind,
		.pid = what->pid,
		.start = what->start,
		.end = what->end,
		.uid = what->uid,
		.folder = -1,
	};
	struct opener_answer a;

	*file = (struct open_file){ .fd = -1 };
	asked++;
	asked_for_dump += !strcmp(what->path, DUMP);
	if (answer)
		return answer;
	if (copy_size)
		return open_copy(file);
	snprintf(request.path, sizeof(request.path), "%s", what->path);
	opener_process_answer(&request, &a, &file->fd);
	file->status = a.status;
	return a.error;
}

uint64_t opener_answers(void)
{
	return answered;
}

static int reset(void **state)
{
	answer = -EAGAIN;
	asked = asked_for_dump = 0;
	copy_size = 0;
	return 0;
}

static void files_answer(int how)
{
	answer = how;
	answered++;
}

/* -------- objects -------- */

/* This very program, by its name. */
static struct mapping own_file(struct objects *o, struct stat *st)
{
	char path[4096] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, st), 0);
	return (struct mapping){
		.start = PAGE,
		.end = 2 * PAGE,
		.object = objects_get(o, path, &(struct prf_object){ .inode = st->st_ino }, 0),
	};
}

static void a_sample_comes_before_the_answer(void **state)
{
	struct objects *o = objects_new();
	struct stat st;
	struct mapping m = own_file(o, &st);
	const uint32_t self = (uint32_t)getpid();

	object_examine(self, &m);
	assert_int_equal(m.object->definition.size, 0);
	assert_int_equal(asked, 1);
	/* Not for each sample. */
	object_examine(self, &m);
	assert_int_equal(asked, 1);
	/* Another file's answer. */
	files_answer(-EAGAIN);
	object_examine(self, &m);
	object_examine(self, &m);
	assert_int_equal(asked, 2);
	files_answer(0);
	object_examine(self, &m);
	assert_int_equal(m.object->definition.size, st.st_size);
	assert_int_not_equal(m.object->definition.mtime_ns, 0);
	objects_free(o);
}

static void it_waits_on_after_a_sample(void **state)
{
	struct objects *o = objects_new();
	struct stat st;
	struct mapping m = own_file(o, &st);
	const uint32_t self = (uint32_t)getpid();

	assert_false(object_prepare(self, &m));
	object_examine(self, &m);
	assert_false(object_prepare(self, &m));
	files_answer(0);
	assert_true(object_prepare(self, &m));
	assert_true(m.object->file.fd >= 0);
	object_let_go(m.object);
	assert_int_equal(m.object->definition.size, st.st_size);
	objects_free(o);
}

static void an_error_is_an_answer(void **state)
{
	struct objects *o = objects_new();
	struct stat st;
	struct mapping m = own_file(o, &st);
	const uint32_t self = (uint32_t)getpid();
	unsigned int before;

	object_examine(self, &m);
	files_answer(-EIO);
	object_examine(self, &m);
	before = asked;
	files_answer(-EIO);
	object_examine(self, &m);
	assert_int_equal(asked, before);
	objects_free(o);
}

/* -------- mappings -------- */

static unsigned int heard, heard_of_other;

static void hear(void *context, uint32_t pid, uint64_t time_ns, const struct mapping *m)
{
	heard++;
	heard_of_other += pid == OTHER;
}

static struct spaces *listened_to(struct objects *o)
{
	struct spaces *s = spaces_new(o, true);

	heard = heard_of_other = 0;
	spaces_prepare_files(s);
	assert_no_error(spaces_listen(s, &(struct space_listener){ .mapped = hear }));
	return s;
}

static void map_file(struct spaces *s, uint32_t pid, uint64_t start)
{
	assert_no_error(spaces_apply(s, &(struct side_record){
						.type = SIDE_RECORD_MAP,
						.time_ns = 1,
						.pid = pid,
						.tid = pid,
						.map = { .start = start, .size = PAGE },
						.name = "/silent/file",
					}));
}

static void fork_process(struct spaces *s, uint32_t parent, uint32_t child)
{
	assert_no_error(spaces_apply(s, &(struct side_record){ .type = SIDE_RECORD_FORK,
							       .pid = child,
							       .tid = child,
							       .parent_pid = parent,
							       .parent_tid = parent }));
}

static void processes_do_not_take_each_others_room(void **state)
{
	struct objects *o = objects_new();
	struct spaces *s = listened_to(o);

	for (uint64_t i = 1; i <= 1024; i++)
		map_file(s, PID, 2 * i * PAGE);
	for (uint32_t i = 1; i <= 20; i++)
		fork_process(s, PID, PID + i);
	map_file(s, OTHER, PAGE);
	assert_int_equal(heard, 0);
	assert_int_equal(spaces_left_out(s), 0);
	map_file(s, PID, 4096 * PAGE);
	assert_int_equal(spaces_left_out(s), 1);
	files_answer(-EIO);
	spaces_look_at_files(s);
	assert_int_equal(heard_of_other, 1);
	assert_int_equal(heard, 21 * 1024 + 1);
	spaces_free(s);
	objects_free(o);
}

static void what_is_gone_is_not_waited_for(void **state)
{
	struct objects *o = objects_new();
	struct spaces *s = listened_to(o);

	map_file(s, PID, PAGE);
	spaces_remove(s, PID);
	map_file(s, OTHER, PAGE);
	assert_no_error(spaces_apply(
		s, &(struct side_record){ .type = SIDE_RECORD_EXEC, .pid = OTHER, .tid = OTHER }));
	files_answer(-EIO);
	spaces_look_at_files(s);
	assert_int_equal(heard, 0);
	/* A process of the same number begins anew. */
	answer = -EAGAIN;
	map_file(s, PID, PAGE);
	files_answer(-EIO);
	spaces_look_at_files(s);
	assert_int_equal(heard, 1);
	spaces_free(s);
	objects_free(o);
}

/* -------- dumps -------- */

static void a_late_dump_is_asked_for_until_it_answers(void **state)
{
	const struct prf_writer_options none = { .fd = -1 };
	struct jit_options options = { 0 };
	struct prf_writer *writer;
	struct jit *jit;

	assert_no_error(prf_writer_new(&writer, &none));
	options.writer = writer;
	assert_no_error(jit_new(&jit, &options));
	jit_dump(jit, PID, DUMP);
	assert_no_error(jit_tick(jit, 1));
	assert_int_equal(asked_for_dump, 2);
	files_answer(-EIO);
	assert_no_error(jit_tick(jit, 2));
	assert_no_error(jit_tick(jit, 3));
	assert_no_error(jit_tick(jit, 4));
	assert_int_equal(asked_for_dump, 3);
	jit_free(jit);
	prf_writer_free(writer);
}

/* -------- files with tables -------- */

static void copies_count_by_what_they_hold(void **state)
{
	struct code_files files;
	struct code_file *file;

	code_files_init(&files);
	answer = 0;
	copy_size = 1 << 20;
	file = code_files_get_path(&files, "/claims/nothing");
	assert_non_null(file);
	assert_int_equal(files.copied_bytes, 1 << 20);
	code_files_close(&files, file);
	assert_int_equal(files.copied_bytes, 0);
	code_files_release(&files);
}

static void a_file_that_is_back_is_kept_open(void **state)
{
	struct code_files files;
	struct code_file *file;

	code_files_init(&files);
	answer = 0;
	file = code_files_get_path(&files, "/proc/self/exe");
	assert_non_null(file);
	file->state = CODE_FILE_REFUSED;
	code_files_close(&files, file);
	assert_ptr_equal(code_files_get_path(&files, "/proc/self/exe"), file);
	assert_true(file->kept >= 0);
	code_files_release(&files);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(a_sample_comes_before_the_answer, reset),
	cmocka_unit_test_setup(it_waits_on_after_a_sample, reset),
	cmocka_unit_test_setup(an_error_is_an_answer, reset),
	cmocka_unit_test_setup(processes_do_not_take_each_others_room, reset),
	cmocka_unit_test_setup(what_is_gone_is_not_waited_for, reset),
	cmocka_unit_test_setup(a_late_dump_is_asked_for_until_it_answers, reset),
	cmocka_unit_test_setup(copies_count_by_what_they_hold, reset),
	cmocka_unit_test_setup(a_file_that_is_back_is_kept_open, reset),
};

UNIT_TESTS(tests);
