/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_BROWSER_H
#define REPORT_BROWSER_H

/*
 * A process that becomes the user's browser when the page is whole ($BROWSER, or xdg-open where
 * there is a display). As the pager, it is made before the program gives up starting others.
 */

#include <stdbool.h>
#include <sys/types.h>

struct browser {
	pid_t pid; /* 0: none */
	int fd;	   /* takes the page's path */
};

/* Makes no process where there is no browser to be started. */
void browser_prepare(struct browser *b);

/* Starts it with a page, whose path is made absolute. False where there is none. */
bool browser_show(struct browser *b, const char *path);

/* Ends a process that waits in vain; a browser that was started goes on. */
void browser_release(struct browser *b);

#endif
