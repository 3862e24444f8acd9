/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/privileges.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/unit/in_child.h"

static cap_flag_value_t has(cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	cap_get_flag(caps, cap, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value;
}

static int drop(void)
{
	char missing[64];

	if (!has(CAP_BPF) || !has(CAP_SYS_CHROOT))
		return 0;
	if (error_ignore(privileges_drop(false)) || has(CAP_DAC_OVERRIDE) || !has(CAP_BPF) ||
	    has(CAP_SYS_CHROOT) || has(CAP_SYS_ADMIN))
		return 1;
	return !privileges_suffice(missing, sizeof(missing));
}

static int drop_everything(void)
{
	char missing[64];
	cap_t none = cap_init();

	if (cap_set_proc(none) || privileges_suffice(missing, sizeof(missing)))
		return 1;
	cap_free(none);
	return strcmp(missing, "cap_bpf,cap_perfmon") != 0;
}

static int drop_in_thread(void)
{
	privileges_drop_in_thread(PRIVILEGES_FOR_FILES);
	if (!has(CAP_DAC_READ_SEARCH) || has(CAP_BPF) || has(CAP_DAC_OVERRIDE))
		return 1;
	privileges_drop_in_thread(PRIVILEGES_FOR_NOTHING);
	return has(CAP_DAC_READ_SEARCH) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static int drop_in_loader(void)
{
	privileges_drop_in_thread(PRIVILEGES_FOR_PROGRAMS);
	return !has(CAP_BPF) || !has(CAP_PERFMON) || has(CAP_SYS_ADMIN) || has(CAP_SYS_PTRACE) ||
	       has(CAP_DAC_READ_SEARCH);
}

/* Each of the two may be missing: programs are loaded after the others were dropped, too. */
static int drop_without(cap_value_t missing)
{
	cap_t caps = cap_get_proc();

	cap_set_flag(caps, CAP_PERMITTED, 1, &missing, CAP_CLEAR);
	cap_set_flag(caps, CAP_EFFECTIVE, 1, &missing, CAP_CLEAR);
	if (cap_set_proc(caps))
		return 1;
	cap_free(caps);
	if (error_ignore(privileges_drop(false)) || !has(CAP_SYS_ADMIN))
		return 1;
	privileges_drop_in_thread(PRIVILEGES_FOR_PROGRAMS);
	return !has(CAP_SYS_ADMIN) || has(missing) || has(CAP_SYS_PTRACE);
}

static int drop_without_bpf(void)
{
	return drop_without(CAP_BPF);
}

static int drop_without_perfmon(void)
{
	return drop_without(CAP_PERFMON);
}

static void of_old_one_stands_for_both(void **state)
{
	if (!has(CAP_BPF) || !has(CAP_PERFMON) || !has(CAP_SYS_ADMIN))
		skip();
	assert_int_equal(in_child(drop_without_bpf), 0);
	assert_int_equal(in_child(drop_without_perfmon), 0);
}

static void threads_keep_what_they_need(void **state)
{
	if (!has(CAP_BPF) || !has(CAP_PERFMON) || !has(CAP_DAC_READ_SEARCH))
		skip();
	assert_int_equal(in_child(drop_in_thread), 0);
	assert_int_equal(in_child(drop_in_loader), 0);
}

static void keeps_what_recording_needs(void **state)
{
	if (!has(CAP_BPF) || !has(CAP_SYS_CHROOT))
		skip();
	assert_int_equal(in_child(drop), 0);
}

static void names_what_is_missing(void **state)
{
	assert_int_equal(in_child(drop_everything), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(keeps_what_recording_needs),
	cmocka_unit_test(threads_keep_what_they_need),
	cmocka_unit_test(of_old_one_stands_for_both),
	cmocka_unit_test(names_what_is_missing),
};

UNIT_TESTS(tests);
