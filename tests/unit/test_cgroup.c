/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/cgroup.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static char mount[1024];

static void need_cgroup2(void)
{
	if (cgroup_mount_point(mount, sizeof(mount)))
		skip();
}

static void root_of_the_hierarchy(void **state)
{
	struct cgroup by_name, by_path;

	need_cgroup2();
	assert_no_error(cgroup_find(&by_name, "/"));
	assert_string_equal(by_name.path, "/");
	assert_no_error(cgroup_find(&by_name, ""));
	assert_no_error(cgroup_find(&by_path, mount));
	assert_string_equal(by_name.path, "/");
	assert_string_equal(by_path.path, "/");
	assert_true(by_name.id == by_path.id && by_name.id);
}

static void nested(void **state)
{
	char outer[1100], inner[1200], name[64];
	struct cgroup group;
	struct error *error;

	need_cgroup2();
	snprintf(name, sizeof(name), "prof-test-%d", (int)getpid());
	snprintf(outer, sizeof(outer), "%s/%s", mount, name);
	snprintf(inner, sizeof(inner), "%s/in", outer);
	if (mkdir(outer, 0755))
		skip();
	assert_int_equal(mkdir(inner, 0755), 0);
	assert_no_error(cgroup_find(&group, inner));
	assert_string_equal(group.folder, inner);
	assert_no_error(cgroup_find(&group, name));
	assert_int_equal(rmdir(inner), 0);
	assert_int_equal(rmdir(outer), 0);
	error = cgroup_find(&group, name);
	assert_true(error_is(error, ENOENT));
	assert_non_null(strstr(error->text, name));
	error_free(error);
}

static void not_a_group(void **state)
{
	struct cgroup group;

	need_cgroup2();
	assert_error(cgroup_find(&group, "/tmp"), ERROR_ARGUMENT,
		     "\'/tmp\' is not a cgroup v2 folder");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(root_of_the_hierarchy),
	cmocka_unit_test(nested),
	cmocka_unit_test(not_a_group),
};

UNIT_TESTS(tests);
