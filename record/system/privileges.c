/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/privileges.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Older header files do not know these two. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

static bool is_set(cap_t caps, cap_value_t cap, cap_flag_t flag)
{
	cap_flag_value_t value;

	return !cap_get_flag(caps, cap, flag, &value) && value == CAP_SET;
}

int privileges_paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (f && fscanf(f, "%d", &level) != 1)
		level = -1;
	if (f)
		fclose(f);
	return level;
}

bool privileges_suffice(char *missing, size_t size)
{
	static const struct {
		cap_value_t cap;
		const char *name;
	} needed[] = { { CAP_BPF, "cap_bpf" }, { CAP_PERFMON, "cap_perfmon" } };
	cap_t caps = cap_get_proc();
	size_t used = 0;

	*missing = 0;
	if (!caps)
		return true; /* cannot be read: the kernel will refuse what is missing */
	/* CAP_SYS_ADMIN included both before Linux 5.8, and the kernel still accepts it. */
	if (!is_set(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE))
		for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
			if (!is_set(caps, needed[i].cap, CAP_EFFECTIVE) && used < size)
				used += (size_t)snprintf(missing + used, size - used, "%s%s",
							 used ? "," : "", needed[i].name);
	cap_free(caps);
	return !used;
}

bool privileges_can_trace(void)
{
	cap_t caps = cap_get_proc();
	bool can = caps && is_set(caps, CAP_SYS_PTRACE, CAP_EFFECTIVE);

	if (caps)
		cap_free(caps);
	return can;
}

/*
 * cap_bpf and cap_perfmon were part of cap_sys_admin, which stands in for one that was not granted.
 */
static cap_value_t granted(cap_t caps, cap_value_t cap)
{
	bool split = cap == CAP_BPF || cap == CAP_PERFMON;

	return split && !is_set(caps, cap, CAP_PERMITTED) ? CAP_SYS_ADMIN : cap;
}

/* Keeps `kept` as far as this thread has them; clears all others from every set of its own. 0 or an
 * errno. */
static int keep_only(const cap_value_t *kept, size_t n)
{
	cap_t old = cap_get_proc(), caps = cap_init();
	int error = 0;

	if (!old || !caps) {
		error = errno;
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		cap_value_t cap = granted(old, kept[i]);

		if (!is_set(old, cap, CAP_PERMITTED))
			continue;
		cap_set_flag(caps, CAP_PERMITTED, 1, &cap, CAP_SET);
		if (is_set(old, cap, CAP_EFFECTIVE))
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	}
	cap_reset_ambient();
	if (cap_set_proc(caps))
		error = errno;
out:
	cap_free(old);
	cap_free(caps);
	return error;
}

struct error *privileges_drop(bool creates_files)
{
	/*
	 * cap_bpf: unwind tables are new maps. cap_perfmon: programs that are loaded later read the
	 * kernel. The others open what other users' processes have mapped.
	 */
	static const cap_value_t kept[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE,
					    CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE, CAP_SYSLOG,
					    CAP_KILL,
					    /*
					     * the last three: to create and remove files in a
					     * user's folder
					     */
					    CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER };
	size_t n = sizeof(kept) / sizeof(*kept);
	int status;

	status = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
			 ? errno
			 : keep_only(kept, creates_files ? n : n - 3);
	return status ? error_system(status, "cannot give up privileges") : NULL;
}

void privileges_drop_in_thread(enum privileges_use use)
{
	static const struct {
		size_t n;
		cap_value_t caps[3];
	} kept[] = {
		[PRIVILEGES_FOR_NOTHING] = { 0 },
		[PRIVILEGES_FOR_TABLES] = { 1, { CAP_BPF } },
		[PRIVILEGES_FOR_PROGRAMS] = { 2, { CAP_BPF, CAP_PERFMON } },
		[PRIVILEGES_FOR_FILES] = { 1, { CAP_DAC_READ_SEARCH } },
		[PRIVILEGES_FOR_OPENING] = { 3,
					     { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
					       CAP_CHECKPOINT_RESTORE } },
		[PRIVILEGES_FOR_READING] = { 1, { CAP_SYS_PTRACE } },
	};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	keep_only(kept[use].caps, kept[use].n);
}

bool privileges_drop_for_command(void)
{
	return !geteuid() || !keep_only(NULL, 0);
}
