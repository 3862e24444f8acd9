/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/annotate/source_file.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int begin(void **state)
{
	strcpy(folder, "/tmp/prof-source.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void put(const char *name, const char *text, size_t size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

static void expect_line(const struct source_file *f, uint32_t line, const char *expected)
{
	size_t size;
	const char *text = source_file_line(f, line, &size);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(text, expected, size);
}

static void test_lines(void **state)
{
	const struct source_search search = { .directory = folder };
	struct source_file f;

	put("a.c", "one\n\nthree\r\nfour", 17);
	assert_no_error(source_file_read(&f, &search, "/somewhere/a.c"));
	assert_int_equal(f.line_count, 4);
	expect_line(&f, 0, "");
	expect_line(&f, 1, "one");
	expect_line(&f, 2, "");
	expect_line(&f, 3, "three");
	expect_line(&f, 4, "four");
	expect_line(&f, 5, "");
	expect_line(&f, UINT32_MAX, "");
	source_file_release(&f);
	put("b.c", "", 0);
	assert_no_error(source_file_read(&f, &search, "b.c"));
	assert_int_equal(f.line_count, 0);
	expect_line(&f, 1, "");
	source_file_release(&f);
	put("c.c", "\0\n", 2);
	assert_no_error(source_file_read(&f, &search, "c.c"));
	assert_int_equal(f.line_count, 1);
	source_file_release(&f);
}

static void read_from(const struct source_search *search, const char *path, const char *expected)
{
	struct source_file f;

	assert_no_error(source_file_read(&f, search, path));
	expect_line(&f, 1, expected);
	source_file_release(&f);
}

static void test_where(void **state)
{
	const struct source_search nowhere = { 0 }, below = { .directory = folder },
				   root = { .sysroot = folder };
	char path[256];
	struct source_file f;

	snprintf(path, sizeof(path), "%s/src", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/src/lib", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	put("x.c", "plain", 5);
	put("src/lib/x.c", "deep", 4);
	/* As much of the path as there is. */
	read_from(&below, "/build/src/lib/x.c", "deep");
	read_from(&below, "/build/src/x.c", "plain");
	read_from(&root, "/src/lib/x.c", "deep");
	snprintf(path, sizeof(path), "%s/x.c", folder);
	read_from(&nowhere, path, "plain");
	read_from(&root, path, "plain");
	/* A relative path is relative to where it was compiled, which is not here. */
	assert_int_equal(chdir(folder), 0);
	assert_error_kind(source_file_read(&f, &nowhere, "x.c"), ERROR_SYSTEM);
	assert_error_kind(source_file_read(&f, &below, "/src/none.c"), ERROR_SYSTEM);
	assert_int_equal(chdir("/"), 0);
}

static void link_to(const char *name, const char *target)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(target, path), 0);
}

/* Links of a root lead within it, whatever they name. */
static void test_root(void **state)
{
	const struct source_search root = { .sysroot = folder };
	struct source_file f;

	put("in-root.c", "inside", 6);
	link_to("absolute.c", "/in-root.c");
	link_to("up.c", "../../../../../../in-root.c");
	link_to("out.c", folder);
	read_from(&root, "/absolute.c", "inside");
	read_from(&root, "/up.c", "inside");
	assert_error_kind(source_file_read(&f, &root, "/out.c"), ERROR_SYSTEM);
}

/* A path with ".." is that without. */
static void test_dots(void **state)
{
	const struct source_search below = { .directory = folder }, root = { .sysroot = folder };
	struct source_search deep;
	struct source_file f;
	char path[256];

	put("dots.c", "plain", 5);
	put("passwords", "secret", 6);
	snprintf(path, sizeof(path), "%s/dots", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/include", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	/* As Meson compiles them; the folder of the build need not be here. */
	read_from(&root, "/build/../dots.c", "plain");
	read_from(&below, "../dots.c", "plain");
	read_from(&below, "build/.././/dots.c", "plain");
	/* Not all that seems to be a header is one. */
	assert_error_kind(source_file_read(&f, &root, "/include/../passwords"), ERROR_UNAVAILABLE);
	assert_error_kind(source_file_read(&f, &below, "x/include/../passwords"),
			  ERROR_UNAVAILABLE);
	assert_error_kind(source_file_read(&f, &root, "/.."), ERROR_UNAVAILABLE);
	/* No path leaves the folder in which it is looked for. */
	snprintf(path, sizeof(path), "%s/dots", folder);
	deep = (struct source_search){ .directory = path };
	assert_error_kind(source_file_read(&f, &deep, "x/../../dots.c"), ERROR_SYSTEM);
}

static void test_refused(void **state)
{
	const struct source_search search = { .directory = folder };
	struct source_file f;
	char path[256];

	put("id_rsa", "secret", 6);
	assert_error_kind(source_file_read(&f, &search, "/home/x/id_rsa"), ERROR_UNAVAILABLE);
	snprintf(path, sizeof(path), "%s/folder.c", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_error_kind(source_file_read(&f, &search, "folder.c"), ERROR_UNAVAILABLE);
	snprintf(path, sizeof(path), "%s/pipe.c", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_error_kind(source_file_read(&f, &search, "pipe.c"), ERROR_UNAVAILABLE);
	put("huge.c", "", 0);
	snprintf(path, sizeof(path), "%s/huge.c", folder);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_error_kind(source_file_read(&f, &search, "huge.c"), ERROR_UNAVAILABLE);
}

static void test_names(void **state)
{
	assert_true(source_file_is_source("/src/a.c"));
	assert_true(source_file_is_source("a.rs"));
	assert_true(source_file_is_source("/usr/include/c++/12/vector"));
	assert_false(source_file_is_source("/etc/shadow"));
	assert_false(source_file_is_source("/home/x/.ssh/id_rsa"));
	assert_false(source_file_is_source("/home/x/.netrc"));
	assert_false(source_file_is_source("/home/x/key.pem"));
	assert_false(source_file_is_source(""));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lines), cmocka_unit_test(test_where),   cmocka_unit_test(test_root),
	cmocka_unit_test(test_dots),  cmocka_unit_test(test_refused), cmocka_unit_test(test_names),
};

UNIT_TESTS(tests, .setup = begin, .teardown = end);
