/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_owner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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

void process_owner_release(struct process_owner *o)
{
	if (o->pid)
		close(o->status);
	*o = (struct process_owner){ .user = PATIENCE_NOBODY };
}

static bool open_status(struct process_owner *o, uint32_t pid)
{
	char path[64];

	process_owner_release(o);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	o->status = open(path, O_RDONLY | O_CLOEXEC);
	if (o->status >= 0)
		o->pid = pid;
	return o->pid;
}

/*
 * The first lines of its text, each one whole. A process with hundreds of groups, which it can
 * choose, may lack the line of its numbers, and so counts as one of a container.
 */
static bool read_status(const struct process_owner *o, char *text, size_t size)
{
	ssize_t n = pread(o->status, text, size - 1, 0);
	char *end;

	text[n < 0 ? 0 : n] = 0;
	end = strrchr(text, '\n');
	if (end)
		end[1] = 0;
	return end;
}

bool process_owner_read(struct process_owner *o, uint32_t pid)
{
	const uid_t self = geteuid();
	uint32_t uid = 0;
	char status[4096] = "";
	bool contained;

	/* That number may be another process's by now. */
	if ((!o->pid || o->pid != pid || !read_status(o, status, sizeof(status))) &&
	    open_status(o, pid))
		read_status(o, status, sizeof(status));
	if (!proc_status_number(status, "Uid:", 0, &uid)) {
		process_owner_release(o);
		return false;
	}
	contained = !own_depth() || count_pids(status) != own_depth();
	o->user = patience_user(uid, contained);
	o->own = !contained;
	for (int i = 0; i < 4; i++)
		o->own &= proc_status_number(status, "Uid:", i, &uid) && uid == self;
	return true;
}

uint32_t process_owner_user(uint32_t pid)
{
	struct process_owner owner = { .user = PATIENCE_NOBODY };
	uint32_t user;

	user = process_owner_read(&owner, pid) && owner.own ? 0 : owner.user;
	process_owner_release(&owner);
	return user;
}
