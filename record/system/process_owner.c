/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_owner.h"

#include <unistd.h>

#include "record/system/patience.h"
#include "record/system/proc.h"

/* How many numbers the process has, one for each pid namespace that it is in. */
static int count_pids(const char *status)
{
	uint32_t pid;
	int n = 0;

	while (proc_status_number(status, "NSpid:", n, &pid))
		n++;
	return n;
}

static int own_depth(void)
{
	static int depth;
	struct buffer text = { 0 };

	if (!depth && !proc_read((uint32_t)getpid(), "status", &text))
		depth = count_pids(buffer_string(&text));
	buffer_release(&text);
	return depth;
}

bool process_owner_read(struct process_owner *o, uint32_t pid)
{
	struct buffer text = { 0 };
	const char *status = proc_read(pid, "status", &text) ? "" : buffer_string(&text);
	bool contained = count_pids(status) != own_depth();
	bool known;
	uint32_t uid = 0;

	*o = (struct process_owner){ .user = PATIENCE_NOBODY };
	known = proc_status_number(status, "Uid:", 0, &uid);
	if (known)
		*o = (struct process_owner){ pid, patience_user(uid, contained), !contained };
	for (int i = 0; i < 4; i++)
		o->own &= proc_status_number(status, "Uid:", i, &uid) && uid == geteuid();
	buffer_release(&text);
	return known;
}
