/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PRIVILEGES_H
#define RECORD_SYSTEM_PRIVILEGES_H

/*
 * What the recorder may do, and giving it up. Attaching needs cap_bpf and cap_perfmon;
 * other users' processes also cap_sys_ptrace, to read their maps and open their binaries.
 * Once attached only those that are used while recording are kept.
 */

#include <stdbool.h>
#include <stddef.h>

/* All that a recorder without root makes use of, as setcap(8) takes them. */
#define PRIVILEGES_WANTED "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog"

/*
 * kernel.perf_event_paranoid. Above 2, a value that Debian's and Ubuntu's kernels know, perf events
 * are refused to everyone without cap_sys_admin. -1 where it cannot be read.
 */
int privileges_paranoid(void);

/* Names the missing ones, joined by commas, in `missing`; true when none is. */
bool privileges_suffice(char *missing, size_t size);

/*
 * Drops every capability but those for reading other processes and for publishing unwind
 * tables, and makes that final (no_new_privs, empty inheritable and ambient sets). With
 * `creates_files`, also those are kept that let root write where the user of sudo may. 0 or
 * -errno.
 */
int privileges_drop(bool creates_files);

/*
 * In the child, before a command is run: the capabilities that file capabilities gave the
 * recorder are not for the command.
 */
int privileges_drop_all(void);

#endif
