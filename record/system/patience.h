/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PATIENCE_H
#define RECORD_SYSTEM_PATIENCE_H

/*
 * How long answers of users' processes are waited for. A process that did not answer is not asked
 * again for some seconds, more each time; and once a user's processes have kept the recorder for
 * 0.4 s within a minute, or those of all users for 2 s, they are not asked until that minute is
 * over. So who has many users can keep others' processes from being asked, but cannot keep the
 * recorder. Times are in ns, of any clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATIENCE_USERS_MAX 64
#define PATIENCE_SILENT_MAX 4

struct patience_entry {
	uint32_t user;
	uint64_t until_ns;  /* the end of the minute */
	uint64_t waited_ns; /* at most what a user may have */
	unsigned int silences;
	struct {
		uint32_t pid;
		uint64_t until_ns;
	} silent[PATIENCE_SILENT_MAX]; /* the newest ones */
};

struct patience {
	struct patience_entry entries[PATIENCE_USERS_MAX];
	size_t n;
	unsigned int warnings;
};

/* In place of a user whose process has ended. */
#define PATIENCE_NOBODY UINT32_MAX

/* The number of a user; one of a container is another one. */
uint32_t patience_user(uint32_t uid, bool contained);
/* Whether it is one of a container; PATIENCE_NOBODY is not. */
bool patience_is_contained(uint32_t user);

/* Forgets everything. */
void patience_reset(struct patience *p);

/*
 * How long an answer of the process is to be waited for, in ms; 0: it is not to be asked. A trusted
 * user pays for no others.
 */
int patience_of(struct patience *p, uint32_t user, bool trusted, uint32_t pid, uint64_t now_ns);

/*
 * So long was waited for an answer, which may have come. True if it is to be said that the user has
 * used his time up; `text` is what.
 */
bool patience_waited(struct patience *p, uint32_t user, uint64_t ns, uint64_t now_ns, char *text,
		     size_t size);

/* The process has not answered. True if that is to be said; `text` is what. */
bool patience_lose(struct patience *p, uint32_t user, uint32_t pid, uint64_t now_ns, char *text,
		   size_t size);

#endif
