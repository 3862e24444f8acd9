/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_OPENING_H
#define RECORD_SYSTEM_OPENING_H

/* What is asked of opener.h, and what comes back. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define OPENING_ANY_UID UINT32_MAX

enum opening_kind {
	OPENING_MAPPED,	 /* the file that the process maps from `start` to `end` */
	OPENING_PATH,	 /* below the root of the process; with pid 0, of the recorder */
	OPENING_GROWING, /* the same, for a file that will be read again and again: never a copy */
	OPENING_FOLDER,	 /* the same, for use as `folder` */
	OPENING_STATUS, /* only the status of a path of the recorder's own: no process, no folder */
	OPENING_QUIET,	/* nothing: waits for a write to `folder`, a file of `uid` with `end` bytes,
			   to end */
};

struct opening {
	enum opening_kind kind;
	uint32_t pid; /* also with `in_folder`: whose file it is */
	uint64_t start, end;
	uint32_t uid;	/* of the owner; OPENING_ANY_UID: any. See namespace_open() */
	bool in_folder; /* `path` is below `folder` instead */
	int folder;
	const char *path; /* also of mapped files, for messages */
};

struct open_file {
	int fd;		    /* -1: none */
	bool copied;	    /* of what it held; `fd` is no file of that file system */
	struct stat status; /* of the file itself */
};

#endif
