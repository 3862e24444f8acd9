/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/patience.h"

#include <inttypes.h>
#include <stdio.h>

#define MINUTE_NS UINT64_C(60000000000)
#define USER_NS UINT64_C(400000000)
#define ALL_NS UINT64_C(2000000000)
#define SILENT_NS UINT64_C(2000000000)
#define DOUBLINGS_MAX 4
#define FIRST_MS 100
#define NEXT_MS 20 /* once processes of the user were silent twice */
#define WARNINGS_MAX 8
#define CONTAINED UINT32_C(0x80000000)

uint32_t patience_user(uint32_t uid, bool contained)
{
	uint32_t number = contained ? uid ^ CONTAINED : uid;

	/* Root outside is nobody else. */
	return contained && !number ? CONTAINED : number;
}

bool patience_is_contained(uint32_t user)
{
	return user != PATIENCE_NOBODY && user & CONTAINED;
}

void patience_reset(struct patience *p)
{
	p->n = p->warnings = 0;
}

/* Those for whom there is no room share the last one. NULL: this one has none yet. */
static struct patience_entry *find(struct patience *p, uint32_t user)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].user == user)
			return &p->entries[i];
	return p->n == PATIENCE_USERS_MAX ? &p->entries[p->n - 1] : NULL;
}

static struct patience_entry *get(struct patience *p, uint32_t user, uint64_t now_ns)
{
	struct patience_entry *e = find(p, user);

	if (e)
		return e;
	e = &p->entries[p->n++];
	*e = (struct patience_entry){ .user = user, .until_ns = now_ns + MINUTE_NS };
	return e;
}

static bool may_warn(struct patience *p)
{
	return p->warnings < WARNINGS_MAX && ++p->warnings;
}

static const char *end_of_warnings(const struct patience *p)
{
	return p->warnings == WARNINGS_MAX ? "; other such ones are not reported" : "";
}

/* What all users have kept the recorder for. */
static uint64_t forget_old(struct patience *p, uint64_t now_ns)
{
	uint64_t all = 0;
	size_t left = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->entries[i].until_ns <= now_ns)
			continue;
		all += p->entries[i].waited_ns;
		p->entries[left++] = p->entries[i];
	}
	p->n = left;
	return all;
}

int patience_of(struct patience *p, uint32_t user, bool trusted, uint32_t pid, uint64_t now_ns)
{
	uint64_t all = forget_old(p, now_ns);
	const struct patience_entry *e = find(p, user);

	if (e && e->user != user && trusted)
		e = NULL;
	if ((all >= ALL_NS && !trusted) || (e && e->waited_ns >= USER_NS))
		return 0;
	for (size_t i = 0; e && i < PATIENCE_SILENT_MAX; i++)
		if (e->silent[i].pid == pid && e->silent[i].until_ns > now_ns)
			return 0;
	return e && e->silences > 1 ? NEXT_MS : FIRST_MS;
}

bool patience_waited(struct patience *p, uint32_t user, uint64_t ns, uint64_t now_ns, char *text,
		     size_t size)
{
	struct patience_entry *e = get(p, user, now_ns);
	bool before = e->waited_ns >= USER_NS;

	/* One wait, as that of a recorder that was stopped itself, is not to be everybody's. */
	e->waited_ns = ns < USER_NS - e->waited_ns ? e->waited_ns + ns : USER_NS;
	if (before || e->waited_ns < USER_NS || !may_warn(p))
		return false;
	snprintf(text, size,
		 "processes of user %" PRIu32 "%s answer too slowly when their memory is read: "
		 "names are missing for a minute%s",
		 user & ~CONTAINED, user & CONTAINED ? " in a container" : "", end_of_warnings(p));
	return true;
}

bool patience_lose(struct patience *p, uint32_t user, uint32_t pid, uint64_t now_ns, char *text,
		   size_t size)
{
	struct patience_entry *e = get(p, user, now_ns);
	unsigned int doublings = e->silences < DOUBLINGS_MAX ? e->silences : DOUBLINGS_MAX;
	size_t slot = e->silences++ % PATIENCE_SILENT_MAX;

	e->silent[slot].pid = pid;
	e->silent[slot].until_ns = now_ns + (SILENT_NS << doublings);
	if (!may_warn(p))
		return false;
	snprintf(text, size,
		 "process %" PRIu32 " does not answer when its memory is read: names are missing%s",
		 pid, end_of_warnings(p));
	return true;
}
