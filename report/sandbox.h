/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SANDBOX_H
#define REPORT_SANDBOX_H

/*
 * Traces and the files that they name come from strangers. Before the first of them is opened, the
 * process gives up, for good and for all threads that it starts: running programs, sockets, system
 * calls that read, change or signal other processes, BPF, kernel modules, mounts, namespaces, and
 * keys. The kernel refuses these with EPERM from then on. Files stay as they are; those of /proc
 * by which other processes can be read and changed are for sandbox_leave_processes().
 */

#include <stdbool.h>

/*
 * To be called before there are threads. With `network`, sockets are left. Returns 0, or -errno
 * where the kernel has no such filters; nothing is given up then.
 */
int sandbox_enter(bool network);

/*
 * Gives up what needs the rights of a debugger, for good: /proc/PID/mem, maps, environ, fd, root
 * and the like of other processes. Files can no longer be renamed into another folder. Returns 0,
 * or -errno where the kernel has no Landlock; nothing is given up then.
 */
int sandbox_leave_processes(void);

#endif
