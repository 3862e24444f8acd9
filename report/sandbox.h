/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SANDBOX_H
#define REPORT_SANDBOX_H

/*
 * Traces and the files that they name come from strangers. Before the first of them is opened, the
 * process gives up, for good and for all threads that it starts: running programs, sockets, reading
 * or changing other processes, BPF, kernel modules, mounts, namespaces, and keys. The kernel
 * refuses these with EPERM from then on. Files stay as they are.
 */

#include <stdbool.h>

/*
 * To be called before there are threads. With `network`, sockets are left. Returns 0, or -errno
 * where the kernel has no such filters; nothing is given up then.
 */
int sandbox_enter(bool network);

#endif
